"""The performance model written again, as processes of SimPy: for 6.12 and for mmap_lock alone.

Nothing is shared with the library but the costs and the random numbers. A thread is a coroutine,
a lock an object with queues of its own; there are as many CPUs as threads.
"""

from collections import deque

import simpy

MASK = 2**64 - 1
GOLDEN, STREAM = 0x9E3779B97F4A7C15, 0xD1342543DE82EF95


def splitmix64(state):
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class Line:
    """A cache line: who wrote it, who has a copy, until when it travels."""

    def __init__(self, world):
        self.world, self.owner, self.copies, self.free, self.lent = world, None, set(), 0, False

    def write(self, cpu):
        now, costs = self.world.env.now, self.world.costs
        mine = self.owner == cpu and not self.lent
        done = max(now, self.free) + (costs["local"] if mine else costs["remote"])
        if not mine:
            self.free = done
        self.owner, self.lent, self.copies = cpu, False, {cpu}
        return done

    def read(self, cpu, after):
        if cpu in self.copies:
            return after
        self.copies.add(cpu)
        if self.owner is None:
            return after
        self.free = max(after, self.free) + self.world.costs["remote"]
        self.lent = True
        return self.free


class Rwsem:
    """Readers or a writer inside, a queue of those that sleep, a queue of those that spin."""

    def __init__(self, world):
        self.world = world
        self.inside, self.writer = 0, None
        self.readers_last, self.hopeless, self.handoff = False, False, False
        self.queue, self.spinners = deque(), deque()

    def free(self):
        return self.inside == 0 and self.writer is None

    def own(self, thread):
        self.writer, self.readers_last, self.hopeless = thread, False, False

    def try_read(self):
        if self.writer is not None or self.queue or self.handoff:
            return False
        self.inside += 1
        self.readers_last = True
        return True

    def look(self):
        """The first spinner looks up, one transfer of the line from now."""
        if self.spinners:
            self.spinners[0].look_at(self.world.env.now + self.world.costs["remote"])

    def grant(self, when, kind):
        costs = self.world.costs
        head = self.queue[0]
        if head.writes:
            if kind == "any":
                when += costs["wake"]
                head.wake(when)
            return when
        if kind != "own" and self.writer is not None:
            if self.world.env.now > head.deadline:
                self.handoff = head.asked = True
            return when
        self.readers_last = True
        for waiter in [each for each in self.queue if not each.writes][:256]:
            self.queue.remove(waiter)
            self.inside += 1
            when += costs["wake"]
            waiter.wake(when)
        self.handoff = False
        return when

    def join(self, thread, writes):
        thread.writes, thread.asked = writes, False
        thread.deadline = self.world.env.now + self.world.costs["handoff"]
        self.queue.append(thread)

    def nudge(self):
        if self.writer is None:
            if self.inside:
                self.grant(self.world.env.now, "readers")
            else:
                self.hopeless = False
                self.grant(self.world.env.now, "any")

    def leave_read(self, when):
        self.inside -= 1
        if self.inside == 0:
            self.hopeless = False
            if self.queue:
                when = self.grant(when, "any")
            self.look()
        return when

    def leave_write(self, when):
        self.writer = None
        if self.queue:
            when = self.grant(when, "any")
        self.look()
        return when

    def read_slowly(self, thread):
        """Whether a reader that found it taken gets it all the same; otherwise it is queued."""
        others = self.inside
        crowded = self.readers_last and others >= 1 and self.writer is None
        if not crowded and self.writer is None and not self.handoff:
            self.inside += 1
            self.readers_last = True
            if others == 0 and self.queue:
                self.grant(self.world.env.now, "own")
            self.look()
            return True
        if not self.queue and self.writer is None:
            self.inside += 1
            self.readers_last = True
            return True
        self.join(thread, False)
        self.nudge()
        return thread not in self.queue

    def try_queued_write(self, thread):
        first = self.queue[0]
        if self.handoff and first.asked and thread is not first:
            return False
        if not self.free():
            if not self.handoff and self.world.env.now > thread.deadline:
                self.handoff = first.asked = True
            return False
        self.handoff = False
        self.queue.remove(thread)
        self.own(thread)
        return True

    def write(self, thread):
        """Coroutine: the thread has it when this ends; returns whether it had to wait."""
        waited = False
        if self.free() and not self.queue and not self.handoff:
            self.own(thread)
            return False
        if not self.hopeless and (self.writer is None or self.writer.cpu is not None):
            self.spinners.append(thread)
            thread.until = None
            first = self.spinners[0] is thread
            while True:
                answer = self.spin(thread) if first else "on"
                if answer != "on":
                    break
                yield from thread.spin()
                first = waited = True
            self.spinners.popleft()
            if self.spinners:
                self.spinners[0].until = None
                self.look()
            if answer == "taken":
                return waited
        empty = not self.queue
        self.join(thread, True)
        if not empty:
            self.nudge()
        while not self.try_queued_write(thread):
            yield from thread.sleep("w_wait")
            waited = True
        return waited

    def spin(self, thread):
        now = self.world.env.now
        if not self.readers_last and self.writer is not None:
            thread.until = None
            return "on" if self.writer.cpu is not None else "off"
        if self.free() and not self.handoff:
            self.own(thread)
            return "taken"
        if not self.readers_last:
            return "on"
        if thread.until is None:
            if self.hopeless:
                return "off"
            thread.until = now + (20 + min(self.inside, 30)) * 1000 // 2
        elif now >= thread.until:
            self.hopeless = True
            return "off"
        thread.look_at(thread.until)
        return "on"


