"""What the evaluation of 9 March 2020 claims, each claim with how it is weighed."""

from lorelab.damon.thread import checks, observed
from lorelab.judging.claims import Claim, Weigh


def _claim(id: str, statement: str, place: str, weigh: Weigh, check: str = "") -> Claim:
    return Claim("damon", id, statement, place, check or "arithmetic on the printed cells", weigh)


def _total(
    id: str, statement: str, metric: str, configuration: str, sign: int = 1, digits: int = 2
) -> Claim:
    return _claim(id, statement, id, checks.total_follows(id, metric, configuration, sign, digits))


RULES = "the printed bounds, as the model of 6.12 compares them"

CLAIMS = [
    _claim("cells", "234 overheads, in per cent of orig.", "lines 176 to 306", checks.cells),
    _claim("totals", "Twelve totals.", "lines 201, 230, 306", checks.totals),
    _claim(
        "speedup",
        "Runtimes that shrink by 37.12 % are a speedup of 37.12 %.",
        "line 254",
        checks.speedup,
    ),
    _claim("workloads", "13 and 12 workloads.", "line 106", checks.counts),
    _claim(
        "appendix",
        "Standard deviation, least and greatest of 5 runs are in an appendix.",
        "lines 117 to 119",
        checks.appendix,
        "rows of data/threads/damon.csv",
    ),
    _claim(
        "accurate",
        "DAMON is accurate enough for the management of DRAM.",
        "lines 48 to 49, 90",
        observed.accurate,
        "damon/accuracy on a kernel: bytes taken for hot or cold that are not",
    ),
    _claim(
        "light",
        "DAMON makes the workloads only 0.76 % slower.",
        "tldr-rec-runtime, overhead-rec-runtime",
        checks.light,
    ),
    _claim(
        "summary",
        "The summary has the figures of the evaluation.",
        "tldr-*",
        checks.summary,
        "its rows against those below",
    ),
    _claim(
        "rec-runtime-worst",
        "At worst 2.38 % slower, in canneal.",
        "overhead-rec-runtime-worst",
        checks.extreme("overhead-rec-runtime-worst", "runtime", "rec", highest=True),
    ),
    _total(
        "overhead-rec-memused",
        "-0.08 % more memory.",
        "memused.avg",
        "rec",
    ),
    _claim(
        "saves-memory",
        "DAMON is lightweight: it takes only -0.08 % more system memory.",
        "tldr-rec-memused",
        checks.saves_memory,
    ),
    _claim(
        "wrapper",
        "The wrapper takes about 10 to 15 MB, and that is the overhead of five small rows.",
        "lines 239 to 245",
        checks.wrapper,
    ),
    _claim(
        "wrapper-percent",
        "19, 90, 31, 10 and 32 % in these five.",
        "wrapper-*",
        checks.wrapper_percent,
    ),
    *(
        _claim(
            f"wrapper-{name}",
            f"The five rows' overhead continues in {name}.",
            "lines 245 to 247",
            observed.continues(name),
        )
        for name in ("ethp", "prcl")
    ),
    _claim(
        "footprints",
        "The five use 125, 15, 45, 151 and 46 MiB.",
        "footprint-*",
        checks.footprints,
    ),
    _claim(
        "bounded",
        "Overhead has an upper bound whatever the size of the target.",
        "lines 52 to 53",
        checks.bounded,
        "damon/overhead on a kernel at the upper bound; ranks of the rows",
    ),
    _total("thp-speedup", "thp saves 4.5 % of the time.", "runtime", "thp", -1, 1),
    _total("thp-memused", "thp takes 7.04 % more memory.", "memused.avg", "thp"),
    _claim(
        "thp-best",
        "At best 37.12 % faster, in ocean_ncp.",
        "thp-speedup-best",
        checks.extreme("thp-speedup-best", "runtime", "thp", highest=False),
    ),
    _claim(
        "thp-worst",
        "At worst 81.43 % more memory, in ocean_ncp.",
        "thp-memused-worst",
        checks.extreme("thp-memused-worst", "memused.avg", "thp", highest=True),
    ),
    _claim("thp-waste", "In total thp wastes memory.", "lines 253 to 260", checks.waste),
    _total("ethp-speedup", "ethp saves 1.83 % of the time.", "runtime", "ethp", -1),
    _total("ethp-memused", "ethp takes 1.15 % more memory.", "memused.avg", "ethp"),
    _claim(
        "ethp-waste",
        "ethp removes 83.66 % of thp's waste.",
        "tldr-ethp-waste, ethp-waste",
        checks.removed("ethp-waste", "total"),
    ),
    _claim(
        "ethp-kept",
        "ethp keeps 40.67 % of thp's speedup.",
        "tldr-ethp-speedup, ethp-kept",
        checks.kept("ethp-kept", "total"),
    ),
    _claim(
        "ethp-waste-ocean_ncp",
        "In ocean_ncp it removes 70 %.",
        "ethp-waste-ocean_ncp",
        checks.removed("ethp-waste-ocean_ncp", "splash2x/ocean_ncp", digits=0),
    ),
    _claim(
        "ethp-kept-ocean_ncp",
        "In ocean_ncp it keeps 48.49 %.",
        "ethp-kept-ocean_ncp",
        checks.kept("ethp-kept-ocean_ncp", "splash2x/ocean_ncp"),
    ),
    _claim(
        "ethp-rules",
        "Huge pages above 5 %, regular pages below 5 %.",
        "lines 142 to 145",
        observed.ethp_rules,
        RULES,
    ),
    _claim(
        "prcl-rules",
        "prcl pages out what is above 4 KB, below 5 % and older than 5 s.",
        "lines 147 to 148",
        observed.prcl_rules,
        RULES,
    ),
    _total("prcl-runtime", "prcl is 4.84 % slower.", "runtime", "prcl"),
    _total("prcl-memused", "prcl uses 5.33 % less memory.", "memused.avg", "prcl", -1),
    _total("prcl-rss", "prcl shrinks resident sets by 23.59 %.", "rss.avg", "prcl", -1),
    _claim(
        "prcl-best",
        "In the best case, freqmine: -22.42, -88.86, +3.07 %.",
        "lines 93 to 95, 310 to 312",
        checks.best_case,
    ),
    _claim(
        "swapcache",
        "MemFree understates prcl, for swap-cached pages count as used.",
        "lines 276 to 278",
        checks.swapcache,
    ),
    _claim(
        "cover-speedup",
        "A DAMON-based optimisation is up to 2.55 times faster.",
        "cover-speedup",
        checks.cover_speedup,
    ),
    _claim(
        "cover-lighter",
        "DAMON is up to 94.242.42 times lighter than a page scan.",
        "line 52",
        checks.lighter,
    ),
]
