"""numba's IR of a function as a WebAssembly module: no compiler and no linker but llvmlite's LLVM.

    python -m lorelab.panel.compile DESIGN/QUESTION FILE

numba compiles for this machine; its IR, not yet optimised, is given the triple and the data layout
of wasm32, and optimised for that. LLVM writes an object file, which is nearly a module:
what a linker would add here are the exports, and the numbers in its code are already those of an
object that is linked alone.
"""

import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

TRIPLE = "wasm32-unknown-unknown"
LAYOUT = "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20"
FEATURES = "+bulk-memory,+mutable-globals,+sign-ext,+nontrapping-fptoint"
ENV = {
    "NUMBA_OPT": "0",
    "NUMBA_LOOP_VECTORIZE": "0",
    "NUMBA_SLP_VECTORIZE": "0",
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
}
"""For the process that compiles: IR without this machine's vectors in it."""
IMPORT, EXPORT, CUSTOM = 2, 7, 0
OFFERED = {
    "NRT_Allocate",
    "NRT_Free",
    "NRT_MemInfo_alloc",
    "NRT_MemInfo_alloc_aligned",
    "NRT_MemInfo_alloc_safe",
    "NRT_MemInfo_alloc_safe_aligned",
    "NRT_MemInfo_call_dtor",
    "PyErr_SetString",
    "log10",
    "lorelab_full",
    "lorelab_progress",
    "pow",
}
"""Functions that panel.js has for a module."""
COUNTS = re.compile(r"(define [^\n]*@NRT_(?:in|de)cref\([^\n]*\{\n).*?\n\}", re.DOTALL)
"""Functions that count references up and down. A page frees nothing before a run ends, so nobody
asks; numba would prune most of the calls, from a struct of 25 arrays 25 each time it is passed."""
PRODUCT = """define void @__multi3(ptr %to, i64 %low, i64 %high, i64 %other_low, i64 %other_high) {
  %a0 = and i64 %low, 4294967295
  %a1 = lshr i64 %low, 32
  %b0 = and i64 %other_low, 4294967295
  %b1 = lshr i64 %other_low, 32
  %p00 = mul i64 %a0, %b0
  %p01 = mul i64 %a0, %b1
  %p10 = mul i64 %a1, %b0
  %p11 = mul i64 %a1, %b1
  %carried = lshr i64 %p00, 32
  %middle = add i64 %p10, %carried
  %middle0 = and i64 %middle, 4294967295
  %middle1 = lshr i64 %middle, 32
  %both = add i64 %p01, %middle0
  %both1 = lshr i64 %both, 32
  %top = add i64 %p11, %middle1
  %over = add i64 %top, %both1
  %cross = mul i64 %high, %other_low
  %other_cross = mul i64 %low, %other_high
  %crosses = add i64 %cross, %other_cross
  %high_half = add i64 %over, %crosses
  %low_half = mul i64 %low, %other_low
  %behind = getelementptr i8, ptr %to, i32 8
  store i64 %low_half, ptr %to
  store i64 %high_half, ptr %behind
  ret void
}"""
"""LLVM's call for a product of 128 bits, of halves. A page would answer it with `BigInt`, a hundred
times slower. It comes behind the passes, one of which makes a product of 128 bits of its steps."""


def module(function: Any, record: Any) -> tuple[bytes, str]:
    """WebAssembly of a numba function that takes one array of `record`, and the type of its result.

    The module exports `entry(result, exception, parameters)`, all three addresses.
    """
    import numba
    from numba.core import types

    def entry(at):
        return function(numba.carray(at, 1, record))

    signature = (types.voidptr,)
    compiled = numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(
        entry
    )
    _ir_alone()
    compiled.compile(signature)
    made = compiled.overloads[signature]
    obj = _object(_whole(made.library), made.fndesc.llvm_func_name)
    return linked(obj), str(made.signature.return_type.dtype)


def _ir_alone() -> None:
    """From now on, numba ends with the IR: code for this machine would take longer, for nobody."""
    from numba.core.caching import CompileResultCacheImpl
    from numba.core.codegen import JITCodeLibrary, JITCPUCodegen

    JITCPUCodegen._add_module = JITCPUCodegen.set_env = lambda *_: None
    # Linked once, in the end, and optimised for wasm32: `forceinline` in what is not optimised
    # grows beyond all memory.
    JITCodeLibrary._optimize_functions = lambda *_: None
    JITCodeLibrary.finalize = lambda library: setattr(library, "_finalized", True)
    # Who asks for the address of a function links it, and what it calls, first.
    JITCodeLibrary.get_pointer_to_function = lambda library, _: library._ensure_finalized() or 1
    CompileResultCacheImpl.check_cachable = lambda *_: False


def _whole(library: Any) -> str:
    """IR of a library and of all that it calls."""
    calls, left = {}, [library]
    while left:
        one = left.pop()
        if one not in calls:
            calls[one] = set(one._linking_libraries) - {one}
            left += calls[one]
    # Callers first: of a library only what is called already is linked.
    *called, last = TopologicalSorter(calls).static_order()
    module = last._get_module_for_linking()
    for one in reversed(called):
        module.link_in(one._get_module_for_linking(), preserve=True)
    return str(module)


