#!lua name=hwtimer
--
-- SPDX-License-Identifier: GPL-2.0-only
--
-- hwtimerd's half of the work that happens in Redis: a library of Redis Functions (Redis
-- 7.0 or later) that keeps timers, and hands them out when they are due. Clients call
-- hwt_schedule, hwt_cancel and hwt_query; hwtimerd calls hwt_turn and the functions for
-- leases. Documentation/hwtimerd.md describes all of them.
--
-- Keys. A queue has shards; the shard's key is like {orders:0}. All other keys of the
-- shard begin with it, so Redis Cluster keeps them on one node. One key is passed, the
-- others are computed.
--
--	{orders:0}		hash: id -> "<deadline in ms> <payload>", the timer's
--				record; the field "" has the shard's settings
--	{orders:0}:<start>	hash: the ids of one slot of time, with empty values; the
--				field "" marks the slot, so HSET's reply tells whether
--				the slot is new
--	{orders:0}:slots	sorted set: the starts of all slots that are not empty, and
--				"!<start>" for each that was lost and is there again
--	{orders:0}:near		stream: what the daemons must hear about at once
--	{orders:0}:due		stream: the timers that have expired
--	{orders:0}:lease	string: the daemon that serves the shard
--	{orders}:daemons	sorted set: the queue's live daemons, by the ends of their
--				lives
--	{orders}:changes	stream: daemons that came and went
--
-- The slots are the truth: a daemon that reads all of them knows all timers. Only if a slot
-- is lost, because somebody else has deleted or overwritten its key, all records are read to
-- find its timers; see seek_slot().
--
-- A daemon loads each slot shortly before it begins. `loaded` is the first start that no
-- daemon has loaded, and `wake` the first slot from there on that has timers. So
-- hwt_schedule must tell the daemons only about timers in slots before `wake`, and mostly
-- tells them nothing:
--
--	start < loaded		near gets id, deadline: the slot will not be read again
--	loaded <= start < wake	near gets wake: wake up earlier; `wake` = start
--	wake <= start		nothing: each daemon wakes up at `wake` or before it
--
-- For the last line, hwt_turn computes `wake` from `loaded` and not from the position of
-- the daemon that calls it, which may lag behind that of another one.
--
-- Speed. Each redis.call costs about a microsecond, as much as its work. A new timer in a
-- slot that exists costs two. Therefore the settings are cached, and can be out of date
-- after a failover, a FLUSHALL, or if a slot of the cluster went away and came back. That
-- does no harm: all of that makes the daemons reset, which means to read all slots; and a
-- slot has its start in its name, so one of another width is found and loaded like any
-- other one. Entries of slots whose timer is gone, or belongs in another slot, are
-- corrected when a slot is loaded. The cache knows keys, but not databases: use one
-- database only (hwtimerd uses 0).
--
-- Cluster. While a slot of the cluster moves to another node, some keys of a shard are
-- here and some there. Keys that were created then would exist twice. So what may create
-- a key answers TRYAGAIN at such times.

local LIBRARY = '1.0'
local FORMAT = 1		-- of the keys; a shard of a later format is refused

local DEFAULT_WIDTH = 1024	-- ms
local MAX_WIDTH = 1073741824	-- 2^30
local DEFAULT_ID = 256		-- bytes
local MAX_ID = 1024
local DEFAULT_PAYLOAD = 65536	-- bytes
local MAX_PAYLOAD = 1048576
local MAX_NAME = 255		-- bytes of a daemon's name
local MAX_TTL = 86400000	-- ms
local LIVES = 10		-- times its own that a daemon gives others to live
local MAX_AHEAD = 86400000	-- ms

-- Lua's unpack() takes about 8,000 arguments, and a timer of a batch needs two. The limit
-- also bounds how long Redis does nothing else.
local MAX_BATCH = 1000
local MAX_LOAD = 10000		-- timers that one hwt_turn may be asked to load
local MAX_TRIM = 1000		-- entries that one hwt_trim removes, about
local SEEK = 16			-- records that seek_slot() reads at a time, about
local SEEK_BYTES = 1000000	-- payloads after which it leaves the rest to the next call

local NEVER = 9007199254740992	-- 2^53: after all deadlines; every integer below is exact
local NEAR_LENGTH = '100000'	-- entries of near, if no daemon reads and trims it
local NEAR_AGE = 60000		-- ms that entries of near are kept for daemons that lag
local NEAR_LEFT = '10000'	-- entries of near that are kept whatever their age
local SET_BACK = 60000		-- ms that a clock must go back to make the daemons reset
local CHANGES_LENGTH = '100'
local MAX_SHARDS = 4096		-- that are cached
local ENTRY_MAX = '18446744073709551615'	-- 2^64 - 1, of each part of an entry's id

-- Redis defines no globals while a library is loaded; bind() takes these at the first
-- call.
local call, pcall_, acl_check, error_reply, status_reply
local find, format, gsub, match, sub
local tonumber_, type_, unpack_, next, concat, sort, raise

-- Whether Redis is part of a cluster; that does not change while it runs. If the first
-- caller may not ask, we take it for one, which only costs time.
local in_cluster

local function bind()
	pcall_, error_reply, status_reply = redis.pcall, redis.error_reply, redis.status_reply
	acl_check = redis.acl_check_cmd
	find, format, match, sub = string.find, string.format, string.match, string.sub
	gsub = string.gsub
	tonumber_, type_, unpack_, next = tonumber, type, unpack, _G.next
	concat, sort, raise = table.concat, table.sort, error
	local problem = pcall_('CLUSTER', 'INFO').err
	in_cluster = not (problem and find(problem, 'cluster support disabled', 1, true))
	call = redis.call
end

-- Lua's own conversion of numbers to text (%.14g) loses digits, and is slower.
local function text_of(number)
	return format('%d', number)
end

---- Errors ------------------------------------------------------------------------------

-- Functions return an error as their last value, and nothing is written before all of the
-- arguments have been checked. The first word is the code, which programs may rely on.
--
-- Redis may refuse each single command, for want of a right or because a key has another
-- type. So the order of writes is such that those before it do no harm: news in near and
-- entries of slots, of timers that do not exist, and empty slots in the index.

local function bad_key()
	return error_reply('HWTKEY one key is needed, like {orders:0}, with no other brace in it')
end

local function bad_argument(what)
	return error_reply('HWTARG ' .. what)
end

local function bad_id(limit)
	return error_reply(format('HWTID an id has 1 to %d bytes', limit))
end

local function bad_payload(limit)
	return error_reply(format('HWTPAYLOAD a payload has at most %d bytes', limit))
end

local function bad_deadline()
	return error_reply('HWTDEADLINE a deadline is a number of ms since 1970, ' ..
			   'or +ms from now, below 2^53')
end

local function bad_batch(what, limit)
	return error_reply(format('HWTBATCH 1 to %d %s a call', limit, what))
end

