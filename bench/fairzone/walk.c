// SPDX-License-Identifier: GPL-2.0-only
/*
 * lorelab.fairzone.model.page_alloc in C, function by function: every variant by
 * its traits, the same records, the same counters. For pages that are not
 * written to.
 */
#include <stdbool.h>
#include <stdint.h>

#define NONE 0xff

/* lorelab.fairzone.model.zones: ZONE, INFO, COUNTS; lorelab.fairzone.params. */
struct zone {
	int64_t managed, free, min, low, high, batch, nr_alloc_batch, threshold, depleted, node,
		takes_part, dirty_reserve, dirty, allocated, reclaimed, pcp_batch, pcp_count,
		pcp_heads, pcp_nodes, pcp_alloc_factor, pcp_free_count, free_diff, free_threshold;
};

struct info {
	int64_t fair, reset, depleted, remote, breaks, only_several, quarter, small_out,
		only_depleted, reuse, goes_on, rescans_anyway, node_lru, decides_first, up, nodes,
		classzone, pages, list, dirty_ratio;
};

struct count {
	uint64_t passes, tests, skips_batch, skips_watermark, skips_dirty, skips_remote,
		failed_fair_passes, failed_by_batch, failed_by_watermark, failed_by_both, resets,
		rescans, slowpaths, wakeups, pageoutrun, low_wmark_hit_quickly,
		high_wmark_hit_quickly, direct_reclaims, spills, rotated, activated,
		refaults_activated;
};

enum { NO, ONLY_PASS, FIRST_PASS };
enum { SLOWPATH, ALWAYS, NO_BATCH_LEFT, NO_LOCAL, NO_REACHABLE, WATERMARK_OR_ALL, SKIPPED };
enum { COUNTER, FLAG, FLAG_BELOW };

struct node {
	struct zone *zone;
	const int64_t *lowmem_reserve;
	const uint64_t *zonelist;
	int64_t *percpu;
	const struct info *info;
	struct count *count;
	uint64_t zones, cpus;
};

struct found {
	uint64_t zone, skipped, low, reuse;
	bool left;
};

static inline bool batch_is_used(struct node *node, uint64_t z)
{
	int64_t seen = node->zone[z].nr_alloc_batch;

	return seen < 0 ? !node->info->up : seen == 0;
}

static void mod_zone_page_state(struct node *node, uint64_t z, uint64_t cpu, int64_t delta)
{
	struct zone *zone = &node->zone[z];
	int64_t *diff = &node->percpu[z * node->cpus + cpu], x = *diff + delta;

	if (x > zone->threshold || x < -zone->threshold) {
		zone->nr_alloc_batch += x;
		x = 0;
	}
	*diff = x;
}

static void buffered_rmqueue(struct node *node, uint64_t z, uint64_t cpu)
{
	struct zone *zone = &node->zone[z];
	int64_t rule = node->info->depleted, pages = node->info->pages;

	zone->free -= pages;
	zone->allocated += pages;
	if (zone->node)
		node->count->spills++;
	if (!zone->takes_part)
		return;
	mod_zone_page_state(node, z, cpu, -pages);
	if ((rule == FLAG && batch_is_used(node, z)) ||
	    (rule == FLAG_BELOW && zone->nr_alloc_batch <= 0))
		zone->depleted = 1;
}

static void reset_alloc_batches(struct node *node, uint64_t cpu)
{
	const struct info *info = node->info;
	uint64_t z;

	node->count->resets++;
	for (z = 0; z < node->zones; z++) {
		struct zone *zone = &node->zone[z];

		if ((zone->node && !info->remote) || (info->only_depleted && !zone->depleted))
			continue;
		mod_zone_page_state(node, z, cpu, zone->batch - zone->nr_alloc_batch);
		zone->depleted = 0;
	}
}

