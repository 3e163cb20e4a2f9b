// SPDX-License-Identifier: MIT
/* Keeps a connection to Redis; see link.h. */
#include "link.h"
#include "alarm.h"
#include "functions.h"
#include "reply.h"
#include "say.h"
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

/* ms for a look-up, a connection and each answer to the greeting, if a lease is longer */
#define GREETING_PATIENCE 5000

/* ns after which the resolver reads its files again, as they may have changed */
#define RESOLVER_AGE (10000 * NS_PER_MS)

static struct evdns_base *resolver;

static void on_timer(evutil_socket_t unused, short what, void *arg);

static unsigned int random_below(unsigned int limit)
{
	unsigned int number;

	evutil_secure_rng_get_bytes(&number, sizeof(number));
	return number % limit;
}

void link_init(struct link *link, struct event_base *base,
	       const struct options *options, struct counters *counters,
	       const char *key, const struct link *beside, uint64_t patience,
	       const struct link_events *events, void *arg)
{
	*link = (struct link){
		.base = base,
		.options = options,
		.counters = counters,
		.key = key,
		.beside = beside,
		.patience = patience,
		.events = events,
		.arg = arg,
	};
	/* Daemons that start together should not all begin with the same server. */
	link->next = random_below(options->nr_addresses);
	link->timer = need(evtimer_new(base, on_timer, link));
}

bool link_is_up(const struct link *link)
{
	return link->state == LINK_UP;
}

static unsigned long long patience_of(const struct link *link)
{
	if (link_is_up(link) || link->patience < GREETING_PATIENCE)
		return link->patience;
	return GREETING_PATIENCE;
}

/* Ends the connection. hiredis then calls our callbacks, which must find no link. */
static void drop_connection(struct link *link)
{
	struct redisAsyncContext *redis = link->redis;

	link->redis = NULL;
	link->pending = 0;
	if (link->lookup)
		evdns_getaddrinfo_cancel(link->lookup);
	link->lookup = NULL;
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
	timer_set(link->timer, 0);
}

/* The wait doubles with each failure. Half of it is random: not all come at once. */
static uint64_t wait_of(const struct link *link)
{
	unsigned int doublings = link->failures < 8 ? link->failures : 8;
	uint64_t wait = WAIT_FIRST << doublings;

	if (wait > WAIT_LONGEST)
		wait = WAIT_LONGEST;
	return wait / 2 + random_below(wait / 2 + 1);
}

static void complain(struct link *link)
{
	/* A redirection is the way in which a cluster works. */
	if (link->directed && link->failures < 4)
		return;
	say(LOG_WARNING, "Redis at %s: %s", address_text(&link->address),
	    link->why);
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
	if (was_up && link->events->down)
		link->events->down(link->arg);
}

/* ---- commands ---- */

static void on_reply(struct redisAsyncContext *redis, void *reply,
		     void *command);

/**
 * link_command - send a command
 * @link: the link, which should be up
 * @command: its kind, which stays
 * @format: the command in the format of hiredis: %s, %b, %llu ... each is one argument
 *
 * Return: false if it could not be sent; then the link breaks.
 */
