"""The registry: every experiment by name, with its parameters and its two roads."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from lorelab.errors import BadInput
from lorelab.params import Params

if TYPE_CHECKING:
    from lorelab.lab.records import Record

DESIGNS = ("swap", "damon")
"""Designs that have landed, in the order of the book."""


@dataclass(frozen=True)
class Experiment:
    """A question put to a design.

    `simulate` and `measure` are `module:function` names, so that listing the experiments loads
    neither numba nor the laboratory.

    Where a kernel's counters depend on timing, it is run several times, and `per` names the
    counter that the others are divided by before an interval is taken
    (`lorelab.agreement.intervals`); otherwise model and kernel are compared step by step.
    """

    name: str
    question: str
    Params: type[Params]
    model: str | None = None
    kernel: str | None = None
    repeats: bool = True
    """The kernel says the same each time; False where it draws random numbers of its own."""
    per: str | None = None
    """Counter that the others are divided by, where repeats differ (`agreement.intervals`)."""
    timing: tuple[str, ...] = ()
    """Counters that follow from the order in which CPUs get on, and so from no parameter; see
    `agreement.judged`."""
    weighs: str | None = None
    """`module:function` that weighs parameters and a record of the kernel against the model and
    gives a table with a column `agrees`, where neither way of comparing does."""

    @property
    def halves(self) -> str:
        """What can answer it, in words."""
        return " and ".join(name for name in ("model", "kernel") if getattr(self, name))

    def simulate(self, params: Params) -> pd.DataFrame:
        """Run the prototype; returns counters (see `lorelab.counters`)."""
        if self.model is None:
            raise BadInput(f"{self.name} has no model half; use `lorelab kernel {self.name}`")
        return _load(self.model)(params)

    def measure(self, wanted: list[Params], image: Path | None = None) -> list["Record"]:
        """Run it on a kernel now, once for each of `wanted`; counters with their provenance.

        The kernel is the laboratory's, or the bzImage at `image`.
        """
        if self.kernel is None:
            raise BadInput(f"{self.name} has no kernel half; use `lorelab model {self.name}`")
        return _load(self.kernel)(wanted, image)

    def weigh(self, params: Params, measured: "Record") -> pd.DataFrame:
        """Hold a kernel run against the model; see `weighs`."""
        return _load(self.weighs)(params, measured)

    def recorded(self, params: Params) -> "Record | None":
        """The newest recorded kernel run of exactly these parameters, if there is one."""
        return _load("lorelab.lab.records:load")(self.name, params)


def _load(target: str) -> Callable[[Params], pd.DataFrame]:
    module, function = target.split(":")
    return getattr(import_module(module), function)


def designs(design: str | None = None) -> tuple[str, ...]:
    """The design called so, alone, or all of them in the order of the book."""
    if design is not None and design not in DESIGNS:
        raise BadInput(f"unknown design {design}: takes one of {', '.join(DESIGNS)}")
    return DESIGNS if design is None else (design,)


def experiments(design: str | None = None) -> dict[str, Experiment]:
    """Experiments by name, of one design or of all in the order of the book."""
    found = {}
    for name in designs(design):
        for experiment in import_module(f"lorelab.{name}").EXPERIMENTS:
            found[experiment.name] = experiment
    return found


def experiment(name: str) -> Experiment:
    """The experiment called `name` (`design/experiment`)."""
    known = experiments()
    if name not in known:
        raise BadInput(f"unknown experiment {name}: takes one of {', '.join(known)}")
    return known[name]
