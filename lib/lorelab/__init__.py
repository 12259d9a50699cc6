"""Kernel mailing-list threads as executable research notebooks."""

from lorelab import numba_cache

numba_cache.keep_apart()

from lorelab.notebook import check, show  # noqa: E402  (may define kernels)

__all__ = ["check", "show"]
__version__ = "0.1.0"
