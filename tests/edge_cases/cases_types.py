"""Types of the answers, keywords, containers and views."""

import numpy as np
from edge_case import Case, case

MASK = np.array([True, False, True])
X = [1.0, 2.0, 3.0]
X32 = np.array(X, np.float32)
NO_INTEGER = (TypeError, "integers and booleans have no derivative")
IS_INTEGER = "an integer has no tangent space, and an error names the argument"
PRECISION = "float32 in, float32 out"
SCALAR = "the loss of `grad` is a number"


def of_float32(name, f, gradient):
    return case(f"float32: {name}", f, X32, gradient=gradient, dtype="float32", rtol=5e-7, why=PRECISION)


def square(x):
    return x**2


ONES = [1, 1, 1]
ROOTS = 0.5 / np.sqrt(X)
MEAN_SQUARE = np.sqrt(2 / 3)

TITLE = "Types, keywords, containers, views"
CASES = [
    case("return type: grad(x**2) at python float 2.0", square, 2.0, gradient=4, dtype="float64", with_grad=True),
    case(
        "return type: grad(x**2) at np.float64(2)", square, np.float64(2), gradient=4, dtype="float64", with_grad=True
    ),
    case("return type: grad(x**2) at 0-d array", square, np.asarray(2.0), gradient=4, dtype="float64", with_grad=True),
    case(
        "return type: grad(x**2) at np.float32(2)", square, np.float32(2), gradient=4, dtype="float32", with_grad=True
    ),
    case(
        "return type: grad(sin(x)) at python float",
        np.sin,
        2.0,
        gradient=np.cos(2.0),
        dtype="float64",
        with_grad=True,
    ),
    case(
        "return type: grad(x*y0d) python float * 0-d",
        lambda x: x * np.asarray(3.0),
        2.0,
        gradient=3,
        dtype="float64",
        with_grad=True,
    ),
    case("int input: grad(x**2) at python int 3", square, 3, raises=NO_INTEGER, with_grad=True, why=IS_INTEGER),
    case(
        "int input: grad(x*2.0) at python int 3",
        lambda x: x * 2.0,
        3,
        raises=NO_INTEGER,
        with_grad=True,
        why=IS_INTEGER,
    ),
    case(
        "int input: grad(sum(x**2)) int64 array",
        lambda x: np.sum(x**2),
        np.array([1, 2, 3]),
        raises=NO_INTEGER,
        with_grad=True,
        why=IS_INTEGER,
    ),
    case(
        "int input: grad(sum(x*1.5)) int64 array",
        lambda x: np.sum(x * 1.5),
        np.array([1, 2, 3]),
        raises=NO_INTEGER,
        with_grad=True,
        why=IS_INTEGER,
    ),
    case(
        "bool input: grad(sum(x*1.5)) bool array",
        lambda x: np.sum(x * 1.5),
        np.array([True, False]),
        raises=NO_INTEGER,
        with_grad=True,
        why=IS_INTEGER,
    ),
    case(
        "float16: sum(x*2.0)", lambda x: np.sum(x * 2.0), np.array(X, np.float16), gradient=[2, 2, 2], dtype="float16"
    ),
    case(
        "longdouble: sum(x*2.0)",
        lambda x: np.sum(x * 2.0),
        np.array(X, np.longdouble),
        gradient=[2, 2, 2],
        dtype=np.dtype(np.longdouble).name,
    ),
    of_float32("sum(x*2.0)", lambda x: np.sum(x * 2.0), [2, 2, 2]),
    of_float32("sum(x*np.float64(2))", lambda x: np.sum(x * np.float64(2)), [2, 2, 2]),
    of_float32("sum(x*float64 array)", lambda x: np.sum(x * np.array(X)), X),
    of_float32("mean(x)", np.mean, [1 / 3, 1 / 3, 1 / 3]),
    of_float32("var(x)", np.var, [-2 / 3, 0, 2 / 3]),
    of_float32("x@float64", lambda x: x @ np.array(X), X),
    of_float32("sum(x.astype(float64))", lambda x: np.sum(x.astype(float)), ONES),
    of_float32("sum(sqrt(x))", lambda x: np.sum(np.sqrt(x)), ROOTS),
    of_float32("sum(x**2)", lambda x: np.sum(x**2), [2, 4, 6]),
    of_float32("sum(where(x>1,x,0.))", lambda x: np.sum(np.where(x > 1, x, 0.0)), [0, 1, 1]),
    of_float32("sum(x[idx])", lambda x: np.sum(x[np.array([0, 0, 2])]), [2, 0, 1]),
    of_float32("max(x)", np.max, [0, 0, 1]),
    of_float32("prod(x)", np.prod, [6, 3, 2]),
    of_float32("std(x)", np.std, np.array([-1, 0, 1]) / 3 / MEAN_SQUARE),
    of_float32("sum(clip(x,0,2))", lambda x: np.sum(np.clip(x, 0, 2)), [1, 0, 0]),
    of_float32("norm(x)", np.linalg.norm, np.array(X) / np.sqrt(14)),
    of_float32("sum(concatenate([x, c64]))", lambda x: np.sum(np.concatenate([x, np.array(X)])), ONES),
    of_float32("sum(fft(x).real)", lambda x: np.sum(np.fft.fft(x).real), [3, 0, 0]),
    of_float32("sum(x/3)", lambda x: np.sum(x / 3), [1 / 3, 1 / 3, 1 / 3]),
    of_float32("repeat+sum", lambda x: np.sum(np.repeat(x, 2)), [2, 2, 2]),
    of_float32('sum(einsum("i,i->i",x,x))', lambda x: np.sum(np.einsum("i,i->i", x, x)), [2, 4, 6]),
    case(
        "complex: real x: sum(real(x*(1+2j))) grad dtype",
        lambda x: np.sum(np.real(x * (1 + 2j))),
        X,
        gradient=ONES,
        dtype="float64",
    ),
    case(
        "complex: complex64 x: sum(abs(x)) grad dtype",
        lambda x: np.sum(np.abs(x)),
        np.array([3 + 4j, 1j], np.complex64),
        gradient=[0.6 + 0.8j, 1j],
        tangent=0.6,
        dtype="complex64",
        rtol=5e-7,
    ),
    case(
        "complex: real x, f returns complex (grad)",
        lambda x: np.sum(x * (1 + 2j)),
        X,
        raises=(TypeError, "returned a complex number"),
        with_grad=True,
        why=SCALAR,
    ),
    case(
        "complex: complex x, f returns complex (grad)",
        np.sum,
        [1 + 2j, 3j],
        raises=(TypeError, "returned a complex number"),
        with_grad=True,
        why=SCALAR,
    ),
    case("reduction kwargs: sum(x,where=mask)", lambda x: np.sum(x, where=MASK), X, gradient=[1, 0, 1]),
    case("reduction kwargs: mean(x,where=mask)", lambda x: np.mean(x, where=MASK), X, gradient=[0.5, 0, 0.5]),
    case("reduction kwargs: prod(x,where=mask)", lambda x: np.prod(x, where=MASK), X, gradient=[3, 0, 1]),
    case(
        "reduction kwargs: max(x,where=mask,initial=-9)",
        lambda x: np.max(x, where=np.array([True, True, False]), initial=-9),
        X,
        gradient=[0, 1, 0],
    ),
    case(
        "reduction kwargs: max(x,initial=10) (initial wins)",
        lambda x: np.max(x, initial=10),
        X,
        gradient=[0, 0, 0],
    ),
    case("reduction kwargs: prod(x,initial=2)", lambda x: np.prod(x, initial=2), X, gradient=[12, 6, 4]),
    case("reduction kwargs: std(x,ddof=1)", lambda x: np.std(x, ddof=1), X, gradient=[-0.5, 0, 0.5]),
    case(
        "reduction kwargs: var(x,mean=precomputed)",
        lambda x: np.var(x, mean=np.mean(x, keepdims=True)),
        X,
        gradient=[-2 / 3, 0, 2 / 3],
    ),
    case(
        "ufunc kwargs: sum(add(x,1,where=mask,out=zeros))",
        lambda x: np.sum(np.add(x, 1, where=MASK, out=np.zeros(3, like=x))),
        X,
        gradient=[1, 0, 1],
        why="with `zeros(3, like=x)`; an error says so where the zeros are plain",
    ),
    case(
        "ufunc kwargs: exp(x,dtype=float32)",
        lambda x: np.exp(x, dtype=np.float32),
        X,
        gradient=np.exp(X),
        tangent=np.exp(X),
        rtol=5e-7,
    ),
    case("kwarg tracers: sum(a=x)", lambda x: np.sum(a=x), X, gradient=ONES),
    case("kwarg tracers: dot(a=x,b=c)", lambda x: np.dot(a=x, b=np.array(X)), X, gradient=X),
    case(
        "kwarg tracers: clip(c,a_min=x[0]) bound is tracer",
        lambda x: np.sum(np.clip(np.array([0.0, 5.0]), a_min=x[0], a_max=None)),
        X,
        gradient=[1, 0, 0],
    ),
    case(
        "kwarg tracers: where(cond,x=x,y=0)",
        lambda x: np.where(MASK, x=x, y=0),  # type: ignore[call-overload]
        X,
        raises=(TypeError, "where"),
        also=([1, 0, 1],),
        why="NumPy's own error: `where` takes no keywords",
    ),
    case(
        "kwarg tracers: full((2,),fill_value=x)",
        lambda x: np.sum(np.full((2,), fill_value=x[0], like=x)),
        X,
        gradient=[2, 0, 0],
        why="`like=x`, and an error says so where it is missing",
    ),
    case(
        "kwarg tracers: linspace(x0,stop=x1,num=3)",
        lambda x: np.sum(np.linspace(x[0], stop=x[1], num=3)),
        X,
        gradient=[1.5, 1.5, 0],
    ),
    Case("containers: grad wrt list [2.,3.]: x[0]*x[1]", lambda x: x[0] * x[1], ([2.0, 3.0],), gradient=[3, 2]),
    Case("containers: grad wrt dict", lambda x: x["a"] ** 2, ({"a": 1.0},), gradient={"a": 2}),
    case(
        "containers: np.stack of list comp of tracers",
        lambda x: np.sum(np.stack([xi * xi for xi in x])),
        X,
        gradient=[2, 4, 6],
    ),
    case(
        "containers: nested np.array([[x0,x1],[x1,x2]])",
        lambda x: np.sum(np.array([[x[0], x[1]], [x[1], x[2]]], like=x)),
        X,
        gradient=[1, 2, 1],
        why="`like=x`, and an error says so where it is missing",
    ),
    case("containers: sum of builtin sum([x0,x1])", lambda x: sum([x[0], x[1]]), X, gradient=[1, 1, 0]),
    case(
        "outputs: non-scalar output to grad",
        lambda x: x * 2,
        X,
        raises=(TypeError, "a gradient is that of a single number"),
        with_grad=True,
        why=SCALAR,
    ),
    case(
        "outputs: 1-element array output to grad",
        lambda x: np.sum(x * x, keepdims=True),
        X,
        raises=(TypeError, "a gradient is that of a single number"),
        also=([2, 4, 6], [2, 2, 2]),
        with_grad=True,
        why=SCALAR,
    ),
    case(
        "views: x[0]*x.T etc read-only? y=x.T; sum(y*y)",
        lambda x: np.sum(x.T * x.T),
        X,
        gradient=[2, 4, 6],
    ),
    case(
        "views: reshape(-1) then [1::2]",
        lambda x: np.sum(x.reshape(-1)[1::2]),
        np.ones((2, 3)),
        gradient=[[0, 1, 0], [1, 0, 1]],
    ),
    case("views: x[::-1][0]", lambda x: x[::-1][0], X, gradient=[0, 0, 1]),
    case("views: x[...,None]+newaxis", lambda x: np.sum(x[..., None] + np.zeros(2)), X, gradient=[2, 2, 2]),
    case("views: x[np.ix_([0,2])]", lambda x: np.sum(x[np.ix_([0, 2])]), X, gradient=[1, 0, 1]),
    case("views: x[-1], x[[-1,0]]", lambda x: x[-1] + np.sum(x[[-1, 0]]), X, gradient=[1, 0, 2]),
    case("views: x[(1,)] tuple", lambda x: np.sum(x[(1,)]), X, gradient=[0, 1, 0]),
    case("views: x[True] (bool scalar idx)", lambda x: np.sum(x[True]), X, gradient=ONES),
]
