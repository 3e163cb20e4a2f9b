// SPDX-License-Identifier: MIT
/* Keeps a connection to Redis; see link.h. */
#include "link.h"
#include "reply.h"
#include "say.h"
#include "timer.h"
#include "tls.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <hiredis/adapters/libevent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Waits between attempts, ms: the first, and the longest */
#define WAIT_FIRST 50
#define WAIT_LONGEST 2000

static void on_timer(evutil_socket_t unused, short what, void *arg);

int link_init(struct link *link, struct event_base *base,
	      const struct options *options, struct counters *counters,
	      const struct link_events *events, void *arg)
{
	*link = (struct link){
		.base = base,
		.options = options,
		.counters = counters,
		.events = events,
		.arg = arg,
	};
	/* Daemons that start together should not all begin with the same server. */
	link->next = arc4random_uniform(options->nr_addresses);
	link->timer = evtimer_new(base, on_timer, link);
	return link->timer ? 0 : -1;
}

void link_free(struct link *link)
{
	if (!link->timer)
		return;
	link_stop(link);
	event_free(link->timer);
	link->timer = NULL;
}

bool link_is_up(const struct link *link)
{
	return link->state == LINK_UP;
}

/* Ends the connection. hiredis then calls our callbacks, which must find no link. */
static void drop_connection(struct link *link)
{
	struct redisAsyncContext *redis = link->redis;

	link->redis = NULL;
	link->count = 0;
	lookup_cancel(&link->lookup);
	if (!redis)
		return;
	redis->data = NULL;
	redisAsyncFree(redis);
}

void link_stop(struct link *link)
{
	drop_connection(link);
	evtimer_del(link->timer);
	link->state = LINK_STOPPED;
}

/**
 * link_break - end the connection, soon
 * @link: the link; nothing happens if it is stopped or breaks already
 * @format: the reason, as for printf()
 */
void link_break(struct link *link, const char *format, ...)
{
	va_list arguments;

	if (link->state == LINK_STOPPED || link->state == LINK_BROKEN)
		return;
	va_start(arguments, format);
	vsnprintf(link->why, sizeof(link->why), format, arguments);
	va_end(arguments);
	link->was_up = link_is_up(link);
	link->state = LINK_BROKEN;
	evtimer_del(link->timer);
	timer_now(link->timer);
}

/* Ends the connection because of an answer to @what that this version does not know. */
void link_puzzled(struct link *link, const char *what)
{
	link_break(link, "unexpected answer to %s: %s", what,
		   "hwtimerd load installs the right functions");
}

/* The wait doubles with each failure. Half of it is random: not all come at once. */
static uint64_t wait_of(const struct link *link)
{
	unsigned int doublings = link->failures < 8 ? link->failures : 8;
	uint64_t wait = WAIT_FIRST << doublings;

	if (wait > WAIT_LONGEST)
		wait = WAIT_LONGEST;
	return wait / 2 + arc4random_uniform(wait / 2 + 1);
}

static void complain(struct link *link)
{
	/* A redirection is the way in which a cluster works. */
	if (link->directed && link->failures < 4)
		return;
	say(LOG_WARNING, "Redis at %s port %u: %s", link->address.host,
	    link->address.port, link->why);
	link->complained = true;
}

static void clean_up(struct link *link)
{
	bool was_up = link->was_up;

	drop_connection(link);
	complain(link);
	if (!was_up && !link->directed)
		link->next++;
	link->state = LINK_WAITING;
	timer_set(link->timer, wait_of(link));
	link->failures++;
	link->counters->reconnects++;
	if (was_up)
		link->events->down(link->arg);
}

/* ---- commands ---- */

static bool has_room(struct link *link)
{
	if (link->redis && link->state != LINK_BROKEN &&
	    link->count < LINK_PENDING_MAX)
		return true;
	link_break(link, "more commands than answers");
	return false;
}

static void on_reply(struct redisAsyncContext *redis, void *reply,
		     void *unused);

static bool has_sent(struct link *link, struct link_command command, int result)
{
	if (result != REDIS_OK) {
		link_break(link, "no memory for a command");
		return false;
	}
	link->pending[(link->first + link->count++) % LINK_PENDING_MAX] =
		command;
	link->counters->commands[command.kind]++;
	if (link->count == 1 && !(link->patient && link_is_up(link)))
		timer_set(link->timer, link->options->lease);
	return true;
}

