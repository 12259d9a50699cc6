"""Comparisons: where one needs an assert, and that the book's old ones would have been seen."""

import json

import pytest

from lorelab.book import compared

LEADS = {
    "lead": "# Page\n\n**{}**",
    "first screen": "# Page\n\nWhat is it? {}",
    "answer": "## Answers\n\n| | question | answer |\n|---|---|---|\n| 1 | Is it better? | {} |",
    "caption": "## Picture\n\n*What to see:* {}",
}
OLD = [
    ("first screen", "6.12 places 64 KiB folios as well as the proposals do"),
    ("body", "Going round with a pointer (*ryan-scan*) does better here than lists do"),
    ("chart", "Flat: does not depend on the device. Rising: the search is linear."),
    ("first screen", "6.12 reads no more slots of a larger device"),
    ("answer", "Nonfull first keeps free clusters, at the price of longer searches."),
    ("answer", "what current clusters hold back grows with CPUs and orders"),
    ("first screen", "The regression is in the counts: a split invalidates every entry twice"),
    ("body", "Invalidations make a third at 70 cores and nearly all of it at 8."),
    ("body", "Moves alone make a difference, of a few per cent and either way."),
    ("body", "Huge pages waste memory in one. In the others there is nothing to remove."),
    ("answer", "All or nothing: below the length of a phase every page comes back."),
    ("body", "30 regions at 20 ms make two thirds of the checks."),
    ("first screen", "DAMON errs by at most 0.39 % in the rate of access."),
    ("lead", "No variant with regions can show *sparse*."),
    ("first screen", "6.12 places every one of them, as long as folios come back whole."),
]
"""Fifteen sentences that the table beside them contradicted, and where they stood."""
LATER = {
    "falls": "Its share falls with the device.",
    "rise": "The errors rise after that.",
    "in each of the": "Stealing costs room in each of the five loads.",
    "both": "6.12 and 7.2 place both orders.",
    "any other": "Any other allocator reads on.",
    "in any": "A folio finds room in any cluster.",
    "most": "Most folios are split.",
    "equal": "Model and kernel are equal.",
    "equals": "The model equals the kernel.",
    "gives the same": "7.3.4 gives the same counts.",
    "the same counts as": "7.3.4 ends with the same counts as 7.2.",
    "larger": "Its lists are larger.",
    "smaller": "Its error is smaller.",
    "higher": "The rate is higher.",
    "lower": "The rate is lower.",
}
"""Sentences by the word that compares."""
ROWS = "from lorelab import rows\n"
CHECKED = f'{ROWS}assert rows.all(), "over all rows"'


@pytest.fixture
def page(tmp_path):
    """Write a page of a first cell, a text and code; returns why its comparisons lack an assert."""

    def write(text: str, code: str = "", first: str = "# Page") -> list[str]:
        cells = [{"cell_type": "markdown", "source": [first]}]
        cells += [{"cell_type": "markdown", "source": [text]}] if text else []
        cells += [{"cell_type": "code", "source": [code], "outputs": []}]
        file = tmp_path / "swap/page.ipynb"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"cells": cells}))
        return [found.why for found in compared.unasserted(file, tmp_path)]

    return write


def put(page, where: str, sentence: str, code: str = "") -> list[str]:
    if where == "chart":
        return page("", f'{code}\ncharts.scan_length(rows, see="{sentence}")')
    if where == "body":
        return page(f"## Body\n\n{sentence}", code)
    text = LEADS[where].format(sentence)
    return page("", code, first=text) if text.startswith("# ") else page(text, code)


@pytest.mark.parametrize(("where", "sentence"), OLD)
def test_each_of_the_old_sentences_is_seen(page, where, sentence):
    [why] = put(page, where, sentence)
    assert why.startswith("no assert for ")


@pytest.mark.parametrize(("where", "sentence"), OLD)
def test_an_assert_of_that_name_lets_it_stand_and_another_does_not(page, where, sentence):
    checked = CHECKED
    if where == "chart":
        named = f"# assert: over all rows\n{checked}"
        assert put(page, where, sentence, named) == []
        other = named.replace('"over all rows"', '"other"')
    else:
        sentence = f"{sentence} <!-- assert: over all rows -->"
        assert put(page, where, sentence, checked) == []
        other = checked.replace('"over all rows"', '"other"')
    assert put(page, where, sentence, other) == ["no assert 'over all rows'"]


@pytest.mark.parametrize("word", LATER)
def test_a_lead_with_a_later_word_needs_one_too(page, word):
    [why] = put(page, "lead", LATER[word])
    assert why.lower() == f"no assert for {word!r}"


