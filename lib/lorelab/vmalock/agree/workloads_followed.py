"""`vmalock/workloads-followed`: each step of a recorded run, against what the model has there."""

from lorelab.judging.agreement import Agreement
from lorelab.lab.records import Record
from lorelab.vmalock.agree.followed import followed, judge
from lorelab.vmalock.agree.invariants import variant_with_rules
from lorelab.vmalock.params import Variant, WorkloadsFollowed


def agree(params: WorkloadsFollowed, record: Record) -> Agreement:
    """Every step that is compared has to be the model's; few may have two right answers.

    Of a receive the kernel logs no end, as it does of a fault, so the VMA that is received in is
    given to the model: the first one that is marked (lib/kernel/vmalock/guest/receive.c).
    """
    variant_with_rules(record, Variant.V6_12)
    log, received = record.counters, 0
    if params.workload == "receive":
        received = int(log.loc[log["event"].isin(("marked", "wait")), "vma"].iloc[0])
    return judge(*followed(log, received))
