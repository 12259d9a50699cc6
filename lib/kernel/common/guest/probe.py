"""Attaches probes, bcc programs of lib/kernel/*/probes, and reads what they counted.

What a probe is and what it may say: lib/kernel/common/probes/README.md.
"""

import ctypes
import re
import threading
from pathlib import Path

HERE = Path(__file__).parent
POINT = re.compile(r"\b(KFUNC_PROBE|KRETFUNC_PROBE)\((\w+)|\b(kprobe|kretprobe)__(\w+)\(([^)]*)")
TRACEPOINT = re.compile(r"\bTRACEPOINT_PROBE\((\w+),\s*(\w+)\)")
OUTPUT = re.compile(r"^BPF_(\w+)\((\w+)[^;]*;\s*// ([^:\n]+): .+", re.MULTILINE)
EMIT = re.compile(r"\bEMIT\((\w+),\s*(\w+)\)")
OFFSET = re.compile(r"\bOFFSET\((\w+),\s*(\w+)\)")
SIZE = re.compile(r"\bSIZE\((\w+)\)")
ADDRESS = re.compile(r"\bADDRESS\((\w+)\)")
EVENTS_A_FRAME = 2000
LISTEN_SECONDS = 0.05
BTF_STRUCT, BTF_UNION, BTF_TYPEDEF, BTF_FUNC = 4, 5, 8, 12
"""BTF_KIND_* of include/uapi/linux/btf.h."""
PRELUDE = """
#define OFFSET(type, field) OFFSET_##type##_##field
#define SIZE(type) SIZE_##type
#define ADDRESS(symbol) ADDRESS_##symbol
#define BUCKET(value) ((value) ? bpf_log2l(value) : 0)
BPF_ARRAY(lost, u64, 1);
#line 1 "{name}.c"
"""


class Lacking(NotImplementedError):
    """What this kernel lacks for a probe."""


def attach(names):
    """Attach `names` one after the other; all of them or none.

    Raises
    ------
    Lacking
        Names the probe, and the function, field or symbol that this kernel lacks.
    """
    kernel = Kernel()
    for name in names:
        kernel.check(name, (HERE / "probes" / f"{name}.c").read_text())
    return [Probe(name, kernel) for name in names]


def read(probes):
    """Detach all, then yield the frames of each: counters and losses, then events in pieces."""
    for probe in probes:
        probe.stop()
    for probe in probes:
        yield from probe.read()


class Kernel:
    """What the running kernel says of its functions, symbols and structures."""

    def __init__(self):
        self.symbols = Path("/proc/kallsyms").read_text()
        traceable = Path("/sys/kernel/tracing/available_filter_functions")
        self.traceable = set(traceable.read_text().split()) if traceable.exists() else None
        listed = HERE / "inlined"
        self.inlined = set(listed.read_text().split()) if listed.exists() else None
        self.btf = Btf()

    def check(self, name, source):
        """Raise Lacking for the first thing in a probe's source that is not here."""
        if re.search(r"\.(ringbuf_output|ringbuf_reserve|perf_submit)\(", source):
            raise ValueError(f"probe {name}: send events with EMIT(), which counts what is lost")
        if not (POINT.search(source) or TRACEPOINT.search(source)):
            raise ValueError(
                f"probe {name}: has no probe point; see lib/kernel/common/probes/README.md"
            )
        for kfunc, traced, kprobe, probed, arguments in POINT.findall(source):
            kind, function = (kfunc.lower(), traced) if kfunc else (kprobe, probed)
            lacks = self.lacks(function, kfunc, "," in arguments)
            if lacks:
                raise Lacking(f"what probe {name} watches: {kind} {function}: {lacks}")
        for category, event in TRACEPOINT.findall(source):
            if not Path(f"/sys/kernel/tracing/events/{category}/{event}").exists():
                raise Lacking(f"what probe {name} watches: tracepoint {category}:{event}")
        for symbol in ADDRESS.findall(source):
            if self.address(symbol) is None:
                raise Lacking(f"what probe {name} reads: symbol {symbol}")
        for struct, field in OFFSET.findall(source):
            if self.btf.offset(struct, field) is None:
                raise Lacking(f"what probe {name} reads: {field} in struct {struct}")
        for struct in SIZE.findall(source):
            if self.btf.size(struct) is None:
                raise Lacking(f"what probe {name} reads: struct {struct}")

    def lacks(self, function, kfunc, arguments):
        """Why a function can't be probed, or None."""
        same = self.named(re.escape(function))
        if len(same) > 1:
            return f"{len(same)} functions have this name, and no probe can tell them apart"
        if same:
            if self.traceable is not None and kfunc and function not in self.traceable:
                return "it is there but not traceable (notrace); a kprobe may do"
            if kfunc and not self.btf.has(function, BTF_FUNC):
                return "it is there, but BTF has no types of its arguments; a kprobe may do"
            if kfunc and self.btf.returns_struct(function):
                return (
                    "it returns a struct, which the kernel does not trace this way; a kprobe may do"
                )
            return None
        copies = self.copies(function)
        if copies:
            if not (kfunc or arguments):
                return None
            return (
                f"only {', '.join(copies)} is left of it, whose arguments the compiler may have "
                "moved; a kprobe that takes no more than ctx can count its calls"
            )
        if self.inlined is None:
            return "inlined into its callers, or missing: this kernel has no symbol of that name"
        if function in self.inlined:
            return "inlined: the compiler left no copy of it, only its code in its callers"
        return "missing: this kernel has no such function (or only one declared inline)"

    def copies(self, function):
        """Symbols of the copies that the compiler specialised a function into."""
        return self.named(re.escape(function) + r"\.(?:constprop|isra)\.[\w.]+")

    def named(self, pattern):
        found = re.findall(rf"^\w+ [tTwW] ({pattern})$", self.symbols, re.MULTILINE)
        return [symbol for symbol in found if not symbol.endswith(".cold")]

    def address(self, symbol):
        found = re.search(rf"^(\w+) \w {re.escape(symbol)}$", self.symbols, re.MULTILINE)
        return int(found[1], 16) if found else None

    def definitions(self, source):
        """Compiler flags with the offsets and addresses that a source asks for."""
        offsets = {
            f"-DOFFSET_{struct}_{field}={self.btf.offset(struct, field)}"
            for struct, field in OFFSET.findall(source)
        }
        addresses = {f"-DADDRESS_{s}={self.address(s):#x}ULL" for s in ADDRESS.findall(source)}
        sizes = {f"-DSIZE_{struct}={self.btf.size(struct)}" for struct in SIZE.findall(source)}
        return sorted(offsets | sizes | addresses)


