"""Runs of the model that pages set side by side; `layout` and `orders` have those of theirs."""

import pandas as pd

from lorelab.gso.experiments import lastsegment, traffic
from lorelab.gso.params import TRAITS, LastSegment, Traffic, Variant
from lorelab.params import label


def costs(variants: list[Variant] | None = None, **fields: object) -> pd.DataFrame:
    """What a send costs, by variant.

    Parameters
    ----------
    variants : list of Variant, optional
        All of them by default.
    **fields
        Parameters of `Traffic`.

    Returns
    -------
    DataFrame
        Index `variant`; each counter over the sends. `copied_bytes` has what send() copies, too:
        the counter of `count` is that of skb_copy_ubufs() alone.
    """
    rows = {}
    for variant in variants or list(Variant):
        params = Traffic(variant=variant, **fields)
        rows[label(variant)] = {n: v / params.sends for n, v in traffic.count(params).items()}
        if TRAITS[variant].at_send or not params.zerocopy:
            rows[label(variant)]["copied_bytes"] += params.length
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("variant")


def closed_form(segments: int) -> float:
    """Share of packets told of too early, every order being as likely: 1 - 1/k."""
    return 1 - 1 / segments


def shares(segments: list[int], packets: int = 100_000, seed: int = 1) -> pd.DataFrame:
    """Drawn and expected shares of unsafe packets, by number of segments.

    Returns
    -------
    DataFrame
        `segments`, `drawn`, `expected`, and `sigma`, the drawn share's distance from the expected
        one in standard deviations.
    """
    rows = []
    for k in segments:
        table = lastsegment.simulate(LastSegment(segments=k, packets=packets, seed=seed))
        drawn = float(table.set_index("counter")["value"]["unsafe"]) / packets
        expected = closed_form(k)
        deviation = (expected * (1 - expected) / packets) ** 0.5
        rows.append((k, drawn, expected, (drawn - expected) / deviation if deviation else 0.0))
    return pd.DataFrame(rows, columns=["segments", "drawn", "expected", "sigma"])
