"""What programs are made of beside calls of functions with rules: a vocabulary of statements in plain NumPy.

``{a}`` and ``{b}`` stand for real arrays or numbers of any shape, ``{k}`` for a constant, ``{v}`` for a new name. Each
statement has to make sense whatever the shapes are.
"""

ELEMENTWISE = (
    "np.sin({a})",
    "np.tanh({a})",
    "np.arctan({a})",
    "np.exp(-np.abs({a}))",
    "np.abs({a})",
    "-{a}",
    "{a} * {k}",
    "{k} - {a}",
    "{a} / {k}",
    "{k} * {a} + {a}",
    "{a} ** 2",
    "(np.abs({a}) + 0.5) ** {k}",
    "np.square({a})",
    "np.sqrt(np.abs({a}) + 1.0)",
    "np.maximum({a}, {k})",
    "np.minimum({a}, 0.0)",
    "np.clip({a}, -0.5, 0.5)",
    "np.arctan2({a}, {k})",
    "np.hypot({a}, {k})",
    "np.copysign({a}, {k})",
    "np.float64(2.0) * {a}",
    "np.positive({a})",
    "np.nan_to_num({a})",
)

MASKED = (
    "np.where({a} > 0, {a}, np.zeros_like({a}))",
    "np.where({a} > {k}, np.ones_like({a}), {a})",
    "np.where({a} > 0, np.log({a}), 0.0)",
    "np.where({a} > 0, np.abs(np.log({a})), {a})",
    "np.where(({a} > 0)[..., None], np.log({a})[..., None], 0.0)",
    "np.where(({a} > 0).reshape(-1)[::-1], np.sqrt({a}).reshape(-1)[::-1], 1.0)",
    "np.select([{a} > 0.5, {a} > 0], [np.log({a}), np.sqrt({a})], {a})",
    "np.choose(({a} > 0).astype(int), [0 * {a}, np.sqrt({a})])",
    "np.sum(np.log({a}), where={a} > 0)",
    "np.where(np.concatenate([{a} > 0, {a} > 0], axis=None), np.concatenate([np.log({a}), {a}], axis=None), 0.0)",
)

SHAPES = (
    "{a}.reshape(-1)",
    "np.reshape({a}, (1, -1))",
    "np.ravel({a}, order='F')",
    "{a}.T",
    "np.flip({a})",
    "{a}[None]",
    "np.expand_dims({a}, -1)",
    "np.squeeze({a})",
    "np.concatenate([{a}, {b}], axis=None)",
    "np.concatenate([[], {a}.reshape(-1)])",
    "np.hstack([{a}.reshape(-1), [], {b}.reshape(-1)])",
    "np.stack([{a}, {a}])",
    "np.array([{a}, 2 * {a}], like={a})",
    "np.array([np.sum({a}), {k}, np.sum({b})], like=np.sum({a}))",
    "np.append({a}, {k})",
    "np.repeat({a}, 2)",
    "np.tile({a}, 2)",
    "np.roll({a}, 1)",
    "np.pad({a}.reshape(-1), 1)",
    "np.broadcast_to({a}, (2, *np.shape({a})))",
    "np.atleast_2d({a})",
    "np.moveaxis(np.atleast_2d({a}), 0, -1)",
    "np.copy({a})",
    "np.full((2,), np.sum({a}))",
    "np.full_like({a}, np.max({b}))",
)

INDEXING = (
    "{a}.reshape(-1)[::2]",
    "{a}.reshape(-1)[::-1]",
    "{a}.reshape(-1)[[0, -1, 0]]",
    "{a}.reshape(-1)[{a}.reshape(-1) > {k}]",
    "{a}.reshape(-1)[:0]",
    "{a}.reshape(-1)[0]",
    "{a}[...]",
    "np.atleast_1d({a})[None, ..., -1]",
    "np.take({a}, [0, -1, 0])",
    "np.atleast_1d({a})[np.argsort(np.atleast_1d({a}), axis=0)[0]]",
    "{a}.flat[0]",
    "np.atleast_1d({a})[-1]",
    "np.delete({a}, 0)",
    "np.trim_zeros({a}.reshape(-1))",
    "np.trim_zeros(np.pad({a}.reshape(-1), 1))",
    "np.split({a}.reshape(-1), [0, 1])[0] + np.sum({b})",
    "np.repeat({a}, 0)",
)

REDUCTIONS = (
    "np.sum({a})",
    "{a}.sum(axis=-1, keepdims=True)",
    "np.mean(np.atleast_1d({a}), axis=0)",
    "np.max({a})",
    "np.min(np.atleast_1d({a}), axis=-1)",
    "np.prod(np.tanh({a}))",
    "np.std({a})",
    "np.median({a})",
    "np.linalg.norm({a}.reshape(-1) + 0.1)",
    "np.cumsum({a})",
    "np.sort({a}, axis=None)",
    "np.sort(np.atleast_1d({a}), axis=0)",
    "np.diff({a}.reshape(-1))",
    "np.ediff1d({a})",
    "np.dot({a}.reshape(-1), {a}.reshape(-1))",
    "np.outer({a}.reshape(-1)[:3], {b}.reshape(-1)[:3])",
    "np.einsum('i,j->ij', {a}.reshape(-1)[:3], {b}.reshape(-1)[:2])",
    "np.vecdot({a}.reshape(-1), {a}.reshape(-1))",
)

