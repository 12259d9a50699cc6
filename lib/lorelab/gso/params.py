"""Ways to keep zero copy through segmentation, and the parameters of the gso experiments."""

from enum import IntEnum
from typing import ClassVar, Literal, NamedTuple, Self

from pydantic import model_validator

from lorelab.params import Params, Refusal, by_label, param


class Variant(IntEnum):
    """What ties the completion of a zero-copy send to the packets that still use its pages."""

    HEAD_ONLY = 0
    """Before 1fd819ec: segments take page references, the ubuf_info stays with the head."""
    ORPHAN = 1
    """1fd819ec, March 2014: skb_segment() copies all user pages first."""
    PARENT = 2
    """Igor Royzis, 20 May 2014 (the thread): shared info points to the head, kfree_skb() and
    consume_skb() release it."""
    PARENT_SKB = 3
    """Igor Royzis, 25 May 2014: the same pointer in sk_buff, which every clone has to count."""
    PARENT_FIELD = 4
    """Igor Royzis, 3 June 2014, as a bad idea: a field that segments leave unused. Taken here is
    destructor_arg, with a flag, released where the shared info is."""
    SHARED_COUNT = 5
    """Eric Dumazet, 20 May and 3 June 2014: a count in the ubuf_info, held by every segment. Merged
    for MSG_ZEROCOPY in 4.14 (52267790ef52, 1f8b977ab32d); 6.12 has it."""
    LAST_SEGMENT = 6
    """Eric Dumazet, 20 May 2014, to reject it: the last segment takes the ubuf_info over."""
    PAGE_REFS = 7
    """Michael S. Tsirkin, 20 May 2014: references of the fragments (skb_frag_ref), which is what
    HEAD_ONLY has."""
    NO_ZEROCOPY = 8
    """Igor Royzis, 3 June 2014, as a workaround: no zero copy for what will be segmented."""


class Traits(NamedTuple):
    """What a variant does; every function of the model asks this, not the variant."""

    copies: bool = False
    """User pages are copied, and the ubuf_info completed, before there are segments."""
    at_send: bool = False
    """... by the sender, so that there never is a zero-copy packet."""
    counts: bool = False
    """Each segment that has user pages holds a reference of the ubuf_info (net_zcopy_get)."""
    transfers: bool = False
    """The last segment takes the head's reference over."""
    parent: bool = False
    """Each segment holds the head."""
    clone_gets: bool = False
    """A clone of a segment takes a reference of the head of its own."""
    by_data: bool = False
    """The parent is released with the shared info, by whatever function; otherwise by kfree_skb()
    and consume_skb() alone, for each sk_buff."""
    flagged: bool = False
    """Segments carry the zero-copy flag, so receive paths copy what they keep."""
    members: bool = False
    """Members of a frag_list that have a ubuf_info of their own are seen."""
    shared_info_bytes: int = 0
    """Bytes more in every skb_shared_info."""
    sk_buff_bytes: int = 0
    """Bytes more in every sk_buff."""


TRAITS = {
    Variant.HEAD_ONLY: Traits(),
    Variant.ORPHAN: Traits(copies=True, members=True),
    Variant.PARENT: Traits(parent=True, shared_info_bytes=8),
    Variant.PARENT_SKB: Traits(parent=True, clone_gets=True, sk_buff_bytes=8),
    Variant.PARENT_FIELD: Traits(
        parent=True, clone_gets=True, by_data=True, flagged=True, members=True
    ),
    Variant.SHARED_COUNT: Traits(counts=True, flagged=True, members=True),
    Variant.LAST_SEGMENT: Traits(transfers=True),
    Variant.PAGE_REFS: Traits(),
    Variant.NO_ZEROCOPY: Traits(copies=True, at_send=True, members=True),
}

VariantParam = by_label(Variant)


UDP_MAX_SEGMENTS = 128
"""include/linux/udp.h of 6.12.117 and 7.3.4."""


SEGMENTED = Refusal(
    f"(length + segment - 1) // segment > {UDP_MAX_SEGMENTS}",
    "length={length}: {(length + segment - 1) // segment} segments; UDP_SEGMENT takes up to "
    f"{UDP_MAX_SEGMENTS}",
)
"""A send that UDP_SEGMENT does not take."""


