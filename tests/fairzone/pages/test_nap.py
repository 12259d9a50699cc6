"""The picture of the nap, beside the model's own counts."""

from lorelab.fairzone.pages import nap
from lorelab.fairzone.params import Tiobench, Variant


def test_traced():
    """Under v1 only naps start kswapd, and Normal is what they find below high."""
    table = nap.traced(Tiobench(), [Variant.V1])
    assert table["mib"].is_monotonic_increasing and table["mib"].max() >= nap.SEEN
    normal = table[(table["zone"] == "Normal") & (table["starts"] != "")]
    assert len(normal) > 10 and set(normal["starts"]) == {"a nap's end"}
    assert (normal["free"] < normal["kswapd"]).all()
    assert (table["free"] > 0).all() and (table["kswapd"] > 0).all()
