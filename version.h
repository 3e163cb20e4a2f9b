/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The version of the whole project: of the module, the library, the tool, the daemon and
 * the packages. The Makefile reads this file, too. user/lib/libhwtimer.h, dkms.conf and
 * debian/changelog repeat it, and test/vm/userland.sh checks that they agree.
 */
#ifndef HWTIMER_VERSION_H
#define HWTIMER_VERSION_H

#define HWTIMER_VERSION "0.9"

#endif /* HWTIMER_VERSION_H */
