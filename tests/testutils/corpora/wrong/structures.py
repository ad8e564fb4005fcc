"""Rules of structures that lose, exchange or double what belongs to a field, half of them as real systems have done."""

from fractions import Fraction

import numpy as np

from corpora.corpus import BOTH, unprojected
from corpora.right.structures import (
    ACTIVATED,
    AFFINE,
    BEAM,
    CAMERA,
    CHAIN,
    DENSE,
    DERIVATIVES,
    EMBEDDING,
    FLOW,
    FRACTION,
    GROWTH,
    HALVES,
    HARMONICS,
    LAYER,
    LAYER_NORM,
    LINE,
    LOGISTIC,
    LOOKUP,
    MEAN_OF_SEVERAL,
    MOMENTS,
    MOVED,
    NETWORK,
    OBJECTS,
    OSCILLATOR,
    PEAK,
    PLANETS,
    POWERS,
    QUADRATURE,
    REDUCED,
    SEGMENT,
    SEGMENT_MEANS,
    SHARED,
    SLOPES,
    SPARSE_TIMES,
    STORE,
    STORED,
    SUMMARY,
    THERMOSTAT,
    TREE,
    TURNED,
    WINDOW,
    Beam,
    Boundary,
    Chain,
    Dense,
    Line,
    Logistic,
    Norm,
    Oscillator,
    Planet,
    Point,
    Segment,
    Spring,
    Structural,
    Summary,
    a_beam,
    a_camera,
    a_graph,
    a_line,
    a_norm,
    a_point_and_an_angle,
    a_quadrature,
    a_segment,
    a_sentence,
    a_shared_weight,
    a_sparse_matrix,
    a_thermostat,
    a_tree,
    a_vector,
    a_window,
    an_array_of_floats,
    an_oscillator,
    an_oscillator_and_a_number,
    by_gradient,
    four_segments,
    gradient_vjp,
    peak,
    positive_arrays,
    real_numbers,
    structural_forward,
    structural_reverse,
    three_waves,
    two_layers,
    two_planets,
    unit_spread,
    unit_spread_product,
    with_bias,
)
from corpora.wrong.entry import wrong
from rulescore import NoTangent, Tangent, ZeroTangent, project_to


def of_structures(name, right, inputs, *, jvp=None, vjp=None, project=project_to, **facts):
    """Enter a wrong rule of structures; its error is that of what is lost or exchanged."""
    rules = {}
    if jvp is not None:
        rules["frule"] = structural_forward(right.function, jvp, owns=right.owns, project=project)
    if vjp is not None:
        rules["rrule"] = structural_reverse(right.function, vjp, owns=right.owns, project=project)
    wrong(name, "structure", right, inputs, **rules, **{"error": 1e-2, **facts})


def with_first(vjp, change):
    """The right cotangents, of which the first is changed: ``change(xbar, *args)``."""

    def changed(ybar, *args, **kwargs):
        first, *others = vjp(ybar, *args, **kwargs)
        return change(first, *args), *others

    return changed


# ------------------------------------------------------------------ as reported


class Sensor:
    """Its drift, and what else is known of it in a dict."""

    def __init__(self, table, drift):
        self.table, self.drift = table, drift


def reading(sensor, t):
    return sensor.table["gain"] * t**2 + sensor.drift * t


def reading_gradient(sensor, t):
    own = Tangent(Sensor, table=Tangent(dict, {"gain": t**2}), drift=t)
    return own, 2 * sensor.table["gain"] * t + sensor.drift


def a_sensor(rng):
    return (Sensor({"gain": 1.5, "unit": "mV"}, 4.0), float(rng.uniform(1, 2))), {}


of_structures(
    "a dict in the field of an object, which gets nothing",
    by_gradient(reading, reading_gradient),
    a_sensor,
    vjp=gradient_vjp(lambda sensor, t: (Tangent(Sensor, drift=t), reading_gradient(sensor, t)[1])),
    argument=0,
    source="https://github.com/FluxML/Zygote.jl/issues/1115",
)
of_structures(
    "an object that can be changed, which gets nothing at all",
    THERMOSTAT,
    a_thermostat,
    vjp=with_first(THERMOSTAT.vjp, lambda own, *_: ZeroTangent()),
    argument=0,
    source="https://github.com/FluxML/Zygote.jl/issues/93",
)


