"""What a guest's packets cost: a record against itself, and what lending has to save."""

from lorelab.gso.pages import views


def test_lending_saves_the_more_the_larger_the_packet():
    table = views.vhost_instructions()
    assert table.notna().all(axis=None)
    # A copied byte is an instruction.
    assert (table[["off", "copied"]] > 1).all(axis=None)
    assert (table["shared"] < table["copied"]).all()
    assert list(table.index) == [1408, 5600, 28_000, 56_000]
    assert table["saved"].is_monotonic_increasing
