"""The structs of the thread, as their headers declared them.

`SHARED_INFO_2014` and `SK_BUFF_2014` are those of Linux 3.15 on x86-64 (include/linux/skbuff.h),
which the thread is about. Those of 6.12 and 7.3 are as the laboratory and Debian configure them; a
kernel says itself where its fields lie (`lorelab.gso.kernel.btf`), and these are held against it.

        struct sk_buff             one a packet, and one a clone of it
          head, data, tail, end
            |                 |
            v                 v
            [ headers | data ][ struct skb_shared_info ]
                                 dataref: how many sk_buffs share this
                                 destructor_arg: the ubuf_info of a zero-copy packet
                                 frags[17]: page, offset, size
"""

from lorelab.gso.model.layout import Field

MAX_SKB_FRAGS = 17
"""65536 / PAGE_SIZE + 1 (include/linux/skbuff.h)."""


def _frags(last: str) -> list[Field]:
    return [Field(f"frags[{n}]", 16, 8) for n in range(MAX_SKB_FRAGS - 1)] + [Field(last, 16, 8)]


SHARED_INFO_2014 = [
    Field("nr_frags", 1, 1),
    Field("tx_flags", 1, 1),
    Field("gso_size", 2, 2),
    Field("gso_segs", 2, 2),
    Field("gso_type", 2, 2),
    Field("frag_list", 8, 8),
    Field("hwtstamps", 16, 8),
    Field("ip6_frag_id", 4, 4),
    Field("dataref", 4, 4),
    Field("destructor_arg", 8, 8),
    *_frags("frags[16]"),
]
"""struct skb_shared_info of 3.15; hwtstamps holds two ktime_t."""

AS_POSTED = "dataref"
"""The thread's patch puts its pointer behind ip6_frag_id, so in front of this field."""

SHARED_INFO_6_12 = [
    Field("flags", 1, 1),
    Field("meta_len", 1, 1),
    Field("nr_frags", 1, 1),
    Field("tx_flags", 1, 1),
    Field("gso_size", 2, 2),
    Field("gso_segs", 2, 2),
    Field("frag_list", 8, 8),
    Field("hwtstamps", 8, 8),
    Field("gso_type", 4, 4),
    Field("tskey", 4, 4),
    Field("dataref", 4, 4),
    Field("xdp_frags_size", 4, 4),
    Field("destructor_arg", 8, 8),
    *_frags("frags[16]"),
]
"""struct skb_shared_info of 6.12; hwtstamps is the union with xsk_meta."""

SHARED_INFO_7_3 = [
    *SHARED_INFO_6_12[:11],
    Field("xdp_frags_size", 8, 8),
    *_frags("frags[16]"),
]
"""struct skb_shared_info of 7.3: destructor_arg is in one union with xdp_frags_size and
xdp_frags_truesize, eight bytes, and called after its first member as in BTF."""

SK_BUFF_2014 = [
    Field("next", 8, 8),
    Field("prev", 8, 8),
    Field("tstamp", 8, 8),
    Field("sk", 8, 8),
    Field("dev", 8, 8),
    Field("cb", 48, 8),
    Field("_skb_refdst", 8, 8),
    Field("sp", 8, 8),
    Field("len", 4, 4),
    Field("data_len", 4, 4),
    Field("mac_len", 2, 2),
    Field("hdr_len", 2, 2),
    Field("csum", 4, 4),
    Field("priority", 4, 4),
    Field("flags1", 2, 1),
    Field("protocol", 2, 2),
    Field("destructor", 8, 8),
    Field("nfct", 8, 8),
    Field("nf_bridge", 8, 8),
    Field("skb_iif", 4, 4),
    Field("hash", 4, 4),
    Field("vlan_proto", 2, 2),
    Field("vlan_tci", 2, 2),
    Field("tc_index", 2, 2),
    Field("tc_verd", 2, 2),
    Field("queue_mapping", 2, 2),
    Field("flags2", 2, 1),
    Field("napi_id", 4, 4),
    Field("secmark", 4, 4),
    Field("mark", 4, 4),
    Field("inner_protocol", 2, 2),
    Field("inner_transport_header", 2, 2),
    Field("inner_network_header", 2, 2),
    Field("inner_mac_header", 2, 2),
    Field("transport_header", 2, 2),
    Field("network_header", 2, 2),
    Field("mac_header", 2, 2),
    Field("tail", 4, 4),
    Field("end", 4, 4),
    Field("head", 8, 8),
    Field("data", 8, 8),
    Field("truesize", 4, 4),
    Field("users", 4, 4),
]
"""struct sk_buff of 3.15 with every optional member that a distribution turns on (XFRM, conntrack,
bridge netfilter, traffic control, busy polling, security marks).

Members that the config leaves out make it smaller, never larger; flags1 and flags2 are two bytes
of bit fields each."""

SK_BUFF_6_12 = [
    Field("next", 24, 8),
    Field("sk", 8, 8),
    Field("tstamp", 8, 8),
    Field("cb", 48, 8),
    Field("_skb_refdst", 16, 8),
    Field("len", 4, 4),
    Field("data_len", 4, 4),
    Field("mac_len", 2, 2),
    Field("hdr_len", 2, 2),
    Field("queue_mapping", 2, 2),
    Field("cloned", 1, 1),
    Field("__pkt_type_offset", 56, 4),
    Field("tail", 4, 4),
    Field("end", 4, 4),
    Field("head", 8, 8),
    Field("data", 8, 8),
    Field("truesize", 4, 4),
    Field("users", 4, 4),
]
"""struct sk_buff of 6.12 in the laboratory's config, without netfilter, XFRM and extensions.

Members that share a union or the group `headers` are one field here, called after the first of
them as in BTF: `next` has prev and dev with it, `_skb_refdst` the destructor, `__pkt_type_offset`
the bit fields, and everything from priority to mac_header."""

SK_BUFF_7_3 = [
    *SK_BUFF_6_12[:5],
    Field("_nfct", 8, 8),
    *SK_BUFF_6_12[5:11],
    Field("active_extensions", 1, 1),
    Field("__pkt_type_offset", 60, 4),
    *SK_BUFF_6_12[12:],
    Field("extensions", 8, 8),
]
"""struct sk_buff of 7.3 in Debian's config, which has conntrack, extensions and security marks."""

DECLARED = {
    ("2014", "shared-info"): SHARED_INFO_2014,
    ("2014", "sk-buff"): SK_BUFF_2014,
    ("6.12", "shared-info"): SHARED_INFO_6_12,
    ("6.12", "sk-buff"): SK_BUFF_6_12,
    ("7.3", "shared-info"): SHARED_INFO_7_3,
    ("7.3", "sk-buff"): SK_BUFF_7_3,
}
