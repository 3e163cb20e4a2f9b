#!lua name=hwtimer
--
-- SPDX-License-Identifier: MIT
--
-- hwtimerd's half in Redis: a library of Redis Functions (Redis 7.0 or later) that keeps
-- timers, and moves those that are due to a stream. Documentation/hwtimerd.md describes
-- what programs call; hwtimerd calls hwt_fire and hwt_leave.
--
-- A queue has shards. The key of a shard is like {orders:0}, and is the one that each
-- function gets. Its other keys begin with it, so Redis Cluster keeps them on one node:
--
--	{orders:0}		string: "<format> <max_id> <max_payload> <next>"
--	{orders:0}:deadlines	sorted set: the timers' ids, by deadline in ms
--	{orders:0}:payloads	hash: id -> payload
--	{orders:0}:due		stream: the timers that have fired
--	{orders:0}:daemons	sorted set: the daemons that would serve the shard, by the ends of
--				their lives in ms
--	{orders:0}:news		stream of a few entries: what the daemons must hear about at once
--
-- `next` is what hwt_fire has answered last: the first deadline. The daemons look again
-- then, or earlier. So hwt_schedule tells them only of a deadline before `next`, which
-- becomes `next`. A daemon that lags by more than MAX_NEWS entries misses none of these, as
-- the last one is the earliest, and sees at its next renewal that the daemons have changed.
--
-- Only the daemons write the limits and `next` first, so what no daemon has ever served is
-- no shard, and nothing can be scheduled there.
--
-- Redis may refuse each single command of a script, for want of a right or because a key
-- has another type. So the writes are in an order in which what was done before does no
-- harm: news and a payload come before the timer, an entry of `due` before the timer goes.
--
-- While a slot of a cluster moves to another node, some keys of a shard are here and some
-- there. Keys that were created then would exist twice, so what may create one answers
-- TRYAGAIN.

local LIBRARY = '0.9'
local FORMAT = '1'		-- of the keys; a shard of another one is refused

local MAX_BATCH = 1000		-- timers, ids; Lua's unpack() takes about 8,000 arguments
local MAX_ID = 1024		-- bytes, of the limit that a daemon may set
local MAX_PAYLOAD = 1048576
local MAX_NAME = 255		-- bytes of a daemon's name
local MAX_LIFE = 86400000	-- ms
local MAX_BYTES = 67108864	-- of payloads that one hwt_fire moves
local MAX_STEP = 64		-- payloads that it reads at once: the limit may have been higher
local MAX_TRIM = 1000		-- entries that one hwt_fire removes, about
local MAX_DAEMONS = 1000
local MAX_NEWS = '10'		-- entries
local MAX_GROUPS = 100		-- that hwt_stats tells of
local LIVES = 10		-- times its own that a daemon gives others to live

-- Absolute deadlines are from 1973 to 9999: those in seconds and in microseconds are not.
local FIRST = 100000000000
local LAST = 253402300799999
local NEVER = 9007199254740992	-- 2^53: after all deadlines; every integer below is exact

-- Redis defines no globals while a library is loaded; bind() takes these at the first
-- call.
local call, pcall_, acl_check, error_reply, sha1
local byte, find, floor, format, frexp, ldexp, match, max, min, sub
local ipairs_, raise, tonumber_, type_, unpack_

-- Whether Redis is part of a cluster; that does not change while it runs. If the first
-- caller may not ask, we take it for one, which only costs time.
local in_cluster

local function bind()
	pcall_, error_reply = redis.pcall, redis.error_reply
	acl_check, sha1 = redis.acl_check_cmd, redis.sha1hex
	byte, find, format, match, sub = string.byte, string.find, string.format, string.match,
		string.sub
	floor, frexp, ldexp, max, min = math.floor, math.frexp, math.ldexp, math.max, math.min
	ipairs_, raise = ipairs, error
	tonumber_, type_, unpack_ = tonumber, type, unpack
	local problem = pcall_('CLUSTER', 'INFO').err
	in_cluster = not (problem and find(problem, 'cluster support disabled', 1, true))
	call = redis.call
