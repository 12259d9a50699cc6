"""A program with a hot range, watched by DAMON anew until the range stands out, many times.

BPF programs sum up each window of each kdamond. What is looked at while a run goes on is one entry
a window, twice a second, so that nobody but kdamond and the program has much of the CPU.
"""

import time
from ctypes import c_uint64
from pathlib import Path

import damon_masim
import damon_sysfs

HUGE = Path("/sys/kernel/mm/transparent_hugepage/enabled")
EVERY = 0.5
TEXT = """
struct window { u64 last, at, held; u32 who, regions, cuttable, draws; };
BPF_HASH(current, u32, struct window);
BPF_QUEUE(ended, struct window, 10240);
BPF_HASH(done, u32, u64);	/* by process: checks of a kdamond, draws of a program */
BPF_ARRAY(hot, u64, 2);
BPF_ARRAY(wide, u64, 2);	/* draws from more than 4 GiB; of those, out of reach of 32 bits */

static inline void add(u32 which)
{
	u64 *n = wide.lookup(&which);

	if (n)
		(*n)++;
}

TRACEPOINT_PROBE(damon, damon_aggregated)
{
	u32 who = bpf_get_current_pid_tgid(), low = 0, high = 1;
	u64 *from = hot.lookup(&low), *to = hot.lookup(&high), begin, end;
	struct window none = {}, *w = current.lookup_or_try_init(&who, &none);

	if (!w || !from || !to)
		return 0;
	if (args->start <= w->last) {
		ended.push(w, 0);
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
	done.increment(bpf_get_current_pid_tgid());
	return 0;
}

KFUNC_PROBE(__x64_sys_clock_gettime, const struct pt_regs *regs)
{
	done.increment(bpf_get_current_pid_tgid());
	return 0;
}
"""


class Watch:
    """Sums of the windows of all kdamonds; begun anew with each run."""

    def __init__(self):
        from bcc import BPF

        self.bpf = BPF(text=TEXT)

    def begin(self, low, high):
        self.ended()
        for name in ("current", "done"):
            self.bpf[name].clear()
        for which, value in enumerate((low, high)):
            self.bpf["hot"][which] = c_uint64(value)
            self.bpf["wide"][which] = c_uint64(0)

    def ended(self):
        """Windows that ended since this was asked, but for the last of each kdamond."""
        found = []
        while True:
            try:
                w = self.bpf["ended"].pop()
            except KeyError:
                return found
            found.append([w.who, w.at, w.regions, w.cuttable, w.draws, w.held])

    def done(self, pid):
        table = self.bpf["done"]
        return table[table.Key(pid)].value if table.Key(pid) in table else 0

    def wide(self):
        return [self.bpf["wide"][which].value for which in range(2)]


def run(params):
    """Yield a row for each run of each of `params["programs"]`.

    A program has `masim`, the standard input of masim.c; `hot`, the number of its hot region;
    `huge`, whether it gets huge pages; and `wanted`. One of these has `number`, which its rows
    carry; `attrs` (`damon_sysfs.configure`); `kdamonds`, how many watch; `switches`; `windows`,
    after which it is given up; and `runs`. Those of a program are measured in turns.
    """
    # Most of the memory is never touched.
    Path("/proc/sys/vm/overcommit_memory").write_text("1")
    watch = Watch()
    for program in params["programs"]:
        HUGE.write_text("always" if program["huge"] else "madvise")
        with damon_masim.started(program["masim"]) as (process, said):
            start, size = said["region"][program["hot"]]
            process.send_signal(damon_masim.BEGIN)
            for turn in range(max(wanted["runs"] for wanted in program["wanted"])):
                for wanted in program["wanted"]:
                    if turn >= wanted["runs"]:
                        continue
                    damon_masim.turn(wanted["switches"])
                    found = one(process.pid, wanted, watch, start, start + size)
                    damon_masim.turn(dict.fromkeys(wanted["switches"]))
                    yield {"number": wanted["number"], **found}


def one(pid, wanted, watch, low, high):
    """Watch until the first kdamond has told the hot range apart, or for so many windows."""
    kdamonds = range(wanted["kdamonds"])
    damon_sysfs.configure(pid, wanted["attrs"], kdamonds=len(kdamonds))
    watch.begin(low, high)
    begun = time.monotonic_ns()
    for k in kdamonds:
        damon_sysfs.turn("on", k)
    first, before = damon_sysfs.kdamond(), watch.done(pid)
    windows, isolated, number = [], False, 0
    while not isolated and number <= wanted["windows"]:
        time.sleep(EVERY)
        new = watch.ended()
        windows += new
        mine = [w for w in new if w[0] == first]
        number += len(mine)
        isolated = any(2 * w[-1] >= high - low for w in mine)
    worked, sleeps = damon_masim.work(first)
    row = {
        "first": first,
        "ns": time.monotonic_ns() - begun,
        "worked": worked,
        "sleeps": sleeps,
        "checks": watch.done(first),
        "draws": watch.done(pid) - before,
        "wide": watch.wide(),
    }
    for k in kdamonds:
        damon_sysfs.turn("off", k)
    return {**row, "windows": windows}
