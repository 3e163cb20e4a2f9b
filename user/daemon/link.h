/* SPDX-License-Identifier: MIT */
/*
 * A connection to Redis that comes back. Everything happens in the loop; no function
 * waits.
 *
 * A link is up after Redis has accepted the password, has the functions, and is a
 * master. Any error answer but those of tolerant commands ends the connection: LOADING,
 * READONLY and the like end with a wait and a new connection, which finds the master of
 * then, and MOVED names the server of the next connection. So there is one way in which
 * things fail, and it is tested all the time.
 *
 * While a shard's slot is moved to another node, Redis says ASK or TRYAGAIN. That also
 * ends in a wait: at that time some keys of the shard are here and some there, and a turn
 * on half of them would create keys that stop the move.
 *
 * Callbacks: @answer of a command is called once, unless the connection is lost; then
 * @down is called, and the answers to all commands of that connection will never come.
 * No function of this file calls a callback before it returns. A callback may call any
 * function here.
 */
#ifndef LINK_H
#define LINK_H

#include "counters.h"
#include "options.h"

#include <event2/dns.h>
#include <event2/event.h>
#include <hiredis/async.h>
#include <netdb.h>

#define PASSWORD_ROOM 1024

struct link;

/**
 * struct link_events - functions of a link's owner
 * @up: the link can be used
 * @down: the link was up, and is not any more; may be NULL
 */
struct link_events {
	void (*up)(void *arg);
	void (*down)(void *arg);
};

/**
 * struct link_command - a kind of command
 * @kind: what it counts as
 * @answer: function for the answer; NULL: none
 * @tolerant: whether an error is an answer as any other
 */
struct link_command {
	enum command kind;
	void (*answer)(void *arg, const struct redisReply *reply);
	bool tolerant;
};

enum link_state {
	LINK_STOPPED,
	LINK_WAITING, /* for the time of the next attempt */
	LINK_CONNECTING, /* looks up a name, connects, sends AUTH, SELECT, ROLE, hwt_version */
	LINK_UP,
	LINK_BROKEN, /* the loop will end the connection, and tell the owner */
};

/**
 * struct link - a connection
 * @base: the loop
 * @options: addresses, password, times
 * @counters: where commands are counted
 * @key: key of the shard, for messages
 * @beside: it connects to the server of that link, which is up, whatever Redis or a look-up
 *	says; NULL: to the master among the addresses of the options
 * @events: functions of the owner
 * @arg: their argument, and that of all answers
 * @patience: ms that Redis may take for an answer
 * @state: state of the connection
 * @redis: hiredis' part; NULL: none
 * @lookup: libevent's search for the address of a name; NULL: none
 * @timer: next attempt, or end of the patience
 * @address: the server of this connection, or of the last one
 * @peer: its numeric address; a name may have several, with a server at each
 * @named: the server that Redis has named for the next attempt
 * @directed: whether there is one
 * @next: index of the address for the next attempt
 * @failures: number of failures since the last good answer
 * @was_up: the broken connection was up
 * @complained: a message said that something is wrong
 * @why: reason for LINK_BROKEN
 * @pending: number of commands without an answer yet
 */
struct link {
	struct event_base *base;
	const struct options *options;
	struct counters *counters;
	const char *key;
	const struct link *beside;
	const struct link_events *events;
	void *arg;
	uint64_t patience;
	enum link_state state;
	struct redisAsyncContext *redis;
	struct evdns_getaddrinfo_request *lookup;
	struct event *timer;
	struct address address;
	char peer[NI_MAXHOST];
	struct address named;
	bool directed;
	unsigned int next;
	unsigned int failures;
	bool was_up;
	bool complained;
	char why[256];
	unsigned int pending;
};

void link_init(struct link *link, struct event_base *base,
	       const struct options *options, struct counters *counters,
	       const char *key, const struct link *beside, uint64_t patience,
	       const struct link_events *events, void *arg);
void link_start(struct link *link);
void link_stop(struct link *link);
bool link_is_up(const struct link *link);
bool link_command(struct link *link, const struct link_command *command,
		  const char *format, ...);
void link_break(struct link *link, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
const char *link_advice(const char *error);
bool password_read(const char *path, char password[PASSWORD_ROOM]);

#endif /* LINK_H */
