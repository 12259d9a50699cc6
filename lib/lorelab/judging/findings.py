"""What a maintainer would want to know: defects found on the way, and how to see each again.

A design's findings stand in its `thread/findings.py`, as `FINDINGS`. What a defect costs is
computed from claims, models and recorded runs when it is asked for, and never typed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from importlib import import_module
from importlib.util import find_spec

import pandas as pd

from lorelab.errors import BadInput
from lorelab.experiments import designs

COLUMNS = [
    *("finding", "defect", "hurts", "known", "fix", "mainline", "send", "command"),
]
ARCHIVES = "stored list archives and kernel trees (a public search index, not lore itself)"
LOOKED = date(2026, 11, 28)
"""The last search for what is not known."""
NOT_READY = "Not ready"
MESSAGE, COMMIT, PAGE = r"[^\s<>@/]+@[^\s<>@]+", r"[0-9a-f]{12,40}", r"https://\S+"


@dataclass(frozen=True)
class PriorArt:
    """What lists and history say of a defect already, or where that was looked for in vain.

    Attributes
    ----------
    reports : dict of str to str
        What each says, by its message id, commit or address.
    where, how : str
        Archives that were searched, and by which words.
    when : datetime.date or None
        The day of the search.
    """

    reports: dict[str, str] = field(default_factory=dict)
    where: str = ""
    how: str = ""
    when: date | None = None

    def __post_init__(self) -> None:
        for report in self.reports:
            if not re.fullmatch(f"{MESSAGE}|{COMMIT}|{PAGE}", report):
                raise ValueError(f"{report!r}: not a message id, a commit or an address")
        if not self.reports and not (self.where and self.how and self.when):
            raise ValueError("prior art: name a report, or where, how and when none was found")

    @property
    def text(self) -> str:
        """One sentence or two."""
        known = "; ".join(f"{what} ({report})" for report, what in self.reports.items())
        if not self.when:
            return known
        looked = f"looked for in {self.where} on {self.when}, by {self.how}"
        return f"{known}; further {looked}" if known else f"no earlier report found: {looked}"


@dataclass(frozen=True)
class Finding:
    """A defect, of a thread or of a kernel.

    Attributes
    ----------
    design, name : str
        Design, and a name that is unique in it.
    defect : str
        What is wrong, and in which function or message, in one sentence.
    hurts : str
        Who notices.
    effect : callable
        Computes what it costs: one sentence with the measured figures and how sure they are.
    prior_art : PriorArt
        What is known of it already.
    fix : str
        What fixes it: a patch of ours by its path in the repository, or the commit that did.
    mainline : str
        Whether mainline has it, and where that was read or seen.
    worth_sending : bool
        Whether mainline still has it, so that maintainers want to know.
    command : str
        What shows it: arguments for `lorelab`.
    config : str, optional
        Fragment over the design's own, of the kernel that its reproducer runs on.
    cpus : int
        Of the guest that its reproducer runs in; a race is between two.
    note : str
        What somebody should know who waits for the reproducer's verdict.
    not_ready : str
        What is missing before its mails may be sent; "" if nothing is.
    """

    design: str
    name: str
    defect: str
    hurts: str
    effect: Callable[[], str]
    prior_art: PriorArt
    fix: str
    mainline: str
    worth_sending: bool
    command: str
    config: str | None = None
    cpus: int = 1
    note: str = ""
    not_ready: str = ""

    @property
    def title(self) -> str:
        """`design/name`, as the command line takes it."""
        return f"{self.design}/{self.name}"

    @property
    def readiness(self) -> str:
        """Whether its mails are worth sending, and can be sent, in two words."""
        if not self.worth_sending:
            return "Not to send"
        return NOT_READY if self.not_ready else "Worth sending"

    @property
    def send(self) -> str:
        """The same, with what is missing."""
        missing = f": {self.not_ready}" if self.readiness == NOT_READY else ""
        return f"{self.readiness}{missing}"


def findings(design: str | None = None) -> list[Finding]:
    """All findings of a design, or of every design in the order of the book.

    Examples
    --------
    >>> [one.name for one in findings("gso")][:2]
    ['vhost-copies', 'unread-macvtap']
    """
    collected = []
    for name in designs(design):
        thread = import_module(f"lorelab.{name}.thread")
        if find_spec(f"{thread.__name__}.findings"):
            collected += import_module(f"{thread.__name__}.findings").FINDINGS
    return collected


def finding(title: str) -> Finding:
    """The finding called `title` (`design/name`).

    Examples
    --------
    >>> finding("gso/lost-copied-flag").name
    'lost-copied-flag'
    """
    known = {one.title: one for one in findings()}
    if title not in known:
        raise BadInput(f"unknown finding {title}: takes one of {', '.join(known)}")
    return known[title]


def table(chosen: list[Finding]) -> pd.DataFrame:
    """One row each, columns as in `COLUMNS`; what each costs is computed for one alone.

    Examples
    --------
    >>> known = PriorArt({"0123456789ab": "fixes it"})
    >>> fields = ("swap", "tiny", "It leaks a slot.", "all", lambda: "1 of 8 slots", known)
    >>> one = Finding(*fields, "none", "7.3.4 has it", worth_sending=True, command="list swap")
    >>> table([one])[["finding", "send", "known"]].T
                                   0
    finding                swap/tiny
    send               Worth sending
    known    fixes it (0123456789ab)
    """
    rows = [
        {
            "finding": one.title,
            "defect": one.defect,
            "hurts": one.hurts,
            "known": one.prior_art.text,
            "fix": one.fix,
            "mainline": one.mainline,
            "send": one.send,
            "command": f"lorelab {one.command}",
        }
        for one in chosen
    ]
    return pd.DataFrame(rows, columns=COLUMNS)
