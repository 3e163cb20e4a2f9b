// SPDX-License-Identifier: GPL-2.0
/*
 * Counts what each user's instances have together, and has the module parameters
 * max_instances_user, max_timers_user and max_memory_user, which limit that; see
 * hwtimer_account.h.
 *
 * The process that opens an instance is charged, for as long as the instance exists: a
 * descriptor that is passed on stays on the opener's account. In a user namespace, the
 * user who created the namespace is charged, too, and so on up to the initial namespace.
 * So a user whose namespace has 65,536 users has no more than others. The kernel's own
 * limits per user, its ucounts, work the same way.
 *
 * A process with CAP_SYS_RESOURCE in the initial user namespace has no limits, and nor
 * has uid 0 as the creator of a namespace: it could have the capability. But a process of
 * uid 0 without the capability is usually the root of a container. It is counted together
 * with the other such processes of its cgroup only, so that one container's root does not
 * use up what is another's.
 *
 * Charging takes no lock, and does not sleep: each level of a chain of accounts is an
 * atomic counter, which never exceeds its limit. While a charge goes up the chain, the
 * lower levels hold for a moment what a higher one may then refuse.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#include "compat.h"
#include "hwtimer_account.h"
#include "hwtimer_hurry.h"
#include "hwtimer_settings.h"

/* The accounts of a process: its own, and one for each user namespace; 33 can nest. */
#define HWTIMER_ACCOUNTS_NESTED 34

/* Highest number of timers by which an instance asks for more at once */
#define HWTIMER_STEP_MAX 1024

/* The part of a user's limit of timers that its instances' steps have together: 1/16 */
#define HWTIMER_STEPS_PART 16

static unsigned int max_instances_user;
module_param(max_instances_user, uint, 0444);
MODULE_PARM_DESC(max_instances_user,
		 "Maximum number of a user's instances; 0: max_instances / 8");

static unsigned int max_timers_user = 1U << 24;
module_param(max_timers_user, uint, 0444);
MODULE_PARM_DESC(max_timers_user,
		 "Limit of timers and unread events of a user's instances");

static unsigned int max_memory_user;
module_param(max_memory_user, uint, 0444);
MODULE_PARM_DESC(max_memory_user,
		 "Limit of memory of a user's instances, MiB; 0: a quarter");

/* Constant once the module is loaded, except in unit tests */
static u64 account_limits[HWTIMER_RESOURCES];
static u32 account_step;

/* Protects the table and the list. Taken inside no other lock of the module. */
static DEFINE_RAW_SPINLOCK(accounts_lock);
static DEFINE_HASHTABLE(accounts_table, 8);
static LIST_HEAD(accounts_list);

/**
 * hwtimer_account_set_limits - set the limits of all users
 * @limits: the limits
 *
 * Called at module load, and by unit tests when no instance has an account.
 */
void hwtimer_account_set_limits(const u64 limits[HWTIMER_RESOURCES])
{
	u64 steps = limits[HWTIMER_INSTANCES] * HWTIMER_STEPS_PART;

	memcpy(account_limits, limits, sizeof(account_limits));
	account_step =
		min_t(u64, limits[HWTIMER_TIMERS] / steps, HWTIMER_STEP_MAX);
}

/**
 * hwtimer_account_limit - get a limit that each user has
 * @resource: the resource
 *
 * Return: the limit. Any context.
 */
u64 hwtimer_account_limit(enum hwtimer_resource resource)
{
	return account_limits[resource];
}

/* Replaces each parameter that is 0 by its default, so that sysfs shows the limit. */
static void parameters_default(unsigned int max_instances)
{
	u64 memory = (u64)totalram_pages() * PAGE_SIZE / SZ_1M;

	max_instances_user = max_instances_user ?: max(max_instances / 8, 1U);
	max_memory_user = max_memory_user ?:
					    clamp_t(u64, memory / 4, 1, UINT_MAX);
}

/**
 * hwtimer_account_start - check this file's module parameters, and set the limits
 * @max_instances: the parameter max_instances, which is valid
 *
 * Return: whether all are in range; the log names the first that is not. Any context.
 */
