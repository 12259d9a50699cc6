"""`vmalock/workloads-followed` on a real kernel: each step of a launch, of forks, of receives."""

from lorelab.lab.records import Record
from lorelab.lab.run import Lab, by_boot
from lorelab.vmalock.kernel.followed import logs
from lorelab.vmalock.kernel.workloads import ran
from lorelab.vmalock.params import WorkloadsFollowed

NAME = "vmalock/workloads-followed"


def measure(wanted: list[WorkloadsFollowed], lab: Lab) -> list[Record]:
    """Run the programs of `vmalock/workloads` on a kernel that logs them.

    Returns
    -------
    list of Record
        As asked: the log, as `vmalock/followed` has it.
    """

    def each(runs: list[WorkloadsFollowed]) -> list[Record]:
        measured = ran(runs, lab, log=True)
        return logs(NAME, runs, measured)

    return by_boot(wanted, lambda params: params.cpus, each)
