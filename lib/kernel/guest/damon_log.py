"""What kdamond does, logged by BPF programs in the order in which it happens.

An entry is EVENT, little-endian:

    x, y, checks, n, age, kind, us

    kind 0  a look at the watermarks found x pages of y free, and has schemes rest for n jiffies, or
            work (n = 0)
    kind 1  damon_rand(x, y) returned x + n
    kind 2  a check of the page at x found it accessed (n = 1) or not (n = 0)
    kind 3  damon:damon_aggregated said region x..y has count n and this age
    kind 4  damon:damos_before_apply said the first scheme is about to be applied to region x..y
            with count n and this age; kind 5 the same of the second, and so on

With kind 2 y is the time in jiffies. `checks` counts the checks before, where kinds 1 and 2 are
not logged. `us` is CLOCK_MONOTONIC in microseconds, modulo 2**32. The log is an array in memory
that nobody reads until the end, so that logging takes no time from anybody but kdamond; entries
that come after it is full are counted and refused.
"""

import mmap
import os
import subprocess
from pathlib import Path

EVENT = 40
CAPACITY = 1 << 21
HEAD = """
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
"""
COUNT = """
KFUNC_PROBE(damon_update_region_access_rate, void *r, bool accessed, void *attrs)
{
	add(1, 1);
	return 0;
}
"""
NUMBERS = """
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
"""


LOOK = """
/* What damos_get_wmark_metric_value() reads; NR_FREE_PAGES is the first of a zone's counters. */
static inline void look(u32 rest)
{
	u64 free = 0, total = 0;

	bpf_probe_read_kernel(&free, sizeof(free), (void *)ADDRESS(vm_zone_stat));
	bpf_probe_read_kernel(&total, sizeof(total), (void *)ADDRESS(_totalram_pages));
	note(0, free, total, rest, 0);
}

/* Behind kdamond_wait_activation(). */
KFUNC_PROBE(damon_va_prepare_access_checks, void *context)
{
	look(0);
	return 0;
}

KFUNC_PROBE(schedule_timeout_idle, long timeout)
{
	char name[16];

	bpf_get_current_comm(name, sizeof(name));
	if (name[0] == 'k' && name[1] == 'd' && name[2] == 'a' && name[3] == 'm')
		look(timeout);
	return 0;
}
"""
APPLY = """
BPF_ARRAY(applying, u64, 2);

KFUNC_PROBE(damon_va_apply_scheme, void *context)
{
	u32 one = 1;
	u64 *began = applying.lookup(&one);

	if (began)
		*began = bpf_ktime_get_ns();
	return 0;
}

KRETFUNC_PROBE(damon_va_apply_scheme, void *context)
{
	u32 zero = 0, one = 1;
	u64 *took = applying.lookup(&zero), *began = applying.lookup(&one);

	if (took && began)
		*took += bpf_ktime_get_ns() - *began;
	return 0;
}
"""


class Log:
    """A log that goes on until it is closed.

    `numbers` adds kinds 0, 1, 2, 4 and so on; without them `schemes` adds the time that actions
    take.
    """

    def __init__(self, numbers, schemes):
        import probe
        from bcc import BPF

        tracing = Path("/sys/kernel/tracing")
        if not os.path.ismount(tracing):
            subprocess.run(["mount", "-t", "tracefs", "tracefs", tracing], check=True)
        text = HEAD.replace("CAPACITY", str(CAPACITY)) + (NUMBERS if numbers else COUNT)
        self.schemes = schemes and not numbers
        text += APPLY if self.schemes else ""
        addresses = []
        if schemes and numbers:
            text += LOOK
            kernel = probe.Kernel()
            kernel.check("damon_log", text)
            addresses = ["-DADDRESS(symbol)=ADDRESS_##symbol", *kernel.definitions(text)]
        self.bpf = BPF(text=text, cflags=addresses)
        table = self.bpf["events"]
        self.memory = mmap.mmap(table.map_fd, CAPACITY * EVENT, prot=mmap.PROT_READ)

    def start_anew(self):
        for name in ("counts", "applying") if self.schemes else ("counts",):
            for which in range(2):
                self.bpf[name][which] = self.bpf[name].Leaf(0)

    def applying(self):
        """Nanoseconds that actions of schemes have taken."""
        return self.bpf["applying"][0].value if self.schemes else 0

    def read(self):
        """All entries, as bytes."""
        number = self.bpf["counts"][0].value
        if number > CAPACITY:
            raise RuntimeError(f"{number - CAPACITY} events lost: the log holds {CAPACITY}")
        return self.memory[: number * EVENT]
