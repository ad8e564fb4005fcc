"""Rules of rotations in space: of what a `Rotation` is built from, and of what it does to vectors.

Where a rotation is built in a differentiated function, that gets a `Rotation` of the class here, whose methods are made
of NumPy's functions. Quaternions are (x, y, z, w), as SciPy's are.
"""

import copy

import numpy as np

from rulescore import (
    MissingDerivativeError,
    NoTangent,
    Tangent,
    ZeroTangent,
    frule,
    ignore_derivatives,
    is_traced,
    is_zero,
    not_implemented,
    pullback_wrt,
    rrule,
    seen_by_tracers,
)
from rulescore.typing import Array, Flag, OutputAndPullback, OutputAndTangent, Struct, Tangents
from scipy.spatial import transform

from ...numpy.array_like import as_array
from ..linear_maps import composed, reference_ad

# ---------------------------------------------------------------- quaternions


def matrix_of(q):
    """The matrix of a quaternion, which is a rotation's where that has the length 1."""
    x, y, z, w = (q[..., i] for i in range(4))
    rows = [
        [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def applied(q, vectors, inverse=False):
    """The vectors, turned; both broadcast against each other."""
    matrix = matrix_of(q)
    matrix = np.swapaxes(matrix, -1, -2) if inverse else matrix
    return np.sum(matrix * vectors[..., None, :], axis=-1)


def product(p, q):
    """The quaternion of turning by q and then by p (Hamilton)."""
    a, b, v, w = p[..., :3], q[..., :3], p[..., 3:], q[..., 3:]
    return np.concatenate([v * b + w * a + np.cross(a, b), v * w - np.sum(a * b, axis=-1, keepdims=True)], axis=-1)


def conjugate(q):
    return q * np.array([-1.0, -1.0, -1.0, 1.0])


def normalised(q):
    return q / np.sqrt(np.sum(q * q, axis=-1, keepdims=True))


SMALL = 1e-6
"""Squares of angles below which series of three terms are exact in double precision, and have all derivatives."""


def quaternion_of_vector(v):
    """(v sin(θ/2) / θ, cos(θ/2)) for the angle θ = |v|."""
    square = np.sum(v * v, axis=-1, keepdims=True)
    is_small = square < SMALL
    angle = np.sqrt(np.where(is_small, 1, square))
    sine = np.where(is_small, 1 / 2 - square / 48 + square**2 / 3840, np.sin(angle / 2) / angle)
    cosine = np.where(is_small, 1 - square / 8 + square**2 / 384, np.cos(angle / 2))
    return np.concatenate([v * sine, cosine], axis=-1)


def vector_of_quaternion(q):
    """The axis times the angle, which is at most π."""
    q = shorter_way(q)
    square, w = np.sum(q[..., :3] * q[..., :3], axis=-1, keepdims=True), q[..., 3:]
    is_small = square < SMALL
    sine, cosine = np.sqrt(np.where(is_small, 1, square)), np.where(is_small, w, 1)
    ratio = square / cosine**2
    series = 2 * (1 - ratio / 3 + ratio**2 / 5) / cosine
    return q[..., :3] * np.where(is_small, series, 2 * np.arctan2(sine, w) / sine)


def shorter_way(q):
    """The same rotation's quaternion with w ≥ 0."""
    return np.where(q[..., 3:] < 0, -q, q)


# ---------------------------------------------------------------- rotations that are being differentiated


class Rotation(transform.Rotation):
    """A rotation whose quaternion may be traced, or may have been."""

    def __new__(cls, quaternion):
        self = super().__new__(cls)
        self.quaternion = quaternion
        return self

    def __init__(self, quaternion):
        """SciPy's own converts to an array."""

    def __getattr__(self, name):
        raise AttributeError(
            f"{name!r} of a rotation built in a differentiated function: call its methods, as rotation.apply(x), where "
            "SciPy's own functions do not know it"
        )

    def __copy__(self):
        return type(self)(self.quaternion)

    def __reduce__(self):
        return type(self), (self.quaternion,)

    def __repr__(self):
        return f"Rotation.from_quat({self.quaternion!r})"

    @property
    def shape(self):
        return np.shape(self.quaternion)[:-1]

    @property
    def single(self):
        return self.shape == ()

    def __len__(self):
        if self.single:
            raise TypeError("Single rotation has no len().")
        return self.shape[0]

    def __getitem__(self, index):
        if self.single:
            raise TypeError("Single rotation is not subscriptable.")
        return type(self)(self.quaternion[index])

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __mul__(self, other):
        if not isinstance(other, transform.Rotation):
            return NotImplemented
        return type(self)(product(self.quaternion, quaternion_in(other)))

    def __rmul__(self, other):
        if not isinstance(other, transform.Rotation):
            return NotImplemented
        return type(self)(product(quaternion_in(other), self.quaternion))

    def inv(self):
        return type(self)(conjugate(self.quaternion))

    def apply(self, vectors, inverse=False):
        return applied(self.quaternion, in_double(vectors), inverse)

    def as_matrix(self):
        return matrix_of(self.quaternion)

    def as_quat(self, canonical=False, *, scalar_first=False):
        q = shorter_way(self.quaternion) if canonical else self.quaternion
        return np.roll(q, 1, axis=-1) if scalar_first else q

    def as_rotvec(self, degrees=False):
        v = vector_of_quaternion(self.quaternion)
        return v * (180 / np.pi) if degrees else v

    def as_mrp(self):
        q = shorter_way(self.quaternion)
        return q[..., :3] / (1 + q[..., 3:])

    def magnitude(self):
        """0 has the slope 0."""
        q = self.quaternion
        return 2 * np.arctan2(np.linalg.norm(q[..., :3], axis=-1), np.abs(q[..., 3]))


def by_scipy(name):
    """A method that SciPy computes, of a rotation that is not traced."""

    def method(self, *args, **kwargs):
        if is_traced(self.quaternion):
            raise MissingDerivativeError(
                f"Rotation.{name} of a rotation that is being differentiated. Use apply, as_matrix, as_quat, "
                "as_rotvec, as_mrp, magnitude, inv or products of rotations"
            )
        return getattr(transform.Rotation.from_quat(self.quaternion), name)(*args, **kwargs)

    return method


for _name in ("__pow__", "__setitem__", "approx_equal", "as_davenport", "as_euler", "mean", "reduce"):
    setattr(Rotation, _name, by_scipy(_name))


def in_double(x):
    """As SciPy computes."""
    x = np.float64(x) if issubclass(type(x), (int, float)) else as_array(x)
    return x if x.dtype == np.float64 else x.astype(np.float64)


def quaternion_in(rotation):
    if isinstance(rotation, Rotation):
        return rotation.quaternion
    # Of a copy, since SciPy reads no numbers that may not be written to.
    return copy.copy(rotation).as_quat()


def refuse_what_scipy_refuses(build, *args):
    """SciPy's errors of shapes and of what is no rotation; and its rotation."""
    # Copies, since SciPy takes no arrays that may not be written to.
    return build(*[x if isinstance(x, str) else np.array(ignore_derivatives(as_array(x))) for x in args])


# ---------------------------------------------------------------- how rotations are built


def from_quat(quat, *, scalar_first=False):
    refuse_what_scipy_refuses(transform.Rotation.from_quat, quat)
    q = in_double(quat)
    return Rotation(normalised(np.roll(q, -1, axis=-1) if scalar_first else q))


def from_rotvec(rotvec, degrees=False):
    refuse_what_scipy_refuses(transform.Rotation.from_rotvec, rotvec)
    v = in_double(rotvec)
    return Rotation(quaternion_of_vector(v * (np.pi / 180) if degrees else v))


def from_mrp(mrp):
    """(2 m, 1 - |m|²) / (1 + |m|²)."""
    refuse_what_scipy_refuses(transform.Rotation.from_mrp, mrp)
    m = in_double(mrp)
    square = np.sum(m * m, axis=-1, keepdims=True)
    return Rotation(np.concatenate([2 * m, 1 - square], axis=-1) / (1 + square))


def from_euler(seq, angles, degrees=False):
    shape = refuse_what_scipy_refuses(transform.Rotation.from_euler, seq, angles).as_quat().shape
    angles = np.reshape(in_double(angles), (*shape[:-1], len(seq)))
    half = angles * (np.pi / 360 if degrees else 0.5)
    total = None
    for i, axis in enumerate(seq.lower()):
        unit = np.eye(3)["xyz".index(axis)]
        q = np.concatenate([np.sin(half[..., i, None]) * unit, np.cos(half[..., i, None])], axis=-1)
        # Capital letters are axes that turn along.
        total = q if total is None else product(total, q) if seq.isupper() else product(q, total)
    return Rotation(total)


BUILT_HERE = isinstance(transform.Rotation.__dict__.get("from_quat"), staticmethod)
"""Whether SciPy's class is one of Python's, as since 1.17, whose functions are the same objects at every access."""

if BUILT_HERE:
    for _definition in (from_quat, from_rotvec, from_mrp, from_euler):
        composed(getattr(transform.Rotation, _definition.__name__))(_definition)


# ---------------------------------------------------------------- what a rotation does


OF_SCIPY = not_implemented(
    "a rotation of SciPy's own, which keeps its numbers to itself: build it in the function that is differentiated, "
    "with primitive(Rotation.from_quat)(q)"
)


def decline_traced(rotation):
    """A tracer within an object of SciPy's is not seen by an AD system: its derivative would be lost."""
    if is_traced(getattr(rotation, "__dict__", {}).get("_quat")):
        raise MissingDerivativeError(OF_SCIPY.message)


def applied_by(rotation, vectors, inverse):
    if isinstance(rotation, Rotation):
        return rotation.apply(vectors, inverse)
    return seen_by_tracers(transform.Rotation.apply, rotation, vectors, inverse)


@frule.register(transform.Rotation.apply)
def apply_frule(tangents: Tangents, rotation: Struct, /, vectors: Array, inverse: Flag = False) -> OutputAndTangent:
    decline_traced(rotation)
    y = applied_by(rotation, vectors, inverse)
    drotation, dvectors = tangents[1:3]
    dq = ZeroTangent()
    if not is_zero(drotation):
        if not isinstance(rotation, Rotation):
            return y, OF_SCIPY
        dq = drotation.quaternion
    moving = NoTangent(), dq, dvectors, NoTangent()
    return y, reference_ad().frule_via_ad(moving, applied_to_any, quaternion_in(rotation), vectors, inverse)[1]


@rrule.register(transform.Rotation.apply)
def apply_rrule(rotation: Struct, /, vectors: Array, inverse: Flag = False) -> OutputAndPullback:
    """A linear map of the vectors, and quadratic in the quaternion."""
    decline_traced(rotation)
    y = applied_by(rotation, vectors, inverse)

    @pullback_wrt(rotation if isinstance(rotation, Rotation) else None, vectors)
    def apply_pullback(ybar):
        _, pullback = reference_ad().rrule_via_ad(applied_to_any, quaternion_in(rotation), vectors, inverse)
        _, qbar, xbar, *_ = pullback(ybar)
        return Tangent(Rotation, quaternion=qbar), xbar

    return y, apply_pullback


def applied_to_any(q, vectors, inverse):
    return applied(q, in_double(vectors), inverse)


def turned(build, data, vectors, inverse=False, options=None):
    """Build a rotation and apply it.

    Parameters
    ----------
    build : callable
        ``Rotation.from_rotvec``, ``from_quat``, ``from_mrp`` or ``from_euler``.
    data : tuple
        What it is built from.
    vectors : array_like, shape (..., 3)
        What is turned.
    inverse : bool, optional
        Whether it is turned back.
    options : dict, optional
        The keyword arguments that it is built with.

    Returns
    -------
    turned : ndarray, shape (..., 3)
        ``build(*data, **options).apply(vectors, inverse)``, which may be differentiated with respect to data and
        vectors.

    Examples
    --------
    >>> from scipy.spatial.transform import Rotation
    >>> turned(Rotation.from_euler, ("z", 90.0), [1.0, 0.0, 0.0], options={"degrees": True}).round(12) + 0
    array([0., 1., 0.])
    """
    definition = {"from_quat": from_quat, "from_rotvec": from_rotvec, "from_mrp": from_mrp, "from_euler": from_euler}
    return definition[build.__name__](*data, **(options or {})).apply(vectors, inverse)


composed(turned)(turned)
