"""`lorelab findings`: a finding by its name is shown again by the command that it names."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from lorelab import cli
from lorelab.judging import findings, reproduced
from lorelab.judging.findings import finding


def test_a_finding_is_shown_again_by_its_own_command(monkeypatch, capsys):
    one = SimpleNamespace(
        title="gso/x",
        defect="a defect",
        command="kernel gso/x",
        effect=lambda: "an effect",
        prior_art=SimpleNamespace(text="none"),
    )
    monkeypatch.setattr(findings, "finding", lambda title: one)
    monkeypatch.setattr(reproduced, "recorded", lambda *_: [])
    monkeypatch.setattr(cli, "show_again", print)
    cli.cli(["findings", "gso/x"], standalone_mode=False)
    said = capsys.readouterr()
    assert said.out == "kernel gso/x\n"
    assert said.err == "gso/x: a defect\nan effect\nnone\n"


@pytest.mark.parametrize(
    ("title", "places"),
    [
        ("swap/frag-list-searched-whole", {"YOUR NAME", "UPSTREAM MESSAGE"}),
        ("damon/pages-on-no-list", {"YOUR NAME"}),
    ],
)
def test_who_writes_mails_is_told_what_to_fill_in(title, places, monkeypatch, tmp_path, capsys):
    one = replace(finding(title), effect=lambda: "an effect")
    monkeypatch.setattr(findings, "finding", lambda _: one)
    cli.cli(["findings", title, "-o", str(tmp_path / "out")], standalone_mode=False)
    *marked, readme = capsys.readouterr().err.splitlines()
    start = "fill in before you send it: "
    assert {line.removeprefix(start).partition(" in ")[0] for line in marked} == places
    assert all(line.startswith(start) and ".patch" in line for line in marked)
    assert readme == f"{tmp_path / 'out' / 'README'} says what belongs there"
