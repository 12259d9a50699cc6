"""The protocol's steps once more, on sets and dictionaries, and a plain breadth-first search.

It shares the programs with the model, and nothing of what a step does, how a state is kept or how
it is searched. Who holds a lock is a set of threads here, and a state's identity is its `repr`.
"""

import copy
from collections import deque

from lorelab.vmalock.model.protocol import writers
from lorelab.vmalock.model.protocol.configurations import LAYOUTS, TYPE_SAFE, programs
from lorelab.vmalock.model.protocol.ops import Op
from lorelab.vmalock.model.protocol.programs import Do, Goto
from lorelab.vmalock.params import TRAITS


class Broken(Exception):
    """A rule, by number."""


class Vma:
    def __init__(self, start, last, seq, anon, counted):
        self.start, self.last, self.pgoff, self.seq = start, last, start, seq
        self.readers, self.attached, self.writer, self.waiting = [], counted, None, False
        self.detached, self.anon, self.write, self.other = False, anon, True, False
        self.marked, self.life, self.grace = False, "live", set()

    def count(self):
        return len(self.readers) + self.attached


class World:
    def __init__(self, variant, chosen, bits, without):
        self.traits, self.chosen, self.mod = TRAITS[variant], chosen, 1 << bits
        self.typesafe = self.traits.typesafe or TYPE_SAFE in without
        self.code, self.jumps = [], []
        for program in programs(variant, chosen, without):
            self.code.append([*(line for line in program if isinstance(line, Do)), None])
            self.jumps.append(places(program))
        state = {"seq": 0, "other_seq": 0, "readers": [], "writer": None, "users": 1}
        state |= {"pte": [0, 0], "child": [0, 0], "child_anon": 0, "zapped": [0, 0]}
        state["vmas"] = {}
        even = writers.EVEN_FIRST in without
        state["tree"] = [0, 0]
        for n, (start, last) in enumerate(LAYOUTS[chosen.layout], 1):
            vma = Vma(start, last, self.mod - 1 - even, chosen.anon, int(self.traits.refcount))
            state["vmas"][n] = vma
            for page in range(start, last + 1):
                state["tree"][page] = n
        if chosen.anon and "fork" in dict(chosen.threads):
            state["pte"][0] = 2
        state["threads"] = [
            {"pc": 0, "vma": 0, "second": 0, "seq": 0, "value": 0, "rcu": False}
            for _ in chosen.threads
        ]
        self.first = state

    def section(self, s, t):
        """Whether thread t handles a fault under its VMA's lock: by its place in the program."""
        begin, end = self.jumps[t].get("section"), self.jumps[t].get("end of section")
        return begin is not None and begin <= s["threads"][t]["pc"] < end

    def writing(self, s, t):
        begin, end = self.jumps[t].get("writing"), self.jumps[t].get("written")
        return begin is not None and begin <= s["threads"][t]["pc"] < end

    def check(self, s, followed):
        for t, (_, page) in enumerate(self.chosen.threads):
            if not self.section(s, t):
                continue
            vma = s["vmas"].get(s["threads"][t]["vma"])
            if vma is None or vma.life != "live" or vma.detached or vma.other:
                raise Broken(1)
            if not vma.start <= page <= vma.last:
                raise Broken(1)
            if vma.marked:
                raise Broken(2)
        if sum(self.writing(s, t) for t in range(len(self.code))) > 1:
            raise Broken(4)
        ended = not any(self.code[t][thread["pc"]] for t, thread in enumerate(s["threads"]))
        if not followed and not ended:
            raise Broken(7)
        if ended and not self.free_again(s):
            raise Broken(10)

    def free_again(self, s):
        """Whether everybody who comes now gets what he wants, of the VMAs that can be found."""
        for vma in (s["vmas"][number] for number in set(s["tree"]) - {0}):
            if vma.readers or vma.writer or vma.waiting or vma.detached or vma.seq == s["seq"]:
                return False
            if self.traits.refcount and not vma.attached:
                return False
        return s["writer"] is None and not s["readers"]

    def after(self, s):
        """Every state that can follow; raises the rule that a step breaks, with the rest."""
        for t, thread in enumerate(s["threads"]):
            step = self.code[t][thread["pc"]]
            if step is None:
                continue
            new = copy.deepcopy(s)
            try:
                way = self.do(new, t, step)
            except Broken as broken:
                yield None, broken.args[0]
                continue
            if way == "blocked":
                continue
            label = {"next": None, "otherwise": step.otherwise, "elsewhere": step.elsewhere}[way]
            to = self.jumps[t][label] if label else self.jumps[t][thread["pc"]]
            new["threads"][t]["pc"] = to
            yield new, 0

    def seq_of(self, s, vma):
        return s["other_seq"] if vma.other else s["seq"]

    def change(self, s, t, number):
        for other in range(len(self.code)):
            if other != t and self.section(s, other) and s["threads"][other]["vma"] == number:
                raise Broken(1)

    def end_rcu(self, s, t):
        s["threads"][t]["rcu"] = False
        for vma in s["vmas"].values():
            if t in vma.grace:
                vma.grace.discard(t)
                if not vma.grace:
                    vma.life = "freed"

    def do(self, s, t, step):
        me, op = s["threads"][t], step.op
        page = step.arg
        simple = {
            Op.SEQ_BEGIN: "seq", Op.SEQ_END: "seq",
            Op.OTHER_SEQ_BEGIN: "other_seq", Op.OTHER_SEQ_END: "other_seq",
        }  # fmt: skip
        if op in simple:
            s[simple[op]] = (s[simple[op]] + 1) % self.mod
            if op in (Op.SEQ_END, Op.OTHER_SEQ_END):
                for vma in s["vmas"].values():
                    if vma.other == (op == Op.OTHER_SEQ_END):
                        vma.marked = False
                        if page and op == Op.SEQ_END and not s["seq"]:
                            vma.seq = self.mod - 2
            return "next"
        if op == Op.RCU_READ_LOCK:
            me["rcu"] = True
            return "next"
        if op == Op.RCU_READ_UNLOCK:
            self.end_rcu(s, t)
            return "next"
        if op == Op.WALK_AGAIN:
            me["value"] = s["tree"][page]
            return "next" if me["value"] == me["vma"] else "otherwise"
        if op == Op.TAKE_FOUND:
            me["vma"] = me["value"]
            return "next" if me["vma"] else "otherwise"
        if op == Op.WALK:
            me["second" if step.second else "vma"] = s["tree"][page]
            return "next" if s["tree"][page] else "otherwise"
        if op in (Op.MMAP_READ_LOCK, Op.MMAP_READ_TRYLOCK):
            if s["writer"] is not None:
                return "blocked" if op == Op.MMAP_READ_LOCK else "otherwise"
            s["readers"].append(0)
            return "next"
        if op == Op.MMAP_READ_UNLOCK:
            s["readers"].pop()
            return "next"
        if op == Op.MMAP_WRITE_LOCK:
            if s["writer"] is not None or s["readers"]:
                return "blocked"
            s["writer"] = t
            return "next"
        if op in (Op.MMAP_WRITE_UNLOCK, Op.MMAP_DOWNGRADE):
            s["writer"] = None
            s["readers"] += [0] * (op == Op.MMAP_DOWNGRADE)
            return "next"
        if op in (Op.MMGRAB, Op.MMDROP, Op.WAKE_WRITER):
            if me["value"]:
                if not s["users"]:
                    raise Broken(3)
                s["users"] += {Op.MMGRAB: 1, Op.MMDROP: -1, Op.WAKE_WRITER: 0}[op]
            return "next"
        if op == Op.PUT_OTHER_MM:
            s["users"] -= 1
            return "next"
        if op == Op.IF_UNMAPPED:
            return "otherwise" if s["tree"][page] else "next"
        if op == Op.ALLOC:
            return self.alloc(s, me, step)
        number = me["second" if step.second else "vma"]
        return self.on_vma(s, t, me, step, number, s["vmas"][number])

    def alloc(self, s, me, step):
        freed = [n for n, vma in s["vmas"].items() if vma.life == "freed"]
        unused = [n for n in (1, 2, 3) if n not in s["vmas"]]
        if not freed + unused:
            return "otherwise"
        number = min(freed) if freed else min(unused)
        vma = Vma(step.arg & 1, step.arg >> 1 & 1, self.mod - 1 - (step.arg >> 3 & 1), True, 0)
        vma.other, vma.detached = bool(step.arg & 4), self.traits.refcount
        if freed:
            old = s["vmas"][number]
            vma.readers, vma.writer, vma.waiting = old.readers, old.writer, old.waiting
        s["vmas"][number] = vma
        me["second" if step.second else "vma"] = number
        return "next"

    def on_vma(self, s, t, me, step, number, vma):
        op, page = step.op, step.arg
        freed = vma.life == "freed" and not (self.typesafe and me["rcu"])
        if freed and op < Op.MMAP_READ_TRYLOCK:  # a fault touches it
            raise Broken(3)
        if op == Op.LOAD_VM_LOCK_SEQ:
            me["seq"] = vma.seq
        elif op == Op.UNLESS_EQUAL:
            mine = s["seq"] if self.traits.refcount else self.seq_of(s, vma)
            return "otherwise" if me["seq"] == mine else "next"
        elif op == Op.DOWN_READ_TRYLOCK:
            if vma.writer is not None or vma.waiting:
                return "otherwise"
            vma.readers.append(0)
        elif op == Op.INC_NOT_ZERO:
            if vma.writer is not None:
                return "otherwise"
            if not vma.count() and not step.arg:
                return "elsewhere"
            vma.readers.append(0)
        elif op in (Op.UP_READ, Op.PUT):
            if not vma.readers:
                raise Broken(8)
            vma.readers.pop()
            last = len(vma.readers) + vma.attached <= 1
            wakes = vma.waiting if op == Op.UP_READ else vma.writer is not None and last
            return "next" if wakes else "otherwise"
        elif op == Op.LOAD_VM_MM:
            me["value"] = int(vma.other)
        elif op == Op.IF_OUR_MM:
            return "otherwise" if vma.other else "next"
        elif op == Op.IF_ATTACHED:
            return "otherwise" if vma.detached else "next"
        elif op == Op.IF_IN_RANGE:
            return "next" if vma.start <= page <= vma.last else "otherwise"
        elif op == Op.IF_ANON:
            return "next" if vma.anon else "otherwise"
        elif op == Op.PREPARE_ANON:
            vma.anon = True
        elif op == Op.LOAD_START:
            me["value"] = vma.start
        elif op == Op.LOAD_PGOFF:
            if vma.pgoff != me["value"]:
                raise Broken(1)
        elif op == Op.LOAD_FLAGS:
            me["value"] = int(vma.write)
        elif op == Op.SET_PTE:
            if vma.write != me["value"] or not vma.anon:
                raise Broken(1)
            if s["zapped"][page]:
                raise Broken(5)
            s["pte"][page] = 2 if vma.write else 1
        elif op == Op.IF_NOT_MARKED:
            if vma.seq == self.seq_of(s, vma):
                vma.marked = True
                return "otherwise"
        elif op == Op.DOWN_WRITE:
            if vma.count() or vma.writer is not None:
                vma.waiting = True
                return "next"
            vma.writer = "held"
            return "otherwise"
        elif op == Op.EXCLUDE_READERS:
            if vma.writer is not None:
                raise Broken(8)
            if not vma.count():
                return "otherwise"
            vma.writer = "held"
        elif op == Op.WAIT_FOR_READERS:
            if vma.count() != page or (vma.writer and not self.traits.refcount):
                return "blocked"
            if not self.traits.refcount:
                vma.writer, vma.waiting = "held", False
        elif op == Op.STORE_VM_LOCK_SEQ:
            vma.seq, vma.marked = self.seq_of(s, vma), True
        elif op == Op.UP_WRITE:
            if vma.writer is None:
                raise Broken(8)
            vma.writer = None
        elif op in (Op.SET_DETACHED, Op.PUT_ATTACHED):
            vma.detached = True
            if op == Op.PUT_ATTACHED:
                vma.attached = 0
            self.change(s, t, number)
            return "next" if op == Op.SET_DETACHED or vma.count() else "otherwise"
        elif op == Op.MARK_ATTACHED:
            vma.attached, vma.detached = 1, False
        elif op == Op.FREE:
            vma.marked = False
            vma.grace = {n for n, thread in enumerate(s["threads"]) if thread["rcu"]}
            vma.life = "waiting"
            if self.typesafe or not vma.grace:
                vma.life, vma.grace = "freed", set()
        elif op == Op.CLEAR_TREE:
            s["tree"] = [0 if n == number else n for n in s["tree"]]
        elif op == Op.STORE_TREE:
            s["tree"][page] = number
            s["zapped"][page] = 0
        elif op == Op.CLEAR_FLAG:
            self.change(s, t, number)
            vma.write = False
        elif op == Op.CLEAR_ANON:
            self.change(s, t, number)
            vma.anon = False
        elif op in (Op.SET_LAST, Op.SET_START, Op.SET_PGOFF):
            self.change(s, t, number)
            setattr(vma, {Op.SET_LAST: "last", Op.SET_START: "start"}.get(op, "pgoff"), page)
        elif op == Op.COPY_ANON:
            s["child_anon"] = int(vma.anon)
        elif op == Op.COPY_PTE:
            s["child"][page] = int(s["pte"][page] > 0)
            s["pte"][page] = min(s["pte"][page], 1)
        elif op != Op.WAKE:
            for n in range(vma.start, vma.last + 1):
                if op == Op.PROTECT_PTES:
                    s["pte"][n] = min(s["pte"][n], 1)
                elif op == Op.COMPARE_CHILD:
                    wrong = s["pte"][n] == 2 or s["child"][n] != (s["pte"][n] > 0)
                    if wrong or (s["child"][n] and not s["child_anon"]):
                        raise Broken(6)
                else:
                    s["pte"][n], s["zapped"][n] = 0, int(op == Op.ZAP_PTES)
        return "next"


