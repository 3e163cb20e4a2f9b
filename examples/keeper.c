// SPDX-License-Identifier: MIT
/*
 * A parent that keeps a descriptor for its child, as systemd's store does, for machines
 * without systemd:
 *
 *	keeper COMMAND [ARGUMENT...]
 *
 * It starts the command, and starts it again whenever a signal has killed it. A
 * descriptor that the command sends with FDSTORE=1 outlives it: keeper holds it, and
 * hands it to the next process. keeper ends with the command's exit status, or, at
 * SIGTERM, after the command has.
 *
 * It does nothing else, so there is little in it that could crash: a holder of
 * descriptors that crashes loses them.
 */
#include "example.h"
#include "fdstore.h"

#include <sys/prctl.h>
#include <sys/wait.h>

/* The most messages before signals get their turn: more than a socket holds */
#define MESSAGES 1000

static int kept = -1;
static char name[64];
static bool ending;

/* Opens a socket with an address that the kernel chooses, and tells it in @text. */
static int open_socket(char text[16])
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(address);
	const int on = 1;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* Anybody can send to it; so the kernel has to tell who did. */
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)) ||
	    getsockname(fd, (struct sockaddr *)&address, &length))
		err(1, "socket");
	snprintf(text, 16, "@%.*s",
		 (int)(length - offsetof(struct sockaddr_un, sun_path) - 1),
		 address.sun_path + 1);
	return fd;
}

/* Keeps the descriptor of a message in place of the one before. */
static void keep(const char *text, int fd)
{
	const char *line = strstr(text, "FDNAME=");

	if (fd < 0)
		return;
	if (strncmp(text, "FDSTORE=1\n", 10) || !line) {
		close(fd); /* BARRIER=1 */
		return;
	}
	if (kept >= 0)
		close(kept);
	kept = fd;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(line + 7, "\n"),
		 line + 7);
}

/* Returns the first descriptor that came with a message, and closes the others. */
static int only_descriptor(const struct cmsghdr *part, bool *others)
{
	size_t i, count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	int fd, first = -1;

	for (i = 0; i < count; i++) {
		memcpy(&fd, CMSG_DATA(part) + i * sizeof(fd), sizeof(fd));
		if (i)
			close(fd);
		else
			first = fd;
	}
	*others = count > 1;
	return first;
}

/* Takes one message; returns false if there is none. */
static bool take_message(int socket_fd, pid_t child)
{
	char text[256];
	struct fdstore_message message = {
		.text = { text, sizeof(text) - 1 },
	};
	struct ucred sender = { .pid = 0 };
	struct cmsghdr *part;
	bool others = false;
	ssize_t length;
	int fd = -1;

	message.header = (struct msghdr){
		.msg_iov = &message.text,
		.msg_iovlen = 1,
		.msg_control = message.control,
		.msg_controllen = sizeof(message.control),
	};
	length = recvmsg(socket_fd, &message.header, MSG_CMSG_CLOEXEC);
	if (length < 0)
		return false;
	text[length] = 0;
	for (part = CMSG_FIRSTHDR(&message.header); part;
	     part = CMSG_NXTHDR(&message.header, part)) {
		if (part->cmsg_type == SCM_RIGHTS)
			fd = only_descriptor(part, &others);
		else if (part->cmsg_type == SCM_CREDENTIALS)
			memcpy(&sender, CMSG_DATA(part), sizeof(sender));
	}
	/* The kernel closes what it has no room for, and says so. */
	if (sender.pid == child &&
	    (others || message.header.msg_flags & MSG_CTRUNC))
		warnx("a message had more than one descriptor: at most the first is kept");
	if (sender.pid == child)
		keep(text, fd);
	else if (fd >= 0)
		close(fd);
	return true;
}

/* Starts the command. The kept descriptor has the first number after standard error. */
static pid_t start(char **command)
{
	char number[16];
	sigset_t none;
	pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	snprintf(number, sizeof(number), "%d", (int)getpid());
	if (kept >= 0) {
		dup2(kept, FDSTORE_FIRST);
		setenv("LISTEN_FDS", "1", 1);
		setenv("LISTEN_PID", number, 1);
		setenv("LISTEN_FDNAMES", name, 1);
	}
	execvp(*command, command);
	err(127, "%s", *command);
}

static bool took_signal(const struct pollfd *ready)
{
	struct signalfd_siginfo signal;

	return ready->revents && read(ready->fd, &signal, sizeof(signal)) > 0;
}

/*
 * Serves the child until it has ended. All that it sent before that is in the socket by
 * then. Return: its status, as from waitpid().
 */
static int serve(int socket_fd, const int signals[2], pid_t child)
{
	struct pollfd ready[] = { { .fd = signals[0], .events = POLLIN },
				  { .fd = signals[1], .events = POLLIN },
				  { .fd = socket_fd, .events = POLLIN } };
	pid_t ended = 0;
	int i, status = 0;

	while (ended != child) {
		poll(ready, 3, -1);
		if (took_signal(&ready[0]))
			ended = waitpid(child, &status, WNOHANG);
		if (took_signal(&ready[1])) {
			ending = true;
			kill(child, SIGTERM);
		}
		for (i = 0; i < MESSAGES && take_message(socket_fd, child); i++)
			;
	}
	return status;
}

int main(int argc, char **argv)
{
	int signals[] = { signal_fd(SIGCHLD), signal_fd(SIGTERM) };
	char address[16];
	int socket_fd = open_socket(address);
	int status;

	if (argc < 2)
		errx(2, "usage: keeper COMMAND [ARGUMENT...]");
	setenv("NOTIFY_SOCKET", address, 1);
	do {
		status = serve(socket_fd, signals, start(argv + 1));
	} while (WIFSIGNALED(status) && !ending);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
