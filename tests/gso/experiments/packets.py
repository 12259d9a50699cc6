"""An oracle of lifetimes: sk_buffs, their data and the ubuf_info as objects that refer to others.

Nothing is packed into words, nothing is counted that could be looked up; references are counted as
the variant counts them, and holders are found by walking the objects.
"""

import random
from dataclasses import dataclass, field

from lorelab.gso.params import TRAITS, Lifetimes

STEPS = [
    "segment",
    "drop",
    "dequeue",
    "sent",
    "sent_direct",
    "deliver",
    "read",
    "read_direct",
    "tap",
    "flood",
    "unclone",
    "rewrite",
    "store",
    "put",
    "fail",
    "again",
    "retransmit",
    "ack",
    "join",
    "tail",
]
PLACES = ["nowhere", "qdisc", "ring", "queue", "tap", "gone", "freeing"]
PART = 7


@dataclass(eq=False)
class Data:
    """What sk_buffs share: head, shared info, fragments."""

    pages: bool = False
    ubuf: bool = False
    parent: bool = False
    owners: list = field(default_factory=list)


@dataclass(eq=False)
class Skb:
    data: Data
    place: str
    parent: bool = False
    arrived: bool = False
    sent_again: bool = False


class Play:
    """One run; `take` a step by its number, or go at `random`."""

    def __init__(self, params: Lifetimes):
        self.params, self.traits = params, TRAITS[params.variant]
        copied = self.traits.at_send
        self.ref, self.told, self.zerocopy, self.copied = (
            int(not copied),
            int(copied),
            not copied,
            copied,
        )
        self.rewritten = self.stale = self.twice = self.freed = False
        # A later sk_buff of the ubuf_info, until it is freed: whether a second send is in it.
        self.later = [False] if params.joined and not copied else []
        self.ref += len(self.later)
        self.head_data = Data(pages=not copied, ubuf=not copied)
        self.users, self.segmented, self.cloned = 1, False, False
        # By number: segments, and PART, the second half of one.
        self.segments: dict[int, Skb] = {}
        # Who has the head's data: the head, while it is held, and TCP.
        self.kept, self.failed = params.retransmit, False
        self.clone: Skb | None = None
        # By CPU inside of msg_zerocopy_complete(): has it stored, what it loaded, its success.
        self.inside: list[list[bool] | None] = [None, None]

    # What is held

    def complete(self, success):
        if not success:
            self.copied = True
        if self.params.cpus == 1:
            self.zerocopy = self.zerocopy and success
            self.put_ubuf()
            return
        self.inside[self.inside.index(None)] = [False, self.zerocopy, success]

    def put_ubuf(self):
        if self.ref == 0:
            self.freed = True
            return
        self.ref -= 1
        if self.ref == 0:
            if self.told:
                self.twice = True
            else:
                self.told += 1

    def put_head(self):
        if self.users == 0:
            self.freed = True
            return
        self.users -= 1
        if self.users == 0 and not self.kept:
            self.drop_head_data()

    def drop_head_data(self):
        self.head_data.pages = False
        if self.head_data.ubuf:
            self.head_data.ubuf = False
            self.complete(True)

    def drop_data(self, skb):
        data = skb.data
        data.owners.remove(skb)
        if not data.owners and data is not self.head_data:
            if data.ubuf:
                self.complete(True)
            if data.parent and self.traits.by_data:
                self.put_head()

    def free(self, skb, direct=False):
        releases = skb.parent if self.in_skb else skb.data.parent
        self.drop_data(skb)
        if releases and not self.traits.by_data and not direct:
            self.put_head()
        skb.place = "gone"

    @property
    def in_skb(self):
        return self.traits.clone_gets and not self.traits.by_data

    def own_data(self, skb):
        """pskb_expand_head() of shared data."""
        old = skb.data
        if len(old.owners) == 1 and old is not self.head_data:
            return
        old.owners.remove(skb)
        skb.data = Data(old.pages, old.ubuf, old.parent, [skb])
        if old.ubuf:
            self.ref += 1
        if old.parent and self.traits.by_data:
            self.users += 1

    def flagged(self, data):
        return data.pages and (data.ubuf or (data.parent and self.traits.flagged))

    def copy(self, skb):
        self.own_data(skb)
        data = skb.data
        if data.ubuf:
            self.complete(False)
        if data.parent and self.traits.by_data:
            self.zerocopy, self.copied = False, True
            self.put_head()
        data.pages = data.ubuf = data.parent = False

    def read(self, skb):
        if skb.data.pages and self.rewritten:
            self.stale = True

    # Steps

    def segment(self, made):
        params, traits = self.params, self.traits
        lent, seen = self.head_data.pages, traits.members or not params.member
        if lent and not params.readable and (traits.copies or not params.gather):
            self.put_head()
            return
        if lent and traits.copies:
            lent = False
            if self.kept:  # on data of the head's own
                self.ref += 1
            else:
                self.head_data.pages = self.head_data.ubuf = False
            self.complete(False)
        if lent and not params.gather:
            lent = False
            self.copied |= made > 0
        two = params.segments - 1 if lent and params.straddles and traits.counts else None
        if two is not None and not params.readable:
            made = min(made, two)
        self.failed = made < params.segments
        for n in range(made):
            data = Data()
            skb = Skb(data, "freeing" if self.failed else "qdisc")
            data.owners.append(skb)
            if n == two:
                self.copied, self.zerocopy = True, False
            elif lent:
                data.pages = True
                if traits.counts:
                    data.ubuf = True
                    self.ref += 1
                if traits.parent and seen:
                    data.parent = skb.parent = True
                    self.users += 1
                if traits.transfers and seen and n == params.segments - 1:
                    data.ubuf, self.head_data.ubuf = True, False
            self.segments[n] = skb
        if not self.failed:
            self.segmented = True
            self.put_head()

    def segment_again(self, number):
        old = self.segments[number]
        for which in (number, PART):
            data = Data(pages=old.data.pages)
            skb = Skb(data, "qdisc")
            data.owners.append(skb)
            if self.traits.counts and old.data.ubuf:
                data.ubuf = True
                self.ref += 1
            if self.traits.flagged and old.data.parent:
                data.parent = skb.parent = True
                self.users += 1
            self.segments[which] = skb
        if self.traits.transfers:
            self.segments[PART].data.ubuf, old.data.ubuf = old.data.ubuf, False
        self.free(old)

    def send_again(self, number):
        skb = Skb(self.head_data, "qdisc", sent_again=True)
        self.head_data.owners.append(skb)
        self.segments[number] = skb

    def take(self, number):
        kind, who = STEPS[number // 8], number % 8
        if who == 5:
            self.segment(self.params.segments) if kind == "segment" else self.put_head()
            return
        if kind == "fail":
            self.segment(who)
            return
        if kind == "join":
            self.later, self.zerocopy, self.copied = [True], False, True
            return
        if kind == "tail":
            self.later = []
            self.complete(True)
            return
        if kind == "ack":
            self.kept = False
            if self.users == 0:
                self.drop_head_data()
            return
        if kind in ("again", "retransmit"):
            self.segment_again(who) if kind == "again" else self.send_again(who)
            return
        if kind == "rewrite":
            self.rewritten = True
            return
        if kind == "store":
            self.inside[who][0] = True
            loaded = self.zerocopy if self.params.once else self.inside[who][1]
            self.zerocopy = loaded and self.inside[who][2]
            return
        if kind == "put":
            self.inside[who] = None
            self.put_ubuf()
            return
        skb = self.clone if who == 4 else self.segments[who]
        if kind in ("tap", "flood"):
            self.cloned, self.origin = True, who
            self.clone = made = Skb(skb.data, "tap" if kind == "tap" else "ring", skb.parent)
            skb.data.owners.append(made)
            if made.parent and self.in_skb:
                self.users += 1
            if kind == "tap" and self.params.rx_orphan and self.flagged(made.data):
                self.copy(made) if self.params.readable else self.free(made)
            return
        if kind == "drop":
            self.free(skb)
        elif kind == "dequeue":
            skb.place = "ring"
        elif kind == "deliver":
            if self.params.rx_orphan and self.flagged(skb.data):
                if not self.params.readable:
                    self.free(skb)
                    return
                self.copy(skb)
            skb.place = "queue"
        elif kind == "unclone":
            self.own_data(skb)
        else:
            self.read(skb)
            self.free(skb, direct=kind.endswith("direct"))
            skb.arrived = True

    def possible(self):
        n = {name: 8 * i for i, name in enumerate(STEPS)}
        busy = [cpu for cpu in range(2) if self.inside[cpu]]
        found = [n["put" if self.inside[cpu][0] else "store"] + cpu for cpu in busy]
        if self.told and not self.rewritten:
            found.append(n["rewrite"] + 6)
        if len(busy) == self.params.cpus:
            return found
        found += [n["tail" if grown else "join"] + 6 for grown in self.later]
        if not self.segmented:
            return found + (self.before(n, busy) if self.users else [])
        if self.kept and all(skb.arrived for skb in self.segments.values()):
            found.append(n["ack"] + 6)
        for i, skb in self.segments.items():
            direct = self.params.direct
            if skb.place == "gone" and self.kept and not skb.arrived and not skb.sent_again:
                found.append(n["retransmit"] + i)
            if skb.place == "qdisc":
                found += [n["drop"] + i, n["dequeue"] + i]
                if self.params.nested and PART not in self.segments and not skb.sent_again:
                    found.append(n["again"] + i)
            elif skb.place == "ring":
                found += [n["sent"] + i] + [n["sent_direct"] + i] * direct
                found += [n["deliver"] + i] * self.params.local
            elif skb.place == "queue":
                found += [n["read"] + i] + [n["read_direct"] + i] * direct
            cloned = self.cloned or skb.sent_again
            if self.params.clone and not cloned and skb.place in ("qdisc", "ring"):
                found += [n["tap"] + i, n["flood"] + i]
        if self.clone and self.clone.place != "gone":
            kind = "sent" if self.clone.place == "ring" else "read"
            found += [n[kind] + 4] + [n[f"{kind}_direct"] + 4] * self.params.direct
            if self.clone.place == "ring" and len(self.clone.data.owners) > 1:
                found.append(n["unclone"] + 4)
        return found

    def before(self, n, busy):
        """While there is no list of segments, or one that is freed again, the first one first."""
        if not self.failed:
            fails = [n["fail"] + made for made in range(self.params.segments * self.params.fails)]
            return [n["segment"] + 5, n["drop"] + 5, *fails]
        if busy:
            return []
        left = [i for i, skb in self.segments.items() if skb.place == "freeing"]
        return [n["drop"] + (left[0] if left else 5)]

    def random(self, seed):
        chance, seen = random.Random(seed), set(self.broken())
        while steps := self.possible():
            self.take(chance.choice(steps))
            seen |= self.broken()
        return seen

    def broken(self):
        skbs = [*self.segments.values(), *([self.clone] if self.clone else [])]
        alive = [skb for skb in skbs if skb.place != "gone"]
        datas = {id(skb.data): skb.data for skb in alive}
        datas = list((datas | {id(self.head_data): self.head_data}).values())
        inside = [cpu for cpu in self.inside if cpu]
        refs = sum(data.ubuf for data in datas) + len(inside) + len(self.later)
        if self.traits.by_data:
            users = sum(data.parent for data in datas)
        else:
            users = sum(skb.parent if self.in_skb else skb.data.parent for skb in alive)
        users += self.users > 0 and not self.segmented
        gone = not alive and not inside and (self.segmented or not self.users) and not self.kept
        gone = gone and not self.later
        kept = any(skb.place in ("queue", "tap") and skb.data.pages for skb in alive)
        return {
            number
            for number, wrong in {
                1: self.stale,
                2: self.twice,
                3: gone and self.told != 1,
                4: refs != self.ref or users != self.users,
                5: self.told and not inside and self.zerocopy == self.copied,
                6: gone and self.head_data.pages,
                7: kept,
                8: self.segmented and self.users,
                9: self.freed,
            }.items()
            if wrong
        }

    # The same state in the model's words

    def words(self):
        """Counts, segments and the clone, as `lorelab.gso.model.lifetimes` packs them."""
        counts, at = 0, 0
        for width, value in (
            (4, self.ref),
            (2, self.told),
            *((1, flag) for flag in (self.zerocopy, self.copied, self.rewritten, self.segmented)),
            (4, self.users),
            (1, self.head_data.ubuf),
            (1, self.head_data.pages),
            *((4, self.completing(cpu)) for cpu in self.inside),
            *((1, flag) for flag in (self.stale, self.twice, self.freed, self.kept, self.failed)),
            (2, sum(1 + grown for grown in self.later)),
        ):
            assert int(value) < 1 << width
            counts |= int(value) << at
            at += width
        segments = sum(self.packet(skb) << 8 * n for n, skb in self.segments.items())
        return counts, segments, self.clone_word()

    @staticmethod
    def completing(cpu):
        """How far it is, what it loaded, its success; the last two are of no use once it stored."""
        if cpu is None:
            return 0
        stored, loaded, success = cpu
        return 2 if stored else 1 | loaded << 2 | success << 3

    def packet(self, skb):
        """Its place, what its data has, and what TCP knows of it."""
        place = PLACES.index(skb.place) | skb.sent_again << 7
        if skb.place == "gone":
            return place | (skb.arrived and self.params.retransmit) << 6
        return place | self.has(skb)

    def has(self, skb):
        if skb.data is self.head_data:
            return skb.data.pages << 3
        holds = skb.parent if self.in_skb else skb.data.parent
        return skb.data.pages << 3 | skb.data.ubuf << 4 | holds << 5

    def clone_word(self):
        """The same, if its data is its own; that it was made, and of which segment."""
        if self.clone is None:
            return 0
        word = PLACES.index(self.clone.place) | 1 << 7 | self.origin << 8
        if self.clone.place != "gone" and len(self.clone.data.owners) == 1:
            word |= 1 << 6 | self.has(self.clone)
        return word