end

-- Lua's own conversion of numbers to text (%.14g) loses digits, and is slower. %d has 32 bits where
-- a long has.
local function text_of(number)
	return format('%.0f', number)
end

---- Errors ------------------------------------------------------------------------------

-- The first word is the code, which programs may rely on.

local function bad_argument(what)
	return error_reply('HWTARG ' .. what)
end

local function bad_deadline()
	return error_reply('HWTDEADLINE a deadline is a number of ms since 1970, from 1973 to ' ..
			   '9999, or +ms from now')
end

local function bad_batch(what)
	return error_reply(format('HWTBATCH 1 to %d %s a call', MAX_BATCH, what))
end

-- integer(text, low, high): the number, or nil if the text is anything else
local function integer(text, low, high)
	if not text or #text > 16 or not find(text, '^%d+$') then
		return nil
	end
	local number = tonumber_(text)
	return number >= low and number <= high and number or nil
end

---- Shards ------------------------------------------------------------------------------

-- find_key(keys): the shard's key, or nil and an error
local function find_key(keys)
	local key = keys[1]
	if #keys == 1 and find(key, '^{[^{}]+}$') then
		return key
	end
	return nil, error_reply('HWTKEY one key is needed, like {orders:0}, with no other brace in it')
end

-- moving(key): an error if the shard's keys are on their way to another node. The second
-- key never exists. A node refuses a command with a key that it lacks while it gives the
-- slot away, and one with several keys while it receives the slot.
local function moving(key)
	if not in_cluster then
		return nil
	end
	local reply = pcall_('EXISTS', key, key .. ':')
	if type_(reply) == 'number' then
		return nil
	end
	return error_reply('TRYAGAIN the keys of ' .. key .. ' are moving to another node')
end

-- load_settings(key): what the shard's key has, as texts: limit of ids, of payloads, and
-- `next`. If no daemon has ever served it, false. If it cannot be used, nil and an error.
local function load_settings(key)
	local text = call('GET', key)
	if not text then
		return false
	end
	local version, max_id, max_payload, first = match(text, '^(%d+) (%d+) (%d+) (%d+)$')
	if version ~= FORMAT then
		return nil, error_reply('HWTVERSION ' .. key .. ' has a format that the functions ' ..
					LIBRARY .. ' do not know; run hwtimerd load')
	end
	return max_id, max_payload, first
end

local function not_served(key)
	return error_reply('HWTSHARD no hwtimerd has served ' .. key .. ' in this database so far: ' ..
			   'is the number below that of the shards, and the name right?')
end

local function save_settings(key, max_id, max_payload, first)
	call('SET', key, FORMAT .. ' ' .. max_id .. ' ' .. max_payload .. ' ' .. first)
end

-- tell(key, name, value): what each daemon that waits at the shard gets
local function tell(key, name, value)
	call('XADD', key .. ':news', 'MAXLEN', MAX_NEWS, '*', name, value)
end

-- now_us(): Redis's clock, by which all deadlines are
local function now_us()
	local time = call('TIME')
	return tonumber_(time[1]) * 1000000 + tonumber_(time[2])
end

---- hwt_schedule and its kind -----------------------------------------------------------

-- parse_deadline(text): the deadline as a number and a text, or nil. "+<ms>" counts from now,
-- and a ms that has begun is not over.
local function parse_deadline(text)
	local deadline = integer(text, FIRST, LAST)
	if deadline then
		return deadline, text
	end
	local delay = byte(text) == 43 and integer(sub(text, 2), 0, LAST)
	deadline = delay and floor((now_us() + 999) / 1000) + delay
	if deadline and deadline <= LAST then
		return deadline, text_of(deadline)
	end
	return nil
end

