"""Functions of objects, of nested containers, and of what is no number at all, beside numbers.

`structural_forward` and `structural_reverse` make rules as `forward_rule` and `reverse_rule` do, for any object that
`structure_of` takes apart: the mathematics is given tangents in which every field has its own, and may answer with a
tangent that leaves fields out. A callable object answers its own cotangent first.
"""

import dataclasses
import enum
import functools
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.sparse

from corpora.corpus import Differentiable
from corpora.right.entry import right
from rulescore import (
    AbstractZero,
    NoTangent,
    Tangent,
    ZeroTangent,
    project_to,
    structure_of,
    unthunk,
    zero_tangent,
)

of_structures = functools.partial(right, kind="structure")


# ------------------------------------------------------------------ rules from mathematics


def filled(tangent, x):
    """The tangent of ``x`` with zeros written out in all its fields."""
    tangent = unthunk(tangent)
    fields = structure_of(x)
    if isinstance(zero_tangent(x), NoTangent):
        return NoTangent()
    if fields is None:
        return zero_tangent(x) if isinstance(tangent, AbstractZero) else tangent
    return Tangent.from_fields(type(x), {key: filled(part_of(tangent, key, x), part) for key, part in fields.items()})


def part_of(tangent, key, x):
    """The tangent of one field, of whatever stands for the tangent of an object or container."""
    if isinstance(tangent, AbstractZero):
        return ZeroTangent()
    if isinstance(tangent, Tangent):
        return tangent.fields.get(key, ZeroTangent())
    return tangent[list(structure_of(x)).index(key)] if isinstance(tangent, tuple | list) else tangent[key]


def structural_forward(function, jvp, *, owns=False, project=project_to):
    """The rule whose pushforward is ``jvp(*tangents, *args, **kwargs)``, the tangent of a callable object first."""

    def rule(tangents, *args, **kwargs):
        y = function(*args, **kwargs)
        tangents = [unthunk(tangent) for tangent in tangents]
        if all(isinstance(tangent, AbstractZero) for tangent in tangents):
            return y, ZeroTangent()
        of_all = [filled(tangent, x) for tangent, x in zip(tangents, (function, *args), strict=True)]
        return y, project(y)(jvp(*of_all[0 if owns else 1 :], *args, **kwargs))

    return rule


def structural_reverse(function, vjp, *, owns=False, project=project_to):
    """The rule whose pullback is ``vjp(ybar, *args, **kwargs)``: cotangents, that of a callable object first."""

    def rule(*args, **kwargs):
        y = function(*args, **kwargs)
        primals = (function, *args) if owns else args

        def pullback(ybar):
            ybar = unthunk(ybar)
            if isinstance(ybar, AbstractZero):
                cotangents = [ZeroTangent()] * len(primals)
            else:
                cotangents = vjp(filled(ybar, y), *args, **kwargs)
                cotangents = cotangents if isinstance(cotangents, tuple) else (cotangents,)
            projected = [project(x)(xbar) for x, xbar in zip(primals, cotangents, strict=True)]
            return tuple(projected) if owns else (NoTangent(), *projected)

        return y, pullback

    return rule


@dataclasses.dataclass(frozen=True)
class Structural(Differentiable):
    """A function of structures with its derivative; one that ``owns`` parameters is a callable object."""

    owns: bool = False

    @property
    def frule(self):
        return structural_forward(self.function, self.jvp, owns=self.owns)

    @property
    def rrule(self):
        return structural_reverse(self.function, self.vjp, owns=self.owns)


def inner(xbar, dx):
    """The real inner product of a cotangent with a tangent, field by field."""
    xbar, dx = unthunk(xbar), unthunk(dx)
    if isinstance(xbar, AbstractZero) or isinstance(dx, AbstractZero):
        return 0.0
    if isinstance(dx, Tangent):
        fields = xbar.fields if isinstance(xbar, Tangent) else dict(enumerate(xbar))
        return sum(inner(part, dx.fields[key]) for key, part in fields.items())
    return np.sum(xbar * dx)


def by_gradient(function, gradient, **facts):
    """A function with one number as output, by ``gradient(*args)``: a tuple with a tangent for each argument."""

    def jvp(*tangents_and_args, **kwargs):
        count = len(tangents_and_args) // 2
        return sum(map(inner, gradient(*tangents_and_args[count:], **kwargs), tangents_and_args[:count]))

    return Structural(function, jvp, gradient_vjp(gradient), **facts)


def gradient_vjp(gradient):
    return lambda ybar, *args, **kwargs: tuple(ybar * xbar for xbar in gradient(*args, **kwargs))


def real_numbers(*shapes):
    """What draws arguments: ``draw(rng)`` gives arrays, and floats for empty shapes."""
    return lambda rng: [rng.standard_normal(shape) if shape else float(rng.standard_normal()) for shape in shapes]


# ------------------------------------------------------------------ named tuples


class Line(NamedTuple):
    slope: float
    offset: float


class Point(NamedTuple):
    x: float
    y: float


