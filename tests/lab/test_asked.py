"""A test that boots gets the kernels and programs that its file asked for, and no other."""

import pytest

from lorelab.lab import build, guest, recipes


def test_what_another_file_s_tests_built_is_not_found(laboratory):
    """Else a test passed only where another had run before it."""
    assert build.built(recipes.recipe()) == laboratory.kernel
    for find, made in (
        (guest.programs, recipes.recipe("swap")),
        (build.built, recipes.recipe("swap", patched=False)),
    ):
        with pytest.raises(AssertionError, match=r"ask for it first: patched\('swap'\)"):
            find(made)


def test_what_was_asked_for_is(patched):
    kernel = patched("swap")
    assert build.built(recipes.recipe("swap")) == kernel
    assert build.built(recipes.recipe("swap", patched=False)).info.patches == []
    assert guest.programs(recipes.recipe("swap")).is_dir()
    with pytest.raises(AssertionError, match="no fixture builds a kernel with the config kasan"):
        build.built(recipes.recipe("swap", "kasan"))
