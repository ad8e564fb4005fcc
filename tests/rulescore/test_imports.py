"""Nothing imports in circles, wherever in a file the import stands."""

import ast
import graphlib
from pathlib import Path

import pytest

import rulescore

ROOT = Path(rulescore.__file__).parent.parent


def modules_of(package):
    """The files of a package by the names of their modules."""
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (ROOT / package).rglob("*.py")}
    return {name.removesuffix(".__init__"): path.read_text() for path, name in names.items()}


def imports_in(source, module, modules):
    """The modules that a module imports: at its top, within functions, or by name."""
    tree = ast.parse(source)
    package = module.rpartition(".")[0]
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(filter(None, [package if node.level else "", node.module]))
            names = {f"{base}.{alias.name}" for alias in node.names}
            found |= {name if name in modules else base for name in names}
        elif isinstance(node, ast.Call | ast.Subscript):  # import_module("..."), sys.modules["..."]
            asked = node.args if isinstance(node, ast.Call) else [node.slice]
            found |= {x.value for x in asked if isinstance(x, ast.Constant) and isinstance(x.value, str)}
    return {name for name in found if name in modules and name != module}


def circle_in(modules):
    """A circle of imports, or None."""
    graph = {module: imports_in(source, module, modules) for module, source in modules.items()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return None


@pytest.mark.parametrize("package", ["rulescore", "rules", "testutils"])
def test_there_is_no_circle_of_imports(package):
    modules = modules_of(package)
    modules.pop("testutils", None)  # it imports what is asked of it, when it is asked
    assert len(modules) > 100
    assert circle_in(modules) is None


@pytest.mark.parametrize(
    "upwards",
    [
        "from top import f",
        "def g():\n    from top import f",
        "def g():\n    import top",
        "def g():\n    return importlib.import_module('top')",
        "def g():\n    return sys.modules['top']",
        "if TYPE_CHECKING:\n    from top import f",
    ],
)
def test_a_circle_is_found_wherever_the_import_stands(upwards):
    modules = {"top": "from middle import f", "middle": "from bottom import f", "bottom": upwards}
    assert set(circle_in(modules)) == {"top", "middle", "bottom"}
    assert circle_in({**modules, "bottom": "import numpy"}) is None