-- parse_timers(args, step, max_id, max_payload): the arguments of ZADD and of HSET, and the
-- first deadline; or nil and an error. `step`: arguments of a timer, 3 with a payload and 2
-- without
local function parse_timers(args, step, max_id, max_payload)
	local scores, fields, n = {}, {}, 0
	local first, last, deadline, score = NEVER, nil, nil, nil
	for i = 1, #args, step do
		local id, text, payload = args[i], args[i + 1], args[i + 2]
		if id == '' or #id > max_id then
			return nil, error_reply(format('HWTID an id has 1 to %d bytes', max_id))
		end
		if step == 3 and #payload > max_payload then
			return nil, error_reply(format('HWTPAYLOAD a payload has at most %d bytes',
						       max_payload))
		end
		-- Many timers of a batch often have the same deadline.
		if text ~= last then
			last, deadline, score = text, parse_deadline(text)
			if not deadline then
				return nil, bad_deadline()
			end
			first = deadline < first and deadline or first
		end
		scores[n + 1], scores[n + 2] = score, id
		fields[n + 1], fields[n + 2] = id, payload
		n = n + 2
	end
	return scores, fields, first
end

-- choose(deadlines, scores, fields, present): keep only the timers that are there already,
-- or those that are not, and of these the first of each id. Returns the number of arguments
-- that are left, and of the timers.
local function choose(deadlines, scores, fields, present)
	local ids, seen, n, count = {}, {}, 0, 0
	for i = 2, #scores, 2 do
		ids[i / 2] = scores[i]
	end
	local found = call('ZMSCORE', deadlines, unpack_(ids))
	for i = 1, #ids do
		local id = ids[i]
		if present == (found[i] and true or false) and (present or not seen[id]) then
			count = count + (seen[id] and 0 or 1)
			seen[id] = true
			scores[n + 1], scores[n + 2] = scores[2 * i - 1], id
			fields[n + 1], fields[n + 2] = id, fields[2 * i]
			n = n + 2
		end
	end
	return n, count
end

-- new_scheduler(step, present): a function that schedules; `step` as above. `present`: nil:
-- all timers; true: those that are there; false: those that are not
local function new_scheduler(step, present)
	return function(key, args, max_id, max_payload, wanted)
		local count = #args / step
		if count % 1 > 0 then
			return bad_argument(step == 3 and 'each timer has an id, a deadline and a payload' or
					    'each timer has an id and a deadline')
		end
		if count < 1 or count > MAX_BATCH then
			return bad_batch('timers')
		end
		local scores, fields, first = parse_timers(args, step, tonumber_(max_id),
							   tonumber_(max_payload))
		if not scores then
			return fields
		end
		local deadlines, n = key .. ':deadlines', 2 * count
		if present ~= nil then
			n, count = choose(deadlines, scores, fields, present)
			if n == 0 then
				return 0
			end
		end
		if first < tonumber_(wanted) then
			first = text_of(first)
			tell(key, 'deadline', first)
			save_settings(key, max_id, max_payload, first)
		end
		if step == 3 then
			call('HSET', key .. ':payloads', unpack_(fields, 1, n))
		end
		local added = call('ZADD', deadlines, unpack_(scores, 1, n))
		return present and count or added
	end
end

---- hwt_cancel, hwt_query, hwt_list, hwt_purge ------------------------------------------

-- check_ids(args): an error, or nil
local function check_ids(args)
	if #args < 1 or #args > MAX_BATCH then
		return bad_batch('ids')
	end
	return nil
end

local function hwt_cancel(key, args)
	local problem = check_ids(args)
	if problem then
		return problem
	end
	local removed = call('ZREM', key .. ':deadlines', unpack_(args))
	call('HDEL', key .. ':payloads', unpack_(args))
	return removed
end

-- deadline_of(score): a number. Programs that may schedule may also write the keys
-- themselves.
local function deadline_of(score)
	local deadline = floor(tonumber_(score))
	return deadline < 0 and 0 or deadline < NEVER and deadline or NEVER
