"""The performance model written again, as processes of SimPy, for every variant.

Nothing is shared with the library but the costs and the random numbers. A thread is a coroutine,
a lock an object with queues of its own, and who has no CPU waits in a queue for one.
"""

from collections import Counter, deque

import simpy

from tests.vmalock.model.oracle_locks import Line, Rwsem

MASK = 2**64 - 1
GOLDEN, STREAM = 0x9E3779B97F4A7C15, 0xD1342543DE82EF95


def splitmix64(state):
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class Thread:
    def __init__(self, world, number, program, rounds, start):
        self.world, self.number, self.cpu, self.drawn = world, number, None, 0
        self.program, self.rounds, self.begins = program, rounds, start
        self.writes = self.asked = self.asleep = False
        self.deadline = self.until = self.looks = self.process = None
        self.signal, self.since, self.ran = world.env.event(), 0, 0

    def draw(self):
        self.drawn += 1
        return splitmix64(self.world.seed + self.number * STREAM + self.drawn * GOLDEN & MASK)

    def log(self, what):
        self.world.log.append((self.world.env.now, self.number, what))

    def to(self, when, what):
        yield self.world.env.timeout(when - self.world.env.now)
        self.log(what)

    # CPUs

    def ready(self, when):
        self.since = when
        if self.world.idle:
            self.gets(self.world.idle.pop(), when)
        else:
            self.world.runnable.append(self)

    def gets(self, cpu, when):
        self.cpu, self.ran = cpu, when
        self.world.count["run_wait"] += when - self.since
        self.signal.succeed(when)

    def leave(self):
        cpu, self.cpu = self.cpu, None
        self.signal = self.world.env.event()
        if not self.world.runnable:
            self.world.idle.append(cpu)
            return
        other = self.world.runnable.popleft()
        other.gets(cpu, max(self.world.env.now, other.since) + self.world.costs["switch"])

    def wake(self, when):
        if self.asleep:
            self.asleep = False
            self.ready(when + self.world.costs["start"])

    def sleep(self, what, counter):
        self.world.count[counter] += 1
        self.asleep = True
        self.leave()
        if self.world.mmap_lock.writer is self:
            self.world.mmap_lock.look()
        when = yield self.signal
        yield from self.to(when, what)

    def stays(self):
        """Spin on, unless the slice is over and another thread waits for the CPU."""
        now, over = self.world.env.now, self.ran + self.world.costs["slice"]
        if now >= over and self.world.runnable:
            return "off"
        self.look_at(over if now < over else now + self.world.costs["slice"])
        return "on"

    def look_at(self, when):
        self.looks = when
        if self.process is not self.world.env.active_process:
            self.process.interrupt()

    def spin(self):
        """Until the time to look comes, which others may move."""
        while True:
            when, self.looks = self.looks, None
            try:
                if when is None:
                    yield self.world.env.event()
                else:
                    yield self.world.env.timeout(when - self.world.env.now)
                self.log(self.waits_as)
                return
            except simpy.Interrupt:
                continue

    # operations

    def run(self):
        world, env = self.world, self.world.env
        if self.begins is not None:
            yield from self.to(self.begins, "arrive")
            self.ready(env.now)
        yield from self.to((yield self.signal), "start")
        for _ in range(self.rounds):
            for operation in self.program:
                if env.now >= world.stop:
                    break
                if world.runnable and env.now - self.ran >= world.costs["slice"]:
                    self.leave()
                    self.ready(env.now)
                    yield from self.to((yield self.signal), "start")
                    if env.now >= world.stop:
                        break
                yield from self.does(operation)
            if env.now >= world.stop:
                break
        self.leave()

    def does(self, op):
        world, now = self.world, self.world.env.now
        if op["kind"] == "spawn":
            world.threads[op["vma"]].ready(now + op["body"] + world.costs["start"])
            yield from self.to(now + op["body"], "start")
            return
        writes = op["kind"] == "write"
        if op["kind"] == "either":
            writes = self.draw() >> 32 < op["share"]
        vma = op["vma"] + (self.draw() % op["spread"] if op["spread"] > 1 else 0)
        thinks = op["think"] // 2 + self.draw() % (op["think"] + 1)
        yield from self.write(vma, op) if writes else self.fault(vma, op["body"])
        kind = "write" if writes else "fault"
        world.count[f"{kind}s"] += 1
        world.count[f"{kind}_time"] += world.done - now
        world.count["think_time"] += thinks
        world.count["last"] = max(world.count["last"], world.done)
        yield from self.to(world.done + thinks, "start")

    # a fault

    def fault(self, vma, body):
        world, variant = self.world, self.world.variant
        env, costs = world.env, world.costs
        count = world.count
        if variant in ("mmap-lock", "range"):
            yield from self.to(env.now, "down")
            yield from self.mmap_fault(vma, body)
            return
        first = "try" if variant == "vma-rwsem" else "early"
        yield from self.to(world.tree.read(self.cpu, env.now + costs["walk"]), first)
        if variant == "spf":
            why = yield from self.speculate(vma, body)
        else:
            why = yield from self.lock_vma(vma, body)
        if why is None:
            count["vma"] += 1
        else:
            count[why] += 1
            yield from self.mmap_fault(vma, body)

    def speculate(self, vma, body):
        world, env, costs = self.world, self.world.env, self.world.costs
        when = world.sequence.read(self.cpu, world.struct[vma].read(self.cpu, env.now))
        began = world.number
        if began % 2 or not world.anon[vma]:
            yield from self.to(when + (0 if began % 2 else costs["copy"]), "down")
            return "abort_early" if began % 2 else "retry"
        yield from self.to(when + costs["copy"] + body, "check")
        when = world.sequence.read(self.cpu, env.now)
        if world.number != began:
            yield from self.to(when, "down")
            return "abort_late"
        world.done = when
        return None

    def lock_vma(self, vma, body):
        world, variant = self.world, self.world.variant
        env, costs = world.env, world.costs
        if variant != "vma-rwsem":
            when = world.struct[vma].read(self.cpu, env.now)
            when = world.sequence.read(self.cpu, when)
            if world.marked[vma] == world.number:
                yield from self.to(when, "down")
                return "abort_early"
            yield from self.to(when + costs["checks"], "try")
        when = world.word[vma].write(self.cpu)
        if not world.locks[vma].try_read():
            yield from self.to(when, "down")
            return "abort_trylock"
        if variant != "vma-rwsem" or not world.anon[vma]:
            yield from self.to(when, "late")
            when = env.now
            if variant != "vma-rwsem":
                when = world.sequence.read(self.cpu, when)
                if world.marked[vma] == world.number:
                    yield from self.to(self.drop(vma, when), "down")
                    return "abort_late"
        if not world.anon[vma]:
            if variant in ("v2", "vma-rwsem"):
                yield from self.to(self.drop(vma, when), "down")
                return "retry"
            yield from self.to(when, "anon")
            when = world.word["mmap"].write(self.cpu)
            if not world.mmap_lock.try_read():
                yield from self.to(self.drop(vma, when), "down")
                return "retry"
            yield from self.to(when + costs["anon_vma"], "anon_end")
            world.anon[vma] = True
            when = world.mmap_lock.leave_read(world.word["mmap"].write(self.cpu))
        yield from self.to(when + body, "end")
        world.done = self.drop(vma, env.now)
        return None

    def drop(self, vma, when):
        world, lock = self.world, self.world.locks[vma]
        when += world.word[vma].write(self.cpu) - world.env.now
        if world.variant != "v7.3":
            return lock.leave_read(when)
        lock.inside -= 1
        if not lock.inside and lock.writer:
            when += world.costs["wake"]
            lock.writer.wake(when)
        return when

    def mmap_fault(self, vma, body):
        world, env = self.world, self.world.env
        ranges = world.variant == "range"
        lock = world.locks[vma] if ranges else world.mmap_lock
        line = world.word["ranges" if ranges else "mmap"]
        when, since = line.write(self.cpu), env.now
        if lock.try_read() or lock.read_slowly(self):
            yield from self.to(when, "got")
        else:
            yield from self.sleep("woken", "vma_sleep" if ranges else "sleep_reader")
            world.count["reader_waits"] += 1
            world.count["reader_wait"] += env.now - since
        when = world.tree.read(self.cpu, env.now + world.costs["walk"])
        if not world.anon[vma]:
            when += world.costs["anon_vma"]
        yield from self.to(when + body, "up")
        world.anon[vma] = True
        world.count["mmap"] += 1
        world.done = lock.leave_read(line.write(self.cpu))

    # a writer

    def write(self, vma, op):
        world, env, lock, count = self.world, self.world.env, self.world.mmap_lock, self.world.count
        variant = world.variant
        ranges = variant == "range"
        yield from self.to(env.now, "w_down")
        when, since = world.word["ranges" if ranges else "mmap"].write(self.cpu), env.now
        if not ranges:
            self.waits_as = "w_wait"
            if (yield from lock.write(self)):
                count["writer_waits"] += 1
                count["writer_wait"] += env.now - since
                when = world.word["mmap"].write(self.cpu)
        yield from self.to(when, "w_got")
        when = held = env.now
        if variant in ("v6.12", "v7.3", "spf"):
            when = self.counts_up(when)
        mine = sorted((vma + n) % len(world.locks) for n in range(op["marks"]))
        if variant not in ("mmap-lock", "spf"):
            for each in mine:
                yield from self.to(when, "w_mark")
                when = yield from self.marks(each)
        if mine:
            when += world.tree.write(self.cpu) - env.now
        yield from self.to(when + op["hold"], "w_end")
        when = env.now
        for each in mine:
            world.anon[each] = world.anon[each] and not op["fresh"]
        if variant in ("range", "vma-rwsem"):
            for each in mine:
                when += world.word[each].write(self.cpu) - env.now
                when = world.locks[each].leave_write(when)
        elif variant != "mmap-lock":
            when = self.counts_up(when)
        count["held"] += env.now - held
        when += world.word["ranges" if ranges else "mmap"].write(self.cpu) - env.now
        if ranges:
            world.done = when + op["tail"]
        elif op["tail"]:
            yield from self.to(lock.downgrade(when) + op["tail"], "w_tail")
            world.done = lock.leave_read(world.word["mmap"].write(self.cpu))
        else:
            world.done = lock.leave_write(when)

    def counts_up(self, when):
        self.world.number += 1
        return when + self.world.sequence.write(self.cpu) - self.world.env.now

    def marks(self, vma):
        world, env, lock, variant = self.world, self.world.env, self.world.locks, self.world.variant
        sequences = variant in ("v2", "v6.12", "v7.3")
        when, since = world.struct[vma].read(self.cpu, env.now), env.now
        if sequences and world.marked[vma] == world.number:
            return when
        when += world.word[vma].write(self.cpu) - env.now
        self.waits_as = "w_mark_wait"
        if variant == "v7.3":
            lock[vma].writer = self
            waited = lock[vma].inside > 0
            if waited:
                yield from self.sleep("w_mark_wait", "vma_sleep")
            lock[vma].writer = None
        else:
            waited = yield from lock[vma].write(self)
        if waited:
            world.count["vma_wait"] += env.now - since
            when = world.word[vma].write(self.cpu)
        world.count["marks"] += 1
        if sequences:
            world.marked[vma] = world.number
            world.struct[vma].write(self.cpu)
            if variant != "v7.3":
                when = lock[vma].leave_write(when)
        return when + world.costs["mark"]


class World:
    """A process: programs of its threads, each with how often it is gone through and from when."""

    def __init__(self, costs, variant, cpus, vmas, programs, seed, stop):
        self.env = simpy.Environment()
        self.costs, self.variant, self.seed, self.stop = costs, variant, seed, stop
        self.log, self.number, self.done, self.count = [], 0, 0, Counter()
        self.idle, self.runnable = list(range(cpus))[::-1], deque()
        self.mmap_lock = Rwsem(self)
        self.locks = [Rwsem(self) for _ in range(vmas)]
        self.tree, self.sequence = Line(self), Line(self)
        self.struct = [Line(self) for _ in range(vmas)]
        self.word = {name: Line(self) for name in (*range(vmas), "mmap", "ranges")}
        self.marked, self.anon = [0xFFFFFFFF] * vmas, [True] * vmas
        self.threads = [Thread(self, n, *program) for n, program in enumerate(programs)]

    def run(self):
        for thread in self.threads:
            thread.process = self.env.process(thread.run())
        self.env.run()
        return self.log
