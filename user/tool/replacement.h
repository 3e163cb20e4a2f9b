/* SPDX-License-Identifier: MIT */
/*
 * Writes a file so that its name always stands for a whole file, the old one or the new
 * one, whatever happens meanwhile: to a temporary file in the same directory, which is
 * then renamed. A symbolic link is not followed. Every function ends the program on
 * failure; then the old file is as it was. Used by save, restore, plot and metrics.
 */
#ifndef REPLACEMENT_H
#define REPLACEMENT_H

#include <stdio.h>

/* Begins; the caller writes to the file that this returns. One file at a time. */
FILE *replacement_open(const char *path);

/* Lets others read a new file, as far as the umask does; otherwise only its owner may. */
void replacement_share(void);

/* Ends the program if the caller cannot write to the file; errno has the reason. */
_Noreturn void replacement_failed(void);

/* Puts the file in the place of the old one, for good even if the machine fails. */
void replacement_commit(void);

#endif /* REPLACEMENT_H */
