"""The recorded run whose sequence was moved: what is wrong is wrong at one writer, and no other."""

from lorelab.vmalock.pages import views
from lorelab.vmalock.params import Collision

N = Collision().n


def test_only_the_writer_that_comes_around_meets_the_number():
    met = views.collision()
    assert list(met.index) == list(range(1, N + 3))
    assert met.index[met["refused"] > 0].tolist() == [N]
    assert met.index[met["taken"] > 0].tolist() == [N]


def test_every_other_writer_marks_the_vma():
    met = views.collision()
    assert (met["marked"] + met["taken"] == 1).all()
