"""Panels in Chromium, from a file on disk: equal to the library, live, and never silent.

Points are a sample; `python -m bench equal` runs 500.
"""

import json
import re
import shlex
from contextlib import suppress
from itertools import product

import pytest
from playwright.sync_api import TimeoutError

from lorelab.book import build
from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.panel import kept, show
from lorelab.params import assignments, label, parse
from lorelab.running import rerun
from lorelab.swap.experiments.allocator_test import simulate
from lorelab.swap.panel.allocator_test import chart
from lorelab.swap.params import AllocatorTest
from lorelab.vmalock.experiments.protocol import configuration_of
from tests.browser.pages import DARK, PATIENCE
from tests.browser.panels import page_of
from tests.panel.outcomes import RUN, equal
from tests.panel.points import FULL

POINTS, SECONDS = 8, 5
"""Points of a panel that have to be equal, and how long each may take."""
PANELS = kept.panels()


@pytest.fixture(scope="module")
def about():
    return {each: show.about(each, kept.kept(each)) for each in PANELS}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return page_of(tmp_path_factory.mktemp("panel"))


@pytest.fixture
def page(browser, file):
    """The page, opened from disk; a request for anything else, or an error, fails the test."""
    said = []
    page = browser.new_page()
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda line: said.append(line.text) if line.type == "error" else None)
    page.on("request", lambda request: said.append(request.url))
    page.goto(file.as_uri())
    yield page
    page.close()
    ours = rf"{re.escape(file.parent.as_uri())}/|data:|blob:"
    assert [each for each in said if not re.match(ours, each)] == []


@pytest.mark.parametrize("question", PANELS)
def test_counters_are_those_of_the_library(page, about, question):
    def run(typed):
        return page.evaluate(RUN, [about[question], typed, SECONDS])

    assert equal(question, POINTS, run) == POINTS


PASTED = (
    "", "x", "-1", "1.5", "9" * 20, "<b>", "1_000", "1__0", "1 000", "1,000", "1e3", "0x10",
    "1.", "+3", "2.0", ".5", "inf", "-inf", "nan", "1e400", "1\u00a0000", "\uff15", "\u22125",
)  # fmt: skip
"""As from a table, a paper, a program; at the end no-break space, wide digit and minus sign."""
COMPLAINTS = "([about, all]) => all.map(typed => lorelabPanel.complaint(about, typed))"


@pytest.mark.parametrize("question", PANELS)
def test_what_is_pasted_is_taken_or_refused_in_the_words_of_the_library(page, about, question):
    model = experiment(question).Params
    form = about[question]
    first = {field["name"]: field["default"] for field in form["fields"]}
    asked, answers = [], []
    for field, bad in product(form["fields"], PASTED):
        name = field["name"]
        typed, said = first | {name: bad}, ""
        try:
            parse(model, typed)
        except BadInput as error:
            said = str(error)
        if "takes held=true" in said:
            continue  # good alone, refused beside held=false: a test below has such pairs
        if not said and bad not in dict(field.get("values", {bad: 0})):
            said = f"{name}={bad}: {field['error']}"  # the library takes texts of any kind
            assert re.search("a page (takes one of|reads no files)", said)
        asked.append(typed)
        answers.append(said)
    for one, a, other, b, said in form["refused"]:
        asked.append(first | {one: a, other: b})
        answers.append(said)
    assert page.evaluate(COMPLAINTS, [form, asked]) == answers


def test_values_that_do_not_go_together_are_one_line(page, about):
    form = about["vmalock/protocol"]
    first = {field["name"]: field["default"] for field in form["fields"]}
    model = experiment("vmalock/protocol").Params
    for typed in ({"variant": "spf"}, {"without": "vma_find in munmap"}):
        with pytest.raises(BadInput):
            configuration_of(parse(model, first | typed))
        said = page.evaluate(
            "([about, typed]) => lorelabPanel.start(about, typed, () => {}).ran"
            ".catch(e => e.message)",
            [form, first | typed],
        )
        assert said == "these values do not go together; the command below says why"


