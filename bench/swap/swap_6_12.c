// SPDX-License-Identifier: GPL-2.0-only
/*
 * The swap slot allocator of Linux 6.12.117 on flat arrays: what compiled C needs for the events
 * that the numba model and the plain Python one are timed on. Function by function after
 * mm/swapfile.c and mm/swap_slots.c, one device, no locks, no swap cache, no discard.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PMD_ORDER = 9, NR_ORDERS = PMD_ORDER + 1, CLUSTER = 1 << PMD_ORDER };
enum { SWAP_BATCH = 64, ACTIVATE = 5 * SWAP_BATCH, DEACTIVATE = 2 * SWAP_BATCH };
enum { HAS_CACHE = 0x40, MAP_BAD = 0x3f, NEXT_INVALID = 0, CLUSTER_COLS = 32 };
enum { FREE = 1, NONFULL = 2, FRAG = 4, FULL = 8 };

/* List heads are clusters past the last one: one free, one full, then nonfull and frag by order. */
enum { LIST_FREE, LIST_FULL, LIST_NONFULL, LIST_FRAG = LIST_NONFULL + NR_ORDERS,
       NR_LISTS = LIST_FRAG + NR_ORDERS };

struct cluster {
	uint32_t prev, next;
	uint16_t count;
	uint8_t flags, order;
};

struct cpu {
	uint32_t next[NR_ORDERS];
	uint32_t slots[SWAP_BATCH], cur, nr;
	uint32_t slots_ret[SWAP_BATCH], n_ret;
};

struct swap {
	uint8_t *map;
	struct cluster *cluster;
	struct cpu *cpu;
	uint32_t max, pages, clusters, cpus;
	uint32_t inuse_pages, frag_nr[NR_ORDERS];
	int64_t nr_swap_pages;
	bool slot_cache, free_cache, active;
};

static bool list_empty(const struct swap *si, unsigned int list)
{
	uint32_t head = si->clusters + list;

	return si->cluster[head].next == head;
}

static uint32_t list_first(const struct swap *si, unsigned int list)
{
	return si->cluster[si->clusters + list].next;
}

static void list_del(struct swap *si, uint32_t ci)
{
	struct cluster *c = si->cluster;

	c[c[ci].prev].next = c[ci].next;
	c[c[ci].next].prev = c[ci].prev;
}

static void list_add_tail(struct swap *si, uint32_t ci, unsigned int list)
{
	struct cluster *c = si->cluster;
	uint32_t head = si->clusters + list, last = c[head].prev;

	c[ci].prev = last;
	c[ci].next = head;
	c[last].next = ci;
	c[head].prev = ci;
}

static void list_move_tail(struct swap *si, uint32_t ci, unsigned int list)
{
	list_del(si, ci);
	list_add_tail(si, ci, list);
}

static void setup_clusters(struct swap *si)
{
	struct cluster *c = si->cluster;

	c[0].count = 1;
	c[si->clusters - 1].count += si->clusters * CLUSTER - si->max;
	for (uint32_t list = 0; list < NR_LISTS; list++)
		c[si->clusters + list].prev = c[si->clusters + list].next = si->clusters + list;
	for (uint32_t col = 0; col < CLUSTER_COLS; col++) {
		for (uint32_t ci = col; ci < si->clusters; ci += CLUSTER_COLS) {
			c[ci].flags = c[ci].count ? NONFULL : FREE;
			list_add_tail(si, ci, c[ci].count ? LIST_NONFULL : LIST_FREE);
		}
	}
}

struct swap *swapon(uint32_t pages, uint32_t cpus, bool slot_cache, bool free_cache)
{
	struct swap *si = calloc(1, sizeof(*si));

	si->max = pages;
	si->pages = si->nr_swap_pages = pages - 1;
	si->clusters = (pages + CLUSTER - 1) / CLUSTER;
	si->cpus = cpus;
	si->slot_cache = slot_cache;
	si->free_cache = free_cache;
	si->map = calloc(pages, 1);
	si->map[0] = MAP_BAD;
	si->cluster = calloc(si->clusters + NR_LISTS, sizeof(*si->cluster));
	si->cpu = calloc(cpus, sizeof(*si->cpu));
	setup_clusters(si);
	return si;
}

void swapoff(struct swap *si)
{
	free(si->cpu);
	free(si->cluster);
	free(si->map);
	free(si);
}

