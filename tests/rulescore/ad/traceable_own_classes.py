"""Programs with numbers and arrays of classes of their own, and with random numbers; for traceable."""

from __future__ import annotations

import math

import numpy as np

from tests.rulescore.ad.traceable_patterns import of_array, of_numbers

# ---------------------------------------------------------------- numbers of own classes


class Degrees(float):
    unit = "deg"

    def __new__(cls, x=0.0, name=""):
        self = float.__new__(cls, x)
        self.name = name
        return self

    @classmethod
    def of(cls, radians):
        return cls(math.degrees(radians))

    @property
    def half(self):
        return Degrees(self / 2, self.name)

    @property
    def turned(self):
        return self._turned

    @turned.setter
    def turned(self, by):
        self._turned = math.sin(by) * self

    def radians(self):
        return math.radians(self)

    def __add__(self, other):
        return Degrees(float(self) + 2 * float(other), self.name)

    def __radd__(self, other):
        return self + other

    def __abs__(self):
        return Degrees(super().__abs__())

    def __call__(self):
        return self.radians()

    def __bool__(self):
        return math.sin(self) > -2

    def __str__(self):
        return "deg " + float.__repr__(self)


class Plain(float):
    pass


class Initialised(float):
    def __init__(self, x):
        super().__init__()
        self.twice = 2 * x


class Slotted(float):
    __slots__ = ("square",)

    def __new__(cls, x):
        self = super().__new__(cls, x)
        self.square = x * x
        return self


class Further(Degrees):
    def radians(self):
        return super().radians() * 2


class OfNumPy(np.float64):
    def twice(self):
        return self * 2


class Phasor(complex):
    def size(self):
        return abs(self)


@of_numbers()
def a_number_with_methods(a, b, c):
    x = Degrees(a, "x")
    is_one = isinstance(x, Degrees) and isinstance(x, float) and type(x) is Degrees and x.unit == "deg"
    return x.radians() * is_one + Degrees.of(b)() + len(x.name) * c


@of_numbers()
def a_number_with_operators(a, b, c):
    return (Degrees(a) + Degrees(b)).half.radians() + (1.0 + Degrees(c)).radians() * sum([Degrees(a), Degrees(b)])


@of_numbers()
def a_number_without_anything(a, b, c):
    x = Plain(a)
    return x * 2 + x**b + math.sin(x) + np.sin(x) * c + max(x, Plain(b)) + (-x) + x.real


@of_numbers()
def a_number_with_attributes(a, b, c):
    x, y = Initialised(a), Slotted(b)
    y.square = y.square + 1
    x.other = c * 3
    return x.twice * x + y.square * y + getattr(x, "other") * x.__float__()  # noqa: B009 -- as people write


@of_numbers()
def a_number_with_a_property_that_is_set(a, b, c):
    x = Degrees(a)
    x.turned = b
    return x.turned * c if x else 0.0


@of_numbers()
def a_number_of_a_subclass(a, b, c):
    return Further(a).radians() + abs(Further(-b)).radians() * OfNumPy(c).twice() + Degrees(Degrees(c)).radians()


@of_numbers()
def a_complex_number(a, b, c):
    return Phasor(a, b).size() * Phasor(c).real


@of_numbers()
def a_number_that_is_written(a, b, c):
    return a * b * str(Degrees(c)).startswith("deg") + np.array([Degrees(a), c]).sum()


@of_numbers()
def a_method_of_a_plain_number(a, b, c):
    return (0.5).__mul__(a) + (2.0).__pow__(b) + c.__float__()


# ---------------------------------------------------------------- arrays of own classes


class Points(np.ndarray):
    """With an attribute that goes from object to object."""

    def __new__(cls, x, unit="m"):
        self = np.asarray(x, dtype=float).view(cls)
        self.unit = unit
        return self

    def __array_finalize__(self, obj):
        if obj is not None:
            self.unit = getattr(obj, "unit", None)

    @classmethod
    def along(cls, x, unit="m"):
        return cls([x, 2 * x, 3.0], unit)

    @property
    def first(self):
        return self[0]

    def norm(self):
        return np.linalg.norm(self)

    def __matmul__(self, other):
        return Points(np.asarray(self) * 2 + np.asarray(other), self.unit)

    def __getitem__(self, index):
        return super().__getitem__(index)

    def cross(self, other):
        return np.cross(self, other).view(Points)