def test_a_rule_of_the_parameters_is_told_before_a_run(page, about):
    form = about["gso/traffic"]
    first = {field["name"]: field["default"] for field in form["fields"]}
    for typed in ({"reorder": "5"}, {"length": "65000", "segment": "64"}):
        with pytest.raises(BadInput) as refused:
            parse(experiment("gso/traffic").Params, first | typed)
        said = page.evaluate(
            "([about, typed]) => lorelabPanel.complaint(about, typed)", [form, first | typed]
        )
        assert said == str(refused.value)


def opened(page, question="swap/allocator-test"):
    panel = page.locator(f"#panel-{question.replace('/', '-')}")
    panel.locator("summary").first.click()
    return panel


def test_run_again_compare_and_reset(page):
    panel = opened(page)
    panel.locator("[name=iterations]").fill("5")
    run = panel.get_by_role("button", name="Run")
    for _ in range(10):
        run.click(force=True, no_wait_after=True)
    panel.get_by_text("5 rows of counters").wait_for(timeout=PATIENCE)
    panel.locator(".lorelab-run svg.marks").wait_for(timeout=PATIENCE)
    panel.get_by_label("beside the runs before").check()
    panel.locator("[name=variant]").select_option("v6.6")
    run.click()
    panel.locator(".lorelab-run").get_by_text("v6.6").first.wait_for(timeout=PATIENCE)
    command = panel.get_by_label("The same as a command").input_value()
    model, run_ = command.splitlines()
    assert model == "lorelab model swap/allocator-test -p iterations=5 -p variant=v6.6"
    assert " -p iterations=5 " in run_ and "variant" not in run_, "its page shows all variants"
    panel.get_by_role("button", name="Reset").click()
    panel.locator("[name=iterations]").fill("5")
    command = panel.get_by_label("The same as a command").input_value().splitlines()
    assert command[0] == "lorelab model swap/allocator-test -p iterations=5"
    program, run, page_, *pairs = command[1].split(" ")
    assert (program, run) == ("lorelab", "run")
    given = assignments(tuple(pair for pair in pairs if pair != "-p"))
    assert rerun.checked(build.ROOT / page_, given)["iterations"] == 5
    panel.get_by_role("button", name="Reset").click()
    assert panel.locator("[name=iterations]").input_value() == "100"


@pytest.mark.parametrize("question", PANELS)
def test_every_command_that_is_printed_can_be_run(page, about, question):
    """Of the defaults, and of each value of each choice."""
    form = about[question]
    first = {field["name"]: field["default"] for field in form["fields"]}
    typed = [first] + [
        first | {field["name"]: word}
        for field in form["fields"]
        for word, *_ in field.get("values", ())
    ]
    printed = page.evaluate(
        "([about, all]) => all.map(typed => lorelabPanel.command(about, typed))", [form, typed]
    )
    pages = 0
    for lines in printed:
        model, *run = map(shlex.split, lines.splitlines())
        assert model[:3] == ["lorelab", "model", question]
        assert assignments(tuple(pair for pair in model[3:] if pair != "-p")).keys() <= first.keys()
        for program, command, name, *pairs in run:
            given = assignments(tuple(pair for pair in pairs if pair != "-p"))
            assert (program, command) == ("lorelab", "run")
            assert rerun.checked(build.ROOT / name, given).keys() == given.keys()
            pages += 1
    assert bool(pages) == bool(form["rerun"])