@pytest.mark.parametrize(
    "sentence",
    [
        "12 runs each, in each VMA, on any number of CPUs.",
        "It runs the same test on the same machine.",
        "The folio falls back; the border falls on a page.",
        "This is a lower bound, and both axes are logarithmic.",
        "The largest region has the highest score.",
    ],
)
def test_what_shares_out_or_names_a_thing_does_not_compare(page, sentence):
    assert put(page, "lead", sentence) == []


@pytest.mark.parametrize("test", ["True", "rows", "1 < 2", "rows.sum() == rows.sum()"])
def test_an_assert_that_can_check_nothing_vouches_for_nothing(page, test):
    [why] = page("**All.** <!-- assert: one -->", f'{ROWS}assert {test}, "one"')
    assert why.startswith("assert 'one' ")


def test_what_is_said_of_all_is_not_checked_on_one(page):
    one = f'{ROWS}assert rows[0] > 1, "one"'
    [why] = page("**All are larger.** <!-- assert: one -->", one)
    assert why == "'All' and no assert of more than one value, 'one',"
    assert page("**It is larger.** <!-- assert: one -->", one) == []
    assert page("**All are larger.** <!-- assert: over all rows -->", CHECKED) == []


def test_a_mark_vouches_for_what_stands_before_it(page):
    code = CHECKED.replace("over all rows", "one")
    assert page("**All.** <!-- assert: one --> None.", code) == ["no assert for 'None'"]
    assert page("**All.** None. <!-- assert: one -->", code) == []


def test_a_mark_may_name_the_assert_of_another_page(page, tmp_path):
    other = tmp_path / "swap/other.ipynb"
    assert page("**All.** <!-- assert: swap/other: one -->") == ["no assert 'swap/other: one'"]
    cell = {"cell_type": "code", "source": [CHECKED.replace("over all rows", "one")], "outputs": []}
    other.write_text(json.dumps({"cells": [cell]}))
    assert page("**All.** <!-- assert: swap/other: one -->") == []


@pytest.mark.parametrize(
    "text",
    ["**Is it better?**", "**The device of `all` slots**", "## Better\n\nA page.", "No page."],
)
def test_questions_code_headings_and_plain_text_claim_nothing(page, text):
    assert page(text) == []


def library(tmp_path, **modules: str) -> list[str]:
    for name, text in modules.items():
        file = tmp_path / "swap" / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return [found.why for found in compared.unasserted_in_library("swap", tmp_path)]


def test_a_caption_of_the_library_does_not_compare(tmp_path):
    found = library(tmp_path, pages__charts='title("All of it", "Rising: the search is linear.")')
    assert found == ["a caption compares, 'Rising'"]
    assert library(tmp_path, pages__charts='title("All of it", "A point a run.")') == []


def test_a_finding_that_compares_has_an_assert(tmp_path):
    effect = 'def effect():\n    """All of it."""\n{}    return "twice as many"\n'
    assert library(tmp_path, thread__findings=effect.format("")) == ["no assert for 'twice'"]
    checked = effect.format('    assert a > 2 * b, "twice"\n')
    assert library(tmp_path, thread__findings=checked) == ["no assert for 'twice'"]
    assert library(tmp_path, thread__findings=f"from lorelab import a, b\n{checked}") == []


@pytest.mark.parametrize("effect", ["cost", "effect=cost"])
def test_a_defect_that_compares_has_an_assert_where_its_cost_is_told(tmp_path, effect):
    text = "from lorelab import a, Finding\n\ndef cost():\n    {}return 'a lot'\n\n"
    text += f'Finding("swap", "all", "It reads {{}} list.", "many", {effect})\n'
    assert library(tmp_path, thread__findings=text.format("", "every")) == ["no assert for 'every'"]
    assert library(tmp_path, thread__findings=text.format("", "the")) == []
    checked = text.format('assert a.all(), "every"; ', "every")
    assert library(tmp_path, thread__findings=checked) == []


def test_a_line_that_ends_within_a_comparison_hides_nothing(page):
    assert page("## Body\n\nThey place nearly\nall of them.") == ["no assert for 'nearly all'"]


def test_the_title_of_a_message_is_its_authors(page):
    link = "[Reset only when {}](https://{}/r/1@x)"
    assert page(f"| {link.format('expired', 'lore.kernel.org')} | batches |") == []
    assert page(f"| {link.format('expired', 'example.org')} | batches |")
