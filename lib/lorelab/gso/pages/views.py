"""Tables that the pages of the chapter show."""

import re

import pandas as pd

from lorelab.experiments import experiment
from lorelab.gso.experiments import lifetimes
from lorelab.gso.params import Variant
from lorelab.gso.workload.unread import UNITS as UNREAD
from lorelab.judging import agreement, reproduced
from lorelab.lab import records
from lorelab.params import label, to_cli

WAYS = {
    (False, False): "clean",
    (True, False): "loss",
    (False, True): "reorder",
    (True, True): "both",
}
"""What netem does to a stream, by whether it drops and whether it reorders."""


def recorded(name: str) -> pd.DataFrame:
    """Every recorded run of an experiment against the model.

    Returns
    -------
    DataFrame
        One row a run: `run` (its parameters), `verdict`, how many counters were `compared` and how
        many of them are the `same`, and what the kernel counted of `sent`, `wrong`, `copies`,
        `copied_bytes`, `completions`; missing what was not measured.
    """
    shown = ("sent", "wrong", "copies", "copied_bytes", "completions")
    question = experiment(name)
    rows = []
    for params in records.recorded(name, question.Params):
        record = question.recorded(params)
        judged = question.agree(params, record)
        values = record.counters.set_index("counter")["value"]
        rows.append(
            {
                "run": to_cli(params),
                "verdict": str(judged.verdict),
                **_counted(judged),
                **values.reindex(shown),
            }
        )
    table = pd.DataFrame(rows).sort_values("run", ignore_index=True)
    return table.astype(dict.fromkeys(shown, "Int64"))


def _counted(comparison: agreement.Agreement) -> dict[str, int]:
    """Counters that were compared, and those of them whose every step is the same."""
    steps = comparison.table
    return {"compared": len(steps), "same": int((steps["equal"] == steps["steps"]).sum())}


def tally(table: pd.DataFrame) -> pd.DataFrame:
    """Runs by how many of their counters were `compared` and are the `same`."""
    by = table.groupby(["compared", "same"]).size().rename("runs")
    return by.reset_index().sort_values("compared", ascending=False, ignore_index=True)


def agreed(table: pd.DataFrame) -> bool:
    """Whether each recorded run passed."""
    return bool((table["verdict"] == agreement.AgreementVerdict.PASSED).all())


def wrong(loss: float, reorder: float) -> pd.DataFrame:
    """Segments with wrong bytes by variant, model and kernel, of the recorded runs that have them.

    Returns
    -------
    DataFrame
        `variant`, `source`, `wrong`.
    """
    question = experiment("gso/traffic")
    rows = []
    for params in records.recorded("gso/traffic", question.Params):
        if (params.loss, params.reorder, params.seed) != (loss, reorder, 1):
            continue
        both = {"model": question.simulate(params), "kernel": question.recorded(params).counters}
        values = {side: table.set_index("counter")["value"] for side, table in both.items()}
        if "wrong" in values["kernel"]:
            rows += [(label(params.variant), side, int(v["wrong"])) for side, v in values.items()]
    return pd.DataFrame(rows, columns=["variant", "source", "wrong"])


def instructions() -> pd.DataFrame:
    """Instructions of a send, of the recorded runs of `gso/breakeven`.

    Returns
    -------
    DataFrame
        By `length` [bytes], a column a way: the median of the repeats; `copy` is a send without
        MSG_ZEROCOPY.
    """
    question = experiment("gso/breakeven")
    medians: dict[str, dict[int, float]] = {}
    for params in records.recorded("gso/breakeven", question.Params):
        if params.pointer != "none":
            continue
        counted = question.recorded(params).counters.pivot_table(
            index="step", columns="counter", values="value"
        )
        way = label(params.variant) if params.zerocopy else "copy"
        middle = (counted["instructions"] / counted["sends"]).median()
        medians.setdefault(way, {})[params.length] = middle
    return pd.DataFrame(medians).rename_axis("length").sort_index()


