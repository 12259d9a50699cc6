"""Kernel mailing-list threads as executable research notebooks."""

from lorelab import numba_cache

numba_cache.keep_apart()

from lorelab.showing.notebook import (  # noqa: E402  (may define kernels)
    against_model,
    check,
    kernel_source,
    measured,
    provenance,
    show,
    sources,
    wide,
)

__all__ = [
    "against_model",
    "check",
    "kernel_source",
    "measured",
    "provenance",
    "show",
    "sources",
    "wide",
]
__version__ = "0.1.0"
