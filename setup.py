"""What the package's page on PyPI links to. All other metadata stands in ``pyproject.toml``, the address there too."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
CODE_OR_RELATIVE_LINK = re.compile(
    r"(?P<code>```.*?```|`[^`]*`)|(?<!!)\[(?P<text>[^]]*)\]\((?!\w+:)(?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)",
    re.DOTALL,
)


class Repository:
    """Where the files of this version can be read; where they cannot yet, the address is empty."""

    def __init__(self, address: str, file: str) -> None:
        self.address = address.rstrip("/")
        (self.version,) = re.findall(r'^__version__ = "(.*)"', (ROOT / "rulescore/__init__.py").read_text("utf8"), re.M)
        self._file = file

    def url(self, path: str) -> str:
        return self._file.format(address=self.address, version=self.version, path=path)

    def urls(self) -> dict[str, str]:
        if not self.address:
            return {}
        return {
            "Source": self.address,
            "Documentation": self.url("docs/index.md"),
            "Changelog": self.url("CHANGELOG.md"),
            "Issues": f"{self.address}/issues",
        }

    def readme(self) -> str:
        """The README for readers elsewhere: links to files are absolute, or without an address the files are named."""
        return CODE_OR_RELATIVE_LINK.sub(self._link, (ROOT / "README.md").read_text("utf8"))

    def _link(self, found: re.Match[str]) -> str:
        if found["code"]:
            return found["code"]
        if not self.address:
            return f"{found['text']} (`{found['path']}`)"
        return f"[{found['text']}]({self.url(found['path'])}{found['anchor'] or ''})"


repository = Repository(**tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["tool"]["rulescore"])
setup(
    long_description=repository.readme(),
    long_description_content_type="text/markdown",
    project_urls=repository.urls(),
)
