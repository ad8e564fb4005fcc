"""Functions with their calls, and whatever else may call a function, handed to somebody.

What is converted is the source of a function. Each read of an attribute in it, operation, and loop becomes a call of a
*route*, which is told what was to be done: ``-x`` becomes ``operation(neg, x)``. Of a call, a route is asked what to
call: ``f(x)`` becomes ``callee(f)(x)``, so that functions are called as deep in the stack as they were. The routes are
constants of the code, and no names, so that nothing is added to what the function sees: its globals and closures are
its own, and so are lines, names and signatures.
"""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import operator
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rulescore.ad.messages.errors import NoSourceError
from rulescore.ad.source.definitions import Definition, Function, definition_of
from rulescore.tables.names import name_of

Routes = Mapping[str, Callable[..., Any]]
"""By what is done, who does it:

``callee(f)``, which returns what is called in the place of ``f``; ``attribute(x, name)``; ``operation(f, *operands)``
with a function of `operator`, and ``halved(f, x, y)``, the same of the sum or difference in ``(x + y) / 2``, and
of ``x / 2`` where that becomes ``x``; ``iterate(x)``, which returns what is iterated over in the place of ``x``;
``enter(x)``, the same of a context; ``written(x)``, the same of what an expression has made that is written to later
(``y = f(x)``, ``y[0] = 1``); ``set_attribute(value, x, name)`` and ``set_item(value, x, index)``; ``truth(x)``,
which is true where ``x`` is, of what a condition is; ``text(*parts)``, which joins them, and ``read(x)``, the same text
as ``x``, which is going to be evaluated.
"""


class Conversion:
    """Converts functions for some routes; each code once.

    Parameters
    ----------
    routes : mapping
        What is missing stays as it is.
    """

    def __init__(self, routes: Routes) -> None:
        self._routes = dict(routes)
        self._codes: dict[tuple[str, types.CodeType], types.CodeType] = {}
        self._made: set[types.CodeType] = set()
        self._lock = threading.RLock()

    def converted(self, f: types.FunctionType) -> types.FunctionType:
        """A function that does what another does, by way of the routes.

        It has the globals, the closure, the defaults and the name of the other one. Functions that were made within a
        converted one are converted already.

        Raises
        ------
        NoSourceError
            When its source is not known, or it is a coroutine.
        """
        code = self.code_of(f)
        if code is f.__code__:
            return f
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
        made = types.FunctionType(
            code, f.__globals__, f.__name__, f.__defaults__, tuple([cells[name] for name in code.co_freevars])
        )
        made.__dict__.update(f.__dict__)
        for name in _ATTRIBUTES:
            if hasattr(f, name):
                setattr(made, name, getattr(f, name))
        return made

    def code_of(self, f: types.FunctionType) -> types.CodeType:
        """The code of the converted function."""
        code = f.__code__
        key = code.co_filename, code
        found = self._codes.get(key)
        if found is not None:
            return found
        with self._lock:
            if code in self._made:
                return code
            if key not in self._codes:
                self._codes[key] = self._converted(f)
            return self._codes[key]

    def source_of(self, f: types.FunctionType) -> str:
        """What the converted function looks like, with the names of the routes."""
        node = _rewritten(definition_of(f), self._routes, _named)
        return ast.unparse(ast.fix_missing_locations(node))

    def _converted(self, f: types.FunctionType) -> types.CodeType:
        if f.__code__.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            raise NoSourceError(f"{name_of(f)} is a coroutine, which is not differentiated: write it without async")
        definition = definition_of(f)
        return self._with_routes(definition.compiled(f.__code__, _rewritten(definition, self._routes, _marked)))

    def _with_routes(self, code: types.CodeType) -> types.CodeType:
        """A code with the routes in the place of their marks, and the same of the functions within."""
        constants = tuple(map(self._constant, code.co_consts))
        made = code.replace(co_consts=constants)
        self._made.add(made)
        return made

    def _constant(self, x: Any) -> Any:
        if isinstance(x, types.CodeType):
            return self._with_routes(x)
        if not isinstance(x, str) or not x.startswith(_MARK):
            return x
        name = x.removeprefix(_MARK)
        return self._routes[name] if name in self._routes else OPERATIONS[name]


# Of what Python computes when somebody asks for it, from version 3.14 on, that which computes it.
_ANNOTATIONS = "__annotate__" if hasattr(types.FunctionType, "__annotate__") else "__annotations__"
_ATTRIBUTES = ("__kwdefaults__", "__doc__", "__module__", "__qualname__", "__type_params__", _ANNOTATIONS)

