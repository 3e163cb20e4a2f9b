/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loads and unloads the module, also while allocations fail. Needs root, in a test
 * machine..
 */
#ifndef FUZZ_MODULE_H
#define FUZZ_MODULE_H

#include <stdbool.h>

/**
 * struct loads - what module_load_with_faults() did
 * @faults: number of loads in which a fault was injected
 * @failed: number of these loads that failed
 * @wrong: number of those that failed with an errno that a fault does not explain
 */
struct loads {
	unsigned int faults;
	unsigned int failed;
	unsigned int wrong;
};

int module_load(const char *path);
int module_unload(void);
bool module_load_with_faults(const char *path, struct loads *loads,
			     unsigned int max);

#endif /* FUZZ_MODULE_H */
