"""The errors of the reference AD: each says what was asked, what is wrong with it, and what to write instead."""

from __future__ import annotations

import itertools
import sys
import traceback
from collections.abc import Mapping
from types import FrameType
from typing import Any

import numpy as np

from rulescore.ad.messages.places import Place, is_inner
from rulescore.ad.messages.public_functions import reached_as
from rulescore.primal_calls import is_traced
from rulescore.tables.names import name_of
from rulescore.tables.records import RuleRecord
from rulescore.tables.registry import frule, rrule
from rulescore.tables.signatures import matches, rule_type, stretch
from rulescore.tangents.structure import is_array


class NoRuleError(TypeError):
    """A function was called with a value that is being differentiated, and nothing says how to differentiate it."""


class MissingAttributeError(NoRuleError, AttributeError):
    """Something was asked of a value that is being differentiated which would hand out what it holds as constant."""


class TracerConversionError(TypeError):
    """A value that is being differentiated was about to become an ordinary number or array."""


class UnhashableError(TracerConversionError):
    """A differentiated value was about to be looked up in a set or a dictionary."""


class NoSourceError(TypeError):
    """A function cannot be converted, since its source is not there or is not what runs."""


class LeakedTracerError(RuntimeError):
    """A value that was being differentiated is used after that differentiation has ended."""


class UnrelatedOutputError(ValueError):
    """The derivative of something was asked for that does not depend on the argument."""


FOLLOWED = "Pass traceable(f) for f, which follows its source, to differentiate code that does such things as it is."
"""The last line of messages about conversions, out of place where that is done already."""

LEAKED = (
    "a value that was being differentiated is used after the function that was differentiated has returned: it was "
    "kept in a global, an attribute, a cache or a generator. Return it from the function (has_aux=True hands out "
    "values beside the result), or keep ignore_derivatives(x)"
)


def unmask(error: Exception) -> None:
    """Raise the error of ours that a library covers with one of its own, if it is one.

    As NumPy does by ``setting an array element with a sequence``, and SciPy by an error of what it was given.
    """
    covered = _covered(error)
    if covered is not None:
        raise covered.with_traceback(error.__traceback__) from None
    # By which `ndarray.flat` covers any error, without a cause.
    if isinstance(error, ValueError) and str(error) == "Error setting single item of array.":
        raise TracerConversionError(
            "an entry of an array was set by its attribute flat to what it does not take. If that is a value that is "
            "being differentiated, make the array with np.zeros(n, like=x), and set entries by their index.\n"
            + FOLLOWED
        ) from error


def _covered(error: BaseException) -> BaseException | None:
    """What an error was raised from, where that is one of ours and the error itself is none."""
    ours = (NoRuleError, TracerConversionError, LeakedTracerError)
    found: BaseException | None = error
    while found is not None and not isinstance(found, ours):
        is_hidden = found.__suppress_context__ or not _is_raised_by_scipy(found)
        found = found.__cause__ or (None if is_hidden else found.__context__)
    return None if found is error else found


