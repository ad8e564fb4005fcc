"""What extensions of autograd import."""

from .core import def_linear, defjvp, defjvp_argnum, defjvp_argnums, defvjp, defvjp_argnum, defvjp_argnums
from .tracer import notrace_primitive, primitive
from .vector_spaces import vspace