def test_sums_and_means_are_of_the_counters(page):
    panel = opened(page)
    panel.locator("[name=iterations]").fill("4")
    panel.get_by_role("button", name="Run").click()
    panel.get_by_text("Sums and means over 4 rows").wait_for(timeout=PATIENCE)
    cells = panel.locator(".totals tbody tr").all_inner_texts()
    of = simulate(AllocatorTest(iterations=4)).groupby(["counter", "unit"], sort=False)["value"]
    expected = [[*names, f"{rows.sum()}", f"{rows.mean():.6g}"] for names, rows in of]
    assert [line.split("\t") for line in cells] == expected
    page.evaluate(COPIED)
    panel.locator(".totals").get_by_role("button", name="Copy").click()
    panel.locator(".totals").get_by_role("button", name="Copied").wait_for(timeout=PATIENCE)
    assert page.evaluate("copied") == "\n".join(["counter\tunit\tsum\tmean", *cells])


COPIED = """() => {
  const clipboard = {writeText: async text => { window.copied = text; }};
  Object.defineProperty(navigator, "clipboard", {value: clipboard});
}"""


def test_an_interleaving_is_stepped_through(page):
    panel = opened(page, "vmalock/protocol")
    panel.locator("[name=mutation]").select_option("m3")
    panel.get_by_role("button", name="Run").click()
    slider = panel.locator(".lorelab-run input[type=range]")
    slider.wait_for(timeout=PATIENCE)

    def seen():
        marks = panel.locator(".lorelab-run .mark-symbol path")
        return marks.evaluate_all(
            "all => all.filter(e => e.getAttribute('opacity') !== '0').length"
        )

    whole = seen()
    slider.evaluate("e => { e.value = 2; e.dispatchEvent(new Event('input')); }")
    page.wait_for_timeout(300)
    assert seen() == 2 < whole


@pytest.mark.parametrize("question", PANELS)
def test_a_run_draws_its_chart(page, question):
    """Vega tells an error on the console, and draws nothing. In the dark it can be read, too."""
    panel = opened(page, question)
    panel.get_by_role("button", name="Run").click()
    marks = panel.locator(".lorelab-run svg.marks")
    marks.wait_for(timeout=PATIENCE)
    assert marks.bounding_box()["height"] > 50
    page.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
    with suppress(TimeoutError):  # what is drawn anew takes a while
        page.wait_for_function(f"() => !({DARK})().length", timeout=PATIENCE / 10)
    assert page.evaluate(DARK) == []


def test_cancel_and_what_does_not_fit(page):
    panel = opened(page)
    panel.locator("[name=iterations]").fill("10000")
    panel.get_by_role("button", name="Run").click()
    panel.get_by_text("running: ").wait_for(timeout=PATIENCE)
    panel.get_by_role("button", name="Cancel").click()
    panel.get_by_text("cancelled").wait_for(timeout=PATIENCE)
    for name, value, said in (
        ("device_mib", str(2**20), "out of memory"),
        ("device_mib", "3", "device_mib=3: takes a multiple of 2 MiB"),
        ("iterations", "many", "iterations=many: takes a valid integer"),
    ):
        panel.get_by_role("button", name="Reset").click()
        panel.locator(f"[name={name}]").fill(value)
        panel.get_by_role("button", name="Run").click()
        panel.get_by_text(said).wait_for(timeout=PATIENCE)
    panel.get_by_role("button", name="Reset").click()
    panel.locator("[name=iterations]").fill("2")
    panel.get_by_role("button", name="Run").click()
    panel.get_by_text("2 rows of counters").wait_for(timeout=PATIENCE)


COUNTED = """() => {
  const Real = Worker;
  const compile = WebAssembly.compile;
  window.begun = window.compiled = 0;
  WebAssembly.compile = bytes => { window.compiled++; return compile(bytes); };
  window.Worker = class extends Real {
    constructor(source) { super(source); window.begun++; }
  };
}"""


@pytest.mark.parametrize("question", PANELS)
def test_ten_clicks_are_one_run_and_the_panel_goes_on(page, question):
    page.evaluate(COUNTED)
    panel = opened(page, question)
    page.wait_for_function("begun === 1", timeout=PATIENCE)  # the first run, ahead of its click
    run = panel.get_by_role("button", name="Run")
    for begun in (1, 2):
        run.click(trial=True)  # once it can be clicked again
        run.evaluate("run => { for (let click = 0; click < 10; click++) run.click(); }")
        panel.get_by_text("rows of counters in").wait_for(timeout=PATIENCE)
        assert page.evaluate("[begun, compiled]") == [begun, 1]


