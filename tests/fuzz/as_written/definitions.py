"""Definitions of a module, each with statements that use it, which begin where ``# then`` stands.

Names in braces are those of `tests.fuzz.as_written.vocabulary`; braces that are meant are doubled.
"""

_TEXT = """def loop{n}(x):
    x = {asarray}
    y = {zeros}
    for i in range(len(x)):
        y[i] = {math}(x[i])
    return {N}.asarray(y)
# then
{v} = loop{n}({a})

# ----
def scan{n}(x):
    x = {asarray}
    y = {zeros}
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + {math}(x[i])
    return {N}.array(y)
# then
{v} = scan{n}({a})

# ----
def emptied{n}(x):
    y = {N}.empty_like(x); y[:] = {math}(x[0])
    z = {N}.empty((2, len(x)), dtype=float); z[...] = x
    z[1] += y
    return z
# then
{v} = emptied{n}({a})

# ----
def sums{n}(x):
    y = {zeros}
    for i, e in enumerate(x):
        y[0] += {math}(e)
        y[-1] -= e * {c}
    return {N}.asarray(y)
# then
{v} = sums{n}({a})

# ----
def either{n}(x):
    if isinstance(x, (list, tuple)):
        x = {N}.array(x)
    elif isinstance(x, (int, float)):
        return {math}(x)
    elif isinstance(x, {N}.ndarray):
        x = {asarray}
    else:
        raise TypeError(type(x))
    return x * 0.5
# then
{v} = either{n}({as})

# ----
def scalar_or_array{n}(x):
    is_scalar = {N}.isscalar(x) or {N}.ndim(x) == 0
    x = {N}.atleast_1d(x)
    y = {zeros}
    y[:] = {N}.sin(x)
    y = {N}.asarray(y)
    return y[0] if is_scalar else y
# then
{v} = scalar_or_array{n}({as})

# ----
def table{n}(x):
    x = {asarray}
    y = {N}.zeros((3, len(x)))
    y[0] = x
    for k in range(1, 3):
        y[k, :-1] = y[k - 1, 1:] - y[k - 1, :-1]
        y[k][-1] = {c}
    return y
# then
{v} = table{n}({a})

# ----
def halves{n}(x):
    left, right = x[:2].copy(), x[2:]
    left += right.sum() * {c}
    return {N}.concatenate((left, right)), left
# then
{v}, {w} = halves{n}({a})

# ----
def clean{n}(x):
    x = {asarray}
    y = {N}.where(x > 0, x, 0.0)
    y[x < {c}] = {c}
    return y
# then
{v} = clean{n}({a})

# ----
def polynomial{n}(x, coefficients=(1.0, -0.5, 0.25)):
    y = 0.0
    for c in reversed(coefficients):
        y = y * {N}.tanh(x) + c
    return y
# then
{v} = polynomial{n}({as}, coefficients=[{s}, {c}, {t}])

# ----
def kept{n}(x, cache={{}}):
    if 'y' not in cache:
        cache['y'] = {N}.zeros(4)
    y = cache['y']
    y[0] += 1.0
    return x * y[0]
# then
{v} = kept{n}({a}) + kept{n}({s})

# ----
def buffers{n}(x):
    y = {zeros}
    views = [y, y[1:], y[::-1]]
    views[1][0] = {math}(x[0])
    views[2][0] = x[1]
    return {N}.asarray(views[0]) + 0.0
# then
{v} = buffers{n}({a})

# ----
def late{n}(x):
    y = {N}.zeros(len(x))
    before = y + 1.0
    z = y
    z[0] = x[0]
    y = y * 2
    y[1] = {c}
    return before + y, z
# then
{v}, {w} = late{n}({a})

# ----
def workspace{n}(x, work=None):
    if work is None:
        work = {N}.empty_like({N}.asarray(x)); work[:] = 0.0
    {N}.multiply(x, 0.5, out=work)
    work[0] = {math}(x[-1])
    return work
# then
{v} = workspace{n}({a})
{w} = workspace{n}({a}, work=np.zeros({a}.shape))

# ----
def ordered{n}(x):
    x = sorted(x, key=lambda e: -e)
    low, *middle, high = x
    return {N}.array([low, sum(middle), high, max(x) - min(x)])
# then
{v} = ordered{n}({a})

# ----
def listed{n}(x):
    values = x.tolist()
    values.append({c})
    values[0] = {math}(values[1])
    return {N}.array(values)
# then
{v} = listed{n}({a})

# ----
def series{n}(x):
    term = total = 1.0
    k = 0
    while True:
        k += 1
        term *= x / k
        total += term
        if abs(term) < 1e-3 or k > 20:
            break
    return {math}(total)
# then
{v} = series{n}({s})

# ----
def newton{n}(c, x=1.0):
    for _ in range(30):
        step = (x * x * x + x - c) / (3 * x ** 2 + 1)
        x = x - step
        if {M}.fabs(step) < 1e-14:
            break
    else:
        raise ValueError('no root')
    return float(x)
# then
{v} = newton{n}({s})

# ----
def guarded{n}(x):
    try:
        y = {M}.log(x)
    except ValueError:
        y = {M}.exp(x)
    finally:
        LOG.append({n})
    return y
# then
{v} = guarded{n}({s}) + guarded{n}(-abs({t}) - 0.1)

# ----
def matched{n}(x):
    match x:
        case int():
            return 1.0
        case float() if x > 0:
            return {M}.log1p(x)
        case [e, *_]:
            return e
        case _:
            return {N}.sum(x) * 0.5
# then
{v} = matched{n}({s}) + matched{n}([{t}])

# ----
def recursive{n}(x, depth=3):
    return x if depth == 0 else {math}(x) + 0.5 * recursive{n}(x * 0.5, depth - 1)
# then
{v} = recursive{n}({s})

# ----
def means{n}(*values, weight=0.5, **more):
    data = [*values, *more.values()]
    return statistics.{statistic}(data) * weight
# then
{v} = means{n}({s}, {t}, *{a}, weight={c}, last={s})

# ----
@functools.lru_cache(maxsize=None)
def cached{n}(k, x=0.5):
    return 1.0 if k < 1 else x * cached{n}(k - 1, x) + {math}(k * 0.1)
# then
{v} = cached{n}(3, {s}) + cached{n}(2)

# ----
def traced_by{n}(g):
    @functools.wraps(g)
    def wrapper(*args, **kwargs):
        LOG.append({n})
        return g(*args, **kwargs) * 0.5
    return wrapper


@traced_by{n}
def decorated{n}(x, *, shift=0.0):
    return {math}(x + shift)
# then
{v} = decorated{n}({s}, shift={t})

# ----
def counter{n}(start):
    total = start
    seen = {N}.zeros(3)
    k = 0

    def add(value):
        nonlocal total, k
        total = total + value
        seen[k % 3] = value
        k += 1
        return total

    return add, seen
# then
{v}_add, {w} = counter{n}({s})
{v} = {v}_add({t}) * {v}_add({c})

# ----
def cumulative{n}(x):
    total = 0.0
    for e in x:
        total += e
        yield {math}(total)
# then
{v} = np.array(list(cumulative{n}({a})))

# ----
def averaging{n}():
    total, k, average = 0.0, 0, 0.0
    while True:
        value = yield average
        total += value
        k += 1
        average = total / k
# then
{v}_g = averaging{n}()
next({v}_g)
{v} = {v}_g.send({s}) + {v}_g.send({t})
{v}_g.close()

# ----
def chained{n}(x):
    yield from ({math}(e) for e in x)
    yield x[0]
# then
{v} = np.fromiter(chained{n}({a}), float)

# ----
def snapshots{n}(x):
    state = {N}.zeros(len(x))
    for i, e in enumerate(x):
        state[i] = e
        yield state
        state[0] *= 0.5
# then
{v} = [y.copy() for y in snapshots{n}({a})][-1]
{w} = list(snapshots{n}({a}))[0]

# ----
@dataclass
class Point{n}:
    x: float
    y: float = 0.5
    path: list = field(default_factory=list)

    def __post_init__(self):
        self.norm = hypot(self.x, self.y)
        self.path.append(self.norm)

    def __add__(self, other):
        return Point{n}(self.x + other.x, self.y + other.y)

    def __rmul__(self, k):
        return Point{n}(k * self.x, k * self.y)

    def __abs__(self):
        return self.norm

    def __float__(self):
        return float(self.x)
# then
{v}_p = Point{n}({s}, {t}) + 0.5 * Point{n}({s})
{v} = abs({v}_p) + {v}_p.x
{w} = float({v}_p)

# ----
class Model{n}:
    def __init__(self, weights):
        self.weights = {N}.asarray(weights)
        self._cache = None

    @functools.cached_property
    def norm(self):
        return {N}.sqrt({N}.sum(self.weights ** 2) + 1.0)

    @classmethod
    def of(cls, *weights):
        return cls({N}.array(weights, dtype=float))

    @staticmethod
    def squash(x):
        return {M}.tanh(x)

    def __call__(self, x):
        if self._cache is None:
            self._cache = {N}.zeros(len(self.weights))
        for i, w in enumerate(self.weights):
            self._cache[i] += w * self.squash(x)
        return self._cache.sum() / self.norm
# then
{v}_m = Model{n}.of({s}, {c}, {t})
{v} = {v}_m({s}) + {v}_m({c})
{w} = {v}_m._cache

# ----
class Grid{n}:
    def __init__(self, k):
        self.values = {N}.zeros((k, 4))
        self.total = 0.0

    def step(self, x):
        self.values[1:] = self.values[:-1]
        self.values[0, 1:3] = x
        self.total += self.values[0].sum()
        row = self.values[-1]
        row[0] = self.total
        return self.values
# then
{v}_g = Grid{n}(3)
for e in {a}:
    {v} = {v}_g.step(e)
{w} = {v}_g.total

# ----
class Pair{n}(NamedTuple):
    left: float
    right: float

    def mixed(self, t):
        return self.left * (1 - t) + self.right * t
# then
{v} = Pair{n}({s}, {t}).mixed({c}) + Pair{n}({s}, right={c})[1]

# ----
class Interval{n}:
    __slots__ = ('low', 'high')

    def __init__(self, low, high):
        self.low, self.high = min(low, high), max(low, high)

    def __contains__(self, x):
        return self.low <= x <= self.high

    def __lt__(self, other):
        return self.low < other.low

    def __and__(self, other):
        return Interval{n}(max(self.low, other.low), min(self.high, other.high))

    def __bool__(self):
        return self.high > self.low
# then
{v}_i = Interval{n}({s}, {t}) & Interval{n}({c}, {s})
{v} = ({v}_i.high if {v}_i else {v}_i.low) + (0.5 if {s} in {v}_i else 0.0)

# ----
@contextmanager
def scaled{n}(x, k):
    saved = x.copy()
    x *= k
    try:
        yield x
    finally:
        x[:] = saved
# then
{v} = np.array({a}) * 1.0
with scaled{n}({v}, {s}) as inside:
    {w} = inside.sum() + {v}[0]

# ----
from scipy import special
# then
{v} = special.{special}({s})

# ----
import scipy.special as sc
# then
{v} = sc.{special}({a})

# ----
from scipy.special import erf as error_function
# then
{v} = np.array([error_function(e) for e in {a}])

# ----
from scipy.stats import norm
# then
{v} = norm.cdf({s}, loc={c}) + norm({t}, 1.5).pdf({c})

# ----
import scipy.linalg
# then
{v} = scipy.linalg.solve(np.eye(4) * 3.0 + np.outer({a}, {b}) * 0.1, np.ones(4))

# ----
from scipy.integrate import quad
# then
{v} = quad(lambda u: math_sin(u * {s}), 0.0, 1.0)[0]

# ----
from scipy import optimize
# then
{v} = optimize.brentq(lambda u: u ** 3 + u - {s}, -20.0, 20.0)

# ----
from scipy.interpolate import interp1d
# then
{v} = np.interp({s}, [-2.0, 0.0, 3.0], [{c}, {t}, 1.0])

# ----
def local_import{n}(x):
    from scipy.special import expit as squash
    import numpy as xp
    return xp.sum(squash(xp.asarray(x)))
# then
{v} = local_import{n}({as})

# ----
from math import sin as math_sin, pi
# then
{v} = math_sin({s} * pi)
"""

DEFINITIONS = [[part.strip() for part in text.split("\n# then\n")] for text in _TEXT.split("\n# ----\n")]
"""Each definition, and the statements."""
