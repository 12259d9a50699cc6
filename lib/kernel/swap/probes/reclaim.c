// SPDX-License-Identifier: GPL-2.0-only
/*
 * What writing a folio to swap costs: splits, invalidated page table entries and flushes, made
 * by the task that reclaims, from one folio it writes to the next (shrink_folio_list()).
 *
 * An entry is invalidated at once (ptep_clear_flush()) or left to a later flush
 * (set_tlb_ubc_flush_pending()). A flush is a call of flush_tlb_mm_range() or
 * arch_tlbbatch_flush(), however many CPUs it then reaches.
 *
 * A partly mapped folio may also be split between two passes, by the shrinker of the deferred split
 * queue. Those splits are counted here too; their invalidations and flushes are not.
 */

struct cost {
	u64 invalidations;
	u64 flushes;
};

BPF_ARRAY(written, u64, 1); // folios: that reclaim wrote
BPF_ARRAY(splits, u64, 2); // folios: split 0 by shrink_folio_list(), 1 by the shrinker
BPF_ARRAY(invalidations, u64, 2); // entries: 0 flushed at once, 1 later
BPF_ARRAY(flushes, u64, 2); // flushes: 0 of a range, 1 of a batch
BPF_HISTOGRAM(invalidations_a_folio, u64); // folios: by entries invalidated since the one before
BPF_HISTOGRAM(flushes_a_folio, u64); // folios: by flushes since the one before
BPF_HASH(costs, u64, struct cost);

static struct cost *mine(void)
{
	u64 task = bpf_get_current_pid_tgid();

	return costs.lookup(&task);
}

int kprobe__shrink_folio_list(struct pt_regs *ctx)
{
	u64 task = bpf_get_current_pid_tgid();
	struct cost cost = {};

	if (costs.update(&task, &cost))
		lost.atomic_increment(0);
	return 0;
}

int kretprobe__shrink_folio_list(struct pt_regs *ctx)
{
	u64 task = bpf_get_current_pid_tgid();

	costs.delete(&task);
	return 0;
}

KRETFUNC_PROBE(split_huge_page_to_list_to_order, void *page, void *list, unsigned int order,
	       int ret)
{
	if (!ret && mine())
		splits.atomic_increment(0);
	return 0;
}

KRETFUNC_PROBE(deferred_split_scan, void *shrink, void *control, unsigned long split)
{
	if (split != ~0UL) // SHRINK_STOP
		splits.atomic_increment(1, split);
	return 0;
}

int kprobe__ptep_clear_flush(struct pt_regs *ctx)
{
	struct cost *cost = mine();

	if (!cost)
		return 0;
	cost->invalidations++;
	invalidations.atomic_increment(0);
	return 0;
}

int kprobe__set_tlb_ubc_flush_pending(struct pt_regs *ctx)
{
	struct cost *cost = mine();

	if (!cost)
		return 0;
	cost->invalidations++;
	invalidations.atomic_increment(1);
	return 0;
}

KFUNC_PROBE(flush_tlb_mm_range)
{
	struct cost *cost = mine();

	if (!cost)
		return 0;
	cost->flushes++;
	flushes.atomic_increment(0);
	return 0;
}

KFUNC_PROBE(arch_tlbbatch_flush)
{
	struct cost *cost = mine();

	if (!cost)
		return 0;
	cost->flushes++;
	flushes.atomic_increment(1);
	return 0;
}

TRACEPOINT_PROBE(vmscan, mm_vmscan_write_folio)
{
	struct cost *cost = mine();

	written.atomic_increment(0);
	if (!cost)
		return 0;
	invalidations_a_folio.atomic_increment(BUCKET(cost->invalidations));
	flushes_a_folio.atomic_increment(BUCKET(cost->flushes));
	cost->invalidations = 0;
	cost->flushes = 0;
	return 0;
}
