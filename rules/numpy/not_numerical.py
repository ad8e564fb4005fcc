"""Declarations of what computes nothing that could be differentiated: files, text, settings, types, bits, dates.

So that nobody takes them for forgotten. A value that is being differentiated is not made a constant by them: where one
gets there, the AD says what to write instead, or looks inside.
"""

import numpy as np
from rulescore import not_numerical

# Files, buffers and text: read and written.
not_numerical(
    np.load,
    np.save,
    np.savez,
    np.savez_compressed,
    np.loadtxt,
    np.savetxt,
    np.genfromtxt,
    np.fromfile,
    np.fromregex,
    np.fromstring,
    np.frombuffer,
    np.from_dlpack,
    np.ndarray.dump,
    np.ndarray.dumps,
    np.ndarray.tobytes,
    np.ndarray.tofile,
    np.array2string,
    np.array_repr,
    np.array_str,
    np.base_repr,
    np.binary_repr,
    np.format_float_positional,
    np.format_float_scientific,
)

# Settings, and what is installed.
not_numerical(
    np.get_printoptions,
    np.set_printoptions,
    np.printoptions,
    np.geterr,
    np.seterr,
    np.geterrcall,
    np.seterrcall,
    np.getbufsize,
    np.setbufsize,
    np.get_include,
    np.info,
    np.show_config,
    np.show_runtime,
    np.test,
)

# Types and shapes: questions about them, with no array among the arguments.
not_numerical(
    np.broadcast_shapes,
    np.isdtype,
    np.issubdtype,
    np.mintypecode,
    np.promote_types,
    np.typename,
)

# Bits, bytes, and memory: seen as something else, or made larger in place, for which np.resize is the function.
not_numerical(
    np.packbits,
    np.unpackbits,
    np.ndarray.byteswap,
    np.ndarray.getfield,
    np.ndarray.resize,
    np.ndarray.setfield,
    np.ndarray.setflags,
)

# Dates.
not_numerical(
    np.busday_count,
    np.busday_offset,
    np.is_busday,
    np.datetime_as_string,
    np.datetime_data,
)

# What makes objects that are no arrays of numbers. NumPy advises against matrices, and rules refuse them.
not_numerical(np.asmatrix, np.bmat, np.frompyfunc, np.nested_iters)