class Btf:
    """The running kernel's types, as libbpf reads them (libbpf is what bcc itself uses)."""

    def __init__(self):
        self.lib = ctypes.CDLL("libbpf.so.1")
        self.lib.btf__load_vmlinux_btf.restype = ctypes.c_void_p
        self.lib.btf__type_by_id.restype = ctypes.POINTER(ctypes.c_uint32)
        self.lib.btf__name_by_offset.restype = ctypes.c_char_p
        self.btf = ctypes.c_void_p(self.lib.btf__load_vmlinux_btf())
        if not self.btf:
            raise Lacking("BTF, which probes take (CONFIG_DEBUG_INFO_BTF)")

    def has(self, name, kind):
        return self.lib.btf__find_by_name_kind(self.btf, name.encode(), kind) > 0

    def size(self, struct):
        """Bytes of a struct, or None."""
        words = self.struct(struct)
        return words and words[2]

    def offset(self, struct, field):
        """Bytes from the start of a struct to a field of its own, or None."""
        words = self.struct(struct)
        if not words:
            return None
        # struct btf_type is name, info, size; then name, type, offset in bits of each member.
        bits = 0xFFFFFF if words[1] >> 31 else 0xFFFFFFFF
        for member in range(words[1] & 0xFFFF):
            name, _, offset = words[3 + 3 * member : 6 + 3 * member]
            if self.lib.btf__name_by_offset(self.btf, name) == field.encode():
                return (offset & bits) // 8
        return None

    def returns_struct(self, function):
        number = self.lib.btf__find_by_name_kind(self.btf, function.encode(), BTF_FUNC)
        # A function's type is its prototype, and a prototype's the one it returns; 0 is void.
        number = self.type(self.type(number)[2])[2]
        while number and self.kind(number) == BTF_TYPEDEF:
            number = self.type(number)[2]
        return number != 0 and self.kind(number) in (BTF_STRUCT, BTF_UNION)

    def kind(self, number):
        return self.type(number)[1] >> 24 & 0x1F

    def type(self, number):
        return self.lib.btf__type_by_id(self.btf, number)

    def struct(self, name):
        number = self.lib.btf__find_by_name_kind(self.btf, name.encode(), BTF_STRUCT)
        return self.type(number) if number > 0 else None