static inline __attribute__((always_inline)) struct found
scan(struct node *node, uint64_t cpu, bool fair, bool mark_low)
{
	const struct info *info = node->info;
	struct found found = { .zone = NONE, .reuse = NONE };
	struct count *count = node->count;
	uint64_t at;

	count->passes++;
	for (at = 0; at < node->zones; at++) {
		uint64_t z = node->zonelist[at];
		struct zone *zone = &node->zone[z];
		int64_t mark = (mark_low ? zone->low : zone->min) +
			       node->lowmem_reserve[z * node->zones + info->classzone];
		bool used = false, remote;

		count->tests++;
		if (fair) {
			remote = zone->node && !info->remote;
			if (remote && info->reset != NO_BATCH_LEFT && !info->goes_on) {
				count->skips_remote++;
				if (info->breaks)
					break;
				continue;
			}
			if (!zone->takes_part)
				break;
			used = info->depleted == COUNTER ? batch_is_used(node, z) : zone->depleted;
			if (used && (!info->reuse || found.reuse != NONE)) {
				count->skips_batch++;
				found.skipped++;
				continue;
			}
			if (!used && (info->reset != NO_REACHABLE || zone->managed > mark))
				found.left = true;
			if (remote && info->goes_on) {
				if (found.skipped)
					break;
				fair = false;
			} else if (remote) {
				count->skips_remote++;
				continue;
			}
		}
		if (zone->free <= mark) {
			count->skips_watermark++;
			found.low++;
			continue;
		}
		if (used) {
			count->skips_batch++;
			found.skipped++;
			found.reuse = z;
			continue;
		}
		buffered_rmqueue(node, z, cpu);
		found.zone = z;
		return found;
	}
	return found;
}

static bool resets(const struct node *node, const struct found *found)
{
	switch (node->info->reset) {
	case SLOWPATH:
		return false;
	case ALWAYS:
		return true;
	case SKIPPED:
		return found->skipped;
	case WATERMARK_OR_ALL:
		return found->low || !found->left;
	}
	return !found->left;
}

static inline uint64_t get_page_from_freelist(struct node *node, uint64_t cpu, bool fair, bool mark_low)
{
	const struct info *info = node->info;
	struct found found = scan(node, cpu, fair, mark_low);
	bool reset;

	if (found.zone != NONE || !fair)
		return found.zone;
	node->count->failed_fair_passes++;
	if (found.skipped && found.low)
		node->count->failed_by_both++;
	else if (found.skipped)
		node->count->failed_by_batch++;
	else if (found.low)
		node->count->failed_by_watermark++;
	reset = resets(node, &found);
	if (reset)
		reset_alloc_batches(node, cpu);
	if (info->fair != FIRST_PASS)
		return NONE;
	if (found.reuse != NONE) {
		buffered_rmqueue(node, found.reuse, cpu);
		return found.reuse;
	}
	if (!(info->rescans_anyway || (info->nodes > 1 && !info->goes_on) ||
	      (reset && !info->reuse)))
		return NONE;
	node->count->rescans++;
	return scan(node, cpu, false, mark_low).zone;
}

/* Allocations by CPUs in turn; a slow path fills each zone to its high mark. */
void walk(struct node *node, uint64_t allocations, uint8_t *taken)
{
	const struct info *info = node->info;
	uint64_t n, z, each;

	for (n = 0; n < allocations; n++) {
		z = get_page_from_freelist(node, n % node->cpus, info->fair != NO, true);
		if (z == NONE) {
			node->count->slowpaths++;
			if (info->reset == SLOWPATH && info->fair != NO)
				reset_alloc_batches(node, n % node->cpus);
			z = get_page_from_freelist(node, n % node->cpus, false, false);
			for (each = 0; each < node->zones; each++) {
				struct zone *zone = &node->zone[each];
				int64_t reserve =
					node->lowmem_reserve[each * node->zones + info->classzone];

				zone->free = zone->high + reserve;
				if (zone->free > zone->managed)
					zone->free = zone->managed;
			}
		}
		taken[n] = z;
	}
}
