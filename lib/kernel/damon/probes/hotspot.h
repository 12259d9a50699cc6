/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums of each window of each kdamond, for guest/hotspot.py, which reads them while it runs.
 */

struct window { u64 last, at, held; u32 who, regions, cuttable, draws; };
BPF_HASH(current, u32, struct window);
BPF_QUEUE(ended, struct window, 10240);
BPF_HASH(done, u32, u64);	/* by process: checks of a kdamond, draws of a program */
BPF_ARRAY(hot, u64, 2);
BPF_ARRAY(lost, u64, 1);	/* what found no room */
BPF_ARRAY(wide, u64, 2);	/* draws from more than 4 GiB; of those, out of reach of 32 bits */

static inline void add(u32 which)
{
	u64 *n = wide.lookup(&which);

	if (n)
		(*n)++;
}

static inline void count_done(void)
{
	u64 zero = 0;
	u32 who = bpf_get_current_pid_tgid();
	u64 *n = done.lookup_or_try_init(&who, &zero);

	if (n)
		(*n)++;
	else
		lost.atomic_increment(0);
}

TRACEPOINT_PROBE(damon, damon_aggregated)
{
	u32 who = bpf_get_current_pid_tgid(), low = 0, high = 1;
	u64 *from = hot.lookup(&low), *to = hot.lookup(&high), begin, end;
	struct window none = {}, *w = current.lookup_or_try_init(&who, &none);

	if (!w || !from || !to) {
		lost.atomic_increment(0);
		return 0;
	}
	if (args->start <= w->last) {
		if (ended.push(w, 0))
			lost.atomic_increment(0);
		__builtin_memset(w, 0, sizeof(*w));
	}
	w->who = who;
	w->last = args->start;
	w->regions++;
	if (args->end - args->start > 2 * 4096)
		w->cuttable++;
	begin = args->start > *from ? args->start : *from;
	end = args->end < *to ? args->end : *to;
	if (args->nr_accesses && args->end - args->start <= 2 * (*to - *from) && begin < end)
		w->held += end - begin;
	return 0;
}

KRETFUNC_PROBE(damon_rand, unsigned long l, unsigned long r, unsigned long number)
{
	u32 who = bpf_get_current_pid_tgid(), reach = r - l;
	struct window *w;

	if (l == 1) {
		w = current.lookup(&who);
		if (w && !w->draws++)
			w->at = bpf_ktime_get_ns();
	} else if (r - l > 0xffffffff) {
		add(0);
		if (reach && number - l >= reach)
			add(1);
	}
	return 0;
}

KFUNC_PROBE(damon_update_region_access_rate, void *r, bool accessed, void *attrs)
{
	count_done();
	return 0;
}

KFUNC_PROBE(__x64_sys_clock_gettime, const struct pt_regs *regs)
{
	count_done();
	return 0;
}
