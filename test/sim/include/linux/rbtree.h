/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's red-black trees, as sorted lists */
#ifndef SIM_LINUX_RBTREE_H
#define SIM_LINUX_RBTREE_H

#include <linux/kernel.h>

struct rb_node {
	struct rb_node *next, **link;
};

struct rb_root {
	struct rb_node *first;
};

#define RB_ROOT ((struct rb_root){ NULL })
#define RB_EMPTY_ROOT(root) (!(root)->first)
#define RB_EMPTY_NODE(node) (!(node)->link)
#define rb_entry(node, type, member) container_of(node, type, member)

/* Puts a node, which is in no list, where @link points from. */
static inline void rb_insert(struct rb_node *node, struct rb_node **link)
{
	node->next = *link;
	node->link = link;
	if (*link)
		(*link)->link = &node->next;
	*link = node;
}

static inline void rb_erase(struct rb_node *node, struct rb_root *root)
{
	if (RB_EMPTY_NODE(node))
		sim_fail("rb_erase() of a node that is in no tree");
	*node->link = node->next;
	if (node->next)
		node->next->link = node->link;
	node->link = NULL;
}

/* Returns a node that is equal; NULL: there was none, and @node is in the tree now. */
static inline struct rb_node *
rb_find_add(struct rb_node *node, struct rb_root *root,
	    int (*compare)(struct rb_node *node, const struct rb_node *other))
{
	struct rb_node **link = &root->first;
	int order = 1;

	while (*link && (order = compare(node, *link)) > 0)
		link = &(*link)->next;
	if (*link && !order)
		return *link;
	rb_insert(node, link);
	return NULL;
}

static inline struct rb_node *
rb_find_first(const void *key, const struct rb_root *root,
	      int (*compare)(const void *key, const struct rb_node *node))
{
	struct rb_node *node = root->first;
	int order = 1;

	while (node && (order = compare(key, node)) > 0)
		node = node->next;
	return order ? NULL : node;
}

#endif /* SIM_LINUX_RBTREE_H */