def added_in_two_steps(parameters, x):
    return parameters.offset + parameters.slope * np.sum(x * x) + parameters.offset * parameters.slope


def added_in_two_steps_gradient(parameters, x):
    square = np.sum(x * x)
    return (
        Tangent(Line, slope=square + parameters.offset, offset=1 + parameters.slope),
        2 * parameters.slope * x,
    )


of_structures(
    "contributions to a named tuple, of which the later ones bring no new fields",
    by_gradient(added_in_two_steps, added_in_two_steps_gradient),
    a_line,
    vjp=gradient_vjp(
        lambda p, x: (Tangent(Line, offset=1 + p.slope), added_in_two_steps_gradient(p, x)[1]),
    ),
    argument=0,
    source="https://github.com/FluxML/Zygote.jl/issues/861",
)
of_structures(
    "a sparse matrix of which the first stored entry gets its cotangent",
    SPARSE_TIMES,
    a_sparse_matrix("csr"),
    vjp=lambda ybar, a, x: (np.outer(ybar, x) * (np.arange(12).reshape(4, 3) == 0), a.T @ ybar),
    argument=0,
    source="https://github.com/pytorch/pytorch/issues/102493",
)
of_structures(
    "a callable object with a dict, whose own cotangent is missing",
    LOOKUP,
    a_vector(3),
    vjp=lambda ybar, x: (NoTangent(), 2 * STORE.table["gain"] * x * ybar),
    source="https://github.com/FluxML/Zygote.jl/issues/717",
)


def scaled_by_options(options, x):
    """The options are passed on to a function as well as read."""
    return options["scale"] * np.sin(x)


of_structures(
    "an option that is read and handed on, whose cotangent counts twice",
    Structural(
        scaled_by_options,
        jvp=lambda down, dx, options, x: down["scale"] * np.sin(x) + options["scale"] * np.cos(x) * dx,
        vjp=lambda ybar, options, x: ({"scale": np.sum(ybar * np.sin(x))}, options["scale"] * np.cos(x) * ybar),
    ),
    lambda rng: (({"scale": 1.5, "verbose": False}, rng.standard_normal(3)), {}),
    vjp=lambda ybar, options, x: ({"scale": 2 * np.sum(ybar * np.sin(x))}, options["scale"] * np.cos(x) * ybar),
    argument=0,
    source="https://github.com/FluxML/Zygote.jl/issues/1284",
)


def laid_out(x):
    """The items of an array as a tuple of numbers."""
    return tuple(x * np.arange(1, len(x) + 1))


of_structures(
    "a tuple of all entries, of which the first alone hears",
    Structural(
        laid_out,
        jvp=lambda dx, x: tuple(dx * np.arange(1, len(x) + 1)),
        vjp=lambda ybar, x: np.stack([*ybar]) * np.arange(1, len(x) + 1),
    ),
    a_vector(3),
    vjp=lambda ybar, x: ybar[0] * (np.arange(len(x)) == 0),
    source="https://github.com/FluxML/Zygote.jl/issues/62",
)


def nested_sum(parts):
    first, (second, third) = parts
    return first + 2 * second + 3 * third


NESTED_SUM = by_gradient(nested_sum, lambda parts: (Tangent(tuple, 1.0, Tangent(list, 2.0, 3.0)),))
of_structures(
    "the parts of a nested list in one row",
    NESTED_SUM,
    lambda rng: (((1.0, real_numbers((), ())(rng)),), {}),
    vjp=lambda ybar, parts: (ybar, [2 * ybar, 3 * ybar, 0.0, 0.0]),
    project=unprojected,
    source="https://github.com/HIPS/autograd/pull/50",
)
of_structures(
    "a list as output, whose cotangents end there",
    HALVES,
    a_vector(5),
    vjp=lambda ybar, x: np.zeros_like(x),
    source="https://github.com/HIPS/autograd/issues/495",
)


def box_volume(box, scale):
    a, b, c = box["size"]
    return scale * a * b * c + np.sum(box["centre"])


