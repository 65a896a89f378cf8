-- What stands, told last first, with the milliseconds since it was told.
-- KEYS: the fields, and when each expires. ARGV: the most fields, the longest message, the most bytes of them all.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local after = string.format('(%.0f', now)
local fields = redis.call('ZREVRANGEBYSCORE', KEYS[2], '+inf', after, 'LIMIT', 0, tonumber(ARGV[1]))
local known, bytes = {}, 0
for _, field in ipairs(fields) do
  local value = redis.call('HGET', KEYS[1], field)
  local space = value and string.find(value, ' ', 1, true)
  local at = space and tonumber(string.sub(value, 1, space - 1))
  if at and #value - space <= tonumber(ARGV[2]) then
    bytes = bytes + #value
    if bytes > tonumber(ARGV[3]) then
      break
    end
    known[#known + 1] = string.sub(value, space + 1)
    known[#known + 1] = math.floor(math.max(0, math.min(now - at, 4000000000000)))
  end
end
return known
