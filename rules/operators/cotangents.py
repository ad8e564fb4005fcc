"""How the pullbacks of operators answer: each cotangent is computed only if it is asked for."""

from rulescore import AbstractZero, Thunk


def cotangents(ybar, projects, computations):
    """The projected cotangents of several arguments.

    ``computations`` has a function without arguments for each of the ``projects``. None is called where ȳ is zero, or
    where an argument has no tangent.
    """
    if isinstance(ybar, AbstractZero):
        return [project(ybar) for project in projects]
    return [project(Thunk(compute)) for project, compute in zip(projects, computations, strict=True)]
