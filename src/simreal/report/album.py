"""The pictures of a study in the order the page shows them: samples side by side, then films."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from simreal.report.media import Embedded, Picture, embed
from simreal.report.records import Study

#: Pictures of one trial, by different cameras.
Film = tuple[Picture, ...]
#: What all pictures of a page may take, characters; films that do not fit stay in media/.
BUDGET = 1_800_000


@dataclass(frozen=True)
class Strips:
    """The films of one arm: those that stand open, and those that fold away."""

    name: str
    opened: list[Film]
    folded: list[Film]


@dataclass(frozen=True)
class Album:
    """All pictures of a page. kinds: one film of each way a trial ended; left_out: films that
    found no room; embedded: file -> picture, None where the file is missing.
    """

    samples: list[tuple[str, str, list[Picture]]]
    kinds: list[Film]
    strips: list[Strips]
    left_out: int
    embedded: Mapping[str, Embedded | None]


def album(study: Study, media: Path, budget: int = BUDGET) -> Album:
    """Choose, embed and order the pictures; the most telling ones first, until the page is full."""
    shown = samples(study)
    kinds = one_of_each_kind(study)
    groups = strips(study, kinds)
    embedded = _embed(((p,) for _, _, pictures in shown for p in pictures), media, budget)
    room = budget - _size(embedded)
    films = [*kinds, *(f for g in groups for f in g.opened), *(f for g in groups for f in g.folded)]
    embedded |= _embed(films, media, room)

    def kept(found: Sequence[Film]) -> list[Film]:
        return [film for film in found if all(p.file in embedded for p in film)]

    left = [
        g
        for s in groups
        if (g := Strips(s.name, kept(s.opened), kept(s.folded))).opened or g.folded
    ]
    missing = sum(any(p.file not in embedded for p in film) for film in films)
    return Album(shown, kept(kinds), left, missing, embedded)


def _embed(films: Iterable[Film], media: Path, room: int) -> dict[str, Embedded | None]:
    """Whole films in their order while they fit into `room` characters."""
    found: dict[str, Embedded | None] = {}
    for film in films:
        paths = {p.file: media / p.file for p in film}
        new = {name: embed(path) if path.is_file() else None for name, path in paths.items()}
        if _size(found) + _size(new) > room:
            break
        found |= new
    return found


def _size(pictures: Mapping[str, Embedded | None]) -> int:
    return sum(len(picture.uri) for picture in pictures.values() if picture)


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


def one_of_each_kind(study: Study) -> list[Film]:
    """One film of each failure kind and of a success; on a target under nominal conditions if any.

    Kinds in the order of how often trials ended so on the targets; the success last.
    """
    counted: dict[str, int] = {}
    for (target, _, _), kinds in study.failures.items():
        if target in {p.name for p in study.places}:
            for kind, number in kinds.items():
                counted[kind] = counted.get(kind, 0) + number
    found: dict[str, Film] = {}
    names = {place.name for place in study.places}
    for film in sorted(_films(study), key=lambda f: (f[0].target not in names, not _nominal(f))):
        kind = "success" if film[0].kind == "success" else film[0].failure or "failure"
        found.setdefault(kind, film)
    order = sorted(found, key=lambda k: (k == "success", -counted.get(k, 0), k))
    return [found[kind] for kind in order]


def strips(study: Study, without: Sequence[Film] = ()) -> list[Strips]:
    """Filmstrips by arm, successes first; demonstrations last, under their own heading."""
    groups: dict[str, list[Film]] = {arm.name: [] for arm in study.arms}
    for film in _films(study):
        groups.setdefault(film[0].arm or "no arm", []).append(film)
    names = {place.name for place in study.places}
    found = []
    for name, films in groups.items():
        parts = [[f for f in part if f not in without] for part in _shown(films, names)]
        if any(parts):
            found.append(Strips(name, *parts))
    demos: list[Film] = [(p,) for p in study.pictures if p.kind == "demo"]
    return [*found, Strips("Demonstrations", demos, [])] if demos else found


def _films(study: Study) -> list[Film]:
    """Trials, each with the pictures of all its cameras; successes first."""
    films: dict[tuple[object, ...], list[Picture]] = {}
    for p in sorted(study.pictures, key=lambda p: p.kind != "success"):
        if p.kind in ("success", "failure"):
            key = (p.arm, p.target, p.suite, p.condition, p.kind, p.camera and p.failure)
            films.setdefault(key if p.camera else (p.file,), []).append(p)
    return [tuple(film) for film in films.values()]


def _nominal(film: Film) -> bool:
    return film[0].suite in (None, "nominal")


def _shown(films: Sequence[Film], targets: set[str]) -> tuple[list[Film], list[Film]]:
    """Films of nominal trials on a target stand open; the others fold away, if any is open."""
    opened = [f for f in films if f[0].target in targets and _nominal(f)]
    folded = [f for f in films if f not in opened]
    return (opened, folded) if opened else (folded, [])


def film_caption(film: Film, between: tuple[str, str] = (" above, ", " below")) -> str:
    """The caption of the first picture, which names all cameras where there are several."""
    first = film[0]
    cameras = [p.camera for p in film if p.camera]
    if len(cameras) < 2:
        return first.caption
    names = between[0].join(cameras) + between[1]
    return first.caption.replace(f"{first.camera} camera", names)


def picture_label(study: Study, picture: Picture) -> str:
    """The label of what a picture shows: its target's, or the study's where none is named."""
    if picture.target is None:
        return "" if picture.kind in ("sample_sim", "demo") else study.label
    return next((p.label for p in study.places if p.name == picture.target), "")
