"""The three scripts that run inside Redis, each atomic: write, read a page, read parts.

A thread is two keys: a hash of records by name, and a sorted set of names by which they are found
in order. Both carry one time to live, which every write starts anew.
"""

WRITE = """
local ttl = tonumber(ARGV[1])
for at = 2, #ARGV, 3 do
  local how, name, data = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  if how == 'set' then redis.call('HSET', KEYS[1], name, data)
  elseif how == 'new' then redis.call('HSETNX', KEYS[1], name, data)
  elseif how == 'find' then redis.call('ZADD', KEYS[2], 0, name)
  else
    redis.call('HDEL', KEYS[1], name)
    redis.call('ZREM', KEYS[2], name)
  end
end
if ttl > 0 then
  redis.call('PEXPIRE', KEYS[1], ttl)
  redis.call('PEXPIRE', KEYS[2], ttl)
end
"""
"""Arguments: milliseconds to live (0: for ever), then triples of what to do, name and data."""

NAMES = """
return redis.call('ZREVRANGEBYLEX', KEYS[2], ARGV[1], ARGV[2], 'LIMIT', 0, tonumber(ARGV[3]))
"""
"""Names between two bounds, greatest first."""

READ = """
local found = {}
for at = 1, #ARGV do
  local name = ARGV[at]
  if string.sub(name, 1, 1) == 'w' then
    local to = string.sub(name, 1, -2) .. '\\1'
    local names = redis.call('ZRANGEBYLEX', KEYS[2], '[' .. name, '(' .. to)
    local list = {}
    for _, one in ipairs(names) do
      list[#list + 1] = one
      list[#list + 1] = redis.call('HGET', KEYS[1], one)
    end
    found[at] = list
  else
    found[at] = redis.call('HGET', KEYS[1], name)
  end
end
return found
"""
"""The record of each name; for a name that begins with ``w``, all writes that begin so."""

COUNT = """
local count = redis.call('ZLEXCOUNT', KEYS[2], '[c', '(d')
local last = redis.call('ZREVRANGEBYLEX', KEYS[2], '(c\\1', '[c', 'LIMIT', 0, 1)
if not last[1] then
  local newest = redis.call('ZREVRANGEBYLEX', KEYS[2], '(j', '[i', 'LIMIT', 0, 1)[1]
  if not newest then return {} end
  local cut = string.find(newest, '%z')
  last[1] = 'c' .. string.sub(newest, cut + 1) .. string.sub(newest, cut, cut)
    .. string.sub(newest, 2, cut - 1)
end
return {count, last[1], redis.call('HGET', KEYS[1], last[1])}
"""
"""How many checkpoints, and the newest one of the root namespace, or else of any."""