bool hwtimer_account_start(unsigned int max_instances)
{
	u64 limits[HWTIMER_RESOURCES];

	if (!hwtimer_settings_in_range("max_instances_user", max_instances_user,
				       0, INT_MAX) ||
	    !hwtimer_settings_in_range("max_timers_user", max_timers_user, 1,
				       UINT_MAX))
		return false;
	parameters_default(max_instances);
	limits[HWTIMER_INSTANCES] = max_instances_user;
	limits[HWTIMER_TIMERS] = max_timers_user;
	limits[HWTIMER_BYTES] = (u64)max_memory_user * SZ_1M;
	hwtimer_account_set_limits(limits);
	return true;
}

static u64 account_hash(kuid_t uid, u64 cgroup,
			const struct hwtimer_account *parent)
{
	return __kuid_val(uid) ^ cgroup << 32 ^ (unsigned long)parent;
}

/* Returns the account, with a reference; NULL: there is none. */
static struct hwtimer_account *account_find(kuid_t uid, u64 cgroup,
					    struct hwtimer_account *parent)
{
	struct hwtimer_account *account;

	lockdep_assert_held(&accounts_lock);
	hash_for_each_possible(accounts_table, account, bucket,
			       account_hash(uid, cgroup, parent)) {
		if (!uid_eq(account->uid, uid) || account->cgroup != cgroup ||
		    account->parent != parent)
			continue;
		refcount_inc(&account->users);
		return account;
	}
	return NULL;
}

/* Returns a new account, with a reference, that is not entered yet; NULL: no memory. */
static struct hwtimer_account *account_create(kuid_t uid, u64 cgroup,
					      struct hwtimer_account *parent)
{
	struct hwtimer_account *account =
		hwtimer_hurry_zalloc(sizeof(*account));

	if (!account)
		return NULL;
	refcount_set(&account->users, 1);
	account->uid = uid;
	account->cgroup = cgroup;
	account->parent = parent;
	return account;
}

/*
 * Enters a new account, unless another thread has just entered one like it. Returns the
 * one that is entered, with a reference.
 */
static struct hwtimer_account *account_enter(struct hwtimer_account *account)
{
	struct hwtimer_account *other;

	raw_spin_lock(&accounts_lock);
	other = account_find(account->uid, account->cgroup, account->parent);
	if (!other) {
		hash_add(accounts_table, &account->bucket,
			 account_hash(account->uid, account->cgroup,
				      account->parent));
		list_add_tail(&account->listing, &accounts_list);
		if (account->parent)
			refcount_inc(&account->parent->users);
	}
	raw_spin_unlock(&accounts_lock);
	if (!other)
		return account;
	kfree(account);
	return other;
}

/**
 * hwtimer_account_get - find an account, or create it
 * @uid: the user
 * @cgroup: id of the cgroup, or 0
 * @parent: the account above, or NULL; the caller has a reference, and keeps it
 *
 * Return: the account, with a reference; NULL: no memory. May sleep; takes the lock of
 * the accounts.
 */
struct hwtimer_account *hwtimer_account_get(kuid_t uid, u64 cgroup,
					    struct hwtimer_account *parent)
{
	struct hwtimer_account *account;

	raw_spin_lock(&accounts_lock);
	account = account_find(uid, cgroup, parent);
	raw_spin_unlock(&accounts_lock);
	if (account)
		return account;
	account = account_create(uid, cgroup, parent);
	return account ? account_enter(account) : NULL;
}

/* Drops a reference. Returns whether it was the last; then nobody finds the account. */
static bool account_drop(struct hwtimer_account *account)
{
	bool last;

	raw_spin_lock(&accounts_lock);
	last = refcount_dec_and_test(&account->users);
	if (last) {
		hash_del(&account->bucket);
		list_del(&account->listing);
	}
	raw_spin_unlock(&accounts_lock);
	return last;
}