class Segment(NamedTuple):
    start: Point
    end: Point
    colour: str


def on_line(line, t):
    return line.slope * t + line.offset


def on_line_vjp(ybar, line, t):
    return Tangent(Line, slope=np.sum(ybar * t), offset=np.sum(ybar)), ybar * line.slope


LINE = Structural(
    on_line, jvp=lambda dline, dt, line, t: dline.slope * t + line.slope * dt + dline.offset, vjp=on_line_vjp
)


def a_line(rng):
    return (Line(*real_numbers((), ())(rng)), rng.standard_normal(4)), {}


def squared_length(segment):
    return (segment.end.x - segment.start.x) ** 2 + (segment.end.y - segment.start.y) ** 2


def squared_length_gradient(segment):
    across, up = 2 * (segment.end.x - segment.start.x), 2 * (segment.end.y - segment.start.y)
    return (Tangent(Segment, Tangent(Point, -across, -up), Tangent(Point, across, up), NoTangent()),)


SEGMENT = by_gradient(squared_length, squared_length_gradient)


def a_segment(rng):
    a, b, c, d = real_numbers((), (), (), ())(rng)
    return (Segment(Point(a, b), Point(c, d), "red"),), {}


class Norm(NamedTuple):
    gamma: np.ndarray
    beta: np.ndarray


def layer_norm(parameters, x):
    centred = x - np.mean(x)
    return parameters.gamma * centred / np.sqrt(np.mean(centred * centred)) + parameters.beta


def unit_spread(x):
    centred = x - np.mean(x)
    return centred / np.sqrt(np.mean(centred * centred))


def unit_spread_product(dx, x):
    y, centred = unit_spread(x), dx - np.mean(dx)
    return (centred - y * np.mean(y * centred)) / np.sqrt(np.mean((x - np.mean(x)) ** 2))


LAYER_NORM = Structural(
    layer_norm,
    jvp=lambda dp, dx, p, x: dp.gamma * unit_spread(x) + dp.beta + p.gamma * unit_spread_product(dx, x),
    vjp=lambda ybar, p, x: (
        Tangent(Norm, gamma=ybar * unit_spread(x), beta=ybar),
        unit_spread_product(p.gamma * ybar, x),
    ),
)


def a_norm(rng):
    return (Norm(rng.uniform(0.5, 2, 4), rng.standard_normal(4)), rng.standard_normal(4)), {}


of_structures("a named tuple", LINE, a_line)
of_structures("named tuples and a string in a named tuple", SEGMENT, a_segment)
of_structures("a named tuple of the parameters of a layer norm", LAYER_NORM, a_norm)

# ------------------------------------------------------------------ dataclasses


@dataclasses.dataclass
class Spring:
    stiffness: float
    rest: float


@dataclasses.dataclass
class Oscillator:
    """A mass on a spring, with how many steps somebody wants to make of it."""

    mass: float
    spring: Spring
    steps: int = 10


def mechanical_energy(oscillator, x, v):
    stretch = x - oscillator.spring.rest
    return 0.5 * oscillator.mass * v**2 + 0.5 * oscillator.spring.stiffness * stretch**2


def mechanical_energy_gradient(oscillator, x, v):
    stretch, stiffness = x - oscillator.spring.rest, oscillator.spring.stiffness
    spring_bar = Tangent(Spring, stiffness=0.5 * stretch**2, rest=-stiffness * stretch)
    return Tangent(Oscillator, mass=0.5 * v**2, spring=spring_bar), stiffness * stretch, oscillator.mass * v


OSCILLATOR = by_gradient(mechanical_energy, mechanical_energy_gradient)


def an_oscillator(rng):
    return (
        Oscillator(float(rng.uniform(1, 2)), Spring(*map(float, rng.uniform(1, 2, 2)))),
        *real_numbers((), ())(rng),
    ), {}


@dataclasses.dataclass(frozen=True)
class Camera:
    """A pinhole: its focal length, where its axis meets the picture, and who made it."""

    focal: float
    centre: tuple[float, float]
    maker: str | None = None


def seen(camera, points):
    """Where points in front of the camera are in its picture, one row a point."""
    return camera.focal * points[:, :2] / points[:, 2:] + np.stack(camera.centre)


def seen_jvp(dcamera, dpoints, camera, points):
    rays = points[:, :2] / points[:, 2:]
    return (
        dcamera.focal * rays
        + camera.focal * (dpoints[:, :2] - rays * dpoints[:, 2:]) / points[:, 2:]
        + np.stack([dcamera.centre[0], dcamera.centre[1]])
    )


def seen_vjp(ybar, camera, points):
    rays = points[:, :2] / points[:, 2:]
    rays_bar = camera.focal * ybar / points[:, 2:]
    across, up = np.sum(ybar, axis=0)
    camera_bar = Tangent(Camera, focal=np.sum(ybar * rays), centre=Tangent(tuple, across, up))
    return camera_bar, np.concatenate([rays_bar, -np.sum(rays_bar * rays, axis=1, keepdims=True)], axis=1)


