"""What the claims of the zero-copy GSO thread are weighed against.

Each `weigh_` function takes nothing and returns a `Weighed`; `lorelab.gso.thread.claims` says which
claim it weighs. The verdicts follow from the evidence: change a figure or the model, and they move.
"""

from functools import cache

from lorelab.gso.experiments import lifetimes
from lorelab.gso.experiments.layout import fields
from lorelab.gso.figures import Span, figure, gain, printed_rate, rate, volume_rate
from lorelab.gso.model.layout import SMP_CACHE_BYTES, data_align, place
from lorelab.gso.model.structs import AS_POSTED, SHARED_INFO_2014
from lorelab.gso.pages import layout, views
from lorelab.gso.params import TRAITS, Layout, Lifetimes, Variant
from lorelab.gso.workload.layout import frag_lines
from lorelab.judging.claims import ClaimVerdict, Weigh, Weighed

SIMPLE = {"clone": False, "direct": False, "local": False}
"""Segments that are sent or dropped, and nothing else."""
SAFE = (1, 2, 3, 4, 5, 6, 9)
"""Invariants of memory and of what the sender is told."""


@cache
def steps_to_break(variant: Variant, number: int, **scope: int) -> int:
    """Steps of the shortest way that breaks an invariant, 0 if it holds; three segments."""
    return len(lifetimes.shortest(Lifetimes(variant=variant, **scope), number))


@cache
def struct(pointer: str = "none") -> dict[str, int]:
    """The 2014 shared info with the thread's pointer in some place, or nowhere."""
    laid = place(fields(Layout(pointer=pointer)))
    return {
        "size": laid.size,
        "aligned": data_align(laid.size),
        "frags1": laid.offset("frags[1]"),
        "lines": frag_lines(laid)[1],
    }


# The benchmark


def weigh_rate(kernel: str) -> Weigh:
    """Weigh a bandwidth against the volume and the time printed beside it."""

    def weigh() -> Weighed:
        volume, stated = volume_rate(kernel), printed_rate(kernel)
        fits = rate(kernel).low <= rate(kernel).high
        evidence = {
            "printed Mbit/s": (stated.low + stated.high) / 2,
            "volume over time, lowest": volume.low,
            "highest": volume.high,
        }
        return Weighed(
            ClaimVerdict.ARITHMETIC if fits else ClaimVerdict.CONTRADICTED,
            "Volume over time gives it, if GBytes are 2^30 bytes."
            if fits
            else "Volume over time gives another bandwidth.",
            evidence,
        )

    return weigh


def weigh_gain() -> Weighed:
    stated, gains = figure("improvement"), gain()
    evidence = {"printed %": stated, "and again %": figure("improvement-again")}
    evidence |= {"lowest %": gains.low, "highest %": gains.high}
    why = (
        f"All printed digits together allow {gains.low:.1f} to {gains.high:.1f} %; it is one run "
        "of each kernel, with no spread given."
    )
    # The message says "about": every number that rounds to the printed one is meant.
    meant = Span(stated - 0.5, stated + 0.5).meet(gains)
    if meant.low <= meant.high:
        return Weighed(ClaimVerdict.HOLDS, why, evidence)
    close = gains.low - 1 < stated < gains.high + 1
    return Weighed(ClaimVerdict.OTHER_NUMBER if close else ClaimVerdict.CONTRADICTED, why, evidence)


def weigh_more_guests() -> Weighed:
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        f"The message has one run with {figure('guests'):.0f} guests, and a second count of guests "
        "nowhere; throughput is not seen under emulation.",
        {"guests": int(figure("guests"))},
        judgement=True,
    )


# The struct


def weigh_struct(name: str, id: str, pointer: str = "none") -> Weigh:
    """Weigh a size or offset against the declaration."""

    def weigh() -> Weighed:
        computed, stated = struct(pointer)[name], int(figure(id))
        evidence = {"printed": hex(stated), "computed": hex(computed)}
        if computed == stated:
            return Weighed(ClaimVerdict.HOLDS, "The declaration gives it.", evidence)
        if pointer == "none":
            return Weighed(ClaimVerdict.CONTRADICTED, "The declaration gives another.", evidence)
        fitting = [
            row.before
            for row in layout.positions().itertuples()
            if row.before != "none" and struct(row.before)[name] == stated
        ]
        evidence["places that give it"] = ", ".join(fitting) or "none"
        return Weighed(
            ClaimVerdict.OTHER_NUMBER if fitting else ClaimVerdict.CONTRADICTED,
            "The pointer as posted stands behind a 4-byte field and leaves two holes of 4 bytes; "
            "the printed figure needs another place."
            if fitting
            else "No place for the pointer gives it.",
            evidence,
        )

    return weigh


