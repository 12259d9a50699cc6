"""Every figure of the zero-copy GSO thread, and what its authors and reviewers say in words."""

from lorelab.gso.model.structs import AS_POSTED
from lorelab.gso.params import Variant
from lorelab.gso.thread.checks import (
    SAFE,
    SIMPLE,
    weigh_after_all,
    weigh_all_truesizes,
    weigh_any_line,
    weigh_breaks,
    weigh_diffstat,
    weigh_essential,
    weigh_gain,
    weigh_in_sk_buff,
    weigh_keeps,
    weigh_lines,
    weigh_more_guests,
    weigh_only_zerocopy_pays,
    weigh_other_loads,
    weigh_pages_only,
    weigh_rate,
    weigh_reused_field,
    weigh_shared,
    weigh_still_a_win,
    weigh_struct,
    weigh_three_ways,
    weigh_verified,
    weigh_windows,
)
from lorelab.judging.claims import Claim, Weigh


def _claim(id: str, statement: str, place: str, check: str, weigh: Weigh) -> Claim:
    return Claim("gso", id, statement, place, check, weigh)


ARITHMETIC = "arithmetic on the printed figures"
DECLARED = "the 2014 declaration, laid out by the C ABI"
SEARCH = "every order of gso/lifetimes"

CLAIMS = [
    _claim(
        "base-bandwidth",
        "3.15.0-rc5: 34.4 GBytes in 300.7 s are 984 Mbit/s.",
        "rows base-*",
        ARITHMETIC,
        weigh_rate("base"),
    ),
    _claim(
        "patched-bandwidth",
        "With the patch: 42.5 GBytes in 300.7 s are 1.22 Gbit/s.",
        "rows patched-*",
        ARITHMETIC,
        weigh_rate("patched"),
    ),
    _claim("improvement", "The improvement is about 24 %.", "line 802", ARITHMETIC, weigh_gain),
    _claim(
        "more-guests",
        "The improvement is probably better the more guests run on a host.",
        "lines 16 to 17",
        "none",
        weigh_more_guests,
    ),
    _claim(
        "base-size",
        "sizeof(struct skb_shared_info) is 0x140.",
        "line 1084",
        DECLARED,
        weigh_struct("size", "base-size"),
    ),
    _claim(
        "base-frags1",
        "offsetof(struct skb_shared_info, frags[1]) is 0x40.",
        "line 1085",
        DECLARED,
        weigh_struct("frags1", "base-frags1"),
    ),
    _claim(
        "base-aligned",
        "Whole cache lines of it are 0x140.",
        "line 1087",
        DECLARED,
        weigh_struct("aligned", "base-aligned"),
    ),
    _claim(
        "patched-size",
        "With the patch its size is 0x148.",
        "line 1091",
        DECLARED,
        weigh_struct("size", "patched-size", AS_POSTED),
    ),
    _claim(
        "patched-frags1",
        "With the patch frags[1] stands at 0x48.",
        "line 1092",
        DECLARED,
        weigh_struct("frags1", "patched-frags1", AS_POSTED),
    ),
    _claim(
        "patched-aligned",
        "With the patch whole cache lines are 0x180.",
        "line 1094",
        DECLARED,
        weigh_struct("aligned", "patched-aligned", AS_POSTED),
    ),
    _claim(
        "all-truesizes",
        "The patch increases all skb truesizes.",
        "lines 1096 to 1097",
        f"{DECLARED}; kmalloc() buckets, 1 to 4096 bytes",
        weigh_all_truesizes,
    ),
    _claim(
        "two-lines",
        "A typical skb with one fragment uses two cache lines of it instead of one.",
        "lines 1096 to 1098",
        DECLARED,
        weigh_lines,
    ),
    _claim(
        "other-workloads",
        "The patch decreases performance on many other workloads.",
        "lines 1100 to 1101",
        f"{DECLARED}; packets that a receive buffer takes",
        weigh_other_loads,
    ),
    _claim(
        "more-than-one-line",
        "Struct, skb and data always take more than one cache line anyway.",
        "lines 438 to 439",
        DECLARED,
        weigh_any_line,
    ),
    _claim(
        "corruption",
        "Completing with the head lets GSO fragments be overwritten before they are sent.",
        "lines 1422 to 1423",
        SEARCH,
        weigh_breaks(
            Variant.HEAD_ONLY,
            {1: "wrong bytes"},
            "The head is released as soon as it is segmented, and the sender notified.",
            **SIMPLE,
        ),
    ),
    _claim(
        "orphan-safe",
        "With 1fd819ec there is no corruption; the patch is an optimisation.",
        "lines 1294 to 1295 and 1127 to 1128",
        SEARCH,
        weigh_keeps(
            Variant.ORPHAN,
            SAFE,
            "After the copy no segment refers to the sender's pages.",
            "An order breaks it.",
        ),
    ),
    _claim(
        "after-all-fragments",
        "The patch makes the completion come after all fragments were processed.",
        "lines 1424 to 1425",
        SEARCH,
        weigh_after_all,
    ),
    _claim(
        "verified",
        "The fix was verified by running the HCK OffloadLSO test.",
        "line 1429",
        "none",
        weigh_verified,
    ),
    _claim(
        "shared-count",
        "All segments should share the ubuf_info, and it should be counted.",
        "lines 1024 to 1025",
        f"{SEARCH}, on one CPU and on two",
        weigh_shared,
    ),
    _claim(
        "special-case-pays",
        "With the count in the ubuf_info, only zero copy pays for it.",
        "lines 700 to 704",
        "bytes and references of the two ways",
        weigh_only_zerocopy_pays,
    ),
    _claim(
        "still-a-win",
        "The extra counting is still a win over orphaning fragments.",
        "line 703",
        "instructions of gso/breakeven, recorded",
        weigh_still_a_win,
    ),
    _claim(
        "last-segment",
        "Handing the ubuf_info to the last segment is racy: it may be freed first.",
        "lines 1029 to 1031",
        SEARCH,
        weigh_breaks(
            Variant.LAST_SEGMENT,
            {1: "wrong bytes"},
            "A drop or a reordering that takes the last segment first is enough.",
            **SIMPLE,
        ),
    ),
    _claim(
        "page-refs",
        "skb_frag_ref() tried to do that only for fragments.",
        "line 987",
        SEARCH,
        weigh_pages_only,
    ),
    _claim(
        "pointer-essential",
        "The pointer is essential to fix how the kernel combines segmentation and zero copy.",
        "lines 443 to 445",
        f"{SEARCH}, of segments that are sent or dropped; traits of each way",
        weigh_essential,
    ),
    _claim(
        "three-ways",
        "An efficient solution needs a pointer in skb_shared_info, one in sk_buff, or a field that "
        "is there already.",
        "lines 447 to 451",
        f"{DECLARED}; traits of what was merged",
        weigh_three_ways,
    ),
    _claim(
        "disable",
        "Disabling zero copy for segmented packets is a workaround.",
        "line 446",
        SEARCH,
        weigh_keeps(
            Variant.NO_ZEROCOPY,
            SAFE,
            "No packet refers to the sender's pages.",
            "An order breaks it.",
        ),
    ),
    _claim(
        "reused-field",
        "Reusing an unused field of the skb is a bad idea.",
        "lines 450 to 451",
        "none",
        weigh_reused_field,
    ),
    _claim(
        "windows-gro",
        "The guest made the host segment because its Windows driver does not support GRO.",
        "lines 1427 to 1428",
        "none",
        weigh_windows,
    ),
    _claim("diffstat", "14 insertions and 5 deletions.", "line 1436", ARITHMETIC, weigh_diffstat),
]

