"""The order of tests, and the built laboratory, without which a test that boots is skipped.

A test that boots asks for a kernel of each design that it takes, whatever another test built before
it, and whatever the cache has: what nobody in its file asked for is not found.
"""

import os
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from lorelab.lab import build, guest, needs, recipes
from lorelab.lab.cache import designs as known
from lorelab.running import jupyter_kernel
from tests import MAY_SKIP
from tests.order import (  # noqa: F401  # pytest's hooks
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_itemcollected,
    pytest_report_header,
    pytest_xdist_make_scheduler,
)

# No verdict follows from how fast or how busy the machine is.
settings.register_profile("any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any speed")

# nbval starts a kernel of its own, with what this process has.
os.environ.update(jupyter_kernel.clean())


class Laboratory(NamedTuple):
    kernel: build.Kernel
    """Unmodified, of `common` alone."""
    guest: guest.Guest


@pytest.fixture(scope="session")
def kernels():
    """In CI, where nothing may be skipped, each kernel: as `make lab`, which may be at it, does.

    In the same order, so that of two who build neither changes what the other builds on.
    """
    if MAY_SKIP:
        if needs.missing(needs.BOOT + needs.BUILD):
            pytest.skip("no QEMU or no kernel source here: `lorelab doctor` names the packages")
        return
    for made in recipes.recipes(known()):
        build.build(made)


@pytest.fixture(scope="module")
def asked(kernels):
    """Designs that the tests of a file asked for: kernels and programs of no other are found."""
    designs = {None}

    def only(find):
        def found(made: recipes.Recipe):
            assert made.design in designs, f"ask for it first: patched({made.design!r})"
            assert made.config == "lab", f"no fixture builds a kernel with the config {made.config}"
            return find(made)

        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "built", only(build.built))
        patch.setattr(guest, "programs", only(guest.programs))
        yield designs


@pytest.fixture(scope="module")
def laboratory(asked):
    """The unmodified kernel of `common`, and the guest."""
    if MAY_SKIP and (build.find(recipes.recipe()) is None or guest.find() is None):
        pytest.skip("the kernel and the guest are not built: `make lab` builds them")
    return Laboratory(build.build(recipes.recipe()), guest.build_root())


@pytest.fixture(scope="module")
def patched(laboratory, asked):
    """Gives a design's kernel: it, the unmodified one and the guest's programs are there then."""

    def patched(design: str) -> build.Kernel:
        both = recipes.recipe(design, patched=False), recipes.recipe(design)
        if MAY_SKIP and None in map(build.find, both):
            pytest.skip(f"the kernels of {design} are not built: `make lab` builds them")
        asked.add(design)
        guest.build_programs(both[1])
        _, kernel = map(build.build, both)
        return kernel

    return patched
