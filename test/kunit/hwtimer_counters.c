// SPDX-License-Identifier: GPL-2.0
/*
 * A module of its own that has hwtimer.ko write its counters before it goes, also when its
 * load has failed half way. For test/vm/coverage.sh; see counters.c.
 */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "counters.h"

/* The address of a function of a module, which goes and so cannot be referred to */
static unsigned long function_of(struct module *module, const char *name)
{
	const struct mod_kallsyms *symbols;
	unsigned long address = 0;
	unsigned int i;

	rcu_read_lock();
	symbols = rcu_dereference(module->kallsyms);
	for (i = 1; i < symbols->num_symtab && !address; i++)
		if (!strcmp(symbols->strtab + symbols->symtab[i].st_name, name))
			address = symbols->symtab[i].st_value;
	rcu_read_unlock();
	return address;
}

static int module_goes(struct notifier_block *block, unsigned long state,
		       void *data)
{
	static unsigned int number;
	struct module *module = data;
	void (*dump)(unsigned int number);

	if (state != MODULE_STATE_GOING || strcmp(module->name, "hwtimer"))
		return NOTIFY_DONE;
	dump = (void *)function_of(module, "hwtimer_counters_dump");
	if (dump)
		dump(number++);
	else
		pr_err("BUG: %s.ko has no counters\n", module->name);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = { .notifier_call = module_goes };

static int __init counters_init(void)
{
	return register_module_notifier(&module_notifier);
}

static void __exit counters_exit(void)
{
	unregister_module_notifier(&module_notifier);
}

module_init(counters_init);
module_exit(counters_exit);

MODULE_DESCRIPTION("Saves the counters of hwtimer.ko for gcov");
MODULE_LICENSE("GPL");
