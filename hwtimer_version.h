/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The version of the whole project: of the module, the library, the tool, the daemon and
 * the packages. The Makefiles read this file, too. lib/libhwtimer.h and debian/changelog
 * repeat it, and vm/packages.sh checks that they agree.
 */
#ifndef HWTIMER_VERSION_H
#define HWTIMER_VERSION_H

#define HWTIMER_VERSION "1.0"

#endif /* HWTIMER_VERSION_H */
