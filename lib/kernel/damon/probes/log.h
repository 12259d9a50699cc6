/* SPDX-License-Identifier: GPL-2.0-only */
/* The log, an array that guest/log.py maps: entries for the regions of each window. */

struct event { u64 x, y, checks; u32 n, age, kind, us; };
BPF_F_TABLE("array", u32, struct event, events, CAPACITY, BPF_F_MMAPABLE);
BPF_ARRAY(counts, u64, 2);

static inline u64 add(u32 which, u64 one)
{
	u64 before, *n = counts.lookup(&which);

	if (!n)
		return 0;
	before = *n;
	*n += one;
	return before;
}

static inline void note(u32 kind, u64 x, u64 y, u32 n, u32 age)
{
	u32 at = add(0, 1);
	struct event *e = events.lookup(&at);

	if (!e)
		return;
	e->x = x;
	e->y = y;
	e->checks = add(1, 0);
	e->n = n;
	e->age = age;
	e->kind = kind;
	e->us = bpf_ktime_get_ns() / 1000;
}

TRACEPOINT_PROBE(damon, damon_aggregated)
{
	note(3, args->start, args->end, args->nr_accesses, args->age);
	return 0;
}
