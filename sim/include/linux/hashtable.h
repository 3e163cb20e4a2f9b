/* SPDX-License-Identifier: GPL-2.0 */
/* Hash tables with the kernel's names */
#ifndef SIM_LINUX_HASHTABLE_H
#define SIM_LINUX_HASHTABLE_H

#include <linux/list.h>
#include <linux/log2.h>

#define DEFINE_HASHTABLE(name, bits) struct hlist_head name[1 << (bits)]
#define HASH_SIZE(table) (sizeof(table) / sizeof((table)[0]))
#define HASH_BITS(table) ilog2(HASH_SIZE(table))

static inline unsigned int hash_min(unsigned long value, unsigned int bits)
{
	return value * 0x61C8864680B583EBull >> (64 - bits);
}

#define hash_bucket(table, key) (&(table)[hash_min(key, HASH_BITS(table))])
#define hash_add(table, node, key) hlist_add_head(node, hash_bucket(table, key))
#define hash_del(node) hlist_del(node)
#define hash_for_each_possible(table, p, member, key) \
	hlist_for_each_entry(p, hash_bucket(table, key), member)

#endif /* SIM_LINUX_HASHTABLE_H */
