"""The list of other people's programs is well formed, without any of their libraries being there."""

from __future__ import annotations

import ast

import numpy as np

from tests.wild.entries import FOLDER, entries_of, modules, numbers_of, versions

ENTRIES = [entry for module in modules() for entry in entries_of(module)]


def test_there_are_enough_libraries_and_entries() -> None:
    assert len(modules()) >= 45
    assert len(ENTRIES) >= 170


def test_every_library_has_entries_and_a_version() -> None:
    assert {entry.module for entry in ENTRIES} == set(modules()) == set(versions())
    assert all(version[0].isdigit() for version in versions().values())


def test_every_entry_says_what_it_is() -> None:
    assert all(entry.library and entry.field and entry.point for entry in ENTRIES)
    assert all(entry.library.lower().replace("-", "_") == entry.module for entry in ENTRIES)
    assert len({(entry.library, entry.point) for entry in ENTRIES}) == len(ENTRIES)
    assert len({(entry.library, entry.name) for entry in ENTRIES}) == len(ENTRIES)


def test_every_argument_of_an_entry_has_its_number() -> None:
    for module in modules():
        for node in ast.parse((FOLDER / "libraries" / f"{module}.py").read_text("utf8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                assert len(node.args.args) == len(node.args.defaults) > 0, f"{module}.{node.name}"


def test_tuples_are_arrays_and_other_numbers_floats() -> None:
    def entry(x=(1.0, 2.0), y=3, z=np.ones((2, 2))) -> None:  # noqa: B008
        pass

    x, y, z = numbers_of(entry)
    assert (x.shape, type(y), z.shape) == ((2,), float, (2, 2))
