"""What maintainers of memory management would want to know, or have fixed since."""

from lorelab.fairzone.pages import answers, node_hits
from lorelab.fairzone.params import Tiobench, Variant
from lorelab.judging.findings import ARCHIVES, LOOKED, Finding, PriorArt

GONE = (
    "the policy is gone since 4.8 (e6cbd7f2efb4); 7.3.4 has neither batches nor an LRU per zone, "
    "by its source (mm/page_alloc.c, include/linux/mmzone.h)"
)
SLOW, KEPT = 20, 19200
"""MB/s of the slow disk of `fairzone/nodes`, and min_free_kbytes beside it."""
REPAIRS = (", asks local zones", ", asks reachable zones")


def never_resets() -> str:
    """Resets and passes of v1, its local repair and ours, and from which memory on that is so."""
    reads = answers.repairs(Tiobench())
    v1, local, ours = (reads.loc[f"v1{name}"] for name in ("", *REPAIRS))
    assert v1["resets"] == local["resets"] == 0 < ours["resets"], "asking every zone, no reset"
    return (
        f"on the machine of June 2014 {v1['resets']:.0f} resets with v1, {local['resets']:.0f} "
        f"with its repair and {v1['passes']:.2f} passes per allocation; {ours['passes']:.2f} if "
        "zones that can't serve are not asked. It is so from "
        f"{answers.dma_is_out_from(Tiobench())} MiB of memory on, at that min_free_kbytes (model)"
    )


def read_back() -> str:
    """Hits of the reads that follow the writes, with the cache kept and dropped."""
    hits = answers.read_back(Tiobench())
    assert hits.loc["caches dropped"].nunique() == 1, "no gain with caches dropped"
    return (
        f"v1 finds {hits.loc['as posted', 'v1']:.1f} % of the reads cached and the baseline "
        f"{hits.loc['as posted', 'baseline']:.1f} %; with caches dropped in between both find "
        f"{hits.loc['caches dropped', 'v1']:.0f} % (model)"
    )


def nap() -> str:
    """DMA32's share of the reads without a policy, with the nap and without; hits on two nodes."""
    napping, not_napping = (
        answers.phases(Tiobench(variant=Variant.OFF, disk_mb_s=speed)).loc["read"]
        for speed in (Tiobench().disk_mb_s, 0)
    )
    return (
        f"without a policy DMA32 serves {100 * napping['share']:.1f} % of the reads, with "
        f"{100 * napping['size']:.0f} % of the memory; with a kswapd that sleeps at once it serves "
        f"{100 * not_napping['share']:.1f} % (model). {on_two_nodes()}"
    )


def on_two_nodes() -> str:
    """What an unmodified 6.12.117 finds of data of twice the memory, from each node."""
    table = node_hits.unpatched().xs((SLOW, KEPT), level=("MB/s", "KiB kept"))
    both, alone = (table.loc[reader] for reader in node_hits.READERS)
    return (
        f"On two nodes an unmodified 6.12.117 finds {alone['hits, min'].min():.1f} to "
        f"{alone['hits, max'].max():.1f} % of what it has written to a disk of {SLOW} MB/s, with "
        f"its reader on a node of one zone ({alone['runs'].sum()} runs of {len(alone)} boots); "
        f"{both['hits, max'].max():.0f} % with the reader beside ZONE_DMA "
        f"({both['runs'].sum()} runs)"
    )


def what_fits() -> str:
    """Reads from the disk of data that fits into memory."""
    hits = answers.read_back(Tiobench()).loc["80 % of memory"]
    return (
        f"of data of 80 % of memory, just written, v1 reads {100 - hits['v1']:.1f} % from the "
        f"disk, and the baseline {100 - hits['baseline']:.1f} % (model)"
    )


def drift() -> str:
    """Second walks and share with counters that drift and with exact ones."""
    walks, table = answers.drift_walks(), answers.drift()
    share, ours = table["DMA32's share, %"], walks.loc["v1-reachable"]
    return (
        f"with 64 CPUs v1-reachable walks a second time {ours['per CPU']:.0f} times, and "
        f"{ours['exact']:.0f} with exact counters; DMA32's share is {share['per CPU']:.2f} % and "
        f"{share['exact']:.2f} % (model)"
    )


