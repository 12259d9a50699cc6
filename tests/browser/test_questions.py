"""The three questions of each chapter are answered in its panel, by the numbers of the answers.

Every row of a folded answer's table is run in Chromium, at the values that a reader would type.
"""

import io
import math
from decimal import Decimal
from typing import Any

import nbformat
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from lorelab.book import build
from lorelab.panel import kept, show
from tests import ASKED
from tests.browser.panels import page_of
from tests.panel.outcomes import RUN

SECONDS = 20
"""That a run may take."""
REGIONS = {
    "10 to 1000": {},
    "10 at most": {"max_regions": "10"},
    "never split or merged": {"variant": "fixed"},
    "70000 to 100000": {"min_regions": "70000", "max_regions": "100000"},
}
"""What the rows of DAMON's answers are named for."""


def total(counter):
    return lambda run: run[counter].sum()


def mean(counter):
    return lambda run: run[counter].mean()


def split(run):
    return 100 * run["swpout_fallback"].sum() / run.sum(axis=1).sum()


def read(run):
    """Reads of the third phase that hit, in per cent."""
    return 100 * run["hits"][3] / run["touched"][3]


def of_one(question, shared, values, *cells):
    """The cells of a row, all of one run: the number of each."""
    return lambda panel, label: [cell(panel(question, shared | values(label))) for cell in cells]


def room(panel, mib):
    tried = {"large_swapin": "false", "device_mib": mib}
    return [split(panel("swap/allocator-test", tried | {"variant": v})) for v in ("v6.12", "v6.10")]


def seeds(panel, _):
    tried = [{"large_swapin": "false", "seed": str(seed)} for seed in range(1, 21)]
    shares = pd.Series([split(panel("swap/allocator-test", each)) for each in tried])
    return [shares.min(), shares.mean(), shares.max()]


def one_vma(panel, lock):
    tried = [{"vmas": vmas, "variant": lock} for vmas in ("8", "1")]
    return [panel("vmalock/contention", each)["fault_rate"][0] / 1e6 for each in tried]


def cpus(panel, n):
    tried = [{"cpus": n, "threads": n, "vmas": n, "variant": v} for v in ("mmap-lock", "v6.12")]
    under, own = (panel("vmalock/contention", each)["fault_rate"][0] for each in tried)
    return [round(under), round(own), own / under]


def writers(panel, lock):
    tried = [{"writer_share": share, "variant": lock} for share in ("0.02", "0.5", "1.0")]
    return [round(panel("vmalock/contention", each)["write_rate"][0]) for each in tried]


RANGE = [mean(counter) for counter in ("nr_regions", "checks", "misplaced", "rate_error")]
OFF = {"variant": "off"}
ANSWERS = {
    "swap": (
        room,
        seeds,
        of_one(
            "swap/allocator-test",
            {"options": "-s", "large_swapin": "false"},
            lambda label: {} if label == "as it is" else {label: "false"},
            total("swpout"),
            total("swpout_fallback"),
            split,
        ),
    ),
    "damon": (
        of_one("damon/hot-range", {}, lambda us: {"sample_us": us}, *RANGE),
        of_one("damon/hot-range", {}, REGIONS.get, mean("splits"), *RANGE, mean("rate_error_cold")),
        of_one(
            "damon/hot-range",
            {"windows": "10"},
            REGIONS.get,
            *RANGE,
            lambda run: run["end"].iloc[-1] / 10,
        ),
    ),
    "vmalock": (one_vma, cpus, writers),
    "gso": (
        of_one(
            "gso/traffic",
            {"variant": "head-only", "held": "true"},
            lambda length: {"length": length},
            *map(total, ("told", "sent", "wrong", "segmentations")),
        ),
        of_one(
            "gso/traffic",
            {"held": "true", "loss": "10"},
            lambda variant: {"variant": variant},
            *map(total, ("told", "copied", "sent", "wrong")),
        ),
        of_one(
            "gso/traffic",
            {"tap": "true"},
            lambda variant: {"variant": variant},
            *map(total, ("copied", "copies", "copied_bytes")),
        ),
    ),
    "fairzone": (
        of_one("fairzone/tiobench", OFF, lambda pace: {"disk_mb_s": pace}, read),
        of_one("fairzone/tiobench", OFF, lambda kib: {"min_free_kib": kib}, read),
        of_one("fairzone/tiobench", OFF, lambda size: {"data_percent": size}, read),
    ),
}
"""Of each design, in the order of its questions: a row of the table, from what it is named for."""


def answers(design: str) -> list[list[list[str]]]:
    """The tables of a page of questions, as they are stored: rows of a name and numbers."""
    page = nbformat.read(build.ROOT / f"notebooks/{design}/questions.ipynb", as_version=4)
    shown = [output.data for cell in page.cells for output in cell.get("outputs", ())]
    tables: list[list[list[str]]] = []
    for data in shown:
        if "text/html" in data:
            rows = BeautifulSoup(data["text/html"], "html.parser").select("tbody tr")
            tables.append([[cell.get_text() for cell in row(["th", "td"])] for row in rows])
        elif "text/markdown" not in data:  # of a column alone, printed
            *lines, _ = data["text/plain"].splitlines()
            tables.append([["all", *(line.split()[-1] for line in lines)]])
    return tables


@pytest.fixture(scope="module")
def panel(browser, tmp_path_factory):
    """Runs a panel at its defaults but for some values; counters of each step."""
    page = browser.new_page()
    page.goto(page_of(tmp_path_factory.mktemp("questions")).as_uri())
    about = {question: show.about(question, kept.kept(question)) for question in kept.panels()}

    def run(question: str, typed: dict[str, str]) -> Any:
        first = {field["name"]: field["default"] for field in about[question]["fields"]}
        assert first.keys() >= typed.keys()
        asked = [about[question], first | typed]
        said = page.evaluate("([about, typed]) => lorelabPanel.complaint(about, typed)", asked)
        counters, why = page.evaluate(RUN, [*asked, SECONDS])
        assert (said, why) == ("", "")
        return pd.read_csv(io.StringIO(counters)).pivot_table(
            index="step", columns="counter", values="value"
        )

    yield run
    page.close()


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("design", ASKED)
def test_an_answer_is_had_in_the_panel(panel, design, number):
    table = answers(design)[number]
    assert len(answers(design)) == 3 and table
    row = ANSWERS[design][number]
    for label, *cells in table:
        numbers = row(panel, label)
        assert len(numbers) == len(cells)
        for number_, cell in zip(numbers, cells, strict=True):
            assert shown_as(number_, cell), (label, number_, cell)


def shown_as(number: float, cell: str) -> bool:
    """Whether a table that has room for so many digits shows the number so."""
    last = Decimal(cell).as_tuple().exponent
    return math.isclose(number, float(cell), rel_tol=1e-9, abs_tol=0.501 * 10**last)