NOT_CLAIMED = [
    _claim(
        "moved-to-sk-buff",
        "Would moving the pointer into sk_buff ease the memory penalty?",
        "lines 775 to 776",
        f"{DECLARED}; {SEARCH}",
        weigh_in_sk_buff,
    ),
    _claim(
        "clone",
        "A clone of a segment makes the patch release the head once too often.",
        "lines 1463 to 1470: the release runs for each sk_buff, the pointer is shared",
        SEARCH,
        weigh_breaks(
            Variant.PARENT,
            {4: "a wrong count", 9: "a release of what is gone", 1: "wrong bytes"},
            "The pointer is in what clones share, and cloning takes no reference.",
        ),
    ),
    _claim(
        "bypass",
        "A segment freed by __kfree_skb() never releases the head.",
        "lines 1461 to 1472: two functions release, and no other",
        f"{SEARCH}, no clones",
        weigh_breaks(
            Variant.PARENT,
            {3: "a sender that is never notified", 6: "pages that are never returned"},
            "net_tx_action() and receivers free packets that way.",
            clone=False,
        ),
    ),
    _claim(
        "frag-list",
        "A member of the frag_list with a ubuf_info of its own is protected no more.",
        "lines 1496 to 1515: only the head's flag is asked for",
        f"{SEARCH}, user pages in a member",
        weigh_breaks(
            Variant.PARENT,
            {1: "wrong bytes"},
            "The member is released with the head, and its ubuf_info with it.",
            member=True,
            **SIMPLE,
        ),
    ),
    _claim(
        "receive-rule",
        "Local receivers keep the sender's pages, because segments carry no flag.",
        "lines 1512 to 1515: no segment gets SKBTX_DEV_ZEROCOPY",
        SEARCH,
        weigh_breaks(
            Variant.PARENT,
            {7: "a local queue with the sender's pages"},
            "skb_orphan_frags() looks at the flag.",
        ),
    ),
    _claim(
        "head-charge",
        "The head's socket charge and route stay until the last segment is gone.",
        "lines 1512 to 1515: each segment holds the head",
        SEARCH,
        weigh_breaks(
            Variant.PARENT,
            {8: "a charge for what no queue holds"},
            "The whole sk_buff is held, where its pages would be enough.",
        ),
    ),
]
"""One question of the thread, and what the laboratory reads out of the posted diff.

Nobody in the thread said these, so the ledger leaves them out; the thread's page lists them apart.
"""
