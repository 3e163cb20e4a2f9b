// SPDX-License-Identifier: GPL-2.0
/*
 * Raises limits; see limit.h.
 */
#include <err.h>
#include <sys/resource.h>

#include "limit.h"

__u32 limit_raise(int resource, __u32 wanted)
{
	struct rlimit limit = { wanted, wanted };

	if (!setrlimit(resource, &limit))
		return wanted;
	if (getrlimit(resource, &limit))
		err(1, "getrlimit");
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(resource, &limit))
		err(1, "setrlimit");
	return limit.rlim_max < wanted ? limit.rlim_max : wanted;
}
