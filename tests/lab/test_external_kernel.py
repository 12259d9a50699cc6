"""A kernel of the reader's own: where it is looked for, and one with modules booted."""

import importlib
import lzma

import pandas as pd
import pytest

from lorelab.counters import table
from lorelab.errors import BadInput
from lorelab.lab import boot, cache, external_kernel, needs
from tests import MAY_SKIP

RELEASE = "6.9.1-mine"


def bzimage(release: str = RELEASE) -> bytes:
    """As much of a bzImage as is read: HdrS, and where the version string is."""
    head = bytearray(0x400)
    head[0x202:0x206] = b"HdrS"
    head[0x20E:0x210] = (0x100).to_bytes(2, "little")
    return bytes(head[:0x300]) + f"{release} (me@here) #7 SMP\0".encode() + bytes(100)


@pytest.fixture
def tree(tmp_path):
    """Make files as a package has them."""

    def tree(*files: str):
        for name in files:
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(bzimage() if "vmlinuz" in name or "bzImage" in name else b"")
        return tmp_path

    return tree


@pytest.mark.parametrize("lib", ["lib", "usr/lib"])
def test_boot_with_its_modules_beside(tree, lib):
    modules = f"{lib}/modules/{RELEASE}"
    top = tree(f"boot/vmlinuz-{RELEASE}", f"{modules}/modules.builtin", f"{modules}/kernel/a.ko")
    for path in (top, top / "boot" / f"vmlinuz-{RELEASE}"):
        found = external_kernel.find(path)
        assert found.image == top / "boot" / f"vmlinuz-{RELEASE}"
        assert found.modules == top / modules
        assert found.info.release == RELEASE
        assert found.info.banner == f"{RELEASE} (me@here) #7 SMP"
        assert found.info.digest is None


def test_an_image_among_its_modules(tree):
    home = f"usr/lib/modules/{RELEASE}"
    top = tree(f"{home}/vmlinuz", f"{home}/modules.builtin", f"{home}/kernel/a.ko")
    for path in (top, top / home / "vmlinuz"):
        assert external_kernel.find(path).modules == top / home


def test_a_built_tree_has_no_modules_to_load(tree):
    top = tree("arch/x86/boot/bzImage", f"lib/modules/{RELEASE}/modules.builtin")
    assert external_kernel.find(top).modules is None
    assert external_kernel.find(top / "arch/x86/boot/bzImage").modules is None


@pytest.mark.parametrize("image", [f"boot/vmlinuz-{RELEASE}", f"lib/modules/{RELEASE}/vmlinuz"])
@pytest.mark.parametrize(
    ("there", "says"),
    [
        ("kernel/virtio_blk.ko", f"no modules.builtin: .* unpack linux-base-{RELEASE} there"),
        ("modules.builtin", f"no kernel: .* unpack linux-modules-{RELEASE} there"),
        ("config", f"no modules.builtin, kernel: .* linux-base-{RELEASE}, linux-modules-{RELEASE}"),
    ],
)
def test_a_package_of_debians_that_was_not_unpacked_is_named(tree, image, there, says):
    with pytest.raises(BadInput, match=says):
        external_kernel.find(tree(image, f"lib/modules/{RELEASE}/{there}"))


def test_modules_of_another_release_are_not_taken(tree):
    top = tree(f"boot/vmlinuz-{RELEASE}", "lib/modules/6.9.2-mine/modules.builtin")
    assert external_kernel.find(top).modules is None


def test_what_is_no_kernel(tree, tmp_path):
    with pytest.raises(BadInput, match="holds no kernel; takes a bzImage"):
        external_kernel.find(tmp_path)
    with pytest.raises(BadInput, match="No such file or directory; takes a bzImage"):
        external_kernel.find(tmp_path / "missing")
    top = tree("boot/vmlinuz-1", "boot/vmlinuz-2")
    with pytest.raises(BadInput, match=r"holds .*vmlinuz-1, .*vmlinuz-2; takes"):
        external_kernel.find(top)
    (tmp_path / "text").write_text("HdrS, but not where it should be" * 100)
    with pytest.raises(BadInput, match="not a bzImage") as refused:
        external_kernel.find(tmp_path / "text")
    assert "\n" not in str(refused.value)


def test_one_of_another_config_says_what_it_is_made_of(laboratory):
    found = external_kernel.find(laboratory.kernel.image)
    assert found.info == laboratory.kernel.info
    assert found.info.digest


def test_packed_modules_are_unpacked_and_the_readers_tree_stays_clean(tmp_path):
    packed = tmp_path / "zram.ko.xz"
    packed.write_bytes(lzma.compress(b"module"))
    out = tmp_path / "out"
    out.mkdir()
    assert external_kernel._unpacked(packed, out) == out / "zram.ko"
    assert (out / "zram.ko").read_bytes() == b"module"
    assert external_kernel._unpacked(tmp_path / "plain.ko", out) == tmp_path / "plain.ko"


