"""Sample inputs: with which arguments the rules of a function are tested.

A package offers them through the entry-point group ``rulescore.samples``, as it offers rules; what a person's own file
registers is there once it is imported.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from rulescore import rrule
from rulescore.tables.discovery import EntryPointLoader

from ..reports.names import description_of, name_of

SECOND_ORDER = "second order"
"""What a sample may leave out beside variants, with a reason: to be differentiated twice."""

Generator = Callable[["np.random.Generator"], Iterable["Sample"]]
_Generator = TypeVar("_Generator", bound=Generator)

_OPTIONS = {
    "_name": "name",
    "_rtol": "rtol",
    "_atol": "atol",
    "_modes": "modes",
    "_output_tangent": "output_tangent",
    "_function": "function",
    "_skip": "skip",
    "_constant": "constant",
}

_generators: dict[Any, list[Generator]] = {}
_by_canonical: dict[Any, list[Generator]] = rrule.dependent_cache()
"""The same by the function whose rules serve it, which aliases that come later may change."""

_entries = EntryPointLoader("rulescore.samples")


class SamplingError(RuntimeError):
    """A generator of sample inputs raised, or gave something that is no sample."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Arguments with which a rule is tested; made by `sample`.

    Attributes
    ----------
    args : tuple
        Positional arguments; those made by `with_tangent` carry their tangent.
    fkwargs : mapping
        Keyword arguments.
    name : str or None
        A word or two about what is special here.
    rtol, atol : float or None
        Tolerances, where the default is too strict for a reason.
    modes : tuple of str or None
        The modes to test; None means those for which a rule is registered.
    output_tangent : object
        The cotangent for the pullback; None means random.
    function : callable or None
        The object to call, for rules that serve all `instances_of` a class.
    skip : mapping of str to str or None
        Variants that do not apply, each with the reason; see `check_rule`.
    constant : bool
        Whether the rule differentiates none of the arguments, as of integers; that is what is checked then.
    key : tuple of int
        What seeds its random tangents, so that a sample is tested the same way whichever others are run.
    position : int
        Which of its function's samples it is.
    count : int
        How many of them there are.
    """

    args: tuple[Any, ...]
    fkwargs: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    name: str | None = None
    rtol: float | None = None
    atol: float | None = None
    modes: tuple[str, ...] | None = None
    output_tangent: Any = None
    function: Any = None
    skip: Mapping[str, str] | None = None
    constant: bool = False
    key: tuple[int, ...] = (0,)
    position: int = 0
    count: int = 1

    @property
    def id(self) -> str:
        """A word that tells it from the other samples of its function, for test ids and reports."""
        if self.name is not None:
            return f"{self.position}-{_word(self.name)}"
        values = [description_of(getattr(arg, "primal", arg)) for arg in self.args]
        values += [f"{key}={description_of(value)}" for key, value in self.fkwargs.items()]
        return f"{self.position}-{_word('-'.join(values))}"[:80]

    def rng(self) -> np.random.Generator:
        """A new random generator, the same one each time."""
        return np.random.default_rng(self.key)


def _word(text: str) -> str:
    # Brackets and colons mean something to pytest's command line.
    shapes_joined = re.sub(r"(?<=\d), (?=\d)", "x", text)
    return re.sub(r"-{2,}", "-", re.sub(r"[^\w.=+-]+", "-", shapes_joined)).strip("-")


def sample(*args: Any, **fkwargs: Any) -> Sample:
    """One set of arguments with which a rule is tested.

    Parameters
    ----------
    *args
        Positional arguments. ``with_tangent(x, dx)`` fixes a tangent, ``with_tangent(x, NoTangent())`` says that the
        rule does not differentiate an argument.
    **fkwargs
        Keyword arguments of the function; and, with a leading underscore, ``_name``, ``_rtol``, ``_atol``,
        ``_modes=("rrule",)``, ``_output_tangent``, ``_skip``, ``_constant`` and ``_function`` (see `Sample`).

    Examples
    --------
    >>> import numpy as np
    >>> sample(np.ones((3, 2)), axis=0).id
    '0-float64-3x2-axis=0'
    """
    options = {name: fkwargs.pop(name) for name in list(fkwargs) if name in _OPTIONS}
    if unknown := [name for name in fkwargs if name.startswith("_")]:
        raise TypeError(f"sample(..., {unknown[0]}=): no such option; the options are {', '.join(sorted(_OPTIONS))}")
    return Sample(args, MappingProxyType(fkwargs), **{_OPTIONS[name]: value for name, value in options.items()})


def sample_inputs(*functions: Any) -> Callable[[_Generator], _Generator]:
    """Register a generator of sample inputs for one or several functions.

    Parameters
    ----------
    *functions : callable or InstancesOf
        The functions; an alias (``np.abs``) and its function share their samples.

    Returns
    -------
    decorator : callable
        For a function that takes a `numpy.random.Generator` and yields samples.

    Examples
    --------
    >>> import numpy as np
    >>> def double(x): return 2 * x
    >>> @sample_inputs(double)
    ... def _(rng):
    ...     yield sample(rng.standard_normal(3))
    ...     yield sample(1.5, _name="scalar")
    >>> [s.id for s in samples_of(double)]
    ['0-float64-3', '1-scalar']
    """
    if not functions:
        raise TypeError("sample_inputs(): give the function that the samples are for: @sample_inputs(np.sum)")

    def register(generator: _Generator) -> _Generator:
        for function in functions:
            registered = _generators.setdefault(function, [])
            # A module that is imported again, or a notebook cell that is run again, replaces what it registered.
            registered[:] = [old for old in registered if _place(old) != _place(generator)]
            registered.append(generator)
        _by_canonical.clear()
        return generator

    return register


def _place(generator: Generator) -> Any:
    code = getattr(generator, "__code__", None)
    return id(generator) if code is None else (code.co_filename, code.co_firstlineno)


def samples_of(f: Any, seed: int = 0) -> list[Sample]:
    """All sample inputs of a function, those of its aliases included.

    Parameters
    ----------
    f : callable or InstancesOf
        The function.
    seed : int
        Another seed gives other random numbers in the samples and in their tangents.

    Returns
    -------
    list of Sample
        Empty when nobody registered any.

    Raises
    ------
    SamplingError
        When a generator raises; the message names it.
    """
    load_samples()
    samples: list[Sample] = []
    for generator in _generators_of(f):
        # Python's own hash of a string differs between runs; a checksum does not.
        key = (seed, zlib.crc32(name_of(f).encode()))
        for made in _run(generator, f, np.random.default_rng((*key, len(samples)))):
            position = len(samples)
            samples.append(replace(made, key=(*key, position), position=position))
    return [replace(made, count=len(samples)) for made in samples]


def _generators_of(f: Any) -> list[Generator]:
    if not _by_canonical:
        found: dict[Any, list[Generator]] = {}
        for function, generators in _generators.items():
            found.setdefault(rrule.canonical(function), []).extend(generators)
        _by_canonical.update(found)
    try:
        return _by_canonical.get(rrule.canonical(f), [])
    except TypeError:  # unhashable
        return []


def _run(generator: Generator, f: Any, rng: np.random.Generator) -> Iterator[Sample]:
    filename, line = _place(generator) if hasattr(generator, "__code__") else ("?", 0)
    where = f"the sample inputs of {name_of(f)} ({filename}:{line})"
    try:
        for made in generator(rng):
            if not isinstance(made, Sample):
                raise SamplingError(f"{where} yielded a {type(made).__name__}; yield sample(...)")
            yield made
    except SamplingError:
        raise
    except Exception as error:
        raise SamplingError(f"{where} raised {type(error).__name__}: {error}; mend the generator") from error


def sampled_functions() -> list[Any]:
    """Every function with registered sample inputs."""
    load_samples()
    return list(_generators)


def functions_sampled_in(module: str) -> list[Any]:
    """The functions for which a module registers sample inputs."""
    return [f for f, generators in _generators.items() if any(g.__module__ == module for g in generators)]


def load_samples(module_names: Iterable[str] | None = None) -> None:
    """Load the sample inputs that installed packages offer.

    Parameters
    ----------
    module_names : iterable of str, optional
        The modules whose functions are meant, as named by the entry points; by default those that are imported.
    """
    if module_names is None:
        _entries.load_imported()
        return
    for name in module_names:
        _entries.load(name)
