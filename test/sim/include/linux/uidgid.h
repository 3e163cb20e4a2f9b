/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_UIDGID_H
#define SIM_LINUX_UIDGID_H

#include <linux/types.h>

typedef struct {
	uid_t val;
} kuid_t;

#define KUIDT_INIT(value) ((kuid_t){ value })
#define GLOBAL_ROOT_UID KUIDT_INIT(0)
#define __kuid_val(uid) ((uid).val)
#define uid_eq(a, b) ((a).val == (b).val)
#define uid_lt(a, b) ((a).val < (b).val)

#endif /* SIM_LINUX_UIDGID_H */