end

local function hwt_query(key, args)
	local problem = check_ids(args)
	if problem then
		return problem
	end
	local found = call('ZMSCORE', key .. ':deadlines', unpack_(args))
	local payloads = call('HMGET', key .. ':payloads', unpack_(args))
	for i = 1, #args do
		found[i] = found[i] and { deadline_of(found[i]), payloads[i] or '' }
	end
	return found
end

-- follows(a, b): whether `a` comes after `b` in a sorted set; Lua's own order is that of the
-- server's locale
local function follows(a, b)
	local i = 1
	while byte(a, i) and byte(a, i) == byte(b, i) do
		i = i + 1
	end
	return (byte(a, i) or -1) > (byte(b, i) or -1)
end

-- rank_after(deadlines, score, id): the rank of the first timer after that one, which may
-- be gone. Timers with the same deadline are in the order of their ids.
local function rank_after(deadlines, score, id)
	local low, high = call('ZCOUNT', deadlines, '-inf', '(' .. score),
		call('ZCOUNT', deadlines, '-inf', score)
	while low < high do
		local middle = floor((low + high) / 2)
		if follows(call('ZRANGE', deadlines, middle, middle)[1], id) then
			high = middle
		else
			low = middle + 1
		end
	end
	return low
end

-- hwt_list cursor count: the cursor of the next call, then id and deadline of each timer, in
-- the order in which they are due
local function hwt_list(key, args)
	local count = integer(args[2], 1, MAX_BATCH)
	if not count then
		return bad_argument(format('a cursor, first "", and a count of 1 to %d are needed',
					   MAX_BATCH))
	end
	local deadlines, rank = key .. ':deadlines', 0
	if args[1] ~= '' then
		local score, id = match(args[1], '^(%S+) (.*)$')
		if not score or not tonumber_(score) then
			return bad_argument('a cursor is "", or what hwt_list has returned')
		end
		rank = rank_after(deadlines, score, id)
	end
	local found = call('ZRANGE', deadlines, rank, rank + count - 1, 'WITHSCORES')
	local last = #found
	local reply = { last == 2 * count and found[last] .. ' ' .. found[last - 1] or '' }
	for i = 1, last, 2 do
		reply[i + 1], reply[i + 2] = found[i], deadline_of(found[i + 1])
	end
	return reply
end

local function hwt_purge(key)
	local deadlines = key .. ':deadlines'
	local count = call('ZCARD', deadlines)
	call('UNLINK', deadlines, key .. ':payloads')
	return count
end

---- the shard's daemon ------------------------------------------------------------------

-- choose_daemon(key, daemons): the one that serves the shard; nil: there are none. Each has
-- its fair share of a queue's shards, and only those of a daemon that comes or goes change
-- hands (rendezvous hashing: Thaler, Ravishankar, 1998).
local function choose_daemon(key, daemons)
	local chosen, most = nil, ''
	for _, name in ipairs_(daemons) do
		local weight = sha1(key .. name)
		if follows(weight, most) then
			chosen, most = name, weight
		end
	end
	return chosen
end

---- hwt_stats ---------------------------------------------------------------------------

-- by_name(list): what Redis tells as names and values
local function by_name(list)
	local fields = {}
	for i = 1, #list, 2 do
		fields[list[i]] = list[i + 1]
	end
	return fields
end

local function groups_of(due)
	local groups = {}
	if call('EXISTS', due) == 1 then
		for i, info in ipairs_(call('XINFO', 'GROUPS', due)) do
			groups[i] = by_name(info)
		end
	end
	return groups
end

-- entry_after(entry): the next one that could be. Where Lua has no such number, the entry
-- itself.
local function entry_after(entry)
	local ms, seq = match(entry, '^(%d+)%-(%d+)$')
	seq = tonumber_(seq) + 1
	return seq < NEVER and ms .. '-' .. text_of(seq) or entry
