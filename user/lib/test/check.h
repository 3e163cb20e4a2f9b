/* SPDX-License-Identifier: MIT */
/* What the tests of the library expect; a test ends where that is not so. */
#ifndef LIB_TEST_CHECK_H
#define LIB_TEST_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                \
	do {                                                            \
		if (!(condition)) {                                     \
			printf("%s: line %d: %s\n", __func__, __LINE__, \
			       #condition);                             \
			exit(1);                                        \
		}                                                       \
	} while (0)

#endif /* LIB_TEST_CHECK_H */
