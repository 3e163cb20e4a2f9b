// SPDX-License-Identifier: MIT
/*
 * Finds out which descriptors share an instance; see sharing.h.
 *
 * Duplicates of a descriptor are of the same file, and kcmp() orders descriptors by their files.
 * So a tree of one descriptor of each file needs a few comparisons for each further one.
 *
 * A descriptor can be compared only while it is open. If one is closed in the meantime, the
 * order of those in the tree is no longer known, and the search begins anew without it.
 */
#define _GNU_SOURCE
#include "sharing.h"

#include <err.h>
#include <search.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/kcmp.h>

/*
 * How often to begin anew. Programs may close descriptors all the time; then an instance may
 * count more than once.
 */
#define TRIES 4

/* A comparison has failed. */
static bool failed;

static long compare(const struct descriptor *one,
		    const struct descriptor *other)
{
	return syscall(SYS_kcmp, one->pid, other->pid, KCMP_FILE, one->fd,
		       other->fd);
}

/* By file; by address if kcmp() fails: for a descriptor in the tree, an order must exist. */
static int by_file(const void *a, const void *b)
{
	switch (compare(a, b)) {
	case 0:
		return 0;
	case 1:
		return -1;
	case 2:
		return 1;
	default:
		failed = true;
		return a < b ? -1 : 1;
	}
}

static void keep(void *descriptor)
{
	(void)descriptor;
}

/* Fills in @first, except for descriptors that were closed. */
static void find(const struct descriptor *descriptors, unsigned int count,
		 unsigned int *first)
{
	const struct descriptor *const *found;
	void *tree = NULL;
	unsigned int i;

	for (i = 0; i < count; i++) {
		first[i] = i;
		/* Not if it is closed, or if kcmp() is not there or not permitted */
		if (compare(&descriptors[i], &descriptors[i]))
			continue;
		found = tsearch(&descriptors[i], &tree, by_file);
		if (!found)
			err(1, "no memory");
		first[i] = *found - descriptors;
	}
	tdestroy(tree, keep);
}

unsigned int *sharing_find(const struct descriptor *descriptors,
			   unsigned int count)
{
	unsigned int tries = 0, *first = calloc(count + 1, sizeof(*first));

	if (!first)
		err(1, "no memory");
	do {
		failed = false;
		find(descriptors, count, first);
	} while (failed && ++tries < TRIES);
	return first;
}
