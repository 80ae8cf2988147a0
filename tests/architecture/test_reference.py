"""The tables, trees, examples and links of the documentation say what the software says."""

import re
import tomllib
from dataclasses import MISSING, fields, is_dataclass

import pytest
from tests.architecture.tree import ROOT, SOURCE, tracked_files

from simreal.core.errors import SimrealError
from simreal.robots.ranges import COUNTS, RANGES, SEVERITIES
from simreal.robots.ranges_peg import PEG_COUNTS, PEG_RANGES
from simreal.robots.twinfile import read_twin
from simreal.study import spec
from simreal.verdicts.advise import ADVICE_STATES
from simreal.verdicts.claims import CLAIM_STATES, all_claims
from simreal.verdicts.compare import STATES
from simreal.verdicts.cost.prices import prices_from
from simreal.verdicts.schemas import SCHEMAS
from simreal.worlds.randomize import profile
from simreal.worlds.so101_rig import SO101
from simreal.worlds.variation import DISTRIBUTIONS, OPERATIONS, Axis, Normal

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
TREE = re.compile(r"^```\nsrc/simreal/\n(.*?)^```", re.S | re.M)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def text(name: str) -> str:
    return (DOCS / name).read_text()


def toml_blocks(name: str) -> list[str]:
    return re.findall(r"^```toml\n(.*?)^```", text(name), re.S | re.M)


# Trees.


def tree(document: str) -> list[str]:
    """Paths relative to src/simreal in a tree of two levels, two spaces each."""
    (block,) = TREE.findall(document)
    found, folder = [], ""
    for line in block.splitlines():
        name = line.split()[0]
        folder = folder if line.startswith("    ") else ""
        found.append(folder + name)
        folder = name if name.endswith("/") else folder
    return found


def test_the_readme_has_a_line_for_each_folder():
    there = {f"{p.name}/" for p in SOURCE.iterdir() if (p / "__init__.py").exists()}
    named = tree((ROOT / "README.md").read_text())
    assert sorted(named) == sorted(there | {"cli.py"})


def test_the_layout_has_a_line_for_each_file():
    files = [p for p in tracked_files() if p.is_relative_to(SOURCE) and p.suffix == ".py"]
    there = {p.relative_to(SOURCE).as_posix() for p in files if p.name != "__init__.py"}
    named = [name for name in tree(text("design.md")) if not name.endswith("/")]
    assert len(named) == len(set(named))
    assert there - set(named) == set(), "docs/design.md has no line for them"
    assert [name for name in named if not (SOURCE / name).is_file()] == []


# Tables.


def number(value: float) -> str:
    return f"{value:.3g}"


def drawn(axis: Axis) -> str:
    """An axis in a cell of the table: `scale 0.5 to 1.5`."""
    kind = next(name for name, cls in DISTRIBUTIONS.items() if isinstance(axis.distribution, cls))
    if isinstance(axis.distribution, Normal):
        ends = f"mean {number(axis.distribution.mean)}, std {number(axis.distribution.std)}"
    else:
        ends = f"{number(axis.distribution.low)} to {number(axis.distribution.high)}"
    return f"{axis.operation} {ends}" + ("" if kind == "uniform" else f", {kind}")


def term_rows() -> list[str]:
    full = {axis.term: drawn(axis) for axis in profile("full", SO101).axes}
    return [
        f"| `{t.name}` | {t.size} | {t.unit} | {', '.join(f'`{w}`' for w in t.writes)} "
        f"| {full.get(t.name, 'not in it')} |"
        for t in SO101.terms.values()
    ]


def range_rows(ranges=RANGES) -> list[str]:
    rows = []
    for name, span in ranges.items():
        ends = (" to ".join(number(x) for x in span.at(severity)) for severity in SEVERITIES)
        kind = ", log" if span.log else ""
        rows.append(f"| `{name}` | {span.unit}{kind} | {' | '.join(ends)} | {span.source} |")
    return rows


def peg_range_rows() -> list[str]:
    return range_rows(PEG_RANGES)


def count_rows(counts=COUNTS) -> list[str]:
    return [
        f"| `{name}` | {' | '.join(f'{a} to {b}' for a, b in map(spans.get, SEVERITIES))} |"
        for name, spans in counts.items()
    ]


def peg_count_rows() -> list[str]:
    return count_rows(PEG_COUNTS)


