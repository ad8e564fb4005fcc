"""Sample inputs for rotations, built from every kind of numbers and applied to vectors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from rulescore import NoTangent
from rulescore.shipped import import_shipped

from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs

turned = import_shipped("rules.scipy.spatial.rotations").turned


@sample_inputs(Rotation.apply)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    # An AD system does not look for traced numbers in an argument of SciPy's own classes.
    one, several = (
        with_tangent(Rotation.from_rotvec(rng.standard_normal(shape)), NoTangent()) for shape in (3, (4, 3))
    )
    yield sample(one, rng.standard_normal(3))
    yield sample(one, rng.standard_normal((4, 3)), True, _name="inverse")
    yield sample(several, rng.standard_normal(3), _name="one vector")
    yield sample(several, rng.standard_normal((4, 3)), inverse=True)
    yield sample(one, rng.standard_normal(3).tolist(), _name="list")


@sample_inputs(Rotation.from_rotvec)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    build = Rotation.from_rotvec
    yield sample(build, (rng.standard_normal(3),), rng.standard_normal(3), _function=turned)
    yield sample(build, (1e-5 * rng.standard_normal((2, 3)),), rng.standard_normal(3), _function=turned, _name="small")
    degrees = {"options": {"degrees": True}, "_name": "degrees"}
    yield sample(build, (100 * rng.standard_normal(3),), rng.standard_normal((2, 3)), True, _function=turned, **degrees)
    yield sample(build, (rng.standard_normal(3).tolist(),), rng.standard_normal(3), _function=turned, _name="list")


@sample_inputs(Rotation.from_quat, turned)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    build, x = Rotation.from_quat, rng.standard_normal(3)
    yield sample(build, (rng.standard_normal(4),), x, _function=turned)
    yield sample(build, (rng.standard_normal((3, 4)),), x, _function=turned, options={"scalar_first": True})


@sample_inputs(Rotation.from_mrp)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(Rotation.from_mrp, (rng.standard_normal(3),), rng.standard_normal(3), _function=turned)
    yield sample(Rotation.from_mrp, (rng.standard_normal((2, 3)),), rng.standard_normal((2, 3)), _function=turned)


@sample_inputs(Rotation.from_euler)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal(3)
    for seq in ("xyz", "ZXZ"):
        yield sample(Rotation.from_euler, (seq, rng.standard_normal(3)), x, _function=turned, _name=seq)
    yield sample(Rotation.from_euler, ("YX", rng.standard_normal((4, 2))), x, _function=turned, _name="stack")
    degrees = {"options": {"degrees": True}, "_name": "degrees"}
    yield sample(Rotation.from_euler, ("z", 40.0), x, _function=turned, **degrees)
