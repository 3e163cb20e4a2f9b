/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_CRED_H
#define SIM_LINUX_CRED_H

#include <linux/user_namespace.h>

kuid_t current_uid(void);

#endif /* SIM_LINUX_CRED_H */
