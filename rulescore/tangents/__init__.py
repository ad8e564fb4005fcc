"""Tangent types, one a file, and what one does with them: projecting, summing, accumulating."""

from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.spaces import zero_tangent
from rulescore.tangents.structural import Tangent, as_structural, construct
from rulescore.tangents.structure import field_names, is_array, rebuild, structure_of

__all__ = [
    "NotImplementedTangent",
    "Tangent",
    "as_structural",
    "construct",
    "field_names",
    "is_array",
    "rebuild",
    "structure_of",
    "zero_tangent",
]
