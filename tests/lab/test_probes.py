"""Probes: what they count comes out, what they can't see is named, what they lose is counted."""

import re
import runpy
import shutil

import pandas as pd
import pytest

from lorelab.errors import BadInput
from lorelab.lab import boot, cache, probes
from lorelab.lab.cache import KERNEL_FILES

RUNNER = runpy.run_path(str(KERNEL_FILES / "common" / "guest" / "probe.py"))

WORKLOAD = """
import os


def run(params):
    for _ in range(params["calls"]):
        os.sched_yield()
    yield {"calls": params["calls"]}
"""
YIELDS = """
struct event { u64 nth; u32 cpu; char comm[16]; };

BPF_ARRAY(nth, u64, 1);
BPF_ARRAY(calls, u64, 1); // calls: of sched_yield()
BPF_HISTOGRAM(halves, u64); // calls: by their number
BPF_HASH(thirds, u64, u64); // calls: by their number modulo 3
BPF_RINGBUF_OUTPUT(roomy, 256); // events: one a call
BPF_RINGBUF_OUTPUT(tight, 1); // events: the same, in 4 KiB

TRACEPOINT_PROBE(syscalls, sys_enter_sched_yield)
{
    struct event event = { .cpu = bpf_get_smp_processor_id() };
    int zero = 0;
    u64 *count = nth.lookup(&zero);

    if (!count)
        return 0;
    event.nth = (*count)++;
    bpf_get_current_comm(&event.comm, sizeof(event.comm));
    calls.atomic_increment(0);
    halves.atomic_increment(BUCKET(event.nth));
    thirds.atomic_increment(event.nth % 3);
    EMIT(roomy, event);
    EMIT(tight, event);
    return 0;
}
"""


@pytest.fixture
def run(laboratory, tmp_path, monkeypatch):
    """Boot, attach probes given as name and text beside those of all designs, and run."""
    files = tmp_path / "kernel"
    shutil.copytree(KERNEL_FILES / "common", files / "common")
    monkeypatch.setattr(cache, "KERNEL_FILES", files)
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "yields.py").write_text(WORKLOAD)

    def run(names, texts=None, calls=1):
        for name, text in (texts or {}).items():
            (files / "common" / "probes" / f"{name}.c").write_text(text)
        job = boot.Job(None, "yields", {"calls": calls}, 120, probes=names)
        machine = boot.Machine(memory_mib=1024)
        kernel, root = laboratory.kernel.image, laboratory.guest.root
        return boot.run(kernel, root, tmp_path / "programs", machine, job, quiet=True)

    return run


def test_counters_histograms_events_and_losses(run):
    """One boot, for bcc takes its time: a ring with room, one without, and the example."""
    calls = 5000
    outcome = run(("yields", "faults"), {"yields": YIELDS}, calls)
    assert {"probes/yields.c", "probes/faults.c"} <= set(outcome.programs)
    found = probes.counters("a/b", "v", outcome.probes).set_index(["counter", "step"])["value"]
    # Others may yield too.
    made = found["yields.calls", 0]
    assert calls <= made < calls + 100
    halves = found["yields.halves"].to_dict()
    last = max(halves)
    assert halves.pop(last) == made - last
    assert halves == {0: 1} | {1 << n: 1 << n for n in range(len(halves) - 1)}
    assert sum(found[f"yields.thirds_{n}", 0] for n in range(3)) == made
    events = probes.events(outcome.probes)
    roomy, tight = events["yields.roomy"], events["yields.tight"]
    assert roomy["nth"].tolist() == list(range(made))
    assert roomy["comm"].value_counts().index[0].startswith("python3")
    # What the small ring had no room for is counted, to the last event.
    lost = found["yields.lost", 0]
    assert lost > 0
    assert len(tight) + lost == made
    assert probes.lost(outcome.probes) == {"yields": lost}
    assert found["faults.lost", 0] == 0
    assert sum(n for (counter, _), n in found.items() if counter.startswith("faults.faults_")) > 0


def test_an_inlined_function_is_named(run):
    """cluster_scan_range() is static in mm/swapfile.c, and gcc leaves no copy of it."""
    text = "int kprobe__cluster_scan_range(struct pt_regs *ctx)\n{\n\treturn 0;\n}\n"
    with pytest.raises(BadInput) as refused:
        run(("bad",), {"bad": text})
    assert "lacks what probe bad watches: kprobe cluster_scan_range: inlined" in str(refused.value)


KALLSYMS = """\
ffffffff81000000 T whole
ffffffff81000010 t only_copy.constprop.0
ffffffff81000020 t only_copy.constprop.0.cold
ffffffff81000030 t twice
ffffffff81000040 t twice
ffffffff81000050 t part.part.0
ffffffff81000060 t secret
ffffffff81000070 D table
ffffffff81000080 T struct_back
"""


class Types:
    """Stands for the kernel's BTF."""

    def has(self, name, kind):
        return name != "secret"

    def returns_struct(self, function):
        return function == "struct_back"

    def offset(self, struct, field):
        return 8 if (struct, field) == ("page", "flags") else None

    def size(self, struct):
        return 64 if struct == "page" else None


