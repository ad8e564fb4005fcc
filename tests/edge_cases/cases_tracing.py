"""Tracing: in-place updates, views, plain NumPy functions, what wants an ordinary number."""

import numpy as np
from edge_case import case

BECAME_AN_ARRAY = (TypeError, r"np\.array\(\[\.\.\.\], like=x\)")
NAMED = "NumPy gives nobody the chance to see it: an error says to write `like=x`"
C = np.array([2.0, 3.0])
MASK = np.array([True, False])


def assigned(x):
    y = x * 1
    y[0] = x[1] * 5
    return np.sum(y)


def updated(x):
    y = 2 * x
    y += x
    return np.sum(y * y)


def through_a_view(x):
    y = x * 1
    v = y[1:]
    v *= 2
    return np.sum(y)


def argument_updated(x):
    x += 1.0
    return np.sum(x * x)


def branching(x):
    return x**2 if x > 0 else -x


def largest_by_python(a, b):
    return max(a, b)


TITLE = "Tracing"
CASES = [
    case("y=x*1; y[0]=x[1]*5; sum(y)", assigned, [1.0, 2.0, 3.0], gradient=[0, 6, 1]),
    case("x+=1 in place on derived y", updated, [1.0, 2.0, 3.0], gradient=[18, 36, 54]),
    case(
        "view: v=y[1:]; v*=2; sum(y)",
        through_a_view,
        [1.0, 2.0, 3.0],
        gradient=[1, 2, 2],
        why="the view writes to y: NumPy's own value is 11",
    ),
    case("np.array([x,x**2])", lambda x: np.sum(np.array([x, x**2], like=x)), 3.0, gradient=7, why="`like=x`"),
    case(
        "PLAIN numpy.array([x,x**2])",
        lambda x: np.sum(np.array([x, x**2])),
        3.0,
        raises=BECAME_AN_ARRAY,
        also=(7,),
        why=NAMED,
    ),
    case("PLAIN numpy.sin(x)", np.sin, 3.0, gradient=np.cos(3.0)),
    case("PLAIN numpy.sum(x)", np.sum, [1.0, 2.0], gradient=[1, 1]),
    case(
        "PLAIN numpy.concatenate([x,x])",
        lambda x: np.concatenate([x, x]),
        [1.0, 2.0],
        gradient=[2, 2],
        tangent=[1, 1, 1, 1],
    ),
    case("PLAIN numpy.linalg.norm(x)", np.linalg.norm, [3.0, 4.0], gradient=[0.6, 0.8]),
    case("PLAIN numpy.where(c,x,0)", lambda x: np.where(MASK, x, 0), [3.0, 4.0], gradient=[1, 0], tangent=[1, 0]),
    case("PLAIN ndarray * x", lambda x: C * x, [3.0, 4.0], gradient=[2, 3], tangent=[2, 3]),
    case(
        "PLAIN numpy array @ x",
        lambda x: np.array([[2.0, 3.0], [1.0, 1.0]]) @ x,
        [3.0, 4.0],
        gradient=[3, 4],
        tangent=[5, 2],
    ),
    case("PLAIN numpy.add.reduce(x)", np.add.reduce, [3.0, 4.0], gradient=[1, 1]),
    case("np.add.reduce", lambda x: np.add.reduce(x, axis=0), [3.0, 4.0], gradient=[1, 1]),
    case(
        "float(x)*x",
        lambda x: float(x) * x,
        3.0,
        raises=(TypeError, r"write .*x for float\(x\)"),
        why="the derivative of x² is 6; `float` would lose half of it, and an error says so",
    ),
    case("int(x)*x", lambda x: int(x) * x, 3.0, gradient=3, why="`int` is a step"),
    case("if x>0: x**2", branching, 3.0, gradient=6),
    case("x.astype(int) sum", lambda x: np.sum(x.astype(int)), [1.0, 2.0], gradient=[0, 0]),
    case("return constant", lambda x: 3.0, 1.0, gradient=0),
    case("return x itself", lambda x: x, 1.0, gradient=1),
    case("bool output x>0", lambda x: x > 0, 1.0, gradient=0),
    case("int index from argmax: x[argmax(x)]", lambda x: x[np.argmax(x)], [1.0, 3.0, 2.0], gradient=[0, 1, 0]),
    case("sum(x==x.max())*x0", lambda x: np.sum(x == x.max()) * x[0], [1.0, 3.0, 2.0], gradient=[1, 0, 0]),
    case("x.real (attribute)", lambda x: np.sum(x.real), [1.0, 2.0], gradient=[1, 1]),
    case("x.T.copy().sum()", lambda x: x.T.copy().sum(), np.ones((2, 2)), gradient=np.ones((2, 2))),
    case(
        "np.asarray(x)",
        lambda x: np.sum(np.asarray(x)),
        [1.0, 2.0],
        raises=BECAME_AN_ARRAY,
        also=([1, 1],),
        why=NAMED,
    ),
    case("iterate: sum(xi**2 for xi in x)", lambda x: sum(xi**2 for xi in x), [1.0, 2.0], gradient=[2, 4]),
    case("max(x0,x1) python builtin", largest_by_python, 1.0, 2.0, gradient=(0, 1)),
    case(
        "x+=1.0 on the input itself inside f (does caller's x change?)",
        argument_updated,
        [1.0, 2.0, 3.0],
        gradient=[4, 6, 8],
        why="what the caller passed in stays as it was",
    ),
]
