// SPDX-License-Identifier: MIT
/* Finds the addresses of names; see lookup.h. */
#include "lookup.h"

#include <arpa/inet.h>
#include <event2/dns.h>
#include <event2/util.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

/**
 * struct lookup - a name whose address is wanted
 * @slot: where the owner keeps the pointer to this; NULL: it does not want the result
 * @request: the part of libevent
 * @attempt: index of the address to take, of a name that has several
 * @done: function for the result
 * @arg: its argument
 */
struct lookup {
	struct lookup **slot;
	struct evdns_getaddrinfo_request *request;
	unsigned int attempt;
	lookup_done done;
	void *arg;
};

/* Made anew for the first of some look-ups: the files that it reads may have changed. */
static struct evdns_base *resolver;
static unsigned int nr_lookups;

static const struct evutil_addrinfo *choose(const struct evutil_addrinfo *list,
					    unsigned int attempt)
{
	const struct evutil_addrinfo *one;
	unsigned int count = 0;

	for (one = list; one; one = one->ai_next)
		count++;
	for (attempt %= count; attempt; attempt--)
		list = list->ai_next;
	return list;
}

static const char *to_text(const struct sockaddr *address, char *room,
			   size_t size)
{
	const struct sockaddr_in6 *v6 = (const void *)address;
	const struct sockaddr_in *v4 = (const void *)address;

	if (address->sa_family == AF_INET6)
		return inet_ntop(AF_INET6, &v6->sin6_addr, room, size);
	return inet_ntop(AF_INET, &v4->sin_addr, room, size);
}

static void on_result(int result, struct evutil_addrinfo *list, void *arg)
{
	struct lookup *lookup = arg;
	char room[INET6_ADDRSTRLEN];
	const char *text = NULL;

	if (list) {
		text = to_text(choose(list, lookup->attempt)->ai_addr, room,
			       sizeof(room));
		evutil_freeaddrinfo(list);
	}
	if (lookup->slot) {
		*lookup->slot = NULL;
		lookup->done(lookup->arg, text, evutil_gai_strerror(result));
	}
	free(lookup);
	nr_lookups--;
}

/*
 * A file that is missing or odd leaves 127.0.0.1 as the server to ask, and /etc/hosts.
 * evdns_base_new() would fail if it had to read it.
 */
static bool have_resolver(struct event_base *base)
{
	if (nr_lookups)
		return true;
	lookup_end();
	resolver = evdns_base_new(base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	if (resolver)
		evdns_base_resolv_conf_parse(resolver, DNS_OPTIONS_ALL,
					     "/etc/resolv.conf");
	return resolver;
}

/**
 * lookup_start - find the address of a name
 * @slot: out: the lookup, for lookup_cancel(); NULL again when @done is called
 * @base: the loop
 * @name: the name
 * @attempt: number of the attempt: each takes another address of the name
 * @done: called with the result, perhaps before lookup_start() returns
 * @arg: its first argument
 */
void lookup_start(struct lookup **slot, struct event_base *base,
		  const char *name, unsigned int attempt, lookup_done done,
		  void *arg)
{
	struct evutil_addrinfo hints = { .ai_family = AF_UNSPEC,
					 .ai_socktype = SOCK_STREAM };
	struct lookup *lookup = calloc(1, sizeof(*lookup));
	struct evdns_getaddrinfo_request *request;

	*slot = lookup;
	if (!lookup || !have_resolver(base)) {
		*slot = NULL;
		free(lookup);
		done(arg, NULL, "no memory");
		return;
	}
	nr_lookups++;
	*lookup = (struct lookup){ slot, NULL, attempt, done, arg };
	request = evdns_getaddrinfo(resolver, name, NULL, &hints, on_result,
				    lookup);
	/* NULL: on_result() was called already, and has freed the lookup. */
	if (request)
		lookup->request = request;
}

/* Ends a lookup, whose function is not called any more. *@slot may be NULL. */
void lookup_cancel(struct lookup **slot)
{
	struct lookup *lookup = *slot;

	*slot = NULL;
	if (!lookup)
		return;
	/* on_result() is called later, and frees it. */
	lookup->slot = NULL;
	evdns_getaddrinfo_cancel(lookup->request);
}

/* Frees everything at the end of the program. */
void lookup_end(void)
{
	if (resolver)
		evdns_base_free(resolver, 1);
	resolver = NULL;
}