def box_volume_gradient(box, scale):
    a, b, c = box["size"]
    own = {"size": (scale * b * c, scale * a * c, scale * a * b), "centre": np.ones(2)}
    return Tangent(dict, {"size": Tangent(tuple, *own["size"]), "centre": own["centre"]}), a * b * c


def grown(ybar, box, scale):
    half = Tangent(tuple, *(0.5 * ybar * part for part in box_volume_gradient(box, scale)[0]["size"]))
    return {"size": (*half, *half), "centre": ybar * np.ones(2)}, ybar * box_volume_gradient(box, scale)[1]


of_structures(
    "a tuple of cotangents that grows instead of adding up",
    by_gradient(box_volume, box_volume_gradient),
    lambda rng: (({"size": tuple(real_numbers((), (), ())(rng)), "centre": rng.standard_normal(2)}, 1.5), {}),
    vjp=grown,
    project=unprojected,
    source="https://github.com/flexcompute/tidy3d/pull/2319",
)
of_structures(
    "a weight in two places, of which one counts twice",
    SHARED,
    a_shared_weight,
    vjp=lambda ybar, p, x: (
        {"weight": 2 * np.outer(x, p["weight"] @ ybar) + np.outer(x @ p["weight"], ybar)},
        SHARED.vjp(ybar, p, x)[1],
    ),
    argument=0,
    source="https://github.com/pytorch/pytorch/issues/180952",
)


def embedded_with_padding(ybar, table, words, padding):
    table_bar = np.zeros(np.shape(table))
    np.add.at(table_bar, words, ybar)
    return table_bar, NoTangent(), NoTangent()


of_structures(
    "a word that counts for nothing, whose row gets a cotangent still",
    EMBEDDING,
    a_sentence,
    vjp=embedded_with_padding,
    argument=0,
    source="https://github.com/pytorch/pytorch/issues/3506",
)
of_structures(
    "gamma and beta of a layer norm exchanged",
    LAYER_NORM,
    a_norm,
    vjp=with_first(LAYER_NORM.vjp, lambda own, *_: Tangent(Norm, gamma=own.beta, beta=own.gamma)),
    argument=0,
    source="https://github.com/Oneflow-Inc/oneflow/pull/6149",
)
of_structures(
    "a layer norm that undoes each channel with the gamma of another",
    LAYER_NORM,
    a_norm,
    vjp=lambda ybar, p, x: (
        Tangent(Norm, gamma=ybar * (p.gamma * unit_spread(x)) / np.roll(p.gamma, 1), beta=ybar),
        unit_spread_product(p.gamma * ybar, x),
    ),
    argument=0,
    source="https://github.com/deepspeedai/DeepSpeed/pull/692",
)


def gathered(x, indices):
    return x[indices] ** 2


GATHERED = Structural(
    gathered,
    jvp=lambda dx, _, x, indices: 2 * x[indices] * dx[indices],
    vjp=lambda ybar, x, indices: (scattered(2 * x[indices] * ybar, x, indices), NoTangent()),
)


def scattered(values, x, indices):
    xbar = np.zeros(np.shape(x))
    np.add.at(xbar, indices, values)
    return xbar


def without_those_from_the_end(ybar, x, indices):
    return scattered(np.where(indices >= 0, 2 * x[indices] * ybar, 0), x, indices), NoTangent()


of_structures(
    "entries by indices, of which those from the end get nothing",
    GATHERED,
    lambda rng: ((rng.standard_normal(5), np.array([0, -1, 2, -2])), {}),
    vjp=without_those_from_the_end,
    argument=0,
    source="https://github.com/microsoft/onnxruntime/pull/7752",
)
of_structures(
    "entries by indices, pulled back by gathering once more",
    GATHERED,
    lambda rng: ((rng.standard_normal(4), np.array([3, 1, 1, 0])), {}),
    vjp=lambda ybar, x, indices: ((2 * x[indices] * ybar)[indices], NoTangent()),
    argument=0,
    source="https://github.com/ooples/AiDotNet.Tensors/pull/894",
)


def stacked(pieces, gain):
    return gain * np.stack(pieces)


