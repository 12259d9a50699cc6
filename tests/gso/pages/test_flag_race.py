"""The picture of a lost flag, beside the search."""

from lorelab.gso.model.flag import interleavings
from lorelab.gso.pages import flag_race


def test_orders_of_the_picture():
    """A picture's orders are all there are, and as many are lost as the search counts."""
    table = flag_race.orders()
    ways = interleavings(1, 1)
    lost = table.groupby("order")["lost"].first()
    assert (len(lost), lost.sum()) == (ways.all, ways.lost)
    taken = table.groupby("order")["cpu"].agg(tuple)
    assert taken.nunique() == ways.all
    assert (table.query("at == 4")["flag"] == lost.to_numpy()).all()
