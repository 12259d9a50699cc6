// SPDX-License-Identifier: GPL-2.0-only
/*
 * kdamond of Linux 6.12.117 on flat arrays: what compiled C needs for the history that the numba
 * model and the plain Python one are timed on. Function by function after mm/damon/core.c and
 * mm/damon/vaddr.c; one target, mappings that stay, no schemes. What access checks find comes from
 * an array; random numbers are drawn as the model draws them.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define DAMON_MIN_REGION 4096ull

struct region {
	uint64_t start, end, sampling_addr;
	uint32_t nr_accesses, nr_accesses_bp, age, last_nr_accesses, prev, next;
};

struct row {
	uint64_t start, end;
	uint32_t nr_accesses, age;
};

struct damon {
	struct region *r;
	uint32_t head, free, nr_regions;
	uint64_t min, max, window, sz_limit, last_nr_regions;
	const uint8_t *checks;
	uint64_t next_check, random;
};

static uint64_t next_random(struct damon *d)
{
	uint64_t z = d->random += 0x9E3779B97F4A7C15ull;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
	return (z ^ (z >> 31)) >> 32;
}

static uint64_t damon_rand(struct damon *d, uint64_t left, uint64_t right)
{
	uint32_t ceil = right - left;
	uint64_t mult;

	if (!ceil)
		return left + next_random(d);
	mult = ceil * next_random(d);
	if ((uint32_t)mult < ceil) {
		uint32_t bound = -ceil % ceil;

		while ((uint32_t)mult < bound)
			mult = ceil * next_random(d);
	}
	return left + (mult >> 32);
}

static uint32_t insert(struct damon *d, uint64_t start, uint64_t end, uint32_t following)
{
	struct region *r = d->r;
	uint32_t i = d->free, before = r[following].prev;

	d->free = r[i].next;
	r[i] = (struct region){ .start = start, .end = end, .prev = before, .next = following };
	r[before].next = i;
	r[following].prev = i;
	d->nr_regions++;
	return i;
}

static void destroy(struct damon *d, uint32_t i)
{
	struct region *r = d->r;

	r[r[i].prev].next = r[i].next;
	r[r[i].next].prev = r[i].prev;
	r[i].next = d->free;
	d->free = i;
	d->nr_regions--;
}

static void evenly_split(struct damon *d, uint64_t start, uint64_t end, uint64_t nr_pieces)
{
	uint64_t piece = nr_pieces ? (end - start) / nr_pieces & ~(DAMON_MIN_REGION - 1) : 0;

	for (; piece && nr_pieces > 1; nr_pieces--, start += piece)
		insert(d, start, start + piece, d->head);
	insert(d, start, end, d->head);
}

struct damon *start(const uint64_t *ranges, uint64_t min, uint64_t max, uint64_t window,
		    const uint8_t *checks, uint64_t seed)
{
	struct damon *d = calloc(1, sizeof(*d));
	uint32_t capacity = 4 * max + min + 8;
	uint64_t total = 0, sz;

	*d = (struct damon){ .min = min, .max = max, .window = window, .checks = checks,
			     .random = seed, .head = capacity };
	d->r = calloc(capacity + 1, sizeof(*d->r));
	for (uint32_t i = 0; i < capacity; i++)
		d->r[i].next = i + 1;
	d->r[capacity].prev = d->r[capacity].next = capacity;
	for (int k = 0; k < 3; k++)
		total += ranges[2 * k + 1] - ranges[2 * k];
	sz = total / min > DAMON_MIN_REGION ? total / min : DAMON_MIN_REGION;
	for (int k = 0; k < 3; k++)
		evenly_split(d, ranges[2 * k], ranges[2 * k + 1],
			     (ranges[2 * k + 1] - ranges[2 * k]) / sz);
	d->sz_limit = sz;
	return d;
}

void stop(struct damon *d)
{
	free(d->r);
	free(d);
}

static void prepare_access_checks(struct damon *d)
{
	struct region *r = d->r;

	for (uint32_t i = r[d->head].next; i != d->head; i = r[i].next)
		r[i].sampling_addr = damon_rand(d, r[i].start, r[i].end);
}

static uint32_t check_accesses(struct damon *d)
{
	struct region *r = d->r;
	uint32_t max = 0;

	for (uint32_t i = r[d->head].next; i != d->head; i = r[i].next) {
		bool accessed = d->checks[d->next_check++];

		if (r[i].last_nr_accesses)
			r[i].nr_accesses_bp -= r[i].last_nr_accesses * 10000 / d->window;
		if (accessed) {
			r[i].nr_accesses_bp += 10000;
			r[i].nr_accesses++;
		}
		if (r[i].nr_accesses > max)
			max = r[i].nr_accesses;
	}
	return max;
}

static void merge_two_regions(struct damon *d, struct region *l, struct region *r, uint32_t right)
{
	uint64_t sz_l = l->end - l->start, sz_r = r->end - r->start;

	l->nr_accesses = (l->nr_accesses * sz_l + r->nr_accesses * sz_r) / (sz_l + sz_r);
	l->nr_accesses_bp = l->nr_accesses * 10000;
	l->age = (l->age * sz_l + r->age * sz_r) / (sz_l + sz_r);
	l->end = r->end;
	destroy(d, right);
}

static uint32_t apart(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

static void merge_regions_of(struct damon *d, uint32_t thres, bool count_age)
{
	struct region *r = d->r;
	uint32_t prev = d->head, next;

	for (uint32_t i = r[d->head].next; i != d->head; i = next) {
		next = r[i].next;
		if (count_age)
			r[i].age = apart(r[i].nr_accesses, r[i].last_nr_accesses) > thres ?
				   0 : r[i].age + 1;
		if (prev != d->head && r[prev].end == r[i].start &&
		    apart(r[prev].nr_accesses, r[i].nr_accesses) <= thres &&
		    r[i].end - r[prev].start <= d->sz_limit)
			merge_two_regions(d, &r[prev], &r[i], i);
		else
			prev = i;
	}
}

static void merge_regions(struct damon *d, uint32_t thres)
{
	bool count_age = true;

	for (;;) {
		merge_regions_of(d, thres, count_age);
		count_age = false;
		if (d->nr_regions <= d->max || d->window <= thres)
			return;
		thres = thres < d->window / 2 ? (thres ? 2 * thres : 1) : d->window;
	}
}

static void split_regions(struct damon *d)
{
	struct region *r = d->r;
	uint32_t nr_regions = d->nr_regions, next;
	int pieces = 2;

	if (nr_regions > d->max / 2)
		return;
	if (d->last_nr_regions == nr_regions && nr_regions < d->max / 3)
		pieces = 3;
	for (uint32_t i = r[d->head].next; i != d->head; i = next) {
		uint64_t sz = r[i].end - r[i].start;

		next = r[i].next;
		for (int k = 1; k < pieces && sz > 2 * DAMON_MIN_REGION; k++) {
			uint64_t sub = damon_rand(d, 1, 10) * sz / 10 & ~(DAMON_MIN_REGION - 1);
			uint32_t new;

			if (!sub || sub >= sz)
				continue;
			new = insert(d, r[i].start + sub, r[i].end, r[i].next);
			r[i].end = r[i].start + sub;
			r[new].age = r[i].age;
			r[new].last_nr_accesses = r[i].last_nr_accesses;
			r[new].nr_accesses_bp = r[i].nr_accesses_bp;
			sz = sub;
		}
	}
	d->last_nr_regions = nr_regions;
}

/* Windows of kdamond_fn(); gives the rows that damon:damon_aggregated reported. */
uint64_t run(struct damon *d, uint64_t windows, struct row *out)
{
	struct region *r = d->r;
	uint64_t rows = 0;

	while (windows--) {
		uint32_t max = 0;

		for (uint64_t sample = 0; sample < d->window; sample++) {
			prepare_access_checks(d);
			max = check_accesses(d);
		}
		merge_regions(d, max / 10);
		for (uint32_t i = r[d->head].next; i != d->head; i = r[i].next) {
			out[rows++] = (struct row){ r[i].start, r[i].end, r[i].nr_accesses, r[i].age };
			r[i].last_nr_accesses = r[i].nr_accesses;
			r[i].nr_accesses = 0;
		}
		split_regions(d);
	}
	return rows;
}

/* Checks done, each of a region in a sample. */
uint64_t checked(const struct damon *d)
{
	return d->next_check;
}