bool link_command(struct link *link, const struct link_command *command,
		  const char *format, ...)
{
	va_list arguments;
	int result;

	if (!link->redis || link->state == LINK_BROKEN)
		return false;
	va_start(arguments, format);
	result = redisvAsyncCommand(link->redis, on_reply, (void *)command,
				    format, arguments);
	va_end(arguments);
	if (result != REDIS_OK) {
		link_break(link, "no memory for a command");
		return false;
	}
	link->counters->commands[command->kind]++;
	if (!link->pending++)
		timer_set(link->timer, patience_of(link));
	return true;
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

/* The answers to the greeting are the link's, all others are the owner's. */
static void on_reply(struct redisAsyncContext *redis, void *answer, void *arg)
{
	const struct link_command *command = arg;
	const struct redisReply *reply = answer;
	struct link *link = redis->data;

	/* Without a reply, hiredis is about to end the connection. */
	if (!link || link->state == LINK_BROKEN || !reply)
		return;
	if (--link->pending)
		timer_set(link->timer, patience_of(link));
	else
		evtimer_del(link->timer);
	if (reply->type == REDIS_REPLY_ERROR && !command->tolerant) {
		link->named = link->address;
		link->directed = !link->beside &&
				 reply_moved(reply, &link->named);
		link_break(link, "%s%s%s%s", link_is_up(link) ? link->key : "",
			   link_is_up(link) ? ": " : "", reply->str,
			   link_advice(reply->str));
		return;
	}
	/* That INFO is answered says nothing of hwt_fire. */
	if (link_is_up(link) && command->kind != COMMAND_CONNECT &&
	    reply->type != REDIS_REPLY_ERROR)
		link->failures = 0;
	if (command->answer)
		command->answer(link_is_up(link) ? link->arg : link, reply);
}

/* ---- the greeting: AUTH, SELECT, ROLE, hwt_version ---- */

/* Another version may mean anything by its functions and keys. This answer is the last. */
static void on_version(void *arg, const struct redisReply *reply)
{
	const char *version = reply_is_text(reply) ? reply->str : "unknown";
	struct link *link = arg;

	if (strcmp(version, functions_version)) {
		link_break(link, "its functions have version %.20s, not %s: %s",
			   version, functions_version,
			   "install this version's with hwtimerd load");
		return;
	}
	link->state = LINK_UP;
	if (link->complained)
		say(LOG_NOTICE, "Redis at %s: connected",
		    address_text(&link->address));
	link->complained = false;
	link->events->up(link->arg);
}

/* A replica names its master: "slave", host, port ... */
static void on_role(void *arg, const struct redisReply *reply)
{
	struct link *link = arg;

	if (reply_is_array(reply, 3) && reply_is(reply->element[0], "slave")) {
		link->named = link->address;
		link->directed = reply_address(reply->element[1],
					       reply->element[2], &link->named);
		link_break(link, "is a replica");
	}
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

static const struct link_command plain = { COMMAND_CONNECT, NULL };
static const struct link_command role = { COMMAND_CONNECT, on_role };
static const struct link_command version = { COMMAND_CONNECT, on_version };

static void send_auth(struct link *link)
{
	const char *path = link->options->password_file;
	char password[PASSWORD_ROOM];

	if (!password_read(path, password))
		link_break(link, "no password can be read from %s", path);
	else if (link->options->user)
		link_command(link, &plain, "AUTH %s %s", link->options->user,
			     password);
	else
		link_command(link, &plain, "AUTH %s", password);
	explicit_bzero(password, sizeof(password));
}

static void greet(struct link *link)
{
	if (link->options->password_file)
		send_auth(link);
	if (link->options->database)
		link_command(link, &plain, "SELECT %llu",
			     (unsigned long long)link->options->database);
	/* With one address, there is no choice; a replica then says READONLY. */
	if (link->options->nr_addresses > 1 && !link->beside)
		link_command(link, &role, "ROLE");
	link_command(link, &version, "FCALL hwt_version 0");
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

	if (!link)
		return;
	link->redis = NULL;
	link_break(link, "connection lost: %s",
		   redis->errstr && *redis->errstr ? redis->errstr :
						     "closed by Redis");
}

static void connect_to_peer(struct link *link)
{
	struct redisAsyncContext *redis =
		need(address_is_path(&link->address) ?
			     redisAsyncConnectUnix(link->address.host) :
			     redisAsyncConnect(link->peer, link->address.port));
	int yes = 1;

	if (redis->err || !tls_begin(&redis->c, link->address.host) ||
	    redisLibeventAttach(redis, link->base) != REDIS_OK) {
		link_break(link, "cannot connect: %s", redis->errstr);
		redisAsyncFree(redis);
		return;
	}
	link->redis = redis;
	redis->data = link;
	redisAsyncSetConnectCallback(redis, on_connect);
	redisAsyncSetDisconnectCallback(redis, on_disconnect);
	/* A Unix socket has no such option, and needs none. */
	setsockopt(redis->c.fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

/* A name may have several addresses: each attempt takes another one. */
static void on_lookup(int error, struct evutil_addrinfo *all, void *arg)
{
	struct evutil_addrinfo *one = all;
	struct link *link = arg;
	unsigned int i;

	/* There may be no link any more. */
	if (error == EVUTIL_EAI_CANCEL)
		return;
	link->lookup = NULL;
	for (i = 0; one && i < link->failures; i++)
		one = one->ai_next ?: all;
	if (one && !getnameinfo(one->ai_addr, one->ai_addrlen, link->peer,
				sizeof(link->peer), NULL, 0, NI_NUMERICHOST))
		connect_to_peer(link);
	else
		link_break(link, "its address was not found: %s",
			   evutil_gai_strerror(error));
	if (all)
		evutil_freeaddrinfo(all);
}

/*
 * A file that is missing or odd leaves 127.0.0.1 as the server to ask, and /etc/hosts.
 * evdns_base_new() would fail if it had to read it. The resolver stays: with many links, some
 * look-up is always under way.
 */
static void need_resolver(struct event_base *base)
{
	const int idle = EVDNS_BASE_DISABLE_WHEN_INACTIVE;
	static int64_t end;

	if (resolver && now_ns() < end)
		return;
	end = now_ns() + RESOLVER_AGE;
	if (!resolver)
		resolver = need(evdns_base_new(base, idle));
	evdns_base_clear_nameservers_and_suspend(resolver);
	evdns_base_clear_host_addresses(resolver);
	evdns_base_resolv_conf_parse(resolver, DNS_OPTIONS_ALL,
				     "/etc/resolv.conf");
	evdns_base_resume(resolver);
}

/* libevent may call on_lookup() at once; then it returns NULL. */
static void look_up(struct link *link)
{
	struct evutil_addrinfo hints = { .ai_family = AF_UNSPEC,
					 .ai_socktype = SOCK_STREAM };

	need_resolver(link->base);
	link->lookup = evdns_getaddrinfo(resolver, link->address.host, NULL,
					 &hints, on_lookup, link);
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

	if (link->beside) {
		link->address = link->beside->address;
		copy_text(link->peer, sizeof(link->peer), link->beside->peer);
	} else {
		link->address =
			link->directed ?
				link->named :
				options->addresses[link->next %
						   options->nr_addresses];
	}
	/* If the server that was named is no use, the next attempt asks the others. */
	link->directed = false;
}

static void begin_attempt(struct link *link)
{
	choose_address(link);
	link->state = LINK_CONNECTING;
	timer_set(link->timer, patience_of(link));
	if (link->beside || address_is_path(&link->address)) {
		connect_to_peer(link);
	} else if (is_numeric(link->address.host)) {
		copy_text(link->peer, sizeof(link->peer), link->address.host);
		connect_to_peer(link);
	} else {
		look_up(link);
	}
}

static void on_timer(evutil_socket_t unused, short what, void *arg)
{
	struct link *link = arg;

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
		link_break(link, "no answer for %llu ms", patience_of(link));
	}
}

void link_start(struct link *link)
{
	link->state = LINK_WAITING;
	link->failures = 0;
	link->directed = false;
	timer_set(link->timer, 0);
}
