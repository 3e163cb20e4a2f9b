// SPDX-License-Identifier: GPL-2.0-only
/*
 * test/vm/kernel.sh puts this into arch/um/kernel/skas/uaccess.c of User-Mode Linux, below
 * maybe_map(), and has its callers call this instead. maybe_map() alone returns the entry of a page
 * that another thread may take away before the kernel has copied: the copy then goes to the page of
 * zeros that all share, or to one that somebody else has by then. The lock of the table holds the
 * entry as it is found here, until the caller has copied and unlocks it. A process that was killed
 * as there is no memory finds no page, however often it asks.
 */
#include <linux/sched/signal.h>

static pte_t *map_locked(unsigned long virt, int is_write, spinlock_t **lock)
{
	struct mm_struct *mm = current->mm;
	pte_t *pte;

	while (maybe_map(virt, is_write)) {
		pte = pte_offset_map_lock(mm, pmd_off(mm, virt), virt, lock);
		if (pte) {
			if (pte_present(*pte) && (!is_write || pte_write(*pte)))
				return pte;
			pte_unmap_unlock(pte, *lock);
		}
		if (fatal_signal_pending(current))
			break;
	}
	return NULL;
}
