// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the memory of each instance, and of each user's instances together, which the module
 * parameter max_memory_user limits.
 *
 * The process that opens an instance is charged, for as long as the instance exists: a
 * descriptor that is passed on stays on the opener's account. Users are told apart by their
 * numbers in the initial user namespace, so containers whose root is uid 0 share an account.
 * What keeps containers apart is the memory cgroup, to which all this memory is charged, too.
 *
 * A process with CAP_SYS_RESOURCE in the initial user namespace has no limit.
 *
 * Charging takes no lock, and does not sleep: an atomic counter never exceeds the limit.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rbtree.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>

#include "alloc.h"
#include "memory/supply.h"

static unsigned int max_memory_user;
module_param(max_memory_user, uint, 0444);
MODULE_PARM_DESC(max_memory_user,
		 "Limit of memory of a user's instances, MiB; 0: an eighth");

/* Of each user, bytes; constant once the module is loaded, except in unit tests */
u64 hwtimer_account_limit;

/* Protects the tree, which is ordered by uid. Taken inside no other lock of the module. */
static DEFINE_RAW_SPINLOCK(accounts_lock);
static struct rb_root accounts_tree = RB_ROOT;

/**
 * hwtimer_account_start - set the limit by the module parameter, at module load
 *
 * Replaces the parameter by its default if it is 0, so that sysfs shows the limit. Any
 * context.
 */
void hwtimer_account_start(void)
{
	u64 memory = (u64)totalram_pages() * PAGE_SIZE / SZ_1M;

	max_memory_user = max_memory_user ?:
					    clamp_t(u64, memory / 8, 1, UINT_MAX);
	hwtimer_account_limit = (u64)max_memory_user * SZ_1M;
}

static int account_compare(struct rb_node *node, const struct rb_node *other)
{
	kuid_t a = rb_entry(node, struct hwtimer_account, node)->uid;
	kuid_t b = rb_entry(other, struct hwtimer_account, node)->uid;

	return uid_eq(a, b) ? 0 : uid_lt(a, b) ? -1 : 1;
}

/**
 * hwtimer_account_get - find an account, or create it
 * @uid: the user
 *
 * Return: the account, with a reference; NULL: no memory. May sleep; takes the lock of
 * the accounts.
 */
struct hwtimer_account *hwtimer_account_get(kuid_t uid)
{
	struct hwtimer_account *account, *fresh;
	struct rb_node *found;

	fresh = hwtimer_memory_in_open(sizeof(*fresh));
	if (!fresh)
		return NULL;
	fresh->uid = uid;
	raw_spin_lock(&accounts_lock);
	found = rb_find_add(&fresh->node, &accounts_tree, account_compare);
	account = found ? rb_entry(found, struct hwtimer_account, node) : fresh;
	account->users++;
	raw_spin_unlock(&accounts_lock);
	if (found)
		kfree(fresh);
	return account;
}

/**
 * hwtimer_account_put - release a reference of an account
 * @account: the account, or NULL
 *
 * The last reference frees the account. Does not sleep; takes the lock of the accounts.
 */
void hwtimer_account_put(struct hwtimer_account *account)
{
	bool last;

	if (!account)
		return;
	raw_spin_lock(&accounts_lock);
	last = !--account->users;
	if (last)
		rb_erase(&account->node, &accounts_tree);
	raw_spin_unlock(&accounts_lock);
	if (!last)
		return;
	WARN_ON_ONCE(atomic64_read(&account->bytes));
	kfree(account);
}

/**
 * hwtimer_account_of_caller - find the account of the current process
 * @account: out: the account, with a reference; NULL: the process has no limit
 *
 * Return: 0 or -ENOMEM. May sleep; takes the lock of the accounts.
 */
int hwtimer_account_of_caller(struct hwtimer_account **account)
{
	*account = NULL;
	if (ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE))
		return 0;
	*account = hwtimer_account_get(current_uid());
	return *account ? 0 : -ENOMEM;
}

/* A 64th of the machine's memory is left to all others, but no more than this. */
#define MEMORY_LEFT_MAX (64ULL << 20)