CAMERA = Structural(seen, seen_jvp, seen_vjp)


def a_camera(rng):
    points = rng.standard_normal((3, 3)) + np.array([0, 0, 5])
    return (Camera(float(rng.uniform(1, 2)), (0.5, -0.25)), points), {}


of_structures("a dataclass in a dataclass, with an integer", OSCILLATOR, an_oscillator)
of_structures("a frozen dataclass with a tuple and nothing in its fields", CAMERA, a_camera)

# ------------------------------------------------------------------ plain objects, with attributes or with slots


class Thermostat:
    """An object whose attributes are its parameters."""

    def __init__(self, target, gains, name):
        self.target, self.gains, self.name = target, gains, name


def heating(thermostat, temperature, history):
    proportional, integral = thermostat.gains
    return proportional * (thermostat.target - temperature) + integral * np.sum(thermostat.target - history)


def heating_gradient(thermostat, temperature, history):
    proportional, integral = thermostat.gains
    errors = thermostat.target - history
    own = Tangent(
        Thermostat,
        target=proportional + integral * len(history),
        gains=Tangent(list, thermostat.target - temperature, np.sum(errors)),
    )
    return own, -proportional, -integral * np.ones_like(history)


THERMOSTAT = by_gradient(heating, heating_gradient)


def a_thermostat(rng):
    return (Thermostat(21.5, real_numbers((), ())(rng), "hall"), 19.0, 20 + rng.standard_normal(3)), {}


class Beam:
    """A Gaussian beam, in slots."""

    __slots__ = ("profile", "waist", "wavelength")

    def __init__(self, waist, wavelength, profile):
        self.waist, self.wavelength, self.profile = waist, wavelength, profile


def beam_width(beam, z):
    """The waist times sqrt(1 + (z/z_R)²) with z_R = π w² / λ, and the profile added."""
    return beam.waist * np.sqrt(1 + (z * beam.wavelength / (np.pi * beam.waist**2)) ** 2) + beam.profile


def beam_width_partials(beam, z):
    """By waist, wavelength and place."""
    ratio = z * beam.wavelength / (np.pi * beam.waist**2)
    root = np.sqrt(1 + ratio**2)
    by_ratio = beam.waist * ratio / root
    by_place = by_ratio * beam.wavelength / (np.pi * beam.waist**2)
    return root - 2 * by_ratio * ratio / beam.waist, by_ratio * ratio / beam.wavelength, by_place


def beam_width_jvp(dbeam, dz, beam, z):
    by_waist, by_wavelength, by_place = beam_width_partials(beam, z)
    return by_waist * dbeam.waist + by_wavelength * dbeam.wavelength + by_place * dz + dbeam.profile


def beam_width_vjp(ybar, beam, z):
    by_waist, by_wavelength, by_place = beam_width_partials(beam, z)
    own = Tangent(Beam, waist=np.sum(by_waist * ybar), wavelength=np.sum(by_wavelength * ybar), profile=ybar)
    return own, by_place * ybar


BEAM = Structural(beam_width, beam_width_jvp, beam_width_vjp)


def a_beam(rng):
    return (Beam(*map(float, rng.uniform(0.5, 1, 2)), rng.standard_normal(3)), rng.uniform(1, 2, 3)), {}


class Body:
    __slots__ = ("mass",)


class Planet(Body):
    """Slots from one class and attributes from another."""

    def __init__(self, mass, place):
        self.mass, self.place = mass, place


def attraction(planet, other, softening=0.1):
    apart = planet.place - other.place
    return -planet.mass * other.mass / np.sqrt(np.sum(apart * apart) + softening**2)


def attraction_gradient(planet, other, softening=0.1):
    apart = planet.place - other.place
    distance = np.sqrt(np.sum(apart * apart) + softening**2)
    push = planet.mass * other.mass / distance**3 * apart
    return (
        Tangent(Planet, mass=-other.mass / distance, place=push),
        Tangent(Planet, mass=-planet.mass / distance, place=-push),
    )


PLANETS = by_gradient(attraction, attraction_gradient)


def two_planets(rng):
    return tuple(Planet(float(rng.uniform(1, 2)), rng.standard_normal(3)) for _ in range(2)), {"softening": 0.5}


of_structures("a plain object with a list and a name", THERMOSTAT, a_thermostat)
of_structures("an object with slots", BEAM, a_beam)
of_structures("two objects with a slot and an attribute, and a keyword", PLANETS, two_planets)

# ------------------------------------------------------------------ dicts, lists and tuples


def harmonics(waves, t):
    """The sum of sines of whole frequencies, which are the keys."""
    return sum(amplitude * np.sin(frequency * t) for frequency, amplitude in waves.items())


HARMONICS = Structural(
    harmonics,
    jvp=lambda dwaves, dt, waves, t: sum(
        dwaves[k] * np.sin(k * t) + amplitude * k * np.cos(k * t) * dt for k, amplitude in waves.items()
    ),
    vjp=lambda ybar, waves, t: (
        {k: np.sum(ybar * np.sin(k * t)) for k in waves},
        ybar * sum(amplitude * k * np.cos(k * t) for k, amplitude in waves.items()),
    ),
)


