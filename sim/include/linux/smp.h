/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processors. With SIM_PLAIN, each thread has the one on which it began; otherwise threads
 * move now and then.
 */
#ifndef SIM_LINUX_SMP_H
#define SIM_LINUX_SMP_H

#ifdef SIM_PLAIN
extern __thread unsigned int sim_processor;

static inline unsigned int raw_smp_processor_id(void)
{
	return sim_processor;
}
#else
unsigned int raw_smp_processor_id(void);
#endif

#endif /* SIM_LINUX_SMP_H */
