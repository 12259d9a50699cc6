"""How each claim of the cover letter is weighed: by arithmetic, and on the performance model.

Each `weigh_` function takes nothing and returns a `Weighed`. Verdicts follow from the evidence:
change a figure or the model, and they move.
"""

from functools import cache

from lorelab.judging.claims import ClaimVerdict, Weighed
from lorelab.vmalock.experiments import contention
from lorelab.vmalock.model.state import COUNT
from lorelab.vmalock.params import Contention, Fork, Launch, Merge, Timed, Variant, Zerocopy
from lorelab.vmalock.thread.figures import figure, parts, saving, shares, starting
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.outcome import done, totals

RUNS = {
    Contention: programs.contention,
    Launch: programs.launch,
    Merge: programs.merge,
    Zerocopy: programs.zerocopy,
}


@cache
def ran(params: Timed) -> dict[str, int]:
    """The model's own counters of a run."""
    return totals(done(RUNS[type(params)](params)))


def after_and_before(params: Timed) -> tuple[dict[str, int], dict[str, int]]:
    """Counters with the thread's series, and with mmap_lock alone."""
    before = params.model_copy(update={"variant": Variant.MMAP_LOCK})
    return ran(params.model_copy(update={"variant": Variant.V2})), ran(before)


def rate(found: dict[str, int]) -> float:
    """Faults a second."""
    return found["faults"] / found["last"] * 1e9


# figures


def weigh_diffstat() -> Weighed:
    changed = starting("changed-")
    lines, files = int(changed["value"].sum()), len(changed)
    said = int(figure("insertions") + figure("deletions"))
    good = lines == said and files == figure("files")
    return Weighed(
        ClaimVerdict.ARITHMETIC if good else ClaimVerdict.CONTRADICTED,
        f"The {files} files of the list have {lines} changed lines; the last line adds up to "
        f"{said} in {figure('files'):g} files.",
        {"lines": lines, "printed": said, "files": files},
    )


def weigh_authors() -> Weighed:
    total, said = starting("author-")["value"].sum(), figure("series")
    return Weighed(
        ClaimVerdict.ARITHMETIC if total == said else ClaimVerdict.CONTRADICTED,
        f"The authors of the shortlog have {total:g} patches between them.",
        {"patches": int(total), "printed": int(said)},
    )


def weigh_parts() -> Weighed:
    ranges = parts()
    patches = [number for part in ranges.values() for number in part]
    twice = sorted({number for number in patches if patches.count(number) > 1})
    whole = set(patches) == set(range(1, int(figure("series")) + 1))
    if whole and not twice:
        return Weighed(ClaimVerdict.HOLDS, "Each patch is in one part.", {"patches": len(patches)})
    return Weighed(
        ClaimVerdict.OTHER_NUMBER if whole else ClaimVerdict.CONTRADICTED,
        f"Patch {twice[0]} is in two parts: it frees VMAs without call_rcu in exit_mmap, an "
        f"optimisation, so that the main part ends at {twice[0] - 1}."
        if whole
        else "The parts leave patches out.",
        {"in two parts": ", ".join(map(str, twice))},
    )


