// SPDX-License-Identifier: MIT
/* Guesses what a misspelt word was meant to be; see meant.h. */
#include "meant.h"

#include <stdio.h>
#include <string.h>

/* No name here is as long. */
#define LONGEST 32

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * Returns how many letters have to be added, removed, replaced, or swapped with their neighbour
 * to make @name of @word. Row i has the distances of the first i letters of @word.
 */
static unsigned int distance(const char *word, const char *name)
{
	unsigned int rows[LONGEST + 1][LONGEST + 1];
	size_t i, j, length = strlen(word), wanted = strlen(name);

	if (length > LONGEST || wanted > LONGEST)
		return LONGEST;
	for (i = 0; i <= length; i++)
		for (j = 0; j <= wanted; j++) {
			if (!i || !j) {
				rows[i][j] = i + j;
				continue;
			}
			rows[i][j] = least(rows[i - 1][j - 1] +
						   (word[i - 1] != name[j - 1]),
					   1 + least(rows[i - 1][j],
						     rows[i][j - 1]));
			if (i > 1 && j > 1 && word[i - 1] == name[j - 2] &&
			    word[i - 2] == name[j - 1])
				rows[i][j] = least(rows[i][j],
						   1 + rows[i - 2][j - 2]);
		}
	return rows[length][wanted];
}

const char *meant(const char *prefix, const char *word, const void *list,
		  size_t size)
{
	static char text[LONGEST + 32];
	/* Two errors, or one in a short word: more would be another word. */
	unsigned int best = strlen(word) > 3 ? 3 : 2;
	const char *const *name;

	*text = '\0';
	for (name = list; *name;
	     name = (const void *)((const char *)name + size)) {
		unsigned int errors = distance(word, *name);

		if (errors >= best)
			continue;
		best = errors;
		snprintf(text, sizeof(text), "; did you mean %s%s?", prefix,
			 *name);
	}
	return text;
}
