"""Building: what is missing is named before anything starts, and the digest sees every part."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from lorelab.errors import BadInput, RunFailed
from lorelab.lab import boot, build, cache, guest, needs, recipes
from lorelab.lab.processes import check_output, run_logged
from tests import lacking


@pytest.fixture
def files(tmp_path, monkeypatch):
    """lib/kernel with two designs, of which one has a config of its own."""
    for name, text in {
        "common/lab.config": "CONFIG_SWAP=y\n",
        "common/other.config": "CONFIG_SWAP=n\n",
        "common/patches/0001-first.patch": "--- a\n",
        "common/guest/agent.py": "agent\n",
        "common/guest/programs.mk": "all:\n",
        "common/probes/faults.c": "faults\n",
        "one/patches/0001-second.patch": "--- b\n",
        "one/guest/works.py": "works\n",
        "one/guest/Makefile": "all:\n",
        "two/kernel.config": "CONFIG_NET=y\n",
        "two/configs/wide.config": "CONFIG_KASAN=y\n",
        "two/configs/wide/0001-third.patch": "--- d\n",
        "two/configs/longer.config": "# A patch alone.\n",
        "two/configs/longer/0001-fourth.patch": "--- f\n",
        "two/guest/plays.py": "plays\n",
        "two/probes/plays.h": "plays\n",
    }.items():
        file = tmp_path / "kernel" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setattr(cache, "KERNEL_FILES", tmp_path / "kernel")
    monkeypatch.setattr(needs, "check", lambda wanted: None)
    machine = ("linux-source-6.12", "6.12.117-1", "s" * 64, "gcc 12")
    monkeypatch.setattr(recipes, "_machine", lambda source: machine)
    return tmp_path / "kernel"


@pytest.fixture
def recipe(files):
    return recipes.recipe()


def test_digest_sees_every_part(files):
    (files / "two/patches").mkdir()
    (files / "two/patches/0001-fifth.patch").write_text("--- g\n")
    plain, one, two = recipes.recipe(), recipes.recipe("one"), recipes.recipe("two")
    wide, other = recipes.recipe("two", "wide"), recipes.recipe("one", "other")
    changed = [
        plain,
        one,
        two,
        wide,
        other,
        recipes.recipe("two", patched=False),
        recipes.recipe("two", "other"),
        one._replace(version="6.12.118-1"),
        one._replace(source_sha256="t" * 64),
        one._replace(compiler="gcc 13"),
    ]
    digests = [made.digest for made in changed]
    (files / "one/patches/0001-second.patch").write_text("--- c\n")
    digests.append(one.digest)
    (files / "two/configs/wide.config").write_text("CONFIG_KASAN=n\n")
    digests.append(wide.digest)
    (files / "two/configs/wide/0001-third.patch").write_text("--- e\n")
    digests.append(recipes.recipe("two", "wide").digest)
    (files / "common/lab.config").write_text("CONFIG_SWAP=m\n")
    # Any config stands on top of lab.config.
    digests += [plain.digest, one.digest, two.digest, other.digest]
    assert len(set(digests)) == len(digests)


def test_what_a_kernel_is_made_of(files):
    def names(made):
        return [str(file.relative_to(files)) for file in (*made.fragments, *made.patches)]

    assert names(recipes.recipe()) == ["common/lab.config"]
    assert names(recipes.recipe("two", "wide")) == [
        "common/lab.config",
        "two/kernel.config",
        "two/configs/wide.config",
        "common/patches/0001-first.patch",
        "two/configs/wide/0001-third.patch",
    ]
    assert names(recipes.recipe("one")) == [
        "common/lab.config",
        "common/patches/0001-first.patch",
        "one/patches/0001-second.patch",
    ]
    # A design without a config of its own shares the unmodified kernel of all.
    assert [(made.design, bool(made.patches)) for made in recipes.recipes(["one", "two"])] == [
        (None, False),
        ("two", False),
        ("one", True),
    ]
    # And one without patches of its own is measured on an unmodified one.
    assert recipes.recipe("two").digest == recipes.recipe("two", patched=False).digest
    assert recipes.recipe("two", "wide").tree != recipes.recipe("two").tree == recipes.recipe().tree
    assert recipes.recipe("two", "longer").tree == recipes.recipe("two").tree


@pytest.mark.parametrize("mine", ["one", "two"])
def test_a_designs_files_leave_the_digests_of_all_others(files, tmp_path, monkeypatch, mine):
    """A patch, a probe or a guest program more: other kernels, programs and records stay."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    other = {"one": "two", "two": "one"}[mine]

    def rests_on(design, name):
        staged = boot._stage(tmp_path / name, boot.Job(design, "w", {}, 1), None, tmp_path / "none")
        kernels = [recipes.recipe(design, patched=patched).digest for patched in (False, True)]
        return [recipes.recipe().digest, *kernels, guest._programs(recipes.recipe(design)), staged]

    before = {design: rests_on(design, f"{design}.before") for design in ("one", "two")}
    for name in ("patches/0002-more.patch", "guest/more.py", "guest/more.c", "probes/more.c"):
        (files / mine / name).parent.mkdir(exist_ok=True)
        (files / mine / name).write_text("more")
    (files / mine / "guest" / "Makefile").write_text("PROGRAMS := more\n")
    (files / mine / "kernel.config").write_text("CONFIG_MORE=y\n")
    after = {design: rests_on(design, f"{design}.after") for design in ("one", "two")}
    assert after[other] == before[other]
    assert after[mine][0] == before[mine][0], "the unmodified kernel of all"
    changed = zip(after[mine][1:], before[mine][1:], strict=True)
    assert all(new != old for new, old in changed)
    assert after[mine][-1].keys() - before[mine][-1].keys() == {"more.py", "probes/more.c"}


