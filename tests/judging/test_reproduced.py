"""What reproducers said of kernels: kept whole, and told apart by the finding's patches."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from lorelab.errors import BadInput
from lorelab.judging import reproduced, upstream
from lorelab.judging.findings import findings
from lorelab.judging.reproduced import Answer
from lorelab.lab.source import is_cover

FOUND = {one.title: one for one in findings()}
RECORDED = {title: said for title in FOUND if (said := reproduced.recorded(title))}
IDLE = FOUND["damon/pages-on-no-list"]


@pytest.mark.parametrize("title", RECORDED)
def test_a_record_is_of_the_reproducer_that_is_sent_or_its_notes_say_how_that_differs(title):
    given = [said for said in RECORDED[title] if said.published]
    assert len(given) == len(RECORDED[title]) or title == "vmalock/taken-for-marked"
    differs = "\n\nReproducer: it was made stricter after " in upstream.text_of(title, "notes")
    assert differs == any(said.earlier for said in given)
    assert all(said.source.experiment == title for said in RECORDED[title])


def test_a_run_of_an_earlier_program_is_called_so(monkeypatch, tmp_path):
    guest(monkeypatch, status=1, said="FAIL: seen\n")
    runs = [reproduced.run(IDLE, tmp_path)]
    programs = {**runs[0].source.programs, "reproduce.py": "another"}
    older = runs[0].source.model_copy(update={"programs": programs})
    runs.append(runs[0]._replace(source=older))
    said = list(reproduced.by_kernel(runs))
    release = older.kernel.release
    assert said == [f"{release}, one run", f"{release}, one run, earlier form"]


@pytest.mark.parametrize("title", RECORDED)
def test_with_the_patches_each_kernel_passes(title):
    patched = [said for said in RECORDED[title] if said.patched]
    assert all(said.verdict.startswith("PASS") for said in patched)
    for said in patched:
        before = [s for s in RECORDED[title] if s.kernel == said.source.kernel.release]
        assert before and all(one.verdict.startswith("FAIL") for one in before)
        configs = {one.source.kernel.config_sha256 for one in before}
        assert configs == {said.source.kernel.config_sha256}


def guest(monkeypatch, **row):
    """A laboratory whose guest gives one row."""
    source = RECORDED[IDLE.title][0].source.model_dump()
    given = {name: source[name] for name in source.keys() - {"experiment", "params", "run_in_boot"}}
    measured = SimpleNamespace(rows=[{"complained": "", **row}], source=given)
    monkeypatch.setattr(reproduced, "measure", lambda *_, **__: measured)


def test_what_is_kept_is_read_again(monkeypatch, tmp_path):
    guest(monkeypatch, status=1, said="64 KiB\nFAIL: they were touched by nobody\n")
    said = reproduced.run(IDLE, tmp_path)
    file = reproduced.save(IDLE, said, tmp_path)
    assert reproduced.recorded(IDLE.title, tmp_path) == [said]
    assert said.verdict == "FAIL: they were touched by nobody" and not said.patched
    file.write_text("PASS\n")
    with pytest.raises(BadInput, match="is not what was recorded"):
        reproduced.recorded(IDLE.title, tmp_path)


def test_runs_of_one_kernel_are_counted_and_each_is_told(monkeypatch, tmp_path):
    """The older one first, whatever the names of their files; what both said stands once."""
    for said, second in (("FAIL: 8 times", 2), ("FAIL: 7 times", 1), ("FAIL: 7 times", 3)):
        guest(monkeypatch, status=1, said=f"{said}\n")
        answer = reproduced.run(IDLE, tmp_path)
        date = answer.source.date.replace(second=second)
        source = answer.source.model_copy(update={"date": date})
        reproduced.save(IDLE, answer._replace(source=source), tmp_path)
    lines = reproduced.by_kernel(reproduced.recorded(IDLE.title, tmp_path))
    kernel = answer.source.kernel.release
    assert lines == {f"{kernel}, 3 runs": "FAIL: 7 times; FAIL: 8 times"}
    [last] = reproduced.newest(IDLE.title, tmp_path)
    assert last.source.date.second == 3


def test_runs_of_a_kernel_that_has_another_patch_as_well_are_apart(monkeypatch):
    """Even between two of the kernel without it, and the last of each is the newest."""
    first, second, third = (Answer(text, None, False) for text in ("FAIL: a", "PASS", "FAIL: b"))
    built = {first: "7.3.4", second: "7.3.4 with the patches of a/b", third: "7.3.4"}
    monkeypatch.setattr(Answer, "built", property(built.__getitem__))
    monkeypatch.setattr(Answer, "earlier", False)
    assert reproduced.by_kernel(built) == {
        "7.3.4, 2 runs": "FAIL: a; FAIL: b",
        "7.3.4 with the patches of a/b, one run": "PASS",
    }
    monkeypatch.setattr(reproduced, "recorded", lambda title, folder: list(built))
    assert reproduced.newest("x") == [third, second]


def test_a_kernel_is_patched_if_it_has_every_mail_of_the_finding():
    two = FOUND["damon/shared-last-count"]
    source = RECORDED[two.title][0].source
    names = [mail.name for mail in upstream.patches(two.title) if not is_cover(mail)]

    def of(patches):
        kernel = source.kernel.model_copy(update={"patches": patches})
        return reproduced._patched(two.title, source.model_copy(update={"kernel": kernel}))

    assert of([*names, "0001-another.patch"])
    assert not of(names[1:]) and not of(None)


def test_what_else_a_kernel_was_built_with_is_said():
    """A test of another finding is nothing that its kernel does otherwise."""
    source = RECORDED[IDLE.title][0].source
    [mine] = [mail.name for mail in upstream.patches(IDLE.title)]
    _, *others, test = [mail.name for mail in upstream.patches("damon/shared-last-count")]

    def built(*patches, patched):
        kernel = source.kernel.model_copy(update={"patches": patches})
        update = {"kernel": kernel}
        return reproduced.Answer("PASS\n", source.model_copy(update=update), patched).built

    release, kit = source.kernel.release, "damon/shared-last-count"
    assert built(test, patched=False) == release
    assert built(mine, test, patched=True) == f"{release} with the patches"
    assert built(mine, *others, patched=True) == f"{release} with the patches and those of {kit}"
    assert built(others[0], patched=False) == f"{release} with the patches of {kit}"


@pytest.mark.parametrize(("status", "said"), [(2, ""), (1, "PASS\n"), (0, "\n")])
def test_a_reproducer_without_a_verdict_is_told(monkeypatch, tmp_path, status, said):
    guest(monkeypatch, status=status, said=said, complained="CONFIG_DAMON is not set\n")
    with pytest.raises(BadInput, match=r"says neither PASS nor FAIL: CONFIG_DAMON is not set$"):
        reproduced.run(IDLE, tmp_path)


def test_a_finding_without_a_reproducer_is_told(tmp_path):
    with pytest.raises(BadInput, match="damon/none has no reproducer"):
        reproduced.run(replace(IDLE, name="none"), tmp_path)


def script(monkeypatch, tmp_path, text):
    file = tmp_path / "reproduce.sh"
    file.write_text(text)
    monkeypatch.setattr(upstream, "reproducer", lambda _: file)


def test_what_the_running_kernel_does_is_kept_under_its_release(monkeypatch, tmp_path):
    script(monkeypatch, tmp_path, "uname -r; echo FAIL: seen; exit 1")
    said = reproduced.run_here(IDLE)
    reproduced.save(IDLE, said, tmp_path)
    assert reproduced.recorded(IDLE.title, tmp_path) == [said]
    assert said.text == f"{said.kernel}\nFAIL: seen\n"
    assert not said.patched and said.source.params == {"file": "reproduce.sh"}


def test_where_the_running_kernel_can_not_be_asked_it_is_told(monkeypatch, tmp_path):
    script(monkeypatch, tmp_path, "echo PASS; echo mount: only root can >&2; exit 32")
    with pytest.raises(BadInput, match=r"^reproduce.sh says neither PASS nor FAIL: mount: only"):
        reproduced.run_here(IDLE)
