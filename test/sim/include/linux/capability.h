/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_CAPABILITY_H
#define SIM_LINUX_CAPABILITY_H

#include <linux/user_namespace.h>

#define CAP_SYS_ADMIN 21
#define CAP_SYS_RESOURCE 24
#define CAP_PERFMON 38

struct file;

bool ns_capable_noaudit(struct user_namespace *ns, int capability);
bool file_ns_capable(const struct file *file, struct user_namespace *ns,
		     int capability);

#endif /* SIM_LINUX_CAPABILITY_H */
