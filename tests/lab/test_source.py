"""Other sources: what is none is told in a line, what is one has a digest of its own."""

import pytest
from click.testing import CliRunner

from lorelab.errors import BadInput
from lorelab.judging import upstream
from lorelab.lab import build, cache, needs, recipes, source
from lorelab.lab.commands import lab

MAKEFILE = "VERSION = 7\nPATCHLEVEL = 4\nSUBLEVEL = 0\nEXTRAVERSION = -rc2\nNAME = x\n"


@pytest.fixture
def tree(tmp_path):
    for part in source.PARTS:
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / part).write_text("")
    (tmp_path / "Makefile").write_text(MAKEFILE)
    return tmp_path


def test_a_tree_has_its_version_and_a_digest_of_its_files(tree):
    assert source.find(str(tree)) == tree
    package, version, digest = source.described(tree)
    assert (package, version) == ("tree", "7.4.0-rc2")
    (tree / ".git").mkdir()
    (tree / ".git/index").write_text("no part of it")
    assert source.described(tree)[2] == digest
    (tree / "Kconfig").write_text("config A\n")
    assert source.described(tree)[2] != digest


@pytest.mark.parametrize("part", source.PARTS)
def test_what_is_no_tree_is_told(tree, part):
    (tree / part).unlink()
    with pytest.raises(BadInput, match=f"no tree of Linux, for it has no {part}; takes"):
        source.find(str(tree))


def test_a_tree_that_was_built_in_place_is_told(tree):
    (tree / ".config").write_text("")
    with pytest.raises(BadInput, match="was built in place; run make mrproper"):
        source.find(str(tree))


def test_a_makefile_of_something_else_is_told(tree):
    (tree / "Makefile").write_text("all:\n")
    with pytest.raises(BadInput, match="its Makefile names no version of Linux"):
        source.described(tree)


def test_a_release_that_is_not_installed_names_its_package(monkeypatch, tmp_path):
    monkeypatch.setattr(needs, "SOURCE", tmp_path / "linux-source-6.12.tar.xz")
    for text, says in [("debian", r"apt-get install linux-source-7\.3 "), ("fedora", "put linux-"),
                       ("ubuntu", "put linux-"), ("arch", "or give a tree of Linux$")]:  # fmt: skip
        monkeypatch.setattr(needs, "system", lambda text=text: f"ID={text}\n")
        with pytest.raises(BadInput, match=says) as refused:
            source.find("7.3")
        assert ("apt-get" in str(refused.value)) == (text == "debian")
    (tmp_path / "linux-source-7.3.tar.xz").write_text("")
    assert source.find("7.3").name == "linux-source-7.3.tar.xz"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gso", "--upstream"], "--upstream goes with --source"),
        (["--source", "7.3"], "--source 7.3: of which design? give one"),
        (["gso", "damon", "--source", "7.3"], "--source 7.3: of which design? give one"),
        (["gso/unread-macvtap", "--source", "7.3"], "gso/unread-macvtap: a finding's patches go"),
    ],
)
def test_what_the_door_refuses(words, said):
    done = CliRunner().invoke(lab, ["build", *words])
    assert isinstance(done.exception, BadInput) and said in str(done.exception)


def test_a_stable_series_is_in_the_subject(tmp_path):
    for subject, series in (
        ("[PATCH 6.12.y] mm: a", "6.12"),
        ("[RFC PATCH 6.1.y] mm: a", "6.1"),
        ("[PATCH net 1/2] b", None),
    ):
        (tmp_path / "mail").write_text(f"From: x\nSubject: {subject}\n\n[PATCH 5.4.y]\n")
        assert source.series(tmp_path / "mail") == series
        assert source.is_stable(tmp_path / "mail") is bool(series)


@pytest.mark.parametrize(
    ("package", "version", "sent"),
    [
        ("linux-source-6.12", "6.12.117-1~deb12u1", True),
        ("tree", "6.12.118", True),
        ("linux-source-7.3", "7.3.4-1~bpo13+1", False),
        ("tree", "6.1.120", False),
    ],
)
def test_a_patch_for_a_stable_series_goes_with_that_series_alone(package, version, sent):
    for design in ("swap", "vmalock"):
        kits = cache.KERNEL_FILES / design / "upstream"
        patches = kits.glob("*/000[1-9]*.patch")
        backports = [mail for mail in patches if source.series(mail) == "6.12"]
        chosen = recipes.upstream(design, package, version)
        assert backports and (set(backports) <= set(chosen)) is sent
        assert all(source.series(mail) in (None, "6.12") for mail in chosen)
    assert recipes.upstream("damon", package, version) == recipes.upstream("damon", "", "7.3.4")


def test_a_design_without_a_patch_for_a_source_says_so(monkeypatch, tmp_path):
    (tmp_path / "Makefile").write_text(
        "VERSION = 7\nPATCHLEVEL = 9\nSUBLEVEL = 0\nEXTRAVERSION =\n"
    )
    for part in source.PARTS[1:]:
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / part).write_text("")
    monkeypatch.setattr(needs, "check", lambda wanted: None)
    monkeypatch.setattr(build, "build", lambda recipe: pytest.fail("builds"))
    for given in ("swap", "swap/frag-list-searched-whole", "gso/none"):
        done = CliRunner().invoke(lab, ["build", given, "--source", str(tmp_path), "--upstream"])
        assert isinstance(done.exception, BadInput)
        assert str(done.exception) == f"--upstream: {given} has no patch for tree 7.9.0"


def test_a_findings_patches_are_chosen_alone(tree):
    several, one = (
        recipes.recipe("damon", None, True, tree, finding)
        for finding in (None, "shared-last-count")
    )
    kit = cache.KERNEL_FILES / "damon" / "upstream" / "shared-last-count"
    assert one.patches == sorted(kit.glob("000[1-9]*.patch"))
    assert set(one.patches) < set(several.patches) and one.digest != several.digest
    assert one.tree == several.tree, "few files are compiled again"


@pytest.mark.parametrize(
    ("files", "only"),
    [
        (["mm/damon/tests/core-kunit.h"], True),
        (["tools/testing/selftests/net/a.sh"], True),
        (["mm/damon/core.c", "mm/damon/tests/core-kunit.h"], False),
    ],
)
def test_a_patch_of_tests_changes_nothing_else(tmp_path, files, only):
    diffs = (f"--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n" for file in files)
    (tmp_path / "mail").write_text("Subject: x\n---\n" + "".join(diffs))
    assert source.is_test(tmp_path / "mail") is only


def test_a_kernel_has_nothing_of_a_selftest():
    names = {mail.name for mail in recipes.upstream("gso", "linux-source-7.3", "7.3.4")}
    mails = [mail for mail in upstream.patches("gso/unread-macvtap") if mail.name not in names]
    assert [mail.name[:4] for mail in mails] == ["0000", "0002"]
    assert [source.is_selftest(mail) for mail in mails] == [False, True]


def test_without_the_other_patches_their_tests_are_in(tree):
    given, plain = (recipes.recipe("damon", None, patched, tree) for patched in (True, False))
    tests = {mail for mail in given.patches if source.is_test(mail)}
    assert set(plain.patches) == tests and 0 < len(tests) < len(given.patches)
