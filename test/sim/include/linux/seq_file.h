/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_SEQ_FILE_H
#define SIM_LINUX_SEQ_FILE_H

#include <linux/fs.h>
#include <linux/list.h>

/**
 * struct seq_file - text that is being made
 * @file: the file
 * @length: bytes written so far; the text itself is not kept
 */
struct seq_file {
	struct file *file;
	size_t length;
};

void seq_printf(struct seq_file *seq, const char *format, ...) __printf(2, 3);
#define seq_puts(seq, text) seq_printf(seq, "%s", text)
#define seq_putc(seq, c) seq_printf(seq, "%c", c)

#endif /* SIM_LINUX_SEQ_FILE_H */
