// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which lock a page fault in user mode is handled under, on a kernel without a patch.
 *
 * `locked` and `refused` count lock_vma_under_rcu(), which zerocopy receive and userfaultfd call,
 * too; the others count handle_mm_fault() by whether its caller holds the VMA's lock, and what came
 * of it. `done` is the kernel's own vma_lock_success, `retry` its vma_lock_retry, and `refused` its
 * vma_lock_abort.
 */
#define FAULT_FLAG_VMA_LOCK 0x1000
#define VM_FAULT_RETRY 0x400

BPF_ARRAY(locked, u64, 1); // calls: of lock_vma_under_rcu() that gave a VMA
BPF_ARRAY(refused, u64, 1); // calls: of it that gave none
BPF_ARRAY(done, u64, 1); // faults: handled under their VMA's lock
BPF_ARRAY(retry, u64, 1); // faults: under their VMA's lock that want mmap_lock
BPF_ARRAY(mmap, u64, 1); // faults: handled under mmap_lock

KRETFUNC_PROBE(lock_vma_under_rcu, void *mm, unsigned long address, void *vma)
{
	if (vma)
		locked.atomic_increment(0);
	else
		refused.atomic_increment(0);
	return 0;
}

KRETFUNC_PROBE(handle_mm_fault, void *vma, unsigned long address, unsigned int flags, void *regs,
	       unsigned int ret)
{
	if (!(flags & FAULT_FLAG_VMA_LOCK))
		mmap.atomic_increment(0);
	else if (ret & VM_FAULT_RETRY)
		retry.atomic_increment(0);
	else
		done.atomic_increment(0);
	return 0;
}