def test_a_config_that_only_one_design_has(files):
    with pytest.raises(BadInput, match=r"unknown kernel config wide: takes one of other$"):
        recipes.recipe("one", "wide")
    with pytest.raises(BadInput, match="unknown design three: takes one of one, two"):
        recipes.recipe("three")


def test_missing_packages_are_named_with_the_command(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda *args, **options: None)
    with pytest.raises(BadInput) as refused:
        needs.check(needs.BOOT)
    said = str(refused.value)
    assert "qemu-system-x86_64" in said
    assert "apt-get install --no-install-recommends qemu-system-x86" in said
    assert "\n" not in said


@pytest.mark.parametrize("damaged", ["bzImage", "kernel.json"])
def test_a_damaged_kernel_counts_as_not_built(recipe, tmp_path, monkeypatch, damaged):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    recipe.folder.mkdir(parents=True)
    image, beside = recipe.folder / "bzImage", recipe.folder / "kernel.json"
    image.write_bytes(b"an image")
    info = build.KernelInfo(release="6.12.117", image_sha256=cache.file_digest(image))
    beside.write_text(info.model_dump_json())
    assert build.built(recipe).info == info
    hurt = recipe.folder / damaged
    hurt.write_bytes(hurt.read_bytes()[:-1])
    assert build.find(recipe) is None
    with pytest.raises(BadInput, match="lorelab lab build"):
        build.built(recipe)


