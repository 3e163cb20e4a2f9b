// SPDX-License-Identifier: GPL-2.0
/*
 * The floor with the layout of Netty, Kafka and the kernel's timer.c: one doubly linked
 * list of 64-byte timers per bucket, and one list of the timers that are due.
 */
#include <string.h>

#include "floor.h"

struct node {
	struct node *next;
	struct node *prev;
	__u64 tick;
	__u64 user_data;
	__u64 deadline;
	__u32 generation;
	__u32 index;
	__u32 state;
	__u32 unused;
	__u64 pad;
};

static const char *const variants[] = { "lists", NULL };

static struct workload *load;
static struct node *nodes;
static struct node *heads;
static struct node due;
static struct hwtimer_event out[FLOOR_CHUNK];

static void list_reset(struct node *head)
{
	head->next = head;
	head->prev = head;
}

static inline void list_append(struct node *head, struct node *node)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

static void list_setup(struct workload *new_load, unsigned int variant)
{
	int i;

	(void)variant;
	load = new_load;
	nodes = floor_map(load->timers * sizeof(*nodes));
	heads = floor_map(FLOOR_BUCKETS * sizeof(*heads));
	for (i = 0; i < FLOOR_BUCKETS; i++)
		list_reset(&heads[i]);
	list_reset(&due);
	memset(out, 0, sizeof(out));
}

static void list_teardown(void)
{
	floor_unmap(heads, FLOOR_BUCKETS * sizeof(*heads));
	floor_unmap(nodes, load->timers * sizeof(*nodes));
}

static void list_schedule(__u32 first, __u32 count)
{
	__u32 i;

	for (i = first; i < first + count; i++) {
		struct node *node = &nodes[i];

		node->tick = load->ticks[i];
		node->user_data = i;
		node->state = 1;
		list_append(&heads[node->tick % FLOOR_BUCKETS], node);
	}
}

static void list_cancel(__u32 first, __u32 count)
{
	__u32 i;

	for (i = first; i < first + count; i++) {
		struct node *node = &nodes[load->order[i]];

		node->next->prev = node->prev;
		node->prev->next = node->next;
		node->state = 0;
		node->generation++;
	}
}

static void expire_bucket(struct node *head)
{
	struct node *node, *next;

	for (node = head->next; node != head; node = next) {
		next = node->next;
		__builtin_prefetch(next->next);
		list_append(&due, node);
		node->state = 2;
	}
	list_reset(head);
}

static void list_expire(__u32 count)
{
	int i;

	(void)count;
	for (i = 0; i < FLOOR_BUCKETS; i++)
		expire_bucket(&heads[i]);
}

static void list_deliver(void)
{
	struct node *node, *next;
	__u32 handed = 0;

	for (node = due.next; node != &due; node = next) {
		struct hwtimer_event *event = &out[handed++ % FLOOR_CHUNK];

		next = node->next;
		__builtin_prefetch(next->next);
		*event = (struct hwtimer_event){
			.id = node->generation,
			.user_data = node->user_data,
			.deadline = node->tick,
			.expirations = 1,
		};
		node->state = 0;
		node->generation++;
		workload_deliver(load, event->user_data);
	}
	list_reset(&due);
}

static __u64 list_bytes(void)
{
	return FLOOR_BUCKETS * sizeof(*heads) + load->timers * sizeof(*nodes);
}

const struct system system_floor_list = {
	.name = "floor-list",
	.variants = variants,
	.expiry = EXPIRY_CALLED,
	.tick = NSEC_PER_MSEC,
	.setup = list_setup,
	.teardown = list_teardown,
	.schedule = list_schedule,
	.cancel = list_cancel,
	.expire = list_expire,
	.deliver = list_deliver,
	.bytes = list_bytes,
};