PAIRS = (
    "{a} + np.sum({b})",
    "{a} * {b}.reshape(-1)[0]",
    "{a}.reshape(-1)[:1] - {b}",
    "{a}[..., None] * {b}.reshape(-1)[:2]",
    "np.maximum({a}, np.mean({b}))",
    "np.where({a} > np.mean({b}), {a}, np.mean({b}))",
    "np.logaddexp({a}, np.mean({b}))",
    "np.interp({a}, np.linspace(-2.0, 2.0, 4), np.array([1, 0, 0, 1]) == 1)",
    "np.interp({a}, np.linspace(-2.0, 2.0, 4), np.uint8([200, 10, 30, 250]))",
    "np.ones((0, 1)) @ {a}.reshape(1, -1)",
)

TYPES = (
    "({a} * (1 + 2j)).real",
    "np.abs({a} + 1j)",
    "np.angle({a} + 2j)",
    "np.fft.rfft({a}.reshape(-1)).real",
    "np.imag(np.exp(1j * {a}))",
    "np.conj({a})",
    "{a}.astype(complex).real",
    "{a} * np.float32(0.3)",
    "{a} / np.float16(3)",
    "np.uint8(200) * {a}",
    "np.add({a}, True)",
    "np.result_type({a}).type(0.5) * {a}",
)

STEPS = (
    # Control flow.
    "if np.sum({a}) > {k}:\n    {v} = np.sin({a})\nelse:\n    {v} = {a} * 2",
    "if isinstance({a}, np.ndarray):\n    {v} = np.sum({a})\nelse:\n    {v} = {a} * 1.5",
    "{v} = np.sum({a}) if isinstance({a}, float | np.ndarray) else 0.0 * np.sum({a})",
    "{v} = {a}\nfor i in range(3):\n    {v} = np.tanh({v} + i)",
    "{v} = {a}\nwhile 1.0 < np.max(np.abs({v})) < np.inf:\n    {v} = {v} / 2",
    "{v} = sum([t * t for t in {a}.reshape(-1)[:3]])",
    "{v} = [t for t in {a}.reshape(-1)[:3]]\n{v}.append(np.sum({b}))\n{v} = np.stack({v})",
    "{v} = {{'p': {a}, 'q': [{b}, ({a},)]}}\n{v} = {v}['p'] + np.sum({v}['q'][0]) * np.sum({v}['q'][1][0])",
    "{v} = (lambda t: np.cos(t) * np.sum({b}))({a})",
    # Writing into arrays of one's own.
    "{v} = np.copy({a})\n{v} *= {k}",
    "{v} = np.copy({a})\n{v} += np.sum({b})",
    "{v} = {a}.reshape(-1).copy()\n{v}[0] = np.sum({b})",
    "{v} = {a}.reshape(-1).copy()\n{v}[::2] *= 2.0",
    "{v} = {a}.reshape(-1).copy()\n{v}[{v} > {k}] = 0.0",
    "{v} = {a}.reshape(-1).copy()\n{v}[[0, -1]] += 1.0",
    "{v} = {a}.reshape(-1).copy()\nnp.add.at({v}, [0, 0], np.sum({b}))",
    "{v} = np.log({a})\n{v}[{a} <= 0] = 0",
    "{v} = np.sqrt(np.maximum({a}, 0.0))\n{v}[{a} <= 0] = 0.5",
    "{v} = {a}.reshape(-1).copy()\nw = {v}[::2]\nw *= 3.0",
    "{v} = {a}.reshape(-1).copy()\nw = np.flip({v})\nw[:1] = {k}",
    "{v} = np.copy({a}) * 1.0\nw = {v}.reshape(-1)\nw += np.sum({b})",
    "{v} = np.copy({a}) * 1.0\nnp.multiply({v}, 2.0, out={v})",
    "{v} = np.zeros_like({a})\n{v}[...] = {a} * 2",
    "{v} = np.zeros(np.shape({a}))\n{v} = {v} + {a}",
    "{v} = {a}.reshape(-1).copy()\n{v}.sort()",
    "{v} = {a}.reshape(-1).copy()\n{v}.flat[0] = np.max({b})",
    "{v} = np.empty((2, *np.shape({a})), like={a})\n{v}[0] = {a}\n{v}[1] = {k}",
)

INTO_RESULTS = (
    "w = {a}.reshape(-1)\nw *= 2.0\n{v} = {a} * 1.0",
    "w = {a}[...]\nw += 1.0\n{v} = {a} * 1.0",
    "w = {a}.T\nw -= np.sum({b})\n{v} = {a} + 0.0",
    "{a} *= 2.0\n{v} = {a} + 1.0",
    "{a}.reshape(-1)[:1] = np.sum({b})\n{v} = {a} + 1.0",
)
"""Writing into what a function has returned, if that is no argument of the program."""

EXPRESSIONS = {
    "elementwise": ELEMENTWISE,
    "masked": MASKED,
    "shapes": SHAPES,
    "indexing": INDEXING,
    "reductions": REDUCTIONS,
    "pairs": PAIRS,
    "types": TYPES,
}

UNCHANGED = (
    "{x}",
    "{x}",
    "{x}.copy()",
    "{x} * 1.0",
    "{x}.reshape(-1).reshape(np.shape({x}))",
    "{x}.T.T",
    "np.flip(np.flip({x}))",
    "np.where(True, {x}, 0.0)",
    "{x} + 0.0 * np.sum({x})",
    "np.stack([{x}, {x}])[0]",
    "np.array([{x}], like={x})[0]",
)
"""Ways to write an array or number as it is."""