def _object(ir: str, name: str) -> bytes:
    import llvmlite.binding as llvm

    ir = re.sub(r'target datalayout = "[^"]*"', f'target datalayout = "{LAYOUT}"', ir)
    ir = re.sub(r'target triple = "[^"]*"', f'target triple = "{TRIPLE}"', ir)
    ir = re.sub(r"= common ((?:local_unnamed_addr )?global)", r"= internal \1", ir)
    ir = COUNTS.sub(r"\1  ret void\n}", ir)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    parsed = llvm.parse_assembly(ir)
    for function in parsed.functions:
        if not function.is_declaration:
            function.linkage = "external" if function.name == name else "internal"
            if function.name == name:
                function.name = "entry"
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(opt=3, features=FEATURES)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(parsed, passes)
    parsed.link_in(llvm.parse_assembly(PRODUCT))
    return machine.emit_object(parsed)


def linked(obj: bytes) -> bytes:
    r"""An object file as a module: its function `entry` exported, the notes for linkers left out.

    Examples
    --------
    >>> linked(b"\0asm\1\0\0\0")
    Traceback (most recent call last):
    ValueError: the object file has no function entry
    """
    parts, entry = [], None
    for kind, body in sections(obj):
        if kind != CUSTOM:
            parts.append((kind, body))
        elif body[1:8] == b"linking":
            entry = _defined(body[8:], b"entry")
    if entry is None:
        raise ValueError("the object file has no function entry")
    lacking = [name for name in functions(dict(parts)[IMPORT]) if name not in OFFERED]
    if lacking:
        raise ValueError(f"the module calls what no page offers: {', '.join(lacking)}")
    export = bytes([1, 5]) + b"entry" + b"\0" + leb(entry)
    at = next(n for n, (kind, _) in enumerate(parts) if kind > EXPORT)
    parts.insert(at, (EXPORT, export))
    out = obj[:8]
    for kind, body in parts:
        out += bytes([kind]) + leb(len(body)) + body
    return out


def functions(body: bytes) -> Iterator[str]:
    r"""Names of the functions in an import section.

    Examples
    --------
    >>> list(functions(b"\1" + b"\3env" + b"\5print" + b"\0\0"))
    ['print']
    """
    count, at = unleb(body, 0)
    for _ in range(count):
        size, at = unleb(body, at)
        size, at = unleb(body, at + size)
        name, at = body[at : at + size].decode(), at + size
        kind, at = body[at], at + 1
        if kind == 0:
            yield name
        if kind == 3:  # a global: its type, and whether it changes
            at += 2
            continue
        limited = 0
        if kind == 1:  # a table: the type of what is in it
            at += 1
        if kind in (1, 2):
            limited = body[at] & 1
            at += 1
        for _ in range(1 + limited):
            _, at = unleb(body, at)


def sections(obj: bytes) -> Iterator[tuple[int, bytes]]:
    r"""Sections of a WebAssembly file: kind and contents.

    Examples
    --------
    >>> list(sections(b"\0asm\1\0\0\0" + b"\7\3abc"))
    [(7, b'abc')]
    """
    at = 8
    while at < len(obj):
        kind = obj[at]
        size, at = unleb(obj, at + 1)
        yield kind, obj[at : at + size]
        at += size


def _defined(body: bytes, name: bytes) -> int | None:
    """Number of the function `name` in the symbol table of a linking section."""
    at = 1  # its version
    while at < len(body):
        kind = body[at]
        size, at = unleb(body, at + 1)
        if kind == 8:
            return _symbol(body[at : at + size], name)
        at += size
    return None


def _symbol(table: bytes, name: bytes) -> int | None:
    count, at = unleb(table, 0)
    for _ in range(count):
        kind = table[at]
        flags, at = unleb(table, at + 1)
        undefined, named = flags & 0x10, flags & 0x40
        if kind == 1:  # data
            size, at = unleb(table, at)
            at += size
            if not undefined:
                for _ in range(3):
                    _, at = unleb(table, at)
        elif kind == 3:  # section
            _, at = unleb(table, at)
        else:
            index, at = unleb(table, at)
            if not undefined or named:
                size, at = unleb(table, at)
                if kind == 0 and table[at : at + size] == name and not undefined:
                    return index
                at += size
    return None


def leb(number: int) -> bytes:
    r"""A number as WebAssembly writes it: seven bits a byte, the lowest first.

    Examples
    --------
    >>> leb(3), leb(300)
    (b'\x03', b'\xac\x02')
    """
    out = bytearray()
    while True:
        out.append(number & 0x7F | (0x80 if number > 0x7F else 0))
        number >>= 7
        if not number:
            return bytes(out)


def unleb(data: bytes, at: int) -> tuple[int, int]:
    """The number at a place, and the place behind it.

    Examples
    --------
    >>> unleb(leb(300) + leb(3), 0)
    (300, 2)
    """
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


if __name__ == "__main__":
    from lorelab.experiments import experiment
    from lorelab.flat import record
    from lorelab.panel.kept import described

    question, file = sys.argv[1:]
    made, numbers = module(described(question).entry, record(experiment(question).Params))
    Path(file).write_bytes(made)
    print(numbers)