_MARK = "\0rulescore.ad.source "


def _marked(name: str) -> ast.expr:
    """A constant in the place of a function; in a condition, since Python warns where a text is called."""
    return ast.IfExp(ast.Constant(True), ast.Constant(_MARK + name), ast.Constant(None))


def _named(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


# ---------------------------------------------------------------- syntax trees


def is_in(x: Any, container: Any) -> bool:
    """``x in container``, with the operands in the order in which they are evaluated."""
    return x in container


def is_not_in(x: Any, container: Any) -> bool:
    """``x not in container``."""
    return x not in container


_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
}
_UNARY: dict[type[ast.AST], str] = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}
_COMPARISONS: dict[type[ast.AST], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.In: "is_in",
    ast.NotIn: "is_not_in",
}
IN_PLACE = {kind: f"i{name.removesuffix('_')}" for kind, name in _BINARY.items()}
OPERATIONS: dict[str, Any] = {
    **{name: getattr(operator, name) for name in ["getitem", *_BINARY.values(), *_UNARY.values(), *IN_PLACE.values()]},
    **{name: getattr(operator, name) for name in _COMPARISONS.values() if hasattr(operator, name)},
    "is_in": is_in,
    "is_not_in": is_not_in,
    **{f.__name__: f for f in (slice, format, str, repr, ascii)},
}

_SETTERS: dict[str, type[ast.expr]] = {"set_attribute": ast.Attribute, "set_item": ast.Subscript}

_OF_FRAMES = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec", "breakpoint"})
"""Functions that look at the frame that calls them."""


def _rewritten(definition: Definition, routes: Routes, reference: Callable[[str], ast.expr]) -> Function:
    found: Function = _Rewriting(routes, reference, definition.owner).visit(copy.deepcopy(definition.node))
    return found


