"""`lorelab findings`: a finding by its name is shown again by the command that it names."""

from types import SimpleNamespace

from lorelab import cli
from lorelab.judging import findings, reproduced


def test_a_finding_is_shown_again_by_its_own_command(monkeypatch, capsys):
    one = SimpleNamespace(
        title="gso/x",
        defect="a defect",
        command="kernel gso/x",
        effect=lambda: "an effect",
        prior_art=SimpleNamespace(text="none"),
    )
    monkeypatch.setattr(findings, "finding", lambda title: one)
    monkeypatch.setattr(reproduced, "recorded", lambda title: [])
    monkeypatch.setattr(cli, "show_again", print)
    cli.cli(["findings", "gso/x"], standalone_mode=False)
    said = capsys.readouterr()
    assert said.out == "kernel gso/x\n"
    assert said.err == "gso/x: a defect\nan effect\nnone\n"