class Thread:
    def __init__(self, world, number):
        self.world, self.number, self.cpu, self.drawn = world, number, None, 0
        self.writes = self.asked = False
        self.deadline = self.until = self.looks = self.process = self.signal = None

    def draw(self):
        self.drawn += 1
        return splitmix64(self.world.seed + self.number * STREAM + self.drawn * GOLDEN & MASK)

    def log(self, what):
        self.world.log.append((self.world.env.now, self.number, what))

    def to(self, when, what):
        yield self.world.env.timeout(when - self.world.env.now)
        self.log(what)

    def wake(self, when):
        if self.signal is not None and not self.signal.triggered:
            self.cpu = self.world.idle.pop()
            self.signal.succeed(when + self.world.costs["start"])

    def sleep(self, what):
        self.world.idle.append(self.cpu)
        self.cpu = None
        self.signal = self.world.env.event()
        if self.world.mmap_lock.writer is self:
            self.world.mmap_lock.look()
        when = yield self.signal
        yield from self.to(when, what)

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

    def run(self, first, share, think):
        world, env = self.world, self.world.env
        self.log("arrive")
        self.cpu = world.idle.pop()
        yield env.timeout(0)
        self.log("start")
        while env.now < world.stop:
            writes = self.draw() >> 32 < share
            yield from self.write(first) if writes else self.fault(first)
            thinks = think // 2 + self.draw() % (think + 1)
            yield from self.to(world.done + thinks, "start")
        world.idle.append(self.cpu)

    def fault(self, vma):
        world, env, costs = self.world, self.world.env, self.world.costs
        body = world.body
        if not world.vma_locks:
            yield from self.to(env.now, "down")
            yield from self.mmap_fault(vma)
            return
        yield from self.to(world.tree.read(self.cpu, env.now + costs["walk"]), "early")
        when = world.struct[vma].read(self.cpu, env.now)
        when = world.sequence.read(self.cpu, when)
        if world.marked[vma] == world.number:
            yield from self.to(when, "down")
            yield from self.mmap_fault(vma)
            return
        yield from self.to(when + costs["checks"], "try")
        when = world.word[vma].write(self.cpu)
        if not world.locks[vma].try_read():
            yield from self.to(when, "down")
            yield from self.mmap_fault(vma)
            return
        yield from self.to(when, "late")
        when = world.sequence.read(self.cpu, env.now)
        if world.marked[vma] == world.number:
            when += world.word[vma].write(self.cpu) - env.now
            yield from self.to(world.locks[vma].leave_read(when), "down")
            yield from self.mmap_fault(vma)
            return
        yield from self.to(when + body, "end")
        world.done = world.locks[vma].leave_read(world.word[vma].write(self.cpu))

    def mmap_fault(self, vma):
        world, env, lock = self.world, self.world.env, self.world.mmap_lock
        when = world.word["mmap"].write(self.cpu)
        if lock.try_read() or lock.read_slowly(self):
            yield from self.to(when, "got")
        else:
            yield from self.sleep("woken")
        when = world.tree.read(self.cpu, env.now + world.costs["walk"])
        yield from self.to(when + world.body, "up")
        world.done = lock.leave_read(world.word["mmap"].write(self.cpu))

    def write(self, vma):
        world, env, lock = self.world, self.world.env, self.world.mmap_lock
        yield from self.to(env.now, "w_down")
        when = world.word["mmap"].write(self.cpu)
        self.waits_as = "w_wait"
        waited = yield from lock.write(self)
        if waited:
            when = world.word["mmap"].write(self.cpu)
        yield from self.to(when, "w_got")
        when = env.now
        if world.vma_locks:
            world.number += 1
            when = world.sequence.write(self.cpu)
            yield from self.to(when, "w_mark")
            when = world.struct[vma].read(self.cpu, env.now)
            when += world.word[vma].write(self.cpu) - env.now
            self.waits_as = "w_mark_wait"
            waited = yield from self.marks(world.locks[vma])
            if waited:
                when = world.word[vma].write(self.cpu)
            world.marked[vma] = world.number
            world.struct[vma].write(self.cpu)
            when = world.locks[vma].leave_write(when) + world.costs["mark"]
        when += world.tree.write(self.cpu) - env.now
        yield from self.to(when + world.hold, "w_end")
        when = env.now
        if world.vma_locks:
            world.number += 1
            when = world.sequence.write(self.cpu)
        when += world.word["mmap"].write(self.cpu) - env.now
        world.done = lock.leave_write(when)

    def marks(self, lock):
        sleep = self.sleep
        self.sleep = lambda what: sleep("w_mark_wait")
        waited = yield from lock.write(self)
        del self.sleep
        return waited


class World:
    """A process whose threads each do one operation over and over."""

    def __init__(self, costs, threads, vmas, seed, stop, body, hold, vma_locks):
        self.env = simpy.Environment()
        self.costs, self.seed, self.stop, self.body, self.hold = costs, seed, stop, body, hold
        self.vma_locks = vma_locks
        self.log, self.number, self.done = [], 0, 0
        self.idle = list(range(threads))[::-1]
        self.mmap_lock = Rwsem(self)
        self.locks = [Rwsem(self) for _ in range(vmas)]
        self.tree, self.sequence = Line(self), Line(self)
        self.struct = [Line(self) for _ in range(vmas)]
        self.word = {vma: Line(self) for vma in range(vmas)} | {"mmap": Line(self)}
        self.marked = [0xFFFFFFFF] * vmas
        self.threads = [Thread(self, number) for number in range(threads)]

    def run(self, share, think):
        for thread in self.threads:
            vma = thread.number % len(self.locks)
            thread.process = self.env.process(thread.run(vma, share, think))
        self.env.run()
        return self.log