/**
 * link_send - send a command
 * @link: the link, which should be up
 * @kind: kind of the command, to be counted
 * @answer: called with the answer, unless that is an error
 * @argc: number of arguments
 * @argv: the arguments, which may have any bytes
 * @lengths: their lengths
 *
 * Return: false if it could not be sent; then the link breaks.
 */
bool link_send(struct link *link, enum command kind, link_answer answer,
	       int argc, const char **argv, const size_t *lengths)
{
	struct link_command command = { kind, answer, link->arg, false };

	return has_room(link) &&
	       has_sent(link, command,
			redisAsyncCommandArgv(link->redis, on_reply, NULL, argc,
					      argv, lengths));
}

static bool send_format(struct link *link, struct link_command command,
			const char *format, va_list arguments)
{
	return has_room(link) &&
	       has_sent(link, command,
			redisvAsyncCommand(link->redis, on_reply, NULL, format,
					   arguments));
}

/* As link_send(), with a format of hiredis: %s, %b, %llu ... each is one argument. */
bool link_command(struct link *link, enum command kind, link_answer answer,
		  const char *format, ...)
{
	struct link_command command = { kind, answer, link->arg, false };
	va_list arguments;
	bool sent;

	va_start(arguments, format);
	sent = send_format(link, command, format, arguments);
	va_end(arguments);
	return sent;
}

/* As link_command(), but an error is an answer. */
bool link_try(struct link *link, enum command kind, link_answer answer,
	      const char *format, ...)
{
	struct link_command command = { kind, answer, link->arg, true };
	va_list arguments;
	bool sent;

	va_start(arguments, format);
	sent = send_format(link, command, format, arguments);
	va_end(arguments);
	return sent;
}

/* ---- answers ---- */

/* What the user can do about an error. Other errors pass, or speak for themselves. */
static const struct advice {
	const char *error;
	const char *text;
} advices[] = {
	{ "NOAUTH", "; give --password-file, and --user if there is one" },
	{ "WRONGPASS", "; see --user and --password-file" },
	{ "NOPERM", "; hwtimerd(8) lists the rights that the user needs" },
	{ "ERR The user executing the script", /* Redis 7.0, in a function */
	  "; hwtimerd(8) lists the rights that the user needs" },
	{ "ERR ACL failure in script", /* later ones */
	  "; hwtimerd(8) lists the rights that the user needs" },
	{ "ERR Function not found", "; install the functions: hwtimerd load" },
	{ "ERR unknown command", "; hwtimerd needs Redis 7.0 or later" },
	{ "ERR invalid password", "; see --user and --password-file" },
	{ "ASK ", "; the slot is being moved, waiting for the end of that" },
	{ NULL, "" },
};

/* Returns advice for an error answer, to be put behind it; or "". */
const char *link_advice(const char *error)
{
	const struct advice *advice;

	for (advice = advices; advice->error; advice++)
		if (!strncmp(error, advice->error, strlen(advice->error)))
			break;
	return advice->text;
}

/* MOVED SLOT HOST:PORT; without a host, it is that of this connection. */
static void follow(struct link *link, const char *text)
{
	const char *where = strrchr(text, ' ') + 1;
	struct address address;

	if (where[0] == ':') {
		address = link->address;
		address.port = atoi(where + 1);
		link->address = address;
	} else if (!address_parse(&link->address, where, strlen(where))) {
		return;
	}
	link->directed = true;
}

/* Ends the connection because of an error answer. */
void link_refused(struct link *link, const struct redisReply *error)
{
	if (!strncmp(error->str, "MOVED ", 6) && !link->fixed)
		follow(link, error->str);
	link_break(link, "%s%s", error->str, link_advice(error->str));
}

static struct link_command take_command(struct link *link)
{
	struct link_command command = link->pending[link->first];

	link->first = (link->first + 1) % LINK_PENDING_MAX;
	link->count--;
	if (link->count && !(link->patient && link_is_up(link)))
		timer_set(link->timer, link->options->lease);
	else
		evtimer_del(link->timer);
	return command;
}

