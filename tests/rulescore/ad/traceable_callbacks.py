"""Programs that hand functions and objects to SciPy and NumPy, which call them; for traceable."""

from __future__ import annotations

import math

import numpy as np
import scipy.integrate
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg
import scipy.stats

from tests.rulescore.ad.traceable_patterns import of_array, of_numbers


def filled(*parts):
    values = np.zeros(len(parts))
    for i, part in enumerate(parts):
        values[i] = part
    return values


class Decay:
    """An object that is called."""

    def __init__(self, rate):
        self.rate = rate

    def __call__(self, t, y):
        slopes = np.empty(2)
        slopes[0] = -float(self.rate) * y[0]
        slopes[1] = math.sin(t) * y[0]
        return slopes

    def jacobian(self, t, y):
        matrix = np.zeros((2, 2))
        matrix[0, 0], matrix[1, 0] = -self.rate, math.sin(t)
        return matrix


@of_numbers()
def an_equation_whose_slopes_fill_an_array(a, b, c):
    decay = Decay(a)
    found = scipy.integrate.solve_ivp(
        lambda t, y: decay(t, y), (0, 1), [b, c], t_eval=[0.5, 1.0], rtol=1e-10, atol=1e-12
    )
    return found.y


@of_numbers()
def an_equation_of_an_object_with_a_jacobian(a, b, c):
    decay = Decay(a)
    options = {"method": "Radau", "jac": decay.jacobian, "rtol": 1e-10, "atol": 1e-12}
    return scipy.integrate.solve_ivp(decay, (0, 1), [b, c], t_eval=[0.5, 1.0], **options).y


@of_numbers()
def an_older_solver_of_an_object(a, b, c):
    return scipy.integrate.odeint(Decay(a), [b, c], [0.0, 0.5, 1.0], tfirst=True, rtol=1e-11, atol=1e-12)


class Cubic:
    def __init__(self, a):
        self.a = a

    def __call__(self, x, b):
        x = np.asarray(x)
        return math.sqrt(self.a) * x**3 - b


@of_numbers()
def objects_that_are_called_by_scipy(a, b, c):
    root = scipy.optimize.brentq(Cubic(a), 0.0, 5.0, args=(b,), xtol=1e-14)
    area = scipy.integrate.quad(Cubic(a), 0.0, c, args=(b,))[0]
    return root * area + sum(map(Cubic(b), (a, b), (b, c)))


@of_numbers()
def equations_that_fill_an_array(a, b, c):
    def residuals(z):
        return filled(z[0] ** 2 - a * b, z[1] - c * z[0])

    def jacobian(z):
        matrix = np.zeros((2, 2))
        matrix[0, 0], matrix[1, 0], matrix[1, 1] = 2 * z[0], -c, 1.0
        return matrix

    found = scipy.optimize.fsolve(residuals, [1.0, 1.0], xtol=1e-14)
    return found * scipy.optimize.root(residuals, [1.0, 1.0], jac=jacobian, tol=1e-13).x


@of_array
def rows_that_are_filled(x):
    def of_row(row):
        values = np.zeros(2)
        values[0], values[1] = row[0] * row[1], math.exp(row[2])
        return values

    return np.apply_along_axis(of_row, 1, np.outer(x, x))


@of_array
def integrals_with_an_array_around_them(x):
    weights = np.zeros(3)
    weights[1] = 2.0
    one = scipy.integrate.quad(lambda t: np.sum(weights * x) * t, 0.0, 1.0)[0]
    return one * scipy.integrate.quad_vec(lambda t: filled(x[0] * t, math.sin(x[1] * t)), 0.0, x[2])[0]


@of_numbers()
def vectorised_functions_that_return_several(a, b, c):
    pair = np.vectorize(lambda u, v: (u * v, math.exp(u)), otypes=[np.ndarray])
    arrays = np.vectorize(lambda u: np.array([u, u**2]), otypes=[object])
    product, exponential = np.vectorize(lambda u, v: (u * v, math.exp(u)), otypes=[float, float])([a, b], c)
    return np.array(pair(a, b).tolist()) @ product * np.sum(np.stack(arrays([b, c]))) * exponential[0]


@of_array
def pieces_of_functions_and_numbers(x):
    d = np.array([0.5, 1.0, 3.0])
    slope, level = x[0], x[2]
    return np.piecewise(d, [d <= x[1], d > x[1]], [lambda v: slope * v**2 + level, slope + level])


@of_array
def iterators_of_numpy(x):
    total = 0.0
    for v in np.nditer(np.outer(x, x)):
        total = total + v**2
    for u, v in np.nditer([x, np.ones((2, 1))]):
        total = total + math.exp(u) * v
    return total


@of_array
def sparse_matrices_of_constants(x):
    n = 5
    rows = np.repeat([[1.0], [-2.0], [1.0]], n, axis=1)
    second = scipy.sparse.dia_matrix((rows, np.arange(3)), shape=(n - 2, n))
    system = scipy.sparse.eye(n, n) + 3.0 * second.T.dot(second)
    return scipy.sparse.linalg.spsolve(system.tocsc(), np.concatenate([x, x[:2]]))


@of_array
def functions_of_any_array_library(x):
    y = x**2 + np.sin(x[::-1])
    tests = scipy.stats.ttest_ind(x, y).statistic + scipy.stats.f_oneway(x, y).statistic
    return scipy.stats.pearsonr(x, y).statistic + tests + scipy.stats.bartlett(x, y).statistic


@of_numbers()
def frozen_distributions_of_vectors(a, b, c):
    normal = scipy.stats.multivariate_normal(mean=[a, b], cov=c * np.eye(2))
    density = normal.pdf([0.1, 0.2]) * normal.logpdf([[0.3, 0.1], [1.0, 0.5]]).sum()
    return density + normal.entropy() + scipy.stats.dirichlet([a, b, c]).logpdf([0.2, 0.3, 0.5])
