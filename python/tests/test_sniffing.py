"""What a CSV file is found to be, beside what DuckDB finds: the same, or something else for a reason."""

import datetime

import duckdb
import frazil
import hostile_csv
import pytest

FILES = hostile_csv.files()
#: DuckDB's names of types as Frazil's.
TYPES = {"VARCHAR": "text", "DOUBLE": "double precision", "HUGEINT": "decimal(38,0)"}
#: Files that Frazil reads otherwise, or refuses: what it finds (names and types, or an error), and why that is better.
DIFFERENT = {
    "mixed_ends": ("a bigint, b text", "every line ends as its writer ended it; no line is lost or refused"),
    "comma_in_text": ("id bigint, note text", "all lines have one semicolon, and the header has no comma: commas are text"),
    "thousands": ("a text, b text", "all lines have one semicolon; the first line is not dropped"),
    "quoted_empty": ("a bigint, b text", "a quoted empty field is the empty string, as PostgreSQL has it, an unquoted one NULL"),
    "plus_signs": ("a bigint, b double precision", "a number may have a plus sign"),
    "short_row": ("22P04", "a row with a field too few is an error with its line; the file is not one column of text"),
    "long_row": ("22P04", "a row with a field too many is an error with its line; the file is not one column of text"),
    "names_by_case": ("a bigint, A bigint, c bigint", "a and \"A\" are different names, as in PostgreSQL"),
    "ambiguous_dates": ("d text, n bigint", "nothing tells whether day or month comes first: a guess would be wrong in silence"),
    "late_text": ("a text, b bigint", "the first lines mislead about a type: all of the file is looked at, and read"),
    "open_quote": ("22P04", "a quote that never ends is an error with its line: quotes are not taken for text"),
    "open_quote_late": ("22P04", "a quote that never ends is an error with its line: quotes are not taken for text"),
    "empty_file": ("22P04", "a file without a byte has no columns: most likely it was not written yet"),
    "only_blank": ("22P04", "a file of empty lines has no columns"),
    "nul_bytes": ("22021", "text has no NUL bytes, as in PostgreSQL; the line is named"),
    "zoned": ("t timestamptz, n bigint", "times that all name their offset are instants; DuckDB has another name for the type"),
}


def found_by_frazil(path):
    """Names and types, or the SQLSTATE; and the rows."""
    with frazil.connect(":memory:") as con:
        try:
            cursor = con.execute(f"select * from '{path}'")
        except frazil.Error as error:
            assert path.name in str(error), error
            return error.sqlstate, None
        return ", ".join(f"{name} {ty}" for name, ty, *_ in cursor.description), cursor.fetchall()


def found_by_duckdb(path):
    with duckdb.connect() as con:
        try:
            con.execute("set timezone = 'UTC'")
            relation = con.execute(f"select * from '{path}'")
            rows = relation.fetchall()
        except duckdb.Error:
            return "an error", None
        types = [(column[0].lower(), str(column[1])) for column in relation.description]
        return ", ".join(f"{name} {TYPES.get(ty, ty.lower())}" for name, ty in types), rows


def comparable(rows):
    """Rows whose NaNs are equal, and whose whole numbers are so whatever their type is."""
    def value(v):
        return "NaN" if v != v else int(v) if not isinstance(v, (str, bool, type(None), datetime.date, datetime.time)) and v == v // 1 else v
    return [tuple(map(value, row)) for row in rows]


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_found_to_be_what_duckdb_finds_or_there_is_a_reason(name, tmp_path):
    path = tmp_path / f"{name}.csv"
    path.write_bytes(FILES[name])
    (ours, our_rows), (theirs, their_rows) = found_by_frazil(path), found_by_duckdb(path)
    if name in DIFFERENT:
        expected, reason = DIFFERENT[name]
        assert ours == expected and reason
    elif their_rows is None:
        assert our_rows is None, f"{ours}, and DuckDB refuses"
    else:
        assert ours == theirs
        assert comparable(our_rows) == comparable(their_rows)


def test_there_are_forty_files_at_least():
    assert len(FILES) >= 40 and set(DIFFERENT) <= set(FILES)


def test_no_row_of_a_file_that_is_read_is_lost(tmp_path):
    for name in ("comma_in_text", "thousands", "mixed_ends", "late_text"):
        path = tmp_path / f"{name}.csv"
        path.write_bytes(FILES[name])
        assert len(found_by_frazil(path)[1]) == FILES[name].count(b"\n") - 1, name
