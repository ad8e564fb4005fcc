"""Packages that offer rules through entry points: loaded when their functions' module is in use, and not before."""

import importlib.metadata
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rulescore.tables.discovery import DiscoveryWarning, EntryPointLoader, entry_of_rule


class Site:
    """A folder on sys.path, with modules and with distributions that offer entry points."""

    def __init__(self, folder):
        self.folder = folder

    def module(self, name, source):
        path = self.folder / Path(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source))

    def distribution(self, name, entries, group="rulescore.rules"):
        info = self.folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{module} = {value}" for module, value in entries.items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))

    def run(self, code, *options):
        """Run code in a process of its own that sees the folder, and return what it prints."""
        code = f"import sys; sys.path.insert(0, {str(self.folder)!r})\n" + textwrap.dedent(code)
        command = [sys.executable, *(options or ("-W", "error")), "-c", code]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return result.stdout.split("\n")[:-1]


@pytest.fixture
def site(tmp_path):
    site = Site(tmp_path)
    site.module("lib", "def f(x): return x\ndef g(x): return x\n")
    site.module(
        "lib_rules",
        """
        print("lib_rules is imported")
        from lib import f
        from rulescore import rrule
        @rrule.register(f)
        def f_rrule(x): return "discovered"
        """,
    )
    return site


class TestRulesOfAThirdParty:
    def test_they_are_found_when_their_module_is_in_use(self, site):
        site.distribution("lib-with-rules", {"lib": "lib_rules"})
        printed = site.run(
            """
            import math
            from rulescore import rrule
            rrule(math.cos, 1.0)
            import lib
            print("lib is imported")
            print(rrule(lib.f, 1.0))
            print(rrule.lookup(lib.f, float).entry, lib.f in rrule.functions_of("lib"))
            """
        )
        assert printed == ["lib is imported", "lib_rules is imported", "discovered", "lib True"]

    @pytest.mark.parametrize(
        "question",
        [
            "lib.f in rrule",
            "lib.f in list(rrule)",
            "rrule.lookup(lib.f, float) is not None",
            "rrule.records(lib.f) != []",
            "rrule.bind(lib.f, (), {'x': 1.0}) == ((1.0,), {})",
            "rrule.call(lib.f, (1.0,)) == 'discovered'",
            "lib.f in [r.function for r in collected(rrule)]",
        ],
    )
    def test_every_question_finds_them(self, site, question):
        site.distribution("lib-with-rules", {"lib": "lib_rules"})
        printed = site.run(
            f"""
            import lib
            from rulescore import rrule
            def collected(table):
                seen = []
                table.on_new_rule(seen.append)
                return seen
            print({question})
            """
        )
        assert printed == ["lib_rules is imported", "True"]

    def test_a_callback_sees_rules_discovered_later(self, site):
        site.distribution("lib-with-rules", {"lib": "lib_rules"})
        printed = site.run(
            """
            from rulescore import rrule
            rrule.on_new_rule(lambda record: record.entry == "lib" and print("new", record.signature))
            import lib
            rrule(lib.g, 1.0)
            """
        )
        assert printed == ["lib_rules is imported", "new f(x: object)"]

    @pytest.mark.parametrize("before", [True, False])
    def test_a_rule_registered_by_hand_counts_before_a_discovered_one(self, site, before):
        site.distribution("lib-with-rules", {"lib": "lib_rules"})
        load = "rrule.lookup(lib.g, float)"
        printed = site.run(
            f"""
            import lib
            from rulescore import rrule
            {"" if before else load}
            @rrule.register(lib.f)
            def mine(x): return "by hand"
            {load if before else ""}
            print(rrule(lib.f, 1.0), rrule.lookup(lib.f, float).entry)
            """
        )
        assert printed == ["lib_rules is imported", "by hand None"]

    def test_a_discovered_opt_out_yields_to_a_rule_registered_by_hand(self, site):
        site.module("lib_rules", "import lib\nfrom rulescore import rrule, opt_out\nopt_out(rrule, lib.f, float)\n")
        site.distribution("lib-with-rules", {"lib": "lib_rules"})
        printed = site.run(
            """
            import lib
            from rulescore import rrule
            print(rrule.lookup(lib.f, float).opted_out)
            rrule.register(lib.f, float)(lambda x: "by hand")
            print(rrule(lib.f, 1.0))
            """
        )
        assert printed == ["True", "by hand"]

    def test_modules_that_ask_the_tables_while_they_are_imported(self, site):
        site.module(
            "lib_rules",
            """
            import lib
            from rulescore import rrule
            assert lib.f not in rrule
            rrule.register(lib.f)(lambda x: "discovered")
            assert lib.f in rrule
            """,
        )
        site.distribution("lib-with-rules", {"lib": "lib_rules"})
        assert site.run("import lib; from rulescore import rrule; print(rrule(lib.f, 1.0))") == ["discovered"]

    def test_several_packages_may_cover_one_module(self, site):
        site.module("more_rules", "import lib\nfrom rulescore import rrule\nrrule.register(lib.g)(lambda x: 'more')\n")
        site.distribution("lib-with-rules", {"lib": "lib_rules"})
        site.distribution("more-rules", {"lib": "more_rules"})
        printed = site.run("import lib; from rulescore import rrule; print(rrule(lib.f, 1.0), rrule(lib.g, 1.0))")
        assert printed == ["lib_rules is imported", "discovered more"]

    def test_functions_of_a_package_include_those_of_its_modules(self, site):
        site.module("package/__init__", "")
        site.module("package/sub", "def h(x): return x\n")
        site.module(
            "sub_rules", "import package.sub\nfrom rulescore import rrule\nrrule.register(package.sub.h)(len)\n"
        )
        site.distribution("sub-rules", {"package.sub": "sub_rules"})
        printed = site.run("from rulescore import rrule; print([f.__name__ for f in rrule.functions_of('package')])")
        assert printed == ["['h']"]


