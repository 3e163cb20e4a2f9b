/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An account counts the memory that the instances of one user have together, and refuses
 * what is beyond the user's limit, the module parameter max_memory_user. hwtimer_main.c
 * finds the account for each file. instance/instance.c and memory/supply.c charge it.
 *
 * An account of NULL has no limit: all functions accept it, and count nothing.
 */
#ifndef HWTIMER_ACCOUNT_H
#define HWTIMER_ACCOUNT_H

#include <linux/atomic.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/**
 * struct hwtimer_account - what one user's instances have together
 * @users: number of references; protected by the lock in memory/account.c
 * @uid: the user; constant
 * @bytes: kernel memory that is charged, bytes
 * @node: entry in the tree of accounts; protected by the lock in memory/account.c
 */
struct hwtimer_account {
	unsigned int users;
	kuid_t uid;
	atomic64_t bytes;
	struct rb_node node;
};

void hwtimer_account_start(void);
u64 hwtimer_account_limit(void);
void hwtimer_account_set_limit(u64 bytes);

int hwtimer_account_of_caller(struct hwtimer_account **account);
struct hwtimer_account *hwtimer_account_get(kuid_t uid);
void hwtimer_account_put(struct hwtimer_account *account);

bool hwtimer_account_charge(struct hwtimer_account *account, u64 bytes);
void hwtimer_account_uncharge(struct hwtimer_account *account, u64 bytes);

#endif /* HWTIMER_ACCOUNT_H */