end

-- unread_since(due, group): Redis's time in ms of the first entry that the group has not
-- read; 0: there is none
local function unread_since(due, group)
	local entry = call('XRANGE', due, entry_after(group['last-delivered-id']), '+', 'COUNT', 1)[1]
	return entry and tonumber_(match(entry[1], '^%d+')) or 0
end

-- hwt_stats: names and values. `groups` has for each of the first MAX_GROUPS: name, entries
-- that it has not acknowledged, time in ms of the first entry that it has not read, and how
-- many those are, or -1 if Redis does not know.
local function hwt_stats(key, _, max_id, max_payload, wanted)
	local now, due, groups = now_us(), key .. ':due', {}
	for i, group in ipairs_(groups_of(due)) do
		if i <= MAX_GROUPS then
			groups[i] = { group.name, group.pending, unread_since(due, group), group.lag or -1 }
		end
	end
	local daemons = call('ZRANGE', key .. ':daemons', '(' .. text_of(now / 1000), '+inf', 'BYSCORE',
			     'LIMIT', 0, MAX_DAEMONS)
	return { 'version', LIBRARY, 'time', now, 'pending', call('ZCARD', key .. ':deadlines'),
		 'next', min(tonumber_(wanted), NEVER), 'due', call('XLEN', due), 'max_id', tonumber_(max_id),
		 'max_payload', tonumber_(max_payload), 'daemon', choose_daemon(key, daemons) or '',
		 'daemons', daemons, 'groups', groups }
end

---- hwt_fire, hwt_leave -----------------------------------------------------------------

-- check_rights(key): a daemon that could not fire must not take the shard from one that can, and
-- what comes after the first entry of `due` must not be refused
local function check_rights(key)
	if not (acl_check('HMGET', key .. ':payloads', '') and
		acl_check('XADD', key .. ':due', '*', 'id', '') and
		acl_check('ZREMRANGEBYRANK', key .. ':deadlines', 0, 0) and
		acl_check('HDEL', key .. ':payloads', '')) then
		raise(error_reply('NOPERM hwt_fire needs the rights HMGET, XADD, ZREMRANGEBYRANK and HDEL'))
	end
end

-- join(key, daemon, life): take part in the choice of the shard's daemon for `life` ms more;
-- returns the one that is chosen. Those whose life has ended take part no more, and none lives
-- for as long as the clock was ahead when it called. The others hear of changes.
local function join(key, daemon, life)
	local daemons, now = key .. ':daemons', floor(now_us() / 1000)
	local last = text_of(now + LIVES * life)
	-- So many are forged, and to choose one would hold up Redis. Those that live call again.
	if call('ZCARD', daemons) > MAX_DAEMONS then
		call('ZREMRANGEBYRANK', daemons, 0, -1)
	end
	local changes = call('ZADD', daemons, text_of(now + life), daemon) +
			call('ZREMRANGEBYSCORE', daemons, '-inf', text_of(now))
	for _, name in ipairs_(call('ZRANGE', daemons, '(' .. last, '+inf', 'BYSCORE')) do
		call('ZADD', daemons, last, name)
	end
	if changes > 0 then
		tell(key, 'daemons', 'changed')
	end
	return choose_daemon(key, call('ZRANGE', daemons, 0, -1))
end

