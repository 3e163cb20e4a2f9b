/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_CPUMASK_H
#define SIM_LINUX_CPUMASK_H

unsigned int num_possible_cpus(void);

#endif /* SIM_LINUX_CPUMASK_H */
