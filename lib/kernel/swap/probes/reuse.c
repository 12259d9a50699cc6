// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a swap slot waits, from the swap-out that takes it to the next one that does.
 *
 * In swap-outs: folios that folio_alloc_swap() gave slots to. In ns: of the guest's clock, which
 * under QEMU's icount is instructions executed, and under plain emulation nothing but the
 * emulator's speed. One swap area of up to 1 GiB; slots beyond count as lost.
 */
#include <uapi/linux/ptrace.h>

#define SLOTS (1 << 18)
#define MAX_PAGES 512

struct use {
	u64 nth;
	u64 ns;
};

struct wait {
	u64 order;
	u64 bucket;
};

BPF_HISTOGRAM(swapouts, struct wait, 1024); // slots: by swap-outs between two uses, per order
BPF_HISTOGRAM(ns, struct wait, 1024); // slots: by ns between two uses, per order
BPF_ARRAY(uses, struct use, SLOTS);
BPF_ARRAY(nth, u64, 1);
BPF_HASH(orders, u64, u32);

int kprobe__folio_alloc_swap(struct pt_regs *ctx)
{
	u64 task = bpf_get_current_pid_tgid();
	u32 order = 0;

	if (orders.update(&task, &order))
		lost.atomic_increment(0);
	return 0;
}

/* A large folio has no other way to its slots; a small one may come by the per-CPU cache. */
KFUNC_PROBE(get_swap_pages, int n_goal, void *entries, int order)
{
	u64 task = bpf_get_current_pid_tgid();
	u32 *known = orders.lookup(&task);

	if (known)
		*known = order;
	return 0;
}

int kretprobe__folio_alloc_swap(struct pt_regs *ctx)
{
	u64 task = bpf_get_current_pid_tgid(), entry = PT_REGS_RC(ctx);
	u32 *known = orders.lookup(&task), order, offset = entry, i;
	int zero = 0;
	u64 *count = nth.lookup(&zero);
	struct use now, *before;
	struct wait wait = {};

	if (!known || !count)
		return 0;
	order = *known;
	orders.delete(&task);
	if (!entry || order > 9)
		return 0;
	now.nth = ++*count;
	now.ns = bpf_ktime_get_ns();
	wait.order = order;
	for (i = 0; i < MAX_PAGES; i++) {
		u32 slot = offset + i;

		if (i >= 1 << order)
			break;
		before = uses.lookup(&slot);
		if (!before) {
			lost.atomic_increment(0);
			continue;
		}
		if (before->nth) {
			wait.bucket = BUCKET(now.nth - before->nth);
			swapouts.atomic_increment(wait);
			wait.bucket = BUCKET(now.ns - before->ns);
			ns.atomic_increment(wait);
		}
		*before = now;
	}
	return 0;
}
