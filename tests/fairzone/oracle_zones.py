"""Zones and policies once more: every policy is spelled out by itself instead of by traits."""

from collections import OrderedDict

from lorelab.fairzone.params import Variant as V

COUNTED = (
    *("passes", "tests", "skips_batch", "skips_watermark", "skips_dirty", "skips_remote"),
    *("failed_fair_passes", "failed_by_batch", "failed_by_watermark", "failed_by_both"),
    *("resets", "rescans", "slowpaths", "wakeups", "pageoutrun"),
    *("low_wmark_hit_quickly", "high_wmark_hit_quickly", "direct_reclaims"),
    *("spills", "rotated", "activated", "refaults_activated"),
)


class Zone:
    def __init__(self, idx, node, managed, marks, reserve, threshold, cpus, small):
        self.idx, self.node, self.managed, self.free = idx, node, managed, managed
        self.min, self.low, self.high = marks
        self.reserve = reserve  # by class
        self.threshold, self.diffs = threshold, [0] * cpus
        self.small = small
        self.counter = 0
        self.flag = False
        self.dirty = self.allocated = self.reclaimed = 0
        self.lists = [OrderedDict(), OrderedDict()]  # file page -> None; the last is the newest
        self.age = 0

    def visible(self, smp):
        return max(self.counter, 0) if smp else self.counter

    def add(self, cpu, delta):
        self.diffs[cpu] += delta
        if abs(self.diffs[cpu]) > self.threshold:
            self.counter += self.diffs[cpu]
            self.diffs[cpu] = 0


