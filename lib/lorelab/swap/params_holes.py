"""The parameters of `swap/holes`, which has neither a variant nor a device of a size in MiB."""

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from lorelab.params import Params, Refusal, listed, listed_of, param

CLUSTERS = 32
"""Most clusters of `swap/holes`: a map of more has rows that nobody tells apart."""


class Holes(Params):
    """`swap/holes`: a device that is filled, holes punched into it, and large folios that ask."""

    refusals: ClassVar = (
        Refusal("0 < fill_order < 2", "fill_order=1: anonymous folios have order 0, or 2 to 9"),
        Refusal(
            "small_clusters >= clusters",
            "small_clusters={small_clusters}: takes less than clusters={clusters}",
        ),
        Refusal("shift >= hole", "shift={shift}: takes less than hole={hole}"),
        Refusal(
            "holes > (clusters * 512 - shift) // hole - 1",
            "holes={holes}: clusters={clusters} have places for "
            "{(clusters * 512 - shift) // hole - 1} of hole={hole} shift={shift}",
        ),
    )

    clusters: int = param(8, "size of the device; 2 MiB each", "clusters", ge=2, le=CLUSTERS)
    fill_order: int = param(4, "order of the folios that fill it: 0, or 2 to 9", ge=0, le=9)
    small_clusters: int = param(
        2, "filled with single pages, beside the first one", "clusters", ge=0, le=CLUSTERS - 1
    )
    hole: int = param(1, "length of a hole: 1 is a page, 16 are 64 KiB", "slots", ge=1, le=512)
    shift: int = param(
        0,
        "how far behind a multiple of its length a hole begins; 0: aligned",
        "slots",
        ge=0,
        le=511,
    )
    holes: int = param(2400, "that are punched", "holes", ge=0, le=512 * CLUSTERS)
    placed: Literal["random", "even"] = param(
        "random", "random: drawn among the places for a hole; even: every so many places"
    )
    seed: int = param(1, "of the places that are drawn", ge=0, lt=2**64)
    punched: listed(most=64, limit=512 * CLUSTERS - 1) = param(
        "", "slots at which further holes begin, as 1540,1600; a click in the map adds one"
    )
    order: int = param(4, "of the folios that ask for slots: 2 to 9", ge=2, le=9)
    folios: int = param(3, "that ask, one after the other", "folios", ge=1, le=64)

    @model_validator(mode="after")
    def _is_on_the_device(self) -> Self:
        slots = self.clusters * 512
        for slot in listed_of(type(self).model_fields["punched"]).read(self.punched):
            if slot >= slots:
                raise ValueError(
                    f"punched={slot}: takes slots up to {slots - 1}, of clusters={self.clusters}"
                )
        return self