def weigh_lines() -> Weighed:
    before, after = struct()["lines"], struct(AS_POSTED)["lines"]
    table = layout.positions().query("before != 'none'")
    cheaper = ", ".join(table.loc[table["lines"] == before, "before"])
    stated = figure("patched-lines")
    return Weighed(
        ClaimVerdict.HOLDS if (before, after) == (1, stated) else ClaimVerdict.CONTRADICTED,
        "The first fragment ends on the first line without the pointer and on the second with it; "
        "only behind the fragments it costs no line.",
        {"before": before, "after": after, "places that cost no line": cheaper},
    )


def weigh_all_truesizes() -> Weighed:
    sizes = layout.packets(range(1, 4097), struct()["size"], struct(AS_POSTED)["size"])
    kmalloc = float((sizes["before"] != sizes["after"]).mean())
    cut = float((sizes["frag_before"] != sizes["frag_after"]).mean())
    evidence = {
        "share of sizes, __alloc_skb()": kmalloc,
        "share of sizes, netdev_alloc_skb()": cut,
        "sizes that grow": "; ".join(
            f"{r.first} to {r.last}" for r in layout.jumps(320, 328).itertuples()
        ),
    }
    if kmalloc == cut == 1:
        return Weighed(ClaimVerdict.HOLDS, "Every packet's truesize grows.", evidence)
    return Weighed(
        ClaimVerdict.OTHER_NUMBER if cut == 1 else ClaimVerdict.CONTRADICTED,
        "A driver's receive buffers all grow. What __alloc_skb() makes, on the way out, has its "
        "shared info in the same kmalloc() bucket: few sizes jump, and those double.",
        evidence,
    )


def weigh_in_sk_buff() -> Weighed:
    table = layout.positions(struct="sk-buff")
    before = int(table.loc[table["before"] == "none", "aligned"].iloc[0])
    grown = table.loc[table["before"] != "none", "aligned"]
    gets = steps_to_break(Variant.PARENT_SKB, 3)
    return Weighed(
        ClaimVerdict.HOLDS if (grown == before).all() else ClaimVerdict.CONTRADICTED,
        "With every option of 3.15 there is room in the slab, wherever it stands. It fixes the "
        "memory alone: packets freed past kfree_skb() still leave the sender waiting.",
        {"slab before": before, "slab after, most": int(grown.max()), "steps to no end": gets},
    )


def weigh_any_line() -> Weighed:
    whole = struct()["aligned"] // SMP_CACHE_BYTES
    touched, posted = struct()["lines"], struct(AS_POSTED)["lines"]
    return Weighed(
        ClaimVerdict.HOLDS if whole > 1 else ClaimVerdict.CONTRADICTED,
        "The struct alone fills several. The review counts the lines of it that a packet with one "
        "fragment touches, which are fewer.",
        {"lines that it fills": whole, "touched without the pointer": touched, "with it": posted},
    )


def weigh_diffstat() -> Weighed:
    changed = figure("insertions") + figure("deletions")
    files, drawn = figure("files"), (1, 18)
    return Weighed(
        ClaimVerdict.ARITHMETIC
        if changed == sum(drawn) and files == len(drawn)
        else ClaimVerdict.CONTRADICTED,
        "The two files' counts add up to them.",
        {"printed": changed, "files": files, "1 | and 18 |": sum(drawn)},
    )


# Who may reuse a page, and when