def _is_raised_by_scipy(error: BaseException) -> bool:
    """Whether what came while another error was handled is told in its place, and not a mistake of the handler's."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and last.tb_frame.f_globals.get("__name__", "").partition(".")[0] == "scipy"


def refused_by_c(error: TypeError) -> TracerConversionError:
    """The error where code in C asked for an array, and got a value that is being differentiated."""
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    code, line = next((place for place in reversed(frames) if not is_inner(place[0])), frames[-1])
    return TracerConversionError(
        f"{Place('code in C', code.co_qualname, code.co_filename, line)}\n"
        f"It wants an ordinary array and got a value that is being differentiated: {error}.\n"
        "Call it as primitive(f), a method as primitive(cls.method)(obj, x), which look for a rule. Where there is "
        "none, register one for a function of yours that makes this call. If its derivative is not wanted here, write "
        "ignore_derivatives(x)."
    )


def became_array(described: str) -> TracerConversionError:
    """The error for a value that was about to become an ordinary array; called by what NumPy calls to make one."""
    lines = [f"{described} was about to become an ordinary array, which would lose its derivative."]
    function = function_of_scipy(sys._getframe(2))
    if function is not None and (is_operator(function) or _is_method_of_sparse(function)):
        lines.append(
            f"{function} does that, since a sparse array holds numbers only: write s.toarray() in its place, or give a "
            "function of both a rule."
        )
    elif function is not None and _is_class(function):
        lines.append(f"{function} does that: its objects hold numbers only. Make an array of NumPy's in its place.")
    elif function is not None:
        module = function.rpartition(".")[0]
        lines.append(
            f"{function} does that, since SciPy sees numbers only: call it through primitives({module}), or as "
            f"primitive({function}), which look for a rule, and register one where there is none."
        )
    else:
        lines.append(
            "Where you build an array of such values, write np.stack([...]) or np.array([...], like=x); where you "
            "fill one, np.full(n, x, like=x); where you convert one, np.asarray(x, like=x); where you assign one to "
            "elements of an array, make that one with np.zeros(n, like=x). Random numbers are drawn without it: "
            "mu + sigma * rng.standard_normal(n). A function that does not know NumPy's protocols needs a "
            "rule and @primitive."
        )
    lines += ["If its derivative is not wanted here, write ignore_derivatives(x).", FOLLOWED]
    return TracerConversionError("\n".join(lines))


def _is_class(name: str) -> bool:
    module, _, last = name.rpartition(".")
    return isinstance(getattr(sys.modules.get(module), last, None), type)


def function_of_scipy(frame: FrameType | None) -> str | None:
    """The function of SciPy that the user called, if the innermost frames are SciPy's."""
    found = None
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("scipy", "numpy"):
        if frame.f_globals["__name__"].startswith("scipy"):
            found = frame
        frame = frame.f_back
    if found is None:
        return None
    module, name = found.f_globals["__name__"], found.f_code.co_name
    if "self" in found.f_locals:
        cls = type(found.f_locals["self"])
        if name in ("__init__", "__call__"):  # of an object that the user has built
            module, name = cls.__module__, cls.__name__
        else:
            name = f"{cls.__name__}.{name}"
    if module.startswith("scipy._lib"):  # a decorator's wrapper, which holds the function
        held = [found.f_locals.get(variable) for variable in found.f_code.co_freevars]
        wrapped = next((f for f in held if callable(f) and getattr(f, "__module__", "").startswith("scipy.")), None)
        module, name = getattr(wrapped, "__module__", module), getattr(wrapped, "__name__", name)
    public = itertools.takewhile(lambda part: not part.startswith("_"), module.split("."))
    return ".".join([*public, name])


def _is_method_of_sparse(name: str) -> bool:
    module, _, _ = name.rpartition(".")
    return name.startswith("scipy.sparse.") and _is_class(module)


def is_operator(name: str) -> bool:
    """Whether a function with this full name is an operator of a class."""
    last = name.rpartition(".")[2]
    return last.startswith("__") and last not in ("__init__", "__setitem__")


def describe(x: Any) -> str:
    """An argument as error messages name it: its type, and for arrays their dtype and shape."""
    if is_array(x):
        shape = "".join(f"[{', '.join(map(str, x.shape))}]") if x.shape else ""
        return f"{x.dtype}{shape}"
    if isinstance(x, (list, tuple)) and len(x) <= 4:
        inner = ", ".join(describe(item) for item in x)
        return f"[{inner}]" if isinstance(x, list) else f"({inner})"
    return type(x).__name__


def full_name(f: Any) -> str:
    """A function with its module, as ``numpy.linalg.svd``: the public one, where it is reached through that."""
    if isinstance(f, np.ufunc):
        homes = [home for home in ("numpy", "scipy.special") if getattr(sys.modules.get(home), f.__name__, None) is f]
        return f"{homes[0]}.{f.__name__}" if homes else f.__name__
    name = name_of(f)
    module = getattr(f, "__module__", None)
    if not module or "object" in name:
        return name
    return reached_as(module, name) or f"{module}.{name}"


