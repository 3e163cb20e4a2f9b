// SPDX-License-Identifier: MIT
/*
 * A service that sends its manager more than it should, for check.sh: as the command of
 * keeper. Its child, to which keeper owes nothing, does the same. It fails if keeper has
 * more than one descriptor more after that.
 */
#include "../example.h"
#include "../fdstore.h"

#include <dirent.h>
#include <sys/wait.h>

#define MESSAGES 30

/* Returns the number of open descriptors of the parent. */
static int count_descriptors(void)
{
	char path[32];
	int count = 0;
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)getppid());
	list = opendir(path);
	if (!list)
		err(1, "%s", path);
	while (readdir(list))
		count++;
	closedir(list);
	return count;
}

/* Sends @text with @count duplicates of standard input. */
static void send_many(const char *text, size_t count)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	int i, fds[8] = { 0 }, socket_fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	char control[CMSG_SPACE(sizeof(fds))] = { 0 };
	struct iovec part = { (char *)text, strlen(text) };
	struct msghdr message = {
		.msg_name = &address,
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(count * sizeof(int)),
	};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

	if (!path || *path != '@' || socket_fd < 0)
		errx(1, "NOTIFY_SOCKET: start this with keeper");
	message.msg_namelen =
		offsetof(struct sockaddr_un, sun_path) + strlen(path);
	memcpy(address.sun_path + 1, path + 1, strlen(path) - 1);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(rights), fds, count * sizeof(int));
	for (i = 0; i < MESSAGES; i++)
		if (sendmsg(socket_fd, &message, 0) < 0)
			err(1, "sendmsg");
	close(socket_fd);
}

static void send_all(void)
{
	static const char *const texts[] = { "FDSTORE=1\nFDNAME=a",
					     "STATUS=x" };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		send_many(texts[i], 1);
		send_many(texts[i], 2);
		send_many(texts[i], 8);
	}
}

int main(void)
{
	int before = count_descriptors(), after;
	pid_t child = fork();

	send_all();
	if (child > 0)
		waitpid(child, NULL, 0);
	else
		_exit(child);
	notify_barrier();
	after = count_descriptors();
	printf("sender: descriptors=%d before=%d\n", after, before);
	return after > before + 1;
}