FINDINGS = [
    Finding(
        design="fairzone",
        name="v1-never-resets",
        defect="v1, and its repair for local zones, ask every zone whether it has batch left; "
        "ZONE_DMA always has where its lowmem reserve keeps all user pages out, until 8 of its "
        "pages are taken by somebody else and folded into the counter.",
        hurts="anyone who would have run the patch of 29 May 2014 on x86-64 with 4 GiB or more",
        effect=never_resets,
        prior_art=PriorArt(
            {
                "1403683129-10814-5-git-send-email-mgorman@suse.de": "Mel Gorman, 25 June 2014, "
                "leaves small zones such as DMA out of the policy; why v1 would need it, the "
                "message does not say"
            },
            where=ARCHIVES,
            how="NR_ALLOC_BATCH, ZONE_DMA, lowmem reserve, reset of the batches",
            when=LOOKED,
        ),
        fix="the patch was not merged. It would have to ask only zones with more managed pages "
        "than mark and reserve (mode v1-reachable)",
        mainline=f"v1 was not merged; {GONE}",
        worth_sending=False,
        command="model fairzone/batches -p variant=v1-local",
    ),
    Finding(
        design="fairzone",
        name="benchmark-reads-back",
        defect="tiobench reads the files that it has just written, so a policy that leaves old "
        "pages in one zone serves reads from memory although the data is twice as large.",
        hurts="anyone who compares reclaim by a benchmark that reads its own writes",
        effect=read_back,
        prior_art=PriorArt(
            {
                "20140702154439.GE1369@cmpxchg.org": "Johannes Weiner, 2 July 2014, found it: "
                "tiobench reads the file that it has just written, and the patches that showed "
                "major improvements ruined fairness",
                "20140702155347.GA10819@suse.de": "Mel Gorman withdrew the series nine minutes "
                "later",
            }
        ),
        fix="no kernel is wrong. Between the phases: sync; echo 1 > /proc/sys/vm/drop_caches, for "
        "dirty pages stay; "
        "with fio, leave invalidate at 1, its default",
        mainline="a benchmark's error, not a kernel's",
        worth_sending=False,
        command="model fairzone/tiobench -p variant=v1",
    ),
    Finding(
        design="fairzone",
        name="nap-refills-one-zone",
        defect="At the end of a nap kswapd of 3.15 goes on if any zone is below its high "
        "watermark, and so refills Normal before the allocator has turned to DMA32.",
        hurts="kernels before 4.8 whose fair policy is off or does not work",
        effect=nap,
        prior_art=PriorArt(
            {
                "https://lkml.iu.edu/hypermail/linux/kernel/1307.2/04202.html": "Johannes Weiner, "
                "July 2013: kswapd and a stream of allocations keep the preferred zone between its "
                "watermarks, and the lower zones unused",
            }
        ),
        fix="fixed in 4.8 by e6cbd7f2efb4: with one LRU per node it no longer matters which zone "
        "is refilled",
        mainline="within a node no longer: its zones share one LRU. The nap is still in "
        "kswapd_try_to_sleep() of 7.3.4 (mm/vmscan.c). Between two nodes an unmodified 6.12.117 "
        "has the inversion, and from a node of one zone the hits (fairzone/nodes); on 7.3.4, where "
        "few runs of kswapd began at a nap's end, the near node kept its pages longer "
        "(fairzone/tiers)",
        worth_sending=False,
        command="model fairzone/tiobench -p variant=off",
    ),
    Finding(
        design="fairzone",
        name="v1-evicts-what-fits",
        defect="With v1 kswapd evicts pages from Normal while DMA32 still has room.",
        hurts="readers whose data would have fitted into memory",
        effect=what_fits,
        prior_art=PriorArt(
            {
                "https://lkml.iu.edu/hypermail/linux/kernel/1307.2/04202.html": "Johannes Weiner, "
                "July 2013, of kernels without a policy: the lower zones are underutilized, and "
                "the preferred one thrashes",
                "20140701212538.GD1369@cmpxchg.org": "Johannes Weiner, 1 July 2014, of v4r8: not "
                "the right thing for in-core workloads",
            }
        ),
        fix="none needed: the patch was not merged",
        mainline=f"v1 was not merged; {GONE}",
        worth_sending=False,
        command="model fairzone/tiobench -p variant=v1 -p data_percent=80",
    ),
    Finding(
        design="fairzone",
        name="drift-costs-walks",
        defect="Per-CPU counters drift, so batches do not run out together, as the thread says: "
        "that costs walks of the zonelist and does not move the zones' shares.",
        hurts="machines of many CPUs before 4.8, by walks",
        effect=drift,
        prior_art=PriorArt(
            {
                "4ffeaf3560a5": "Mel Gorman, 2014, walks again only if a zone was "
                "skipped for its batch"
            }
        ),
        fix="reduced in 3.17 by 4ffeaf3560a5, which walks again only if a zone was skipped for its "
        "batch; gone with the policy in 4.8",
        mainline=GONE,
        worth_sending=False,
        command="model fairzone/batches -p variant=v1-reachable -p cpus=64 -p threads=64 -p turn=1",
    ),
]
