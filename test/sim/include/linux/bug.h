/* SPDX-License-Identifier: GPL-2.0 */
/* A warning of the module is a failure of the run. */
#ifndef SIM_LINUX_BUG_H
#define SIM_LINUX_BUG_H

#include <linux/compiler.h>

#define WARN_ON_ONCE(condition)                                       \
	({                                                            \
		if (unlikely(condition))                              \
			sim_fail("%s:%d: WARN_ON_ONCE(%s)", __func__, \
				 __LINE__, #condition);               \
		0;                                                    \
	})
#define WARN_ON(condition) WARN_ON_ONCE(condition)

#endif /* SIM_LINUX_BUG_H */