@pytest.mark.parametrize("question", PANELS)
def test_what_ran_ahead_is_the_first_run_and_no_second_one(page, about, question):
    """With the counters of a run that nothing began before."""
    page.evaluate(COUNTED)
    panel = page.locator(f"#panel-{question.replace('/', '-')}")
    panel.locator("summary").first.hover()
    page.wait_for_function("begun === 1", timeout=PATIENCE)
    panel.locator("summary").first.click()
    panel.get_by_role("button", name="Run").click()
    panel.get_by_text("rows of counters in").wait_for(timeout=PATIENCE)
    assert page.evaluate("begun") == 1
    typed = {field["name"]: field["default"] for field in about[question]["fields"]}
    anew, _ = page.evaluate(RUN, [about[question], typed, SECONDS])
    assert panel.get_by_label("Counters, as CSV").input_value() == anew


def test_a_panel_that_is_opened_runs_ahead_until_other_values_are_run(page):
    page.evaluate(COUNTED)
    panel = opened(page, "fairzone/tiobench")
    page.wait_for_function("begun === 1", timeout=PATIENCE)
    assert panel.locator(".line").inner_text() == ""
    panel.locator("[name=mib]").fill("512")
    panel.locator("[name=min_free_kib]").fill("4096")
    panel.get_by_role("button", name="Run").click()
    panel.get_by_text("4 rows of counters in").wait_for(timeout=PATIENCE)
    assert page.evaluate("[begun, compiled]") == [2, 1]


DIES = """() => {
  const Real = Worker, text = "onmessage = () => { throw new Error('killed'); }";
  window.Worker = function () {
    window.Worker = Real;
    return new Real(URL.createObjectURL(new Blob([text], {type: "text/javascript"})));
  };
}"""


@pytest.mark.parametrize("question", PANELS)
def test_a_worker_that_dies_is_one_line_and_the_panel_goes_on(page, question):
    page.evaluate(COUNTED)
    panel = opened(page, question)
    page.wait_for_function("begun === 1", timeout=PATIENCE)
    run = panel.get_by_role("button", name="Run")
    run.click()
    panel.get_by_text("rows of counters in").wait_for(timeout=PATIENCE)
    page.evaluate(DIES)
    run.click()
    panel.get_by_text(re.compile("^the run died: .*killed$")).wait_for(timeout=PATIENCE)
    run.click()
    panel.get_by_text("rows of counters in").wait_for(timeout=PATIENCE)


def test_a_hundred_million_steps_leave_the_page_alive(page):
    """Segments of 2,500,000 sends; the page's own clock goes on, and a bar moves."""
    panel = opened(page, "gso/traffic")
    panel.locator("[name=sends]").fill("2500000")
    page.evaluate("() => { window.ticks = 0; setInterval(() => window.ticks++, 50); }")
    panel.get_by_role("button", name="Run").click()
    panel.locator("progress").wait_for(timeout=PATIENCE)
    assert panel.locator("progress").get_attribute("value") is None
    before = page.evaluate("ticks")
    panel.get_by_text("1 rows of counters in").wait_for(timeout=PATIENCE)
    assert page.evaluate("ticks") > before > 10
    counters = panel.get_by_label("Counters, as CSV").input_value()
    assert ",sent,packets,100000000\n" in counters


@pytest.mark.parametrize("question", PANELS)
def test_a_dead_worker_is_one_line(page, about, question):
    broken = about[question] | {"module": "H4sI"}
    said = page.evaluate(
        "([about, typed]) => lorelabPanel.start(about, typed, () => {}).ran.catch(e => e.message)",
        [broken, {field["name"]: field["default"] for field in broken["fields"]}],
    )
    assert said.startswith("the run died: ")


