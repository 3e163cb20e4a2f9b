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
 */
struct rounds {
	double one[ROUNDS_MAX];
	double apart[ROUNDS_MAX];
	double shared[ROUNDS_MAX];
};

static const __u32 batches[] = PRODUCERS_BATCHES;

static void print_rounds(__u32 batch, __u32 count, struct rounds *rounds)
{
	printf("two threads, bulks of %-4u  %6.1f ns a pair; both / one thread: ",
	       batch, 1e9 / quantile(rounds->one, count, 0.5));
	printf("%.2f with an instance each, %.2f with one\n",
	       quantile(rounds->apart, count, 0.5),
	       quantile(rounds->shared, count, 0.5));
}

static void emit_rounds(__u32 batch, __u32 count, const struct rounds *rounds,
			__u32 rep)
{
	char variant[40];
	__u32 i;

	snprintf(variant, sizeof(variant), "hierarchical, bulks of %u", batch);
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

	for (i = 0; i < count; i++) {
		rounds.one[i] = producers_round(same, 1, batch);
		rounds.apart[i] =
			producers_round(fds, 2, batch) / rounds.one[i];
		rounds.shared[i] =
			producers_round(same, 2, batch) / rounds.one[i];
	}
	if (rep < 0)
		print_rounds(batch, count, &rounds);
	else
		emit_rounds(batch, count, &rounds, rep);
}

void threads_measure(const char *only, __u32 rounds, int rep)
{
	size_t i;
	int status;

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
	for (i = 0; i < sizeof(batches) / sizeof(*batches); i++) {
		fflush(stdout);
		if (!fork()) {
			core_load();
			measure_batch(batches[i], rounds, rep);
			fflush(stdout);
			_exit(0);
		}
		if (wait(&status) < 0 || status)
			errx(1, "two threads: failed");
	}
}
