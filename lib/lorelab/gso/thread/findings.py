"""What maintainers of the network would want to know."""

from datetime import date

from lorelab.experiments import experiment
from lorelab.gso.experiments import lifetimes
from lorelab.gso.model.flag import interleavings
from lorelab.gso.model.unread import notifications
from lorelab.gso.pages import views
from lorelab.gso.params import Lifetimes, Told, Traffic, Variant, Vhost
from lorelab.judging.findings import ARCHIVES, LOOKED, Finding, PriorArt
from lorelab.numerics import PAGE


def _vhost() -> str:
    question = experiment("gso/vhost")
    before, after = (
        question.recorded(Vhost(refcnt=refcnt)).counters.set_index("counter")["value"]
        for refcnt in (False, True)
    )
    newest = views.elsewhere("gso/vhost").iloc[-1]
    assert before["copies"] and not after["copies"], "none is copied with the flag"
    return (
        f"of {before['told']} packets of a guest vhost sends {before['completions']} with zero "
        f"copy, and that one is copied ({before['copied_bytes']} bytes); with the flag none is "
        f"copied, {after['told']} come back once each after {after['completions']} completions, "
        f"and {after['wrong']} segments are wrong (exact, 6.12.117); {newest['kernel']} copies "
        f"{newest['copied_bytes']} bytes of the same packets"
    )


def _flag() -> str:
    ways, mended = interleavings(1, 1), interleavings(1, 1, mended=True)
    steps = len(lifetimes.shortest(Lifetimes(cpus=2, segments=2), 5))
    runs = views.lost_flags().query("copier == 1").set_index("kernel")
    [[here, most]] = runs.filter(like="6.18", axis=0)[["not_told", "copies"]].to_numpy()
    before, after = runs.loc[["7.3.4", "7.3.4 with the patches"]].to_dict("records")
    lost = [(ways.lost, mended.lost), (before["not_told"], after["not_told"])]
    assert all(without > 0 == patched for without, patched in lost), "the patch loses no flag"
    return (
        f"on a vendor's 6.18.44, in a virtual machine, {here} of {most} copies of packets that "
        f"another CPU copies while the sending CPU frees them are not reported; 7.3.4 in QEMU "
        f"does not report {before['not_told']} of {before['copies']:,}, and with the patch "
        f"{after['not_told']} of {after['copies']:,}. {ways.lost} of {ways.all} "
        f"interleavings of one sent and one copied segment lose the flag, the shortest after "
        f"{steps} steps; with the patch {mended.lost} (the model's orders)"
    )


def _told() -> str:
    late = views.told().set_index("run")
    most = notifications()
    lent, copied = late.loc["default"], late.loc["copied_first=true"]
    [(untold, told)] = set(zip(lent["copied"], lent["told_copied"], strict=True))
    [(true, over)] = set(zip(copied["copied"], copied["told_copied"], strict=True))
    fixed = views.patched("gso/told").query("patch == 'with' and run == 'default'").iloc[-1]
    return (
        f"{Told().sends} sends, alternately zero copy and copied, with the error queue read after "
        f"the last. If the first is zero copy, {told} of {untold} copies are reported; if the "
        f"first is copied, {over} sends are reported as copied where {true} were, which the "
        f"documented range allows (exact, {', '.join(lent['kernel'])}). With the patch, as a live "
        f"patch in {fixed['kernel']}, {fixed['told_copied']} are reported as copied in the first "
        f"case too, in {fixed['notifications']} notification. A notification wherever the two "
        f"alternate would be charged to the socket, and {most} of them fit into the default "
        f"optmem_max"
    )