def weigh_messages() -> Weighed:
    listed, copies = int(figure("messages")), 3
    of_series = int(figure("series")) + 1
    return Weighed(
        ClaimVerdict.ARITHMETIC if listed % copies == 0 else ClaimVerdict.CONTRADICTED,
        f"Each message is listed once for each of {copies} lists: {listed // copies} messages, of "
        f"which {of_series} are the series and its cover letter.",
        {"messages": listed // copies, "of the series": of_series},
    )


def weigh_again() -> Weighed:
    pairs = {row: (figure(f"{row}-base"), figure(f"{row}-base-again")) for row in ("find", "mmap")}
    good = all(first == again for first, again in pairs.values())
    return Weighed(
        ClaimVerdict.ARITHMETIC if good else ClaimVerdict.CONTRADICTED,
        "What the shares are said to come down from is what they are said to be in the base case."
        if good
        else "A share is printed with two values.",
        {row: f"{first} and {again} %" for row, (first, again) in pairs.items()},
    )


def weigh_find() -> Weighed:
    row = shares().loc["find"]
    return Weighed(
        ClaimVerdict.NOT_TESTABLE if row["saved"] > 0 else ClaimVerdict.CONTRADICTED,
        "Shares of cycles need the machine; the TCP patch that the series' figure needs is not in "
        "the series.",
        {"saved, % of all cycles": float(row["saved"]), "of its own, %": float(row["saved_share"])},
    )


def weigh_mmap() -> Weighed:
    row = shares().loc["mmap"]
    after, before = after_and_before(Zerocopy())
    return Weighed(
        ClaimVerdict.NOT_TESTABLE if after["mmap"] < before["mmap"] else ClaimVerdict.CONTRADICTED,
        "Shares of cycles need the machine; in the model, receives under mmap_lock are gone.",
        {
            "saved at least, % of all cycles": float(row["saved"]),
            "of its own, %": float(row["saved_share"]),
            "receives under mmap_lock, before": before["mmap"],
            "and with the series": after["mmap"],
        },
    )


def weigh_saving() -> Weighed:
    said = figure("saving")
    allowed = saving()
    fits = [name for name, (_, high) in allowed.items() if said <= high]
    least = shares()["saved"].sum()
    evidence = {name: f"{low} to {high} %" for name, (low, high) in allowed.items()}
    evidence |= {"printed": f"{said} % or more", "sum of the printed differences": f"{least:.1f} %"}
    return Weighed(
        ClaimVerdict.HOLDS if fits else ClaimVerdict.CONTRADICTED,
        f"The printed shares allow that much or more where the rows are {' or '.join(fits)}."
        if fits
        else "Neither reading of the rows allows that much.",
        evidence,
    )


# the mechanism


def weigh_write_locked() -> Weighed:
    """The letter's sentences, read with "write" for "read": what a fault does at equal numbers.

    That is the rule of `vma_start_read()`, and the model has it built in. So a run shows what the
    patches do; it is no evidence against the letter, whose "read" is a slip of the pen.
    """
    found = ran(Merge(variant=Variant.V2, merged=True, writer_share=0.2))
    refused = found["abort_early"] + found["abort_late"]
    return Weighed(
        ClaimVerdict.HOLDS if refused else ClaimVerdict.NOT_TESTABLE,
        'It holds with "write-locked" for "read-locked", a slip of the pen in all four sentences: '
        "the patches, and the model after them, turn a fault away at equal numbers.",
        {"faults that found equal numbers": refused, "and went to mmap_lock": found["mmap"]},
    )


def weigh_bulk() -> Weighed:
    """One fork under the series, which marks every VMA: how many are marked when it is over."""
    machine = done(programs.fork(Fork(variant=Variant.V2, vmas=1000, forks=1)))
    marked = int(machine.count[COUNT["marks"]])
    counted_up = int(machine.one["mm_seq"][0])
    left = int((machine.vma["vm_lock_seq"] == machine.one["mm_seq"][0]).sum())
    return Weighed(
        ClaimVerdict.HOLDS if marked > counted_up == 1 and left == 0 else ClaimVerdict.CONTRADICTED,
        "A fork write-locks every VMA, and counting the mm's number up once unlocks them all. The "
        "model is built so, after the patches; this shows that it does what they say.",
        {"marked": marked, "increments": counted_up, "marked afterwards": left},
    )


def weigh_fallback() -> Weighed:
    found = ran(Merge(variant=Variant.V2, merged=True, writer_share=0.2))
    refused = sum(found[name] for name in ("abort_early", "abort_trylock", "abort_late", "retry"))
    return Weighed(
        ClaimVerdict.HOLDS if refused == found["mmap"] > 0 else ClaimVerdict.CONTRADICTED,
        "Every fault that is refused its VMA's lock is handled under mmap_lock, and no other.",
        {"refused": refused, "under mmap_lock": found["mmap"], "under the VMA's": found["vma"]},
    )


def weigh_still_contended() -> Weighed:
    after, before = after_and_before(Merge(merged=True))
    apart, _ = after_and_before(Merge(merged=False))
    gain = {name: rate(found) / rate(before) for name, found in (("one", after), ("own", apart))}
    return Weighed(
        ClaimVerdict.HOLDS if 1 < gain["one"] < gain["own"] else ClaimVerdict.CONTRADICTED,
        "With a VMA for all threads some of the gain is left, with a VMA each far more.",
        {f"faults against mmap_lock, {name} VMA": round(g, 2) for name, g in gain.items()},
    )


# the benefits


def weigh_launch() -> Weighed:
    threads = int(figure("launch-threads"))
    said = figure("launch-gain")
    gains = {}
    for cpus in (2, 4, 8):
        for think in (2000, 20_000, 200_000):
            after, before = after_and_before(Launch(threads=threads, cpus=cpus, think_ns=think))
            gains[cpus, think] = 100 * (1 - after["last"] / before["last"])
    low, high = min(gains.values()), max(gains.values())
    inside = low <= said <= high
    return Weighed(
        ClaimVerdict.NOT_TESTABLE if inside else ClaimVerdict.CONTRADICTED,
        f"No device, app or baseline is named. In the model {threads} threads start {abs(low):.0f} "
        f"to {high:.0f} % faster, by CPUs and above all by the work between two faults: {said:g} % "
        "is one of many gains that it allows.",
        {f"{c} CPUs, {t // 1000} us between faults": f"{g:.1f} %" for (c, t), g in gains.items()},
    )


def weigh_launch_contention() -> Weighed:
    after, before = after_and_before(Launch())
    readers = {name: found["reader_wait"] for name, found in (("a", after), ("b", before))}
    writers = {name: found["writer_wait"] for name, found in (("a", after), ("b", before))}
    gone = readers["a"] == 0
    less = readers["a"] < readers["b"]
    return Weighed(
        ClaimVerdict.HOLDS
        if gone
        else ClaimVerdict.OTHER_NUMBER
        if less
        else ClaimVerdict.CONTRADICTED,
        "Faults wait for mmap_lock less, and not never: the first fault of each new area still "
        "goes there, for its anon_vma. Writers still wait for each other, in this run longer than "
        "before; why was not looked into.",
        {
            "faults' wait for mmap_lock left": f"{100 * readers['a'] / readers['b']:.1f} %",
            "writers' wait left": f"{100 * writers['a'] / writers['b']:.1f} %",
            "faults under mmap_lock": after["mmap"],
        },
    )


def weigh_spf() -> Weighed:
    said = figure("spf-benefit")
    grid = contention.benefit()
    gains = grid[grid["faster"]]
    low, high = float(gains["benefit"].min()), float(gains["benefit"].max())
    quiet = gains[gains["writer_share"] == 0]
    near = quiet[(quiet["benefit"] - said).abs() <= 10]
    written = gains[gains["writer_share"] > 0]
    return Weighed(
        ClaimVerdict.NOT_TESTABLE if low <= said <= high else ClaimVerdict.CONTRADICTED,
        f"Workload, threads and machine are not given. Where nobody writes, the model has "
        f"{said:g} % within 10 points at {len(near)} of {len(quiet)} settings, which explains "
        "nothing. Where anyone writes, as in a launch, it has all of the benefit and disagrees. "
        "What the letter itself offers, that v2 covers anonymous faults alone, is not in it.",
        {
            "benefit kept where nobody writes": f"{quiet['benefit'].min():.0f} to "
            f"{quiet['benefit'].max():.0f} %",
            "CPUs near the figure": ", ".join(map(str, sorted(set(near["cpus"])))),
            "benefit kept where 1 in 1000 or more writes": f"{written['benefit'].min():.0f} to "
            f"{written['benefit'].max():.0f} %",
        },
    )


def weigh_all_block() -> Weighed:
    """One call of madvise() that lasts longer than a round of each receiver."""
    params = Zerocopy(madvise_ns=200_000, interval_us=2000, variant=Variant.MMAP_LOCK)
    found = ran(params)
    blocked = found["sleep_reader"] / found["writes"]
    receivers = params.threads - 1
    return Weighed(
        ClaimVerdict.HOLDS if blocked >= receivers else ClaimVerdict.CONTRADICTED,
        "Under mmap_lock all receivers sleep until a long call is done; a writer's lock that "
        "excludes readers, as the model's is, can do nothing else.",
        {"receivers": receivers, "asleep a call": round(blocked, 2)},
    )


def weigh_madvise_waits() -> Weighed:
    after, before = after_and_before(Zerocopy())
    waits = {
        name: found["writer_wait"] / found["writes"]
        for name, found in (("before", before), ("series", after))
    }
    return Weighed(
        ClaimVerdict.HOLDS
        if waits["before"] > 0 and waits["series"] == 0
        else ClaimVerdict.CONTRADICTED,
        "Under mmap_lock madvise() waits for receives; with the series, and another VMA, it does "
        "not.",
        {f"wait of a call, {name}": f"{wait:.0f} ns" for name, wait in waits.items()},
    )


def weigh_entirely() -> Weighed:
    other, _ = after_and_before(Zerocopy(same=False))
    same, before = after_and_before(Zerocopy(same=True))
    left = same["sleep_reader"] / max(before["sleep_reader"], 1)
    return Weighed(
        ClaimVerdict.HOLDS if other["sleep_reader"] == 0 else ClaimVerdict.CONTRADICTED,
        "It holds where madvise() changes another VMA. Where it changes the one that they receive "
        "in, receivers fail to lock it and sleep on mmap_lock as before. The letter does not say "
        "which it means, and the TCP patch that it means is not in the series.",
        {
            "receivers asleep, other VMA": other["sleep_reader"],
            "same VMA": same["sleep_reader"],
            "same VMA, of those under mmap_lock": f"{100 * left:.0f} %",
        },
    )


def weigh_bouncing() -> Weighed:
    after, before = after_and_before(Zerocopy())
    one, _ = after_and_before(Zerocopy(same=True, interval_us=1_000_000))
    lines = {
        name: found["remote"] / found["faults"]
        for name, found in (("mmap_lock", before), ("own VMA", after), ("one VMA", one))
    }
    fewer = lines["own VMA"] < lines["mmap_lock"]
    return Weighed(
        ClaimVerdict.HOLDS if fewer else ClaimVerdict.CONTRADICTED,
        "Receivers with a VMA each fetch fewer cache lines; receivers of one VMA fetch its lock "
        "instead of mmap_lock.",
        {f"lines a receive, {name}": round(number, 2) for name, number in lines.items()},
    )


def weigh_fibers() -> Weighed:
    ratios = {}
    for pages in (4, 64):
        after, before = after_and_before(Launch(threads=200, pages=pages))
        ratios[pages] = 100 * after["last"] / before["last"]
    return Weighed(
        ClaimVerdict.NOT_TESTABLE if min(ratios.values()) < 100 else ClaimVerdict.CONTRADICTED,
        "What else limits the creation of threads there is not said. In the model threads of few "
        "pages start later than before, for the first fault of each area goes to mmap_lock after "
        "its VMA's lock; threads of many pages start sooner.",
        {f"time of 200 threads of {n} pages": f"{r:.0f} % of before" for n, r in ratios.items()},
    )