static bool vm_swap_full(const struct swap *si)
{
	return si->nr_swap_pages * 2 < si->pages;
}

/* A slot that only has HAS_CACHE has no folio here: the kernel tries to reclaim it, and fails. */
static bool cluster_scan_range(const struct swap *si, uint32_t start, uint32_t nr)
{
	bool need_reclaim = false;

	for (uint32_t offset = start; offset < start + nr; offset++) {
		if (!si->map[offset])
			continue;
		if (si->map[offset] != HAS_CACHE || !vm_swap_full(si))
			return false;
		need_reclaim = true;
	}
	return !need_reclaim;
}

static void cluster_alloc_range(struct swap *si, uint32_t ci, uint32_t start, unsigned int order)
{
	struct cluster *c = &si->cluster[ci];
	uint32_t nr = 1u << order;

	if (c->flags & FREE) {
		if (nr < CLUSTER) {
			list_move_tail(si, ci, LIST_NONFULL + order);
			c->flags = NONFULL;
		}
		c->order = order;
	}
	memset(si->map + start, HAS_CACHE, nr);
	si->inuse_pages += nr;
	c->count += nr;
	if (c->count == CLUSTER) {
		if (c->flags & FRAG)
			si->frag_nr[c->order]--;
		list_move_tail(si, ci, LIST_FULL);
		c->flags = FULL;
	}
}

static uint32_t alloc_swap_scan_cluster(struct swap *si, uint32_t offset, uint32_t *found,
					unsigned int order)
{
	uint32_t ci = offset / CLUSTER, nr = 1u << order;
	uint32_t end = (ci + 1) * CLUSTER < si->max ? (ci + 1) * CLUSTER : si->max;

	if (end < nr || si->cluster[ci].count + nr > CLUSTER)
		return NEXT_INVALID;
	for (end -= nr; offset <= end; offset += nr) {
		if (cluster_scan_range(si, offset, nr)) {
			cluster_alloc_range(si, ci, offset, order);
			*found = offset;
			offset += nr;
			if (si->cluster[ci].count == CLUSTER)
				return NEXT_INVALID;
			break;
		}
	}
	return offset <= end ? offset : NEXT_INVALID;
}

static uint32_t steal(struct swap *si, uint32_t *next)
{
	uint32_t found = 0;

	for (unsigned int order = 1; order < NR_ORDERS && !found; order++) {
		if (!list_empty(si, LIST_FRAG + order))
			*next = alloc_swap_scan_cluster(
				si, list_first(si, LIST_FRAG + order) * CLUSTER, &found, 0);
		else if (!list_empty(si, LIST_NONFULL + order))
			*next = alloc_swap_scan_cluster(
				si, list_first(si, LIST_NONFULL + order) * CLUSTER, &found, 0);
	}
	return found;
}

static uint32_t cluster_alloc_swap_entry(struct swap *si, struct cpu *cpu, unsigned int order)
{
	uint32_t *next = &cpu->next[order], ci, found = 0, frags = 0;

	if (*next) {
		*next = alloc_swap_scan_cluster(si, *next, &found, order);
		if (found)
			return found;
	}
	if (!list_empty(si, LIST_FREE)) {
		*next = alloc_swap_scan_cluster(si, list_first(si, LIST_FREE) * CLUSTER, &found,
						order);
		return found;
	}
	if (vm_swap_full(si) && !list_empty(si, LIST_FULL))
		list_move_tail(si, list_first(si, LIST_FULL), LIST_FULL);

	*next = NEXT_INVALID;
	if (order < PMD_ORDER) {
		while (!found && !list_empty(si, LIST_NONFULL + order)) {
			ci = list_first(si, LIST_NONFULL + order);
			list_move_tail(si, ci, LIST_FRAG + order);
			si->cluster[ci].flags = FRAG;
			si->frag_nr[order]++;
			*next = alloc_swap_scan_cluster(si, ci * CLUSTER, &found, order);
			frags++;
		}
		while (!found && frags < si->frag_nr[order]) {
			ci = list_first(si, LIST_FRAG + order);
			list_move_tail(si, ci, LIST_FRAG + order);
			*next = alloc_swap_scan_cluster(si, ci * CLUSTER, &found, order);
			frags++;
		}
	}
	if (!found && !order)
		found = steal(si, next);
	return found;
}

