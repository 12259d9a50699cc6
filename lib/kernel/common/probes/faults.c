// SPDX-License-Identifier: GPL-2.0-only
/*
 * The example of the README: what handle_mm_fault() is asked for, what it answers, and how long
 * it takes.
 */

struct pair {
	u64 flags;
	u64 answer;
};

struct slot {
	u64 write;
	u64 bucket;
};

BPF_HASH(faults, struct pair, u64, 1024); // faults: by FAULT_FLAG_* and VM_FAULT_* bits
BPF_HISTOGRAM(ns, struct slot, 256); // faults: by ns from call to return; reads 0, writes 1
BPF_HASH(since, u64, u64);

KFUNC_PROBE(handle_mm_fault, void *vma, unsigned long address, unsigned int flags)
{
	u64 task = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();

	if (since.update(&task, &now))
		lost.atomic_increment(0);
	return 0;
}

KRETFUNC_PROBE(handle_mm_fault, void *vma, unsigned long address, unsigned int flags, void *regs,
	       unsigned int ret)
{
	u64 task = bpf_get_current_pid_tgid(), *start = since.lookup(&task);
	struct pair pair = { .flags = flags, .answer = ret };
	struct slot slot = { .write = flags & 1 };	/* FAULT_FLAG_WRITE */

	faults.atomic_increment(pair);
	if (!start)
		return 0;	/* called before the probe was there */
	slot.bucket = BUCKET(bpf_ktime_get_ns() - *start);
	ns.atomic_increment(slot);
	since.delete(&task);
	return 0;
}