class TestFailingEntries:
    @pytest.mark.parametrize(
        ("source", "message"),
        [("1 / 0", "ZeroDivisionError: division by zero"), (None, "ModuleNotFoundError: No module named 'lib_rules'")],
    )
    def test_a_third_partys_failing_entry_is_one_warning(self, site, source, message):
        if source is None:
            (site.folder / "lib_rules.py").unlink()
        else:
            site.module("lib_rules", source)
        site.distribution("lib-with-rules", {"lib": "lib_rules"})
        printed = site.run(
            """
            import warnings
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                import lib, numpy as np
                from rulescore import rrule
                print(rrule(lib.f, 1.0), rrule(lib.f, 1.0), rrule(np.sin, 0.0)[0])
            for warning in caught:
                print(warning.category.__name__, warning.message)
            """
        )
        assert printed[0] == "None None 0.0"
        (warning,) = printed[1:]
        assert warning.startswith("DiscoveryWarning the entry point 'lib' of the group 'rulescore.rules' (lib_rules)")
        assert message in warning
        assert "Mend or uninstall the package offering it" in warning


class FakeEntry:
    """An entry point whose loading is recorded."""

    def __init__(self, name, load=lambda: None):
        self.name = name
        self.value = self.module = f"{name}_rules"
        self.dist = None
        self.loads = []
        self._load = load

    def load(self):
        self.loads.append(entry_of_rule("anywhere"))
        self._load()


class TestLoader:
    @pytest.fixture
    def loader(self, monkeypatch):
        self.entries = [FakeEntry("sys"), FakeEntry("not.imported"), FakeEntry("sys")]
        self.scans = []

        def entry_points(group):
            self.scans.append(group)
            return self.entries

        monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
        return EntryPointLoader("rulescore.rules")

    def test_what_is_imported_is_loaded_once(self, loader):
        assert loader.load_imported() is True
        assert loader.load_imported() is False
        assert [entry.loads for entry in self.entries] == [["sys"], [], ["sys"]]
        assert self.scans == ["rulescore.rules"]
        assert entry_of_rule("anywhere") is None

    def test_an_entry_that_cannot_be_imported_is_left_out_with_a_warning(self, loader):
        def fail():
            raise ImportError("no such thing")

        self.entries[:] = [FakeEntry("sys", load=fail), FakeEntry("sys")]
        message = r"'sys' of the group 'rulescore.rules' \(sys_rules\) .* no such thing"
        with pytest.warns(DiscoveryWarning, match=message):
            loader.load_imported()
        assert loader.load_imported() is False
        assert self.entries[1].loads == ["sys"]

    def test_all_names_are_known_loaded_or_not(self, loader):
        assert loader.names == ("sys", "not.imported")
        loader.load_imported()
        assert loader.names == ("sys", "not.imported")

    def test_everything_can_be_loaded(self, loader):
        loader.load("not.imported")
        assert self.entries[1].loads == ["not.imported"]
        loader.load("never heard of")
        loader.load_all()
        loader.load_all()
        assert [len(entry.loads) for entry in self.entries] == [1, 1, 1]
        assert loader.load_imported() is False

    def test_an_entry_that_asks_for_itself_while_it_loads_is_not_loaded_again(self, loader):
        entry = FakeEntry("sys", load=lambda: loader.load_imported())
        self.entries[:] = [entry, FakeEntry("os", load=lambda: loader.load("sys"))]
        loader.load_imported()
        assert entry.loads == ["sys"]
        assert self.entries[1].loads == ["os"]