def places(program):
    """Where each label leads, and where each step does, by place."""
    lines = [*program, "end of all", None]
    steps = {}
    for n, line in enumerate(lines):
        if isinstance(line, Do) or line is None:
            steps[n] = len(steps)
    labels = {line: n for n, line in enumerate(lines) if isinstance(line, str)}

    def follow(n):
        while n not in steps:
            n = labels[lines[n].label] if isinstance(lines[n], Goto) else n + 1
        return steps[n]

    found = {label: follow(n) for label, n in labels.items()}
    found |= {place: follow(n + 1) for n, place in steps.items() if lines[n] is not None}
    return found


def key(s):
    parts = [repr({k: v for k, v in s.items() if k != "vmas"})]
    return "".join(
        [*parts, *(f"{n}{sorted(vars(v).items(), key=str)}" for n, v in s["vmas"].items())]
    )


def search(variant, chosen, bits, without=frozenset()):
    """States, transitions, and the first broken rule with the steps to it (0, 0: none)."""
    world = World(variant, chosen, bits, without)
    seen, queue, transitions = {key(world.first)}, deque([(world.first, 0)]), 0
    broken = (0, 0)
    while queue:
        state, far = queue.popleft()
        if broken[0] and far >= broken[1]:
            break
        following = list(world.after(state))
        try:
            world.check(state, following)
        except Broken as rule:
            return len(seen), transitions, rule.args[0], far
        for new, rule in following:
            transitions += 1
            if rule and not broken[0]:
                broken = rule, far + 1
            if new is not None and key(new) not in seen:
                seen.add(key(new))
                queue.append((new, far + 1))
    return len(seen), transitions, *broken
