/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How tests wait for what another thread does.
 */
#ifndef HWTIMER_TESTS_COMES_H
#define HWTIMER_TESTS_COMES_H

#include <linux/completion.h>
#include <linux/jiffies.h>

/* How often comes() looks, ten times a second at most */
#define COMES_LOOKS 1200

/**
 * comes() - wait for what another thread is to complete
 * @event: the completion
 *
 * Not time counts, but how often this thread ran while the other one ought to have done so. So
 * a machine that stands still has not used up anything.
 *
 * Return: whether it was completed.
 */
static inline bool comes(struct completion *event)
{
	unsigned int looks;

	for (looks = 0; looks < COMES_LOOKS; looks++)
		if (wait_for_completion_timeout(event, HZ / 10))
			return true;
	return false;
}

#endif /* HWTIMER_TESTS_COMES_H */
