"""Lets the benchmarks import the modules beside them, as their folder is no package."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