static uint32_t get_swap_pages(struct swap *si, struct cpu *cpu, int64_t n_goal, uint32_t *entries,
			       unsigned int order)
{
	int64_t avail = si->nr_swap_pages >> order;
	uint32_t n_ret = 0;

	if (avail <= 0)
		return 0;
	if (n_goal > avail)
		n_goal = avail;
	si->nr_swap_pages -= n_goal << order;
	while (si->inuse_pages < si->pages && n_ret < n_goal) {
		entries[n_ret] = cluster_alloc_swap_entry(si, cpu, order);
		if (!entries[n_ret])
			break;
		n_ret++;
	}
	si->nr_swap_pages += (n_goal - n_ret) << order;
	return n_ret;
}

static void dec_cluster_info_page(struct swap *si, uint32_t ci, uint32_t nr)
{
	struct cluster *c = &si->cluster[ci];

	c->count -= nr;
	if (c->count && (c->flags & NONFULL))
		return;
	if (c->flags & FRAG)
		si->frag_nr[c->order]--;
	if (c->count) {
		list_move_tail(si, ci, LIST_NONFULL + c->order);
		c->flags = NONFULL;
	} else {
		list_move_tail(si, ci, LIST_FREE);
		c->flags = FREE;
		c->order = 0;
	}
}

void swap_entry_range_free(struct swap *si, uint32_t offset, uint32_t nr)
{
	memset(si->map + offset, 0, nr);
	dec_cluster_info_page(si, offset / CLUSTER, nr);
	si->nr_swap_pages += nr;
	si->inuse_pages -= nr;
}

static void swapcache_free_entries(struct swap *si, const uint32_t *entries, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		swap_entry_range_free(si, entries[i], 1);
}

static bool check_cache_active(struct swap *si)
{
	if (!si->slot_cache)
		return false;
	if (!si->active) {
		si->active = si->nr_swap_pages > (int64_t)si->cpus * ACTIVATE;
	} else if (si->nr_swap_pages < (int64_t)si->cpus * DEACTIVATE) {
		si->active = false;
		for (struct cpu *cpu = si->cpu; cpu < si->cpu + si->cpus; cpu++) {
			swapcache_free_entries(si, cpu->slots + cpu->cur, cpu->nr);
			swapcache_free_entries(si, cpu->slots_ret, cpu->n_ret);
			cpu->cur = cpu->nr = cpu->n_ret = 0;
		}
	}
	return si->active;
}

void free_swap_slot(struct swap *si, uint32_t cpu, uint32_t offset)
{
	struct cpu *cache = &si->cpu[cpu];

	if (!si->active || !si->free_cache) {
		swapcache_free_entries(si, &offset, 1);
		return;
	}
	if (cache->n_ret == SWAP_BATCH) {
		swapcache_free_entries(si, cache->slots_ret, cache->n_ret);
		cache->n_ret = 0;
	}
	si->map[offset] = HAS_CACHE;
	cache->slots_ret[cache->n_ret++] = offset;
}

uint32_t folio_alloc_swap(struct swap *si, uint32_t cpu, unsigned int order)
{
	struct cpu *cache = &si->cpu[cpu];
	uint32_t entry = 0;

	if (!order && check_cache_active(si)) {
		if (!cache->nr) {
			cache->cur = 0;
			cache->nr = get_swap_pages(si, cache, SWAP_BATCH, cache->slots, 0);
		}
		if (cache->nr) {
			cache->nr--;
			entry = cache->slots[cache->cur++];
		}
	}
	if (!entry)
		get_swap_pages(si, cache, 1, &entry, order);
	if (entry)
		memset(si->map + entry, 1, 1u << order);
	return entry;
}

/*
 * Each event allocates (event >= 0: order in bits 0..3, CPU above) and notes the offset, or frees
 * (~event: the same, and from bit 14 which allocation's). Slots of order 0 are freed through the
 * cache of their CPU, others at once.
 */
void run(struct swap *si, const int64_t *events, int64_t n, uint32_t *offsets)
{
	uint32_t *found = offsets;

	for (int64_t i = 0; i < n; i++) {
		int64_t event = events[i], made = ~event;
		uint32_t offset;

		if (event >= 0) {
			*found++ = folio_alloc_swap(si, event >> 4, event & 15);
			continue;
		}
		offset = offsets[made >> 14];
		if (offset && (made & 15))
			swap_entry_range_free(si, offset, 1u << (made & 15));
		else if (offset)
			free_swap_slot(si, made >> 4 & 1023, offset);
	}
}
