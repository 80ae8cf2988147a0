"""STUDY/report.html: one self-contained page, made again from the study's records at any time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from simreal.core.files import write_text
from simreal.core.types import STAND_IN
from simreal.report import (
    album,
    applied,
    explained,
    felt,
    figures,
    numbers,
    outlook,
    plots,
    view,
    words,
)
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
    made = environment()
    html = made.get_template("page.html").render(_context(study, study_dir, prices))
    path = study_dir / "report.html"
    write_text(path, re.sub(r"(\d) %", rf"\1{numbers.THIN}%", html))
    return path


def environment() -> Environment:
    """Templates with what all pages use: numbers, words, plots and the style sheet."""
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["nobreak"] = _nobreak
    names = ["counts", "interval", "points", "percent", "span", "signed", "money", "hours", "share"]
    made.globals.update({name: getattr(numbers, name) for name in names})
    made.globals.update(
        words=words,
        plots=plots,
        facts=view.flat,
        stand_in=STAND_IN,
        style=Markup((_TEMPLATES / "page.css").read_text()),
    )
    return made


def _context(study: Study, folder: Path, prices: Prices) -> dict[str, Any]:
    costs = view.costs(study, prices)
    bars = [cost.bar for cost in costs]
    return {
        "study": study,
        "label": study.label,
        "advice": study.summary["advice"],
        "columns": view.success_columns(study),
        "gaps": view.gap_bars(study),
        "costs": costs,
        "unplaced": [bar.arm for bar in bars if bar.target.position is None],
        "setup": _setup(study, costs),
        "split": all("total" not in bar.parts for bar in bars),
        "numbered": plots.numbered(bars),
        "failure_groups": (groups := view.failure_groups(study)),
        "failure_kinds": view.failure_kinds(groups),
        "claims": _claims(study),
        "deviations": view.deviations(study),
        "diets": applied.diets(study),
        "randomization": applied.randomization(study),
        "axes": applied.axes(study),
        "figures": figures.figures(study, bars, felt.read_profiles(folder / "media")),
        **_felt(study),
        **_expected(study),
        **_pictures(study, folder / "media"),
    }


def _felt(study: Study) -> dict[str, Any]:
    """What studies of several suites, with forces or goals, show beside; all of it may be empty."""
    suite_names, suite_rows = felt.suites(study)
    operator = felt.operator(study)
    return {
        "suite_names": suite_names,
        "suite_rows": suite_rows,
        "suite_text": lambda name: view.suite_text(study, name),
        "goals": felt.goals(study),
        "operator_suites": operator[0],
        "operator_rows": operator[1],
        "force": study.summary.get("force"),
        "force_rows": felt.force_rows(study),
    }


def _expected(study: Study) -> dict[str, Any]:
    """What the sections about the future and about causes show; all of it may be empty."""
    explanation = outlook.entry(study, "explanation")
    economics = outlook.entry(study, "economics")
    return {
        "goal": outlook.goal(study),
        "currency": outlook.currency(study),
        "acceptance": outlook.entries(study, "acceptance"),
        "ranking": outlook.entry(study, "ranking"),
        "recipes": outlook.entries(study, "recipes"),
        "explanation": explanation,
        "factors": explained.factors(explanation),
        "variants": explained.variants(explanation),
        "pairs": explained.pairs(explanation),
        "shared_out": explained.shared_out(explanation),
        "moved_failures": explained.failures(explanation),
        "curves": outlook.entry(study, "curves"),
        "lines": outlook.curves(study),
        "roads": outlook.roads(study),
        "measurements": outlook.measurements(study),
        "advised": road.name if (road := outlook.advised_road(study)) else None,
        "economics": economics,
        "measured_reach": any(
            r.get("basis") == "measured arm" for r in economics.get("reach") or ()
        ),
        "sizes": {arm.name: arm.n_real for arm in study.arms},
        "bands": outlook.bands(study),
        "time": outlook.entry(study, "time"),
        "spans": outlook.spans(study),
        "other_rate": f"{outlook.rate_in_reach(study):g}",
        "lab": outlook.lab(study),
    }


def _pictures(study: Study, media: Path) -> dict[str, Any]:
    shown = album.album(study, media)
    sheets = [shown.embedded.get(p.file) for _, _, pictures in shown.samples for p in pictures]
    return {
        "album": shown,
        "image": shown.embedded.get,
        "wide_samples": any(s.width > 2 * s.height for s in sheets if s),
        "film_caption": album.film_caption,
        "picture_label": lambda picture: album.picture_label(study, picture),
    }


def _setup(study: Study, costs: list[view.Cost]) -> Interval | None:
    """What building the simulation may add to the cost of the advised arm."""
    arm = words.advised(study)
    return next((c.setup for c in costs if arm and c.bar.arm == arm.name), None)


def _nobreak(text: str) -> Markup:
    """Text in which the label of a stand-in is never broken over two lines."""
    whole = escape(text)
    return Markup(whole.replace(STAND_IN, Markup('<span class="nowrap">%s</span>') % STAND_IN))


def _claims(study: Study) -> list[tuple[str, str, Mapping[str, Any]]]:
    """(text, test, verdict) of every claim of the fixed list, then of any other in the summary."""
    found = {str(c["id"]): c for c in study.summary["claims"]}
    fixed = {claim.id: (claim.text, claim.test) for claim in all_claims()}
    untested = {"state": "not tested here", "estimate": None, "ci": None, "method": ""}
    return [
        (*fixed.get(name, (name, "")), found.get(name, untested))
        for name in dict.fromkeys([*fixed, *found])
    ]
