-- Publishes changes, and keeps what stands in step with them. Published first: whatever is wrong with the rest, others
-- hear. One replica's word on one peer is one field, `peer replica`, with the server's time in front of the message.
-- KEYS: the fields, and when each expires. ARGV: the channel, the most fields, milliseconds until one expires; then for each
-- change its message, what it does, and a field (or how those of a peer begin).
local told, expires, channel, most, keep = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local failed
local function try(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err then
    failed = failed or reply
    return nil
  end
  return reply
end
local function drop(field)
  try('HDEL', told, field)
  return try('ZREM', expires, field)
end
for at = 4, #ARGV, 3 do
  redis.call('PUBLISH', channel, ARGV[at])
end
for at = 4, #ARGV, 3 do
  local message, what, field = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  if what == 'put' then
    -- The field that would have no end is not written.
    if try('ZADD', expires, string.format('%.0f', now + keep), field) then
      try('HSET', told, field, string.format('%.0f', now) .. ' ' .. message)
    end
  else
    for _, one in ipairs(try('HKEYS', told) or {}) do
      if string.sub(one, 1, #field) == field then
        drop(one)
      end
    end
  end
end
local over = (try('ZCARD', expires) or 0) - most
local first = try('ZRANGE', expires, 0, math.max(over, 64) - 1, 'WITHSCORES') or {}
for at = 1, #first, 2 do
  if at / 2 > over and tonumber(first[at + 1]) > now then
    break
  end
  if not drop(first[at]) then
    break
  end
end
try('PEXPIRE', told, keep + 1)
try('PEXPIRE', expires, keep + 1)
return failed or 'OK'
