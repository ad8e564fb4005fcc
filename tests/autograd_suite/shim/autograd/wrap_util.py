"""Operators of functions of one argument as operators of functions of several, by the number of the argument.

Every function that is differentiated comes through here, and this is where it is made traceable.
"""

from rulescore.ad import traceable


def unary_to_nary(unary_operator):
    def nary_operator(fun, argnum=0, *nary_op_args, **nary_op_kwargs):
        followed = traceable(fun)

        def nary_f(*args, **kwargs):
            def unary_f(x):
                some = {argnum: x} if isinstance(argnum, int) else dict(zip(argnum, x, strict=True))
                return followed(*[some.get(i, arg) for i, arg in enumerate(args)], **kwargs)

            x = args[argnum] if isinstance(argnum, int) else tuple([args[i] for i in argnum])
            return unary_operator(wraps(fun)(unary_f), x, *nary_op_args, **nary_op_kwargs)

        name, doc = f"{{op}}_of_{{fun}}_wrt_argnum_{argnum}", "    {op} of function {fun} with respect to an argument."
        return wraps(fun, name, doc, op=get_name(unary_operator))(nary_f)

    return wraps(unary_operator)(nary_operator)


def wraps(fun, namestr="{fun}", docstr="{doc}", **names):
    def renamed(f):
        names.update(fun=get_name(fun), doc=getattr(fun, "__doc__", ""))
        f.__name__, f.__doc__ = namestr.format(**names), docstr.format(**names)
        return f

    return renamed


def get_name(f):
    return getattr(f, "__name__", "[unknown name]")
