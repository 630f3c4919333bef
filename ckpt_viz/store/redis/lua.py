"""The scripts that run inside Redis, each of them atomic.

An item is one key, whose name is its namespace, NUL and its key. Its text begins with four fields
of 20 characters: its number, when it was made and changed, and its state; then how many minutes it
lives, a NUL, and the value. By ``names``, a set in order, items below a namespace are found; by
``ends`` those that expire; by ``numbers`` the name of a number. ``vectors`` has what an item is
searched by, under its name; ``marks`` tells in which order they were written; ``last`` counts.

Keys: 1 names, 2 ends, 3 numbers, 4 vectors, 5 marks, 6 last, 7 how the keys of items begin.
"""

_DROP = """
local function drop(name)
  local old = redis.call('GET', KEYS[7] .. name)
  if old then redis.call('HDEL', KEYS[3], string.sub(old, 1, 20)) end
  redis.call('DEL', KEYS[7] .. name)
  redis.call('ZREM', KEYS[1], name)
  redis.call('ZREM', KEYS[2], name)
  redis.call('HDEL', KEYS[4], name)
  redis.call('ZREM', KEYS[5], name)
end
"""

WRITE = (
    _DROP
    + """
local at = 2
while ARGV[at] do
  local name, body = ARGV[at], ARGV[at + 1]
  if body == '' then drop(name)
  else
    local now, state, ends, vectors = ARGV[1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
    local ended = redis.call('ZSCORE', KEYS[2], name)
    if ended and tonumber(ended) <= tonumber(now) then drop(name) end
    local old = redis.call('GET', KEYS[7] .. name)
    local head
    if old then head = string.sub(old, 1, 40)
    else
      local number = string.format('%020d', redis.call('HINCRBY', KEYS[6], 'number', 1))
      head = number .. now
      redis.call('HSET', KEYS[3], number, name)
      redis.call('ZADD', KEYS[1], 0, name)
    end
    redis.call('SET', KEYS[7] .. name, head .. now .. state .. body)
    if ends == '' then redis.call('ZREM', KEYS[2], name)
    else
      redis.call('ZADD', KEYS[2], ends, name)
    end
    if vectors == '' then
      redis.call('HDEL', KEYS[4], name)
      redis.call('ZREM', KEYS[5], name)
    else
      redis.call('HSET', KEYS[4], name, state .. string.sub(head, 1, 20) .. vectors)
      redis.call('ZADD', KEYS[5], redis.call('HINCRBY', KEYS[6], 'mark', 1), name)
    end
  end
  at = at + 5
end
"""
)
"""Arguments: now, then fives: name, minutes and value (nothing: remove it), state, when it ends
(nothing: never), vectors (nothing: none)."""

SWEEP = (
    _DROP
    + """
local gone = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[1], 'LIMIT', 0, tonumber(ARGV[2]))
for _, name in ipairs(gone) do drop(name) end
return #gone
"""
)
"""Removes what has ended by a time, up to so many items; answers how many."""

REFRESH = """
for at = 1, #ARGV, 2 do redis.call('ZADD', KEYS[2], 'XX', ARGV[at + 1], ARGV[at]) end
"""
"""Arguments: names, each with when it ends now."""

VECTORS = """
local above, size = '(' .. ARGV[1], tonumber(ARGV[2])
local found = redis.call(
  'ZRANGEBYSCORE', KEYS[5], above, '+inf', 'WITHSCORES', 'LIMIT', 0, size)
local answer = {}
for at = 1, #found, 2 do
  answer[#answer + 1] = found[at]
  answer[#answer + 1] = found[at + 1]
  answer[#answer + 1] = redis.call('HGET', KEYS[4], found[at])
end
return answer
"""
"""Names, marks and vectors above a mark, in their order, up to so many."""
