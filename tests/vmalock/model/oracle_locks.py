"""Cache lines and semaphores of the second writing of the performance model (`oracle`)."""

from collections import deque


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
            self.world.count["remote"] += 1
        self.owner, self.lent, self.copies = cpu, False, {cpu}
        return done

    def read(self, cpu, after):
        if cpu in self.copies:
            return after
        self.copies.add(cpu)
        if self.owner is None:
            return after
        comes = max(after, self.free) + self.world.costs["remote"]
        self.world.count["remote"] += 1
        if not self.lent:
            self.lent, self.free = True, comes
        return comes


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

    def downgrade(self, when):
        self.writer, self.readers_last = None, True
        self.inside += 1
        if self.queue:
            when = self.grant(when, "own")
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
            self.world.count["steal"] += 1
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
                self.world.count["handoff"] += 1
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
        mine = self is self.world.mmap_lock
        while not self.try_queued_write(thread):
            yield from thread.sleep(thread.waits_as, "sleep_writer" if mine else "vma_sleep")
            waited = True
        return waited

    def spin(self, thread):
        now = self.world.env.now
        if not self.readers_last and self.writer is not None:
            thread.until = None
            return thread.stays() if self.writer.cpu is not None else "off"
        if self.free() and not self.handoff:
            self.own(thread)
            self.world.count["opt_lock"] += self is self.world.mmap_lock
            return "taken"
        if not self.readers_last:
            return thread.stays()
        if thread.until is None:
            if self.hopeless:
                return "off"
            thread.until = now + (20 + min(self.inside, 30)) * 1000 // 2
        elif now >= thread.until:
            self.hopeless = True
            return "off"
        thread.look_at(thread.until)
        return "on"
