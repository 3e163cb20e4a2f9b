/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_SMP_H
#define SIM_LINUX_SMP_H

unsigned int raw_smp_processor_id(void);

#endif /* SIM_LINUX_SMP_H */