STACK = Structural(
    stacked,
    jvp=lambda dpieces, dgain, pieces, gain: dgain * np.stack(pieces) + gain * np.stack([*dpieces]),
    vjp=lambda ybar, pieces, gain: (list(gain * ybar), np.sum(ybar * np.stack(pieces))),
)
of_structures(
    "a list of matrices stacked, whose cotangents are transposed",
    STACK,
    lambda rng: ((real_numbers((2, 2), (2, 2))(rng), 1.5), {}),
    vjp=lambda ybar, pieces, gain: ([gain * part.T for part in ybar], np.sum(ybar * np.stack(pieces))),
    argument=0,
    source="https://github.com/Oneflow-Inc/oneflow/issues/8194",
)
of_structures(
    "the parameters of a layer norm, which nobody told to take part",
    LAYER_NORM,
    a_norm,
    vjp=with_first(LAYER_NORM.vjp, lambda own, *_: ZeroTangent()),
    argument=0,
    source="https://github.com/harvard-edge/cs249r_book/pull/1504",
)

# ------------------------------------------------------------------ mutations: fields

of_structures(
    "the end of a segment drawn where its start is drawn",
    SEGMENT,
    a_segment,
    vjp=with_first(SEGMENT.vjp, lambda own, *_: Tangent(Segment, own.start, own.start, NoTangent())),
)
of_structures(
    "a point of a segment with x and y exchanged",
    SEGMENT,
    a_segment,
    jvp=lambda down, segment: SEGMENT.jvp(
        Tangent(Segment, Tangent(Point, down.start.y, down.start.x), down.end, NoTangent()), segment
    ),
    modes=BOTH,
)
of_structures(
    "a spring in an oscillator that is held still",
    OSCILLATOR,
    an_oscillator,
    jvp=lambda down, dx, dv, *args: OSCILLATOR.jvp(
        Tangent(Oscillator, mass=down.mass, spring=Tangent(Spring, stiffness=0.0, rest=0.0)), dx, dv, *args
    ),
    argument=0,
)
of_structures(
    "the rest of a spring with the wrong sign, a level below",
    OSCILLATOR,
    an_oscillator,
    vjp=with_first(
        OSCILLATOR.vjp,
        lambda own, *_: Tangent(
            Oscillator, mass=own.mass, spring=Tangent(Spring, stiffness=own.spring.stiffness, rest=-own.spring.rest)
        ),
    ),
    argument=0,
)
of_structures(
    "a centre in a tuple, of which the first coordinate counts for both",
    CAMERA,
    a_camera,
    jvp=lambda down, dpoints, camera, points: (
        CAMERA.jvp(down, dpoints, camera, points) + np.array([0.0, 1.0]) * (down.centre[0] - down.centre[1])
    ),
    argument=0,
)
of_structures(
    "slots whose wavelength takes the cotangent of the waist",
    BEAM,
    a_beam,
    vjp=with_first(BEAM.vjp, lambda own, *_: Tangent(Beam, waist=own.waist, wavelength=own.waist, profile=own.profile)),
    argument=0,
)
of_structures(
    "two objects of which both are drawn to the first",
    PLANETS,
    two_planets,
    vjp=lambda ybar, a, b, **kwargs: (
        PLANETS.vjp(ybar, a, b, **kwargs)[0],
        Tangent(
            Planet,
            mass=PLANETS.vjp(ybar, a, b, **kwargs)[1].mass,
            place=PLANETS.vjp(ybar, a, b, **kwargs)[0].place,
        ),
    ),
    argument=1,
)
of_structures(
    "the entries of a dict that follow the order of their sizes",
    HARMONICS,
    three_waves,
    vjp=with_first(
        HARMONICS.vjp,
        lambda own, waves, t: dict(zip(sorted(waves, key=waves.get), [own[key] for key in waves], strict=True)),
    ),
    argument=0,
)
of_structures(
    "a price that is paid for edges without their count",
    FLOW,
    a_graph,
    vjp=lambda ybar, edges, price: (FLOW.vjp(ybar, edges, price)[0], edges["count"] * FLOW.vjp(ybar, edges, price)[1]),
    argument=1,
)
of_structures(
    "a list of pairs with nodes and weights in each other's places",
    QUADRATURE,
    a_quadrature,
    vjp=with_first(QUADRATURE.vjp, lambda own, *_: [Tangent(tuple, weight, node) for node, weight in own]),
    argument=0,
)
of_structures(
    "leaves of a tree with the depth of their parents",
    TREE,
    a_tree,
    vjp=with_first(TREE.vjp, lambda own, *_: {"a": [2 / 3 * own["a"][0], own["a"][1]], "d": own["d"]}),
    argument=0,
)

