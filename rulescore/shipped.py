"""The packages that are shipped beside ``rulescore``, ``rules`` and ``testutils``, whoever else has these names.

Other people have packages, modules and test folders of the same names. Where ours is what Python imports under its
name, it is imported under that name; elsewhere below `rulescore.beside`, and theirs is neither imported nor changed.
Either way each of our modules is there once.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

_PARTS: dict[str, tuple[str, ...]] = {
    "rules": ("rules.numpy", "rules.scipy", "rules.operators"),  # a namespace package, in which these are ours
    "testutils": ("testutils",),
}
_FOLDERS = [Path(__file__).resolve().parents[1] / root for root in _PARTS]
_BESIDE = "rulescore.beside."
_prefixes: dict[str, str] = {}
_lock = threading.RLock()


def import_shipped(name: str) -> ModuleType:
    """Import a module of ours.

    Parameters
    ----------
    name : str
        ``"testutils"``, ``"rules.numpy"`` or a module below one of them.

    Returns
    -------
    module
        Ours, under its own name or below `rulescore.beside`.
    """
    root = name.partition(".")[0]
    with _lock:
        if root not in _prefixes:
            _prefixes[root] = "" if _is_public(root) else _BESIDE
            if _prefixes[root]:
                sys.meta_path.insert(0, _OneCopy(root))
    return importlib.import_module(_prefixes[root] + name)


def is_imported(name: str) -> bool:
    """Whether a module has been imported, be it one of ours under its other name."""
    return name in sys.modules or _BESIDE + name in sys.modules


def door(name: str, behind: str, *modules: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module that is the public name of one of ours, and of some modules in that.

    Ours is imported when something of it is asked for.
    """

    def get(attribute: str) -> Any:
        if attribute.startswith("__") and attribute != "__all__":  # what the import system asks for
            raise AttributeError(attribute)
        if attribute in modules:
            return import_shipped(f"{behind}.{attribute}")
        ours = import_shipped(behind)
        if attribute != "__all__" and attribute not in ours.__all__:
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        return getattr(ours, attribute)

    return get, lambda: sorted(import_shipped(behind).__all__)


def is_shipped(module: str) -> bool:
    """Whether a module, by its public name, would be below one of ours."""
    return module.partition(".")[0] in _PARTS


def public_name(module: str) -> str:
    """The name that a module has where that is nobody else's."""
    return module.removeprefix(_BESIDE)


def _is_public(root: str) -> bool:
    """Whether what is or would be imported under the name of a package is ours. Nothing is imported to find out."""
    if any(_is_ours(getattr(sys.modules.get(part), "__file__", None)) for part in _PARTS[root]):
        return True
    package = sys.modules.get(root)
    spec = _found(root, None) if package is None else package.__spec__
    if spec is None or root in _PARTS[root]:
        return spec is not None and _is_ours(spec.origin)
    # One with an __init__.py, which is somebody's, would be executed with each of its parts.
    folders = spec.submodule_search_locations
    if spec.origin is not None or folders is None:
        return False
    return all((part := _found(name, folders)) is not None and _is_ours(part.origin) for name in _PARTS[root])


def _found(name: str, folders: Sequence[str] | None) -> ModuleSpec | None:
    """What an import finds; `importlib.util.find_spec` would import the package that it is in."""
    for finder in sys.meta_path:
        spec = finder.find_spec(name, folders)
        if spec is not None:
            return spec
    return None


def _is_ours(file: str | None) -> bool:
    return file is not None and any(Path(file).resolve().is_relative_to(folder) for folder in _FOLDERS)


class _OneCopy(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds what is ours in a package that is not, and hands out the copy that is there below `rulescore.beside`.

    ``import rules.operators`` finds ours beside somebody's ``rules/__init__.py`` in the same folder, for example.
    """

    def __init__(self, root: str) -> None:
        self._start = f"{root}."

    def find_spec(
        self, name: str, folders: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(self._start):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, folders)
        return ModuleSpec(name, self) if spec is not None and _is_ours(spec.origin) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(_BESIDE + spec.name)
        spec.loader_state = module.__spec__  # which the import replaces by its own
        return module

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state
