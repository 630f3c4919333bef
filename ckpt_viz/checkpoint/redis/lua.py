"""The scripts that run inside Redis, each of them atomic.

A thread is two keys: a hash of records by name, and a sorted set of names by which they are found
in order. Both carry one time to live, which every write starts anew. In the hash, ``p`` and a name
is the name of the record that the first is told against, ``r`` is another text after each write,
and ``z`` counts the bytes of checkpoints, values and writes.
"""

WRITE = """
local rows, order, at = KEYS[1], KEYS[2], 7
if ARGV[2] ~= '' and redis.call('HGET', rows, 'r') ~= ARGV[2] then return 'conflict' end
if ARGV[3] ~= '' then
  local newest = redis.call('ZREVRANGEBYLEX', order, ARGV[3], ARGV[4], 'LIMIT', 0, 1)[1]
  if newest and newest ~= ARGV[5] then return {'moved', newest} end
end
for _ = 1, tonumber(ARGV[6]) do
  if redis.call('HEXISTS', rows, ARGV[at]) == 0 then return 'gone' end
  at = at + 1
end
local there, bytes = {}, 0
local function count(name, sign)
  if string.find(name, '^[cbw]') then
    bytes = bytes + sign * redis.call('HSTRLEN', rows, name)
  end
end
local function drop(name)
  count(name, -1)
  redis.call('HDEL', rows, name, 'p' .. name)
  redis.call('ZREM', order, name)
end
local function put(name, data, base)
  count(name, -1)
  redis.call('HSET', rows, name, data)
  count(name, 1)
  if base ~= '' then redis.call('HSET', rows, 'p' .. name, base)
  else redis.call('HDEL', rows, 'p' .. name) end
end
local token = ARGV[at]
for i = at + 1, #ARGV, 4 do
  local how, name, data, base = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  if how == 'set' then put(name, data, base)
  elseif how == 'new' then
    if redis.call('HEXISTS', rows, name) == 0 then put(name, data, base)
    else there[#there + 1] = name end
  elseif how == 'find' then redis.call('ZADD', order, 0, name)
  elseif how == 'drop' then drop(name)
  else
    for _, one in ipairs(redis.call('ZRANGEBYLEX', order, '[' .. name, '(' .. name .. '\\255')) do
      drop(one)
    end
  end
end
redis.call('HSET', rows, 'r', token)
redis.call('HINCRBY', rows, 'z', bytes)
local ttl = tonumber(ARGV[1])
if ttl > 0 then
  redis.call('PEXPIRE', rows, ttl)
  redis.call('PEXPIRE', order, ttl)
end
return there
"""
"""Arguments: milliseconds to live (0: for ever); the ``r`` that is expected, or nothing; bounds
between which no name may be but a third one, or nothing; how many records must be there, and their
names; the next ``r``; and then fours: what to do, name, data, base. Answers with the names that
``new`` found there; or, having done nothing, ``gone``, ``conflict``, or ``moved`` and the name
between the bounds.
"""

NAMES = """
return redis.call('ZREVRANGEBYLEX', KEYS[2], ARGV[1], ARGV[2], 'LIMIT', 0, tonumber(ARGV[3]))
"""
"""Names between two bounds, greatest first."""

READ = """
local found, seen = {}, {}
local function take(name)
  while name and not seen[name] do
    seen[name] = true
    local data = redis.call('HGET', KEYS[1], name)
    if data then
      found[#found + 1] = name
      found[#found + 1] = data
    end
    name = redis.call('HGET', KEYS[1], 'p' .. name)
  end
end
for _, name in ipairs(ARGV) do
  if string.find(name, '^[wl]') then
    for _, one in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], '[' .. name, '(' .. name .. '\\255')) do
      found[#found + 1] = one
      found[#found + 1] = redis.call('HGET', KEYS[1], one)
    end
  else take(name) end
end
return found
"""
"""Names and records: of each name with all that it is told against; of writes (``w``) and labels
(``l``) all whose names begin so."""

COUNT = """
local count = redis.call('ZLEXCOUNT', KEYS[2], '[c', '(d')
local last = redis.call('ZREVRANGEBYLEX', KEYS[2], '(c\\1', '[c', 'LIMIT', 0, 1)[1]
if not last then
  last = redis.call('ZREVRANGEBYLEX', KEYS[2], '(j', '[i', 'LIMIT', 0, 1)[1]
  if not last then return {} end
  local cut = string.find(last, '%z')
  local id, nul = string.sub(last, 2, cut - 1), string.sub(last, cut, cut)
  last = 'c' .. string.sub(last, cut + 1) .. nul .. id
end
return {count, last, redis.call('HGET', KEYS[1], last), redis.call('HGET', KEYS[1], 'z')}
"""
"""How many checkpoints, the newest one of the root namespace or else of any, and the bytes."""

SPACES = """
local found, low = {}, '[c'
while true do
  local name = redis.call('ZRANGEBYLEX', KEYS[2], low, '(d', 'LIMIT', 0, 1)[1]
  if not name then return found end
  local space = string.sub(name, 1, string.find(name, '%z') - 1)
  found[#found + 1] = string.sub(space, 2)
  low = '[' .. space .. '\\1'
end
"""
"""The namespaces that hold checkpoints."""
