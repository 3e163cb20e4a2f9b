/* SPDX-License-Identifier: GPL-2.0 */
/*
 * System calls: what programs do with the device. Each returns what the kernel's returns,
 * that is, a negative errno after an error. See test/sim/device.c.
 */
#ifndef SIM_DEVICE_H
#define SIM_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file;
struct sim_epoll;

/* Returns a descriptor, or NULL and an error. */
struct file *sim_open(int *err);
/* One more descriptor of the same file */
struct file *sim_dup(struct file *file);
void sim_close(struct file *file);

ssize_t sim_read(struct file *file, void *buffer, size_t count, bool nonblock);
long sim_ioctl(struct file *file, unsigned int command, void *argument);
/* @timeout: ns; UINT64_MAX: none. Returns the events, or a negative errno. */
int sim_poll(struct file *file, unsigned int events, uint64_t timeout);
void sim_show_fdinfo(struct file *file);

struct sim_epoll *sim_epoll_create(struct file *file, unsigned int events);
void sim_epoll_close(struct sim_epoll *epoll);
int sim_epoll_wait(struct sim_epoll *epoll, uint64_t timeout);

/* Those who wait, for test/sim/inspect.c: for what, and since which step. */
void sim_device_waiters(void (*look)(struct file *file, const char *how,
				     unsigned int events));

bool sim_module_load(void);
void sim_module_unload(void);
void sim_parameter_set(const char *name, unsigned int value);

#endif /* SIM_DEVICE_H */
