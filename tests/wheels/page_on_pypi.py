"""What PyPI shows of a wheel: links to files if ``pyproject.toml`` has an address, and no such links if it has none."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from email.message import Message
from email.parser import Parser
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

SETTING = re.compile(r'^address = ".*?"', re.MULTILINE)
ADDRESS = "https://forge.example/team/rulescore"


def check_page_on_pypi(root: Path, folder: Path, build: Callable[[Path, Path], Path]) -> None:
    """Build the wheel of a copy of the tree with an address and without one, and follow the links of its metadata."""
    for name, address in (("with an address", ADDRESS), ("without an address", "")):
        source, wheels = copy_of_tree(root, folder / name / "source"), folder / name / "wheels"
        wheels.mkdir()
        project = source / "pyproject.toml"
        text, replaced = SETTING.subn(f'address = "{address}"', project.read_text("utf8"))
        if replaced != 1:
            raise SystemExit("pyproject.toml has not one address")
        project.write_text(text, "utf8")
        page, settings = metadata(build(source, wheels)), tomllib.loads(text)["tool"]["rulescore"]
        files = settings["file"].format(address=address, version=page["Version"], path="")
        complaints = list(complaints_about(page, address, files, source))
        if complaints:
            raise SystemExit("\n".join([f"the page on PyPI, {name}:", *complaints]))
        print(f"  the page on PyPI, {name}: {'its links lead to files' if address else 'it has no links to files'}")


def copy_of_tree(root: Path, folder: Path) -> Path:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    for name in subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split("\0"):
        if name and (root / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, folder / name)
    return folder


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode("utf8"))


def complaints_about(page: Message, address: str, files: str, root: Path) -> Iterator[str]:
    urls = dict(entry.split(", ", 1) for entry in page.get_all("Project-URL", []))
    expected = {"Source", "Documentation", "Changelog", "Issues"} if address else set()
    if set(urls) != expected:
        yield f"the project's links are {sorted(urls)}, and not {sorted(expected)}"
    links, images = links_and_images(str(page.get_payload()))
    if address and not any(link.startswith(files) for link in links):
        yield "no link of the README leads to a file"
    for link in (*links, *images, *urls.values()):
        if not link.startswith("https://"):
            yield f"{link} is not absolute"
        elif not address:
            continue
        elif link.startswith(files):
            path, _, anchor = link.removeprefix(files).partition("#")
            if link in images:
                yield f"{link} is the page of an image, and shows none"
            elif not (root / path).is_file():
                yield f"{link} leads to no file"
            elif anchor and anchor not in anchors(root / path):
                yield f"{link} leads to no heading"
        elif link.startswith(address) and link not in (address, f"{address}/issues"):
            yield f"{link} is not the address of a file of version {page['Version']}"


def links_and_images(markdown: str) -> tuple[list[str], list[str]]:
    tokens = list(inline(MarkdownIt().parse(markdown)))
    links = [str(token.attrs["href"]) for token in tokens if token.type == "link_open"]
    return links, [str(token.attrs["src"]) for token in tokens if token.type == "image"]


def inline(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from inline(token.children or [])


def anchors(page: Path) -> set[str]:
    """What code hosts call the headings of a page: lower case, hyphens for spaces, no punctuation."""
    tokens = MarkdownIt().parse(page.read_text("utf8"))
    titles = [after.content for before, after in itertools.pairwise(tokens) if before.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
