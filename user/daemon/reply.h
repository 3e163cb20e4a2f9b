/* SPDX-License-Identifier: MIT */
/* Reads answers of Redis, whose types and lengths nobody guarantees. */
#ifndef REPLY_H
#define REPLY_H

#include "options.h"

#include <hiredis/hiredis.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool reply_number(const struct redisReply *reply, int64_t *number);
bool reply_is_text(const struct redisReply *reply);
bool reply_is(const struct redisReply *reply, const char *text);
bool reply_is_array(const struct redisReply *reply, size_t length);
bool reply_address(const struct redisReply *host, const struct redisReply *port,
		   struct address *address);
bool reply_moved(const struct redisReply *reply, struct address *address);

#endif /* REPLY_H */
