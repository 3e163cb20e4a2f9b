// SPDX-License-Identifier: MIT
/* For a hiredis without TLS (before 1.0); see tls.h. */
#include "tls.h"
#include "say.h"

bool tls_init(const struct options *options)
{
	if (options->tls)
		say(LOG_ERR,
		    "--tls: this hwtimerd was compiled with a hiredis that has no TLS; compile it with hiredis 1.0 or later, or put stunnel in front of Redis");
	return !options->tls;
}

bool tls_begin(struct redisContext *redis, const char *host)
{
	return true;
}
