"""What of `scipy.ndimage` has no rules, and why."""

from scipy import ndimage

from rulescore import missing_rules, not_numerical

missing_rules(
    ndimage.generic_filter,
    ndimage.generic_filter1d,
    *([ndimage.vectorized_filter] if hasattr(ndimage, "vectorized_filter") else []),  # since SciPy 1.16
    because=(
        "it calls a function with the pixels of each window, which SciPy wants numbers of: take the windows of a "
        "padded image by np.lib.stride_tricks.sliding_window_view and apply the function to their last axes"
    ),
)
missing_rules(
    ndimage.generic_gradient_magnitude,
    ndimage.generic_laplace,
    because=(
        "it calls a function for the derivative along each axis: call that yourself, and take the root of the sum "
        "of the squares, or the sum"
    ),
)
missing_rules(
    ndimage.labeled_comprehension,
    because=(
        "it calls a function with the pixels of each label, which SciPy wants a number of: call it with "
        "image[labels == label] for each label"
    ),
)
missing_rules(
    ndimage.distance_transform_edt,
    ndimage.distance_transform_bf,
    because=(
        "of the image it only asks which pixels are zero; for the derivative with respect to the sampling, ask "
        "for the indices of the nearest zeros (return_indices=True) and compute the distances to them"
    ),
)
not_numerical(ndimage.generate_binary_structure, ndimage.iterate_structure)
