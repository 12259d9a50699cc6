"""`gso/tcp`: whether a stream arrives as it was sent, while its sender writes again.

TCP keeps a packet until it is acknowledged: `__tcp_transmit_skb()` sends a clone, and the clone
that is segmented shares its `skb_shared_info` with the packet in the retransmit queue. A completion
that stays with the shared info therefore waits for the acknowledgement, whatever becomes of
segments: the reader's kernel then has every byte, and what is sent again is dropped there. So
designs that corrupt datagrams leave a stream as it was.

One that is handed to the last segment does not wait. What is lost, or overtaken by that segment, is
sent when its sender may already have written again. And because it is taken out of the shared info,
the packet in the retransmit queue is no longer one of borrowed pages alone (SKBFL_PURE_ZEROCOPY):
`tcp_wmem_free_skb()` gives back memory that was never charged, and `inet_sock_destruct()` warns.
"""

import pandas as pd

from lorelab.gso.params import TRAITS, Tcp
from lorelab.gso.workload.tcp import table


def simulate(params: Tcp) -> pd.DataFrame:
    """What a stream's sender, its reader and the kernel's log see.

    Returns
    -------
    DataFrame
        Totals by `UNITS`: sends that the sender was told of, bytes that arrived, whether any packet
        was copied by skb_copy_ubufs(), whether any byte was not as sent, and complaints of the
        kernel, each once. Of a design that hands over to the last segment, `corrupted` is what
        loss or reordering makes likely of many sends, and not what any one of them has to be.
    """
    traits = TRAITS[params.variant]
    columns = {
        "told": params.sends,
        "read_bytes": params.sends * params.length,
        "copies": int(traits.copies and not traits.at_send),
        "corrupted": int(traits.transfers and (params.loss > 0 or params.reorder > 0)),
        "complaints": int(traits.transfers),
    }
    return table(params, columns, "model")
