"""What is called in the place of functions that would make ordinary numbers and arrays of differentiated values."""

from rulescore.ad.programs.stand_ins import arrays, builtins, mathematics, numpys_own  # they fill the table
from rulescore.ad.programs.stand_ins.table import STAND_INS, STAND_INS_OF_PROGRAM

__all__ = ["STAND_INS", "STAND_INS_OF_PROGRAM", "arrays", "builtins", "mathematics", "numpys_own"]
