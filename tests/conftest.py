"""The built laboratory, for tests that boot: skipped with one line without it, except in CI."""

import os
from typing import NamedTuple

import pytest

from lorelab.lab import build, guest, needs


class Laboratory(NamedTuple):
    kernel: build.Kernel
    guest: guest.Guest
    programs: object


@pytest.fixture(scope="session")
def laboratory():
    """Kernel, guest and programs; built first in CI, where nothing here may be skipped."""
    if os.environ.get("CI") != "true":
        if needs.missing(needs.BOOT + needs.BUILD):
            pytest.skip("no QEMU or no kernel source here: `lorelab doctor` names the packages")
        if build.find(build.recipe()) is None or guest.find() is None:
            pytest.skip("the kernel and the guest are not built: `make lab` builds them")
    kernel = build.build()
    return Laboratory(kernel, guest.build_root(), guest.build_programs(build.recipe()))


@pytest.fixture(scope="session")
def switched(laboratory):
    """The kernel with lib/kernel/patches; built first in CI."""
    if os.environ.get("CI") != "true" and build.find(build.recipe(patched=True)) is None:
        pytest.skip("the kernel with switches is not built: `make lab` builds it")
    return build.build(patched=True)
