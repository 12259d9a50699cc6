// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which zone each page comes from, how many walks and passes that takes, and what follows: wakeups
 * of kswapd, the slow path, refaults.
 *
 * It counts while the kernel's patch does (the static key fair_turned), so that the two can be held
 * against each other. The zone of a page is read off the page, its number of pages is the order's;
 * walks, wakeups and refaults are seen at functions of the unpatched kernel. Passes, entries of the
 * slow path, and pages of alloc_pages_bulk() have no function of their own there: they are counted
 * at the patch's calls.
 */

#include <linux/mm.h>

struct place {
	u64 node;
	u64 zone;
};

BPF_HASH(pages, struct place, u64, 64); // pages: allocated, by node and index of the zone
BPF_ARRAY(walks, u64, 2); // calls: of get_page_from_freelist(), in vain and with a page
BPF_ARRAY(passes, u64, 1); // passes: over the zonelist
BPF_HASH(wakeups, struct place, u64, 64); // calls: of wakeup_kswapd(), by node and zone
BPF_ARRAY(slow, u64, 1); // calls: of the slow path
BPF_ARRAY(bulk, u64, 1); // pages: that came past get_page_from_freelist()
BPF_ARRAY(refaults, u64, 1); // calls: of workingset_refault()

static __always_inline bool counts(void)
{
	int enabled = 0;

	bpf_probe_read_kernel(&enabled, 4, (void *)ADDRESS(fair_turned));
	return enabled > 0;
}

static __always_inline struct place place_of(void *zone)
{
	struct place place = {};
	u64 at = 0, pgdat = 0;
	int node = 0;

	/* A copy that is a number: the verifier knows the argument for a struct zone of its own. */
	bpf_probe_read_kernel(&at, 8, &zone);
	bpf_probe_read_kernel(&node, 4, (void *)at + OFFSET(zone, node));
	bpf_probe_read_kernel(&pgdat, 8, (void *)at + OFFSET(zone, zone_pgdat));
	place.node = node;
	place.zone = (at - pgdat) / SIZE(zone);	/* node_zones is the first of pglist_data */
	return place;
}

KRETFUNC_PROBE(get_page_from_freelist, unsigned int gfp, unsigned int order, int alloc_flags,
	       void *ac, void *page)
{
	u32 found = page != NULL;
	struct place place = {};
	u64 flags = 0, taken = 1ULL << order;

	if (!counts())
		return 0;
	walks.atomic_increment(found);
	if (!found)
		return 0;
	bpf_probe_read_kernel(&flags, 8, page);
	place.node = flags >> NODES_PGSHIFT & NODES_MASK;
	place.zone = flags >> ZONES_PGSHIFT & ZONES_MASK;
	pages.atomic_increment(place, taken);
	return 0;
}

KFUNC_PROBE(fair_pass, void *walk)
{
	if (counts())
		passes.atomic_increment(0);
	return 0;
}

KFUNC_PROBE(fair_bulk, void *zone, unsigned int nr)
{
	struct place place;

	if (!counts())
		return 0;
	place = place_of(zone);
	pages.atomic_increment(place, nr);
	bulk.atomic_increment(0, nr);
	return 0;
}

KFUNC_PROBE(wakeup_kswapd, void *zone, unsigned int gfp, int order, int highest)
{
	struct place place;

	if (!counts())
		return 0;
	place = place_of(zone);
	wakeups.atomic_increment(place);
	return 0;
}

/* Called where __alloc_pages_noprof() enters the slow path, which kprobes can't be put on. */
KFUNC_PROBE(fair_slowpath)
{
	if (counts())
		slow.atomic_increment(0);
	return 0;
}

KFUNC_PROBE(workingset_refault, void *folio, void *shadow)
{
	if (counts())
		refaults.atomic_increment(0);
	return 0;
}