/*
 * Whether a program may take so much of the machine's memory.
 *
 * HWTIMER_GFP keeps the module's own allocations from calling the OOM killer. But a
 * program that schedules until they fail leaves no memory to any other program. Then a
 * page fault of another program calls the OOM killer. So timers are refused while memory
 * is still left for others. The amount available is an estimate, and others allocate
 * meanwhile; it need not be exact.
 *
 * A program that is being killed gets no more, either: its requests fail with ENOMEM, which it
 * does not live to see.
 */
static bool memory_allows(u64 bytes)
{
	u64 left = min_t(u64, (u64)totalram_pages() * PAGE_SIZE / 64,
			 MEMORY_LEFT_MAX);
	long available = si_mem_available();

	if (fatal_signal_pending(current))
		return false;
	return (u64)max(available, 0L) * PAGE_SIZE >= left + bytes;
}

/**
 * hwtimer_account_charge - charge for memory, before it is allocated
 * @account: the account of the process that opened the instance, or NULL
 * @bytes: amount of memory
 *
 * Return: whether the current process may allocate @bytes, and they were charged; if not, neither
 * the machine nor the user's limit may have room for them. Any context of a process.
 */
bool hwtimer_account_charge(struct hwtimer_account *account, u64 bytes)
{
	s64 used;

	if (!memory_allows(bytes))
		return false;
	if (!account)
		return true;
	used = atomic64_read(&account->bytes);
	do {
		if (used + bytes > hwtimer_account_limit)
			return false;
		/* Orders nothing: only the number counts. */
	} while (!atomic64_try_cmpxchg(&account->bytes, &used, used + bytes));
	return true;
}

/**
 * hwtimer_account_uncharge - undo a charge
 * @account: the account that was charged, or NULL
 * @bytes: amount of memory, at most what was charged
 *
 * Any context.
 */
void hwtimer_account_uncharge(struct hwtimer_account *account, u64 bytes)
{
	if (account && bytes)
		WARN_ON_ONCE(atomic64_sub_return(bytes, &account->bytes) < 0);
}

/* ---- what an instance takes ---- */

/* What an open file takes, with what security modules add, and a tenant, bytes */
#define HWTIMER_FILE_BYTES 1024

/**
 * hwtimer_account_base_bytes - compute what an instance takes before its first timer
 *
 * That is more than the instance itself, as many instances of one user are to be charged for
 * what they take: the slab allocator rounds up, and the file and the tenant are not small.
 *
 * Return: bytes of kernel memory. Any context.
 */
u64 hwtimer_account_base_bytes(void)
{
	return roundup_pow_of_two(sizeof(struct hwtimer_instance)) +
	       HWTIMER_FILE_BYTES;
}

static void account_update(struct hwtimer_instance *instance)
{
	u64 bytes = hwtimer_account_base_bytes() +
		    hwtimer_table_bytes(&instance->table) +
		    instance->shrink.outgrown_bytes +
		    (u64)instance->pool.chunks * HWTIMER_CHUNK_BYTES;

	lockdep_assert_held(&instance->lock);
	if (instance->start_memory)
		bytes += hwtimer_start_bytes(&instance->settings);
	if (hwtimer_instance_extended(instance))
		bytes += hwtimer_whole_bytes(&instance->settings);
	instance->stats.bytes = bytes;
	instance->stats.bytes_peak = max(instance->stats.bytes_peak, bytes);
}

/**
 * hwtimer_account_settle - charge for what the instance has, no more and no less
 * @instance: the instance; its lock is held
 * @charged: what was charged for memory that it may have got since. The caller frees what it has
 *	not got
 *
 * Follows each change of what the instance has. Updates the counters bytes and bytes_peak.
 */
void hwtimer_account_settle(struct hwtimer_instance *instance, u64 charged)
{
	u64 before = instance->stats.bytes;

	lockdep_assert_held(&instance->lock);
	account_update(instance);
	hwtimer_account_uncharge(instance->account,
				 before + charged - instance->stats.bytes);
}

/**
 * hwtimer_account_returned - undo the charge for memory that the instance does not have any more
 * @instance: the instance; its lock is held
 *
 * The caller frees the memory as soon as it has released the lock.
 */
void hwtimer_account_returned(struct hwtimer_instance *instance)
{
	hwtimer_account_settle(instance, 0);
}
