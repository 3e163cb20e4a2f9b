// SPDX-License-Identifier: MIT
/*
 * A service manager that does to survive what a good one does not, for check.sh:
 *
 *	manager alien|stopped COMMAND [ARGUMENT...]
 *
 * It gives the command an instance: with a timer whose number the command does not know,
 * or one that is stopped once the command is ready. It ends with the command's exit status,
 * or with 128 and the number of the signal that has killed it.
 */
#include "../example.h"
#include "../fdstore.h"

#include <sys/wait.h>

/* Opens the socket for messages, and tells its address in @text. */
static int open_socket(char text[16])
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(address);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)) ||
	    getsockname(fd, (struct sockaddr *)&address, &length))
		err(1, "socket");
	snprintf(text, 16, "@%.*s",
		 (int)(length - offsetof(struct sockaddr_un, sun_path) - 1),
		 address.sun_path + 1);
	return fd;
}

static pid_t start(int fd, const char *address, char **command)
{
	pid_t child = fork();
	char number[16];

	if (child < 0)
		err(1, "fork");
	if (child)
		return child;
	snprintf(number, sizeof(number), "%d", (int)getpid());
	dup2(fd, FDSTORE_FIRST);
	/* The duplicate stays open, even if it is the original. */
	fcntl(FDSTORE_FIRST, F_SETFD, 0);
	setenv("LISTEN_FDS", "1", 1);
	setenv("LISTEN_PID", number, 1);
	setenv("LISTEN_FDNAMES", "timers", 1);
	setenv("NOTIFY_SOCKET", address, 1);
	execvp(*command, command);
	err(127, "%s", *command);
}

int main(int argc, char **argv)
{
	bool stopped = argc > 2 && !strcmp(argv[1], "stopped");
	struct hwt *hwt = open_wheel(HWT_NONBLOCK, CLOCK_MONOTONIC);
	const struct hwtimer_setup setup = {
		.flags = HWTIMER_SETUP_AT_LEAST_ONCE,
	};
	char address[16], message[256];
	int socket_fd = open_socket(address);
	pid_t child;
	int status;

	if (argc < 3)
		errx(2, "usage: manager alien|stopped COMMAND [ARGUMENT...]");
	must(hwt_setup(hwt, &setup));
	if (!stopped)
		must(hwt_schedule(hwt, 0, 1ULL << 40, NULL));
	child = start(hwt_fd(hwt), address, argv + 2);
	while (stopped && recv(socket_fd, message, sizeof(message), 0) > 0)
		if (!strncmp(message, "READY=1", 7))
			break;
	if (stopped)
		must(hwt_stop(hwt, NULL, NULL, 0));
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
