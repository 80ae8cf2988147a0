"""The pictures of a study in the order the page shows them: samples side by side, then films."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simreal.report.media import Picture
from simreal.report.records import Study

#: Pictures of one trial, by different cameras.
Film = tuple[Picture, ...]


@dataclass(frozen=True)
class Strips:
    """The films of one arm: those that stand open, and those that fold away."""

    name: str
    opened: list[Film]
    folded: list[Film]


def samples(study: Study) -> list[tuple[str, str, list[Picture]]]:
    """(heading, label, pictures) for simulation, target and unseen, side by side."""
    headings = (
        ("sample_sim", "simulation", ""),
        ("sample_target", "target", study.label),
        ("sample_unseen", "unseen backgrounds", study.label),
    )
    found = [
        (heading, label, [p for p in study.pictures if p.kind == kind])
        for kind, heading, label in headings
    ]
    return found if any(pictures for _, _, pictures in found) else []


def strips(study: Study) -> list[Strips]:
    """Filmstrips by arm, successes first; demonstrations last, under their own heading."""
    groups: dict[str, list[Film]] = {arm.name: [] for arm in study.arms}
    films: dict[tuple[object, ...], list[Picture]] = {}
    for p in sorted(study.pictures, key=lambda p: p.kind != "success"):
        if p.kind in ("success", "failure"):
            key = (p.arm, p.target, p.suite, p.condition, p.kind, p.camera and p.failure)
            films.setdefault(key if p.camera else (p.file,), []).append(p)
    for film in films.values():
        groups.setdefault(film[0].arm or "no arm", []).append(tuple(film))
    names = {place.name for place in study.places}
    found = [Strips(name, *_shown(films, names)) for name, films in groups.items() if films]
    demos: list[Film] = [(p,) for p in study.pictures if p.kind == "demo"]
    return [*found, Strips("Demonstrations", demos, [])] if demos else found


def _shown(films: Sequence[Film], targets: set[str]) -> tuple[list[Film], list[Film]]:
    """Films of nominal trials on a target stand open; the others fold away, if any is open."""
    opened = [f for f in films if f[0].target in targets and f[0].suite in (None, "nominal")]
    folded = [f for f in films if f not in opened]
    return (opened, folded) if opened else (folded, [])


def film_caption(film: Film) -> str:
    """The caption of the first picture, which names all cameras where there are several."""
    first = film[0]
    cameras = [p.camera for p in film if p.camera]
    if len(cameras) < 2:
        return first.caption
    names = f"{' above, '.join(cameras)} below"
    return first.caption.replace(f"{first.camera} camera", names)


def picture_label(study: Study, picture: Picture) -> str:
    """The label of what a picture shows: its target's, or the study's where none is named."""
    if picture.target is None:
        return "" if picture.kind in ("sample_sim", "demo") else study.label
    return next((p.label for p in study.places if p.name == picture.target), "")