static void on_reply(struct redisAsyncContext *redis, void *answer,
		     void *unused)
{
	struct link *link = redis->data;
	const struct redisReply *reply = answer;
	struct link_command command;

	(void)unused;
	/* Without a reply, hiredis is about to end the connection. */
	if (!link || link->state == LINK_BROKEN || !reply || !link->count)
		return;
	command = take_command(link);
	if (reply->type == REDIS_REPLY_ERROR && !command.tolerant) {
		link_refused(link, reply);
		return;
	}
	if (link_is_up(link) && command.kind != COMMAND_TIME &&
	    reply->type != REDIS_REPLY_ERROR)
		link->failures = 0;
	command.answer(command.arg, reply);
}

/* ---- the greeting: AUTH, hwt_version, ROLE ---- */

static void greeting_answered(struct link *link)
{
	if (--link->greetings || link->state != LINK_GREETING)
		return;
	link->state = LINK_UP;
	if (link->complained)
		say(LOG_NOTICE, "Redis at %s port %u: connected",
		    link->address.host, link->address.port);
	link->complained = false;
	evtimer_del(link->timer);
	link->events->up(link->arg);
}

static void on_auth(void *arg, const struct redisReply *reply)
{
	(void)reply;
	greeting_answered(arg);
}

/* Another major version may mean anything by its functions and keys. */
static void on_version(void *arg, const struct redisReply *reply)
{
	const char *version = reply_is_text(reply) ? reply->str : "unknown";
	struct link *link = arg;

	if (strncmp(version, "1.", 2))
		link_break(link,
			   "its functions have version %.20s, not 1.x: %s",
			   version,
			   "install this version's with hwtimerd load");
	greeting_answered(link);
}

/* A replica names its master: "slave", host, port ... */
static void on_role(void *arg, const struct redisReply *reply)
{
	struct link *link = arg;
	int64_t port;

	if (reply_is_array(reply, 3) && reply_is(reply->element[0], "slave")) {
		if (reply_is_text(reply->element[1]) &&
		    reply_number(reply->element[2], &port) && port > 0 &&
		    port <= UINT16_MAX && reply->element[1]->len < HOST_ROOM) {
			copy_text(link->address.host, HOST_ROOM,
				  reply->element[1]->str);
			link->address.port = port;
			link->directed = true;
		}
		link_break(link, "is a replica");
	}
	greeting_answered(link);
}

/*
 * Reads the file anew each time, so that a password may be changed. A FIFO, as that of <() in
 * a shell, must not hold up the daemon until somebody writes into it.
 */
bool password_read(const char *path, char password[PASSWORD_ROOM])
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return false;
	length = read(fd, password, PASSWORD_ROOM - 1);
	close(fd);
	if (length < 0)
		return false;
	password[length] = '\0';
	password[strcspn(password, "\r\n")] = '\0';
	return *password;
}

static void send_auth(struct link *link)
{
	const char *path = link->options->password_file;
	char password[PASSWORD_ROOM];

	link->greetings++;
	if (!password_read(path, password))
		link_break(link, "no password can be read from %s", path);
	else if (link->options->user)
		link_command(link, COMMAND_CONNECT, on_auth, "AUTH %s %s",
			     link->options->user, password);
	else
		link_command(link, COMMAND_CONNECT, on_auth, "AUTH %s",
			     password);
	explicit_bzero(password, sizeof(password));
}

static void ask_role(struct link *link)
{
	link->greetings++;
	link_command(link, COMMAND_CONNECT, on_role, "ROLE");
}

static void ask_version(struct link *link)
{
	link->greetings++;
	link_command(link, COMMAND_CONNECT, on_version, "FCALL hwt_version 0");
}

static void greet(struct link *link)
{
	unsigned int i;

	link->state = LINK_GREETING;
	link->greetings = 0;
	if (link->options->password_file)
		send_auth(link);
	/* With one address, there is no choice; a replica then says READONLY. */
	if (link->options->nr_addresses > 1 && !link->fixed)
		ask_role(link);
	ask_version(link);
	/* The answers are those of this function, not of the owner. */
	for (i = 0; i < link->count; i++)
		link->pending[(link->first + i) % LINK_PENDING_MAX].arg = link;
}