def pointer_instructions() -> pd.DataFrame:
    """Instructions of a zero-copy send on kernels with 8 bytes more in a struct, recorded.

    Returns
    -------
    DataFrame
        By `length` [bytes] `none`, the least of the repeats, for interrupts only add to it, and by
        `pointer` how many more than that; the lengths that all of these kernels were given.
    """
    question = experiment("gso/breakeven")
    minima: dict[str, dict[int, float]] = {}
    for params in records.recorded("gso/breakeven", question.Params):
        if params.variant == Variant.SHARED_COUNT and params.zerocopy:
            counted = question.recorded(params).counters.pivot_table(
                index="step", columns="counter", values="value"
            )
            least = (counted["instructions"] / counted["sends"]).min()
            minima.setdefault(params.pointer, {})[params.length] = least
    table = pd.DataFrame(minima).rename_axis("length").sort_index().dropna()
    more = table.drop(columns="none").sub(table["none"], axis=0)
    return pd.concat([table["none"], more[sorted(more)]], axis=1)


def vhost_copies() -> pd.DataFrame:
    """Calls of skb_copy_ubufs() in recorded runs of `gso/vhost` with its default packets.

    Returns
    -------
    DataFrame
        By `receiver`, `protocol` and `CPUs`; a column each for zero copy that is `off`, `on`, and
        `on, with the flag`, missing where no such run is recorded.
    """
    question = experiment("gso/vhost")
    packets = {"sends", "length", "segment", "held"}
    usual = question.Params().model_dump(include=packets)
    rows = []
    for params in records.recorded("gso/vhost", question.Params):
        if params.model_dump(include=packets) != usual:
            continue
        counted = question.recorded(params).counters.set_index("counter")["value"]
        zerocopy = "on, with the flag" if params.refcnt else "on"
        rows.append(
            {
                "receiver": "an unread tap" if params.unread else "a card",
                "protocol": params.protocol,
                "CPUs": params.cpus,
                "zero copy": zerocopy if params.zerocopy else "off",
                "copies": counted["copies"],
            }
        )
    table = pd.DataFrame(rows).astype({"copies": "Int64"})
    return table.pivot_table(
        index=["receiver", "protocol", "CPUs"],
        columns="zero copy",
        values="copies",
        aggfunc="first",
    )[["off", "on", "on, with the flag"]]


def vhost_instructions() -> pd.DataFrame:
    """Instructions of vhost's thread a byte of a guest's packets, recorded (`gso/vhost-cost`).

    Returns
    -------
    DataFrame
        By `length` [bytes], the median of the repeats: `off`, without zero copy, as is the default;
        `copied` and `shared`, with it; and how much `shared` has `saved` of `off` [%].
    """
    question = experiment("gso/vhost-cost")
    medians: dict[str, dict[int, float]] = {}
    for params in records.recorded("gso/vhost-cost", question.Params):
        counted = question.recorded(params).counters.pivot_table(
            index="step", columns="counter", values="value"
        )
        middle = (counted["instructions"] / counted["sends"]).median() / params.length
        way = "shared" if params.refcnt else "copied" if params.zerocopy else "off"
        medians.setdefault(way, {})[params.length] = middle
    table = pd.DataFrame(medians)[["off", "copied", "shared"]].rename_axis("length").sort_index()
    return table.assign(saved=100 * (1 - table["shared"] / table["off"]))


def streams() -> pd.DataFrame:
    """Streams of TCP, of the recorded runs of `gso/tcp`.

    Returns
    -------
    DataFrame
        By `variant`: of `clean`, `loss`, `reorder` and `both` what became of the stream, as the
        kernel showed it, and the kernel's `complaints` in all of them.
    """
    question = experiment("gso/tcp")
    rows: dict[str, dict[str, str | int]] = {}
    for params in records.recorded("gso/tcp", question.Params):
        kernel = question.recorded(params).counters.set_index("counter")["value"]
        way = WAYS[params.loss > 0, params.reorder > 0]
        row = rows.setdefault(label(params.variant), {"complaints": 0})
        row[way] = "wrong bytes" if kernel["corrupted"] else "as sent"
        row["complaints"] += int(kernel["complaints"])
    columns = [*WAYS.values(), "complaints"]
    return pd.DataFrame.from_dict(rows, orient="index")[columns].rename_axis("variant").sort_index()


