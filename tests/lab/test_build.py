"""Building: what is missing is named before anything starts, and the digest sees every part."""

import shutil
import subprocess
import time

import pytest

from lorelab.errors import BadInput, RunFailed
from lorelab.lab import build, cache, needs
from lorelab.lab.commands import follow, say

MADE = build.Recipe("linux-source-6.12", "6.12.117-1", "s" * 64, "lab", [], "gcc 12")


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "CONFIGS", tmp_path)
    (tmp_path / "lab.config").write_text("CONFIG_SWAP=y\n")
    (tmp_path / "other.config").write_text("CONFIG_SWAP=n\n")
    return MADE


def test_digest_sees_every_part(recipe, tmp_path):
    patch = tmp_path / "0001.patch"
    patch.write_text("--- a\n")
    changed = [
        recipe._replace(version="6.12.118-1"),
        recipe._replace(source_sha256="t" * 64),
        recipe._replace(config="other"),
        recipe._replace(patches=[patch]),
        recipe._replace(compiler="gcc 13"),
    ]
    digests = [one.digest for one in (recipe, *changed)]
    patch.write_text("--- b\n")
    digests.append(changed[3].digest)
    (tmp_path / "lab.config").write_text("CONFIG_SWAP=m\n")
    # Any config stands on top of lab.config.
    digests += [recipe.digest, changed[2].digest]
    assert len(set(digests)) == len(digests)


def test_missing_packages_are_named_with_the_command(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda *args, **options: None)
    with pytest.raises(BadInput) as refused:
        needs.check(needs.BOOT)
    said = str(refused.value)
    assert "qemu-system-x86_64" in said
    assert "apt-get install --no-install-recommends qemu-system-x86" in said
    assert "\n" not in said


def test_unknown_config_names_the_known():
    if needs.missing(needs.BUILD):
        pytest.skip("needs the packages that build a kernel (lorelab doctor names them)")
    with pytest.raises(BadInput, match="unknown kernel config lb: takes one of"):
        build.recipe("lb")


def test_a_full_disk_stops_before_work(monkeypatch, tmp_path, recipe):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "recipe", lambda config, patched: recipe)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(9, 9, 1 << 20))
    with pytest.raises(BadInput) as refused:
        build.build()
    assert "1 MiB free" in str(refused.value)
    assert "XDG_CACHE_HOME" in str(refused.value)
    assert not (tmp_path / "cache").exists()


def test_not_built_names_the_command(monkeypatch, tmp_path, recipe):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(BadInput, match=r"lorelab lab build$"):
        build.built(recipe)
    with pytest.raises(BadInput, match="lorelab lab build --config other"):
        build.built(recipe._replace(config="other"))


def test_a_dropped_line_of_the_fragment_fails(monkeypatch, tmp_path, recipe):
    """Kconfig leaves out what depends on something else, in silence; the laboratory does not."""
    monkeypatch.setattr(build, "follow", lambda *args, **options: None)
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects" / ".config").write_text("# CONFIG_SWAP is not set\n")
    with pytest.raises(RunFailed, match="CONFIG_SWAP"):
        build._configure(recipe, tmp_path)
    (tmp_path / "objects" / ".config").write_text("CONFIG_SWAP=y\n")
    build._configure(recipe, tmp_path)


def test_a_config_is_merged_on_top_of_the_laboratorys(monkeypatch, tmp_path, recipe):
    commands = []
    monkeypatch.setattr(
        build, "follow", lambda what, command, *rest, **more: commands.append(command)
    )
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects" / ".config").write_text("CONFIG_SWAP=y\n")
    with pytest.raises(RunFailed, match=r"other\.config: Kconfig dropped or changed CONFIG_SWAP"):
        build._configure(recipe._replace(config="other"), tmp_path)
    [merge] = [command for command in commands if "merge_config.sh" in command[0]]
    assert merge[-2:] == [str(tmp_path / "lab.config"), str(tmp_path / "other.config")]


def test_a_failed_command_says_where_its_log_is(tmp_path):
    log = tmp_path / "log"
    with pytest.raises(RunFailed, match=f"oven: cold error; all of it is in {log}"):
        follow("baking", ["sh", "-c", "echo start; echo oven: cold error; exit 1"], log)
    assert log.read_text() == "start\noven: cold error\n"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo warm >&2; exit 3", "sh failed: warm"),
        ("sleep 60 & sleep 60", "sh hung: not done after 1 s"),
    ],
)
def test_a_short_command_that_fails_or_hangs(script, said):
    with pytest.raises(RunFailed, match=said):
        say("sh", "-c", script, seconds=1)


def test_a_long_command_that_falls_silent_is_ended(tmp_path):
    marker = tmp_path / "marker"
    script = f"echo start; (sleep 3; touch {marker}) & sleep 60"
    with pytest.raises(RunFailed, match=f"baking hung: it said nothing for 1 s; see {tmp_path}"):
        follow("baking", ["sh", "-c", script], tmp_path / "log", silent=1)
    assert (tmp_path / "log").read_text() == "start\n"
    time.sleep(3)
    assert not marker.exists()


def test_digest_keeps_parts_apart():
    assert cache.digest("ab", "c") != cache.digest("a", "bc")


def test_a_patch_for_another_version_says_which_one_it_is_for(tmp_path, recipe, monkeypatch):
    """The series stops the build of a source that it does not fit, and no half of it is used."""
    tree = tmp_path / "linux"
    tree.mkdir()
    (tree / "file.c").write_text("int x;\n")
    archive = tmp_path / "source.tar.xz"
    subprocess.run(["tar", "-cJf", archive, "-C", tmp_path, "linux"], check=True)
    patch = tmp_path / "0001-change.patch"
    patch.write_text("--- a/file.c\n+++ b/file.c\n@@ -1 +1 @@\n-int y;\n+int z;\n")
    monkeypatch.setattr(needs, "SOURCE", archive)
    work = tmp_path / "work"
    work.mkdir()
    with pytest.raises(RunFailed, match=r"0001-change\.patch does not apply to .* 6\.12\.117-1"):
        build._unpack(recipe._replace(patches=[patch]), work)
    assert not (work / "source.digest").exists()
    build._unpack(recipe, work)
    assert (work / "source" / "file.c").read_text() == "int x;\n"
