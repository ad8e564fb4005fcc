"""A second way to what lies beside ``rulescore``: ``rulescore.beside.rules.numpy`` is the file of ``rules.numpy``.

It is for `rulescore.shipped` alone, where the name ``rules`` or ``testutils`` is somebody else's.
"""

from pathlib import Path

__path__ = [str(Path(__file__).resolve().parents[2])]