-- move_due(key, found, bytes, max_payload): make timers, of whom `found` has ids and deadlines
-- by turns, entries of the stream, until their payloads have as many bytes. As many are read at
-- a time as have room if each is as long as may be, or one. Returns the number of timers.
local function move_due(key, found, bytes, max_payload)
	local payloads, due, ids, n = key .. ':payloads', key .. ':due', {}, 0
	for i = 1, #found, 2 do
		ids[(i + 1) / 2] = found[i]
	end
	while n < #ids and bytes > 0 do
		local step = min(MAX_STEP, floor(bytes / max(1, max_payload)))
		local last = min(n + max(1, step), #ids)
		local texts = call('HMGET', payloads, unpack_(ids, n + 1, last))
		for i = 1, last - n do
			local text = texts[i] or ''
			call('XADD', due, '*', 'id', ids[n + i], 'deadline', found[2 * (n + i)], 'payload', text)
			bytes = bytes - #text
		end
		n = last
	end
	call('ZREMRANGEBYRANK', key .. ':deadlines', 0, n - 1)
	call('HDEL', payloads, unpack_(ids, 1, n))
	return n
end

-- lateness_of(found, n, now): their sum in ms; then, by turns, powers of two of ms and how
-- many of the first n were less late than that, and not less than half of it
local function lateness_of(found, n, now)
	local reply, sum, least = { 0 }, 0, nil
	for i = 2, 2 * n, 2 do
		local late = now - max(0, found[i])
		sum = sum + late
		-- They are in order, so those of a power are beside each other.
		if not least or late < least then
			local _, power = frexp(floor(late))
			least = power > 0 and ldexp(0.5, power) or 0
			reply[#reply + 1], reply[#reply + 2] = power, 0
		end
		reply[#reply] = reply[#reply] + 1
	end
	reply[1] = sum
	return reply
end

-- fire(key, now, count, bytes, max_payload): the number of timers fired, and their lateness
local function fire(key, now, count, bytes, max_payload)
	local found = call('ZRANGE', key .. ':deadlines', '-inf', text_of(now), 'BYSCORE',
			   'LIMIT', 0, count, 'WITHSCORES')
	if #found == 0 then
		return 0, { 0 }
	end
	local n = move_due(key, found, bytes, max_payload)
	return n, lateness_of(found, n, now)
end

-- entry_less(a, b): the parts of an entry's id have 64 bits, more than a number of Lua
local function entry_less(a, b)
	local a_ms, a_seq = match(a, '^(%d+)%-(%d+)$')
	local b_ms, b_seq = match(b, '^(%d+)%-(%d+)$')
	if a_ms == b_ms then
		a_ms, b_ms = a_seq, b_seq
	end
	return #a_ms < #b_ms or #a_ms == #b_ms and follows(b_ms, a_ms)
end

-- first_needed(due, group): the first entry that the group has not acknowledged, or the
-- first that could be one. XGROUP SETID may have moved the group to before what is pending:
-- then it reads again what comes in between.
local function first_needed(due, group)
	local unread = entry_after(group['last-delivered-id'])
	if group.pending == 0 then
		return unread
	end
	-- Not the summary: it counts for each consumer, and there may be many.
	local pending = call('XPENDING', due, group.name, '-', '+', 1)[1][1]
	return entry_less(pending, unread) and pending or unread
end

-- trim(due): remove the entries before the first one that some group has not acknowledged, at
-- most about MAX_TRIM; without a group, none. Returns their number, and that of the groups.
local function trim(due)
	local groups, first = groups_of(due), nil
	for _, group in ipairs_(groups) do
		local needed = first_needed(due, group)
		first = first and entry_less(first, needed) and first or needed
	end
	if not first then
		return 0, 0
	end
	-- A limit needs ~, which removes whole nodes of the stream only.
	local count = call('XTRIM', due, 'MINID', '~', first, 'LIMIT', MAX_TRIM)
	if count < MAX_TRIM / 2 then
		count = count + call('XTRIM', due, 'MINID', first)
	end
	return count, #groups
end

local function parse_fire(args)
	local life = integer(args[2], 0, MAX_LIFE)
	local count = integer(args[3], 1, MAX_BATCH)
	local bytes = integer(args[4], 1, MAX_BYTES)
	local max_id, max_payload = integer(args[6], 1, MAX_ID), integer(args[7], 0, MAX_PAYLOAD)
	local named = args[1] and args[1] ~= '' and #args[1] <= MAX_NAME
	if not (named and life and count and bytes and max_id and max_payload) then
		return nil
	end
	return args[1], life, count, bytes
end

-- hwt_fire daemon life count bytes trim max_id max_payload: what the daemon of a shard
-- calls when a timer is due, and as often as its life of so many ms ends. With a life of 0, it
-- serves the shard whatever the others do. Replies:
--
--	1	the daemon that serves the shard. If it is another one, nothing was done.
--	2	Redis's time in us
--	3	the first deadline in ms; -1: there is no timer
--	4	1: nobody had served the shard, and it got these limits
--	5	timers fired
--	6	entries removed, if `trim` is 1
--	7	groups then
--	8	of the timers fired: see lateness_of()
local function hwt_fire(key, args, old_id, old_payload, wanted)
	local daemon, life, count, bytes = parse_fire(args)
	if not daemon then
		return bad_argument('name, life, count, bytes, trim, max_id and max_payload are needed')
	end
	check_rights(key)
	local chosen = life == 0 and daemon or join(key, daemon, life)
	local now = now_us()
	if chosen ~= daemon then
		return { chosen, now, -1, 0, 0, 0, 0, { 0 } }
	end
	local fired, lateness = fire(key, floor(now / 1000), count, bytes, tonumber_(args[7]))
	local trimmed, groups = 0, 0
	if args[5] == '1' then
		trimmed, groups = trim(key .. ':due')
	end
	local first = call('ZRANGE', key .. ':deadlines', 0, 0, 'WITHSCORES')[2]
	first = first and deadline_of(first) or NEVER
	local max_id, max_payload, text = args[6], args[7], text_of(first)
	if max_id ~= old_id or max_payload ~= old_payload or text ~= wanted then
		save_settings(key, max_id, max_payload, text)
	end
	return { chosen, now, first < NEVER and first or -1, old_id and 0 or 1, fired, trimmed, groups,
		 lateness }
end

local function hwt_leave(key, args)
	local removed = call('ZREM', key .. ':daemons', args[1])
	if removed == 1 then
		tell(key, 'daemons', 'changed')
	end
	return removed
end

---- Registration ------------------------------------------------------------------------

-- register(name, body, count, ...): `body` gets key, arguments and settings; `count`: how many
-- arguments, or nil
local function register(name, body, count, ...)
	local function callback(keys, args)
		if not call then
			bind()
		end
		local key, problem = find_key(keys)
		problem = problem or moving(key)
		if problem then
			return problem
		end
		if count and #args ~= count then
			return bad_argument(format('%s takes %d', name, count))
		end
		local max_id, max_payload, wanted = load_settings(key)
		if max_id == nil then
			return max_payload
		end
		if not max_id and body ~= hwt_fire then
			return not_served(key)
		end
		return body(key, args, max_id, max_payload, wanted)
	end
	redis.register_function { function_name = name, callback = callback, flags = { ... } }
end

-- allow-oom is for all that makes room, and for what keeps the daemons going, so timers
-- that are there fire although Redis is full.
register('hwt_schedule', new_scheduler(3, nil))
register('hwt_add', new_scheduler(3, false))
register('hwt_update', new_scheduler(3, true))
register('hwt_move', new_scheduler(2, true))
register('hwt_cancel', hwt_cancel, nil, 'allow-oom')
register('hwt_query', hwt_query, nil, 'no-writes')
register('hwt_list', hwt_list, 2, 'no-writes')
register('hwt_purge', hwt_purge, 0, 'allow-oom')
register('hwt_stats', hwt_stats, 0, 'no-writes')
register('hwt_fire', hwt_fire, 7, 'allow-oom')
register('hwt_leave', hwt_leave, 1, 'allow-oom')

redis.register_function {
	function_name = 'hwt_version',
	callback = function() return LIBRARY end,
	flags = { 'no-writes', 'allow-stale' },
}
