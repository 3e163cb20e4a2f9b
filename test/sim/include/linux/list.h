/* SPDX-License-Identifier: GPL-2.0 */
/* Lists with the kernel's names */
#ifndef SIM_LINUX_LIST_H
#define SIM_LINUX_LIST_H

#include <linux/compiler.h>
#include <linux/kernel.h>

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name)     \
	{                        \
		&(name), &(name) \
	}
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool list_empty(const struct list_head *list)
{
	return __atomic_load_n(&list->next, __ATOMIC_RELAXED) == list;
}

static inline void list_insert(struct list_head *entry, struct list_head *prev,
			       struct list_head *next)
{
	entry->prev = prev;
	entry->next = next;
	next->prev = entry;
	__atomic_store_n(&prev->next, entry, __ATOMIC_RELAXED);
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	list_insert(entry, head, head->next);
}

static inline void list_add_tail(struct list_head *entry,
				 struct list_head *head)
{
	list_insert(entry, head->prev, head);
}

static inline void list_del_init(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	__atomic_store_n(&entry->prev->next, entry->next, __ATOMIC_RELAXED);
	INIT_LIST_HEAD(entry);
}

#define list_entry(p, type, member) container_of(p, type, member)
#define list_first_entry(head, type, member) \
	list_entry((head)->next, type, member)
#define list_next_entry(p, member) \
	list_entry((p)->member.next, typeof(*(p)), member)
#define list_for_each_entry(p, head, member)                 \
	for (p = list_first_entry(head, typeof(*p), member); \
	     &p->member != (head); p = list_next_entry(p, member))
#define list_for_each_entry_safe(p, n, head, member)         \
	for (p = list_first_entry(head, typeof(*p), member), \
	    n = list_next_entry(p, member);                  \
	     &p->member != (head); p = n, n = list_next_entry(n, member))

#endif /* SIM_LINUX_LIST_H */
