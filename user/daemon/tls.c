// SPDX-License-Identifier: MIT
/* TLS, for a hiredis that has it (from 1.0 on); see tls.h. */
#include "tls.h"
#include "say.h"

#include <hiredis/hiredis.h>
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

static struct ssl_ctx_st *context;

/* Returns false after a message. @file: what could not be used; NULL: no file */
static bool complain(const char *option, const char *file)
{
	unsigned long error = ERR_peek_error();
	const char *reason = ERR_GET_LIB(error) == ERR_LIB_SYS ?
				     strerror(ERR_GET_REASON(error)) :
				     ERR_reason_error_string(error);

	say(LOG_ERR, "%s%s%s: %s", option, file ? " " : "", file ?: "",
	    reason ?: "no memory");
	return false;
}

static bool trust(const char *file)
{
	if (!file)
		return SSL_CTX_set_default_verify_paths(context) == 1 ||
		       complain("--tls", NULL);
	return SSL_CTX_load_verify_locations(context, file, NULL) == 1 ||
	       complain("--tls-ca", file);
}

static bool introduce_us(const char *cert, const char *key)
{
	if (!cert)
		return true;
	if (SSL_CTX_use_certificate_chain_file(context, cert) != 1)
		return complain("--tls-cert", cert);
	if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
		return complain("--tls-key", key);
	return true;
}

/* hiredis only says that the certificate is bad. */
static int on_verified(int good, X509_STORE_CTX *store)
{
	int error = X509_STORE_CTX_get_error(store);

	if (!good)
		say(LOG_WARNING, "TLS: the certificate of Redis: %s",
		    X509_verify_cert_error_string(error));
	return good;
}

/*
 * Reads the certificates, once. Returns false after a message. The context is our own, as
 * one of hiredis accepts any name in a certificate.
 */
bool tls_init(const struct options *options)
{
	if (!options->tls)
		return true;
	redisInitOpenSSL();
	context = SSL_CTX_new(TLS_client_method());
	if (!context)
		return complain("--tls", NULL);
	SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, on_verified);
	return trust(options->tls_ca) &&
	       introduce_us(options->tls_cert, options->tls_key);
}

/* The certificate must be for @host. Returns false if that cannot be asked for. */
static bool expect(SSL *ssl, const char *host)
{
	/* For an empty name, OpenSSL would accept all. */
	if (!*host)
		return false;
	if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1)
		return true;
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return SSL_set1_host(ssl, host) == 1 &&
	       SSL_set_tlsext_host_name(ssl, host) == 1;
}

/**
 * tls_begin - use TLS on a connection, if the options say so
 * @redis: the connection, of which the first bytes are the handshake
 * @host: name or numeric address that the server's certificate must have
 *
 * Return: false after an error, which is in redis->errstr.
 */
bool tls_begin(struct redisContext *redis, const char *host)
{
	SSL *ssl;

	if (!context)
		return true;
	ssl = SSL_new(context);
	if (!ssl || !expect(ssl, host))
		snprintf(redis->errstr, sizeof(redis->errstr),
			 "TLS cannot begin");
	else if (redisInitiateSSL(redis, ssl) == REDIS_OK)
		return true;
	SSL_free(ssl);
	return false;
}