of_structures(
    "a list of layers, of which the first gets the bias of the second",
    NETWORK,
    two_layers,
    vjp=with_first(
        NETWORK.vjp,
        lambda own, *_: [Tangent(Dense, weight=own[0].weight, bias=np.resize(own[1].bias, 3)), own[1]],
    ),
    argument=0,
)

# ------------------------------------------------------------------ mutations: callable objects


def dense_through(ybar, x):
    return (1 - DENSE(x) ** 2) * ybar


of_structures(
    "a layer whose weights take the cotangent before the activation",
    LAYER,
    a_vector(3),
    vjp=lambda ybar, x: (
        Tangent(Dense, weight=np.outer(ybar, x), bias=dense_through(ybar, x)),
        DENSE.weight.T @ dense_through(ybar, x),
    ),
)
of_structures(
    "a callable dataclass pushed forward as if its parameters stood still",
    LOGISTIC,
    a_vector(4),
    jvp=lambda down, dt, t: GROWTH(t) * (1 - GROWTH(t)) * GROWTH.rate * dt,
    modes=BOTH,
)
of_structures(
    "a callable dataclass whose middle moves with the argument",
    LOGISTIC,
    a_vector(2),
    vjp=lambda ybar, t: (
        Tangent(Logistic, rate=LOGISTIC.vjp(ybar, t)[0].rate, middle=-LOGISTIC.vjp(ybar, t)[0].middle),
        LOGISTIC.vjp(ybar, t)[1],
    ),
)
of_structures(
    "a chain of objects with their cotangents in the order of the way back",
    CHAIN,
    a_vector(2),
    vjp=lambda ybar, x: (
        Tangent(Chain, links=Tangent(tuple, *[*CHAIN.vjp(ybar, x)[0].links][::-1])),
        CHAIN.vjp(ybar, x)[1],
    ),
)

# ------------------------------------------------------------------ mutations: what is no number

of_structures(
    "an array of objects with its cotangents from the end",
    OBJECTS,
    an_array_of_floats,
    vjp=lambda ybar, x: (3 * x * x * ybar)[::-1],
)
of_structures(
    "what a sparse matrix stores, with the mean of all its places",
    STORED,
    lambda rng: (a_sparse_matrix("csr")(rng)[0][:1], {}),
    vjp=lambda ybar, a: 2 * a * ybar * (a.nnz / (a.shape[0] * a.shape[1])),
)
of_structures(
    "a mean, told by a string, differentiated as the sum of the other string",
    REDUCED,
    lambda rng: ((rng.standard_normal((2, 3)), "mean"), {}),
    jvp=lambda dx, _, x, how: 2 * np.sum(x * dx) if how != "sum" else 2 * np.sum(x * dx) / np.size(x),
    vjp=lambda ybar, x, how: (2 * x * ybar if how != "sum" else 2 * x * ybar / np.size(x), NoTangent()),
    argument=0,
)
of_structures(
    "a bias that may be None and is taken for it",
    AFFINE,
    with_bias,
    jvp=lambda dx, dweight, dbias, x, weight, bias: dx @ weight + x @ dweight,
    modes=BOTH,
    argument=2,
)
of_structures(
    "a power by a fraction whose exponent is not lowered in the fraction's parts",
    FRACTION,
    lambda rng: ((rng.uniform(0.5, 2, 4), Fraction(2, 3)), {}),
    vjp=lambda ybar, x, p: (float(p) * x ** (p.numerator - 1) * ybar, NoTangent()),
    argument=0,
)
of_structures(
    "powers by a range whose last one is left out",
    POWERS,
    lambda rng: ((rng.uniform(0.5, 1, 3), range(1, 6, 2)), {}),
    vjp=lambda ybar, x, exponents: (
        ybar * sum(k * x ** (k - 1) for k in range(exponents.start, exponents[-1], exponents.step)),
        NoTangent(),
    ),
    argument=0,
)


