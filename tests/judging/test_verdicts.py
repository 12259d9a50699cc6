"""No verdict of a claim is constant, unless it is marked as a judgement."""

import ast
import inspect
import textwrap

import pytest

from lorelab.judging.claims import claims

CLAIMS = {(claim.design, claim.id): claim for claim in claims()}


def verdicts(weigh) -> tuple[set[str], list[bool]]:
    """Verdicts that the source of a check can give, and whether each `Weighed` is a judgement.

    A verdict that is no name of one, as one that another function gives, counts for itself.
    """
    named, marked = set(), []
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(weigh)))):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "ClaimVerdict":
            named.add(node.attr)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Weighed":
            marks = [word.value for word in node.keywords if word.arg == "judgement"]
            marked.append(any(getattr(mark, "value", False) for mark in marks))
    return named, marked


def faults(weigh) -> str:
    """What is wrong with a check, or nothing."""
    named, marked = verdicts(weigh)
    if len(named) == 1 and not all(marked):
        return f"can only say {named}, and is not marked as a judgement"
    if any(marked) and len(named) > 1:
        return "is marked as a judgement, and computes one"
    return ""


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: f"{claim.design}-{claim.id}")
def test_a_verdict_that_nothing_can_turn_is_marked_as_a_judgement(claim):
    assert faults(claim.weigh) == ""


def test_a_constant_verdict_is_noticed():
    from lorelab.judging.claims import ClaimVerdict, Weighed

    def constant():
        return Weighed(ClaimVerdict.HOLDS, "Why.", {})

    def marked():
        return Weighed(ClaimVerdict.HOLDS, "Why.", {}, judgement=True)

    def computed(figure=1):
        return Weighed(ClaimVerdict.HOLDS if figure else ClaimVerdict.CONTRADICTED, "Why.", {})

    assert "can only say" in faults(constant)
    assert faults(marked) == faults(computed) == ""
