// SPDX-License-Identifier: GPL-2.0
/*
 * What two threads do at a time, in turns with one thread; see threads.h and
 * ../producers.h.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../emit.h"
#include "../numbers.h"
#include "../processor.h"
#include "../producers.h"
#include "core.h"
#include "threads.h"

#define ROUNDS_MAX 100

/**
 * struct rounds - what the rounds of a size of bulks gave
 * @one: one thread, pairs a second
 * @apart: two threads with an instance each, against @one
 * @shared: two threads with one instance, against @one
 * @ran: of @shared: the part of the time in which each thread had its processor
 * @hop: how long a cache line took to the other processor, ns
 */
struct rounds {
	double one[ROUNDS_MAX];
	double apart[ROUNDS_MAX];
	double shared[ROUNDS_MAX];
	double ran[ROUNDS_MAX];
	double hop[ROUNDS_MAX];
};

static const __u32 batches[] = PRODUCERS_BATCHES;

static void print_rounds(__u32 batch, __u32 count, struct rounds *rounds)
{
	if (batch)
		printf("two threads, bulks of %-4u ", batch);
	else
		printf("two threads, empty calls   ");
	printf(" %6.1f ns a pair; both / one thread: ",
	       1e9 / quantile(rounds->one, count, 0.5));
	printf("%.2f with an instance each, %.2f with one; ",
	       quantile(rounds->apart, count, 0.5),
	       quantile(rounds->shared, count, 0.5));
	printf("at a time for %.0f%%, a line's way %.0f ns\n",
	       quantile(rounds->ran, count, 0.5) * 100,
	       quantile(rounds->hop, count, 0.5));
}

static void emit_rounds(__u32 batch, __u32 count, const struct rounds *rounds,
			__u32 rep)
{
	char variant[40];
	__u32 i;

	snprintf(variant, sizeof(variant), "bulks of %u", batch);
	emit_subject("hwtimer", variant, 1);
	for (i = 0; i < count; i++) {
		emit_place("core", rep, i + 1);
		emit("one thread, a pair", 1e9 / rounds->one[i], "ns");
		emit("two threads, an instance each, against one",
		     rounds->apart[i], "ratio");
		emit("two threads, one instance, against one",
		     rounds->shared[i], "ratio");
	}
}

static void measure_batch(__u32 batch, __u32 count, int rep)
{
	static struct rounds rounds;
	int fds[] = { producers_instance(), producers_instance() };
	int same[] = { fds[0], fds[0] };
	__u32 i;

	/* An instance that has not started would take its lock, to look at its settings. */
	for (i = 0; !batch && i < 2; i++)
		producers_round(&fds[i], 1, 1);
	for (i = 0; i < count; i++) {
		rounds.one[i] = producers_round(same, 1, batch);
		rounds.apart[i] =
			producers_round(fds, 2, batch) / rounds.one[i];
		rounds.shared[i] =
			producers_round(same, 2, batch) / rounds.one[i];
		rounds.ran[i] = producers_ran;
		rounds.hop[i] = producers_hop();
	}
	if (rep < 0)
		print_rounds(batch, count, &rounds);
	else
		emit_rounds(batch, count, &rounds, rep);
}

static void in_child(__u32 batch, __u32 rounds, int rep)
{
	int status;

	fflush(stdout);
	if (!fork()) {
		core_load();
		measure_batch(batch, rounds, rep);
		fflush(stdout);
		_exit(0);
	}
	if (wait(&status) < 0 || status)
		errx(1, "two threads: failed");
}

void threads_measure(const char *only, __u32 rounds, int rep)
{
	size_t i;

	if (only && !strstr("two threads", only))
		return;
	if (!processor_last()) {
		if (rep < 0)
			printf("two threads: SKIP, there is one processor only\n");
		return;
	}
	if (rounds > ROUNDS_MAX)
		rounds = ROUNDS_MAX;
	producers_enter = core_enter;
	producers_now = core_now;
	/* What the kernel's own count of a file's users allows; no result of the module */
	if (rep < 0)
		in_child(0, rounds, rep);
	for (i = 0; i < sizeof(batches) / sizeof(*batches); i++)
		in_child(batches[i], rounds, rep);
}