def three_waves(rng):
    return (dict(zip((1, 2, 5), real_numbers((), (), ())(rng), strict=True)), rng.standard_normal(4)), {}


def flow_cost(edges, price):
    """Quadratic costs on the edges of a graph, whose keys are pairs of nodes; an entry tells how many there are."""
    return price * sum(weight**2 * (head - tail) for (tail, head), weight in edges["edges"].items()) / edges["count"]


def flow_cost_gradient(edges, price):
    count = edges["count"]
    own = {key: 2 * price * weight * (key[1] - key[0]) / count for key, weight in edges["edges"].items()}
    return Tangent(dict, {"edges": Tangent(dict, own)}), flow_cost(edges, 1.0)


FLOW = by_gradient(flow_cost, flow_cost_gradient)


def a_graph(rng):
    weights = dict(zip([(0, 1), (1, 2), (0, 3)], real_numbers((), (), ())(rng), strict=True))
    return ({"edges": weights, "count": 3, "name": "ring"}, 1.5), {}


def quadrature(rule, scale):
    """The integral of cos(scale t) by a list of pairs of a node and a weight."""
    return sum(weight * np.cos(scale * node) for node, weight in rule)


def quadrature_gradient(rule, scale):
    pairs = [Tangent(tuple, -weight * scale * np.sin(scale * node), np.cos(scale * node)) for node, weight in rule]
    return Tangent(list, *pairs), -sum(weight * node * np.sin(scale * node) for node, weight in rule)


QUADRATURE = by_gradient(quadrature, quadrature_gradient)


def a_quadrature(rng):
    return ([tuple(map(float, rng.uniform(0.5, 1, 2))) for _ in range(3)], 1.25), {}


def ragged_product(parts):
    """The product of sums of squares of arrays of several shapes, of which one stands a level deeper."""
    first, (second, third) = parts
    return np.sum(first**2) * np.sum(second**2) * third


def ragged_product_gradient(parts):
    first, (second, third) = parts
    a, b = np.sum(first**2), np.sum(second**2)
    return (Tangent(tuple, 2 * first * b * third, Tangent(tuple, 2 * second * a * third, a * b)),)


RAGGED = by_gradient(ragged_product, ragged_product_gradient)


def ragged_parts(rng):
    return ((rng.standard_normal(3), (rng.standard_normal((2, 2)), 0.75)),), {}


def deep_sum(tree):
    """All leaves of a tree of dicts and lists, each times its depth."""
    return weighted_leaves(tree, 1)


def weighted_leaves(tree, depth):
    if isinstance(tree, dict | list):
        return sum(weighted_leaves(part, depth + 1) for part in (tree.values() if isinstance(tree, dict) else tree))
    return depth * np.sum(tree * tree)


def deep_gradient(tree, depth=1):
    if isinstance(tree, dict):
        return Tangent(dict, {key: deep_gradient(part, depth + 1) for key, part in tree.items()})
    if isinstance(tree, list):
        return Tangent(list, *(deep_gradient(part, depth + 1) for part in tree))
    return 2 * depth * tree


TREE = by_gradient(deep_sum, lambda tree: (deep_gradient(tree),))


def a_tree(rng):
    return ({"a": [rng.standard_normal(2), {"b": 1.5, "c": rng.standard_normal((2, 1))}], "d": -0.5},), {}


def twice_linear(parameters, x):
    """One weight in two places: x W W."""
    return x @ parameters["weight"] @ parameters["weight"]


def twice_linear_vjp(ybar, parameters, x):
    w = parameters["weight"]
    return {"weight": np.outer(x, w @ ybar) + np.outer(x @ w, ybar)}, w @ w @ ybar


SHARED = Structural(
    twice_linear,
    jvp=lambda dp, dx, p, x: (
        dx @ p["weight"] @ p["weight"] + x @ dp["weight"] @ p["weight"] + x @ p["weight"] @ dp["weight"]
    ),
    vjp=twice_linear_vjp,
)


def a_shared_weight(rng):
    return ({"weight": rng.standard_normal((3, 3)), "bits": 32}, rng.standard_normal(3)), {}


of_structures("a dict whose keys are integers", HARMONICS, three_waves)
of_structures("a dict of edges in a dict, with a count and a name", FLOW, a_graph)
of_structures("a list of pairs of floats", QUADRATURE, a_quadrature)
of_structures("a tuple in a tuple", RAGGED, ragged_parts)
of_structures("a tree of dicts and lists", TREE, a_tree)
of_structures("a weight of a dict that is used twice", SHARED, a_shared_weight)

# ------------------------------------------------------------------ callable objects


class Dense:
    """A layer of a network, called with its input."""

    def __init__(self, weight, bias, activation=np.tanh):
        self.weight, self.bias, self.activation = weight, bias, activation

    def __call__(self, x):
        return self.activation(self.weight @ x + self.bias)