class Probe:
    """One attached program, and the events that came from it."""

    def __init__(self, name, kernel):
        # Only a job with probes pays for bcc.
        from bcc import BPF

        self.name = name
        source = (HERE / "probes" / f"{name}.c").read_text()
        self.outputs = {table: (kind, unit) for kind, table, unit in OUTPUT.findall(source)}
        # bcc refuses calls on maps inside macros, so that EMIT is none.
        prepared = EMIT.sub(
            r"if (\1.ringbuf_output(&\2, sizeof(\2), 1 /* BPF_RB_NO_WAKEUP */)) "
            r"lost.atomic_increment(0)",
            source,
        )
        copies = []
        for _, _, kprobe, function, _ in POINT.findall(source):
            if kprobe and not kernel.named(re.escape(function)):
                prepared = prepared.replace(f"{kprobe}__{function}(", f"copies_{function}(")
                copies += [(kprobe, f"copies_{function}", at) for at in kernel.copies(function)]
        try:
            text = PRELUDE.format(name=name) + prepared
            self.bpf = BPF(text=text, cflags=kernel.definitions(source))
            for kprobe, function, symbol in copies:
                getattr(self.bpf, f"attach_{kprobe}")(event=symbol, fn_name=function)
        except Exception as error:
            raise RuntimeError(
                f"probe {name}: bcc could not load it: {error}; what the compiler or the "
                "verifier said is on the console"
            ) from error
        self.events = {t: [] for t, (kind, _) in self.outputs.items() if kind == "RINGBUF_OUTPUT"}
        self.done = threading.Event()
        self.listener = threading.Thread(target=self.listen, daemon=True)
        for table, taken in self.events.items():
            self.bpf[table].open_ring_buffer(
                lambda _, data, size, taken=taken: taken.append(ctypes.string_at(data, size))
            )
        if self.events:
            self.listener.start()

    def listen(self):
        """Empty the ring buffers time and again: an event wakes nobody."""
        while not self.done.wait(LISTEN_SECONDS):
            self.bpf.ring_buffer_consume()

    def stop(self):
        """Detach, so that reading is not counted, and take the last events."""
        if self.events:
            self.done.set()
            self.listener.join()
        self.missed = missed(self.bpf)
        for symbol in list(self.bpf.kprobe_fds):
            self.bpf.detach_kprobe_event(symbol)
        for tracepoint in list(self.bpf.tracepoint_fds):
            self.bpf.detach_tracepoint(tracepoint)
        for function in list(self.bpf.kfunc_entry_fds):
            self.bpf.detach_kfunc(function)
        for function in list(self.bpf.kfunc_exit_fds):
            self.bpf.detach_kretfunc(function)
        if self.events:
            self.bpf.ring_buffer_consume()

    def read(self):
        """Yield frames."""
        counters = []
        for table, (kind, unit) in self.outputs.items():
            if kind != "RINGBUF_OUTPUT":
                rows = self.counted(table, kind)
                counters += [[name, step, unit, value] for name, step, value in rows]
        lost = self.bpf["lost"][0].value + self.missed
        yield {"probe": self.name, "counters": counters, "lost": lost}
        for table, taken in self.events.items():
            event = self.bpf[table].event
            # bcc knows the fields of an event from the program; these are of none.
            fields = [name for name, _ in type(event(bytes(4096)))._fields_]
            for first in range(0, max(len(taken), 1), EVENTS_A_FRAME):
                rows = [
                    [plain(getattr(event(data), name)) for name in fields]
                    for data in taken[first : first + EVENTS_A_FRAME]
                ]
                yield {"probe": self.name, "stream": table, "fields": fields, "rows": rows}

    def counted(self, table, kind):
        """Name, step and value of each count in a map that is not 0."""
        from bcc.table import HashTable

        found = self.bpf[table]
        if isinstance(found, HashTable) and len(found) == found.max_entries:
            raise OverflowError(
                f"probe {self.name}: {table} is full with {found.max_entries} keys, and what did "
                "not fit is lost; give it more"
            )
        for key, value in found.items():
            value = sum(value) if kind.startswith("PERCPU") else value.value
            if not value:
                continue
            words = [getattr(key, name) for name, _ in getattr(key, "_fields_", ())]
            if not words:
                words = [key.value]
            step = 0
            if kind == "HISTOGRAM":
                bucket = words.pop()
                step = 1 << bucket - 1 if bucket else 0
            elif found.max_entries == 1:
                words = []
            yield "_".join([table, *map(str, words)]), step, value


def missed(bpf):
    """Calls that found another program running on their CPU, for which the kernel ran none."""
    lost = 0
    for function in bpf.funcs.values():
        for line in Path(f"/proc/self/fdinfo/{function.fd}").read_text().splitlines():
            if line.startswith("recursion_misses"):
                lost += int(line.split()[1])
    return lost


def plain(value):
    """A field as JSON has it."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return list(value) if isinstance(value, ctypes.Array) else value
