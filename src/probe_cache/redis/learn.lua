-- What stands in the set, the last to expire first, with the milliseconds that are left of each.
-- KEYS: the set. ARGV: the most members, the longest member, the most bytes of them all.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local after = string.format('(%.0f', now)
local rows = redis.call('ZREVRANGEBYSCORE', KEYS[1], '+inf', after, 'WITHSCORES', 'LIMIT', 0, tonumber(ARGV[1]))
local known, bytes = {}, 0
for at = 1, #rows, 2 do
  local member = rows[at]
  if #member <= tonumber(ARGV[2]) then
    bytes = bytes + #member
    if bytes > tonumber(ARGV[3]) then
      break
    end
    known[#known + 1] = member
    known[#known + 1] = math.floor(math.min(tonumber(rows[at + 1]) - now, 86400000))
  end
end
return known