/* Frees an account that nobody uses; warns if something is still charged to it. */
static void account_free(struct hwtimer_account *account)
{
	unsigned int i;

	for (i = 0; i < HWTIMER_RESOURCES; i++)
		WARN_ON_ONCE(atomic64_read(&account->used[i]));
	kfree(account);
}

/**
 * hwtimer_account_put - release a reference of an account
 * @account: the account, or NULL
 *
 * The last reference frees the account, and releases that of its parent. Does not sleep;
 * takes the lock of the accounts.
 */
void hwtimer_account_put(struct hwtimer_account *account)
{
	while (account && account_drop(account)) {
		struct hwtimer_account *parent = account->parent;

		account_free(account);
		account = parent;
	}
}

/* Returns the account in @entry of the list, with a reference; NULL: the list's end. */
static struct hwtimer_account *listed_account(struct list_head *entry)
{
	struct hwtimer_account *account;

	lockdep_assert_held(&accounts_lock);
	if (!entry || entry == &accounts_list)
		return NULL;
	account = list_entry(entry, struct hwtimer_account, listing);
	refcount_inc(&account->users);
	return account;
}

/**
 * hwtimer_account_at - find an account by its place in the list of all accounts
 * @position: number of accounts before it
 *
 * Return: the account, with a reference; NULL: the list is shorter. Does not sleep; takes
 * the lock of the accounts.
 */
struct hwtimer_account *hwtimer_account_at(loff_t position)
{
	struct hwtimer_account *account;

	raw_spin_lock(&accounts_lock);
	account = listed_account(seq_list_start(&accounts_list, position));
	raw_spin_unlock(&accounts_lock);
	return account;
}

/**
 * hwtimer_account_after - find the next account in the list of all accounts
 * @account: an account; the caller's reference passes to this function
 *
 * Return: the account after it, with a reference; NULL: it was the last. Does not sleep;
 * takes the lock of the accounts.
 */
struct hwtimer_account *hwtimer_account_after(struct hwtimer_account *account)
{
	struct hwtimer_account *next;

	raw_spin_lock(&accounts_lock);
	next = listed_account(account->listing.next);
	raw_spin_unlock(&accounts_lock);
	hwtimer_account_put(account);
	return next;
}

/*
 * Stores the users who are charged for what the caller opens, the caller first; returns
 * their number, which is not 0. A user who created the namespace that it is in counts once. If root
 * created a namespace, as Docker does with userns-remap, this is a container like one
 * without a namespace: root is charged alone, and so the container's cgroup. The root of
 * the container can become any of its many users, and containers may share them.
 */
static unsigned int users_of_caller(kuid_t uids[HWTIMER_ACCOUNTS_NESTED])
{
	const struct user_namespace *ns = current_user_ns();
	unsigned int count = 1;

	uids[0] = current_uid();
	for (; ns->parent; ns = ns->parent) {
		if (uid_eq(ns->owner, GLOBAL_ROOT_UID)) {
			uids[0] = GLOBAL_ROOT_UID;
			return 1;
		}
		if (WARN_ON_ONCE(count == HWTIMER_ACCOUNTS_NESTED))
			break;
		if (!uid_eq(ns->owner, uids[count - 1]))
			uids[count++] = ns->owner;
	}
	return count;
}

/* Returns the account of the caller, with a reference; NULL: no memory. */
static struct hwtimer_account *account_of_caller(void)
{
	kuid_t uids[HWTIMER_ACCOUNTS_NESTED];
	unsigned int left = users_of_caller(uids);
	struct hwtimer_account *account = NULL;

	do {
		struct hwtimer_account *parent = account;
		kuid_t uid = uids[--left];
		u64 cgroup = uid_eq(uid, GLOBAL_ROOT_UID) ?
				     hwtimer_cgroup_of_caller() :
				     0;

		account = hwtimer_account_get(uid, cgroup, parent);
		hwtimer_account_put(parent);
	} while (account && left);
	return account;
}

/**
 * hwtimer_account_open - charge the caller for an instance
 * @account: out: the account on which the instance is, with a reference; NULL: the caller
 *	has no limits
 *
 * Return: 0; -EMFILE: the caller, or a user above it, has max_instances_user instances;
 * -ENOMEM. May sleep; takes the lock of the accounts.
 */
