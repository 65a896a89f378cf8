-- Publishes changes, and keeps the set in step with them. Published first: whatever is wrong with the set, others hear.
-- KEYS: the set, members by the time at which they expire. ARGV: the channel, the most members; then for each change its
-- message, what it does to the set, a member (or how those of a host begin), the member for the contrary, milliseconds.
local known, channel, most = KEYS[1], ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local failed
local function try(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err then
    failed = failed or reply
    return {}
  end
  return reply
end
local function trim()
  try('ZREMRANGEBYSCORE', known, '-inf', now)
  try('ZREMRANGEBYRANK', known, 0, -(most + 1))
end
for at = 3, #ARGV, 5 do
  redis.call('PUBLISH', channel, ARGV[at])
end
trim()
for at = 3, #ARGV, 5 do
  local what, member, contrary, ms = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], tonumber(ARGV[at + 4])
  if what == 'put' then
    try('ZREM', known, contrary)
    try('ZADD', known, now + ms, member)
  elseif what == 'drop' then
    try('ZREM', known, member, contrary)
  elseif what == 'host' then
    for _, one in ipairs(try('ZRANGE', known, 0, -1)) do
      if string.sub(one, 2, #member + 1) == member then
        try('ZREM', known, one)
      end
    end
  else
    try('DEL', known)
  end
end
trim()
local last = try('ZREVRANGE', known, 0, 0, 'WITHSCORES')
if last[2] then
  try('PEXPIRE', known, math.floor(math.min(tonumber(last[2]) - now, 86400000)) + 1)
end
return failed or 'OK'
