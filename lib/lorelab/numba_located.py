"""The folder that numba keeps the kernels of a file in (`lorelab.numba_cache` says which)."""

import os
from contextlib import suppress
from pathlib import Path

from numba.core.caching import UserProvidedCacheLocator

from lorelab import numba_cache


class Located(UserProvidedCacheLocator):
    """A folder for each state of what a file's kernels are made of."""

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """`swap.model.search-0123456789abcdef`; of files of others what numba says."""
        file, package = Path(py_file).resolve(), numba_cache.PACKAGE
        if not file.is_relative_to(package):
            return super().get_suitable_cache_subpath(py_file)
        name = ".".join(file.relative_to(package).with_suffix("").parts)
        return f"{name}-{numba_cache.digest(file, package)}"

    def ensure_cache_path(self) -> None:
        """Make the folder, and mark it as used."""
        super().ensure_cache_path()
        with suppress(OSError):
            os.utime(self.get_cache_path())