def _unread() -> str:
    runs = views.unread().query("zerocopy and sends == 64 and receiver != 'raw'")
    silent = runs.query("receiver != 'tun' and csum")
    heard = runs.query("receiver == 'tun' or not csum")
    [(taken, told, pinned, refused)] = set(
        zip(*(silent[name] for name in ("taken", "told", "pinned", "refused")), strict=True)
    )
    [(all_told, free)] = set(zip(heard["told"], heard["pinned"], strict=True))
    fixed = views.patched("gso/unread").query("patch == 'with' and taken == 64")
    [mended] = fixed["kernel"].unique()
    [now] = set(zip(*(fixed[name] for name in ("told", "pinned", "refused")), strict=True))
    return (
        f"if the tap takes packets without a checksum (TUN_F_CSUM, as QEMU sets it), "
        f"{told} of {taken} UDP sends complete within 2 s. After the sender's exit {pinned} "
        f"of its pages and its network namespace stay until the ring is read, and {refused} of 1 "
        f"further send of the same user fails meanwhile (ENOBUFS at RLIMIT_MEMLOCK). Without the "
        f"flag, and with tun, {all_told} complete, as copied, and {free} pages stay (exact, "
        f"{' and '.join(sorted(set(runs['kernel'])))}, one CPU). With the patch in tap.ko of "
        f"{mended}, macvtap and ipvtap: {now[0]} complete, {now[1]} pages stay, {now[2]} further "
        "sends fail; the namespace stays, as the packets are charged to the socket"
    )


def _raw() -> str:
    runs = views.unread().query("zerocopy and receiver == 'raw'").set_index("kernel")
    totals = {
        name.partition("+")[0]: (run["told"], run["taken"], run["pinned"], run["left"])
        for name, run in runs.iterrows()
    }
    (before, taken, free, _), (after, _, pinned, left) = totals["6.12.117"], totals["7.3.4"]
    return (
        f"of {taken} UDP sends with the option, over a veth to a namespace that forwards, nobody "
        f"reading the socket: 6.12.117 completes {before}, as copied, and {free} pages stay after "
        f"the sender has exited; 7.3.4 completes {after}, and {pinned} pages and {left} network "
        f"namespace stay until the socket is read (exact, one CPU)"
    )