/* ---- connecting ---- */

/* hiredis frees the context after this, unless @status is REDIS_OK. */
static void on_connect(const struct redisAsyncContext *redis, int status)
{
	struct link *link = redis->data;

	if (!link)
		return;
	if (status == REDIS_OK) {
		greet(link);
		return;
	}
	link->redis = NULL;
	link_break(link, "cannot connect: %s", redis->errstr);
}

/* hiredis frees the context after this. */
static void on_disconnect(const struct redisAsyncContext *redis, int status)
{
	struct link *link = redis->data;

	(void)status;
	if (!link)
		return;
	link->redis = NULL;
	link_break(link, "connection lost: %s",
		   redis->errstr && *redis->errstr ? redis->errstr :
						     "closed by Redis");
}

static void make_prompt(int fd)
{
	int yes = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

static bool attach(struct link *link, struct redisAsyncContext *redis)
{
	if (redis->err || !tls_begin(&redis->c, link->address.host) ||
	    redisLibeventAttach(redis, link->base) != REDIS_OK) {
		link_break(link, "cannot connect: %s", redis->errstr);
		redisAsyncFree(redis);
		return false;
	}
	link->redis = redis;
	redis->data = link;
	redisAsyncSetConnectCallback(redis, on_connect);
	redisAsyncSetDisconnectCallback(redis, on_disconnect);
	return true;
}

static void connect_to_peer(struct link *link)
{
	struct redisAsyncContext *redis =
		redisAsyncConnect(link->peer, link->address.port);

	link->state = LINK_CONNECTING;
	link->first = 0;
	link->count = 0;
	timer_set(link->timer, link->options->lease);
	if (!redis) {
		link_break(link, "no memory to connect");
	} else if (attach(link, redis)) {
		make_prompt(redis->c.fd);
		/* A listener is told in this way that the other side is gone. */
		redisEnableKeepAlive(&redis->c);
	}
}

static void on_lookup(void *arg, const char *address, const char *why)
{
	struct link *link = arg;

	if (!address) {
		link_break(link, "its address was not found: %s", why);
		return;
	}
	copy_text(link->peer, sizeof(link->peer), address);
	connect_to_peer(link);
}

static bool is_numeric(const char *host)
{
	struct in6_addr room;

	return inet_pton(AF_INET, host, &room) > 0 ||
	       inet_pton(AF_INET6, host, &room) > 0;
}

static void choose_address(struct link *link)
{
	const struct options *options = link->options;

	if (!link->fixed && !link->directed)
		link->address =
			options->addresses[link->next % options->nr_addresses];
	/* If the server that was named is no use, the next attempt asks the others. */
	link->directed = false;
}

static void begin_attempt(struct link *link)
{
	choose_address(link);
	if (link->fixed) {
		connect_to_peer(link);
	} else if (is_numeric(link->address.host)) {
		on_lookup(link, link->address.host, NULL);
	} else {
		link->state = LINK_RESOLVING;
		timer_set(link->timer, link->options->lease);
		lookup_start(&link->lookup, link->base, link->address.host,
			     link->failures, on_lookup, link);
	}
}

static void on_timer(evutil_socket_t unused, short what, void *arg)
{
	struct link *link = arg;

	(void)unused;
	(void)what;
	switch (link->state) {
	case LINK_STOPPED:
		break;
	case LINK_WAITING:
		begin_attempt(link);
		break;
	case LINK_BROKEN:
		clean_up(link);
		break;
	default:
		link_break(link, "no answer for %llu ms",
			   (unsigned long long)link->options->lease);
	}
}

static void start(struct link *link)
{
	link->state = LINK_WAITING;
	link->failures = 0;
	link->directed = false;
	timer_now(link->timer);
}

/* Connects to the master among the addresses of the options. */
void link_start(struct link *link)
{
	link->fixed = false;
	start(link);
}

/* Connects to the server at which @other is up, whatever Redis or a look-up says. */
void link_start_beside(struct link *link, const struct link *other)
{
	link->fixed = true;
	link->address = other->address;
	copy_text(link->peer, sizeof(link->peer), other->peer);
	start(link);
}
