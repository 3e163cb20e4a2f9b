/* SPDX-License-Identifier: MIT */
/* Guesses what a misspelt word was meant to be. Used by hwtimerctl.c. */
#ifndef MEANT_H
#define MEANT_H

#include <stddef.h>

/*
 * Returns "; did you mean NAME?", with @prefix in front of the name, or "" if no name is close to
 * @word. Each element of @list has @size bytes and begins with the pointer to its name, which
 * is NULL after the last one. The text stays until the next call.
 */
const char *meant(const char *prefix, const char *word, const void *list,
		  size_t size);

#endif /* MEANT_H */
