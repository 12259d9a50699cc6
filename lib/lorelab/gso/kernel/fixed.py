"""Runs on a kernel of the reader's own that has a fix of upstream/, as their records name it.

`make -C lib/kernel/gso/fixed` makes such a kernel of Debian's 6.12: a folder with a module more, or
with another one of the same name.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lorelab.gso.kernel import boot
from lorelab.lab import cache
from lorelab.lab.records import Record
from lorelab.lab.run import DEFAULTS, Measurement, RunOptions
from lorelab.lab.source import is_cover, is_selftest


def measured(plain: Measurement, kit: str) -> Callable[[list[Any], RunOptions], list[Record]]:
    """A measurement whose records of `fixed` parameters name the patches of a kit.

    Parameters
    ----------
    plain : Measurement
    kit : str
        Folder of lib/kernel/gso/upstream.
    """
    mails = [
        mail
        for mail in cache.files(boot.DESIGN, f"upstream/{kit}/*.patch")
        if not (is_cover(mail) or is_selftest(mail))
    ]

    def measure(requested: list[Any], options: RunOptions = DEFAULTS) -> list[Record]:
        records = plain(requested, options)
        return [
            _patched(record) if params.fixed else record
            for params, record in zip(requested, records, strict=True)
        ]

    def _patched(record: Record) -> Record:
        source = record.provenance
        named = {
            "patches": [mail.name for mail in mails],
            "patches_sha256": cache.digest(*map(_change, mails)),
        }
        kernel = source.kernel.model_copy(update=named)
        return record._replace(provenance=source.model_copy(update={"kernel": kernel}))

    return measure


def _change(mail: Path) -> str:
    """What a mail changes, without its words, which tell what came of it."""
    return mail.read_text().partition("\ndiff --git ")[2]