def dense_layer():
    rng = np.random.default_rng(3)
    return Dense(rng.standard_normal((2, 3)), rng.standard_normal(2))


DENSE = dense_layer()


def dense_jvp(down, dx, x):
    slope = 1 - DENSE(x) ** 2
    return slope * (down.weight @ x + DENSE.weight @ dx + down.bias)


def dense_vjp(ybar, x):
    through = (1 - DENSE(x) ** 2) * ybar
    return Tangent(Dense, weight=np.outer(through, x), bias=through), DENSE.weight.T @ through


LAYER = Structural(DENSE, dense_jvp, dense_vjp, owns=True)


@dataclasses.dataclass(eq=False)
class Logistic:
    rate: float
    middle: float

    def __call__(self, t):
        return 1 / (1 + np.exp(-self.rate * (t - self.middle)))


GROWTH = Logistic(1.5, 0.25)


def growth_jvp(down, dt, t):
    y = GROWTH(t)
    return y * (1 - y) * (down.rate * (t - GROWTH.middle) + GROWTH.rate * (dt - down.middle))


def growth_vjp(ybar, t):
    y = GROWTH(t)
    through = y * (1 - y) * ybar
    own = Tangent(Logistic, rate=np.sum(through * (t - GROWTH.middle)), middle=-GROWTH.rate * np.sum(through))
    return own, GROWTH.rate * through


LOGISTIC = Structural(GROWTH, growth_jvp, growth_vjp, owns=True)


class Lookup:
    """Closes over a dict of parameters, as a function with free variables does."""

    def __init__(self, table):
        self.table = table

    def __call__(self, x):
        return self.table["gain"] * x**2 + self.table["offset"]


STORE = Lookup({"gain": 0.4, "offset": -1.5})


def store_jvp(down, dx, x):
    return down.table["gain"] * x**2 + 2 * STORE.table["gain"] * x * dx + down.table["offset"]


def store_vjp(ybar, x):
    own = Tangent(Lookup, table={"gain": np.sum(ybar * x**2), "offset": np.sum(ybar)})
    return own, 2 * STORE.table["gain"] * x * ybar


LOOKUP = Structural(STORE, store_jvp, store_vjp, owns=True)


class Chain:
    """A callable object that consists of others."""

    def __init__(self, *links):
        self.links = links

    def __call__(self, x):
        for link in self.links:
            x = link.scale * np.sin(x) + link.shift
        return x


@dataclasses.dataclass(eq=False)
class Link:
    scale: float
    shift: float


LINKS = Chain(Link(1.25, 0.5), Link(-0.75, 0.25))


def chain_jvp(down, dx, x):
    for k, link in enumerate(LINKS.links):
        dlink = down.links[k]
        x, dx = link.scale * np.sin(x) + link.shift, link.scale * np.cos(x) * dx + dlink.scale * np.sin(x) + dlink.shift
    return dx


def chain_vjp(ybar, x):
    inputs = [x]
    for link in LINKS.links[:-1]:
        inputs.append(link.scale * np.sin(inputs[-1]) + link.shift)
    own = []
    for link, before in zip(reversed(LINKS.links), reversed(inputs), strict=True):
        own.insert(0, Tangent(Link, scale=np.sum(ybar * np.sin(before)), shift=np.sum(ybar)))
        ybar = link.scale * np.cos(before) * ybar
    return Tangent(Chain, links=Tangent(tuple, *own)), ybar


CHAIN = Structural(LINKS, chain_jvp, chain_vjp, owns=True)


def a_vector(*shape):
    return lambda rng: ((rng.standard_normal(shape),), {})


of_structures("a layer that is called", LAYER, a_vector(3))
of_structures("a dataclass that is called", LOGISTIC, a_vector(4))
of_structures("a callable object that holds a dict", LOOKUP, a_vector(3))
of_structures("a callable object made of objects", CHAIN, a_vector(2))


def network(layers, x):
    for layer in layers:
        x = np.sin(layer.weight @ x + layer.bias)
    return x


def network_jvp(dlayers, dx, layers, x):
    for k, layer in enumerate(layers):
        before = layer.weight @ x + layer.bias
        dx = np.cos(before) * (dlayers[k].weight @ x + layer.weight @ dx + dlayers[k].bias)
        x = np.sin(before)
    return dx


def network_vjp(ybar, layers, x):
    inputs = [x]
    for layer in layers:
        inputs.append(np.sin(layer.weight @ inputs[-1] + layer.bias))
    own = []
    for layer, before in zip(reversed(layers), reversed(inputs[:-1]), strict=True):
        through = np.cos(layer.weight @ before + layer.bias) * ybar
        own.insert(0, Tangent(Dense, weight=np.outer(through, before), bias=through))
        ybar = layer.weight.T @ through
    return Tangent(list, *own), ybar


NETWORK = Structural(network, network_jvp, network_vjp)


def two_layers(rng):
    sizes = ((3, 2), (2, 3))
    return (
        [Dense(rng.standard_normal(size), rng.standard_normal(size[0])) for size in sizes],
        rng.standard_normal(2),
    ), {}


