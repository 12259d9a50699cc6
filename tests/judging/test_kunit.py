"""The kunit test of a finding's patches fails without the others, and passes with them."""

from types import SimpleNamespace

import pytest

from lorelab.errors import BadInput, RunFailed
from lorelab.judging import kunit, upstream
from lorelab.judging.findings import findings
from lorelab.lab import build, recipes
from lorelab.lab.source import is_test

FOUND = {one.title: one for one in findings()}
COUNT = FOUND["damon/shared-last-count"]
CASE = "damon_test_split_counts_per_ctx"


def test_the_test_fails_without_the_patches_and_passes_with_them():
    before, after = kunit.recorded(COUNT.title)
    assert (before.patched, before.verdict) == (False, f"FAIL: {CASE}")
    assert (after.patched, after.verdict) == (True, "PASS")
    for said in (before, after):
        assert not said.others and said.source.experiment == COUNT.title
    kernels = [said.source.kernel for said in (before, after)]
    assert len({kernel.config_sha256 for kernel in kernels}) == 1
    assert {kernel.release for kernel in kernels} == {"7.3.4"}


def test_a_kernel_has_the_patches_of_the_tree():
    kit = {mail.name for mail in upstream.patches(COUNT.title)[1:]}
    names = [set(said.source.kernel.patches) for said in kunit.recorded(COUNT.title)]
    tests = {mail.name for mail in upstream.patches(COUNT.title) if is_test(mail)}
    assert kit == names[1] and names[0] == kit & tests


def test_without_the_patches_the_second_context_is_split_in_three():
    before, _ = kunit.recorded(COUNT.title)
    assert "damon_nr_regions(t) == 3 (0x3)" in before.text


def test_of_both_kernels_the_console_is_judged(monkeypatch, tmp_path):
    said = iter(f"KTAP version 1\n    {word} 1 {CASE}\nok 1 damon\n" for word in ("not ok", "ok"))
    info = kunit.recorded(COUNT.title)[0].source.kernel
    kernel = SimpleNamespace(image=tmp_path / "linux", info=info)
    monkeypatch.setattr(recipes, "recipe", lambda *given: given)
    monkeypatch.setattr(build, "user_mode", lambda *_: kernel)
    monkeypatch.setattr(
        kunit.subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=next(said))
    )
    before, after = kunit.run(COUNT, tmp_path)
    assert (before.verdict, after.verdict) == (f"FAIL: {CASE}", "PASS")
    assert before.source.command[0] == "linux", "no path of this machine"
    kunit.save(COUNT, before, tmp_path)
    [kept] = kunit.recorded(COUNT.title, tmp_path)
    assert kept.text == before.text and kept.source == before.source


def test_a_kernel_that_did_not_run_the_test_is_told():
    for console in ("Kernel panic\n", "KTAP version 1\n    ok 1 another\nok 1 damon\n"):
        with pytest.raises(RunFailed, match=f"did not run {CASE}"):
            kunit.judged(console, CASE)


def test_a_finding_without_a_kunit_test_is_told(tmp_path):
    with pytest.raises(BadInput, match="damon/pages-on-no-list brings no kunit test"):
        next(kunit.run(FOUND["damon/pages-on-no-list"], tmp_path))
