"""Which points a sweep has."""

from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from lorelab.errors import BadInput
from lorelab.running.sweep.plan import grid, sample


class Some(BaseModel):
    cpus: Annotated[int, Field(ge=1, le=64)] = 1
    share: Annotated[float, Field(ge=0, lt=2)] = 0.5
    seed: Annotated[int, Field(ge=0)] = 1


def swept(text):
    return grid("swap/usemem", (f"name={text}",)).swept["name"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a", ["a"]),
        ("a,b,c", ["a", "b", "c"]),
        ("1:4", ["1", "2", "3", "4"]),
        ("1:8:3", ["1", "4", "7"]),
        ("1:64:*2", ["1", "2", "4", "8", "16", "32", "64"]),
        ("0:1:0.25", ["0", "0.25", "0.5", "0.75", "1"]),
        ("-2:2:2", ["-2", "0", "2"]),
        (",-s", ["", "-s"]),
    ],
)
def test_values_as_typed(text, values):
    assert swept(text) == values


@pytest.mark.parametrize("text", ["4:1", "1:4:0", "1:4:-1", "0:4:*2", "1:4:*1", "a:b", "1:2:3:4"])
def test_a_range_that_does_not_grow_is_bad_input(text):
    with pytest.raises(BadInput, match="takes"):
        swept(text)


def test_a_value_twice_and_a_grid_too_large_are_bad_input():
    with pytest.raises(BadInput, match="given twice"):
        swept("1,1")
    with pytest.raises(BadInput, match="takes up to 10,000,000"):
        grid("x", ("a=1:10000", "b=1:10000"))
    with pytest.raises(BadInput, match="more than 10,000,000 values"):
        swept("1:100000000")


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_points_are_the_product_and_each_comes_once(sizes):
    pairs = tuple(f"p{n}=" + ",".join(map(str, range(size))) for n, size in enumerate(sizes))
    plan = grid("x", pairs)
    points = [tuple(point.items()) for point in plan]
    assert len(points) == len(plan) == len(set(points))
    assert points == sorted(points)


def test_a_sample_fills_its_ranges_evenly():
    plan = sample("x", ("cpus=:", "share=0:1", "seed=3:3"), Some.model_fields, 64)
    cpus = [int(point["cpus"]) for point in plan]
    assert sorted(cpus) == list(range(1, 65))
    share = sorted(float(point["share"]) for point in plan)
    assert all(n / 64 <= value <= (n + 1) / 64 for n, value in enumerate(share))
    assert {point["seed"] for point in plan} == {"3"}
    assert sample("x", ("cpus=:", "share=0:1", "seed=3:3"), Some.model_fields, 64) == plan


def test_a_sample_without_a_range_is_bad_input():
    with pytest.raises(BadInput, match="declares no such bound"):
        sample("x", ("seed=:",), Some.model_fields, 8)
    with pytest.raises(BadInput, match="LOW first"):
        sample("x", ("cpus=9:2",), Some.model_fields, 8)
    with pytest.raises(BadInput, match="at least one"):
        sample("x", (), Some.model_fields, 8)


def test_a_point_that_comes_twice_is_done_once():
    assert len(sample("x", ("cpus=1:4",), Some.model_fields, 64)) == 4
