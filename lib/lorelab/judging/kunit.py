"""What the kunit test among a finding's patches says: without the other patches, and with them.

It runs in User-Mode Linux, as the kernel's own tools/testing/kunit/kunit.py has it by default.
data/kunit/DESIGN/NAME/KERNEL--DATE.txt has what all tests of its folder said, the JSON beside it
where that came from (`lorelab.judging.reproduced`).
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import lorelab
from lorelab.errors import BadInput, RunFailed
from lorelab.judging import reproduced, upstream
from lorelab.judging.findings import Finding
from lorelab.judging.reproduced import Answer, UserMode
from lorelab.lab import build, recipes, records
from lorelab.lab.source import is_cover, is_test

FOLDER = records.FOLDER.with_name("kunit")
SECONDS = 300.0
MEMORY = "mem=256M"


def run(one: Finding, source: Path) -> Iterator[Answer]:
    """Build both kernels of a source, one after the other, and run the tests on each.

    Parameters
    ----------
    one : Finding
    source : Path
        As `lorelab.lab.source.find` gives it.

    Raises
    ------
    BadInput
        The finding's patches bring no kunit test.
    RunFailed
        A kernel could not be built, or did not come to the end of the test.
    """
    mail, file, case = case_of(one.title)
    for patched in (False, True):
        recipe = recipes.recipe(
            one.design, one.config, patched, source, one.name if patched else None
        )
        kernel = build.user_mode(recipe, str(Path(file).parent))
        command = [str(kernel.image), MEMORY, "kunit_shutdown=halt"]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS
        )
        provenance = UserMode(
            experiment=one.title,
            params={"file": mail.name},
            date=records.now(),
            lorelab=lorelab.__version__,
            kernel=kernel.info,
            command=["linux", *command[1:]],
        )
        yield Answer(judged(done.stdout, case), provenance, patched)


def case_of(title: str) -> tuple[Path, str, str]:
    """The patch of a finding that brings a kunit test, the file that it changes, and the test.

    Examples
    --------
    >>> mail, file, case = case_of("damon/shared-last-count")
    >>> mail.name[:4], file, case
    ('0003', 'mm/damon/tests/core-kunit.h', 'damon_test_split_counts_per_ctx')
    """
    for mail in upstream.patches(title):
        text = mail.read_text()
        if case := re.search(r"^\+\tKUNIT_CASE\((\w+)\),$", text, re.MULTILINE):
            assert is_test(mail) and not is_cover(mail)
            return mail, re.search(r"^\+\+\+ b/(\S+)", text, re.MULTILINE)[1], case[1]
    raise BadInput(f"{title} brings no kunit test")


def judged(console: str, case: str) -> str:
    r"""What a kernel's tests said on its console, with a last line as a reproducer has it.

    Raises
    ------
    RunFailed
        The test `case` is not among them.

    Examples
    --------
    >>> console = "Linux\nKTAP version 1\n1..1\n    not ok 1 split\nnot ok 1 damon\nhalted\n"
    >>> judged(console, "split").splitlines()[-2:]
    ['not ok 1 damon', 'FAIL: split']
    """
    lines = console.replace("\r", "").splitlines()
    says = [n for n, line in enumerate(lines) if re.match(r"KTAP|(not )?ok \d", line)]
    output = lines[says[0] : says[-1] + 1] if says else []
    results = re.findall(r"^ +(not ok|ok) \d+ (\w+)", "\n".join(output), re.MULTILINE)
    if case not in (name for _, name in results):
        raise RunFailed(f"the kernel did not run {case}: {' '.join(lines[-1:])}")
    failed = [name for word, name in results if word == "not ok"]
    return "\n".join([*output, f"FAIL: {', '.join(failed)}" if failed else "PASS"]) + "\n"


def save(one: Finding, answer: Answer, folder: Path = FOLDER) -> Path:
    """Keep what the tests said; returns the file of their output."""
    return reproduced.save(one, answer, folder)


def recorded(title: str, folder: Path = FOLDER) -> list[Answer]:
    """What was kept of a finding's test, of the kernel without the other patches first.

    Examples
    --------
    >>> [answer.verdict for answer in recorded("damon/shared-last-count")]
    ['FAIL: damon_test_split_counts_per_ctx', 'PASS']
    """
    return reproduced.recorded(title, folder)