def weigh_breaks(variant: Variant, numbers: dict[int, str], why: str, **scope: bool) -> Weigh:
    """A claim that a way is broken: it holds if the search breaks each of these invariants."""

    def weigh() -> Weighed:
        steps = {
            f"steps to {called}": steps_to_break(variant, number, **scope)
            for number, called in numbers.items()
        }
        broken = all(steps.values())
        return Weighed(
            ClaimVerdict.HOLDS if broken else ClaimVerdict.CONTRADICTED,
            why if broken else "The search finds no order that breaks it.",
            steps,
        )

    return weigh


def weigh_keeps(
    variant: Variant, numbers: tuple[int, ...], why: str, but: str, **scope: bool
) -> Weigh:
    """A claim that a way is safe: it holds if the search breaks none of these invariants."""

    def weigh() -> Weighed:
        steps_by_name = {f"I{n}": steps_to_break(variant, n, **scope) for n in numbers}
        broken = {name: steps for name, steps in steps_by_name.items() if steps}
        if not broken:
            names = {"invariants kept": ", ".join(steps_by_name)}
            return Weighed(ClaimVerdict.HOLDS, why, names)
        return Weighed(
            ClaimVerdict.CONTRADICTED, but, {f"steps to break {k}": v for k, v in broken.items()}
        )

    return weigh


def weigh_after_all() -> Weighed:
    steps_by_number = {n: steps_to_break(Variant.PARENT, n, **SIMPLE) for n in SAFE}
    outside = {
        "with a clone, steps to a completion too early": steps_to_break(
            Variant.PARENT, 1, direct=False
        ),
        "with __kfree_skb(), steps to none": steps_to_break(Variant.PARENT, 3, clone=False),
    }
    kept = not any(steps_by_number.values())
    return Weighed(
        ClaimVerdict.HOLDS if kept else ClaimVerdict.CONTRADICTED,
        "In one fair reading, not in another. Where segments are only sent or dropped, as the "
        "message may mean it, no order breaks it. With a clone of a segment the head is released "
        "once too often and the sender notified too early; a packet freed past kfree_skb() and "
        "consume_skb() never releases it."
        if kept
        else "An order of segments that are sent or dropped breaks it.",
        {
            "invariants kept there": ", ".join(
                f"I{n}" for n, steps in steps_by_number.items() if not steps
            )
        }
        | outside,
    )


def weigh_shared() -> Weighed:
    merged = Variant.SHARED_COUNT
    alone, every = (
        {n: steps_to_break(merged, n, cpus=cpus) for n in range(1, 10)} for cpus in (1, 2)
    )
    elsewhere = {
        "steps to break I7 at a queue without skb_orphan_frags_rx()": steps_to_break(
            merged, 7, rx_orphan=False
        ),
        "steps to break I5 over a card without scatter-gather": steps_to_break(
            merged, 5, gather=False
        ),
    }
    two = {f"steps to break I{n} on two CPUs": steps for n, steps in every.items() if steps}
    return Weighed(
        ClaimVerdict.CONTRADICTED if any(alone.values()) else ClaimVerdict.HOLDS,
        "Merged for MSG_ZEROCOPY in 4.14. On one CPU no order of the model breaks an invariant, "
        "as long as each local queue is behind skb_orphan_frags_rx() and the card gathers "
        "fragments. Without the rule, as at a macvtap's ring, a queue keeps the sender's pages "
        "(I7); without scatter-gather a copy is not reported (I5); and two CPUs that complete "
        "segments at once can forget a copy (I5).",
        {"invariants kept on one CPU": sum(not steps for steps in alone.values())}
        | elsewhere
        | two,
    )


def weigh_essential() -> Weighed:
    safe = {
        variant
        for variant, traits in TRAITS.items()
        if not traits.copies and not any(steps_to_break(variant, n, **SIMPLE) for n in SAFE)
    }
    linked = {variant for variant in safe if TRAITS[variant].parent or TRAITS[variant].counts}
    merged = TRAITS[Variant.SHARED_COUNT]
    return Weighed(
        ClaimVerdict.HOLDS if safe == linked else ClaimVerdict.CONTRADICTED,
        "In one fair reading, not in another. In each way of the model that copies nothing and is "
        "safe, every segment points to what has to outlive it, the parent or the counted "
        "ubuf_info. A pointer to the parent itself is not needed: what was merged has none."
        if safe == linked
        else "A way whose segments point to nothing is safe.",
        {
            "ways that copy nothing and are safe": len(safe),
            "of which segments point to what outlives them": len(linked),
            "merged, segments hold the parent": merged.parent,
        },
    )


