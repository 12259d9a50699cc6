"""Numbers in prose: what backs one, and that a wrong one is seen."""

import json
from pathlib import Path

import pytest

from lorelab.book.prose import unbacked


@pytest.fixture
def page(tmp_path):
    """Write a page of one paragraph and one cell; returns the numbers that nothing backs."""

    def write(prose: str, source: str = "", text: str = "", html: str = "") -> list[str]:
        output = {"output_type": "execute_result", "data": {"text/plain": text, "text/html": html}}
        cells = [
            {"cell_type": "markdown", "source": [prose]},
            {"cell_type": "code", "source": [source], "outputs": [output]},
        ]
        file = Path(tmp_path, "swap", "page.ipynb")
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"cells": cells}))
        return [found.number for found in unbacked(file)]

    return write


def test_a_number_is_backed_by_an_output_an_assert_or_the_parameters(page):
    assert page("It takes 4,608 calls.", text="calls 4608") == []
    assert page("It takes 4,608 calls.", html="<td>4,608</td>") == []
    assert page("It takes 4,608 calls.", source="assert calls == 4_608") == []
    assert page("A device of 84 MiB.", source="device_mib = 84  # MiB") == []


@pytest.mark.parametrize("printed", ["4,609", "4,607", "46,080", "460.8"])
def test_a_number_that_the_page_does_not_have_is_unbacked(page, printed):
    assert page(f"It takes {printed} calls.", text="calls 4608") == [printed]


def test_what_a_page_draws_is_not_what_a_chart_carries_in_its_script(page):
    assert page("It takes 4,608 calls.", html="<script>4608</script>") == ["4,608"]


def test_three_digits_may_be_rounded_and_two_may_not(page):
    assert page("The ratio is 1.65.", text="1.6487") == []
    assert page("The ratio is 1.66.", text="1.6487") == ["1.66"]
    assert page("It takes 16 ms.", text="16.4") == ["16 ms"]


def test_a_share_backs_its_per_cent(page):
    assert page("It is 12.5 % of the CPU.", text="0.125") == []
    assert page("It is 12.6 % of the CPU.", text="0.125") == ["12.6 %"]


def test_small_numbers_without_a_unit_years_and_versions_need_nothing(page):
    assert page("Of 12 such cases in 2023, on Linux 6.12.117 and on 6.11, 3 were so.") == []
    assert page("Of 12 folios none came.") == ["12 folios"]


def test_code_formulas_and_addresses_are_no_prose(page):
    assert page("`seed=4096` gives $x = 4096$ ([here](page.html#4096)).") == []


def test_a_sentence_that_links_to_its_source_says_where_its_numbers_are_from(page):
    link = "[v3 4/4](https://lore.kernel.org/r/1)"
    assert page(f"He used 70 processes and 35 GiB ({link}).") == []
    assert page(f"He used 35 GiB ({link}). We use 36 GiB.") == ["36 GiB"]


@pytest.mark.parametrize("link", ["model.ipynb#1", "https://example.org/"])
def test_no_other_link_does(page, link):
    assert page(f"He used 35 GiB ([there]({link})).") == ["35 GiB"]


def test_a_mark_names_a_row_of_the_thread_which_has_to_have_the_number(page):
    assert page("A device of 35 GiB. <!-- row: swap-device -->") == []
    assert page("A device of 36 GiB. <!-- row: swap-device -->") == ["36 GiB", "swap-device"]
    assert page("A device of 35 GiB. <!-- row: no-such-row -->") == ["35 GiB", "no-such-row"]


MARK = "<!-- 4,321 from: CONFIG_HZ of lab.config -->"


def test_a_mark_says_where_else_a_number_is_from(page):
    assert page(f"The tick is 4,321 us. {MARK}") == []
    assert page(f"The tick is 4,321 us {MARK}, and no more.") == []


@pytest.mark.parametrize(
    "prose",
    [
        f"The tick is 4,321 us, a round 987 us. {MARK}",
        f"A round is 987 us. The tick is 4,321 us. {MARK}",
        f"The tick is 4,321 us. {MARK} A round is 987 us.",
        f"The tick is 4,321 us {MARK}, a round 987 us.",
        f"- A round is 987 us\n- The tick is 4,321 us {MARK}",
        f"| round | 987 us |\n| tick | 4,321 us {MARK} |",
    ],
)
def test_it_vouches_for_no_number_beside_its_own(page, prose):
    assert page(prose) == ["987 us"]


def test_it_vouches_for_its_own_sentence_only(page):
    assert page(f"It is 4,321 us. The tick is 4,321 us. {MARK}") == ["4,321 us"]
    assert page(f"The tick is 4,321 us. {MARK} It is 4,321 us.") == ["4,321 us"]


def test_a_mark_whose_number_the_sentence_has_no_more_is_unbacked_itself(page):
    assert page(f"The tick is 4,322 us. {MARK}") == ["4,322 us", "4,321"]
    assert page(f"The tick is 1 ms. {MARK}", text="1") == ["4,321"]


def test_a_mark_that_names_no_number_vouches_for_none(page):
    assert page("The tick is 4,321 us. <!-- from: CONFIG_HZ -->") == ["4,321 us"]


def test_marks_in_a_row_belong_to_one_sentence(page):
    other = "<!-- 987 from: the log -->"
    assert page(f"The tick is 4,321 us, a round 987 us. {MARK} {other}") == []
