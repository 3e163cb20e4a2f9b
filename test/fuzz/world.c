// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a world: a process with actors, a thread that sends them signals, and a thread that
 * resolves page faults; see world.h..
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "steps.h"

/* One world to a process */
static struct world world;
static struct actor actors[ARENA_ACTORS];

/* The actor of this thread, or NULL */
static __thread struct actor *this_actor;

static void ignore_signal(int signal)
{
	(void)signal;
}

/* An actor has touched memory that is not there: its step ends. */
static void rescue(int signal)
{
	(void)signal;
	if (!this_actor)
		_exit(3);
	siglongjmp(this_actor->rescue, 1);
}

static void handle_signals(void)
{
	struct sigaction ignore = { .sa_handler = ignore_signal };
	/* Not blocked in the handler, so that sigsetjmp() need not save a mask. */
	struct sigaction fault = { .sa_handler = rescue,
				   .sa_flags = SA_NODEFER };
	struct sigaction reap = { .sa_handler = SIG_IGN,
				  .sa_flags = SA_NOCLDWAIT };

	sigaction(SIGUSR1, &ignore, NULL);
	sigaction(SIGIO, &ignore, NULL);
	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGBUS, &fault, NULL);
	sigaction(SIGCHLD, &reap, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Joins the cgroup with little memory. */
static void join(const char *cgroup)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	tally(CALL_MEMCG, fd >= 0 && write(fd, "0", 1) == 1 ? 0 : -1);
	close(fd);
}

static void make_files(void)
{
	for (unsigned int i = 0; i < WORLD_SLOTS; i++) {
		int fd = open("/dev/hwtimer", O_RDWR | O_NONBLOCK | O_CLOEXEC);

		world.slots[i].fd = step_raise(fd);
	}
	for (unsigned int i = 0; i < WORLD_EPOLLS; i++)
		world.epolls[i] = epoll_create1(EPOLL_CLOEXEC);
}

static void *run_actor(void *argument)
{
	struct actor *actor = argument;

	this_actor = actor;
	for (unsigned int i = 0; i < world.plan.steps; i++)
		step_once(actor);
	atomic_fetch_sub(&world.running, 1);
	return NULL;
}

static bool start_actor(unsigned int number)
{
	const struct plan *plan = &world.plan;
	struct actor *actor = &actors[number];

	*actor = (struct actor){
		.world = &world,
		.rng = rng_of(plan->seed, plan->phase, plan->number, number),
		.number = number,
		.uring.fd = -1,
	};
	return !pthread_create(&world.threads[number], NULL, run_actor, actor);
}

/* A signal to some actor each ms or so, in the middle of whatever it does */
static void send_signals(struct rng *rng)
{
	while (world.running) {
		step_sleep(rng_below(rng, 1000));
		/* The thread exists: nobody has joined it yet. */
		pthread_kill(world.threads[rng_below(rng, world.plan.actors)],
			     SIGUSR1);
		tally_add(&tallies->signals, 1);
	}
}

static void *run_lazy(void *argument)
{
	struct rng rng = rng_of(world.plan.seed, world.plan.phase,
				world.plan.number, ARENA_ACTORS);

	(void)argument;
	for (;;)
		arena_lazy_serve(&world.arena, &rng);
	return NULL;
}

static void start_lazy(void)
{
	pthread_t thread;

	if (arena_lazy_start(&world.arena))
		tally(CALL_USERFAULTFD,
		      pthread_create(&thread, NULL, run_lazy, NULL) ? -1 : 0);
}

static int world_run(int arena)
{
	struct rng rng = rng_of(world.plan.seed, world.plan.phase,
				world.plan.number, ARENA_ACTORS + 1);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	handle_signals();
	if (world.plan.cgroup)
		join(world.plan.cgroup);
	if (world.plan.uid &&
	    setresuid(world.plan.uid, world.plan.uid, world.plan.uid))
		return 1;
	/* setresuid() has cleared both. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1);
	if (arena_map(&world.arena, arena))
		return 1;
	make_files();
	start_lazy();
	world.running = world.plan.actors;
	for (unsigned int i = 0; i < world.plan.actors; i++)
		if (!start_actor(i))
			return 1;
	send_signals(&rng);
	return 0;
}

/**
 * world_start - start a world
 * @plan: what it does
 * @arena: descriptor of the arena
 * @channel: the sockets for descriptors
 *
 * The process ends when its actors have made their steps, or when it is killed. Exit
 * status 0: all is well; 1: it could not begin; 3: it has damaged itself. It leads a group of
 * processes, to which the children of its actors belong.
 *
 * Return: the process, or -1.
 */
pid_t world_start(const struct plan *plan, int arena, const int channel[2])
{
	pid_t pid = fork();

	/* Done by both, as either may be first */
	setpgid(pid, pid);
	if (pid)
		return pid;
	world.plan = *plan;
	world.channel[0] = channel[0];
	world.channel[1] = channel[1];
	_exit(world_run(arena));
}
