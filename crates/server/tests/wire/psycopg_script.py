"""What psycopg 3 does with a server: values both ways in text and binary, transactions, pipelines, cursors, COPY."""

import datetime
import decimal
import uuid

import psycopg
from psycopg.types.json import Jsonb

connection = psycopg.connect("", autocommit=True)
connection.execute("create table t (a integer primary key, b text, d numeric(8,2))")
connection.execute("insert into t values (%s, %s, %s)", (1, "one", decimal.Decimal("1.5")))

values = [
    1, -40_000, 1 << 40, 2.5, True, "text \u00e4", b"\x00\xff", decimal.Decimal("123.4500"), None,
    datetime.date(2020, 2, 29), datetime.time(1, 2, 3, 4), datetime.datetime(1999, 12, 31, 23, 59, 59, 999_999),
    datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc), datetime.timedelta(days=3, seconds=4),
    uuid.UUID(int=5), [1, None, 3],
]
for binary in (False, True):
    cursor = connection.cursor(binary=binary)
    for value in values:
        for form in ("%s", "%b", "%t"):
            if form == "%b" and isinstance(value, (list, datetime.timedelta)):
                continue
            row = cursor.execute(f"select {form}", (value,)).fetchone()
            assert row == (value,), (binary, form, value, row)
    texts = ["a", "b c", None, ""]
    assert cursor.execute("select %s::text[]", (texts,)).fetchone() == (texts,)
    assert cursor.execute("select %s::jsonb", (Jsonb({"a": [1, None]}),)).fetchone() == ({"a": [1, None]},)
    assert cursor.execute("select * from t where d = %s", (decimal.Decimal("1.50"),)).fetchall() == [
        (1, "one", decimal.Decimal("1.50"))
    ]

heard = []
connection.add_notice_handler(lambda notice: heard.append((notice.severity, notice.sqlstate, notice.message_primary)))
assert connection.execute("create table made as select generate_series(1, 3) as a").rowcount == 3
connection.execute("drop table if exists made, nope")
assert heard == [("NOTICE", "00000", 'table "nope" does not exist, skipping')], heard

connection.execute("listen news")
with psycopg.connect("", autocommit=True) as other:
    other.execute("select pg_notify('news', 'of the other')")
[notification] = connection.notifies(timeout=60, stop_after=1)
assert (notification.channel, notification.payload) == ("news", "of the other"), notification

for number in range(10):  # From the sixth run on the statement has a name.
    connection.execute("select a from t where a = %s", (number,)).fetchall()

with connection.pipeline():
    cursors = [connection.execute("select %s::int + 1", (number,)) for number in range(5)]
assert [cursor.fetchone()[0] for cursor in cursors] == [1, 2, 3, 4, 5]

with connection.transaction():
    connection.execute("insert into t values (10, 'ten', 10)")
    try:
        with connection.transaction():
            connection.execute("insert into t values (10, 'ten', 10)")
        raise AssertionError("a key twice")
    except psycopg.errors.UniqueViolation as error:
        assert error.diag.constraint_name == "t_pkey"
assert connection.execute("select count(*) from t").fetchone() == (2,)

connection.cursor().executemany("insert into t values (%s, %s, %s)", [(i, str(i), i) for i in range(20, 30)])
with connection.cursor().copy("copy t from stdin") as copy:
    for number in range(1000, 1010):
        copy.write_row((number, "copied", 1))
with connection.cursor().copy("copy t to stdout") as copy:
    assert len(b"".join(copy).splitlines()) == 22
with connection.cursor().copy("copy (select 'a' || chr(10), null, i from generate_series(1, 3) i) to stdout") as copy:
    assert list(copy.rows()) == [("a\n", None, str(i)) for i in (1, 2, 3)]
with connection.cursor().copy("copy (select 'a' || chr(10), null, i from generate_series(1, 3) i) to stdout binary") as copy:
    copy.set_types(["text", "text", "int4"])
    assert list(copy.rows()) == [("a\n", None, i) for i in (1, 2, 3)]
with connection.cursor().copy("copy t from stdin (format binary)") as copy:
    copy.set_types(["int4", "text", "numeric"])
    copy.write_row((5_000, "binary", decimal.Decimal("2.25")))
    copy.write_row((5_001, None, None))
assert connection.execute("delete from t where a >= 5000 returning a, b, d").fetchall() == [
    (5_000, "binary", decimal.Decimal("2.25")), (5_001, None, None)
]
with connection.transaction():
    for binary in (False, True):
        with connection.cursor("named", binary=binary, scrollable=True) as cursor:
            cursor.itersize = 100
            cursor.execute("select a, a::text from generate_series(1, %s) g (a)", (1_000,))
            assert cursor.description[1].name == "a"
            assert cursor.fetchone() == (1, "1") and cursor.fetchmany(2) == [(2, "2"), (3, "3")]
            cursor.scroll(-2)
            assert next(iter(cursor)) == (2, "2")
            cursor.scroll(999, mode="absolute")
            assert cursor.fetchall() == [(1_000, "1000")]
held = connection.cursor("held", withhold=True)
held.execute("select generate_series(1, 5)")
assert held.fetchmany(3) == [(1,), (2,), (3,)] and held.fetchall() == [(4,), (5,)]
held.close()
assert sum(1 for _ in connection.cursor().stream("select generate_series(1, 20000)")) == 20000
connection.close()