def no_rule(
    f: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    reason: str = "",
    caller: str | None = None,
    tried: str = "",
) -> NoRuleError:
    """The error for a call that no rule serves.

    Parameters
    ----------
    f, args, kwargs
        The call, as the user made it.
    reason : str
        Why it cannot be differentiated otherwise, where more is known than that there is no rule.
    caller : str, optional
        The public function that called it, where it is a private one that nobody would give a rule.
    tried : str
        What came of calling its implementation, which the last line says.
    """
    shown = [describe(x) for x in args] + [f"{name}={describe(value)}" for name, value in kwargs.items()]
    declared = next((record.reason for record in rrule.records(f) if record.reason), "")
    problem = reason or ("it has no rule" if declared else "it has no rule for this")
    lines = [f"{full_name(f)}({', '.join(shown)}) cannot be differentiated: {problem}" + (declared and f": {declared}")]
    records = _nearest_first(f, args, kwargs)
    if records:
        # That an argument may be anything goes without saying.
        signatures = "; ".join(dict.fromkeys(record.signature.replace(": object", "") for record in records[:4]))
        lines.append(f"{_what_differs(records[0], args, kwargs)}The registered signatures are {signatures}.")
        lines.append(
            "Call it in one of these forms, register a rule for this one (@rrule.register(f, types...)), or hold its "
            "arguments constant with ignore_derivatives()."
        )
    else:
        whom = "it one" if caller is None else f"{caller}, which called it, a rule"
        lines.append(
            f"Write it with functions that have rules (`rulescore list` shows them), give {whom} "
            f"(@rrule.register({caller or name_of(f)})), or hold its arguments constant with ignore_derivatives()."
        )
    if tried:
        lines.append(f"Its implementation in Python was tried too, and stopped at {tried}")
    return NoRuleError("\n".join(lines))


def _nearest_first(f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[RuleRecord]:
    """The rules of a function, those that fit a call best first."""
    records = {id(record): record for table in (rrule, frule) for record in table.records(f) if not record.opted_out}
    types = tuple(rule_type(type(x)) for x in args)

    def distance(record: RuleRecord) -> tuple[int, str]:
        return len(_unknown_keywords(record, kwargs)) + min(
            _misfits(types, s) for s in record.signatures
        ), record.signature

    return sorted(records.values(), key=distance)


def _misfits(types: tuple[type, ...], signature: tuple[type, ...]) -> int:
    """In how many arguments a call differs from a signature."""
    stretched = stretch(signature, len(types)) or signature
    common = zip(types, stretched, strict=False)
    return abs(len(types) - len(stretched)) + sum(not matches((t,), (s,)) for t, s in common)


def _unknown_keywords(record: RuleRecord, kwargs: Mapping[str, Any]) -> list[str]:
    parameters = record.parameters
    if parameters.accepts_any_keyword:
        return []
    return [name for name in kwargs if name not in parameters.keyword_only and name not in parameters.names]


def _what_differs(record: RuleRecord, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    unknown = _unknown_keywords(record, kwargs)
    if unknown:
        return f"Its rule does not know {', '.join(f'{name}=' for name in unknown)}. "
    traced = [name for name in kwargs if name not in record.parameters.names and is_traced(kwargs[name])]
    if traced:
        return (
            f"Its rule holds {traced[0]}= constant, which is being differentiated here. If its derivative is not "
            f"wanted, write {traced[0]}=ignore_derivatives({traced[0]}). "
        )
    names = [name or f"argument {i}" for i, name in enumerate(record.parameters.names)]
    for name, x, types in zip(names, args, _types_at(record, len(args)), strict=False):
        if not any(matches((rule_type(type(x)),), (t,)) for t in types):
            return f"Its rule takes no {describe(x)} as {name}. "
    differentiated = [name for name, x in zip(names, args, strict=False) if is_traced(x)]
    differentiated += [name for name, x in kwargs.items() if is_traced(x)]
    if len(differentiated) > 1:
        return f"Differentiated here are {', '.join(differentiated)}; its rule may hold one of them constant. "
    return "Its rule declines such values, as a float in the place of an integer. " if differentiated else ""


def _types_at(record: RuleRecord, count: int) -> list[set[type]]:
    """The types that a rule takes in each place."""
    signatures = [stretch(s, count) or s for s in record.signatures]
    return [{s[i] for s in signatures if i < len(s)} for i in range(count)]