def weigh_three_ways() -> Weighed:
    merged = TRAITS[Variant.SHARED_COUNT]
    [known] = [field.name for field in SHARED_INFO_2014 if field.name == "destructor_arg"] or [""]
    added = merged.shared_info_bytes + merged.sk_buff_bytes
    return Weighed(
        ClaimVerdict.HOLDS if known and not added else ClaimVerdict.CONTRADICTED,
        "Read widely: the merged segments point to the ubuf_info in destructor_arg, which the "
        "struct had and segments left empty. That is the third way, with another use than the "
        "message may have meant.",
        {"field": known, "bytes more in any struct": added},
    )


def weigh_still_a_win() -> Weighed:
    spent = views.instructions().query("length > 1400")
    less = 1 - spent["shared-count"] / spent["orphan"]
    return Weighed(
        ClaimVerdict.HOLDS if less.min() > 0 else ClaimVerdict.CONTRADICTED,
        "Counted in instructions, on 6.12.117 under emulation, where a copied byte is one "
        "instruction and cache misses are not seen: a send of more than one segment takes fewer.",
        {"fewer %, least": 100 * less.min(), "most": 100 * less.max()},
    )


def weigh_verified() -> Weighed:
    kept = [n for n in SAFE if not steps_to_break(Variant.PARENT, n, **SIMPLE)]
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        "The HCK and a Windows guest are not run here, and what OffloadLSO exercises is unknown. "
        "Where segments are only sent or dropped, no order of the model breaks the invariants of "
        "memory and of notifications to the sender.",
        {"invariants kept there": ", ".join(f"I{n}" for n in kept)},
        judgement=True,
    )


def weigh_reused_field() -> Weighed:
    broken = {n: steps_to_break(Variant.PARENT_FIELD, n) for n in range(1, 10)}
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        "What is a bad idea is for maintainers to say. In the model it breaks less than the patch "
        "as posted: the head's charge stays until the last segment is gone, as with the patch.",
        {f"steps to break I{n}": steps for n, steps in broken.items() if steps},
        judgement=True,
    )


def weigh_pages_only() -> Weighed:
    same = TRAITS[Variant.PAGE_REFS] == TRAITS[Variant.HEAD_ONLY]
    stale = steps_to_break(Variant.PAGE_REFS, 1)
    return Weighed(
        ClaimVerdict.ARITHMETIC if same and stale else ClaimVerdict.CONTRADICTED,
        "True by construction: the model has no other form for it than that of before 1fd819ec. "
        "References keep a page from being freed, not from being written.",
        {"steps to wrong bytes": stale, "same traits as before 1fd819ec": same},
    )


def weigh_only_zerocopy_pays() -> Weighed:
    traits = TRAITS[Variant.SHARED_COUNT]
    added = traits.shared_info_bytes + traits.sk_buff_bytes
    return Weighed(
        ClaimVerdict.ARITHMETIC if added == 0 and traits.counts else ClaimVerdict.CONTRADICTED,
        "True by construction: no struct of an ordinary packet grows, and only segments that have "
        "a ubuf_info take a reference of it. All segments still make the call that asks for one.",
        {"bytes in every packet": added, "patch as posted": data_align(328) - data_align(320)},
    )


def weigh_windows() -> Weighed:
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        "No Windows guest runs here. GRO is Linux's name for merging on receive in software; what "
        "made the host segment was that the guest took no large receive offload.",
        {"guests": int(figure("guests"))},
        judgement=True,
    )


def weigh_other_loads() -> Weighed:
    table = layout.packets(range(64, 1729, 64), struct()["size"], struct(AS_POSTED)["size"])
    grown = table[table["before"] != table["after"]]
    fewer = 1 - grown["fit_after"] / grown["fit_before"]
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        "Cache misses and pressure are not seen under emulation; the memory is counted: of packets "
        f"that need the next bucket, a receive buffer holds up to {100 * fewer.max():.0f} % fewer, "
        "of all others as many as before.",
        {"most packets fewer in a socket's buffer": float(fewer.max())},
        judgement=True,
    )
