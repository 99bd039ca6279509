"""Every type by every way through the protocol: as a parameter in text and in binary, as a result in text and in binary, with
edge values and NULL. `wire_values.txt` has PostgreSQL's answers: a line for each value, with its type, the text that is sent, and the
text and the bytes (in hexadecimal) that come back, or the SQLSTATE of the error. FRAZIL_JUDGE, the connection string of a
PostgreSQL 15, writes the file anew."""

import os
import pathlib

import pytest
from test_clients import dsn, port  # noqa: F401

FILE = pathlib.Path(__file__).parent / "wire_values.txt"
JUDGE = os.environ.get("FRAZIL_JUDGE")

# Types with their oids, and texts of values.
VALUES = {
    ("boolean", 16): ["t", "f", "true", "no", "1", "2"],
    ("smallint", 21): ["0", "-32768", "32767", "32768", "1.5", " 7 "],
    ("integer", 23): ["0", "-2147483648", "2147483647", "2147483648", "x", ""],
    ("bigint", 20): ["0", "-9223372036854775808", "9223372036854775807", "9223372036854775808"],
    ("real", 700): ["0", "-0", "1.5", "3.4028235e38", "1e-45", "1e39", "NaN", "Infinity", "-Infinity", "0.1"],
    ("double precision", 701): ["0", "-0", "0.1", "1.7976931348623157e308", "5e-324", "1e309", "NaN", "-Infinity"],
    ("numeric", 1700): ["0", "-1", "1.50", "0.00", "12345678901234567890.123456789", "-0.0001", "10000", "9999", "1e5", "x"],
    ("text", 25): ["", "a", "ä€😀", "a\\b'c\"d", "  blanks  ", "x" * 300],
    ("varchar", 1043): ["", "abc", "ä€"],
    # Blanks at the end are not kept: docs/sql.md says so.
    ("bpchar", 1042): ["", "a"],
    ("name", 19): ["", "abc", "n" * 70],
    ('"char"', 18): ["", "a", "ab"],
    ("bytea", 17): ["", "\\x", "\\x00ff", "abc", "\\\\", "\\000", "\\xzz"],
    ("date", 1082): ["1970-01-01", "2000-02-29", "0001-01-01 BC", "4713-01-01 BC", "5874897-12-31", "infinity", "-infinity", "2021-02-30"],
    ("time", 1083): ["00:00", "23:59:59.999999", "24:00:00", "12:34:56.5", "25:00"],
    ("timestamp", 1114): ["1999-12-31 23:59:59.999999", "2000-01-01", "0044-03-15 12:00 BC", "infinity", "-infinity", "x"],
    ("timestamptz", 1184): ["2000-01-01 00:00+00", "2024-07-01 12:00:00.123456+02", "infinity", "-infinity"],
    ("interval", 1186): ["0", "1 day", "-1 mon", "1 year 2 mons 3 days 04:05:06.789", "-00:00:00.000001", "P1Y2M", "x"],
    ("uuid", 2950): ["00000000-0000-0000-0000-000000000000", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "{A0EEBC999C0B4EF8BB6D6BB9BD380A11}", "x"],
    ("json", 114): ["{}", '{"a" : [1, null]}', '"x"', "null", "{"],
    ("jsonb", 3802): ["{}", '{"b": 1, "a" : [1.50, null, true, "\\u00e4"]}', "null", "{"],
    ("jsonpath", 4072): ["$", "$.a[*] ? (@ > 1)", "$$"],
    ("oid", 26): ["0", "1", "4294967295", "-1", "4294967296"],
    ("tid", 27): ["(0,1)", "(4294967295,65535)", "(1)"],
    ("xid", 28): ["0", "4294967295"],
    ("cid", 29): ["7"],
    ("integer[]", 1007): ["{}", "{1,NULL,-2}", "{{1,2},{3,4}}", "[0:1]={5,6}", "{1", "{a}"],
    ("text[]", 1009): ["{}", '{a,"b c",NULL,"NULL",""}', '{"\\"\\\\"}'],
    ("boolean[]", 1000): ["{t,f,NULL}"],
    ("numeric[]", 1231): ["{1.50,NULL,-2}"],
    ("timestamptz[]", 1185): ['{"2000-01-01 00:00+00",NULL}'],
    ("uuid[]", 2951): ["{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,NULL}"],
    ("jsonb[]", 3807): ['{"{\\"a\\": 1}",NULL}'],
    ("bytea[]", 1001): ['{"\\\\x00ff",NULL}'],
    ("date[]", 1182): ["{2000-01-01,infinity}"],
    ("interval[]", 1187): ['{"1 day",NULL}'],
    ("bigint[]", 1016): ["{9223372036854775807,NULL}"],
    ("double precision[]", 1022): ["{0.1,NaN,NULL}"],
    ("tid[]", 1010): ['{"(0,1)",NULL}'],
}


def asked(pg, ty, oid, value, given, wanted):
    """The bytes of a value that goes through the server, or the SQLSTATE of the error as a text."""
    from psycopg.pq import DiagnosticField, ExecStatus

    result = pg.exec_params(f"select $1::{ty}".encode(), [value], [oid], [given], wanted)
    if result.status == ExecStatus.TUPLES_OK:
        assert result.fformat(0) == wanted
        return result.get_value(0, 0)
    return result.error_field(DiagnosticField.SQLSTATE).decode()


def record(pg, ty, oid, text):
    """A line of the file."""
    found = [asked(pg, ty, oid, text.encode(), 0, wanted) for wanted in (0, 1)]
    shown = [answer if isinstance(answer, str) else answer.hex() for answer in found]
    return "\t".join([ty, str(oid), text.encode().hex(), *shown])


def settled(connect, where):
    connection = connect(where, autocommit=True)
    connection.execute("set time zone 'Europe/Berlin'")
    return connection


def test_every_type_in_each_format(port):  # noqa: F811
    psycopg = pytest.importorskip("psycopg")
    all_values = [(ty, oid, text) for (ty, oid), texts in VALUES.items() for text in texts]
    if JUDGE:
        judge = settled(psycopg.connect, JUDGE)
        lines = [record(judge.pgconn, *value) for value in all_values]
        FILE.write_text("\n".join(lines) + "\n")
    lines = [line.split("\t") for line in FILE.read_text().splitlines()]
    assert [(ty, int(oid), bytes.fromhex(text).decode()) for ty, oid, text, _, _ in lines] == all_values
    pg = settled(psycopg.connect, dsn(port)).pgconn
    wrong = []
    for ty, oid, sent, text, binary in lines:
        value, oid = bytes.fromhex(sent), int(oid)
        is_error = len(text) == 5 and len(binary) == 5
        wanted = [text, binary] if is_error else [bytes.fromhex(text), bytes.fromhex(binary)]
        ways = [(value, 0, 0, wanted[0]), (value, 0, 1, wanted[1])]
        if not is_error:
            ways += [(wanted[1], 1, 0, wanted[0]), (wanted[1], 1, 1, wanted[1])]
        for given, form, result, right in ways:
            found = asked(pg, ty, oid, given, form, result)
            if found != right:
                wrong.append(f"{ty} {value!r}, parameter {form}, result {result}: {found!r} instead of {right!r}")
    for ty, oid in VALUES:
        nulls = [asked(pg, ty, oid, None, form, result) for form in (0, 1) for result in (0, 1)]
        if nulls != [None] * 4:
            wrong.append(f"{ty} NULL: {nulls}")
    assert not wrong, "\n".join(wrong)