class Rotor(np.ndarray):
    """With a product of its own, and memory that NumPy has made."""

    def __new__(cls, x):
        x = np.array(x, float)
        x /= np.linalg.norm(x)
        self = super().__new__(cls, x.shape, float, x)
        self.scale = x[0]
        return self

    def __array_finalize__(self, obj):
        self.scale = getattr(obj, "scale", None)

    def __mul__(self, other):
        return Rotor([self[0] * other[0] - self[1] * other[1], self[0] * other[1] + self[1] * other[0], self[2]])

    def __rmul__(self, other):
        return np.asarray(self) * other * 3


class Logged(np.ndarray):
    """Which is asked by NumPy's functions."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        given = [x.view(np.ndarray) if isinstance(x, Logged) else x for x in inputs]
        found = super().__array_ufunc__(ufunc, method, *given, **options)
        if found is NotImplemented:
            return found
        made = np.asarray(found).view(Logged)
        made.log = [*getattr(self, "log", []), ufunc.__name__]
        return made

    def __array_function__(self, f, types, args, kwargs):
        found = super().__array_function__(f, types, args, kwargs)
        return (found, f.__name__) if f is np.transpose else found


class Bare(np.ndarray):
    pass


class Counted(np.ndarray):
    """Whose items are plain, and whose sum is another."""

    calls = 0

    def __getitem__(self, index):
        Counted.calls += 1
        part = super().__getitem__(index)
        return np.asarray(part) * isinstance(part, Counted)

    def sum(self, *args):
        return super().sum(*args) * 2


@of_numbers()
def an_array_with_attributes(a, b, c):
    x = Points([a, b, 3.0])
    is_one = isinstance(x, Points) and isinstance(x, np.ndarray) and type(x) is Points and x.unit == "m"
    y = x[1:] * c + x[:2]
    total = (x @ [1.0, c, 3.0]).sum().item()
    return x.norm() * is_one + x.first * len(y.unit) + total + Points.along(b).cross(x).norm()


@of_numbers()
def an_array_that_is_written_to(a, b, c):
    x = Points([a, 2.0, b])
    y = np.sin(x)
    y[0] = c
    y += x
    y = y.T.reshape(-1).copy()
    z = np.zeros(3)
    z[:] = x * y
    z += x
    return np.dot(y, x) + z * isinstance(np.concatenate([x, y]), Points)


@of_numbers()
def an_array_with_a_product(a, b, c):
    x = Rotor([a, 1.0, 2.0])
    return (x * Rotor([b, c, 1.0]))[1] + x.scale + (np.array([a, b, c]) * x).sum()


@of_numbers()
def an_array_that_is_asked(a, b, c):
    x = np.array([a, b]).view(Logged)
    y = np.sin(x) * 2 + x * c
    return float(y[0]) * len(y.log) + np.add.reduce(y).view(np.ndarray) + np.transpose(x)[0].view(np.ndarray)


@of_numbers()
def an_array_of_a_class_without_anything(a, b, c):
    x = np.array([[a, 2.0], [1.0, b]]).view(Bare)
    x = x @ x
    y = np.asarray(x)[0, 0] + math.sin(x[0, 1]) + sum(x[0]) + np.linalg.inv(x).sum() + x.max() + np.mean(x, axis=0)[1]
    return float(y) * c + np.where(x > 1, x, 0).sum() + max(x.ravel()) + x.tolist()[0][1] + np.linalg.norm(x.T)


@of_numbers()
def an_array_with_other_methods(a, b, c):
    x = np.array([a, b, c]).view(Counted)
    before = Counted.calls
    y = x[:2] * a
    return y * (Counted.calls - before) + float(x.sum()) + np.asarray(x.T.reshape(3, 1).sum(0))


@of_numbers()
def an_array_that_functions_write_into(a, b, c):
    x = Points([a, 2.0, b])
    np.add.at(x, [0, 0, 1], c)
    np.put(x, [1], a * b)
    y = x.copy()
    y.sort()
    np.copyto(x, y * c, where=[True, False, True])
    y.fill(b)
    return np.ndarray.__mul__(x, y).view(np.ndarray) + np.ndarray.sum(x).view(np.ndarray)


@of_array
def a_constant_of_the_class_beside(x):
    weights = np.arange(3.0).view(Bare) + 1
    y, z = weights * x, x * weights
    filled = Points(np.zeros(3))
    filled[0] = x[1]
    return np.asarray(y + z + filled) * isinstance(y, Bare) * isinstance(z, Bare)


# ---------------------------------------------------------------- arrays of other libraries


class Quantity:
    """It answers to NumPy's functions by itself."""

    def __init__(self, magnitude, unit):
        self.magnitude, self.unit = magnitude, unit

    @staticmethod
    def _plain(x):
        if isinstance(x, (list, tuple)):
            return type(x)(map(Quantity._plain, x))
        return np.asarray(x.magnitude, dtype=float) if isinstance(x, Quantity) else x

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        if method != "__call__":
            return NotImplemented
        return Quantity(ufunc(*map(self._plain, args), **kwargs), self.unit)

    def __array_function__(self, f, types, args, kwargs):
        return Quantity(f(*map(self._plain, args), **kwargs), self.unit)

    def __mul__(self, other):
        return Quantity(self.magnitude * other, self.unit)

    __rmul__ = __mul__


