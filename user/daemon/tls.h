/* SPDX-License-Identifier: MIT */
/* TLS, with the part of hiredis for it (tls.c), or without it (tls_none.c) */
#ifndef TLS_H
#define TLS_H

#include "options.h"

struct redisContext;

bool tls_init(const struct options *options);
bool tls_begin(struct redisContext *redis, const char *host);

#endif /* TLS_H */
