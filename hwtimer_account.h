/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An account counts what the instances of one user have together, and refuses what is
 * beyond the user's limits. hwtimer_main.c opens an account for each file.
 * hwtimer_allowance.c charges it for timers; hwtimer_instance.c,
 * hwtimer_supply.c charge it for memory. hwtimer_debug.c shows all
 * accounts.
 *
 * An account of NULL has no limits: all functions accept it, and count nothing.
 */
#ifndef HWTIMER_ACCOUNT_H
#define HWTIMER_ACCOUNT_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/**
 * enum hwtimer_resource - what an account counts
 * @HWTIMER_INSTANCES: open instances
 * @HWTIMER_TIMERS: timers that the instances may have without asking the account again;
 *	see struct hwtimer_allowance
 * @HWTIMER_BYTES: kernel memory, bytes
 * @HWTIMER_RESOURCES: number of resources
 */
enum hwtimer_resource {
	HWTIMER_INSTANCES,
	HWTIMER_TIMERS,
	HWTIMER_BYTES,
	HWTIMER_RESOURCES,
};

/**
 * struct hwtimer_account - what one user's instances have together
 * @users: number of instances, of accounts below this one, and of readers of debugfs,
 *	that use the account
 * @uid: the user
 * @cgroup: id of the cgroup whose instances this account counts, if @uid is 0; otherwise
 *	0: the user's cgroup does not matter
 * @parent: the account that is charged, too: that of the user who created the user
 *	namespace of @uid; NULL: none. This account holds a reference
 * @used: how much of each resource is charged
 * @bucket: entry in the hash table; protected by the lock in hwtimer_account.c
 * @listing: entry in the list of all accounts; protected by the same lock
 *
 * @uid, @cgroup and @parent are constant.
 */
struct hwtimer_account {
	refcount_t users;
	kuid_t uid;
	u64 cgroup;
	struct hwtimer_account *parent;
	atomic64_t used[HWTIMER_RESOURCES];
	struct hlist_node bucket;
	struct list_head listing;
};

bool hwtimer_account_start(unsigned int max_instances);
void hwtimer_account_set_limits(const u64 limits[HWTIMER_RESOURCES]);
u64 hwtimer_account_limit(enum hwtimer_resource resource);

int hwtimer_account_open(struct hwtimer_account **account);
void hwtimer_account_close(struct hwtimer_account *account);

struct hwtimer_account *hwtimer_account_get(kuid_t uid, u64 cgroup,
					    struct hwtimer_account *parent);
void hwtimer_account_put(struct hwtimer_account *account);
struct hwtimer_account *hwtimer_account_at(loff_t position);
struct hwtimer_account *hwtimer_account_after(struct hwtimer_account *account);

u64 hwtimer_account_take(struct hwtimer_account *account,
			 enum hwtimer_resource resource, u64 count);
bool hwtimer_account_charge(struct hwtimer_account *account,
			    enum hwtimer_resource resource, u64 count);
void hwtimer_account_uncharge(struct hwtimer_account *account,
			      enum hwtimer_resource resource, u64 count);
u32 hwtimer_account_step(void);

#endif /* HWTIMER_ACCOUNT_H */