class Unit:
    """It answers to ufuncs alone."""

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        return ufunc(*[Quantity(1.0, "m") if x is self else x for x in args], **kwargs)

    def __rmul__(self, other):
        return Quantity(float(other), "m")


@of_array
def an_array_beside_one_of_another_library(x):
    y = np.array([x[0], 2.0, x[2]])
    found = np.multiply(y, Quantity(x, "m")), y * Quantity(np.ones(3), "m"), Quantity(x, "m") * y
    return sum(z.magnitude * i for i, z in enumerate(found, 1))


@of_array
def functions_of_another_library(x):
    joined = np.concatenate([Quantity(x, "m"), np.ones(2)])
    return np.dot(x, Quantity(x, "m")).magnitude + np.sum(joined).magnitude * np.sin(Quantity(x[1], "m")).magnitude


@of_array
def a_unit_beside_arrays_and_numbers(x):
    return (x * Unit()).magnitude + (x[0] * Unit()).magnitude + (np.add(x, Unit())).magnitude


@of_array
def a_comparison_of_another_library(x):
    return np.where((x < Quantity(np.ones(3), "m")).magnitude, x**2, x**3)


# ---------------------------------------------------------------- ufuncs, and keywords of theirs

ROOT = np.frompyfunc(math.sqrt, 1, 1)
BOTH = np.frompyfunc(lambda a, b: (math.sin(a) * b, a / b), 2, 2)


@of_array
def a_ufunc_of_python(x):
    first, second = BOTH(x[:, None], np.array([1.0, x[1]]))
    return ROOT(x).sum() + ROOT(x[0]) + (first.astype(float) * second.astype(float)).sum(axis=1) + BOTH(x[0], 2.0)[0]


@of_array
def a_condition_without_a_place(x):
    y = np.where(np.arange(3) == 1, -1.0, x)
    z = np.log10(y, where=y > 0, out=None)
    z[1] = x[1]
    return z + np.log10(x, where=True) + np.log(x, where=[True, True, True], out=None)


@of_array
def bounds_with_a_type(x):
    a = np.clip(x, 0.55, x[1] + 0.1, casting="unsafe") + np.clip(x, None, 0.95, dtype=float)
    return a + np.clip(x, 0.55, None, casting="same_kind")


@of_array
def a_system_by_the_function_beneath(x):
    matrix = np.array([[x[0], 1.0], [0.3, x[1] + 2]])
    return np.linalg._umath_linalg.solve(matrix, np.eye(2) * x[2], signature="dd->d")


# ---------------------------------------------------------------- random numbers


@of_numbers()
def random_numbers_of_a_generator(a, b, c):
    rng = np.random.default_rng(0)
    x = rng.normal([a, b, 2.0], np.array([[a], [2.0]])).sum() + rng.uniform(a, 5 * c, size=(2, 2)).sum()
    return x + rng.exponential(a, 3).sum() * rng.lognormal(b, 0.3) + rng.normal() * c + rng.normal(loc=c, size=2)[1]


@of_numbers()
def random_numbers_of_the_older_kind(a, b, c):
    rng = np.random.RandomState(1)
    x = rng.normal(a, 2 * b, 3).sum() + rng.uniform(high=c) + rng.exponential([a, 2 * b]).sum()
    return x * rng.lognormal(0.1, c) + rng.rand() * a