def _late() -> str:
    question = experiment("gso/traffic")
    late, early = (
        question.recorded(Traffic(received=True, variant=variant)).counters.set_index("counter")
        for variant in (Variant.SHARED_COUNT, Variant.ORPHAN)
    )
    pages = -(-56_000 // PAGE), 40 * -(-1400 // PAGE)
    return (
        f"{late['value']['copies']} calls of skb_copy_ubufs() instead of "
        f"{early['value']['copies']} for the same bytes, and {pages[1]} pages a packet instead of "
        f"{pages[0]} (exact, 6.12.117)"
    )


JASON_APRIL = "CACGkMEucg5mduA-xoyrTRK5nOkdHvUAkG9fH6KpO=HxMVPYONA@mail.gmail.com"
JASON_MAY = "CACGkMEugQPYZuL75i7xBGy9vUmkH=6NN1uhi9wuLa4ruebAcew@mail.gmail.com"
KOHLER = "92470838-2B98-4FC6-8E5B-A8AF14965D4C@nutanix.com"

FINDINGS = [
    Finding(
        design="gso",
        name="vhost-copies",
        defect="vhost_net sets SKBFL_ZEROCOPY_FRAG without SKBFL_DONT_ORPHAN, so skb_segment() "
        "copies each packet of a guest before it cuts it, and vhost gives zero copy up.",
        hurts="Few: zero copy of vhost_net is off by default since 098eadce3c62 (Jason Wang, June "
        "2019), because of head-of-line blocking, and as copies were faster for small packets.",
        effect=_vhost,
        prior_art=PriorArt(
            {
                "098eadce3c62": "Jason Wang, 2019, turned zero copy off by default",
                "20250404145241.1125078-1-jon@nutanix.com": "Jon Kohler, 2025, would remove it, "
                "and names the missing flag",
                JASON_APRIL: "Jason Wang answers that zero copy may still work in some setups, "
                "such as macvtap passthrough, and that the flag could be tried",
                KOHLER: "Jon Kohler has tried the flag: not faster; and zero copy for 32K and more "
                'alone: throughput "actually went down", CPU utilization "down a pinch"',
                JASON_MAY: "Jason Wang calls safety the main issue, and suggests zero copy by "
                "default with macvtap",
            }
        ),
        fix="none here. The cause is known, and the flag alone is not safe. With "
        "the flag a guest's pages reach the ring of a macvtap, the queues of NFQUEUE and Open "
        "vSwitch, and drivers that call skb_orphan_frags(). What is added here is the counts.",
        mainline="7.3.4 has it, booted and seen (Debian's 7.3.4+deb13-amd64)",
        worth_sending=False,
        command="kernel gso/vhost -p refcnt=true",
    ),
    Finding(
        design="gso",
        name="unread-macvtap",
        defect="tap_handle_frame() queues a packet without skb_orphan_frags_rx(), and "
        "____dev_forward_skb() before it calls skb_orphan_frags(), which SKBFL_DONT_ORPHAN skips. "
        "So a MSG_ZEROCOPY sender whose packets reach the device below a macvtap or ipvtap (over "
        "macvlan, ipvlan, a veth, a bridge) has its pages in a ring that nobody has to read; "
        "msg_zerocopy.rst promises a copy for "
        "local sockets, packet sockets and tun.",
        hurts="Senders on the host of a guest that does not read its macvtap, such as containers; "
        "also by io_uring (a vendor's 6.18.44, one run of lib/kernel/gso/queues/io_uring.py).",
        effect=_unread,
        prior_art=PriorArt(
            {
                "48c830120f2a": "Michael S. Tsirkin, 2011, copies in dev_forward_skb(), as a "
                "macvtap in bridge mode may keep the pages for ever; since 1f8b977ab32d (2017) "
                "MSG_ZEROCOPY packets pass there",
                "643ff7a7a551f_38347529475@willemb.c.googlers.com.notmuch": "Willem de Bruijn, "
                "2023, states the rule: zero-copy packets are not looped to sockets that can queue "
                "them indefinitely",
                "50749f2dd685": "Kuniyuki Iwashima, 2023, applied the rule to the error queue",
                "9c4c325252c5": "Flavio Leitner, 2018: a packet that crosses namespaces keeps its "
                "socket, and so stays charged to the sender",
            },
            where=ARCHIVES,
            how="tap_handle_frame, skb_orphan_frags_rx, macvtap, MSG_ZEROCOPY",
            when=LOOKED,
        ),
        fix="lib/kernel/gso/upstream/unread-macvtap: skb_orphan_frags_rx() in tap_handle_frame(), "
        "as tun_net_xmit() has it, booted in 7.3.4 without it and with it; in 6.12.117 as tap.ko, "
        "which make -C lib/kernel/gso/fixed builds",
        mainline="7.3.4 has it, booted and seen (Debian's 7.3.4+deb13-amd64)",
        worth_sending=True,
        command="model gso/unread",
        config="sockets",
    ),
    Finding(
        design="gso",
        name="unread-router-alert",
        defect="d2527ad3a9e1 moved the copy of user pages to ip_local_deliver_finish() and "
        "ip6_input_finish(). ip_forward() and ip6_forward() come before these: raw sockets with "
        "IP_ROUTER_ALERT or IPV6_ROUTER_ALERT get a packet with that option from there, with the "
        "pages of a MSG_ZEROCOPY sender on the same host.",
        hurts="Few: senders whose packets with a router alert are forwarded on their own host, "
        "past a raw socket (CAP_NET_RAW) that nobody reads, up to its receive buffer.",
        effect=_raw,
        prior_art=PriorArt(
            {
                "20250630194312.1571410-2-willemdebruijn.kernel@gmail.com": "Willem de Bruijn's "
                "patch; it names local sockets as what has to have a copy",
            },
            where=ARCHIVES,
            how="d2527ad3a9e1, ip_call_ra_chain, raw_rcv, IP_ROUTER_ALERT, skb_orphan_frags_rx",
            when=date(2026, 11, 30),
        ),
        fix="lib/kernel/gso/upstream/unread-router-alert: skb_orphan_frags_rx() in "
        "ip_call_ra_chain() and ip6_call_ra_chain(), booted in 7.3.4 without it and with it. It "
        "leaves three other queues that keep such packets by the source of 7.3.4, and did on a "
        "vendor's 6.18.44 (lib/kernel/gso/queues/held.py, one run each): NFQUEUE whose reader "
        "takes packets without a checksum, as skb_orphan_frags() in its skb_zerocopy() returns "
        "early for SKBFL_DONT_ORPHAN; a multicast router's socket, for which ipmr_cache_report() "
        "calls skb_realloc_headroom(), which shares pages; and a packet socket, if no protocol "
        "takes the EtherType, as __netif_receive_skb_core() copies for each handler but the last",
        mainline="7.3.4 has it, booted and seen (Debian's 7.3.4+deb13-amd64); 6.12.117 has not",
        worth_sending=True,
        command="model gso/unread -p receiver=raw -p deferred=true",
        config="sockets",
    ),
    Finding(
        design="gso",
        name="lost-copied-flag",
        defect="msg_zerocopy_complete() reads, changes and writes zerocopy without an atomic "
        "operation. Two CPUs that complete parts of one packet can both write it, and the 0, which "
        "means copied, is overwritten.",
        hurts="Senders that stop using zero copy when copies are reported.",
        effect=_flag,
        prior_art=PriorArt(
            {
                "3e56c92b-567c-7bb4-2644-dc1ad1d8c3ae@samba.org": "Stefan Metzmacher and Pavel "
                "Begunkov, 2022, on io_uring's flags, which Begunkov calls fine but racy: "
                "WRITE_ONCE(), which a bit field does not take",
            },
            where=ARCHIVES,
            how="msg_zerocopy_complete, __msg_zerocopy_callback, zerocopy, KCSAN, data-race",
            when=LOOKED,
        ),
        fix="lib/kernel/gso/upstream/lost-copied-flag: what io_tx_ubuf_complete() does for "
        "io_uring, booted in 7.3.4 without it and with it",
        mainline="7.3.4 has it, booted and seen (Debian's linux-source-7.3)",
        worth_sending=True,
        command="model gso/flag",
        config="reproducers",
        cpus=2,
        note="With two CPUs QEMU's emulation now and then kills the guest (Oops: int3): boot it "
        "again. With KCSAN 8 of 2600 packets were lost there, without it none of 4,000. With "
        "fewer than 1495 and none lost the reproducer can't tell: boot it again, idle.",
    ),
    Finding(
        design="gso",
        name="one-word-for-many",
        defect="skb_zerocopy_notify_extend() lengthens a notification that nobody has read yet "
        "without a look at ee_code, so that a copy after a send with zero copy is not reported.",
        hurts="Senders that read their error queue late, and stop using zero copy when copies are "
        "reported.",
        effect=_told,
        prior_art=PriorArt(
            {
                "20240409205300.1346681-2-zijianzhang@bytedance.com": "Zijian Zhang's "
                "MSG_ZEROCOPY_UARG, not merged: its skb_zerocopy_uarg_notify_extend() leaves the "
                "flag of the first send, too",
            },
            where=ARCHIVES,
            how="skb_zerocopy_notify_extend, ee_code, SO_EE_CODE_ZEROCOPY_COPIED, coalesced",
            when=LOOKED,
        ),
        fix="lib/kernel/gso/upstream/one-word-for-many: ee_code |= code, which adds no "
        "notification. Its reproducer says FAIL on Debian's 6.12.117, and PASS there with the live "
        "patch that make -C lib/kernel/gso/fixed builds; built in, booted in 7.3.4 without it and "
        "with it",
        mainline="7.3.4 has it, booted and seen (Debian's 7.3.4+deb13-amd64)",
        worth_sending=True,
        command="kernel gso/told",
        config="sockets",
    ),
    Finding(
        design="gso",
        name="copied-late",
        defect="A MSG_ZEROCOPY packet that is segmented and then comes in on a receive path is "
        "copied segment by segment, each into a page of its own.",
        hurts="Containers that send over veth with its segmentation turned off, as it is here; by "
        "default veth passes such a packet on whole.",
        effect=_late,
        prior_art=PriorArt(
            where=ARCHIVES,
            how="skb_orphan_frags_rx, skb_segment, skb_copy_ubufs, veth, MSG_ZEROCOPY",
            when=LOOKED,
        ),
        fix="none here: where a packet will go is not known when it is segmented",
        mainline="6.12.117, measured. 7.3.4 copies at local delivery (ip_local_deliver_finish(), "
        "ip6_input_finish()), so that it copies no forwarded packet, by its source",
        worth_sending=False,
        command="kernel gso/traffic -p received=true",
    ),
]
