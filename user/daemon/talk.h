/* SPDX-License-Identifier: MIT */
/* Conversations with Redis that may wait; for the commands other than serve. */
#ifndef TALK_H
#define TALK_H

#include "options.h"

#include <hiredis/hiredis.h>

struct redisContext *talk_to(const struct options *options,
			     const struct address *address);
bool talk_failed(const struct redisContext *redis,
		 const struct redisReply *reply, const char *what);
bool talk_done(const struct redisContext *redis, struct redisReply *reply,
	       const char *what);

#endif /* TALK_H */
