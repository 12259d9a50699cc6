"""The registry: every experiment by name, with its parameters; its functions follow from the name.

`swap/allocator-test` is simulated by `lorelab.swap.experiments.allocator_test:simulate`, measured
by `lorelab.swap.kernel.allocator_test:measure`, and judged by
`lorelab.swap.agree.allocator_test:agree`, or step by step where there is no such module. A half
that has no module does not exist. Listing the experiments looks for these modules and loads none,
so that it takes neither numba nor the laboratory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from lorelab.errors import BadInput, NoModel
from lorelab.params import Params, without_effect

if TYPE_CHECKING:
    from datetime import datetime

    from lorelab.judging.agreement import Agreement
    from lorelab.lab.records import Record
    from lorelab.lab.run import RunOptions

LIST = "lib/lorelab/designs"
"""Names of the designs, a line each, in the order of the book; a new one adds its own.

A file, read where all are asked for: so no page of a design rests on which others there are.
"""
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Experiment:
    """A question put to a design.

    Attributes
    ----------
    name : str
        `design/experiment`.
    question : str
        In one sentence.
    Params : type
        Its parameters.
    """

    name: str
    question: str
    Params: type[Params]

    @property
    def design(self) -> str:
        """The first half of its name."""
        return self.name.partition("/")[0]

    @property
    def backends(self) -> str:
        """What can answer it, in words."""
        rooms = {"model": "experiments", "kernel": "kernel"}
        return " and ".join(half for half, room in rooms.items() if self._has(room))

    def simulate(self, params: Params) -> pd.DataFrame:
        """Run the prototype; returns counters (see `lorelab.counters`).

        Raises
        ------
        NoModel
            Only a kernel reads one of the values, or the experiment has no model for it.
        """
        if not self._has("experiments"):
            raise BadInput(f"{self.name} has no model half; use `lorelab kernel {self.name}`")
        if unread := without_effect(params, "model"):
            raise NoModel(f"{unread}; leave it out, or use `lorelab kernel {self.name}`")
        return self._function("experiments", "simulate")(params)

    def measure(
        self, requested: list[Params], options: "RunOptions | None" = None
    ) -> "list[Record]":
        """Run it on a kernel now, once for each of `requested`; counters with their provenance.

        Parameters
        ----------
        requested : list of Params
        options : RunOptions, optional
            As `lorelab.lab.run` has them; otherwise on the laboratory's kernel.

        Raises
        ------
        BadInput
            Only the model reads one of the values.
        """
        if not self._has("kernel"):
            raise BadInput(f"{self.name} has no kernel half; use `lorelab model {self.name}`")
        for params in requested:
            if unread := without_effect(params, "kernel"):
                raise BadInput(f"{unread}; leave it out, or use `lorelab model {self.name}`")
        options = options or import_module("lorelab.lab.run").DEFAULTS
        return self._function("kernel", "measure")(requested, options)

    def agree(self, params: Params, record: "Record") -> "Agreement":
        """Hold a kernel run against the model: as the experiment says, or step by step.

        Where the model has no answer (`NoModel`), neither has this: the verdict is `no model`.
        """
        agreement = import_module("lorelab.judging.agreement")
        try:
            if judge := self._judge("agree"):
                return judge(params, record)
            self.check_agrees()
            return agreement.equal(self.simulate(params), record.counters)
        except NoModel as why:
            return agreement.no_model(str(why))

    def check_agrees(self) -> None:
        """Raise BadInput where there is nothing to hold a kernel run against."""
        if not self._has("experiments") and self._judge("agree") is None:
            raise BadInput(
                f"{self.name} has no model half to agree with; use `lorelab kernel {self.name}`"
            )

    def agree_with_record(
        self, params: Params, recorded: "Record", measured: "Record"
    ) -> "Agreement":
        """Hold a run measured anew against the recorded one.

        As the experiment says, or step by step. Where it only says how a run is held against the
        model or its program, the new run is, as the recorded one was: what the kernel draws or who
        comes first makes two runs different, and all that follows from it is in the model.
        """
        if judge := self._judge("agree_with_record"):
            return judge(params, recorded, measured)
        if self._judge("agree"):
            return self.agree(params, measured)
        return import_module("lorelab.judging.agreement").equal(
            recorded.counters, measured.counters
        )

    def recorded(
        self, params: Params, before: "datetime | None" = None, release: str | None = None
    ) -> "Record | None":
        """The newest recorded kernel run of exactly these parameters, if there is one.

        Parameters
        ----------
        params : Params
        before : datetime, optional
            Leaves out the records made then and later.
        release : str, optional
            That of a kernel that was not built here; otherwise the laboratory's own runs are read.
        """
        load = import_module("lorelab.lab.records").load
        return load(self.name, params, release=release, before=before)

    def _module(self, room: str) -> str:
        design, question = self.name.split("/")
        return f"lorelab.{design}.{room}.{question.replace('-', '_')}"

    def _has(self, room: str) -> bool:
        try:
            return find_spec(self._module(room)) is not None
        except ModuleNotFoundError:
            return False  # not even the room

    def _function(self, room: str, name: str) -> Callable[..., Any]:
        return getattr(import_module(self._module(room)), name)

    def _judge(self, function: str) -> "Callable[..., Agreement] | None":
        if not self._has("agree"):
            return None
        return getattr(import_module(self._module("agree")), function, None)


def designs(design: str | None = None) -> tuple[str, ...]:
    """The design called so, alone, or all of them in the order of the book.

    Examples
    --------
    >>> designs()[:5]
    ('swap', 'damon', 'vmalock', 'gso', 'fairzone')
    """
    if design and design.isidentifier() and (ROOT / "lib/lorelab" / design / "params.py").exists():
        return (design,)
    every = tuple((ROOT / LIST).read_text().split())
    if design is not None:
        raise BadInput(f"unknown design {design}: takes one of {', '.join(every)}")
    return every


def experiments(design: str | None = None) -> dict[str, Experiment]:
    """Experiments by name, of one design or of all in the order of the book.

    Examples
    --------
    >>> "swap/allocator-test" in experiments("swap"), "gso/traffic" in experiments("swap")
    (True, False)
    """
    by_name = {}
    for name in designs(design):
        for experiment in import_module(f"lorelab.{name}").EXPERIMENTS:
            by_name[experiment.name] = experiment
    return by_name


def experiment(name: str) -> Experiment:
    """The experiment called `name` (`design/experiment`).

    Examples
    --------
    >>> experiment("swap/allocator-test").backends
    'model and kernel'
    """
    design, slash, _ = name.partition("/")
    known = experiments(design if slash else None)
    if name not in known:
        raise BadInput(f"unknown experiment {name}: takes one of {', '.join(known)}")
    return known[name]
