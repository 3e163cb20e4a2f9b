#!lua name=bench
-- SPDX-License-Identifier: GPL-2.0-only
--
-- What hwt_schedule would cost if it checked nothing: one write of the records of a batch,
-- and one write to the hash of each timer's slot. No library can do with less that keeps a
-- hash for each slot, so user/daemon/bench/redis.sh prints this beside hwt_schedule.

local width = 128

-- bench_setup <width of a slot, ms>
redis.register_function('bench_setup', function(_, args)
	width = tonumber(args[1])
	return 'OK'
end)

-- bench_floor key, then id, deadline and payload of each timer
redis.register_function('bench_floor', function(keys, args)
	local call, key, records = redis.call, keys[1], {}
	for i = 1, #args, 3 do
		records[#records + 1] = args[i]
		records[#records + 1] = args[i + 1] .. ' ' .. args[i + 2]
	end
	call('HSET', key, unpack(records))
	for i = 1, #args, 3 do
		local deadline = args[i + 1] + 0
		call('HSET', key .. ':' .. deadline - deadline % width, args[i], '')
	end
	return #args / 3
end)