def test_an_image_of_the_guest_that_was_cut_is_made_anew(tmp_path, monkeypatch):
    if not Path("/usr/sbin/debugfs").exists():
        lacking("no e2fsprogs")
    monkeypatch.setattr(guest, "ROOM_MIB", 8)
    monkeypatch.setattr(guest.cache, "need_room", lambda *_: None)
    root = tmp_path / "root"
    root.mkdir()
    (root / "file").write_text("kept")
    image = guest.disk(root)
    os.truncate(image, image.stat().st_size // 2)
    assert guest.disk(root) == image
    read = ["/usr/sbin/debugfs", "-R", "cat /file", str(image)]
    assert subprocess.run(read, capture_output=True, check=True).stdout == b"kept"
    made = image.stat().st_mtime_ns
    assert guest.disk(root).stat().st_mtime_ns == made


def test_a_damaged_guest_counts_as_not_built(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    guest._folder().mkdir(parents=True)
    (guest._folder() / "guest.json").write_text('{"suite": "tri')
    assert guest.find() is None
    with pytest.raises(BadInput, match="lorelab lab build"):
        guest.built()


def test_unknown_config_names_the_known():
    if needs.missing(needs.BUILD):
        lacking("needs the packages that build a kernel (lorelab doctor names them)")
    known = "debug, kasan, kcsan"
    with pytest.raises(BadInput, match=f"unknown kernel config lb: takes one of {known}"):
        recipes.recipe("swap", "lb")


def test_a_full_disk_stops_before_work(monkeypatch, tmp_path, recipe):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(9, 9, 1 << 20))
    with pytest.raises(BadInput) as refused:
        build.build(recipe)
    assert "1 MiB free" in str(refused.value)
    assert "XDG_CACHE_HOME" in str(refused.value)
    assert not (tmp_path / "cache").exists()


def test_not_built_names_the_command(monkeypatch, tmp_path, recipe):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(BadInput, match=r"lorelab lab build$"):
        build.built(recipe)
    with pytest.raises(BadInput, match=r"lorelab lab build two --config wide$"):
        build.built(recipes.recipe("two", "wide"))


def test_a_dropped_line_of_the_fragment_fails(monkeypatch, tmp_path, recipe):
    """Kconfig leaves out what depends on something else, in silence; the laboratory does not."""
    monkeypatch.setattr(build, "run_logged", lambda *args, **options: None)
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects" / ".config").write_text("# CONFIG_SWAP is not set\n")
    with pytest.raises(RunFailed, match="CONFIG_SWAP"):
        build._configure(recipe, tmp_path)
    (tmp_path / "objects" / ".config").write_text("CONFIG_SWAP=y\n")
    build._configure(recipe, tmp_path)


@pytest.mark.parametrize(
    ("lacks", "stops"), [("SWAP", False), ("9P_FS", True), ("BPF_SYSCALL", True), ("NET", True)]
)
def test_what_another_source_has_not_is_told_and_stops_only_where_it_must(
    monkeypatch, tmp_path, files, capsys, lacks, stops
):
    """The guest's road, a probe's ground and what the design itself asks for (NET here)."""
    (files / "common/lab.config").write_text(
        "CONFIG_SWAP=y\nCONFIG_9P_FS=y\nCONFIG_BPF_SYSCALL=y\n"
    )
    monkeypatch.setattr(build, "run_logged", lambda *args, **options: None)
    names = {"SWAP", "9P_FS", "BPF_SYSCALL", "NET"} - {lacks}
    (tmp_path / "objects").mkdir()
    result = "".join(f"CONFIG_{name}=y\n" for name in names)
    (tmp_path / "objects" / ".config").write_text(result)
    other = recipes.recipe("two")._replace(source=tmp_path / "linux", version="7.4.0")
    if not stops:
        build._configure(other, tmp_path)
        assert capsys.readouterr().err == "7.4.0 has no CONFIG_SWAP as lab.config wants\n"
        return
    said = rf"^lab\.config: Kconfig dropped or changed CONFIG_{lacks}$"
    with pytest.raises(RunFailed, match=said):
        build._configure(other, tmp_path)


def test_a_config_is_merged_on_top_of_the_laboratorys(monkeypatch, tmp_path, files):
    commands = []
    monkeypatch.setattr(
        build, "run_logged", lambda what, command, *rest, **more: commands.append(command)
    )
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects" / ".config").write_text("CONFIG_SWAP=y\nCONFIG_NET=y\n")
    with pytest.raises(RunFailed, match=r"other\.config: Kconfig dropped or changed CONFIG_SWAP"):
        build._configure(recipes.recipe("two", "other"), tmp_path)
    [merge] = [command for command in commands if "merge_config.sh" in command[0]]
    merged = ["common/lab.config", "two/kernel.config", "common/other.config"]
    assert merge[-3:] == [str(files / name) for name in merged]


def test_the_folder_of_a_build_is_not_in_what_it_makes(tmp_path):
    """A kernel's makefile in small: it names sources by their folder, and runs in the objects'."""
    rule = "bzImage:\n\tcd $(O) && $(CC) -g $(KCFLAGS) -c $(CURDIR)/one.c\n"
    rule += "\tcd $(O) && $(CC) -g $(KAFLAGS) -c $(CURDIR)/two.S\n"
    for work in (tmp_path / "here" / "lab", tmp_path / "there" / "lab"):
        for name in ("source", "objects"):
            (work / name).mkdir(parents=True)
        (work / "source" / "Makefile").write_text(rule)
        (work / "source" / "one.c").write_text("int one(void) { return 1; }\n")
        (work / "source" / "two.S").write_text("two:\n\tret\n")
        build._make(work, "compiling", "bzImage")
    for name in ("one.o", "two.o"):
        one, other = ((tmp_path / home / "lab/objects" / name) for home in ("here", "there"))
        assert one.read_bytes() == other.read_bytes()
        assert f"{build.TREES}/lab".encode() in one.read_bytes()


@pytest.mark.parametrize(
    ("design", "config", "stays"),
    [("one", None, True), (None, None, False), ("two", "wide", False)],
)
def test_no_header_of_an_earlier_kernel_is_in_a_kernel(
    monkeypatch, tmp_path, files, design, config, stays
):
    """make takes an archive of an earlier config for its own if no header changed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache, "need_room", lambda *given: None)
    for step in ("_unpack", "_configure", "_keep"):
        monkeypatch.setattr(build, step, lambda *given: None)
    made = recipes.recipe(design, config)
    names = ("kernel/kheaders.md5", "include/generated/utsversion.h")
    known, version = (made.tree / "objects" / name for name in names)
    for file in (known, version):
        file.parent.mkdir(parents=True)
        file.write_text("of an earlier build")
    there = []

    def make(*given):
        there.append((known.exists(), version.exists()))

    monkeypatch.setattr(build, "_make", make)
    build.build(made)
    assert there == [(False, stays)]


def test_a_failed_command_says_where_its_log_is(tmp_path):
    log = tmp_path / "log"
    with pytest.raises(RunFailed, match=f"oven: cold error; all of it is in {log}"):
        run_logged("baking", ["sh", "-c", "echo start; echo oven: cold error; exit 1"], log)
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
        check_output("sh", "-c", script, seconds=1)


def test_a_long_command_that_falls_silent_is_ended(tmp_path):
    marker = tmp_path / "marker"
    script = f"echo start; (sleep 3; touch {marker}) & sleep 60"
    with pytest.raises(RunFailed, match=f"baking hung: it said nothing for 1 s; see {tmp_path}"):
        run_logged("baking", ["sh", "-c", script], tmp_path / "log", silent=1)
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
    recipe = recipe._replace(source=archive)
    work = tmp_path / "work"
    work.mkdir()
    with pytest.raises(RunFailed, match=r"0001-change\.patch does not apply to .* 6\.12\.117-1"):
        build._unpack(recipe._replace(patches=[patch]), work)
    assert not (work / "source.digest").exists()
    build._unpack(recipe, work)
    assert (work / "source" / "file.c").read_text() == "int x;\n"
    patch.write_text(patch.read_text().replace("int y", "int x"))
    build._unpack(recipe._replace(patches=[patch]), work)
    assert (work / "source" / "file.c").read_text() == "int z;\n"
    assert (work / "pristine" / "file.c").read_text() == "int x;\n"


@pytest.mark.parametrize(
    ("subject", "release"), [("", "7.3"), ("Subject: [PATCH 6.12.y] a change\n", "6.12")]
)
def test_a_patch_for_upstream_that_does_not_apply_to_a_readers_tree(
    tmp_path, recipe, subject, release
):
    tree, work = tmp_path / "linux", tmp_path / "work"
    tree.mkdir()
    work.mkdir()
    (tree / "file.c").write_text("int x;\n")
    patch = tmp_path / "0001-change.patch"
    patch.write_text(f"{subject}--- a/file.c\n+++ b/file.c\n@@ -1 +1 @@\n-int y;\n+int z;\n")
    made = recipe._replace(source=tree, package="tree", version="7.4.0", patches=[patch])
    source = re.escape(f"it is for Debian's linux-source-{release}; see ")
    said = rf"^0001-change\.patch does not apply to tree 7\.4\.0; {source}"
    with pytest.raises(RunFailed, match=said):
        build._unpack(made, work)
    assert not (work / "source.digest").exists() and not (work / "fresh").exists()
    assert (tree / "file.c").read_text() == "int x;\n"
