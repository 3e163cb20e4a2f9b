/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included before the sources of programs, by the compiler's command line: their system
 * calls lead to the module in this program.
 */
#ifndef BENCH_CORE_CALLS_H
#define BENCH_CORE_CALLS_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "core.h"

#define open(path, flags) core_open()
#define close(fd) core_close(fd)
#define CORE_IOCTL(fd, command, argument, ...) core_ioctl(fd, command, argument)
#define ioctl(...) CORE_IOCTL(__VA_ARGS__, NULL, NULL)
#define read(fd, buffer, bytes) core_read(fd, buffer, bytes)

#endif /* BENCH_CORE_CALLS_H */