FAILS = {"mib": "64", "min_free_kib": "65536"}
"""Of `fairzone/tiobench`: nothing is free below its watermarks."""


@pytest.mark.parametrize("question", FULL)
def test_what_does_not_fit_is_one_line_and_the_panel_goes_on(page, question):
    panel = opened(page, question)
    for name, value in FULL[question].items():
        panel.locator(f"[name={name}]").evaluate(
            "(input, value) => { input.value = value; }", value
        )
    panel.get_by_role("button", name="Run").click()
    panel.get_by_text("out of memory: ").wait_for(timeout=PATIENCE)
    panel.get_by_role("button", name="Reset").click()
    panel.get_by_role("button", name="Run").click()
    panel.get_by_text("rows of counters").wait_for(timeout=PATIENCE)


def test_a_run_that_ends_in_an_exception_is_one_line(page, about):
    form = about["fairzone/tiobench"]
    first = {field["name"]: field["default"] for field in form["fields"]}
    said = page.evaluate(
        "([about, typed]) => lorelabPanel.start(about, typed, () => {}).ran.catch(e => e.message)",
        [form, first | FAILS],
    )
    assert said == "these values do not go together; the command below says why"


def test_a_click_in_the_map_punches_a_hole_and_another_one_mends_it(page):
    panel = opened(page, "swap/holes")
    panel.locator("[name=holes]").fill("0")
    panel.locator("[name=hole]").fill("16")
    for punched in ("", "2096", ""):
        panel.get_by_role("button", name="Run").click()
        panel.get_by_text("3 rows of counters").wait_for(timeout=PATIENCE)
        assert panel.locator("[name=punched]").input_value() == punched
        clicked = panel.locator(".lorelab-run path").evaluate_all(
            """paths => paths.filter(e => e.__data__?.datum?.clicked === 2096).map(
                 e => e.dispatchEvent(new MouseEvent("click", {bubbles: true}))).length"""
        )
        assert clicked == 3  # a cell of each allocator, so an odd number of clicks


def test_a_link_holds_the_values(page, file):
    panel = opened(page)
    panel.locator("[name=iterations]").fill("3")
    panel.locator("[name=options]").select_option("-a -s")
    page.goto(panel.get_by_role("link", name="Link to these values").get_attribute("href"))
    panel.get_by_text("3 rows of counters").wait_for(timeout=PATIENCE)
    assert panel.locator("[name=options]").input_value() == "-a -s"
    page.goto(f"{file.as_uri()}?panel=swap/allocator-test&variant=nonsense&seed=%3Cb%3E")
    panel.get_by_text("variant=nonsense: takes one of v6.6").wait_for(timeout=PATIENCE)


def test_the_chart_is_the_pages(page, about):
    """The same rows as the page's own chart, drawn from what the worker counts."""
    form = about["swap/allocator-test"]
    typed = {field["name"]: field["default"] for field in form["fields"]} | {"iterations": "4"}
    spec = page.evaluate(
        """async ([about, typed]) => lorelabPanel.spec(
          about, [await lorelabPanel.start(about, typed, () => {}).ran])""",
        [form, typed],
    )
    params = AllocatorTest(iterations=4)
    own = chart(simulate(params)).to_dict()
    [rows] = own.pop("datasets").values()
    own.pop("data")
    kept_ = ("step", "source", "variant", "swpout", "swpout_fallback")
    assert spec.pop("data")["values"] == [{name: row[name] for name in kept_} for row in rows]
    assert json.dumps(spec, sort_keys=True) == json.dumps(own, sort_keys=True)
    assert rows[0]["variant"] == label(params.variant)


def test_without_scripts_there_is_nothing(browser, file):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(file.as_uri())
    assert page.locator(".lorelab-panel").first.inner_text().strip() == ""