@pytest.fixture
def kernel():
    """What the runner knows of a kernel, without one."""
    made = object.__new__(RUNNER["Kernel"])
    made.symbols = KALLSYMS
    made.traceable = {"whole", "secret", "struct_back"}
    made.inlined = {"inlined_one", "part"}
    made.btf = Types()
    return made


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("KFUNC_PROBE(gone) {}", "kfunc_probe gone: missing"),
        ("KRETFUNC_PROBE(inlined_one, int a, int ret) {}", "kretfunc_probe inlined_one: inlined"),
        ("int kprobe__part(struct pt_regs *ctx) {}", "kprobe part: inlined"),
        ("int kprobe__twice(void *ctx) {}", "kprobe twice: 2 functions have this name"),
        ("int kprobe__table(void *ctx) {}", "kprobe table: missing"),
        ("KFUNC_PROBE(secret) {}", "kfunc_probe secret: it is there, but BTF has no types"),
        ("KFUNC_PROBE(struct_back) {}", "it returns a struct"),
        ("KFUNC_PROBE(only_copy) {}", "only only_copy.constprop.0 is left of it"),
        (
            "int kprobe__only_copy(void *ctx, int a) {}",
            "whose arguments the compiler may have moved",
        ),
        ("TRACEPOINT_PROBE(no, such) {}", "watches: tracepoint no:such"),
        ("KFUNC_PROBE(whole) { OFFSET(page, nosuch); }", "reads: nosuch in struct page"),
        ("KFUNC_PROBE(whole) { SIZE(nosuch); }", "reads: struct nosuch"),
        ("KFUNC_PROBE(whole) { ADDRESS(nosuch); }", "reads: symbol nosuch"),
        ("int nothing;", "has no probe point"),
        ("KFUNC_PROBE(whole) { events.perf_submit(args, &e, 8); }", "send events with EMIT()"),
    ],
)
def test_what_a_kernel_lacks_is_named(kernel, text, said):
    with pytest.raises((NotImplementedError, ValueError)) as failed:
        kernel.check("p", text)
    assert "probe p" in str(failed.value)
    assert said in str(failed.value)


def test_without_the_build_s_list_inlined_or_missing_stays_open(kernel):
    kernel.inlined = None
    with pytest.raises(NotImplementedError, match="inlined into its callers, or missing"):
        kernel.check("p", "KFUNC_PROBE(gone) {}")


def test_what_is_there_passes(kernel):
    kernel.check("p", "KFUNC_PROBE(whole) { OFFSET(page, flags); SIZE(page); ADDRESS(table); }")
    kernel.check("p", "int kprobe__only_copy(struct pt_regs *ctx) {}")
    assert kernel.copies("only_copy") == ["only_copy.constprop.0"]
    assert kernel.definitions("OFFSET(page, flags) SIZE(page) ADDRESS(table)") == [
        "-DADDRESS_table=0xffffffff81000070ULL",
        "-DOFFSET_page_flags=8",
        "-DSIZE_page=64",
    ]


def test_an_unknown_probe_names_the_known():
    with pytest.raises(BadInput, match=r"unknown probe nosuch: takes one of alloc, faults, "):
        probes.source("nosuch", "swap")
    with pytest.raises(BadInput, match=r"unknown probe alloc: takes one of faults "):
        probes.source("alloc", None)


def test_every_probe_is_in_the_readme():
    readme = (KERNEL_FILES / "common" / "probes" / "README.md").read_text()
    for file in KERNEL_FILES.glob("*/probes/*.c"):
        design = file.parents[1].name
        assert f"| {'' if design == 'common' else design + ': '}`{file.stem}` |" in readme


def test_no_bpf_program_is_in_a_python_string():
    for file in KERNEL_FILES.glob("*/guest/*.py"):
        if file.name != "probe.py":
            assert not re.search(r"PROBE\(|BPF_[A-Z]+\(", file.read_text()), file


def test_no_event_is_sent_without_counting_what_is_lost():
    for file in KERNEL_FILES.glob("*/probes/*.[ch]"):
        text = file.read_text()
        for call in re.finditer(r"(.*)\.(?:push|update|insert)\(", text):
            if f"BPF_ARRAY({call[1].strip()}," in text:
                continue  # an element of an array is always there
            assert call[1].strip().startswith("if ("), f"{file}: {call[0]}"
        assert not re.search(r"ringbuf_output|perf_submit", text), file


def test_frames_become_tables():
    frames = [
        {"probe": "p", "counters": [["n_4", 0, "folios", 3], ["ns", 16, "folios", 2]], "lost": 5},
        {"probe": "p", "stream": "events", "fields": ["at", "by"], "rows": [[1, 2], [3, 4]]},
        {"probe": "p", "stream": "events", "fields": ["at", "by"], "rows": [[5, 6]]},
    ]
    counters = probes.counters("swap/x", "v6.12", frames)
    assert counters[["counter", "step", "unit", "value"]].to_numpy().tolist() == [
        ["p.lost", 0, "events", 5],
        ["p.n_4", 0, "folios", 3],
        ["p.ns", 16, "folios", 2],
    ]
    [(name, events)] = probes.events(frames).items()
    assert name == "p.events"
    pd.testing.assert_frame_equal(events, pd.DataFrame({"at": [1, 3, 5], "by": [2, 4, 6]}))
    assert probes.lost(frames) == {"p": 5}
