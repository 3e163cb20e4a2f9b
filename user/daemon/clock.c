// SPDX-License-Identifier: MIT
/* Measures the difference to Redis's clock; see clock.h. */
#include "clock.h"

#include <stdlib.h>
#include <time.h>

#include <linux/hwtimer.h>

static int64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Returns CLOCK_REALTIME in ns. */
int64_t clock_real(void)
{
	return read_clock(CLOCK_REALTIME);
}

/* Returns CLOCK_BOOTTIME in ns: nobody sets it, and it counts while we are suspended. */
int64_t clock_steady(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

struct clock_question clock_ask(void)
{
	return (struct clock_question){ clock_real(), clock_steady() };
}

void clock_forget(struct clock *clock)
{
	clock->count = 0;
	clock->next = 0;
}

static void choose_best(struct clock *clock)
{
	unsigned int i;

	clock->best = clock->samples[0];
	for (i = 1; i < clock->count; i++)
		if (clock->samples[i].error < clock->best.error)
			clock->best = clock->samples[i];
}

static void add_sample(struct clock *clock, struct clock_sample sample)
{
	clock->samples[clock->next] = sample;
	clock->next = (clock->next + 1) % CLOCK_SAMPLES;
	if (clock->count < CLOCK_SAMPLES)
		clock->count++;
	choose_best(clock);
}

static bool jumped(const struct clock *clock, struct clock_sample sample)
{
	return clock->count &&
	       llabs(sample.offset - clock->best.offset) >
		       sample.error + clock->best.error + CLOCK_JUMP;
}

/**
 * clock_answer - learn from an answer
 * @clock: the difference to the server that answered
 * @question: when it was asked
 * @redis_us: the server's time in the answer, us
 *
 * Return: false if the difference has jumped since the answers before, or if our clock
 * was set while we waited. Then the answers before no longer count.
 */
bool clock_answer(struct clock *clock, const struct clock_question *question,
		  int64_t redis_us)
{
	struct clock_question now = clock_ask();
	int64_t took = now.steady - question->steady;
	int64_t set = now.real - question->real - took;
	struct clock_sample sample = {
		.offset = now.real - took / 2 - redis_us * 1000,
		.error = took / 2,
	};
	bool steady = true;

	/* If our clock was set meanwhile, a sample with our new time is as good. */
	if (llabs(set) > CLOCK_JUMP || jumped(clock, sample)) {
		clock_forget(clock);
		steady = false;
	}
	add_sample(clock, sample);
	return steady;
}

/* Returns Redis's time, ms. */
int64_t clock_redis_ms(const struct clock *clock)
{
	return (clock_real() - clock->best.offset) / NS_PER_MS;
}

/**
 * clock_to_local - our CLOCK_REALTIME at which Redis's clock shows a time
 * @clock: the difference
 * @redis_ms: time of Redis's clock, ms, not negative
 *
 * Return: ns, not negative; HWTIMER_NEVER for that and anything later.
 */
int64_t clock_to_local(const struct clock *clock, int64_t redis_ms)
{
	int64_t ns;

	if (__builtin_mul_overflow(redis_ms, NS_PER_MS, &ns) ||
	    __builtin_add_overflow(ns, clock->best.offset, &ns))
		return HWTIMER_NEVER;
	return ns < 0 ? 0 : ns;
}
