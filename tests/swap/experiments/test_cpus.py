"""swap/cpus: how the task's moves are drawn."""

from itertools import pairwise

import numpy as np

from lorelab.swap.experiments import cpus
from lorelab.swap.params import Cpus


def test_moves_are_drawn_anew_for_each_repeat_and_go_elsewhere():
    params = Cpus(cpus=4, moves=200)
    drawn = [cpus.moves(params, repeat, 1_000_000) for repeat in range(2)]
    assert drawn[0].tolist() == cpus.moves(params, 0, 1_000_000).tolist() != drawn[1].tolist()
    for moves in drawn:
        assert 100 < len(moves) < 400
        assert (np.diff(moves[:, 0].astype(int)) > 0).all()
        places = [0, *moves[:, 1].tolist()]
        assert all(a != b for a, b in pairwise(places))
        assert set(places) == set(range(4))
