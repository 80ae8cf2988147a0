import dataclasses
import json

import pytest

from simreal.core.errors import BadDataError
from simreal.core.types import Charge
from simreal.study import ledger as ledger_file
from simreal.study.ledger import Ledger

CHARGE = Charge("2024-01-01T00:00:00Z", "process clock", "shared", "render", 1.5, "s")


def test_charges_come_back_marked_with_the_work_they_are_for(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    assert ledger.read() == ()
    told = dataclasses.replace(CHARGE, note="20 trials", quantity=2.0)
    ledger.add([CHARGE, told], once="sim/0")
    assert ledger.read() == (
        dataclasses.replace(CHARGE, note="[sim/0]"),
        dataclasses.replace(told, note="20 trials [sim/0]"),
    )


def test_work_done_again_is_charged_once(tmp_path):
    path = tmp_path / "ledger.jsonl"
    Ledger(path).add([CHARGE], once="sim/0")
    before = path.read_bytes()
    Ledger(path).add([dataclasses.replace(CHARGE, quantity=9.0)], once="sim/0")
    assert path.read_bytes() == before


def test_work_of_a_similar_name_is_charged(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for once in ("sim/1", "sim/11", "trials/sim/1", "sim/1/0"):
        ledger.add([CHARGE], once=once)
    assert len(ledger.read()) == 4


def test_a_charge_torn_by_a_kill_is_written_again(tmp_path):
    path = tmp_path / "ledger.jsonl"
    ledger = Ledger(path)
    ledger.add([CHARGE], once="sim/0")
    ledger.add([CHARGE], once="sim/1")
    path.write_bytes(path.read_bytes()[:-9])
    ledger.add([CHARGE], once="sim/0")
    ledger.add([CHARGE], once="sim/1")
    assert [c.note for c in ledger.read()] == ["[sim/0]", "[sim/1]"]


def test_charges_that_a_kill_let_through_in_part_are_completed(tmp_path):
    path = tmp_path / "ledger.jsonl"
    three = [dataclasses.replace(CHARGE, kind=kind) for kind in ("simulate", "render", "train")]
    Ledger(path).add(three, once="sim/0")
    whole = path.read_bytes()
    for cut in range(1, len(whole), 7):
        path.write_bytes(whole[:cut])
        Ledger(path).add(three, once="sim/0")
        assert path.read_bytes() == whole


def test_the_file_is_read_again_only_when_somebody_else_wrote_to_it(tmp_path, monkeypatch):
    path, reads = tmp_path / "ledger.jsonl", []
    real = ledger_file.read_jsonl
    monkeypatch.setattr(ledger_file, "read_jsonl", lambda p: reads.append(p) or real(p))
    mine, other = Ledger(path), Ledger(path)
    for number in range(20):
        mine.add([CHARGE], once=f"sim/{number}")
    assert len(reads) == 1
    other.add([CHARGE], once="clock/0")
    mine.add([CHARGE], once="clock/0")
    assert [c.note for c in mine.read()].count("[clock/0]") == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "bribe"}, "Unknown kind of charge 'bribe'"),
        ({"unit": "parsec"}, "Unknown unit of a charge 'parsec'"),
        ({"quantity": -5}, "must lie between 0 and"),
        ({"quantity": 1e300}, "must lie between 0 and"),
        ({"quantity": "many"}, "quantity is 'many'"),
        ({"quantity": True}, "quantity is True"),
        ({"note": None}, "note is None"),
        ({"extra": 1}, "a charge got an unexpected keyword argument 'extra'"),
    ],
)
def test_a_broken_charge_is_named_by_its_line(tmp_path, changes, said):
    path = tmp_path / "ledger.jsonl"
    lines = [dataclasses.asdict(CHARGE), dataclasses.asdict(CHARGE) | changes]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(BadDataError, match=r"ledger\.jsonl, line 2: ") as error:
        Ledger(path).read()
    assert said in str(error.value)