-- integer(text, low, high): the number, or nil if the text is anything else
local function integer(text, low, high)
	if not text or #text > 16 or not find(text, '^%d+$') then
		return nil
	end
	local number = tonumber_(text)
	if number < low or number > high then
		return nil
	end
	return number
end

local function is_key(key)
	return key and find(key, '^{[^{}]+}$')
end

---- Settings ----------------------------------------------------------------------------

local shards, shard_count = {}, 0

local function forget(key)
	if shards[key] then
		shards[key] = nil
		shard_count = shard_count - 1
	end
end

local function remember(key, shard)
	if not shards[key] then
		if shard_count >= MAX_SHARDS then
			shards, shard_count = {}, 0
		end
		shard_count = shard_count + 1
	end
	shards[key] = shard
end

local function new_shard(key)
	return {
		key = key,
		slot = gsub(key, '%%', '%%%%') .. ':%d',	-- format of the slots' keys
		slots = key .. ':slots',
		near = key .. ':near',
		due = key .. ':due',
		width = DEFAULT_WIDTH,
		loaded = 0,
		wake = NEVER,
		max_id = DEFAULT_ID,
		max_payload = DEFAULT_PAYLOAD,
	}
end

-- read_settings(shard): whether the shard has settings, and an error
local function read_settings(shard)
	local text = call('HGET', shard.key, '')
	if not text then
		return false
	end
	local version, width, loaded, wake, max_id, max_payload =
		match(text, '^(%d+) (%d+) (%d+) (%-?%d+) (%d+) (%d+)')
	if tonumber_(version) ~= FORMAT then
		return true, error_reply('HWTVERSION ' .. shard.key .. ' has a format that library ' ..
					 LIBRARY .. ' does not know; run hwtimerd load')
	end
	shard.width, shard.loaded = tonumber_(width), tonumber_(loaded)
	shard.wake = wake == '-1' and NEVER or tonumber_(wake)
	shard.max_id, shard.max_payload = tonumber_(max_id), tonumber_(max_payload)
	return true
end

-- save(shard, loaded, wake): the cache changes after Redis has changed, because what
-- Redis refused has not happened.
local function save(shard, loaded, wake)
	call('HSET', shard.key, '',
	     format('%d %d %d %d %d %d', FORMAT, shard.width, loaded, wake == NEVER and -1 or wake,
		    shard.max_id, shard.max_payload))
	shard.loaded, shard.wake = loaded, wake
end

-- moving(key): an error if the shard's keys are on their way to another node. The second
-- key never exists. A node refuses a command with a key that it lacks while it gives the
-- slot away, and one with several keys while it receives the slot.
local function moving(key)
	if not in_cluster then
		return nil
	end
	local reply = pcall_('EXISTS', key, key .. ':')
	if reply == 0 or reply == 1 then
		return nil
	end
	return error_reply('TRYAGAIN the keys of ' .. key .. ' are moving to another node')
end

-- load_shard(keys): the shard, with its settings read from Redis and cached, or nil and
-- an error. For functions that write.
local function load_shard(keys)
	local key = keys[1]
	if #keys ~= 1 or not is_key(key) then
		return nil, bad_key()
	end
	local problem = moving(key)
	if problem then
		return nil, problem
	end
	local shard = new_shard(key)
	local found
	found, problem = read_settings(shard)
	if problem then
		forget(key)
		return nil, problem
	end
	if not found then
		save(shard, shard.loaded, shard.wake)
	end
	remember(key, shard)
	return shard
end

-- peek_shard(keys): like load_shard(), for functions that must not write. On a replica,
-- what is read here is soon out of date, so it is not cached.
local function peek_shard(keys)
	local key = keys[1]
	if #keys ~= 1 or not is_key(key) then
		return nil, bad_key()
	end
	local shard = new_shard(key)
	local _, problem = read_settings(shard)
	if problem then
		return nil, problem
	end
	return shard
end

---- Records and slots -------------------------------------------------------------------

-- Programs that may schedule may also write the keys themselves (see hwtimerd(8), RIGHTS).
-- What is no record, no id or no slot must not keep the timers around it from firing: it is
-- skipped, and leaves its slot.

-- deadline_of(record): nil if it is no record
local function deadline_of(record)
	local deadline = tonumber_(match(record, '^%d+'))
	return deadline and deadline < NEVER and deadline or nil
end

-- Payloads may have any bytes, so no pattern touches them.
local function payload_of(record)
	return sub(record, match(record, '^%d+ ?()'))
end

local function has_other_type(reply)
	return find(reply.err, '^WRONGTYPE ')
end

-- refusal(slot, reply): the error that Redis answered, with the name of a key that has
-- another type
local function refusal(slot, reply)
	if not has_other_type(reply) then
		return reply
	end
	return error_reply('WRONGTYPE ' .. slot .. ' belongs to this shard, and somebody else ' ..
			   'has overwritten it: rename or delete it')
end

-- of_slot(...): the reply to a command for a slot, or nil if its key has another type
local function of_slot(...)
	local reply = pcall_(...)
	if type_(reply) ~= 'table' or not reply.err then
		return reply
	end
	if not has_other_type(reply) then
		raise(reply)
	end
	return nil
end

-- drop_if_empty(shard, start): a slot ceases to exist when only its marker is left, so
-- nothing is left of a timer however often it is moved. Returns whether the slot is lost:
-- its key has another type, or none. The index keeps that slot until its timers are sought.
local function drop_if_empty(shard, start)
	local slot = format(shard.slot, start)
	local left = of_slot('HLEN', slot)
	if left == 1 then
		call('DEL', slot)
		call('ZREM', shard.slots, text_of(start))
	end
	return not left or left == 0
end

-- drop_from_slots(shard, doomed): take ids out of their slots. `doomed` has a list of ids
-- by the start of the slot
local function drop_from_slots(shard, doomed)
	for start, ids in next, doomed do
		if of_slot('HDEL', format(shard.slot, start), unpack_(ids)) then
			drop_if_empty(shard, start)
		end
	end
end

-- mark_lost(shard, start): have a slot's timers sought, because the index had it and its
-- key is new all the same. Returns Redis's reply, perhaps an error.
local function mark_lost(shard, start)
	local score = text_of(start)
	return pcall_('ZADD', shard.slots, score, '!' .. score)
end

-- put_into_slots(shard, wanted): like drop_from_slots(), the other way; '' follows each
-- id. The index comes first: a slot that it lacks is never found. A slot of another type is
-- lost, so what it does not take will be found all the same.
local function put_into_slots(shard, wanted)
	for start, fields in next, wanted do
		local text = text_of(start)
		local is_new = call('ZADD', shard.slots, text, text) == 1
		local added = of_slot('HSET', format(shard.slot, start), '', '', unpack_(fields))
		if added and added > #fields / 2 and not is_new then
			mark_lost(shard, start)
		end
	end
end

