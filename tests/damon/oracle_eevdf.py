"""Two tasks on one CPU as kernel/sched/fair.c of 6.12 has them: virtual times, ticks, picks.

One is always ready to run, the other works and sleeps in turn. Written with the queue's own terms
(vruntime, deadline, lag, delayed dequeue) and one event after the other, where the model has what
follows from them for the sleeper. PREEMPT_NONE: the sleeper's work is not broken into.
"""

from dataclasses import dataclass
from fractions import Fraction

SLICE = 700_000


@dataclass
class Task:
    vruntime: Fraction = Fraction(0)
    deadline: Fraction = Fraction(SLICE)
    vlag: Fraction = Fraction(0)
    on_rq: bool = True
    delayed: bool = False


class Queue:
    def __init__(self, tick):
        self.tick, self.now = tick, 0
        self.runner, self.sleeper = Task(), Task()

    def average(self):
        queued = [task for task in (self.runner, self.sleeper) if task.on_rq]
        return sum(task.vruntime for task in queued) / len(queued)

    def eligible(self, task):
        return self.average() >= task.vruntime

    def run(self, task, until):
        """`task` has the CPU; says whether its slice is over."""
        task.vruntime += until - self.now
        self.now = until
        over = task.vruntime >= task.deadline
        if over:
            task.deadline = task.vruntime + SLICE
        return over

    def pick(self):
        # Of equal deadlines the one that is not running.
        queued = [task for task in (self.sleeper, self.runner) if task.on_rq]
        return min((t for t in queued if self.eligible(t)), key=lambda task: task.deadline)

    def dequeue(self, task):
        vlag = self.average() - task.vruntime
        task.vlag = min(vlag, 0) if task.delayed else vlag
        task.on_rq = task.delayed = False

    def place(self, task):
        # Adding a task of the same weight halves its lag.
        task.vruntime = self.average() - 2 * task.vlag
        # A timer of the tick runs a moment after the slice was renewed.
        task.deadline = task.vruntime + SLICE + (self.now % self.tick == 0)
        task.on_rq = True

    def sleep(self, ns):
        """The sleeper goes to sleep; runs until it has the CPU again, and says how long that is."""
        begun, me = self.now, self.sleeper
        if self.eligible(me):
            self.dequeue(me)
        else:
            me.delayed = True
        wakes = self.now + ns
        awake = False
        while True:
            if self.now == wakes and not awake:
                awake = True
                if me.delayed:
                    if self.average() - me.vruntime > 0:
                        self.dequeue(me)
                    me.delayed = False
                if not me.on_rq:
                    self.place(me)
                if self.pick() is me:
                    return self.now - begun
            stop = (self.now // self.tick + 1) * self.tick
            if self.now < wakes:
                stop = min(stop, wakes)
            over = self.run(self.runner, stop)
            if over and stop % self.tick == 0 and self.pick() is me:
                if awake:
                    return self.now - begun
                self.dequeue(me)

    def work(self, ns):
        """The sleeper works; its own slice may end, but nothing takes the CPU from it."""
        self.sleeper.vruntime += ns
        self.now += ns
