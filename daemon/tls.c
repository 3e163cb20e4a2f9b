// SPDX-License-Identifier: MIT
/* TLS, for a hiredis that has it (from 1.0 on); see tls.h. */
#include "tls.h"
#include "say.h"

#include <hiredis/hiredis.h>
#include <hiredis/hiredis_ssl.h>
#include <stddef.h>

static struct redisSSLContext *context;

/* Reads the certificates, once. Returns false after a message. */
bool tls_init(const struct options *options)
{
	redisSSLContextError error = REDIS_SSL_CTX_NONE;

	if (!options->tls)
		return true;
	redisInitOpenSSL();
	context = redisCreateSSLContext(options->tls_ca, NULL,
					options->tls_cert, options->tls_key,
					NULL, &error);
	if (!context)
		say(LOG_ERR, "--tls: %s", redisSSLContextGetError(error));
	return context;
}

/* Uses TLS on a connection, if the options say so; the handshake comes with the first bytes. */
bool tls_begin(struct redisContext *redis)
{
	return !context ||
	       redisInitiateSSLWithContext(redis, context) == REDIS_OK;
}

void tls_end(void)
{
	if (context)
		redisFreeSSLContext(context);
	context = NULL;
}