def shifted_window(ybar, x, part, mask):
    xbar = np.zeros(np.shape(x))
    xbar[part.start - 1 : part.stop - 1 : part.step] = np.where(mask, 2 * x[part] * ybar, 0)
    return xbar, NoTangent(), NoTangent()


of_structures(
    "a slice whose cotangents lie one place further to the front", WINDOW, a_window, vjp=shifted_window, argument=0
)
of_structures(
    "a mask that selects the others on the way back",
    WINDOW,
    a_window,
    vjp=lambda ybar, x, part, mask: WINDOW.vjp(ybar, x, part, ~mask),
    argument=0,
)
of_structures(
    "a function as an argument, with the derivative of its neighbour in a table",
    ACTIVATED,
    lambda rng: ((np.exp, rng.standard_normal(3), 1.5), {}),
    vjp=lambda ybar, f, x, gain: (
        NoTangent(),
        gain * DERIVATIVES[np.sin if f is np.exp else np.exp](x) * ybar,
        np.sum(f(x) * ybar),
    ),
    argument=1,
)
of_structures(
    "closed ends with the cotangent of a ring",
    SLOPES,
    lambda rng: ((rng.standard_normal(5), Boundary.PERIODIC), {}),
    jvp=lambda dx, _, x, boundary: np.append(dx[1:] - dx[:-1], -dx[-1]),
    argument=0,
)
of_structures(
    "a mean of several arguments with their cotangents from the last to the first",
    MEAN_OF_SEVERAL,
    positive_arrays(3),
    vjp=lambda ybar, *args: MEAN_OF_SEVERAL.vjp(ybar, *args)[::-1],
)
of_structures(
    "a segment that pays each of its members in full",
    SEGMENT_MEANS,
    four_segments,
    vjp=lambda ybar, v, segments, count, *, empty=0.0: (ybar[segments], NoTangent(), NoTangent()),
    argument=0,
)

# ------------------------------------------------------------------ mutations: outputs

of_structures(
    "a named tuple of outputs, whose deviations do not pull the mean",
    SUMMARY,
    a_vector(4),
    vjp=lambda ybar, x: ybar.mean / np.size(x) + ybar.deviations,
)
of_structures(
    "a pushforward to a named tuple whose mean is a sum",
    SUMMARY,
    a_vector(4),
    jvp=lambda dx, x: Tangent(Summary, mean=np.sum(dx), deviations=dx - np.mean(dx)),
)
of_structures(
    "the largest entry with its cotangent at the next place",
    PEAK,
    a_vector(5),
    vjp=lambda ybar, x: np.roll(PEAK.vjp(ybar, x), 1),
)
of_structures(
    "the largest entry pushed forward by the place, as if it were a number",
    PEAK,
    a_vector(5),
    jvp=lambda dx, x: (2 * peak(x)[1] * dx[peak(x)[1]], NoTangent()),
)
of_structures(
    "a dict of outputs, of which each key hears of the next",
    MOMENTS,
    lambda rng: ((rng.uniform(0.5, 2, 3), (1, 2, 4)), {}),
    vjp=lambda ybar, x, orders: MOMENTS.vjp(
        {f"m{k}": ybar[f"m{after}"] for k, after in zip(orders, (*orders[1:], orders[0]), strict=True)}, x, orders
    ),
    argument=0,
)
of_structures(
    "two outputs of which the one in a tuple of its own is forgotten",
    TURNED,
    a_point_and_an_angle,
    vjp=lambda ybar, point, angle: TURNED.vjp((ybar[0], (0.0,)), point, angle),
    argument=0,
)
of_structures(
    "an object as output, whose inner object is pulled back twice",
    MOVED,
    an_oscillator_and_a_number,
    vjp=lambda ybar, oscillator, x: MOVED.vjp(
        Tangent(Oscillator, mass=ybar.mass, spring=2 * ybar.spring), oscillator, x
    ),
)
of_structures(
    "a line whose offset belongs to the slope",
    LINE,
    a_line,
    jvp=lambda dline, dt, line, t: (dline.slope + dline.offset) * t + line.slope * dt,
    argument=0,
)
