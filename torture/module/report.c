// SPDX-License-Identifier: GPL-2.0
/*
 * Counters, messages and the verdict; see report.h. The first messages of each kind of
 * fault go to the kernel's log, with the seed.
 */
#define pr_fmt(fmt) "hwtimer-torture: " fmt

#include <linux/atomic.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/time64.h>

#include "report.h"

/* Maximum number of messages about each kind of fault */
#define MESSAGES 5

static const char *const wrong_names[TORTURE_WRONGS] = {
	[TORTURE_EARLY] = "early",	 [TORTURE_TWICE] = "twice",
	[TORTURE_GHOST] = "ghost",	 [TORTURE_LOST] = "lost",
	[TORTURE_ORDER] = "order",	 [TORTURE_STALLED] = "stalled",
	[TORTURE_DEADLINE] = "deadline", [TORTURE_COUNT] = "count",
	[TORTURE_RUNNING] = "running",	 [TORTURE_TOGETHER] = "together",
	[TORTURE_RESULT] = "result",	 [TORTURE_STATS] = "stats",
};

static atomic64_t wrongs[TORTURE_WRONGS];
static atomic64_t dones[TORTURE_DONES];
static atomic64_t late_max;

/* All faults, so that a program can look without reading the log */
static unsigned long errors;
module_param(errors, ulong, 0444);
MODULE_PARM_DESC(errors, "Number of faults found so far");

/* Counts something that was done. Any context. */
void torture_did(enum torture_done what)
{
	atomic64_inc(&dones[what]);
}

/* Notes how late a callback ran, ns. Lateness is only reported. */
void torture_late(u64 lateness)
{
	u64 max = atomic64_read(&late_max);

	while (lateness > max) {
		u64 old = atomic64_cmpxchg(&late_max, max, lateness);

		if (old == max)
			break;
		max = old;
	}
}

/* Counts a fault, and says what is known about it. Any context. */
void torture_wrong(enum torture_wrong what, const char *format, ...)
{
	struct va_format text = { .fmt = format };
	va_list arguments;

	WRITE_ONCE(errors, READ_ONCE(errors) + 1);
	if (atomic64_inc_return(&wrongs[what]) > MESSAGES)
		return;
	va_start(arguments, format);
	text.va = &arguments;
	pr_alert("FAULT %s: %pV (seed %lu)\n", wrong_names[what], &text,
		 torture_seed);
	va_end(arguments);
}

static u64 done(enum torture_done what)
{
	return atomic64_read(&dones[what]);
}

/* Writes all counters to the kernel's log. */
void torture_tell(const char *when)
{
	pr_info("%s: clients %llu, scheduled %llu, called %llu, cancelled %llu, rescheduled %llu, returned %llu, refused %llu, unjudged %llu, latest %llu us, faults %lu\n",
		when, done(TORTURE_CREATED), done(TORTURE_SCHEDULED),
		done(TORTURE_CALLED), done(TORTURE_CANCELLED),
		done(TORTURE_RESCHEDULED), done(TORTURE_RETURNED),
		done(TORTURE_REFUSED), done(TORTURE_UNJUDGED),
		div_u64(atomic64_read(&late_max), NSEC_PER_USEC),
		READ_ONCE(errors));
}

/**
 * torture_verdict - write the last line to the kernel's log
 *
 * A run in which no callback came has tested nothing, and fails.
 *
 * Return: whether nothing was wrong.
 */
bool torture_verdict(void)
{
	char text[TORTURE_WRONGS * 32];
	size_t length = 0;
	int i;

	text[0] = 0;
	for (i = 0; i < TORTURE_WRONGS; i++) {
		u64 count = atomic64_read(&wrongs[i]);

		if (count)
			length += scnprintf(text + length,
					    sizeof(text) - length, " %s=%llu",
					    wrong_names[i], count);
	}
	if (!done(TORTURE_CALLED))
		scnprintf(text + length, sizeof(text) - length, " called=0");
	if (text[0])
		pr_alert("End of test: FAILURE:%s (seed %lu)\n", text,
			 torture_seed);
	else
		pr_info("End of test: SUCCESS\n");
	return !text[0];
}
