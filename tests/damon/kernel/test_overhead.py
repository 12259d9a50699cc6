"""Memory for `damon/overhead` in the guest."""

import pytest

from lorelab.damon.kernel import overhead as kernel_overhead
from lorelab.damon.params import Overhead
from lorelab.errors import BadInput


def test_memory_for_the_guest():
    with pytest.raises(BadInput, match="room"):
        kernel_overhead.measure([Overhead(mib=4096)])
