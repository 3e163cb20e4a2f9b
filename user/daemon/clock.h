/* SPDX-License-Identifier: MIT */
/*
 * The difference between our CLOCK_REALTIME and the clock of a Redis server, as the
 * server's answers show it.
 *
 * A server read its clock at some moment between our question and its answer. So an
 * answer that took R ns tells the difference with an error of R / 2 at most. The answer
 * with the smallest R of the last CLOCK_SAMPLES ones counts.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_SAMPLES 16
#define NS_PER_MS 1000000LL

/* A difference that changes by more than the errors and this many ns was a jump. */
#define CLOCK_JUMP (5 * NS_PER_MS)

/**
 * struct clock_sample - what one answer says
 * @offset: our time minus Redis's time, ns
 * @error: largest error of @offset, ns
 */
struct clock_sample {
	int64_t offset;
	int64_t error;
};

/**
 * struct clock - the difference to the clock of one server
 * @samples: the last samples, in a circle
 * @count: number of valid samples
 * @next: index of the sample to overwrite next
 * @best: the sample that counts
 */
struct clock {
	struct clock_sample samples[CLOCK_SAMPLES];
	unsigned int count;
	unsigned int next;
	struct clock_sample best;
};

/**
 * struct clock_question - when a question was sent
 * @real: our CLOCK_REALTIME, ns
 * @steady: our CLOCK_BOOTTIME, ns
 */
struct clock_question {
	int64_t real;
	int64_t steady;
};

int64_t clock_real(void);
int64_t clock_steady(void);
struct clock_question clock_ask(void);
bool clock_answer(struct clock *clock, const struct clock_question *question,
		  int64_t redis_us);
void clock_forget(struct clock *clock);
int64_t clock_redis_ms(const struct clock *clock);
int64_t clock_to_local(const struct clock *clock, int64_t redis_ms);

#endif /* CLOCK_H */