def test_what_the_guest_loads_itself_is_numbered_and_nothing_twice(tmp_path):
    files = [tmp_path / f"{name}.ko" for name in ("ext4", "vhost", "vhost_net")]
    for file in files:
        file.write_bytes(file.name.encode())
    used = external_kernel._stage(files, files[:1], tmp_path / "there")
    staged = sorted((tmp_path / "there").iterdir())
    assert [file.name for file in staged] == ["00-vhost.ko", "01-vhost_net.ko"]
    assert used == {file.name: cache.file_digest(file) for file in files[1:]}


def test_a_module_gets_its_parameters_off_the_command_line(monkeypatch):
    monkeypatch.syspath_prepend(str(cache.KERNEL_FILES / "common/guest"))
    modules = importlib.import_module("modules")
    words = ["quiet", "vhost-net.experimental_zcopytx=1", "vhost.max=4", "vhost_net.b=2"]
    assert modules.parameters("vhost_net", words) == "experimental_zcopytx=1 b=2"
    assert modules.parameters("dummy", words) == ""


def test_a_kernel_with_modules_boots_off_disks(laboratory, tmp_path):
    """The laboratory's kernel with nothing to load goes the same road as Debian's."""
    if MAY_SKIP and needs.missing(needs.OWN):
        pytest.skip("no busybox or depmod for --kernel: `lorelab doctor` names the packages")
    image = tmp_path / "boot" / f"vmlinuz-{laboratory.kernel.info.release}"
    modules = tmp_path / "lib" / "modules" / laboratory.kernel.info.release
    image.parent.mkdir()
    (modules / "kernel").mkdir(parents=True)
    image.write_bytes(laboratory.kernel.image.read_bytes())
    for name in ("modules.builtin", "modules.order"):
        (modules / name).write_text("")
    before = sorted(path.name for path in modules.iterdir())
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "says.py").write_text(
        "import os\n"
        "def run(params):\n"
        "    yield {'n': params['n'], 'root': open('/proc/mounts').read(),\n"
        "           'files': sorted(os.listdir('/lab'))}\n"
    )
    kernel = external_kernel.find(tmp_path)
    job = boot.Job(None, "says", {"n": 7}, seconds=60, rows=1)
    outcome = boot.run(
        kernel.image,
        laboratory.guest.root,
        programs,
        boot.Machine(memory_mib=512),
        job,
        quiet=True,
        modules=kernel.modules,
    )
    [row] = outcome.rows
    assert row["n"] == 7
    assert "/ ext4 ro" in row["root"]
    assert "says.py" in row["files"]
    assert outcome.release == laboratory.kernel.info.release
    assert outcome.programs["init.sh"] == cache.file_digest(
        cache.KERNEL_FILES / "common/guest/init.sh"
    )
    # What a record shows of it names no folder of this machine.
    assert str(tmp_path) not in " ".join(outcome.command)
    assert "KERNEL" in outcome.command
    assert sorted(path.name for path in modules.iterdir()) == before


@pytest.mark.parametrize(
    ("banner", "package"),
    [
        (
            "7.2.12+deb13-cloud-amd64 (debian-kernel@lists.debian.org) #1 SMP PREEMPT_DYNAMIC "
            "Debian 7.2.12-1~bpo13+1 (2026-11-04)",
            ("linux-image-7.2.12+deb13-cloud-amd64", "7.2.12-1~bpo13+1"),
        ),
        ("6.9.1-mine (me@here) #7 SMP", (None, None)),
    ],
)
def test_a_debian_kernel_names_its_package(banner, package):
    assert external_kernel.debian_package(banner) == package


@pytest.mark.parametrize(
    ("variant", "release", "is_"),
    [
        ("v6.12", "7.4.1+deb14-amd64", "v7.4"),
        ("v6.12", "6.12.9", "v6.12"),
        ("v7.3", "7.30.0-rc1", "v7.30"),
        ("chris-v3", "6.9.0", "chris-v3"),
        ("damon", "7.4.1", "damon"),
    ],
)
def test_rows_of_a_readers_kernel_carry_its_release(variant, release, is_):
    """An experiment calls its rows v6.12, whatever it ran on."""
    counters = table("a/b", variant, "kernel", {"it": ("1", [1, 2])})
    found = external_kernel.of_release(counters, release)
    assert found["variant"].tolist() == [is_] * 2
    pd.testing.assert_frame_equal(found.drop(columns="variant"), counters.drop(columns="variant"))