def told() -> pd.DataFrame:
    """What senders heard of copies, of every recorded run of `gso/told` without its fix.

    Returns
    -------
    DataFrame
        `kernel`, `run`, and of the sends how many were `copied`, `told_copied` and `told_wrong`,
        in how many `notifications`.
    """
    question = experiment("gso/told")
    ours = [(None, params) for params in records.recorded("gso/told", question.Params)]
    rows = []
    others = [run for run in records.others("gso/told", question.Params) if not run[1].fixed]
    for release, params in [*ours, *others]:
        record = records.load("gso/told", params, release=release)
        counters = record.counters.set_index("counter")["value"].drop("told")
        kernel = record.provenance.kernel.release
        rows.append({"kernel": kernel, "run": to_cli(params), **counters})
    return pd.DataFrame(rows).sort_values(["kernel", "run"], ignore_index=True)


def lost_flags() -> pd.DataFrame:
    """What reproduce.py of the finding gso/lost-copied-flag counted, of each kernel that ran it.

    Returns
    -------
    DataFrame
        A row a kernel and a CPU that copied: `kernel`, `sender` and `copier` (CPUs), and of how
        many `copies` the sender was `not_told`.
    """
    pattern = r"copied on CPU (\d+): of (\d+) packets (\d+) are said not to be"
    rows = [
        {"kernel": answer.kernel, "sender": 0}
        | dict(zip(("copier", "copies", "not_told"), map(int, counted), strict=True))
        for answer in reproduced.newest("gso/lost-copied-flag")
        for counted in re.findall(pattern, answer.text)
    ]
    return pd.DataFrame(rows)


def broken() -> pd.DataFrame:
    """What a kernel with KASAN says of each design, recorded (`gso/broken`), and the model.

    Returns
    -------
    DataFrame
        A row a run: `variant`, `tap`, `model` and `kernel` (1: it complains), and `says`, the
        kernel's words.
    """
    question = experiment("gso/broken")
    rows = []
    for params in records.recorded("gso/broken", question.Params):
        values = question.recorded(params).counters.set_index("counter")["value"]
        complaints = values.index[values.index.str.startswith("kernel: ")]
        rows.append(
            {
                "variant": label(params.variant),
                "tap": params.tap,
                "model": int(question.simulate(params)["value"].iloc[0]),
                "kernel": int(values["complains"]),
                "says": "; ".join(words.removeprefix("kernel: ") for words in complaints),
            }
        )
    return pd.DataFrame(rows).sort_values(["tap", "variant"], ignore_index=True)


def layouts() -> pd.DataFrame:
    """Structs read out of kernels, here and elsewhere, against their declarations.

    Returns
    -------
    DataFrame
        A row a recorded run of `gso/layout`: `kernel`, `struct`, `pointer` (what it stands in
        front of), `size`, `aligned` and `holes` [bytes], how many counters were `compared` and are
        the `same`, `verdict`.
    """
    question = experiment("gso/layout")
    ours = [(None, params) for params in records.recorded("gso/layout", question.Params)]
    rows = []
    for release, params in [*ours, *records.others("gso/layout", question.Params)]:
        record = records.load("gso/layout", params, release=release)
        judged = question.agree(params, record)
        value = record.counters.set_index("counter")["value"]
        rows.append(
            {
                "kernel": record.provenance.kernel.release,
                "struct": params.struct,
                "pointer": params.pointer,
                **value[["size", "aligned", "holes"]],
                **_counted(judged),
                "verdict": str(judged.verdict),
            }
        )
    return pd.DataFrame(rows).sort_values(["kernel", "struct", "size"], ignore_index=True)


def verdicts(*names: str) -> pd.DataFrame:
    """Each recorded run of some experiments against the model.

    Returns
    -------
    DataFrame
        `experiment`, `run`, `verdict`, and how many counters were `compared` and are the `same`.
    """
    rows = []
    for name in names:
        question = experiment(name)
        for params in records.recorded(name, question.Params):
            judged = question.agree(params, question.recorded(params))
            row = {"experiment": name, "run": to_cli(params), "verdict": str(judged.verdict)}
            rows.append(row | _counted(judged))
    return pd.DataFrame(rows)


