/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_SIZES_H
#define SIM_LINUX_SIZES_H

#define SZ_1M 0x00100000

#endif /* SIM_LINUX_SIZES_H */