class Layout(Params):
    """`gso/layout`: one struct of the network's packets, with or without a pointer more."""

    kernel: Literal["2014", "6.12", "7.3"] = param(
        "2014", "declarations: Linux 3.15's, 6.12's or 7.3's"
    )
    struct: Literal["shared-info", "sk-buff"] = param("shared-info", "skb_shared_info or sk_buff")
    pointer: str = param(
        "none", "field that 8 bytes more stand in front of; end: behind all; none: nowhere"
    )

    @model_validator(mode="after")
    def _has_field(self) -> Self:
        from lorelab.gso.model.structs import DECLARED

        declared = DECLARED[self.kernel, self.struct]
        known = ["none", "end", *(field.name for field in declared)]
        if self.pointer not in known:
            raise ValueError(f"pointer={self.pointer}: takes one of {', '.join(known)}")
        return self


class Lifetimes(Params):
    """`gso/lifetimes`: one zero-copy send, and everything that can befall its segments."""

    variant: VariantParam = param(Variant.SHARED_COUNT, "what the completion is tied to")
    segments: int = param(3, "segments of the packet", "segments", ge=1, le=4)
    clone: bool = param(True, "one segment may be cloned, for a tap or for another port")
    local: bool = param(True, "segments may also go to a local receive queue")
    direct: bool = param(
        True, "packets are also freed past kfree_skb() and consume_skb(): by __kfree_skb()"
    )
    member: bool = param(
        False, "the user pages belong to a member of the frag_list, not to the head"
    )
    rx_orphan: bool = param(True, "receive paths copy user pages: skb_orphan_frags_rx()")
    gather: bool = param(
        True, "the device gathers fragments; for one that does not skb_segment() copies the bytes"
    )
    readable: bool = param(
        True, "the CPU can read the pages; of devmem it can't, and what would copy them fails"
    )
    fails: bool = param(False, "skb_segment() may run out of memory, at any of its segments")
    nested: bool = param(
        False, "one segment may be segmented again: GSO_PARTIAL, then a device that can't do that"
    )
    retransmit: bool = param(
        False, "TCP's: it keeps the data until all has arrived, and sends a lost segment once more"
    )
    straddles: bool = param(
        False, "the last segment has pages of a second ubuf_info, too, from a frag_list member"
    )
    joined: bool = param(
        False, "a second send joins the ubuf_info, and is copied: msg_zerocopy_realloc()"
    )
    once: bool = param(
        False, "the note of a copy is only ever set, as io_uring's completion does it"
    )
    cpus: int = param(1, "CPUs that complete at the same time", "CPUs", ge=1, le=2)


class Traffic(Params):
    """`gso/traffic`: UDP packets sent with MSG_ZEROCOPY and segmented in software."""

    refusals: ClassVar = (
        SEGMENTED,
        Refusal(
            "reorder and not held",
            "reorder={reorder}: takes held=true, or nothing is overtaken",
        ),
    )

    variant: VariantParam = param(Variant.SHARED_COUNT, "what the completion is tied to")
    sends: int = param(40, "packets sent, each to be segmented", "sends", ge=1, le=10_000_000)
    length: int = param(
        56_000, "payload of a send; a kernel's runs take whole words", "bytes", ge=1, le=65_507
    )
    segment: int = param(
        1400, "payload of a segment (UDP_SEGMENT); as above", "bytes", ge=1, le=1472
    )
    zerocopy: bool = param(True, "with MSG_ZEROCOPY; otherwise send() copies")
    held: bool = param(
        False, "segments wait in a qdisc for longer than the sender takes to write again"
    )
    loss: float = param(0, "segments that the qdisc drops", "%", ge=0, le=100)
    reorder: float = param(0, "segments that overtake those that wait", "%", ge=0, le=100)
    seed: int = param(1, "netem's", ge=0, lt=2**64)
    tap: bool = param(False, "a packet socket that takes a clone of what leaves, and isn't read")
    received: bool = param(False, "the device is veth: what leaves comes in on a receive path")

    @model_validator(mode="after")
    def _can_be(self) -> Self:
        if self.received and not TRAITS[self.variant].flagged and not TRAITS[self.variant].copies:
            raise ValueError(
                "received=true: the reader's queue then holds the sender's pages, and what it reads"
                " depends on when; takes a variant that copies, or whose segments are flagged"
            )
        return self


