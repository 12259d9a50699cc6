"""`vmalock/workloads-followed`: each step of a recorded run, against what the model has there."""

from lorelab.agreement import Agreement
from lorelab.lab.records import Record
from lorelab.vmalock.agree.followed import followed, judge
from lorelab.vmalock.params import WorkloadsFollowed


def agree(params: WorkloadsFollowed, record: Record) -> Agreement:
    """Every step has to be the model's; open ones may be few.

    Of a receive the kernel logs no end, as it does of a fault, so the model is told which VMA is
    received in: the first one that is marked (lib/kernel/vmalock/guest/receive.c).
    """
    log, received = record.counters, 0
    if params.workload == "receive":
        received = int(log.loc[log["event"].isin(("marked", "wait")), "vma"].iloc[0])
    return judge(*followed(log, received))