of_structures("a list of layers with functions in their fields", NETWORK, two_layers)

# ------------------------------------------------------------------ arrays of objects, sparse matrices


def sum_of_cubes(x):
    return np.sum(x * x * x)


OBJECTS = by_gradient(sum_of_cubes, lambda x: (3 * x * x,))


def an_array_of_floats(rng):
    return (np.array(list(map(float, rng.standard_normal(4))), dtype=object),), {}


def pairwise(a, b):
    """Products of floats in arrays of objects, in an array of numbers."""
    return np.array(a * b, dtype=complex if any(map(np.iscomplexobj, [*a, *b])) else float)


PAIRWISE = Structural(
    pairwise,
    jvp=lambda da, db, a, b: (da * b + a * db).astype(float),
    vjp=lambda ybar, a, b: ((ybar * b).astype(object), (ybar * a).astype(object)),
)


def two_arrays_of_floats(rng):
    return tuple(an_array_of_floats(rng)[0][0] for _ in range(2)), {}


def sparse_times(a, x):
    return a @ x


SPARSE_TIMES = Structural(
    sparse_times,
    jvp=lambda da, dx, a, x: da @ x + a @ dx,
    vjp=lambda ybar, a, x: (np.outer(ybar, x), a.T @ ybar),
)


def a_sparse_matrix(layout):
    def inputs(rng):
        rows, columns = np.array([0, 0, 1, 3]), np.array([0, 2, 1, 2])
        matrix = scipy.sparse.coo_array((rng.standard_normal(4), (rows, columns)), shape=(4, 3))
        return (matrix.asformat(layout), rng.standard_normal(3)), {}

    return inputs


def stored_squares(a):
    return a.multiply(a).sum()


STORED = by_gradient(stored_squares, lambda a: (2 * a,))


def sparse_form(x, a, y):
    return x @ (a @ y)


SPARSE_FORM = by_gradient(sparse_form, lambda x, a, y: (a @ y, np.outer(x, y), a.T @ x))


def a_sparse_form(rng):
    (a, y), _ = a_sparse_matrix("csc")(rng)
    return (rng.standard_normal(4), a, y), {}


of_structures("an array of objects that are floats", OBJECTS, an_array_of_floats)
of_structures("two arrays of objects, and one of numbers that is made of them", PAIRWISE, two_arrays_of_floats)
of_structures("a sparse matrix by rows times a vector", SPARSE_TIMES, a_sparse_matrix("csr"))
of_structures(
    "the squares of what a sparse matrix stores", STORED, lambda rng: (a_sparse_matrix("coo")(rng)[0][:1], {})
)
of_structures("a sparse matrix by columns between two vectors", SPARSE_FORM, a_sparse_form)

# ------------------------------------------------------------------ integers, booleans, strings, functions and None


def embedded(table, words, padding):
    """Rows of a table, and zeros for the word that stands for nothing."""
    return table[words] * (words != padding)[:, None]


def embedded_vjp(ybar, table, words, padding):
    table_bar = np.zeros(np.shape(table), ybar.dtype)
    np.add.at(table_bar, words, ybar * (words != padding)[:, None])
    return table_bar, NoTangent(), NoTangent()


EMBEDDING = Structural(
    embedded, jvp=lambda dtable, _, __, table, words, padding: embedded(dtable, words, padding), vjp=embedded_vjp
)


def a_sentence(rng):
    return (rng.standard_normal((5, 2)), np.array([1, 3, 0, 1, 0, -1]), 0), {}


def reduced(x, how):
    """A loss that a string names."""
    total = np.sum(x * x)
    return total / np.size(x) if how == "mean" else total


REDUCED = by_gradient(reduced, lambda x, how: (2 * x / (np.size(x) if how == "mean" else 1), NoTangent()))


def affine(x, weight, bias=None):
    return x @ weight if bias is None else x @ weight + bias


def affine_jvp(dx, dweight, dbias, x, weight, bias=None):
    dy = dx @ weight + x @ dweight
    return dy if bias is None else dy + dbias


def affine_vjp(ybar, x, weight, bias=None):
    return ybar @ weight.T, x.T @ ybar, NoTangent() if bias is None else np.sum(ybar, axis=0)


AFFINE = Structural(affine, affine_jvp, affine_vjp)


def without_bias(rng):
    return (*real_numbers((2, 3), (3, 2))(rng), None), {}


def with_bias(rng):
    return (*real_numbers((2, 3), (3, 2), (2,))(rng),), {}


def fractional_power(x, exponent):
    return x ** float(exponent)


FRACTION = Structural(
    fractional_power,
    jvp=lambda dx, _, x, p: float(p) * x ** float(p - 1) * dx,
    vjp=lambda ybar, x, p: (float(p) * x ** float(p - 1) * ybar, NoTangent()),
)


def sum_of_powers(x, exponents):
    return sum(np.sum(x**k) for k in exponents)