class Zones:
    """One node, or two; the second's zones are only allocated from."""

    def __init__(self, variant, local, remote, cpus, exact, min_free_kib, dirty_ratio):
        self.v, self.cpus, self.smp = variant, cpus, cpus > 1
        self.count = dict.fromkeys(COUNTED, 0)
        sizes = [(0, n) for n in local if n] + [(1, n) for n in remote if n]
        total = sum(n for _, n in sizes)
        self.zones = []
        for idx, (node, n) in enumerate(sizes):
            above = [m for other, m in sizes[idx + 1 :] if other == node]
            kept = [sum(above[:k]) // 256 for k in range(len(above) + 1)]
            tmp = (min_free_kib // 4) * n // total
            limit = 125
            t = 2 * cpus.bit_length() * (1 + (n * 4096 // 2**27).bit_length())
            threshold = 0 if exact or cpus == 1 else min(limit, t)
            small = node == 0 and idx == 0 and n < sum(local) // 16
            marks = (tmp, tmp + tmp // 4, tmp + tmp // 2)
            self.zones.append(Zone(idx, node, n, marks, kept, threshold, cpus, small))
        self.local = [z for z in self.zones if z.node == 0]
        self.order = self.local[::-1] + [z for z in self.zones if z.node == 1][::-1]
        for z in self.zones:
            z.counter = self.size(z)
        self.several = len([z for z in self.local if not self.out(z)]) > 1
        self.dirty_ratio = dirty_ratio

    def out(self, z):
        return z.small and self.v in (V.JUNE_18, V.JUNE_25)

    def size(self, z):
        return z.managed // 4 if self.v == V.JUNE_18 else z.high - z.low

    def kept(self, z, klass=None):
        if klass is None or z.node:
            return z.reserve[-1]
        return z.reserve[klass - z.idx] if klass >= z.idx else 0

    def ok(self, z, mark):
        return z.free > mark + self.kept(z)

    def dirty_ok(self, z):
        limited = [z]
        if self.v == V.NODE_LRU:
            limited = [other for other in self.zones if other.node == z.node]
        room = sum(z.managed - min(z.reserve[-1] + z.high, z.managed) for z in limited)
        return sum(z.dirty for z in limited) <= room * self.dirty_ratio // 100

    def depleted(self, z):
        if self.v <= V.V1_REACHABLE:
            return z.visible(self.smp) == 0
        return z.flag

    def take(self, z, cpu):
        z.free -= 1
        z.allocated += 1
        self.count["spills"] += z.node
        if self.out(z):
            return
        z.add(cpu, -1)
        by_zero = (V.JUNE_18, V.JUNE_25, V.MERGED)
        if self.v in by_zero and z.visible(self.smp) == 0:
            z.flag = True
        if self.v in (V.FIXED, V.V4_7) and z.counter <= 0:
            z.flag = True

    def reset(self, cpu):
        self.count["resets"] += 1
        for z in self.zones if self.v == V.V3_12 else self.local:
            if self.v == V.JUNE_25 and not z.flag:
                continue
            z.add(cpu, self.size(z) - z.counter)
            z.flag = False

    def usable(self, z, low, writes):
        if writes and low and not self.dirty_ok(z):
            self.count["skips_dirty"] += 1
            return False
        if not self.ok(z, z.low if low else z.min):
            self.count["skips_watermark"] += 1
            return False
        return True

    def plain(self, cpu, low, writes):
        self.count["passes"] += 1
        for z in self.order:
            self.count["tests"] += 1
            if self.usable(z, low, writes):
                self.take(z, cpu)
                return z
        return None

    def fair(self, cpu, writes):
        """The fast path; None leads to the slow path."""
        v, count = self.v, self.count
        if v in (V.OFF, V.NODE_LRU):
            return self.plain(cpu, True, writes)
        if v in (V.JUNE_18, V.JUNE_25) and not self.several:
            return self.plain(cpu, True, writes)
        count["passes"] += 1
        skipped = []
        watermark = 0
        left = []
        spare = None
        goes_on = False
        for z in self.order:
            count["tests"] += 1
            remote = z.node == 1 and v != V.V3_12
            if not goes_on:
                if remote and v in (V.V3_13, V.BASELINE, V.V1_LOCAL, V.V1_REACHABLE):
                    count["skips_remote"] += 1
                    continue
                if remote and v in (V.JUNE_18, V.JUNE_25, V.MERGED, V.FIXED):
                    count["skips_remote"] += 1
                    break
                if self.out(z):
                    break
                if self.depleted(z) and (v != V.JUNE_25 or spare):
                    count["skips_batch"] += 1
                    skipped.append(z)
                    continue
                if not self.depleted(z):
                    left.append(z)
                if remote and v == V.V4_7:
                    if skipped:
                        break
                    goes_on = True
                elif remote:
                    count["skips_remote"] += 1
                    continue
            before = count["skips_watermark"]
            if not self.usable(z, True, writes):
                watermark += count["skips_watermark"] - before
                continue
            if not goes_on and self.depleted(z):
                count["skips_batch"] += 1
                skipped.append(z)
                spare = z
                continue
            self.take(z, cpu)
            return z
        count["failed_fair_passes"] += 1
        both = {(True, True): "both", (True, False): "batch", (False, True): "watermark"}
        if why := both.get((bool(skipped), bool(watermark))):
            count[f"failed_by_{why}"] += 1
        if v in (V.V3_12, V.V3_13):
            return None
        if v == V.BASELINE:
            resets = True
        elif v in (V.V1, V.V1_LOCAL):
            resets = not left
        elif v == V.V1_REACHABLE:
            resets = not [z for z in left if z.managed > z.low + self.kept(z)]
        elif v == V.JUNE_18:
            resets = watermark > 0 or not left
        else:
            resets = bool(skipped)
        if resets:
            self.reset(cpu)
        if v == V.JUNE_25 and spare:
            self.take(spare, cpu)
            return spare
        two = any(z.node for z in self.zones)
        if v <= V.V1_REACHABLE:
            again = True
        elif v == V.V4_7:
            again = resets
        elif v == V.JUNE_25:
            again = two
        else:
            again = resets or two
        if not again:
            return None
        count["rescans"] += 1
        return self.plain(cpu, True, writes)
