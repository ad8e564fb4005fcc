"""Every page of the documentation does what it shows: its Python and its ``rulescore`` commands run, and print what
stands below them; and sources that it shows are those of the packages.

``python tests/docs/test_pages.py PAGE ...`` runs pages, writes into them what their blocks print and the sources that
they show, and draws their pictures anew.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import io
import linecache
import math
import os
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if not {"_build", "auto_gallery"} & {*page.parts})
EXAMPLES = sorted((DOCS / "examples").glob("*.py"))
TUTORIAL = DOCS / "write_your_first_rule.md"

# A block of code, with the block of text that follows it at once: what it prints.
BLOCK = re.compile(
    r"^```(python|console|toml|cython|cpp)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
NEEDS = re.compile(r"<!-- needs: (.*) -->")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# A fence as Markdown knows them: indented, longer, or of tildes.
ANY_FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})(.*)\n(?:.*\n)*?[ >]*\1", re.MULTILINE)
# The commands that set a machine up. They are those of the README, which a fresh clone runs literally.
SET_UP = {"python3 -m venv .venv", "source .venv/bin/activate", "pip install --quiet ."}
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
# A picture, with the expression in the names of the page that draws it.
DRAWN = re.compile(r"^<!-- drawn by: (.*) -->\n!\[[^]]*\]\((.*)\)$", re.MULTILINE)
# Before a block that shows functions of a file, or all of it, and is not run: the file, and their names.
SOURCE = re.compile(r"<!-- source: (\S+)(?: (.*))? -->\n\Z")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?")
# What differs from run to run, from machine to machine and with every line above: errors of finite differences, times,
# and the line of the page.
VARYING = re.compile(r"(?<=± )\S+|\d+\.\d(?= m?s\b)|(?<=\.md:)\d+")


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search(page.read_text("utf8"))], ids=name_of)
def test_blocks_of_a_page_run_in_order_and_print_what_it_shows(page: Path) -> None:
    for framework in NEEDS.findall(page.read_text("utf8")):
        for name in framework.split(", "):
            pytest.importorskip(name, reason=f"{page.name} shows {name}, which is not installed")
    run = subprocess.run(
        [sys.executable, "-W", "error", "-X", "utf8", __file__, "--compare", str(page)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


def unchecked_blocks(text: str) -> list[str]:
    """The blocks that are neither run, nor what one that is run prints, nor for Sphinx; and commands nobody runs."""
    others = [found[2].strip() for found in ANY_FENCE.finditer(BLOCK.sub("", text))]
    commands = [line for _, code, _ in BLOCK.findall(text) for line in re.findall(r"^\$ (.*)$", code, re.MULTILINE)]
    return [
        *(f"```{language}" for language in others if not language.startswith("{")),
        *(command for command in commands if command not in SET_UP and not command.startswith("rulescore ")),
    ]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_of_a_page_is_run_or_printed_by_one(page: Path) -> None:
    assert not unchecked_blocks(page.read_text("utf8"))


@pytest.mark.parametrize(
    "text",
    [
        "```sh\npytest\n```\n",
        "```\nx = 1\n```\n",
        "```py\nx = 1\n```\n",
        "- item\n\n  ```python\n  x = 1\n  ```\n",
        "~~~python\nx = 1\n~~~\n",
        "```text\n1\n```\n",
        "```console\n$ pytest\n```\n",
    ],
)
def test_a_block_that_nobody_runs_is_noticed(text: str) -> None:
    assert len(unchecked_blocks(f"```python\nx = 1\n```\n\nWords.\n\n{text}")) == 1


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_of_a_page_lead_to_files(page: Path) -> None:
    text = FENCE.sub("", page.read_text("utf8"))
    missing = [target for target in LINK.findall(text) if not (page.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_tutorial_shows_the_examples_as_they_are(example: Path) -> None:
    assert f"(examples/{example.name}):\n\n```python\n{example.read_text('utf8')}```\n" in TUTORIAL.read_text("utf8")


def test_every_page_is_in_a_table_of_contents() -> None:
    listed = {"index"}
    for page in PAGES:
        for tree in TOCTREE.findall(page.read_text("utf8")):
            entries = [line for line in tree.splitlines() if line and not line.startswith(":")]
            listed |= {name_of(page.parent / f"{entry}.md") for entry in entries}
    assert listed - {"auto_gallery/index"} == set(map(name_of, PAGES))


@pytest.mark.parametrize(
    "module", ["rulescore", "rulescore.ad", "rulescore.closures", "rulescore.operators", "rulescore.testing"]
)
def test_the_reference_has_everything_public(module: str) -> None:
    text = "\n".join(page.read_text("utf8") for page in (DOCS / "api").glob("*.md"))
    listed = re.findall(
        r"^   (\w+)$|^\.\. py:function:: (\w+)|^\.\. autoclass:: (\w+)|^`(?:\w+\.)?(\w+)`", text, re.MULTILINE
    )
    public = {name for name in importlib.import_module(module).__all__ if not name.startswith("_")}
    assert public <= {name for names in listed for name in names}


def test_the_page_of_the_backends_lists_their_functions() -> None:
    # From the sources, since a module can be imported only where its system is installed.
    listed = re.findall(r"^\| `(\w+\.\w+)\(", (DOCS / "api" / "backends.md").read_text("utf8"), re.MULTILINE)
    backends = DOCS.parent / "rulescore" / "backends"
    sources = [(source.relative_to(backends).with_suffix("").parts[0], source) for source in backends.rglob("*.py")]
    named_by_their_system = {
        f"{system}.{function}"
        for system, source in sources
        for function in re.findall(r"^def (\w+)\(", source.read_text("utf8"), re.MULTILINE)
        if re.fullmatch(f"(to|from|extend)_{system}", function)
    }
    assert set(listed) == named_by_their_system


def test_the_page_of_commands_names_every_option() -> None:
    page = (DOCS / "api" / "commands.md").read_text("utf8")
    sources = [DOCS.parent / "testutils" / "runs" / "command_line.py", DOCS.parent / "pytest_rulescore.py"]
    options = {option for source in sources for option in re.findall(r'"(--[\w-]+)"', source.read_text("utf8"))}
    assert set(re.findall(r"--\w[\w-]*", page)) == options - {"--version"} | {"--help"}


def test_tutorial_and_examples_have_python_blocks() -> None:
    assert len(BLOCK.findall(TUTORIAL.read_text("utf8"))) > 20
    assert len(EXAMPLES) == 5


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("[1. 2.]", "[1. 2.]\n", True),
        ("0.30000000000000004 ± 3e-12", "0.3 ± 1e-13", True),
        ("8 samples in 0.2 s", "8 samples in 0.4 s", True),
        ("9 samples in 0.2 s", "8 samples in 0.2 s", False),
        ("ratio -1", "ratio 1", False),
        ("pass: f", "fail: f", False),
        ("1 2", "1 2 3", False),
    ],
)
def test_outputs_are_compared_up_to_rounding(shown: str, printed: str, same: bool) -> None:
    assert same_output(shown, printed) is same


@pytest.mark.parametrize("text", ["```python\nprint(1)\n```\n\n```text\n2\n```\n", "```python\n>>> 1\n2\n\n```\n"])
def test_a_wrong_output_is_noticed(text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(AssertionError):
        run_page(page)


def test_a_block_of_another_language_shows_a_file(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```toml\nx = 1\n```\n")
    with pytest.raises(AssertionError, match="say which file"):
        run_page(page)
    page.write_text("<!-- source: docs/examples/package/pyproject.toml -->\n```toml\nx = 1\n```\n")
    with pytest.raises(AssertionError, match="as it is"):
        run_page(page)
    run_page(page, write=True)
    run_page(page)


def test_a_failing_test_function_of_a_page_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\ndef test_it(rule_tester):\n    assert rule_tester.rng is None\n```\n")
    with pytest.raises(AssertionError):
        run_page(page)


def test_another_source_than_that_of_the_packages_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    comment, right = (
        "<!-- source: rules/numpy/products.py adjoint -->\n",
        source_of("rules/numpy/products.py", "adjoint"),
    )
    page.write_text(f"{comment}```python\n{right}```\n")
    run_page(page)
    page.write_text(f"{comment}```python\ndef adjoint(x):\n    return x\n```\n")
    with pytest.raises(AssertionError):
        run_page(page)
    run_page(page, write=True)
    assert page.read_text("utf8") == f"{comment}```python\n{right}```\n"


def source_of(file: str, names: str | None) -> str:
    """Functions and classes of a file of the repository, with their decorators; all of it without names."""
    text = (DOCS.parent / file).read_text("utf8")
    if names is None:
        return text
    defined = {node.name: node for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    shown = []
    for name in names.split():
        node = defined[name]
        first = min(part.lineno for part in (node, *node.decorator_list))
        shown.append("\n".join(text.splitlines()[first - 1 : node.end_lineno]))
    return "\n\n\n".join(shown) + "\n"


def run_page(page: Path, write: bool = False) -> None:
    """Run the blocks of a page in one namespace; compare what they print with what the page shows, or write it."""
    text = page.read_text("utf8")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    pieces, end = [], 0
    for block in BLOCK.finditer(text):
        language, code, shown = block.groups()
        line = text.count("\n", 0, block.start(2))
        source = SOURCE.search(text, 0, block.start())
        if source is not None:
            defined = source_of(*source.groups())
            assert write or code == defined, (
                f"{page}:{line} does not show {source[1]} as it is; `python tests/docs/test_pages.py {page}` writes it "
                "anew"
            )
            pieces += [text[end : block.start(2)], defined]
            end = block.end(2)
            continue
        assert language in ("python", "console"), f"{page}:{line} is not run: say which file it shows"
        run = run_python if language == "python" else run_commands
        printed = run(code, namespace, page, line)
        if shown is not None and not same_output(shown, printed):
            assert write, (
                f"{page}:{line} prints\n\n{printed}\nand the page shows\n\n{shown}\n"
                f"If the former is right, `python tests/docs/test_pages.py {page}` writes it into the page."
            )
            pieces += [text[end : block.start(3)], printed]
            end = block.end(3)
    for name, function in list(namespace.items()):
        if name.startswith("test_") and isinstance(function, types.FunctionType) and function.__globals__ is namespace:
            function(**dict(fixtures_of(function)))
    for drawing, file in DRAWN.findall(text):
        figure = eval(drawing, namespace)
        if write:
            figure.savefig(page.parent / file, dpi=100)
    if write:
        page.write_text("".join([*pieces, text[end:]]), "utf8")


def run_python(code: str, namespace: dict[str, Any], page: Path, line: int) -> str:
    """Run a block: as a session where it has prompts, else as a file. Return what it prints."""
    printed = io.StringIO()
    if ">>>" in code:
        session = doctest.DocTestParser().get_doctest(code, {}, page.name, str(page), line)
        session.globs = namespace
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        failed = runner.run(session, out=printed.write, clear_globs=False).failed
        assert not failed, printed.getvalue()
        return ""
    # The functions of a page have a source: its code, with empty lines in the place of everything else.
    *_, lines, _ = linecache.cache.get(str(page), (0, None, [], ""))
    lines = [*lines[:line], *["\n"] * (line - len(lines)), *code.splitlines(keepends=True)]
    linecache.cache[str(page)] = (0, None, lines, str(page))
    with contextlib.redirect_stdout(printed):
        # The empty lines before the code make the lines of a traceback those of the page.
        exec(compile("\n" * line + code, str(page), "exec"), namespace)
    return printed.getvalue()


def run_commands(code: str, namespace: dict[str, Any], page: Path, line: int) -> str:
    """Run the ``rulescore`` commands of a block in the root of the repository; other commands set a machine up."""
    printed = ""
    for command in re.findall(r"^\$ rulescore (.*)$", code, re.MULTILINE):
        run = subprocess.run(
            [sys.executable, "-X", "utf8", "-m", "rulescore", *command.split()],
            cwd=DOCS.parent,
            env={**os.environ, "COLUMNS": "100"},
            capture_output=True,
            text=True,
            encoding="utf8",
        )
        assert run.returncode == 0, (
            f"{page}:{line} rulescore {command} exits {run.returncode}:\n{run.stdout}{run.stderr}"
        )
        printed += "".join(f"{row.rstrip()}\n" for row in run.stdout.splitlines())
    return printed


def fixtures_of(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The fixtures that a test on a page asks for."""
    from testutils.runs.pytest_support import RuleTester

    available = {"rule_tester": RuleTester(0)}
    for name in function.__code__.co_varnames[: function.__code__.co_argcount]:
        yield name, available[name]


def same_output(shown: str, printed: str) -> bool:
    """Whether two outputs are the same, but for spaces, the last digits of numbers, times and error estimates."""
    one, other = (VARYING.sub("", text) for text in (shown, printed))
    if NUMBER.sub("0", one).split() != NUMBER.sub("0", other).split():
        return False
    numbers = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=1e-6, abs_tol=1e-12) for a, b in numbers)


if __name__ == "__main__":
    compare = sys.argv[1] == "--compare"
    pages = [Path(argument).resolve() for argument in sys.argv[1 + compare :]]
    os.chdir(DOCS.parent)  # messages name the files below it
    for page in pages:
        run_page(page, write=not compare)
