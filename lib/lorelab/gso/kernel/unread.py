"""`gso/unread` on a kernel of Debian's: the laboratory's own has no macvlan.

With `fixed` it has another tap.ko (see `lorelab.gso.kernel.fixed`).
"""

import pandas as pd

from lorelab.errors import BadInput
from lorelab.gso.kernel import boot, fixed
from lorelab.gso.params import Unread
from lorelab.gso.workload.unread import table
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Measurement, Request, RunOptions

MODULES = ("dummy", "veth", "bridge", "tun", "macvlan", "macvtap", "ipvlan", "ipvtap")


def _check(params: Unread, options: RunOptions) -> None:
    if options.image is None:
        raise BadInput(
            "gso/unread: takes --kernel PATH, a kernel with macvtap and ipvtap such as Debian's; "
            "the laboratory's has neither"
        )


def _request(batch: list[Unread]) -> Request:
    runs = [params.model_dump(mode="json") for params in batch]
    job = Job(boot.DESIGN, "unread", {"runs": runs}, boot.SECONDS_A_RUN * len(runs), rows=len(runs))
    return Request(Machine(modules=MODULES), job)


def _counters(params: Unread, measured: Measured, run: int) -> pd.DataFrame:
    return table(params, measured.rows[run], "kernel")


plain = Measurement("gso/unread", _request, _counters, lambda params: params.fixed, _check)
measure = fixed.measured(plain, "unread-macvtap")
