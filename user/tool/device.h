/* SPDX-License-Identifier: MIT */
/* Tells the device from other files. Used by all that looks at descriptors of others. */
#ifndef DEVICE_H
#define DEVICE_H

/*
 * Returns whether a file, @name in @directory, may be /dev/hwtimer: 1 if it is a misc device,
 * under whatever name it was opened, 0 if it is another file, -1 if it cannot be looked at. The
 * file may be on a server that does not answer, so the server is not asked.
 */
int device_possible(int directory, const char *name);

#endif /* DEVICE_H */
