/* SPDX-License-Identifier: GPL-2.0 */
/* What makes a module: the parameters are found by their names, see test/sim/module.c. */
#ifndef SIM_LINUX_MODULE_H
#define SIM_LINUX_MODULE_H

#include <linux/kernel.h>

#define THIS_MODULE NULL
#define MODULE_DESCRIPTION(text) _Static_assert(1, "description")
#define MODULE_AUTHOR(text) _Static_assert(1, "author")
#define MODULE_LICENSE(text) _Static_assert(1, "license")
#define MODULE_VERSION(text) _Static_assert(1, "version")
#define MODULE_PARM_DESC(name, text) _Static_assert(1, "description")

void sim_parameter(const char *name, unsigned int *value);

#define module_param_named(name, variable, type, mode)              \
	static void __attribute__((constructor)) param_##name(void) \
	{                                                           \
		sim_parameter(#name, &(variable));                  \
	}                                                           \
	_Static_assert(1, "parameter")
#define module_param(name, type, mode) \
	module_param_named(name, name, type, mode)

extern int (*const sim_module_init)(void);
extern void (*const sim_module_exit)(void);

#define module_init(function) int (*const sim_module_init)(void) = function
#define module_exit(function) void (*const sim_module_exit)(void) = function

#endif /* SIM_LINUX_MODULE_H */
