// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of the fuzzer; see tally.h.
 */
#include "tally.h"

struct tallies *tallies;

/**
 * struct rule - what is to happen to a call
 * @name: its name
 * @must_fail: a run counts only if such a call has failed
 */
struct rule {
	const char *name;
	bool must_fail;
};

static const struct rule rules[CALLS] = {
	[CALL_INFO] = { "INFO", true },
	[CALL_SETUP] = { "SETUP", true },
	[CALL_SCHEDULE] = { "SCHEDULE", true },
	[CALL_CANCEL] = { "CANCEL", true },
	[CALL_RESCHEDULE] = { "RESCHEDULE", true },
	[CALL_REARM] = { "REARM", true },
	[CALL_SUBMIT] = { "SUBMIT", true },
	[CALL_QUERY] = { "QUERY", true },
	[CALL_STOP] = { "STOP", true },
	[CALL_STATS] = { "STATS", true },
	[CALL_NOTIFY] = { "NOTIFY", true },
	[CALL_BULK] = { "BULK", true },
	[CALL_LIST] = { "LIST", true },
	[CALL_CANCEL_ALL] = { "CANCEL_ALL", true },
	[CALL_ACK] = { "ACK", true },
	[CALL_REWIND] = { "REWIND", true },
	[CALL_READ] = { "read", true },
	[CALL_POLL] = { "poll", false },
	[CALL_OPEN] = { "open", true },
	[CALL_EPOLL_CTL] = { "epoll_ctl", true },
	[CALL_EPOLL_WAIT] = { "epoll_wait", false },
	[CALL_SENDMSG] = { "sendmsg", false },
	[CALL_RECVMSG] = { "recvmsg", true },
	[CALL_FORK] = { "fork", false },
	[CALL_URING_READ] = { "io_uring read", false },
	[CALL_URING_POLL] = { "io_uring poll", false },
	[CALL_AIO_POLL] = { "AIO poll", false },
	[CALL_AIO_PREAD] = { "AIO read", false },
	[CALL_USERFAULTFD] = { "userfaultfd", false },
	[CALL_CLOCK] = { "clock set", false },
	[CALL_MEMCG] = { "little memory", false },
	[CALL_DEBUGFS] = { "debugfs", false },
	[CALL_UNLOAD] = { "unload", false },
};

/**
 * call_name - the name of a call
 * @call: the call
 *
 * Return: the name.
 */
const char *call_name(enum call call)
{
	return rules[call].name;
}

/**
 * call_must_fail - whether a run counts only if such a call has failed
 * @call: the call
 *
 * Return: whether.
 */
bool call_must_fail(enum call call)
{
	return rules[call].must_fail;
}

/**
 * tally - count a call
 * @call: the call
 * @result: what it returned; a negative number is a failure
 */
void tally(enum call call, long result)
{
	struct tally *tally = &tallies->calls[call];

	tally_add(result < 0 ? &tally->failed : &tally->succeeded, 1);
}
