"""The pictures that move show what the model's lists and maps say."""

from lorelab.swap.pages import pictures
from lorelab.swap.params import Variant


def test_every_cluster_is_on_one_list_in_every_step():
    frames = pictures.frames()
    assert set(frames["step"]) == set(range(len(pictures.DONE)))
    for _, step in frames.groupby("step"):
        assert sorted(step["cluster"]) == ["0", "1", "2", "3"]
        assert set(step["list"]) <= set(pictures.LISTS)
    last = frames[frames["step"] == 4].set_index("cluster")
    assert last.loc["1", ["list", "slots"]].tolist() == ["free", 0]


def test_the_lists_begin_with_the_step_where_all_orders_are_out():
    [at] = pictures.cluster_lists(pictures.frames()).to_dict()["params"]
    assert (at["value"], at["bind"]["max"]) == (3, 4)


def test_a_device_ages_from_just_filled_on():
    spec = pictures.aging([Variant.V6_10, Variant.V6_12], device_mib=8, turnovers=2).to_dict()
    [at] = spec["params"]
    assert (at["bind"]["min"], at["bind"]["max"], at["value"]) == (0, 2, 2)
    assert [step["age"] for step in spec["data"]["values"]] == [0, 1, 2]
    assert "v6.12" in spec["data"]["values"][0]["variant"]
