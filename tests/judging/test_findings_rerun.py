"""What shows a finding again answers in a fresh clone: from a record, or by a model alone."""

import pytest

from lorelab import cli
from lorelab.experiments import Experiment, experiment
from lorelab.judging.findings import findings

FOUND = {one.title: one for one in findings()}


BOOTED = {
    "damon/shared-last-count": "7.3.4",
    "damon/pages-on-no-list": "7.3.4",
    "swap/page-by-page-swap-in": "7.3.4",
}
"""What is said of a release is shown by its record, and not by 6.12's."""


def parameters(words: list[str]) -> dict[str, str]:
    given = [words[n + 1] for n, word in enumerate(words) if word == "-p"]
    return dict(pair.split("=", 1) for pair in given)


@pytest.mark.parametrize("title", FOUND)
def test_a_run_that_a_finding_names_was_recorded(title):
    words = FOUND[title].command.split()
    if words[0] not in ("agree", "kernel"):
        pytest.skip("no kernel is asked")
    asked = experiment(words[1])
    release = words[words.index("--recorded") + 1] if "--recorded" in words else None
    assert asked.recorded(asked.Params(**parameters(words)), release=release) is not None


@pytest.mark.parametrize("title", BOOTED)
def test_what_is_shown_is_of_the_release_that_is_spoken_of(title, capsys):
    assert BOOTED[title] in FOUND[title].defect + FOUND[title].mainline
    cli.show_again(FOUND[title].command)
    assert BOOTED[title] in "".join(capsys.readouterr())


@pytest.mark.parametrize("title", FOUND)
def test_a_finding_is_shown_again_without_a_kernel(title, monkeypatch, capsys):
    def boots(*_: object) -> None:
        raise AssertionError("a kernel is booted")

    monkeypatch.setattr(Experiment, "measure", boots)
    cli.show_again(FOUND[title].command)
    assert len(capsys.readouterr().out.splitlines()) > 1
