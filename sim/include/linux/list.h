/* SPDX-License-Identifier: GPL-2.0 */
/* Lists with the kernel's names, as far as the module uses them */
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

/* As with CONFIG_DEBUG_LIST, nobody may use the entry again. */
static inline void list_del(struct list_head *entry)
{
	list_del_init(entry);
	entry->next = NULL;
	entry->prev = NULL;
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add(entry, head);
}

static inline void list_move_tail(struct list_head *entry,
				  struct list_head *head)
{
	list_del(entry);
	list_add_tail(entry, head);
}

static inline void list_splice_init(struct list_head *list,
				    struct list_head *head)
{
	if (list_empty(list))
		return;
	list->next->prev = head;
	list->prev->next = head->next;
	head->next->prev = list->prev;
	head->next = list->next;
	INIT_LIST_HEAD(list);
}

#define list_entry(p, type, member) container_of(p, type, member)
#define list_first_entry(head, type, member) \
	list_entry((head)->next, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_next_entry(p, member) \
	list_entry((p)->member.next, typeof(*(p)), member)
#define list_for_each_entry(p, head, member)                 \
	for (p = list_first_entry(head, typeof(*p), member); \
	     &p->member != (head); p = list_next_entry(p, member))
#define list_for_each_entry_continue(p, head, member)              \
	for (p = list_next_entry(p, member); &p->member != (head); \
	     p = list_next_entry(p, member))
#define list_for_each_entry_safe(p, n, head, member)         \
	for (p = list_first_entry(head, typeof(*p), member), \
	    n = list_next_entry(p, member);                  \
	     &p->member != (head); p = n, n = list_next_entry(n, member))

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

static inline void INIT_HLIST_NODE(struct hlist_node *node)
{
	node->next = NULL;
	node->pprev = NULL;
}

static inline bool hlist_unhashed_lockless(const struct hlist_node *node)
{
	return !READ_ONCE(node->pprev);
}

static inline void hlist_add_head(struct hlist_node *node,
				  struct hlist_head *head)
{
	node->next = head->first;
	if (head->first)
		__atomic_store_n(&head->first->pprev, &node->next,
				 __ATOMIC_RELAXED);
	__atomic_store_n(&node->pprev, &head->first, __ATOMIC_RELAXED);
	__atomic_store_n(&head->first, node, __ATOMIC_RELEASE);
}

/* A reader under RCU may still go on from @node. */
static inline void hlist_del(struct hlist_node *node)
{
	__atomic_store_n(node->pprev, node->next, __ATOMIC_RELAXED);
	if (node->next)
		__atomic_store_n(&node->next->pprev, node->pprev,
				 __ATOMIC_RELAXED);
	__atomic_store_n(&node->pprev, NULL, __ATOMIC_RELAXED);
}

static inline struct hlist_node *hlist_after(struct hlist_node *const *link)
{
	return __atomic_load_n(link, __ATOMIC_ACQUIRE);
}

#define hlist_entry_safe(p, type, member)                             \
	({                                                            \
		struct hlist_node *hlist_p = (p);                     \
		hlist_p ? container_of(hlist_p, type, member) : NULL; \
	})
#define hlist_for_each_entry(p, head, member)                                \
	for (p = hlist_entry_safe(hlist_after(&(head)->first), typeof(*(p)), \
				  member);                                   \
	     p; p = hlist_entry_safe(hlist_after(&(p)->member.next),         \
				     typeof(*(p)), member))

#endif /* SIM_LINUX_LIST_H */
