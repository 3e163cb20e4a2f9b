/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's timerqueue, as a sorted list instead of a tree. As in the kernel, a node
 * goes behind others with the same time.
 */
#ifndef SIM_LINUX_TIMERQUEUE_H
#define SIM_LINUX_TIMERQUEUE_H

#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/rbtree.h>

struct timerqueue_node {
	struct rb_node node;
	ktime_t expires;
};

struct timerqueue_head {
	struct rb_root tree;
};

static inline void timerqueue_init(struct timerqueue_node *node)
{
	node->node.link = NULL;
}

static inline void timerqueue_init_head(struct timerqueue_head *head)
{
	head->tree.first = NULL;
}

static inline struct timerqueue_node *timerqueue_of(struct rb_node *rb)
{
	return rb ? container_of(rb, struct timerqueue_node, node) : NULL;
}

static inline struct timerqueue_node *
timerqueue_getnext(struct timerqueue_head *head)
{
	return timerqueue_of(head->tree.first);
}

/* Returns whether the node is the first now. */
static inline bool timerqueue_add(struct timerqueue_head *head,
				  struct timerqueue_node *node)
{
	struct rb_node **link = &head->tree.first;

	if (!RB_EMPTY_NODE(&node->node))
		sim_fail("timerqueue_add() of a node that is in a queue");
	while (*link && timerqueue_of(*link)->expires <= node->expires)
		link = &(*link)->next;
	rb_insert(&node->node, link);
	return link == &head->tree.first;
}

/* Returns whether others are left. */
static inline bool timerqueue_del(struct timerqueue_head *head,
				  struct timerqueue_node *node)
{
	if (RB_EMPTY_NODE(&node->node))
		sim_fail("timerqueue_del() of a node that is in no queue");
	rb_erase(&node->node, &head->tree);
	return !RB_EMPTY_ROOT(&head->tree);
}

#endif /* SIM_LINUX_TIMERQUEUE_H */
