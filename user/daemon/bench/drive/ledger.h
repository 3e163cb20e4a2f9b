/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The timers of a run, and the accounts of what became of them.
 */
#ifndef REDIS_BENCH_LEDGER_H
#define REDIS_BENCH_LEDGER_H

#include <linux/types.h>

#define PAYLOAD_BYTES 32

/**
 * struct timer - one timer of a run, in the texts that go to Redis
 * @id: "t" and nine digits, its place in the ledger
 * @deadline: ms since 1970
 * @payload: PAYLOAD_BYTES characters that differ from those of other timers
 * @due: the deadline as a number
 * @cancelled: number of successful cancels
 * @fired: number of deliveries
 */
struct timer {
	char id[12];
	char deadline[16];
	char payload[PAYLOAD_BYTES + 1];
	__u64 due;
	__u8 cancelled;
	__u8 fired;
};

/**
 * struct ledger - the timers of a run
 * @timers: the timers, by number
 * @count: number of timers
 * @lateness: lateness of each delivery in ms, in the order of their arrival
 * @fired: number of deliveries
 * @early: number of deliveries before the deadline
 * @strange: number of deliveries of an unknown id, or with another payload
 * @now: time of the delivery that is being entered, us since 1970
 */
struct ledger {
	struct timer *timers;
	__u32 count;
	double *lateness;
	__u32 fired;
	__u32 early;
	__u32 strange;
	__u64 now;
};

/* The time, us since 1970 */
__u64 now_us(void);

/*
 * Makes @count timers. Their deadlines lie evenly in the @spread ms from @start (ms since
 * 1970) on, in random order, as producers do not schedule in the order of deadlines.
 */
void ledger_make(struct ledger *ledger, __u32 count, __u64 start, __u64 spread);
void ledger_free(struct ledger *ledger);

/* Enters the delivery of a timer at ledger->now. */
void ledger_fired(struct ledger *ledger, const char *id, const char *payload);

/*
 * Whether each timer was either cancelled once or delivered once, not early and with its
 * payload. Prints the accounts if not.
 */
_Bool ledger_balanced(const struct ledger *ledger);

#endif /* REDIS_BENCH_LEDGER_H */
