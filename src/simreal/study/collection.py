"""A data set that is filled from numbered shards, and what is left of it to fill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from simreal.core.errors import BadDataError, UsageError
from simreal.core.files import append_jsonl, read_json, read_jsonl, write_json
from simreal.core.types import Episode
from simreal.demos.spec import DatasetSpec
from simreal.demos.store import Writer, create

#: Share of attempts that may fail before collection is called hopeless.
MOST_FAILURES = 0.9


class Collection:
    """A data set being filled from numbered shards; `shards.jsonl` says which are in it.

    A shard counts once its line is written; episodes of a shard that was cut short are already in
    the data set and are not written twice.
    """

    def __init__(
        self,
        root: Path,
        spec: DatasetSpec,
        wanted: int,
        request: Mapping[str, Any],
        finish: bool = True,
    ) -> None:
        """Begin `root`, or go on with it if it was begun by the same request.

        finish: the data set is finished once it is full; else it can still grow.

        Raises:
            UsageError: when the folder was begun by another one, naming what differs.
        """
        self.wanted, self._finish = wanted, finish
        self._log = root.parent / f"{root.name}.shards.jsonl"
        _same_request(root.parent / f"{root.name}.request.json", request)
        self.lines = list(read_jsonl(self._log))
        self._writer: Writer = create(root, spec, resume=True)

    @property
    def stored(self) -> int:
        """Episodes of the shards that are complete."""
        return sum(int(line["stored"]) for line in self.lines)

    @property
    def full(self) -> bool:
        """Whether all wanted episodes are there."""
        return self.stored >= self.wanted

    def take(self, episodes: Sequence[Episode], line: dict[str, Any]) -> int:
        """Store a shard's episodes up to the wanted number; returns how many count."""
        already = self._writer.num_episodes - self.stored
        kept = list(episodes)[: self.wanted - self.stored]
        for episode in kept[already:]:
            self._writer.write(episode)
        full_line = {**line, "shard": len(self.lines), "stored": len(kept)}
        append_jsonl(self._log, [full_line])
        self.lines.append(full_line)
        return len(kept)

    def close(self) -> None:
        """Finish the data set if it is full and shall be, else leave it resumable."""
        if self.full and self._finish:
            self._writer.finalize()
        self._writer.close()


def _same_request(path: Path, request: Mapping[str, Any]) -> None:
    """Write down what is asked for, or compare it with what was asked for before."""
    if not path.exists():
        write_json(path, request)
        return
    before = read_json(path)
    differ = sorted(k for k in {*before, *request} if before.get(k) != request.get(k))
    if differ:
        raise UsageError(
            f"{path.with_suffix('').with_suffix('')} was begun with another "
            f"{', '.join(differ)}; choose another folder, or go on with the same settings."
        )


def rounds(collection: Collection, size: int, per_attempt: int) -> Iterator[range]:
    """Ranges of shard numbers to run next, until the collection is full."""
    while not collection.full:
        begun = len(collection.lines)
        attempts = begun * size * per_attempt
        if attempts > 200 and collection.stored < (1 - MOST_FAILURES) * attempts:
            raise BadDataError(
                f"Only {collection.stored} of {attempts} demonstrations succeeded; "
                "the task or the randomization is too hard for the operator."
            )
        left = collection.wanted - collection.stored
        yield range(begun, begun + -(-left // (size * per_attempt)))
