"""What maintainers of memory management would want to know."""

from lorelab.experiments import experiment
from lorelab.findings import Finding
from lorelab.params import label
from lorelab.vmalock.experiments import litmus
from lorelab.vmalock.params import Collision, Variant, Wrap
from lorelab.vmalock.thread.checks import weigh_saving, weigh_write_locked


def _taken() -> str:
    states = []
    for variant in (Variant.V2, Variant.V6_12, Variant.V7_3):
        found = experiment("vmalock/wrap").simulate(Wrap(variant=variant))
        overtaken = int(found.set_index("counter").loc["overtaken", "value"])
        states.append(f"{overtaken} states of {label(variant)}")
    asked = Collision()
    met = experiment("vmalock/collision").recorded(asked).counters
    steps = met[(met["counter"] == "taken") & (met["value"] > 0)]["step"].tolist()
    return (
        f"a fault holds the lock that a writer believes is its own in {', '.join(states)} (every "
        f"interleaving, sequences of {Wrap().sequence_bits} bits); on 6.12.117, its sequence moved "
        f"to {asked.n} writers before the round is over, writer {', '.join(map(str, steps))} and "
        "no other takes for marked what nobody marked (exact)"
    )


def _release() -> str:
    verdicts = litmus.verdicts().set_index("test")
    said = verdicts["kernel_model"]
    return (
        f"herd7 says {said['L4']} of a writer's late load that sees what the next reader stores, "
        f"and {said['L4-release']} were it a release; of what callers do, {said['L4-mmap-lock']} "
        f"and {said['L4-page-table']} (exact)"
    )


FINDINGS = [
    Finding(
        design="vmalock",
        name="taken-for-marked",
        defect="vma_start_write() returns at once where the sequences are equal; after a whole "
        "round of mm_lock_seq they are though this writer marked nothing, and it waits for no "
        "reader. The comments consider false results of readers only.",
        hurts="Nobody by chance: a fault must last for 2^31 writers, 6 hours at 100,000 a second.",
        effect=_taken,
        fix="none here: a word in the comment, or a mark that is cleared where a VMA goes unmarked "
        "for half a round",
        mainline="7.3.4 has it, by its source (include/linux/mmap_lock.h) and in the model",
        worth_sending=True,
        command="kernel vmalock/collision",
    ),
    Finding(
        design="vmalock",
        name="no-release",
        defect="The comment of vma_start_read() pairs its acquire with RELEASE semantics of "
        "vma_end_write_all(), which is smp_wmb() and an increment: earlier loads are not ordered.",
        hurts="Nobody today: no caller read for this depends on it.",
        effect=_release,
        fix="none needed: the comment says more than the code does",
        mainline="7.3.4 has it, by its source (mm/mmap_lock.c, include/linux/seqlock.h)",
        worth_sending=True,
        command="model vmalock/litmus -p test=L4",
    ),
    Finding(
        design="vmalock",
        name="read-for-write",
        defect="The cover letter of v2 says read-locked for write-locked in all four sentences "
        "about the sequence numbers.",
        hurts="Whoever builds on the letter: the rule is then the reverse of the patches'.",
        effect=lambda: weigh_write_locked().why,
        fix="none needed: the patches have it right",
        mainline="sentences of the thread",
        worth_sending=False,
        command="claims vmalock",
    ),
    Finding(
        design="vmalock",
        name="saving",
        defect='The letter adds what zerocopy receive saves up to "about 0.5%+" of cycles.',
        hurts="Whoever compares with that figure.",
        effect=lambda: weigh_saving().why,
        fix="none: the letter does not say whether its rows overlap",
        mainline="a figure of the thread",
        worth_sending=False,
        command="claims vmalock",
    ),
]
