"""The built laboratory, for tests that boot: skipped with one line without it, except in CI."""

from typing import NamedTuple

import pytest

from lorelab.lab import build, guest, needs
from tests import MAY_SKIP


class Laboratory(NamedTuple):
    kernel: build.Kernel
    """Unmodified."""
    guest: guest.Guest


@pytest.fixture(scope="session")
def laboratory():
    """The unmodified kernel and the guest; built first in CI, where nothing here may be skipped."""
    if MAY_SKIP:
        if needs.missing(needs.BOOT + needs.BUILD):
            pytest.skip("no QEMU or no kernel source here: `lorelab doctor` names the packages")
        if build.find(build.recipe()) is None or guest.find() is None:
            pytest.skip("the kernel and the guest are not built: `make lab` builds them")
    return Laboratory(build.build(build.recipe()), guest.build_root())


@pytest.fixture(scope="session")
def patched(laboratory):
    """Gives a design's kernel, with its programs; both are built first in CI."""

    def patched(design: str) -> build.Kernel:
        made = build.recipe(design)
        if MAY_SKIP and build.find(made) is None:
            pytest.skip(f"the kernel of {design} is not built: `make lab` builds it")
        guest.build_programs(made)
        build.build(build.recipe(design, patched=False))
        return build.build(made)

    return patched
