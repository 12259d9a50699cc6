"""The parameters of an experiment as one flat record of numbers, as compiled code gets them."""

from typing import Any, Literal, get_args, get_origin

import numpy as np

from lorelab.params import Params, listed_of

Choices = dict[str, tuple[str, ...]]
"""The values of parameters that are texts."""


def record(model: type[Params]) -> np.dtype:
    """A number of 64 bits for each field, in their order; as many as it may have for a list.

    Examples
    --------
    >>> from lorelab.params import param
    >>> class Tiny(Params):
    ...     pages: int = param(8, "pages that are written", "pages")
    ...     share: float = param(0.5, "of them dirty")
    >>> record(Tiny)
    dtype([('pages', '<i8'), ('share', '<f8')])
    """
    kinds = []
    for name, field in model.model_fields.items():
        its = listed_of(field)
        number = "f8" if field.annotation is float else "i8"
        kinds.append((name, number, (its.most,)) if its else (name, number))
    return np.dtype(kinds)


def flat(params: Params, choices: Choices) -> np.ndarray:
    """Parameters as a record, shape (1,); a text is its place among its choices.

    Behind the numbers of a list stand zeros.

    Examples
    --------
    >>> from lorelab.params import param
    >>> class Tiny(Params):
    ...     pages: int = param(8, "pages that are written", "pages")
    ...     order: str = param("up", "in which they are")
    >>> flat(Tiny(order="down"), {"order": ("up", "down")})
    array([(8, 1)], dtype=[('pages', '<i8'), ('order', '<i8')])
    """
    row = np.zeros(1, record(type(params)))
    for name, value in params:
        field = type(params).model_fields[name]
        if its := listed_of(field):
            numbers = its.read(value)
            row[name][0, : len(numbers)] = numbers
            continue
        words = words_of(field, name, choices)
        number = words.index(value) if words else value
        # 64 bits as they are, for a seed takes all of them.
        row[name] = number if isinstance(number, float) else (number + 2**63) % 2**64 - 2**63
    return row


def words_of(field: Any, name: str, choices: Choices) -> tuple[str, ...]:
    """The texts that a field takes; none where its values are numbers, or no choices are known.

    Examples
    --------
    >>> from lorelab.params import param
    >>> class Tiny(Params):
    ...     pages: int = param(8, "pages that are written", "pages")
    ...     order: Literal["up", "down"] = param("up", "in which they are")
    >>> [words_of(field, name, {}) for name, field in Tiny.model_fields.items()]
    [(), ('up', 'down')]
    """
    if get_origin(field.annotation) is Literal:
        return get_args(field.annotation)
    return choices.get(name, ())
