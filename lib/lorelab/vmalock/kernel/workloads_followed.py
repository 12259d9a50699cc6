"""`vmalock/workloads-followed` on a real kernel: each step of a launch, of forks, of receives."""

from functools import partial

from lorelab.lab.run import Measurement
from lorelab.vmalock.kernel.boot import cpus
from lorelab.vmalock.kernel.followed import log_of
from lorelab.vmalock.kernel.workloads import check, request

NAME = "vmalock/workloads-followed"
measure = Measurement(NAME, partial(request, log=True), log_of, machine=cpus, check=check)