int hwtimer_account_open(struct hwtimer_account **account)
{
	*account = NULL;
	if (ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE))
		return 0;
	*account = account_of_caller();
	if (!*account)
		return -ENOMEM;
	if (hwtimer_account_charge(*account, HWTIMER_INSTANCES, 1))
		return 0;
	hwtimer_account_put(*account);
	return -EMFILE;
}

/**
 * hwtimer_account_close - undo the charge for an instance
 * @account: the account that hwtimer_account_open() stored
 *
 * The caller keeps its reference: the instance's timers and memory may be charged until a
 * work item has freed them. The user can open another instance meanwhile. Any context.
 */
void hwtimer_account_close(struct hwtimer_account *account)
{
	hwtimer_account_uncharge(account, HWTIMER_INSTANCES, 1);
}

/*
 * Charges one level of a chain for @most, or for what the limit leaves, if that is at
 * least @least. Returns for how much; 0: for nothing.
 */
static u64 level_take(struct hwtimer_account *account,
		      enum hwtimer_resource resource, u64 least, u64 most)
{
	u64 limit = account_limits[resource];
	s64 used = atomic64_read(&account->used[resource]);
	u64 taken;

	do {
		taken = min(most, limit - min_t(u64, used, limit));
		if (!taken || taken < least)
			return 0;
		/* Orders nothing: only the number counts. */
	} while (!atomic64_try_cmpxchg(&account->used[resource], &used,
				       used + taken));
	return taken;
}

/* Undoes level_take() of @count at each level from @account to below @end. */
static void levels_give(struct hwtimer_account *account,
			const struct hwtimer_account *end,
			enum hwtimer_resource resource, u64 count)
{
	if (!count)
		return;
	for (; account != end; account = account->parent)
		WARN_ON_ONCE(atomic64_sub_return(count,
						 &account->used[resource]) < 0);
}

/* As level_take(), for a whole chain. NULL has no limits. */
static u64 chain_take(struct hwtimer_account *account,
		      enum hwtimer_resource resource, u64 least, u64 most)
{
	struct hwtimer_account *level;
	u64 count = most;

	for (level = account; level && count; level = level->parent) {
		u64 taken = level_take(level, resource, least, count);

		levels_give(account, level, resource, count - taken);
		count = taken;
	}
	return count;
}

/**
 * hwtimer_account_take - charge for as much as the limits allow
 * @account: the account; each account above it is charged, too
 * @resource: the resource
 * @count: how much is wanted
 *
 * Return: for how much was charged, up to @count; @count if @account is NULL. Any
 * context.
 */
u64 hwtimer_account_take(struct hwtimer_account *account,
			 enum hwtimer_resource resource, u64 count)
{
	return chain_take(account, resource, 1, count);
}

/**
 * hwtimer_account_charge - charge for all or nothing
 * @account: the account; each account above it is charged, too
 * @resource: the resource
 * @count: how much is wanted
 *
 * Return: whether @count was charged, or @account is NULL. Otherwise nothing was. Any
 * context.
 */
bool hwtimer_account_charge(struct hwtimer_account *account,
			    enum hwtimer_resource resource, u64 count)
{
	return chain_take(account, resource, count, count) == count;
}

/**
 * hwtimer_account_uncharge - undo a charge
 * @account: the account that was charged, or NULL
 * @resource: the resource
 * @count: how much to undo, at most what was charged
 *
 * Any context.
 */
void hwtimer_account_uncharge(struct hwtimer_account *account,
			      enum hwtimer_resource resource, u64 count)
{
	levels_give(account, NULL, resource, count);
}

/**
 * hwtimer_account_step - by how many timers an instance asks for more at once
 *
 * An instance may have up to two steps more than it needs. So that the instances of a
 * user together keep at most an eighth of the user's limit that way, the step is smaller
 * the more instances a user may have; with a small limit, it is 0.
 *
 * Return: the number of timers, 0 to 1,024. Any context.
 */
u32 hwtimer_account_step(void)
{
	return account_step;
}