POWERS = by_gradient(sum_of_powers, lambda x, exponents: (sum(k * x ** (k - 1) for k in exponents), NoTangent()))


def windowed_energy(x, part, mask):
    """Of a slice, those entries that a mask selects."""
    chosen = x[part][mask]
    return np.sum(chosen * chosen)


def windowed_energy_gradient(x, part, mask):
    xbar = np.zeros(np.shape(x))
    xbar[part] = np.where(mask, 2 * x[part], 0)
    return xbar, NoTangent(), NoTangent()


WINDOW = by_gradient(windowed_energy, windowed_energy_gradient)


def a_window(rng):
    return (rng.standard_normal(7), slice(1, 6, 2), np.array([True, False, True])), {}


DERIVATIVES = {np.sin: np.cos, np.exp: np.exp, np.tanh: lambda x: 1 - np.tanh(x) ** 2}


def activated(activation, x, gain):
    return gain * activation(x)


ACTIVATED = Structural(
    activated,
    jvp=lambda _, dx, dgain, f, x, gain: dgain * f(x) + gain * DERIVATIVES[f](x) * dx,
    vjp=lambda ybar, f, x, gain: (NoTangent(), gain * DERIVATIVES[f](x) * ybar, np.sum(f(x) * ybar)),
)


class Boundary(enum.Enum):
    PERIODIC = "periodic"
    CLOSED = "closed"


def slopes(x, boundary):
    return np.roll(x, -1) - x if boundary is Boundary.PERIODIC else x[1:] - x[:-1]


def slopes_vjp(ybar, x, boundary):
    if boundary is Boundary.PERIODIC:
        return np.roll(ybar, 1) - ybar, NoTangent()
    return np.concatenate([[0.0], ybar]) - np.concatenate([ybar, [0.0]]), NoTangent()


SLOPES = Structural(slopes, jvp=lambda dx, _, x, boundary: slopes(dx, boundary), vjp=slopes_vjp)


def geometric_mean(*arrays):
    """Of as many arrays as there are, which may broadcast."""
    return np.exp(sum(map(np.log, arrays)) / len(arrays))


def geometric_mean_jvp(*tangents_and_args):
    count = len(tangents_and_args) // 2
    tangents, args = tangents_and_args[:count], tangents_and_args[count:]
    return geometric_mean(*args) * sum(dx / x for dx, x in zip(tangents, args, strict=True)) / count


def geometric_mean_vjp(ybar, *args):
    through = ybar * geometric_mean(*args) / len(args)
    return tuple(through / x for x in args)


MEAN_OF_SEVERAL = Structural(geometric_mean, geometric_mean_jvp, geometric_mean_vjp)


def positive_arrays(count):
    return lambda rng: (tuple(rng.uniform(0.5, 2, 3) for _ in range(count)), {})


def segment_means(values, segments, count, *, empty=0.0):
    """The mean of each segment; an ``empty`` one has this value."""
    sizes = np.bincount(segments, minlength=count)
    sums = np.zeros(count, values.dtype)
    np.add.at(sums, segments, values)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), empty)


def shares_of_segments(segments, count):
    return 1 / np.maximum(np.bincount(segments, minlength=count), 1)[segments]


SEGMENT_MEANS = Structural(
    segment_means,
    jvp=lambda dv, _, __, v, segments, count, *, empty=0.0: segment_means(dv, segments, count),
    vjp=lambda ybar, v, segments, count, *, empty=0.0: (
        ybar[segments] * shares_of_segments(segments, count),
        NoTangent(),
        NoTangent(),
    ),
)


def four_segments(rng):
    return (rng.standard_normal(6), np.array([2, 0, 0, 3, 2, 0]), 4), {"empty": -1.0}


of_structures("rows of a table by words, of which one counts for nothing", EMBEDDING, a_sentence)
of_structures("a reduction that a string names", REDUCED, lambda rng: ((rng.standard_normal((2, 3)), "mean"), {}))
of_structures("an affine map whose bias is None", AFFINE, without_bias)
of_structures("an affine map with its bias", AFFINE, with_bias)
of_structures("a power by a fraction", FRACTION, lambda rng: ((rng.uniform(0.5, 2, 4), Fraction(2, 3)), {}))
of_structures("powers by a range", POWERS, lambda rng: ((rng.uniform(0.5, 1, 3), range(1, 6, 2)), {}))
of_structures("a slice and a mask", WINDOW, a_window)
of_structures("a function as an argument", ACTIVATED, lambda rng: ((np.tanh, rng.standard_normal(3), 1.5), {}))
of_structures(
    "differences whose ends a member of an enumeration settles",
    SLOPES,
    lambda rng: ((rng.standard_normal(5), Boundary.CLOSED), {}),
)
of_structures("a mean of four arguments", MEAN_OF_SEVERAL, positive_arrays(4))
of_structures("means of segments, with a keyword for empty ones", SEGMENT_MEANS, four_segments)

# ------------------------------------------------------------------ outputs


class Summary(NamedTuple):
    """A float, an integer and an array."""

    mean: float
    count: int
    deviations: np.ndarray


