"""What a stranger reads first: the documents in the root are true to the package and to each other."""

import re
import tomllib
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import rulescore

ROOT = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


def links_of(document):
    tokens = MarkdownIt().parse((ROOT / document).read_text("utf8"))
    return [child.attrs["href"] for token in tokens for child in token.children or [] if child.type == "link_open"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_of_a_document_lead_to_files(document):
    files = [link.partition("#")[0] for link in links_of(document) if not link.startswith("https://")]
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_the_citation_is_of_this_version():
    assert f"\nversion: {rulescore.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf8")


def test_classifiers_name_the_platforms_that_the_readme_calls_tested():
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]["classifiers"]
    (tested,) = re.findall(
        r"^It is tested on Linux .* with Python ([\d., and]+)", (ROOT / "README.md").read_text("utf8"), re.M
    )
    versions = re.findall(r"\d\.\d+", tested)
    assert versions
    assert {f"Programming Language :: Python :: {version}" for version in versions} <= set(classifiers)
    assert [name for name in classifiers if name.startswith("Operating System ::")] == [
        "Operating System :: POSIX :: Linux"
    ]