@pytest.mark.parametrize(
    ("page", "head", "rows"),
    [
        ("randomization.md", "| axis | numbers |", term_rows),
        ("twins.md", "| parameter | unit |", range_rows),
        ("twins.md", "| parameter | mild |", count_rows),
        ("twins.md", "| of an insertion | unit |", peg_range_rows),
        ("twins.md", "| of an insertion | mild |", peg_count_rows),
    ],
    ids=["terms", "ranges", "counts", "ranges of an insertion", "counts of an insertion"],
)
def test_a_table_is_the_one_in_the_code(page, head, rows):
    after = text(page).split(f"\n{head}")[1].split("\n\n")[0]
    expected = rows()
    print("\n".join(expected))  # on failure: what belongs there
    assert after.splitlines()[2:] == expected


def test_operations_and_distributions_are_listed():
    listed = re.findall(r"^\| `([a-z-]+)`", text("randomization.md"), re.M)
    assert {*OPERATIONS, *DISTRIBUTIONS, "none", "visual", "dynamics", "full"} <= set(listed)


STUDY_TABLES = {
    "The study:": spec.StudySpec,
    "`[simulation]`": spec.SimulationSpec,
    "`[training]`": spec.TrainingSpec,
    "`[[targets]]`": spec.TargetRef,
    "`[[arms]]`": spec.ArmSpec,
    "`[[arms.stages]]`": spec.StageSpec,
    "`[[tests]]`": spec.ComparisonSpec,
    "A part of `parts`:": spec.PartSpec,
}


def default(value: object) -> str:
    """How a default stands in a table: as TOML."""
    if value is MISSING:
        return "required"
    if value is None:
        return "none"
    if is_dataclass(value):
        return "see below"
    if isinstance(value, tuple):
        return f"`[{', '.join(default(v).strip('`') for v in value)}]`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


@pytest.mark.parametrize("title", STUDY_TABLES)
def test_keys_of_a_study_file_and_their_defaults_are_listed(title):
    section = text("study.md").split(f"\n\n{title}")[1].split("\n\n")[1]
    rows = [tuple(cell.strip() for cell in line.split(" | ")) for line in section.splitlines()[2:]]
    listed = {row[0].strip("|` "): row[1] for row in rows}
    assert listed == {f.name: default(f.default) for f in fields(STUDY_TABLES[title])}


# Examples.


def test_the_example_of_a_profile_loads(tmp_path):
    (block,) = toml_blocks("randomization.md")
    (tmp_path / "mine.toml").write_text(block)
    chosen = profile(str(tmp_path / "mine.toml"), SO101)
    assert chosen.name == "kitchen"
    assert {type(axis.distribution) for axis in chosen.axes} == set(DISTRIBUTIONS.values())
    assert {axis.operation for axis in chosen.axes} == set(OPERATIONS)
    assert chosen.starts


def test_the_example_of_a_study_loads():
    (block,) = toml_blocks("study.md")
    loaded = spec.study_from_json(tomllib.loads(block))
    assert [arm.name for arm in loaded.arms] == ["sim-only", "real-only", "hybrid"]


def test_the_example_of_a_twin_loads(tmp_path):
    (block,) = toml_blocks("twins.md")
    (tmp_path / "twin.toml").write_text(block)
    assert read_twin(tmp_path / "twin.toml").seed == 7


def test_the_example_of_prices_loads():
    (block,) = toml_blocks("verdicts.md")
    prices = prices_from(tomllib.loads(block))
    assert (prices.currency, prices.operator.value, prices.engineering.low) == ("EUR", 38, 90)


# Words.


def test_claims_and_states_are_explained():
    page = text("verdicts.md")
    assert [claim.id for claim in all_claims() if f"`{claim.id}`" not in page] == []
    states = {*STATES, *CLAIM_STATES, *ADVICE_STATES}
    assert {state for state in states if f"\n| {state} |" not in page} == set()


def test_schemas_and_exit_codes_are_listed():
    page = text("study.md")
    line = re.search(r"^Schemas: (.*)\.$", page, re.M)
    assert line
    assert line[1].replace("`", "").split(", ") == list(SCHEMAS)
    codes = {0, *(cls.exit_code for cls in [SimrealError, *SimrealError.__subclasses__()])}
    section = page.split("## Exit codes")[1]
    assert {int(code) for code in re.findall(r"^\| (\d) \|", section, re.M)} == codes


def anchors(page: str) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page, re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_within_the_repository_lead_somewhere(page):
    broken = []
    for link in LINK.findall(page.read_text()):
        if link.startswith(("http:", "https:")):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            broken.append(link)
    assert broken == []
