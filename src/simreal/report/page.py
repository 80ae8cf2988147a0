"""STUDY/report.html: one self-contained page, made again from the study's records at any time."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from simreal.core.files import write_text
from simreal.core.types import STAND_IN
from simreal.report import album, numbers, plots, view, words
from simreal.report.media import picture_size
from simreal.report.records import Study, read_study
from simreal.verdicts.claims import all_claims
from simreal.verdicts.cost.prices import Prices, read_prices
from simreal.verdicts.rates import Interval

_TEMPLATES = Path(__file__).parent / "templates"


def build_page(study_dir: Path, prices: Prices | None = None) -> Path:
    """Write STUDY/report.html and return its path.

    prices: what the study's summary was priced with; without them, STUDY/prices.toml where it
    exists, else the shipped prices. They only split the totals of summary.json into parts.
    """
    study = read_study(study_dir)
    if prices is None:
        own = study_dir / "prices.toml"
        prices = read_prices(own if own.exists() else None)
    environment = _environment()
    html = environment.get_template("page.html").render(_context(study, study_dir, prices))
    path = study_dir / "report.html"
    write_text(path, html)
    return path


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["nobreak"] = _nobreak
    environment.globals.update(
        words=words,
        counts=numbers.counts,
        interval=numbers.interval,
        points=numbers.points,
        percent=numbers.percent,
        span=numbers.span,
        signed=numbers.signed,
        money=numbers.money,
        hours=numbers.hours,
        style=Markup((_TEMPLATES / "page.css").read_text()),
    )
    return environment


def _context(study: Study, folder: Path, prices: Prices) -> dict[str, Any]:
    costs = view.costs(study, prices)
    bars = [cost.bar for cost in costs]
    label = study.label
    return {
        "study": study,
        "label": label,
        "advice": study.summary["advice"],
        "columns": view.success_columns(study),
        "gaps": view.gap_bars(study),
        "costs": costs,
        "unplaced": [bar.arm for bar in bars if bar.target.position is None],
        "setup": _setup(study, costs),
        "split": all("total" not in bar.parts for bar in bars),
        "failure_groups": view.failure_groups(study),
        "samples": album.samples(study),
        "strips": album.strips(study),
        "claims": _claims(study),
        "deviations": view.deviations(study),
        "facts": view.flat,
        "stand_in": STAND_IN,
        "wide_samples": _wide(study, folder),
        "film_caption": album.film_caption,
        "picture_label": lambda picture: album.picture_label(study, picture),
        "image": lambda picture: _image(folder / "media" / picture.file),
        "success_figure": _both("success", plots.success, view.success_dots(study), label),
        "gap_figure": _both("gap", plots.gap, view.gap_bars(study), label),
        "cost_figure": _both("cost", plots.cost, bars, label) if bars else "",
        "trade_figure": _both("trade", plots.cost_success, bars, label) if bars else "",
    }


def _setup(study: Study, costs: list[view.Cost]) -> Interval | None:
    """What building the simulation may add to the cost of the advised arm."""
    arm = words.advised(study)
    return next((c.setup for c in costs if arm and c.bar.arm == arm.name), None)


def _nobreak(text: str) -> Markup:
    """Text in which the label of a stand-in is never broken over two lines."""
    whole = escape(text)
    return Markup(whole.replace(STAND_IN, Markup('<span class="nowrap">%s</span>') % STAND_IN))


def _both(name: str, draw: Callable[..., str], *arguments: Any) -> Markup:
    """The wide and the narrow drawing of a figure; the style sheet shows one of them."""
    wide = draw(*arguments, width=plots.WIDE, prefix=f"{name}-wide")
    narrow = draw(*arguments, width=plots.NARROW, prefix=f"{name}-narrow")
    return Markup(f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div>')


def _image(path: Path) -> str:
    """A PNG as a data URI; empty where the file is gone, which the page then says."""
    if not path.is_file():
        return ""
    return "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()


def _wide(study: Study, folder: Path) -> bool:
    """Whether a sample picture is too wide to stand beside others."""
    paths = [folder / "media" / p.file for p in study.pictures if p.kind.startswith("sample")]
    sizes = [picture_size(path) for path in paths if path.is_file()]
    return any(width > 2 * height for width, height in sizes)


def _claims(study: Study) -> list[tuple[str, str, Mapping[str, Any]]]:
    """(text, test, verdict) of every claim of the fixed list, then of any other in the summary."""
    found = {str(c["id"]): c for c in study.summary["claims"]}
    fixed = {claim.id: (claim.text, claim.test) for claim in all_claims()}
    untested = {"state": "not tested here", "estimate": None, "ci": None, "method": ""}
    return [
        (*fixed.get(name, (name, "")), found.get(name, untested))
        for name in dict.fromkeys([*fixed, *found])
    ]