class _Rewriting(ast.NodeTransformer):
    """Hands what a syntax tree does to the routes there are.

    What stays: comparisons of more than two, whose operands are evaluated one after the other; targets of loops and
    contexts; patterns of ``match``, which are no expressions; annotations.
    """

    def __init__(self, routes: Routes, reference: Callable[[str], ast.expr], owner: str | None) -> None:
        self._routes, self._reference, self._owner = routes, reference, owner
        self._written: set[str] | None = None
        self._halved: set[ast.expr] = set()

    def _routed(self, route: str, node: ast.expr | ast.excepthandler, *args: ast.expr) -> Any:
        """A call of a route in the place of an expression."""
        function = ast.copy_location(self._reference(route), node)
        return ast.copy_location(ast.Call(function, list(args), []), node)

    def _operation(self, name: str, node: ast.expr, *operands: ast.expr, is_halved: bool = False) -> Any:
        if "operation" not in self._routes:
            return node
        route = "halved" if is_halved and "halved" in self._routes else "operation"
        return self._routed(route, node, ast.copy_location(self._reference(name), node), *operands)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _OF_FRAMES:
            if node.func.id in ("eval", "exec") and "read" in self._routes:
                node.args = [self._routed("read", x, x) for x in node.args[:1]] + node.args[1:]
        elif "callee" in self._routes:
            node.func = self._routed("callee", node.func, node.func)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if "attribute" not in self._routes or not isinstance(node.ctx, ast.Load):
            return node
        return self._routed("attribute", node, node.value, ast.Constant(self._mangled(node.attr)))

    def _mangled(self, name: str) -> str:
        owner = (self._owner or "").lstrip("_")
        return f"_{owner}{name}" if owner and name.startswith("__") and not name.endswith("__") else name

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        self.generic_visit(node)
        if "text" not in self._routes:
            return node
        return self._routed("text", node, *[self._part_of_text(part, node) for part in node.values])

    def _part_of_text(self, part: Any, node: ast.expr) -> ast.expr:
        """``{x:.3f}`` as ``format(x, ".3f")``; what stands between is a constant."""
        if not isinstance(part, ast.FormattedValue):
            found: ast.expr = part
            return found
        x: ast.expr = part.value
        if part.conversion != -1:
            name = {"s": "str", "r": "repr", "a": "ascii"}[chr(part.conversion)]
            x = ast.copy_location(ast.Call(self._callee(name, node), [x], []), node)
        specification = part.format_spec or ast.copy_location(ast.Constant(""), node)
        return ast.copy_location(ast.Call(self._callee("format", node), [x, specification], []), node)

    def _callee(self, name: str, node: ast.expr) -> ast.expr:
        function = ast.copy_location(self._reference(name), node)
        return self._routed("callee", node, function) if "callee" in self._routes else function

    def _tested(self, node: ast.expr) -> ast.expr:
        """A condition, of which nothing counts but whether it is true."""
        if "truth" not in self._routes or isinstance(node, (ast.Compare, ast.Constant)):
            return node
        if isinstance(node, ast.BoolOp):
            node.values = list(map(self._tested, node.values))
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return node  # which has been seen to
        found: ast.expr = self._routed("truth", node, node)
        return found

    def _visit_test(self, node: Any) -> Any:
        self.generic_visit(node)
        node.test = self._tested(node.test)
        return node

    visit_If = visit_While = visit_IfExp = visit_Assert = _visit_test  # noqa: N815

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        whole = _halved(node.op, node.left, node.right)
        if isinstance(whole, ast.BinOp) and isinstance(whole.op, (ast.Add, ast.Sub)):
            self._halved.add(whole)
        is_halved = node in self._halved
        self.generic_visit(node)
        return self._operation(_BINARY[type(node.op)], node, node.left, node.right, is_halved=is_halved)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            node.operand = self._tested(node.operand)
            return node
        if isinstance(node.operand, ast.Constant):
            return node
        return self._operation(_UNARY[type(node.op)], node, node.operand)

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if len(node.ops) > 1 or type(node.ops[0]) not in _COMPARISONS:
            return node
        return self._operation(_COMPARISONS[type(node.ops[0])], node, node.left, node.comparators[0])

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        is_halved = _halved(node.op, node.target, node.value) is node.target
        self.generic_visit(node)
        if "operation" not in self._routes:
            return node
        if isinstance(node.target, ast.Name):
            target = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            value = self._operation(IN_PLACE[type(node.op)], target, target, node.value, is_halved=is_halved)
            return ast.copy_location(ast.Assign([node.target], value), node)
        if not _SETTERS.keys() & self._routes.keys():
            return node
        # x[i] += v, as x and i are evaluated once
        container, keep = self._kept("container", node.target.value, node)
        before: list[ast.stmt] = [keep]
        names = [container]
        loaded: ast.expr
        if isinstance(node.target, ast.Subscript):
            key, keep = self._kept("key", self._index(node.target.slice), node)
            before, names = [*before, keep], [*names, key]
            loaded = self._operation("getitem", node.target, container, key)
            stored: ast.expr = ast.copy_location(ast.Subscript(container, key, ast.Store()), node.target)
        else:
            name = node.target.attr
            loaded = self.visit_Attribute(ast.copy_location(ast.Attribute(container, name, ast.Load()), node.target))
            stored = ast.copy_location(ast.Attribute(container, name, ast.Store()), node.target)
        value = self._operation(IN_PLACE[type(node.op)], node.target, loaded, node.value, is_halved=is_halved)
        return [*before, self._stored(stored, value, node), self._forgotten(names, node)]

    def _kept(self, name: str, value: ast.expr, node: ast.stmt) -> tuple[ast.Name, ast.stmt]:
        """A name of no program for a value, and the statement that gives it that name."""
        name = f".{name}"
        keep = ast.copy_location(ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), node)], value), node)
        return ast.copy_location(ast.Name(name, ast.Load()), node), keep

    def _forgotten(self, names: list[ast.Name], node: ast.AST) -> ast.stmt:
        return ast.copy_location(
            ast.Delete([ast.copy_location(ast.Name(name.id, ast.Del()), node) for name in names]), node
        )

    def _stored(self, target: Any, value: ast.expr, node: ast.AST) -> ast.stmt:
        """The statement ``target = value`` for an element or an attribute."""
        if isinstance(target, ast.Subscript) and "set_item" in self._routes:
            call = self._routed("set_item", target, value, target.value, self._index(target.slice))
        elif isinstance(target, ast.Attribute) and "set_attribute" in self._routes:
            name = ast.Constant(self._mangled(target.attr))
            call = self._routed("set_attribute", target, value, target.value, name)
        else:
            return ast.copy_location(ast.Assign([target], value), node)
        return ast.copy_location(ast.Expr(call), node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if "operation" not in self._routes or not isinstance(node.ctx, ast.Load):
            return node
        return self._operation("getitem", node, node.value, self._index(node.slice))

    def _index(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Slice):
            parts = [ast.Constant(None) if part is None else part for part in (node.lower, node.upper, node.step)]
            return ast.copy_location(ast.Call(ast.copy_location(self._reference("slice"), node), parts, []), node)
        if isinstance(node, ast.Tuple):
            return ast.copy_location(ast.Tuple(list(map(self._index, node.elts)), ast.Load()), node)
        return node

    def _iterated(self, node: ast.expr) -> ast.expr:
        found: ast.expr = self._routed("iterate", node, node) if "iterate" in self._routes else node
        return found

    def visit_For(self, node: ast.For) -> Any:
        return self._visit_loop(node)

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        return self.generic_visit(node) if node.is_async else self._visit_loop(node)

    def _visit_loop(self, node: Any) -> Any:
        self.generic_visit(node)
        node.iter = self._iterated(node.iter)
        if isinstance(node, ast.comprehension):
            node.ifs = list(map(self._tested, node.ifs))
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        written = [place for target in node.targets for place in self._written_at(target, node, "value")]
        value = node.value
        whole = _halved(value.op, value.left, value.right) if isinstance(value, ast.BinOp) else None
        if whole is not None and ast.unparse(whole) == ast.unparse(node.targets[0]):  # d = d / 2
            self._halved.add(value)
        self.generic_visit(node)
        for holder, name, number in written if "written" in self._routes else ():
            if number is None:
                setattr(holder, name, self._routed("written", getattr(holder, name), getattr(holder, name)))
            else:
                values = getattr(holder, name)
                values[number] = self._routed("written", values[number], values[number])
        is_unpacked = any(isinstance(target, (ast.Tuple, ast.List)) for target in node.targets)
        if is_unpacked and not isinstance(node.value, (ast.Tuple, ast.List)):
            node.value = self._iterated(node.value)
        return self._assigned(node) if _SETTERS.keys() & self._routes.keys() else node

    def _written_at(
        self, target: ast.expr, holder: Any, name: str, number: int | None = None
    ) -> Iterator[tuple[Any, str, int | None]]:
        """Where in an assignment stands what makes something that gets a name, or an attribute, that is written to."""
        value = getattr(holder, name) if number is None else getattr(holder, name)[number]
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
            if len(target.elts) == len(value.elts):
                for i, element in enumerate(target.elts):
                    yield from self._written_at(element, value, "elts", i)
        # What an attribute holds may be written to anywhere.
        elif isinstance(target, ast.Attribute) or (isinstance(target, ast.Name) and target.id in (self._written or ())):
            yield from _makers(holder, name, number)

    def _assigned(self, node: ast.Assign) -> Any:
        """An assignment whose elements and attributes are set by their routes: each after the other, as Python does."""
        if len(node.targets) == 1 and isinstance(node.targets[0], tuple(_SETTERS.values())):
            return self._stored(node.targets[0], node.value, node)
        if not any(isinstance(part, tuple(_SETTERS.values())) for target in node.targets for part in _parts(target)):
            return node
        kept: list[tuple[ast.Name, Any]] = []

        def named(target: ast.expr) -> Any:
            if isinstance(target, (ast.Tuple, ast.List)):
                target.elts = list(map(named, target.elts))
            elif isinstance(target, ast.Starred):
                target.value = named(target.value)
            else:
                name = f".{len(kept)}"
                kept.append((ast.copy_location(ast.Name(name, ast.Load()), target), target))
                return ast.copy_location(ast.Name(name, ast.Store()), target)
            return target

        node.targets = list(map(named, node.targets))
        stored = [self._stored(target, name, node) for name, target in kept]
        return [node, *stored, self._forgotten([name for name, _ in kept], node)]

    def visit_Starred(self, node: ast.Starred) -> Any:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = self._iterated(node.value)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> Any:
        self.generic_visit(node)
        node.value = self._iterated(node.value)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        self.generic_visit(node)
        if "caught" in self._routes:
            node.body.insert(0, ast.copy_location(ast.Expr(self._routed("caught", node)), node))
        return node

    def visit_withitem(self, node: ast.withitem) -> Any:
        self.generic_visit(node)
        if "enter" in self._routes:
            node.context_expr = self._routed("enter", node.context_expr, node.context_expr)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        outer, self._owner = self._owner, node.name
        self.generic_visit(node)
        self._owner = outer
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        node.target = self.visit(node.target)
        node.value = node.value and self.visit(node.value)
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        returns, node.returns = node.returns, None
        if self._written is None:
            self._written = _written_to(node)
        self.generic_visit(node)
        node.returns = returns
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return self.visit_FunctionDef(node)

    def visit_match_case(self, node: ast.match_case) -> Any:
        node.guard = node.guard and self._tested(self.visit(node.guard))
        node.body = [self.visit(statement) for statement in node.body]
        return node


def _halved(operator: ast.operator, left: ast.expr, right: ast.expr) -> ast.expr | None:
    """What an operation takes half of, if it does: ``left / 2``, ``left * 0.5``, ``0.5 * right``."""
    if isinstance(operator, ast.Div):
        return left if isinstance(right, ast.Constant) and right.value == 2 else None
    if not isinstance(operator, ast.Mult):
        return None
    is_half = [isinstance(x, ast.Constant) and x.value == 0.5 for x in (right, left)]
    return left if is_half[0] else right if is_half[1] else None


def _makers(holder: Any, name: str, number: int | None) -> Iterator[tuple[Any, str, int | None]]:
    """Where in an expression stands what makes something: the whole of it, or the elements of a list, tuple or dict."""
    value = getattr(holder, name) if number is None else getattr(holder, name)[number]
    if isinstance(value, (ast.Call, ast.BinOp, ast.UnaryOp)):
        yield holder, name, number
    elif isinstance(value, ast.ListComp):
        yield from _makers(value, "elt", None)
    elif isinstance(value, (ast.List, ast.Tuple, ast.Dict)):
        elements = "values" if isinstance(value, ast.Dict) else "elts"
        for i in range(len(getattr(value, elements))):
            yield from _makers(value, elements, i)


def _parts(target: ast.expr) -> Iterator[ast.expr]:
    """The targets within a target of an assignment."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _parts(element)
    elif isinstance(target, ast.Starred):
        yield from _parts(target.value)
    else:
        yield target


_WRITE_TO_FIRST = frozenset({"fill_diagonal", "put", "place", "putmask", "copyto", "put_along_axis", "at", "shuffle"})
_WRITE_TO_OWNER = frozenset({"fill", "sort", "partition", "put", "setfield", "itemset"})


def _written_to(function: ast.AST) -> set[str]:
    """What a function may write to, as its source names it: ``y`` where there is ``y[0] = 1``, ``y += 1``, ``out=y``.

    And what these names were taken from, as ``u`` in ``v = u[1:]``; and what is handed to functions and methods of the
    program.
    """
    written, aliases = set[str](), list[tuple[set[str], set[str]]]()
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            written |= set(_names_of(node.value))
        elif isinstance(node, ast.AugAssign):
            written |= set(_names_of(node.target))
        elif isinstance(node, ast.keyword) and node.arg == "out":
            written |= set(_names_of(node.value))
        elif isinstance(node, ast.Call):
            written |= {name for part in _written_by_call(node) for name in _names_of(part)}
        elif isinstance(node, ast.Assign):
            aliases += [(set(_names_of(target)), set(_names_of(node.value))) for target in node.targets]
        elif isinstance(node, (ast.For, ast.comprehension)):
            aliases.append((set(_names_of(node.target)), set(_names_of(node.iter))))
    count = -1
    while count != len(written):
        count = len(written)
        for names, sources in aliases:
            written |= sources if names & written else set()
    return written


def _written_by_call(node: ast.Call) -> Iterator[ast.expr]:
    """What a call may write to."""
    if isinstance(node.func, ast.Attribute):
        if node.func.attr in _WRITE_TO_OWNER:
            yield node.func.value
        if node.func.attr in _WRITE_TO_FIRST:
            yield from node.args[:1]
        is_of_program = isinstance(node.func.value, ast.Name) and node.func.value.id in ("self", "cls")
    else:
        is_of_program = isinstance(node.func, ast.Name) and not hasattr(builtins, node.func.id)
    if is_of_program:
        yield from (x for x in node.args if isinstance(x, ast.Name))


def _names_of(node: ast.AST) -> Iterator[str]:
    """An expression of names, what it is a part of, and what a method or function may have taken it from."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield ast.unparse(node)
        yield from _names_of(node.value)
    elif isinstance(node, (ast.Subscript, ast.Starred)):
        yield from _names_of(node.value)
    elif isinstance(node, ast.Call):
        for part in (node.func, *node.args[:1]):
            yield from _names_of(part)
