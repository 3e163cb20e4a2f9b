/* SPDX-License-Identifier: MIT */
/*
 * Runs a command that inherits a descriptor by the protocol of sd_listen_fds(3), in which
 * LISTEN_FDS, LISTEN_PID and LISTEN_FDNAMES tell it of the descriptor. Used by restore.
 */
#ifndef HANDOVER_H
#define HANDOVER_H

/* Ends the program if @name cannot be the name of a descriptor. */
void handover_check_name(const char *name);

/*
 * Returns the number that the descriptor will have in the command. Ends the program if
 * that number is taken, so call it before anything is opened.
 */
int handover_number(void);

/* Runs the command in the place of this program, with @fd as number @number. */
void handover_run(int fd, int number, const char *name, char **command)
	__attribute__((noreturn));

#endif /* HANDOVER_H */
