"""Numbers, sizes and times as damo writes them, with separators and units."""

import re
from decimal import Decimal

SIZE = re.compile(r"(\d+\.?\d*) ?([BKMGTPE])(?:i?B)?")
WHOLE = re.compile(r"-?\d{1,20}\.0")
BYTES = {"B": 0, "K": 10, "M": 20, "G": 30, "T": 40, "P": 50, "E": 60}
NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
}


def integer(value: object) -> int:
    """A whole number as damo writes it: a number, or text with thousands separators or a unit."""
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, str):
        raise TypeError(value)
    text = value.replace(",", "").strip()
    try:
        return int(text)
    except ValueError:
        match = SIZE.fullmatch(text)
    if WHOLE.fullmatch(text):
        return int(float(text))
    if match is None:
        raise ValueError(f"{value[:40]!r} is no number")
    return int(float(match[1]) * 2 ** BYTES[match[2]])


def nanoseconds(value: object, unit: int = 1) -> int:
    """A time: a number of `unit` nanoseconds, or text such as "1,200" or "2 m 3.5 s"."""
    if type(value) in (int, float):
        return int(value * unit)
    if not isinstance(value, str):
        raise TypeError(value)
    text = value.replace(",", "").strip()
    try:
        return int(text) * unit
    except ValueError:
        pass
    sign, text = (-1, text[1:]) if text[:1] == "-" else (1, text)
    parts = re.findall(r"([\d.]+) ?([a-z]*)", text)
    if not parts or re.sub(r"([\d.]+) ?([a-z]*)| ", "", text):
        raise ValueError(f"{value[:40]!r} is no time")
    total = Decimal(0)  # a float has no room for the nanoseconds of 105 days
    for part, name in parts:
        scale = NANOSECONDS.get(name, unit if not name and len(parts) == 1 else None)
        if scale is None or part.count(".") > 1 or part == ".":
            raise ValueError(f"{value[:40]!r} is no time")
        total += Decimal(part) * scale
    return sign * round(total)
