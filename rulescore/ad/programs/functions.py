"""Functions of Python's, each of whose codes is converted once; and those that have no source."""

from __future__ import annotations

import builtins
import dis
import traceback
import types
from collections.abc import Callable
from typing import Any

from rulescore.ad.messages.errors import NoSourceError
from rulescore.ad.programs.rules_by_code import codes_with_rules, is_served, look_for_rules
from rulescore.ad.programs.special_methods import SpecialMethods
from rulescore.ad.source.conversion import Conversion

AS_IT_IS: Any = object()
"""In the place of a code that is not converted."""
CONVERTED: Any = object()
"""In the place of one that has been converted."""
WITHOUT_SOURCE: Any = object()
"""In the place of one that cannot be converted."""
CHANGING_GLOBALS: Any = object()
"""The same of one that sets globals, so that it has to have its own."""
_EMPTY = types.CellType()
STAND_IN: Any = object()
"""In the place of a code in whose place something else is called."""


class Known:
    """What is known of a code: itself, and what it is converted to."""

    __slots__ = ("_last", "code", "made", "order")

    def __init__(self, code: types.CodeType, made: Any) -> None:
        self.code, self.made = code, made
        self.order: Any = None  # of the cells, where it is another one
        if type(made) is types.CodeType and made.co_freevars != code.co_freevars:
            self.order = [code.co_freevars.index(name) for name in made.co_freevars]
        self._last: Any = None  # the last function of this code, and its twin: most have no closure, and stay the same

    def twin(self, f: types.FunctionType) -> types.FunctionType:
        """A function with the converted code."""
        last = self._last
        if last is not None and last[0] is f and last[1].__defaults__ is f.__defaults__:
            return last[1]  # type: ignore[no-any-return]
        closure = f.__closure__
        if self.order is not None:
            closure = tuple([closure[i] for i in self.order])  # type: ignore[index]
        twin = types.FunctionType(self.made, f.__globals__, f.__name__, f.__defaults__, closure)
        if f.__kwdefaults__:
            twin.__kwdefaults__ = f.__kwdefaults__
        elif closure is None:
            self._last = f, twin
        return twin


class Functions(SpecialMethods):
    """What is known of functions by their codes.

    Parameters
    ----------
    follows : callable
        Whether the functions of a module, given by its name, are converted.
    routes : mapping
        For the `Conversion`.
    stand_ins : mapping
        By function, what is called in its place, so that it is not converted.
    """

    handed: Callable[..., Any]

    def __init__(self, follows: Callable[[str], bool], routes: Any, stand_ins: Any) -> None:
        super().__init__()
        self._follows = follows
        self._stand_ins = stand_ins
        self.conversion = Conversion(routes)
        self._codes: dict[int, Known] = {}
        """By the identity of a code, since comparing codes takes long."""

    def converted(self, f: types.FunctionType) -> Any:
        """The function with its calls routed, also where it has a rule."""
        known = self._codes.get(id(f.__code__)) or self.looked_at(f)
        return known.twin(f) if type(known.made) is types.CodeType else f

    def looked_at(self, f: types.FunctionType, is_asked_for: bool = False) -> Known:
        """What becomes of the code of a function; from now on known."""
        look_for_rules(f)
        module = f.__globals__.get("__name__") or ""
        made: Any = AS_IT_IS
        if f in self._stand_ins:
            made = STAND_IN
        elif is_asked_for or self._follows(module):
            try:
                made = self.conversion.code_of(f)
                self._remember(made)
            except NoSourceError:
                is_changing = any(x.opname in _CHANGE_GLOBALS for x in dis.get_instructions(f))
                made = CHANGING_GLOBALS if is_changing else WITHOUT_SOURCE
        self._codes[id(f.__code__)] = known = Known(f.__code__, made)
        return known

    def explain(self, error: Exception) -> None:
        """Give an error a note of the functions without a source that it went through."""
        for frame, _ in traceback.walk_tb(error.__traceback__):
            known = self._codes.get(id(frame.f_code))
            if known is not None and known.made in (WITHOUT_SOURCE, CHANGING_GLOBALS):
                where = f"{frame.f_code.co_filename}:{frame.f_code.co_firstlineno}"
                error.add_note(
                    f"{frame.f_code.co_qualname}, defined in {where}, has no source, or another one than what runs, "
                    "so that its calls could not be followed"
                )

    def with_functions_routed(self, f: types.FunctionType) -> Any:
        """A function without a source, such as one that a decorator has made, with what it calls by name routed."""
        names, cells = f.__globals__, f.__closure__ or ()
        known = {name: names.get(name, getattr(builtins, name, None)) for name in f.__code__.co_names}
        routed = {
            name: self.handed(x) if name in names else self._stand_ins.get(x, x)
            for name, x in known.items()
            if name in names or isinstance(x, (type, types.BuiltinFunctionType))
        }
        changed = {name: x for name, x in routed.items() if x is not known[name]}
        routed_cells = tuple([cell if cell == _EMPTY else _routed_cell(self, cell) for cell in cells])
        if not changed and routed_cells == cells:  # most often, such as what makes the objects of a dataclass
            return f
        twin = types.FunctionType(f.__code__, {**names, **changed}, f.__name__, f.__defaults__, routed_cells)
        twin.__kwdefaults__ = f.__kwdefaults__
        return twin

    def _remember(self, made: types.CodeType) -> None:
        """A converted code stays as it is, and so do those of the functions within it."""
        self._codes[id(made)] = Known(made, CONVERTED)
        for inner in made.co_consts:
            if isinstance(inner, types.CodeType):
                self._remember(inner)

    def require_source(self, f: Any) -> None:
        """Follow ``f``, of whatever module; raise where its source is not known, or it is a coroutine."""
        f = getattr(f, "__func__", f)
        if not isinstance(f, types.FunctionType):
            return
        known = self._codes.get(id(f.__code__))
        if known is None or known.made is AS_IT_IS:
            known = self.looked_at(f, is_asked_for=True)
        if known.made in (WITHOUT_SOURCE, CHANGING_GLOBALS) and not (
            id(f.__code__) in codes_with_rules and is_served(f)
        ):
            self.conversion.code_of(f)


_CHANGE_GLOBALS = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})


def _routed_cell(program: Functions, cell: types.CellType) -> types.CellType:
    held = cell.cell_contents
    routed = program.handed(held)
    return cell if routed is held else types.CellType(routed)
