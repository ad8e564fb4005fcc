"""Where a function is defined: its syntax tree, in the file that its code names."""

from __future__ import annotations
import __future__

import ast
import copy
import functools
import linecache
import types
from collections.abc import Iterator
from typing import NamedTuple

from rulescore.ad.messages.errors import NoSourceError
from rulescore.tables.names import name_of

Function = ast.FunctionDef | ast.Lambda

_FUTURE = functools.reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag, __future__.all_feature_names, 0
)


class Definition(NamedTuple):
    """A function in the syntax tree of its file."""

    node: Function
    """Shared by all who ask: whoever changes it makes a copy."""
    owner: str | None
    """The class around it, by which Python mangles private names."""
    imports: list[ast.stmt]
    """Those of the module: functions of modules that it imports are called in another way than methods."""

    def compiled(self, code: types.CodeType, node: Function) -> types.CodeType:
        """A code like another one, of the definition's function, made of a syntax tree in the place of its own.

        What a name means is decided by what surrounds the function: variables of enclosing functions, and its class.
        """
        inner: ast.stmt = _alone(node)
        if self.owner is not None:
            inner = _class(self.owner, inner)
        bound = getattr(inner, "name", "_")  # which is global, unless it is a variable of an enclosing function
        own = [ast.Global([bound])] if bound not in code.co_freevars else []
        enclosing = _function("_", [ast.arg(name) for name in code.co_freevars], [*own, inner])
        module = ast.fix_missing_locations(ast.Module([*self.imports, enclosing], []))
        flags = code.co_flags & _FUTURE
        found: types.CodeType = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
        for name in filter(None, ("_", self.owner, code.co_name)):
            found = next(x for x in found.co_consts if isinstance(x, types.CodeType) and x.co_name == name)
        return _renamed(found, found.co_qualname, code.co_qualname)


def _renamed(code: types.CodeType, old: str, new: str) -> types.CodeType:
    """A code with another full name, and those of the functions and classes within it."""
    inner = [_renamed(x, old, new) if isinstance(x, types.CodeType) else x for x in code.co_consts]
    return code.replace(co_qualname=new + code.co_qualname.removeprefix(old), co_consts=tuple(inner))


def _alone(node: Function) -> ast.stmt:
    """A function without what is not part of its code: decorators, defaults, annotations."""
    arguments = copy.copy(node.args)
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [None if default is None else ast.Constant(None) for default in arguments.kw_defaults]
    if isinstance(node, ast.Lambda):
        return ast.Expr(ast.copy_location(ast.Lambda(arguments, node.body), node))
    found = _function(node.name, [], node.body)
    found.args = arguments
    return ast.copy_location(found, node)


def _function(name: str, positional: list[ast.arg], body: list[ast.stmt]) -> ast.FunctionDef:
    arguments = ast.arguments([], positional, None, [], [], None, [])
    found = ast.FunctionDef(name, arguments, body, [], None, None)
    found.type_params = []  # type: ignore[attr-defined,unused-ignore] # since Python 3.12
    return found


def _class(name: str, inner: ast.stmt) -> ast.ClassDef:
    found = ast.ClassDef(name, [], [], [inner], [])
    found.type_params = []  # type: ignore[attr-defined,unused-ignore] # since Python 3.12
    return found


# ---------------------------------------------------------------- finding one


def definition_of(f: types.FunctionType) -> Definition:
    """The definition of a function.

    Raises
    ------
    NoSourceError
        When there is no source, or it is not that of what runs.
    """
    code = f.__code__
    file = code.co_filename
    if file.startswith("<frozen "):  # of Python's own modules, which know their files
        file = f.__globals__.get("__file__") or file
    linecache.checkcache(file)  # it may have been reloaded
    lines = linecache.getlines(file, f.__globals__)
    if not lines:
        raise _no_source(f, "has no source (it was made by exec, typed at Python's prompt, or its file is gone)")
    try:
        functions, imports = _parsed("".join(lines))
    except SyntaxError as error:
        raise _no_source(f, f"has a source that is no Python ({error})") from error
    found = [
        Definition(node, owner, imports)
        for node, owner in functions
        if getattr(node, "name", "<lambda>") == code.co_name and _first_line(node) == code.co_firstlineno
    ]
    if len(found) > 1:  # lambdas in one line
        found = [one for one in found if _positions(one.compiled(code, one.node)) == _positions(code)]
    for definition in found if len(found) == 1 else ():
        # What it imports may have been imported before, as in an earlier cell of a notebook.
        for one in (definition, definition._replace(imports=[])):
            if _is_what_runs(one, code):
                return one
    raise _no_source(f, "has changed since it was imported, or is not what runs: import it anew")


def _no_source(f: types.FunctionType, what: str) -> NoSourceError:
    code = f.__code__
    return NoSourceError(
        f"{name_of(f)}, defined in {code.co_filename}:{code.co_firstlineno}, {what}, so that its calls cannot be "
        "followed. Give it a rule and @primitive, or write what it computes with NumPy's functions"
    )


@functools.lru_cache(maxsize=64)
def _parsed(source: str) -> tuple[list[tuple[Function, str | None]], list[ast.stmt]]:
    """The functions in a file, each with the class around it; and its imports."""
    tree = ast.parse(source)
    return list(_functions(tree, None)), list(_imports(tree))


def _imports(node: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)) and getattr(child, "module", "") != "__future__":
            yield child
        elif not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            yield from _imports(child)


def _functions(node: ast.AST, owner: str | None) -> Iterator[tuple[Function, str | None]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.Lambda)):
            yield child, owner
        yield from _functions(child, child.name if isinstance(child, ast.ClassDef) else owner)


def _first_line(node: Function) -> int:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *[decorator.lineno for decorator in decorators]])


def _positions(code: types.CodeType) -> list[tuple[int | None, ...]]:
    return list(code.co_positions())


def _is_what_runs(definition: Definition, code: types.CodeType) -> bool:
    """Whether a code was made of a definition; who watches functions, as pytest does, may have added names to it."""
    made = definition.compiled(code, definition.node)
    return made.co_code == code.co_code or set(made.co_names) < set(code.co_names)
