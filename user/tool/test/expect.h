/* SPDX-License-Identifier: MIT */
/* What the tests of the tool expect; a test goes on where that is not so. */
#ifndef TOOL_TEST_EXPECT_H
#define TOOL_TEST_EXPECT_H

#include <stdio.h>

static unsigned int failures;

#define EXPECT(condition)                                                  \
	do {                                                               \
		if (!(condition)) {                                        \
			failures++;                                        \
			printf("line %d: not %s\n", __LINE__, #condition); \
		}                                                          \
	} while (0)

#endif /* TOOL_TEST_EXPECT_H */
