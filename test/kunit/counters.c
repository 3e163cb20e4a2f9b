// SPDX-License-Identifier: GPL-2.0
/*
 * The last object of a module that counts what it runs (HWTIMER_COVERAGE=y): ends the
 * table of gcov's counters, and writes them to files when hwtimer_counters.ko asks for
 * that. The kernel needs no CONFIG_GCOV_KERNEL: the compiler's library turns counters into
 * the format of its files, and says in <gcov.h> how.
 */
#include <linux/bug.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "counters.h"

const struct gcov_info *const hwtimer_counters_end[1] __used
	__section(".gcov_info");

/* Each object's counters name this function. Only programs that merge files call it. */
void __gcov_merge_add(s64 *counters, unsigned int count)
{
}

/* What the library calls where a counter is of a kind that the module does not use */
void hwtimer_counters_abort(void)
{
	WARN_ON(1);
}

void *hwtimer_counters_mmap(void)
{
	return NULL;
}

/**
 * struct dump - a file of counters
 * @number: number of the dump
 * @file: the file; NULL: it cannot be opened
 * @position: where to go on writing
 */
struct dump {
	unsigned int number;
	struct file *file;
	loff_t position;
};

/* Opens the file, whose directory the guest has made. */
static void dump_begin(const char *name, void *arg)
{
	struct dump *dump = arg;
	char path[128];

	snprintf(path, sizeof(path), "/tmp/counters/%u-%s", dump->number,
		 kbasename(name));
	dump->file = filp_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dump->position = 0;
	if (IS_ERR(dump->file)) {
		pr_err("BUG: counters are lost, %s: %pe\n", path, dump->file);
		dump->file = NULL;
	}
}

static void dump_write(const void *data, unsigned int size, void *arg)
{
	struct dump *dump = arg;

	if (dump->file &&
	    kernel_write(dump->file, data, size, &dump->position) != size)
		pr_err("BUG: counters are lost: no room\n");
}

static void *dump_allocate(unsigned int size, void *arg)
{
	return NULL;
}

/**
 * hwtimer_counters_dump - write all counters to files
 * @number: number of the dump, which begins the names of its files
 *
 * hwtimer_counters.ko finds this function by its name. May sleep.
 */
void hwtimer_counters_dump(unsigned int number)
{
	const struct gcov_info *const *info = &hwtimer_counters_begin[1];
	struct dump dump = { .number = number };

	/* The compiler does not know that the two are in one table. */
	OPTIMIZER_HIDE_VAR(info);
	for (; info != hwtimer_counters_end; info++) {
		__gcov_info_to_gcda(*info, dump_begin, dump_write,
				    dump_allocate, &dump);
		if (dump.file)
			filp_close(dump.file, NULL);
	}
}