def summary(x):
    return Summary(np.mean(x), np.size(x), x - np.mean(x))


SUMMARY = Structural(
    summary,
    jvp=lambda dx, x: Tangent(Summary, mean=np.mean(dx), deviations=dx - np.mean(dx)),
    vjp=lambda ybar, x: ybar.mean / np.size(x) + ybar.deviations - np.mean(ybar.deviations),
)


def peak(x):
    """The largest entry's square and where it stands, as a float and an integer."""
    index = int(np.argmax(np.real(x)))
    return x[index] ** 2, index


def peak_vjp(ybar, x):
    xbar = np.zeros(np.shape(x))
    xbar[peak(x)[1]] = 2 * x[peak(x)[1]] * ybar[0]
    return xbar


PEAK = Structural(peak, jvp=lambda dx, x: (2 * x[peak(x)[1]] * dx[peak(x)[1]], NoTangent()), vjp=peak_vjp)


def moments(x, orders):
    """A dict of powers' means, with the orders as they were given."""
    return {"orders": orders, **{f"m{k}": np.mean(x**k) for k in orders}}


MOMENTS = Structural(
    moments,
    jvp=lambda dx, _, x, orders: Tangent(dict, {f"m{k}": np.mean(k * x ** (k - 1) * dx) for k in orders}),
    vjp=lambda ybar, x, orders: (
        sum(ybar[f"m{k}"] * k * x ** (k - 1) for k in orders) / np.size(x),
        NoTangent(),
    ),
)


def turned(point, angle):
    """A point turned around the origin, as a named tuple, beside its radius in a tuple."""
    c, s = np.cos(angle), np.sin(angle)
    return Point(c * point.x - s * point.y, s * point.x + c * point.y), (point.x**2 + point.y**2,)


def turned_jvp(dpoint, dangle, point, angle):
    c, s = np.cos(angle), np.sin(angle)
    (x, y), _ = turned(point, angle)
    across, up = c * dpoint.x - s * dpoint.y - y * dangle, s * dpoint.x + c * dpoint.y + x * dangle
    return Tangent(Point, across, up), (2 * point.x * dpoint.x + 2 * point.y * dpoint.y,)


def turned_vjp(ybar, point, angle):
    (across, up), (radius_bar,) = ybar
    c, s = np.cos(angle), np.sin(angle)
    (x, y), _ = turned(point, angle)
    point_bar = Tangent(
        Point, c * across + s * up + 2 * point.x * radius_bar, -s * across + c * up + 2 * point.y * radius_bar
    )
    return point_bar, x * up - y * across


TURNED = Structural(turned, turned_jvp, turned_vjp)


def a_point_and_an_angle(rng):
    return (Point(*real_numbers((), ())(rng)), float(rng.standard_normal())), {}


def halves(x):
    """A list of two arrays of different lengths."""
    return [x[:2] ** 2, np.sin(x[2:])]


HALVES = Structural(
    halves,
    jvp=lambda dx, x: [2 * x[:2] * dx[:2], np.cos(x[2:]) * dx[2:]],
    vjp=lambda ybar, x: np.concatenate([2 * x[:2] * ybar[0], np.cos(x[2:]) * ybar[1]]),
)


def moved_oscillator(oscillator, x):
    """An object as output."""
    spring = Spring(oscillator.spring.stiffness * x, oscillator.spring.rest + x)
    return Oscillator(oscillator.mass * x**2, spring, oscillator.steps + 1)


def moved_oscillator_jvp(down, dx, oscillator, x):
    stiffness = down.spring.stiffness * x + oscillator.spring.stiffness * dx
    spring = Tangent(Spring, stiffness=stiffness, rest=down.spring.rest + dx)
    return Tangent(Oscillator, mass=down.mass * x**2 + 2 * oscillator.mass * x * dx, spring=spring)


def moved_oscillator_vjp(ybar, oscillator, x):
    spring = Tangent(Spring, stiffness=ybar.spring.stiffness * x, rest=ybar.spring.rest)
    xbar = 2 * oscillator.mass * x * ybar.mass + oscillator.spring.stiffness * ybar.spring.stiffness + ybar.spring.rest
    return Tangent(Oscillator, mass=ybar.mass * x**2, spring=spring), xbar


MOVED = Structural(moved_oscillator, moved_oscillator_jvp, moved_oscillator_vjp)


def an_oscillator_and_a_number(rng):
    return (an_oscillator(rng)[0][0], 1.25), {}


of_structures("a named tuple with a count as output", SUMMARY, a_vector(4))
of_structures("a float and an index as outputs", PEAK, a_vector(5))
of_structures(
    "a dict with a tuple of integers as output", MOMENTS, lambda rng: ((rng.uniform(0.5, 2, 3), (1, 2, 4)), {})
)
of_structures("a named tuple beside a tuple as outputs", TURNED, a_point_and_an_angle)
of_structures("a list of arrays of two lengths as output", HALVES, a_vector(5))
of_structures("an object as output", MOVED, an_oscillator_and_a_number)