-- group(groups, start, ...): add one or two values to the list of a slot
local function group(groups, start, value, value2)
	local list = groups[start]
	if not list then
		list = {}
		groups[start] = list
	end
	list[#list + 1] = value
	if value2 then
		list[#list + 1] = value2
	end
end

---- hwt_schedule ------------------------------------------------------------------------

local function tell_timer(shard, id, deadline)
	call('XADD', shard.near, 'MAXLEN', '~', NEAR_LENGTH, '*', 'id', id,
	     'deadline', deadline)
end

-- wake_earlier(shard, start): the settings are read again, as what an old cache has must
-- not become the truth. If it was old, the daemons read all slots soon.
local function wake_earlier(shard, start)
	call('XADD', shard.near, 'MAXLEN', '~', NEAR_LENGTH, '*', 'wake', text_of(start))
	read_settings(shard)
	if shard.loaded <= start and start < shard.wake then
		save(shard, shard.loaded, start)
	end
end

-- tell_one(shard, id, deadline, start): what the daemons must hear about a timer before
-- `wake`
local function tell_one(shard, id, deadline, start)
	if start < shard.loaded then
		tell_timer(shard, id, deadline)
	else
		wake_earlier(shard, start)
	end
end

-- now_us(): Redis's clock, by which all deadlines are
local function now_us()
	local time = call('TIME')
	return tonumber_(time[1]) * 1000000 + tonumber_(time[2])
end

-- ms_of(us): the ms that have passed, so nothing counts as due before it is
local function ms_of(us)
	return (us - us % 1000) / 1000
end

-- relative(text, now): the deadline that "+<ms>" means, or nil
local function relative(text, now)
	local delay = sub(text, 1, 1) == '+' and integer(sub(text, 2), 0, NEVER - 1)
	if not delay or now + delay >= NEVER then
		return nil
	end
	return now + delay
end

-- parse_deadline(text): the deadline and its text without leading zeros, or nil
local function parse_deadline(text)
	if #text <= 16 and find(text, '^[1-9]%d*$') then
		local deadline = tonumber_(text)
		if deadline < NEVER then
			return deadline, text
		end
		return nil
	end
	local deadline = integer(text, 0, NEVER - 1) or relative(text, ms_of(now_us()))
	if not deadline then
		return nil
	end
	return deadline, text_of(deadline)
end

-- too_long(shard, id, payload): the error for an id or a payload
local function too_long(shard, id, payload)
	if #id > shard.max_id or id == '' then
		return bad_id(shard.max_id)
	end
	return bad_payload(shard.max_payload)
end

-- replace(shard, id, record, start): give a timer that exists another record. It is in
-- the slot at `start` already, and leaves the one that it was in.
local function replace(shard, id, record, start)
	local old = deadline_of(call('HGET', shard.key, id))
	local old_start = old and old - old % shard.width
	call('HSET', shard.key, id, record)
	if old_start and old_start ~= start then
		drop_from_slots(shard, { [old_start] = { id } })
	end
end

-- list_slot(shard, slot, start): enter a new slot into the index. If the index had it, the
-- slot was lost, and so were the timers in it. If Redis refuses the entry, the slot must go,
-- as it would not be entered later. Returns nil or an error.
local function list_slot(shard, slot, start)
	local score = text_of(start)
	local reply = pcall_('ZADD', shard.slots, score, score)
	if reply == 0 then
		reply = mark_lost(shard, start)
	end
	if reply == 0 or reply == 1 then
		return nil
	end
	call('DEL', slot)
	return reply
end

-- schedule_one(): hwt_schedule of one timer, the function that must be fast. The timer's
-- record comes last, after all that makes it fire. What is not sure to exist is looked at
-- first, so that nothing is left of a timer that was refused because its keys are moving.
local function schedule_one(shard, id, text, payload)
	if #id > shard.max_id or #payload > shard.max_payload or id == '' then
		return too_long(shard, id, payload)
	end
	local deadline, canonical = parse_deadline(text)
	if not deadline then
		return bad_deadline()
	end
	local start = deadline - deadline % shard.width
	if start < shard.wake then
		local problem = moving(shard.key)
		if problem then
			return problem
		end
		tell_one(shard, id, canonical, start)
	end
	local slot = format(shard.slot, start)
	local record = canonical .. ' ' .. payload

	local added = pcall_('HSET', slot, '', '', id, '')
	if added == 2 then
		local problem = moving(shard.key)
		if problem then
			call('DEL', slot)
			return problem
		end
		problem = list_slot(shard, slot, start)
		if problem then
			return problem
		end
	elseif added ~= 1 and added ~= 0 then
		return moving(shard.key) or refusal(slot, added)
	end
	local is_new = call('HSETNX', shard.key, id, record)
	if is_new == 0 then
		local problem = moving(shard.key)
		if problem then
			if added == 1 then
				call('HDEL', slot, id)
			end
			return problem
		end
		replace(shard, id, record, start)
	end
	return is_new
end

-- A batch is in these arrays while it is worked on. To grow new ones each time would take
-- as long as all else that Lua does for it.
local ids, deadlines, starts, writes = {}, {}, {}, {}
local chain, heads, fields = {}, {}, {}
local KEPT = 1000000		-- bytes of payloads that may stay in them

-- parse_timers(shard, args): fill the arrays. Returns the number of timers and the bytes
-- of their payloads, or nil and an error.
local function parse_timers(shard, args)
	local max_id, max_payload, width = shard.max_id, shard.max_payload, shard.width
	local bytes = 0
	local n, last, deadline, start, head = 0, nil, nil, nil, nil
	for i = 1, #args, 3 do
		local id, text, payload = args[i], args[i + 1], args[i + 2]
		if #id > max_id or #payload > max_payload or id == '' then
			return nil, too_long(shard, id, payload)
		end
		-- Many timers of a batch often have the same deadline.
		if text ~= last then
			last, deadline, text = text, parse_deadline(text)
			if not deadline then
				return nil, bad_deadline()
			end
			start, head = deadline - deadline % width, text .. ' '
		end
		n, bytes = n + 1, bytes + #payload
		ids[n], deadlines[n], starts[n] = id, deadline, start
		writes[2 * n - 1], writes[2 * n] = id, head .. payload
	end
	return n, bytes
end

-- keep_last(n): drop all but the last timer of each id from the arrays; returns how many
-- stay
local function keep_last(n)
	local last, kept = {}, 0
	for i = 1, n do
		last[ids[i]] = i
	end
	for i = 1, n do
		if last[ids[i]] == i then
			kept = kept + 1
			ids[kept], deadlines[kept], starts[kept] = ids[i], deadlines[i], starts[i]
			writes[2 * kept - 1], writes[2 * kept] = writes[2 * i - 1], writes[2 * i]
		end
	end
	return kept
end

-- file(shard, n): put the ids into their slots, with one call for each slot. Returns nil
-- or an error.
local function file(shard, n)
	local slot_format = shard.slot
	local tail, slot_count, previous = {}, 0, nil
	for i = 1, n do
		local start = starts[i]
		if start == previous then
			chain[i - 1] = i
		else
			if previous then
				tail[previous] = i - 1
			end
			local before = tail[start]
			if before then
				chain[before] = i
			else
				slot_count = slot_count + 1
				heads[slot_count] = i
			end
			previous = start
		end
		chain[i] = 0
	end
	for j = 1, slot_count do
		local i, count = heads[j], 0
		local start = starts[i]
		repeat
			fields[2 * count + 1], fields[2 * count + 2] = ids[i], ''
			count, i = count + 1, chain[i]
		until i == 0
		-- The marker counts only in a new slot, where all ids are new, too.
		local slot = format(slot_format, start)
		local added = pcall_('HSET', slot, '', '', unpack_(fields, 1, 2 * count))
		if type_(added) ~= 'number' then
			return refusal(slot, added)
		end
		local problem = added > count and list_slot(shard, slot, start)
		if problem then
			return problem
		end
	end
	return nil
end

-- undo_batch(shard, n): take new timers away again, and with them slots that are new and
-- may not be in the index
local function undo_batch(shard, n)
	for i = 1, n do
		local slot = format(shard.slot, starts[i])
		pcall_('HDEL', slot, ids[i])
		local left = pcall_('HLEN', slot)
		if left == 0 or left == 1 then
			pcall_('DEL', slot)
		end
	end
	pcall_('HDEL', shard.key, unpack_(ids, 1, n))
end

-- part_twins(shard, n): of new timers with the same id, the last one wins, so the others
-- leave their slots. Perhaps such a slot is new and not in the index, as its marker
-- seemed to be an id. Returns nil or an error.
local function part_twins(shard, n)
	local home, wanted, doomed = {}, {}, {}
	local score = text_of(starts[1])
	local reply = pcall_('ZADD', shard.slots, score, score)
	if reply ~= 0 and reply ~= 1 then
		return reply
	end
	for i = 1, n do
		home[ids[i]] = starts[i]
	end
	for i = 1, n do
		local id, start = ids[i], starts[i]
		if start == home[id] then
			group(wanted, start, id, '')
		else
			group(doomed, start, id)
		end
	end
	put_into_slots(shard, wanted)
	drop_from_slots(shard, doomed)
	return nil
end

-- leave_old_slots(shard, n, old): take timers that were moved out of the slots they were
-- in
local function leave_old_slots(shard, n, old)
	local doomed, width = {}, shard.width
	for i = 1, n do
		local deadline = old[i] and deadline_of(old[i])
		if deadline and deadline - deadline % width ~= starts[i] then
			group(doomed, deadline - deadline % width, ids[i])
		end
	end
	drop_from_slots(shard, doomed)
end

-- tell_batch(shard, n): tell the daemons what they must hear about
local function tell_batch(shard, n)
	local earliest = shard.wake
	for i = 1, n do
		local start = starts[i]
		if start < shard.loaded then
			tell_timer(shard, ids[i], text_of(deadlines[i]))
		elseif start < earliest then
			earliest = start
		end
	end
	if earliest < shard.wake then
		wake_earlier(shard, earliest)
	end
end

-- read_old(shard, n): the records that the ids have now, and how many have none
local function read_old(shard, n)
	local old, missing = call('HMGET', shard.key, unpack_(ids, 1, n)), 0
	for i = 1, n do
		if not old[i] then
			missing = missing + 1
		end
	end
	return old, missing
end

-- write_batch(shard, n): hwt_schedule of the timers in the arrays. Of those with the same
-- id, the last one wins. They are rare, so they are looked for only where counts do not
-- agree, or when old slots are looked at, anyway.
local function write_batch(shard, n)
	local old, missing = read_old(shard, n)
	local moves = missing < n
	if moves then
		n = keep_last(n)
		old, missing = read_old(shard, n)
	end
	tell_batch(shard, n)
	local added = file(shard, n) or pcall_('HSET', shard.key, unpack_(writes, 1, 2 * n))
	if type_(added) == 'number' and added < missing then
		added = part_twins(shard, n) or added
	end
	if type_(added) ~= 'number' then
		-- Among timers that existed there are no twins, see above.
		if not moves then
			undo_batch(shard, n)
		end
	elseif moves then
		leave_old_slots(shard, n, old)
	end
	return added
end

local function schedule_batch(shard, args)
	local n, bytes = parse_timers(shard, args)
	local problem = not n and bytes or moving(shard.key)
	if problem then
		return problem
	end
	local reply = write_batch(shard, n)
	if bytes > KEPT then
		writes = {}
	end
	return reply
end

local function hwt_schedule(keys, args)
	if not call then
		bind()
	end
	local shard, problem = shards[keys[1]]
	if not shard or keys[2] then
		shard, problem = load_shard(keys)
		if not shard then
			return problem
		end
	end
	local n = #args
	if n == 3 then
		return schedule_one(shard, args[1], args[2], args[3])
	end
	if n % 3 ~= 0 then
		return bad_argument('timers are id deadline payload, each')
	end
	if n == 0 or n > 3 * MAX_BATCH then
		return bad_batch('timers', MAX_BATCH)
	end
	return schedule_batch(shard, args)
end

---- hwt_cancel, hwt_query ---------------------------------------------------------------

-- check_ids(args, first): an error unless there are 1 to MAX_BATCH ids from that argument
-- on. The empty one is no id but the settings. Long ones may be from a time with another
-- limit.
local function check_ids(args, first)
	if #args < first or #args >= first + MAX_BATCH then
		return bad_batch('ids', MAX_BATCH)
	end
	for i = first, #args do
		if args[i] == '' then
			return error_reply('HWTID an id has at least 1 byte')
		end
	end
	return nil
end

local function hwt_cancel(keys, ids)
	local shard, problem = shards[keys[1]]
	if not shard or #keys ~= 1 then
		shard, problem = load_shard(keys)
	end
	problem = problem or check_ids(ids, 1) or moving(shard.key)
	if problem then
		return problem
	end
	local records = call('HMGET', shard.key, unpack_(ids))
	local doomed, seen, gone = {}, {}, { 'HDEL', shard.key }
	for i = 1, #ids do
		local id, record = ids[i], records[i]
		if record and not seen[id] then
			local deadline = deadline_of(record)
			seen[id] = true
			gone[#gone + 1] = id
			if deadline then
				group(doomed, deadline - deadline % shard.width, id)
			end
		end
	end
	if #gone == 2 then
		return 0
	end
	call(unpack_(gone))
	drop_from_slots(shard, doomed)
	return #gone - 2
end

local function hwt_query(keys, ids)
	local shard, problem = peek_shard(keys)
	problem = problem or check_ids(ids, 1)
	if problem then
		return problem
	end
	local reply = call('HMGET', shard.key, unpack_(ids))
	for i = 1, #reply do
		local record = reply[i]
		local deadline = record and deadline_of(record)
		reply[i] = deadline and { deadline, payload_of(record) } or false
	end
	return reply
end

---- hwt_setup, hwt_stats ----------------------------------------------------------------

-- What is no slot counts as one at its score, so that it does not hide those behind it.
local function first_slot(shard, from)
	local reply = call('ZRANGE', shard.slots, text_of(from), '+inf', 'BYSCORE', 'LIMIT', '0', '1')
	local start = integer(reply[1], 0, NEVER)
	if reply[1] and not start then
		reply = call('ZRANGE', shard.slots, text_of(from), '+inf', 'BYSCORE', 'LIMIT', '0',
			     '1', 'WITHSCORES')
		start = tonumber_(reply[2])
		start = start < NEVER and start - start % 1
	end
	return start or NEVER
end

-- pending(shard): the number of timers; after a FLUSHALL there may be no settings
local function pending(shard)
	return call('HLEN', shard.key) - call('HEXISTS', shard.key, '')
end

local function or_minus_one(start)
	return start == NEVER and -1 or start
end

local function is_width(width)
	while width and width > 1 do
		width = width / 2
	end
	return width == 1
end

local function hwt_setup(keys, args)
	local shard, problem = load_shard(keys)
	if problem then
		return problem
	end
	if #args ~= 3 then
		return bad_argument('width max_id max_payload are needed')
	end
	local width = integer(args[1], 1, MAX_WIDTH)
	local max_id = integer(args[2], 1, MAX_ID)
	local max_payload = integer(args[3], 0, MAX_PAYLOAD)
	if not is_width(width) then
		return bad_argument(format('width is a power of two of ms, 1 to %d', MAX_WIDTH))
	end
	if not max_id then
		return bad_argument(format('max_id is 1 to %d bytes', MAX_ID))
	end
	if not max_payload then
		return bad_argument(format('max_payload is 0 to %d bytes', MAX_PAYLOAD))
	end
	if width ~= shard.width and pending(shard) > 0 then
		return error_reply(format('HWTCONFIG the shard has timers and width %d', shard.width))
	end
	forget(shard.key)		-- Redis may refuse to save it
	shard.width, shard.max_id, shard.max_payload = width, max_id, max_payload
	save(shard, shard.loaded, shard.wake)
	remember(shard.key, shard)
	return status_reply('OK')
end

local function hwt_stats(keys, args)
	local shard, problem = peek_shard(keys)
	if problem then
		return problem
	end
	if #args > 0 then
		return bad_argument('there are none')
	end
	return {
		'version', LIBRARY,
		'width', shard.width,
		'pending', pending(shard),
		'slots', call('ZCARD', shard.slots),
		'loaded', shard.loaded,
		'wake', or_minus_one(shard.wake),
		'first_slot', or_minus_one(first_slot(shard, 0)),
		'due', call('XLEN', shard.due),
		'near', call('XLEN', shard.near),
		'max_id', shard.max_id,
		'max_payload', shard.max_payload,
		'time', now_us(),
	}
end

---- hwt_turn ----------------------------------------------------------------------------

-- A daemon's position is what it has loaded: all slots before `start`, and, if it has
-- `scan`, a part of the slot at `start`, where HSCAN goes on at that cursor. A letter before
-- the cursor says that it is one of the records, see seek_slot(). Timers that
-- came to a slot after its loading began are in near. `known` is the first start of which
-- the daemon need not be told, as it will load it.

-- parse_position(text): nil if it is none
local function parse_position(text)
	local start, scan = match(text, '^(%d+):([npr]?%d+)$')
	start = integer(start or text, 0, NEVER)
	if not start or (scan and #scan > 20) then
		return nil
	end
	return { start = start, scan = scan, known = scan and start + 1 or start }
end

local function text_of_position(position)
	local text = text_of(position.start)
	return position.scan and text .. ':' .. position.scan or text
end

local function parse_turn(args)
	if #args < 5 then
		return nil, bad_argument('daemon cursor loaded ahead_ms max [id...] are needed')
	end
	if #args > 5 then
		local problem = check_ids(args, 6)
		if problem then
			return nil, problem
		end
	end
	local turn = {
		daemon = args[1],
		cursor = args[2],
		position = parse_position(args[3]),
		ahead = integer(args[4], 0, MAX_AHEAD),
		max = integer(args[5], 1, MAX_LOAD),
		ids = { unpack_(args, 6) },
		fired = '',
		early = {},
		news = {},
		overwritten = {},	-- keys of slots, of which the operator should hear
	}
	if turn.daemon == '' or #turn.daemon > MAX_NAME then
		return nil, bad_argument(format('a daemon\'s name has 1 to %d bytes', MAX_NAME))
	end
	if turn.cursor ~= '' and not find(turn.cursor, '^%d+%-%d+$') then
		return nil, bad_argument('cursor is empty or an entry of near')
	end
	if not turn.position then
		return nil, bad_argument('loaded is 0 or from the last reply')
	end
	if not turn.ahead then
		return nil, bad_argument(format('ahead_ms is 0 to %d', MAX_AHEAD))
	end
	if not turn.max then
		return nil, bad_argument(format('max is 1 to %d', MAX_LOAD))
	end
	return turn
end

-- fire_one(shard, id, text, record): append the timer to the stream. Returns nil or an
-- error.
local function fire_one(shard, id, text, record)
	local reply = pcall_('XADD', shard.due, '*', 'id', id, 'deadline', text, 'payload',
			     sub(record, #text + 2))
	return reply.err and refusal(shard.due, reply)
end

-- fire(shard, turn): move what is due to the stream. `fired` tells for each id
--	0	it is gone, or moved to a slot that this daemon will load: forget it
--	1	it is in due now
--	2	it is early, because it was moved, and is in `early` with its deadline
-- Returns nil or an error. What the stream has taken before is no timer any more.
local function fire(shard, turn)
	local wanted, now, early = turn.ids, turn.now, turn.early
	if #wanted == 0 then
		return nil
	end
	-- After XADD, it would be too late to learn that this is refused.
	if not acl_check('HDEL', shard.key, wanted[1]) then
		call('HDEL', shard.key, wanted[1])
	end
	local problem
	local records = call('HMGET', shard.key, unpack_(wanted))
	local results, seen, gone, doomed = {}, {}, {}, {}
	for i = 1, #wanted do
		local id, record = wanted[i], records[i]
		results[i] = '0'
		if record and not seen[id] then
			local text = match(record, '^%d+')
			local deadline = text and tonumber_(text) or NEVER
			local start = deadline - deadline % shard.width
			if deadline <= now then
				problem = fire_one(shard, id, text, record)
				if problem then
					break
				end
				gone[#gone + 1] = id
				group(doomed, start, id)
				results[i], seen[id] = '1', true
			elseif start < turn.position.known then
				early[#early + 1] = id
				early[#early + 1] = deadline
				results[i] = '2'
			end
		end
	end
	if #gone > 0 then
		call('HDEL', shard.key, unpack_(gone))
		drop_from_slots(shard, doomed)
	end
	turn.fired = concat(results)
	return problem
end

local function tell(turn, id, deadline)
	local news = turn.news
	news[#news + 1] = id
	news[#news + 1] = deadline
end

-- clock_went_back(turn): whether the daemon has loaded far more than it would by Redis's
-- clock now. Without a reset, all timers until then would go through near and the kernel.
-- Small steps, as of NTP, are over before a reset would have been worth it.
local function clock_went_back(turn)
	return turn.position.start > turn.horizon + SET_BACK
end

-- reset(shard, turn): the daemon will read all slots, and near from now on. `loaded` may
-- be far ahead, because a clock went back or another daemon looks farther. The entry in
-- near makes the other daemons see that it moved back, even if it moved on since.
local function reset(shard, turn)
	if turn.loaded > turn.horizon then
		turn.loaded = turn.horizon
	end
	turn.cursor = call('XADD', shard.near, 'MAXLEN', '~', NEAR_LENGTH, '*',
			   'reset', turn.daemon, 'loaded', text_of(turn.loaded))
	turn.position = { start = 0, known = 0 }
end

-- go_back(turn, entries): go back to where `loaded` was moved, as timers that came from
-- there on were not told of
local function go_back(turn, entries)
	for i = 2, #entries do
		local fields = entries[i][2]
		local loaded = fields[1] == 'reset' and integer(fields[4], 0, NEVER)
		if loaded and loaded < turn.position.start then
			turn.position = { start = loaded, known = loaded }
		end
	end
end

-- read_near(shard, turn): take what is new in near. Returns false if entries are missing
-- there, which shows by the absence of the one that was read last.
local function read_near(shard, turn)
	local entries = call('XRANGE', shard.near, turn.cursor, '+', 'COUNT', turn.max + 1)
	if not entries[1] or entries[1][1] ~= turn.cursor then
		return false
	end
	go_back(turn, entries)
	local width, known = shard.width, turn.position.known
	for i = 2, #entries do
		local fields = entries[i][2]
		local deadline = fields[1] == 'id' and fields[2] ~= '' and
				 integer(fields[4], 0, NEVER - 1)
		if deadline and deadline - deadline % width < known then
			tell(turn, fields[2], deadline)
		end
	end
	turn.cursor = entries[#entries][1]
	turn.more = #entries > turn.max
	return true
end

-- trim_near(shard, turn): remove what this daemon has read, unless it is so new that
-- another daemon may not have read it. The entry at the cursor stays, see read_near().
local function trim_near(shard, turn)
	local before = turn.now - NEAR_AGE
	if before <= 0 then
		return
	end
	local cursor_ms = tonumber_(match(turn.cursor, '^%d+'))
	if cursor_ms > turn.now then
		-- The clock went back. New entries get names after that of the last one.
		if not turn.more then
			call('XTRIM', shard.near, 'MAXLEN', '~', NEAR_LEFT)
		end
		return
	end
	call('XTRIM', shard.near, 'MINID', '~', cursor_ms < before and turn.cursor or text_of(before))
end

-- load_ids(shard, turn, start, ids): tell of the timers of a slot, or of a part of it
local function load_ids(shard, turn, start, ids)
	local width = shard.width
	local records = call('HMGET', shard.key, unpack_(ids))
	local doomed, lost = {}, {}
	for i, id in next, ids do
		local record = records[i]
		local deadline = record and deadline_of(record)
		local home = deadline and deadline - deadline % width
		if home ~= start then
			doomed[#doomed + 1] = id
		end
		if home and home ~= start then
			group(lost, home, id, '')
		end
		if home and home < turn.horizon then
			tell(turn, id, deadline)
			-- Other daemons may have passed that slot already.
			if home < start then
				tell_timer(shard, id, text_of(deadline))
			end
		end
	end
	put_into_slots(shard, lost)
	if #doomed > 0 then
		call('HDEL', format(shard.slot, start), unpack_(doomed))
	end
end

-- load_slot(shard, turn, start, scan, room): load the slot, or as much of it as there is
-- room for. Returns the cursor of HSCAN to go on with, '0' at the end, and the number of
-- entries.
local function load_slot(shard, turn, start, scan, room)
	local slot = format(shard.slot, start)
	local count = 0
	repeat
		local reply = of_slot('HSCAN', slot, scan, 'COUNT', room - count)
		if not reply then
			turn.overwritten[#turn.overwritten + 1] = slot
			return 'n0', count
		end
		local fields = reply[2]
		local ids = {}
		for i = 1, #fields, 2 do
			if fields[i] ~= '' then
				ids[#ids + 1] = fields[i]
				count = count + 1
			end
			if #ids == MAX_BATCH or (i == #fields - 1 and #ids > 0) then
				load_ids(shard, turn, start, ids)
				ids = {}
			end
		end
		scan = reply[1]
	until scan == '0' or count >= room
	if scan == '0' and drop_if_empty(shard, start) then
		scan = 'n0'
	end
	return scan, count
end

-- take_found(shard, turn, start, home, found, state): tell of timers that were sought, and
-- put them back into their slot. Returns the state, see seek_slot().
local function take_found(shard, turn, start, home, found, state)
	if #found == 0 then
		return state
	end
	local fields = {}
	for i = 1, #found, 2 do
		local id, deadline = found[i], found[i + 1]
		fields[i], fields[i + 1] = id, ''
		tell(turn, id, deadline)
		if home < start then
			tell_timer(shard, id, text_of(deadline))
		end
	end
	if home ~= start then
		call('ZADD', shard.slots, text_of(home), text_of(home))
	end
	if not of_slot('HSET', format(shard.slot, home), '', '', unpack_(fields)) then
		return 'r'
	end
	return state == 'n' and 'p' or state
end

-- end_search(shard, turn, entry, start, home, state): all records have been read. Returns '0', or
-- where to begin again, if the slot refused timers and would take them now.
local function end_search(shard, turn, entry, start, home, state)
	if state == 'r' then
		local slot = format(shard.slot, home)
		if of_slot('HLEN', slot) then
			return 'n0'
		end
		turn.overwritten[#turn.overwritten + 1] = slot
	end
	-- A slot with timers stays in the index: those that were found, and those that somebody
	-- has scheduled during the search. Nobody would enter it later, as it is no new slot.
	local made = (of_slot('HLEN', format(shard.slot, start)) or 0) > 0
	if entry ~= text_of(start) then
		call('ZREM', shard.slots, entry)
		if made then
			call('ZADD', shard.slots, text_of(start), text_of(start))
		end
	elseif not made and (state == 'n' or start ~= home) then
		call('ZREM', shard.slots, entry)
	end
	return '0'
end

-- seek_slot(shard, turn, entry, start, scan, room): load a slot that is lost, by reading all
-- records, in parts. A key of another type stays, as we do not know what it is good for.
-- `entry` is the slot's in the index. The letter before the cursor is the state:
--	n	no timer was found
--	p	timers were found, and put back into the slot
--	r	the slot's key has another type, and has refused timers
-- Returns what load_slot() does, but counts the records that were read.
local function seek_slot(shard, turn, entry, start, scan, room)
	local state, cursor = match(scan, '^(%a)(%d+)$')
	local width, count, bytes = shard.width, 0, 0
	-- A slot of another width had timers of this one.
	local home = start - start % width
	repeat
		local reply = call('HSCAN', shard.key, cursor, 'COUNT', room < SEEK and room or SEEK)
		local fields = reply[2]
		local found = {}
		for i = 1, #fields, 2 do
			local id, record = fields[i], fields[i + 1]
			local deadline = id ~= '' and deadline_of(record)
			if deadline and deadline - deadline % width == home then
				found[#found + 1] = id
				found[#found + 1] = deadline
			end
			if #found == 2 * MAX_BATCH then
				state = take_found(shard, turn, start, home, found, state)
				found = {}
			end
			count, bytes = count + 1, bytes + #record
		end
		state = take_found(shard, turn, start, home, found, state)
		cursor = reply[1]
	until cursor == '0' or count >= room or bytes >= SEEK_BYTES
	if cursor ~= '0' then
		return state .. cursor, count
	end
	return end_search(shard, turn, entry, start, home, state), count
end

-- horizon(shard, now): the first slot that begins after `now`
local function horizon(shard, now)
	return now - now % shard.width + shard.width
end

-- load_slots(shard, turn): load the slots from the daemon's position to the horizon, or
-- as many as `max` allows
local function load_slots(shard, turn)
	local position, room = turn.position, turn.max
	local starts = call('ZRANGE', shard.slots, text_of(position.start), text_of(turn.horizon - 1),
			    'BYSCORE', 'LIMIT', '0', turn.max)
	local go_on, last = position.scan, nil
	for i = 1, #starts do
		local entry = starts[i]
		local mark, text = match(entry, '^(!?)(%d+)$')
		local start = integer(text, 0, NEVER)
		if not start then
			call('ZREM', shard.slots, entry)
		elseif room <= 0 then
			turn.position, turn.more = { start = start }, true
			return
		else
			local scan = start == position.start and go_on or '0'
			local count
			if find(scan, '^%a') or mark == '!' then
				scan = find(scan, '^%a') and scan or 'n0'
				scan, count = seek_slot(shard, turn, entry, start, scan, room)
			else
				scan, count = load_slot(shard, turn, start, scan, room)
			end
			room = room - count
			if scan ~= '0' then
				turn.position, turn.more = { start = start, scan = scan }, true
				return
			end
			-- Not a width farther: slots that an old cache made may be narrower.
			go_on, last = nil, mark == '' and start + 1 or start
		end
	end
	if #starts == turn.max then
		turn.position = last and { start = last } or position
		turn.more = true
	elseif position.start < turn.horizon then
		turn.position = { start = turn.horizon }
	else
		position.scan = nil
	end
end

-- settle(shard, turn): save how far the daemons have loaded, and answer when this one
-- must call again
local function settle(shard, turn)
	local position = turn.position
	local reached = position.scan and position.start + shard.width or position.start
	local loaded = turn.loaded > reached and turn.loaded or reached
	local alarm = first_slot(shard, position.start)
	local wake = loaded == position.start and alarm or first_slot(shard, loaded)
	if loaded ~= shard.loaded or wake ~= shard.wake then
		save(shard, loaded, wake)
	end
	return alarm
end

local function hwt_turn(keys, args)
	local shard, problem = load_shard(keys)
	if problem then
		return problem
	end
	local turn
	turn, problem = parse_turn(args)
	if problem then
		return problem
	end
	turn.now_us = now_us()
	turn.now = ms_of(turn.now_us)
	turn.loaded = shard.loaded
	turn.horizon = horizon(shard, turn.now + turn.ahead)
	if turn.position.start > shard.loaded then
		turn.position = { start = shard.loaded, known = shard.loaded }
	end
	problem = fire(shard, turn)
	if problem then
		return problem
	end
	if turn.cursor == '' or clock_went_back(turn) then
		reset(shard, turn)
	elseif not read_near(shard, turn) then
		return { 'reset', turn.now_us, '', '0', -1, 1, turn.fired, turn.early, {} }
	else
		trim_near(shard, turn)
	end
	load_slots(shard, turn)
	local alarm = settle(shard, turn)
	return {
		'ok', turn.now_us, turn.cursor, text_of_position(turn.position),
		or_minus_one(alarm), turn.more and 1 or 0, turn.fired, turn.early, turn.news,
		turn.overwritten,
	}
end

---- Leases and members ------------------------------------------------------------------

-- parse_daemon(keys, args, count): the daemon's name and, if count is 2, its time to
-- live, or nil and an error
local function parse_daemon(keys, args, count)
	if #keys ~= 1 or not is_key(keys[1]) then
		return nil, bad_key()
	end
	if #args ~= count then
		return nil, bad_argument(count == 2 and 'daemon ttl_ms are needed' or 'daemon is needed')
	end
	local name, ttl = args[1], integer(args[2], 1, MAX_TTL)
	if name == '' or #name > MAX_NAME then
		return nil, bad_argument(format('a daemon\'s name has 1 to %d bytes', MAX_NAME))
	end
	if count == 2 and not ttl then
		return nil, bad_argument(format('ttl_ms is 1 to %d', MAX_TTL))
	end
	local problem = moving(keys[1])
	if problem then
		return nil, problem
	end
	return name, ttl
end

-- rest_of(lease, holder, ttl): the ms until another daemon's lease ends. It does not last
-- for as long as the clock was ahead when its holder got it; one who lives renews it.
local function rest_of(lease, holder, ttl)
	local rest = call('PTTL', lease)
	if rest > LIVES * ttl then
		rest = LIVES * ttl
		call('SET', lease, holder, 'PX', text_of(rest))
	end
	return rest
end

-- has_news(near, cursor): 1 if near does not end with the entry at the cursor, else 0
local function has_news(near, cursor)
	local entries = call('XRANGE', near, cursor, '+', 'COUNT', 2)
	return #entries == 1 and entries[1][1] == cursor and 0 or 1
end

-- The daemon may tell the last entry of near that it has read. If it gets the lease, it is
-- told whether it should have read more, as the connection on which it waits for that may
-- be dead.
local function hwt_lease(keys, args)
	local cursor = #args == 3 and args[3]
	if cursor and not find(cursor, '^%d+%-%d+$') then
		return bad_argument('cursor is an entry of near')
	end
	local daemon, ttl = parse_daemon(keys, cursor and { args[1], args[2] } or args, 2)
	if not daemon then
		return ttl
	end
	local lease = keys[1] .. ':lease'
	local holder = call('GET', lease)
	if holder and holder ~= daemon then
		return { 0, now_us(), holder, rest_of(lease, holder, ttl) }
	end
	local news = cursor and has_news(keys[1] .. ':near', cursor)
	call('SET', lease, daemon, 'PX', text_of(ttl))
	return { 1, now_us(), news or nil }
end

local function hwt_release(keys, args)
	local daemon, problem = parse_daemon(keys, args, 1)
	if not daemon then
		return problem
	end
	local lease = keys[1] .. ':lease'
	if call('GET', lease) ~= daemon then
		return 0
	end
	return call('DEL', lease)
end

local function note_change(queue, event, daemon)
	call('XADD', queue .. ':changes', 'MAXLEN', '~', CHANGES_LENGTH, '*', event, daemon)
end

local function hwt_join(keys, args)
	local daemon, ttl = parse_daemon(keys, args, 2)
	if not daemon then
		return ttl
	end
	local daemons = keys[1] .. ':daemons'
	local now = ms_of(now_us())
	for _, dead in next, call('ZRANGE', daemons, '-inf', text_of(now), 'BYSCORE') do
		if dead ~= daemon then
			call('ZREM', daemons, dead)
			note_change(keys[1], 'died', dead)
		end
	end
	if call('ZADD', daemons, text_of(now + ttl), daemon) == 1 then
		note_change(keys[1], 'joined', daemon)
	end
	-- The dead do not stay for as long as the clock was ahead when they joined. Those
	-- who live renew their lives.
	local last = text_of(now + LIVES * ttl)
	for _, name in next, call('ZRANGE', daemons, '(' .. last, '+inf', 'BYSCORE') do
		call('ZADD', daemons, last, name)
	end
	local names = call('ZRANGE', daemons, '0', '-1')
	sort(names)
	return names
end

local function hwt_leave(keys, args)
	local daemon, problem = parse_daemon(keys, args, 1)
	if not daemon then
		return problem
	end
	local removed = call('ZREM', keys[1] .. ':daemons', daemon)
	if removed == 1 then
		note_change(keys[1], 'left', daemon)
	end
	return removed
end

---- hwt_ack, hwt_trim -------------------------------------------------------------------

-- groups_of(due): what XINFO tells of each group, by name
local function groups_of(due)
	local groups = {}
	if call('EXISTS', due) == 0 then
		return groups
	end
	for i, info in next, call('XINFO', 'GROUPS', due) do
		groups[i] = {}
		for j = 1, #info, 2 do
			groups[i][info[j]] = info[j + 1]
		end
	end
	return groups
end

-- number_less(a, b): whether a is less than b, both digits without leading zeros. The
-- parts of an entry's id have 64 bits, more than a number of Lua.
local function number_less(a, b)
	if #a ~= #b then
		return #a < #b
	end
	return a < b
end

-- is_entry(text): whether Redis takes it for the id of an entry. It must not find out
-- after it has acknowledged other ones.
local function is_entry(text)
	local ms, seq = match(text, '^0*(%d+)%-0*(%d+)$')
	return ms and #text <= 41 and not number_less(ENTRY_MAX, ms) and
	       not number_less(ENTRY_MAX, seq)
end

local function hwt_ack(keys, args)
	if #keys ~= 1 or not is_key(keys[1]) then
		return bad_key()
	end
	if #args < 2 or #args > MAX_BATCH + 1 then
		return bad_batch('entries', MAX_BATCH)
	end
	for i = 2, #args do
		if not is_entry(args[i]) then
			return bad_argument('an entry is like 1763889600123-0')
		end
	end
	local problem = moving(keys[1])
	if problem then
		return problem
	end
	local due, group_name = keys[1] .. ':due', args[1]
	local doomed = { 'XDEL', due }
	for i = 2, #args do
		if call('XACK', due, group_name, args[i]) == 1 then
			doomed[#doomed + 1] = args[i]
		end
	end
	-- Other groups have not read it yet, perhaps; hwt_trim finds out.
	if #doomed > 2 and #groups_of(due) == 1 then
		call(unpack_(doomed))
	end
	return #doomed - 2
end

local function entry_less(a, b)
	local a_ms, a_seq = match(a, '^(%d+)%-(%d+)$')
	local b_ms, b_seq = match(b, '^(%d+)%-(%d+)$')
	if a_ms ~= b_ms then
		return number_less(a_ms, b_ms)
	end
	return number_less(a_seq, b_seq)
end

-- entry_after(entry): the next one that could be. Where Lua has no such number, the entry
-- itself.
local function entry_after(entry)
	local ms, seq = match(entry, '^(%d+)%-(%d+)$')
	seq = tonumber_(seq)
	return seq < NEVER - 1 and ms .. '-' .. text_of(seq + 1) or entry
end

-- first_needed(due, info): the first entry that the group has not acknowledged, or the
-- first that could be one. XGROUP SETID may have moved the group to before what is
-- pending: then it reads again what comes in between.
local function first_needed(due, info)
	local unread = entry_after(info['last-delivered-id'])
	if info.pending == 0 then
		return unread
	end
	-- Not the summary: it counts for each consumer, and there may be many.
	local pending = call('XPENDING', due, info.name, '-', '+', 1)[1][1]
	return entry_less(pending, unread) and pending or unread
end

-- trim_before(due, first): remove what comes before `first`, or about MAX_TRIM entries of
-- it, as Redis does nothing else meanwhile. A limit needs ~, which removes whole nodes of
-- the stream only, of 100 entries or of 4 KB by default.
local function trim_before(due, first)
	local count = call('XTRIM', due, 'MINID', '~', first, 'LIMIT', text_of(MAX_TRIM))
	if count > MAX_TRIM / 2 then
		return count
	end
	-- It was not the limit that ended it, so only a part of a node is left.
	return count + call('XTRIM', due, 'MINID', first)
end

local function hwt_trim(keys, args)
	if #keys ~= 1 or not is_key(keys[1]) then
		return bad_key()
	end
	if #args > 0 then
		return bad_argument('there are none')
	end
	local problem = moving(keys[1])
	if problem then
		return problem
	end
	local due, first = keys[1] .. ':due', nil
	for _, info in next, groups_of(due) do
		local needed = first_needed(due, info)
		if not first or entry_less(needed, first) then
			first = needed
		end
	end
	return first and trim_before(due, first) or 0
end

local function hwt_version()
	return LIBRARY
end

---- Registration ------------------------------------------------------------------------

-- allow-oom is for all that makes room, and for what keeps the daemons going, so timers
-- that are there fire although Redis is full.
local function register(name, callback, ...)
	local function bound(keys, args)
		if not call then
			bind()
		end
		return callback(keys, args)
	end
	redis.register_function { function_name = name, callback = bound, flags = { ... } }
end

redis.register_function('hwt_schedule', hwt_schedule)	-- binds itself: it must be fast
register('hwt_cancel', hwt_cancel, 'allow-oom')
register('hwt_query', hwt_query, 'no-writes')
register('hwt_stats', hwt_stats, 'no-writes')
register('hwt_setup', hwt_setup)
register('hwt_turn', hwt_turn, 'allow-oom')
register('hwt_lease', hwt_lease, 'allow-oom')
register('hwt_release', hwt_release, 'allow-oom')
register('hwt_join', hwt_join, 'allow-oom')
register('hwt_leave', hwt_leave, 'allow-oom')
register('hwt_ack', hwt_ack, 'allow-oom')
register('hwt_trim', hwt_trim, 'allow-oom')
register('hwt_version', hwt_version, 'no-writes', 'allow-stale')
