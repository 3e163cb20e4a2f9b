/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The steps of an actor. step.c chooses them; the other files are named after what their
 * steps do. Each step ends by itself, or by a signal.
 */
#ifndef FUZZ_STEPS_H
#define FUZZ_STEPS_H

#include "world.h"

/* step.c */
void step_once(struct actor *actor);
struct slot *step_slot(struct actor *actor, int *fd);
void step_count(enum call call, long result);
long step_result(long ret);
void step_sleep(unsigned int us);

/* calls.c */
void step_info(struct actor *actor);
void step_setup(struct actor *actor);
void step_schedule(struct actor *actor);
void step_cancel(struct actor *actor);
void step_reschedule(struct actor *actor);
void step_rearm(struct actor *actor);
void step_submit(struct actor *actor);
void step_query(struct actor *actor);
void step_stop(struct actor *actor);
void step_stats(struct actor *actor);
void step_notify(struct actor *actor);
void step_ack(struct actor *actor);
void step_rewind(struct actor *actor);
void step_bulk(struct actor *actor);
void step_list(struct actor *actor);
void step_cancel_all(struct actor *actor);
void step_unknown(struct actor *actor);

/* fill.c */
struct hwtimer_request;
void fill_request(struct actor *actor, struct slot *slot,
		  struct hwtimer_request *request, __u32 op);
__s64 fill_time(struct actor *actor, bool absolute);

/* files.c */
int step_raise(int fd);
void step_open(struct actor *actor);
void step_close(struct actor *actor);
void step_dup(struct actor *actor);
void step_nonblock(struct actor *actor);
void step_read(struct actor *actor);
void step_fdinfo(struct actor *actor);
void step_debugfs(struct actor *actor);
void step_send(struct actor *actor);
void step_receive(struct actor *actor);

/* waits.c */
void step_poll(struct actor *actor);
void step_epoll_ctl(struct actor *actor);
void step_epoll_wait(struct actor *actor);
void step_epoll_renew(struct actor *actor);

/* async.c */
void step_uring(struct actor *actor);
void step_uring_renew(struct actor *actor);
void step_aio(struct actor *actor);
void step_aio_renew(struct actor *actor);

/* machine.c */
void step_shake(struct actor *actor);
void step_garble_arguments(struct actor *actor);
void step_fork(struct actor *actor);
void step_clock(struct actor *actor);
void step_unload(struct actor *actor);

#endif /* FUZZ_STEPS_H */
