"""Files that are whole or absent, and what is said of those that are broken."""

import pytest

from simreal.core.errors import BadDataError
from simreal.core.files import append_jsonl, read_json, read_jsonl


@pytest.mark.parametrize("line", ["[" * 100_000, "9" * 5000, "[1]", "3", "", "{"])
def test_a_broken_line_is_named(tmp_path, line):
    path = tmp_path / "records.jsonl"
    path.write_text('{"a": 1}\n' + line + "\n")
    with pytest.raises(BadDataError, match=r"records\.jsonl, line 2, is not"):
        list(read_jsonl(path))


def test_a_line_separator_inside_a_text_ends_no_line(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text('{"a": "x\u2028y"}\n{"a": "z"}\n')
    assert [r["a"] for r in read_jsonl(path)] == ["x\u2028y", "z"]


def test_a_torn_last_line_is_left_out_and_written_over(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text('{"a": 1}\n{"a": 2')
    assert list(read_jsonl(path)) == [{"a": 1}]
    append_jsonl(path, [{"a": 3}])
    assert list(read_jsonl(path)) == [{"a": 1}, {"a": 3}]


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[" * 100_000])
def test_a_broken_file_is_named(tmp_path, content):
    path = tmp_path / "content.json"
    path.write_bytes(content)
    with pytest.raises(BadDataError, match=r"content\.json is not"):
        read_json(path)