def selftests() -> pd.DataFrame:
    """The kernel's own tests: `test`, `run` and `passed` (commands), `checks`, and the kernel."""
    question = experiment("gso/selftest")
    rows = []
    for params in records.recorded("gso/selftest", question.Params):
        record = question.recorded(params)
        counters = record.counters.set_index("counter")["value"]
        kernel = record.provenance.kernel.release
        rows.append(
            {"test": params.test, **counters[["run", "passed", "checks"]], "kernel": kernel}
        )
    return pd.DataFrame(rows)


def elsewhere(name: str) -> pd.DataFrame:
    """Recorded runs on kernels that were not built here, a row each: `kernel`, then counters."""
    question = experiment(name)
    rows = []
    for release, params in records.others(name, question.Params):
        counted = records.load(name, params, release=release).counters
        rows.append({"kernel": release, **counted.set_index("counter")["value"]})
    return pd.DataFrame(rows)


def unread() -> pd.DataFrame:
    """Recorded runs of `gso/unread` without its fix: the kernel, the parameters, the counters."""
    question = experiment("gso/unread")
    rows = []
    for release, params in records.others("gso/unread", question.Params):
        if params.fixed:
            continue
        counted = records.load("gso/unread", params, release=release).counters
        values = counted.set_index("counter")["value"]
        rows.append({"kernel": release, **params.model_dump(), **values})
    # A sender that copies is told of nothing, so these counters are absent there.
    return pd.DataFrame(rows).astype(dict.fromkeys(UNREAD, "Int64"))


def patched(name: str) -> pd.DataFrame:
    """Recorded runs of `gso/told` or `gso/unread` with their fix, each after the one without it.

    Their counters; whether the defect goes, its reproducer says (`lorelab.judging.reproduced`).

    Returns
    -------
    DataFrame
        `kernel`, the same for both; `run`, `patch` (without, with), then the counters.
    """
    question = experiment(name)
    rows = []
    for release, params in records.others(name, question.Params):
        if not params.fixed:
            continue
        before = params.model_copy(update={"fixed": False})
        for patch, one in (("without", before), ("with", params)):
            counted = records.load(name, one, release=release).counters
            values = counted.set_index("counter")["value"]
            rows.append({"kernel": release, "run": to_cli(before), "patch": patch, **values})
    return pd.DataFrame(rows)


def newer(name: str) -> pd.DataFrame:
    """Every recorded run on a kernel that was not built here, against the model.

    Returns
    -------
    DataFrame
        `kernel`, `run`, how many counters were `compared` and are the `same`, and `differ`: those
        that are not.
    """
    question = experiment(name)
    rows = []
    for release, params in records.others(name, question.Params):
        judged = question.agree(params, records.load(name, params, release=release))
        differ = ", ".join(judged.table.loc[~judged.table["agrees"], "counter"])
        rows.append(
            {
                "kernel": release,
                "run": to_cli(params),
                **_counted(judged),
                "differ": differ or "none",
            }
        )
    return pd.DataFrame(rows)


DEFECTS = {
    "a clone releases the head once too often": (9, {"direct": False}),
    "a packet freed by __kfree_skb() never releases it": (3, {"clone": False}),
    "a frag_list member with a ubuf_info of its own is not seen": (
        1,
        {"member": True, "clone": False, "local": False, "direct": False},
    ),
    "local queues keep the sender's pages": (7, {"clone": False, "direct": False}),
    "the head stays charged until the last segment is gone": (
        8,
        {"clone": False, "local": False, "direct": False},
    ),
}
"""The five defects of the patch: the invariant that each breaks, and where it is looked for."""


def defects(variants: tuple[Variant, ...] = (Variant.PARENT, Variant.SHARED_COUNT)) -> pd.DataFrame:
    """Steps of the shortest way to each defect, by variant; 0 where there is none."""
    rows = {}
    for what, (number, scope) in DEFECTS.items():
        rows[what] = {
            label(v): len(lifetimes.shortest(lifetimes.Lifetimes(variant=v, **scope), number))
            for v in variants
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("defect")