class Vhost(Params):
    """`gso/vhost`: packets of a guest over vhost-net and a bridge to a card that cannot segment."""

    refcnt: bool = param(
        False, "vhost's segments share the guest's pages: the switch gso/vhost_refcnt"
    )
    sends: int = param(64, "packets of the guest", "packets", ge=1, le=2000)
    length: int = param(
        56_000, "payload of a packet; to a card whole words", "bytes", ge=256, le=65_507
    )
    segment: int = param(1400, "payload of a segment; as above", "bytes", ge=1, le=1472)
    held: bool = param(
        False,
        "segments wait in the card's qdisc while the guest writes again what it got back",
        only="kernel",
    )
    unread: bool = param(
        False, "the packets go to a tap on the bridge that nobody reads, not to the card"
    )
    protocol: Literal["udp", "tcp"] = param(
        "udp", "of the packets; a TCP packet has no connection, so no reader checks its bytes"
    )
    zerocopy: bool = param(
        True, "vhost_net.experimental_zcopytx, which is 0 by default since 2019", machine=True
    )
    cpus: int = param(1, "CPUs of the host", "CPUs", only="kernel", machine=True, ge=1, le=4)

    @model_validator(mode="after")
    def _can_be(self) -> Self:
        segments = -(-self.length // self.segment)
        if not 1 < segments <= 64:
            raise ValueError(f"length={self.length}: {segments} segments; takes 2 to 64")
        if self.protocol == "tcp" and (self.length > 65_495 or self.segment > 1460):
            raise ValueError("protocol=tcp: takes up to 65495 bytes, and segments of up to 1460")
        if self.held and self.unread:
            raise ValueError("held=true and unread=true: no segment reaches the card")
        return self


class LastSegment(Params):
    """`gso/lastsegment`: packets whose segments go in any order."""

    segments: int = param(40, "segments of a packet", "segments", ge=1, le=64)
    packets: int = param(100_000, "packets", "packets", ge=1, le=100_000_000)
    seed: int = param(1, "of the orders", ge=0, lt=2**64)


class Flag(Params):
    """`gso/flag`: CPUs that complete segments of one packet at the same time."""

    sent: int = param(1, "CPUs whose segment was sent", "CPUs", ge=0, le=4)
    copied: int = param(1, "CPUs whose segment was copied", "CPUs", ge=0, le=4)
    mended: bool = param(False, "store 0 without success, and nothing with it")


class Breakeven(Params):
    """`gso/breakeven`: instructions of a send, with zero copy and without."""

    refusals: ClassVar = (SEGMENTED,)

    variant: VariantParam = param(Variant.SHARED_COUNT, "what the completion is tied to")
    length: int = param(56_000, "payload of a send", "bytes", ge=1, le=65_507)
    segment: int = param(1400, "payload of a segment (UDP_SEGMENT)", "bytes", ge=1, le=1472)
    zerocopy: bool = param(True, "with MSG_ZEROCOPY; otherwise send() copies")
    pointer: Literal["none", "shared-info-dataref", "shared-info-frags", "sk-buff-tail"] = param(
        "none", "struct with 8 bytes more and what they stand in front of: a kernel of its own"
    )


class Selftest(Params):
    """`gso/selftest`: the kernel's own tests of tools/testing/selftests/net, by their names."""

    test: Literal["msg_zerocopy", "udpgso"] = param("msg_zerocopy", "which of them")


class Tcp(Params):
    """`gso/tcp`: a stream sent with MSG_ZEROCOPY over a card that cannot segment."""

    variant: VariantParam = param(Variant.SHARED_COUNT, "what the completion is tied to")
    sends: int = param(200, "calls of send()", "sends", ge=1, le=2000)
    length: int = param(
        56_000, "payload of a send; a kernel's runs take whole words", "bytes", ge=1, le=65_507
    )
    loss: float = param(0, "segments that the qdisc drops", "%", ge=0, le=20)
    reorder: float = param(0, "segments that overtake those that wait", "%", ge=0, le=100)
    seed: int = param(1, "netem's", only="kernel", ge=0, lt=2**64)


class Broken(Params):
    """`gso/broken`: UDP packets that a kernel with KASAN watches, for a guest thrown away."""

    variant: VariantParam = param(Variant.PARENT, "what the completion is tied to")
    tap: bool = param(True, "a packet socket that takes a clone of what leaves, and isn't read")
    sends: int = param(
        1, "packets sent, each to be segmented", "sends", only="kernel", ge=1, le=1000
    )
    config: Literal["lab", "kasan"] = param("kasan", "the kernel's config", only="kernel")


class VhostCost(Params):
    """`gso/vhost-cost`: instructions of vhost's thread for a guest's packet."""

    refcnt: bool = param(
        False, "vhost's segments share the guest's pages: the switch gso/vhost_refcnt"
    )
    length: int = param(56_000, "payload of a packet", "bytes", ge=1401, le=65_507)
    zerocopy: bool = param(
        True, "vhost_net.experimental_zcopytx, which is 0 by default since 2019", machine=True
    )

    @model_validator(mode="after")
    def _can_be(self) -> Self:
        if self.refcnt and not self.zerocopy:
            raise ValueError("refcnt=true: takes zerocopy=true, or no packet has the guest's pages")
        return self


class Told(Params):
    """`gso/told`: sends with MSG_ZEROCOPY, some of which are copied, and what their socket says."""

    sends: int = param(8, "sends", "sends", ge=1, le=64)
    alike: int = param(1, "sends of a kind in a row, then as many of the other", "sends", ge=1)
    copied_first: bool = param(False, "the first ones are copied; otherwise lent")
    late: bool = param(True, "the sender reads what it is told after its last send, not each")
    mended: bool = param(False, "a notification speaks of sends of one kind only")
    fixed: bool = param(
        False,
        "one that is extended says copied if any of its sends was: upstream/one-word-for-many",
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.mended and self.fixed:
            raise ValueError("mended=true and fixed=true: take one of them")
        return self


class Unread(Params):
    """`gso/unread`: packets of a page each to a neighbour's tap or raw socket that nobody reads."""

    receiver: Literal["macvtap", "macvtap-on-veth", "macvtap-on-bridge", "ipvtap", "tun", "raw"] = (
        param(
            "macvtap",
            "a tap beside the sender's macvlan or ipvlan, on the other end of its veth, on the "
            "bridge of that end, or a port of that bridge (tun); or a raw socket with "
            "IP_ROUTER_ALERT where the packets are forwarded",
        )
    )
    csum: bool = param(
        True, "the tap's reader takes packets without a checksum, as guests do: TUN_F_CSUM"
    )
    zerocopy: bool = param(True, "with MSG_ZEROCOPY; otherwise send() copies")
    sends: int = param(64, "packets that the sender offers", "sends", ge=1, le=256)
    length: int = param(1400, "payload of a send", "bytes", ge=64, le=1472)
    sndbuf: int = param(
        4 << 20, "the sender's send buffer", "bytes", ge=4608, le=64 << 20, multiple_of=2
    )
    fixed: bool = param(
        False, "tap_handle_frame() copies user pages first: upstream/unread-macvtap"
    )
    deferred: bool = param(
        False, "the receive path copies at local delivery and not before, as in 7.3"
    )

    @model_validator(mode="after")
    def _can_be(self) -> Self:
        raw = self.receiver == "raw"
        if raw and not self.csum:
            raise ValueError("receiver=raw: takes csum=true, for a raw socket has no such word")
        if raw and self.fixed:
            raise ValueError("receiver=raw: takes fixed=false, for no tap has the packet")
        if self.deferred and not raw:
            raise ValueError("deferred=true: takes receiver=raw, for the others come before it")
        return self
