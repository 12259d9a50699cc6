/* SPDX-License-Identifier: GPL-2.0-only */
/* Behind log.h: random numbers, checks, and regions that schemes are tried on. */

KRETFUNC_PROBE(damon_rand, unsigned long l, unsigned long r, unsigned long number)
{
	note(1, l, r, number - l, 0);
	return 0;
}

/* include/linux/damon.h */
struct region { u64 start, end, sampling_addr; };

KFUNC_PROBE(damon_update_region_access_rate, struct region *r, bool accessed, void *attrs)
{
	struct region region = {};

	bpf_probe_read_kernel(&region, sizeof(region), r);
	note(2, region.sampling_addr, bpf_jiffies64(), accessed, 0);
	return 0;
}

TRACEPOINT_PROBE(damon, damos_before_apply)
{
	note(4 + args->scheme_idx, args->start, args->end, args->nr_accesses, args->age);
	return 0;
}
