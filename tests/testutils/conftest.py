"""Lets the tests of this folder import the `corpora` beside them, as their folders are no packages."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
