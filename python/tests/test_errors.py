"""Bad input: each error has its SQLSTATE, names the thing and the place, and harms nothing else."""

import re
import subprocess
import sys
from pathlib import Path

import frazil
import pytest


@pytest.fixture
def con(con):
    con.execute("create table t (a integer not null, b bigint, c decimal(5,2), d date, e text, f smallint)")
    con.execute("insert into t values (1, 10, 1.50, date '2020-01-31', 'one', 1), "
                "(2, null, -1.00, date '2021-02-28', 'two', 2)")
    con.execute("create table short (v varchar(3))")
    con.execute("create table nullable (n integer)")
    con.execute("insert into nullable values (1), (null)")
    con.execute("create view seen as select n from nullable")
    con.execute("create table keyed (k integer primary key, n integer check (n > 0))")
    con.execute("insert into keyed values (1, 1)")
    return con


def refusal(con, sql, params=None):
    with pytest.raises(frazil.Error) as caught:
        result = con.execute(sql, params) if params else con.execute(sql)
        pytest.fail(f"{sql} gave {result.fetchall() if result.description else 'no error'}")
    return caught.value


ERRORS = [
    ("create type bad as enum ('')", "42602"),
    # Privileges, keys of other tables, sequences.
    ("grant execute on t to public", "0LP01"),
    ("create table child (k integer references keyed); insert into child values (7)", "23503"),
    ("create table child (k integer references t (a))", "42830"),
    ("create sequence short_one start 2 maxvalue 2; select nextval('short_one'), nextval('short_one')", "2200H"),
    ("create table numbered (n integer generated always as identity); insert into numbered values (1)", "428C9"),
    # Schemas.
    ("create table nosuch.x (a integer)", "3F000"),
    ("create schema public", "42P06"),
    ("create schema pg_mine", "42939"),
    # Views and what they read.
    ("drop table nullable", "2BP01"),
    ("create or replace view seen as select 'x' as n", "42P16"),
    ("create or replace view seen as select n from seen", "42P17"),
    # Numbers that do not fit.
    ("select array_append(array[[1]], 2)", "22000"), ("select array[[1, 2], [3]]", "2202E"),
    ("select a + 2147483647 from t where a = 1", "22003"),
    ("select cast(b as integer) * 300000000 from t where a = 1", "22003"),
    ("select 2147483647 + 1", "22003"),
    ("select -(-2147483647 - 1)", "22003"),
    ("select 9223372036854775807 + 1", "22003"),
    ("select b * 9223372036854775807 from t", "22003"),
    ("select cast(a * 40000 as smallint) from t", "22003"),
    ("select cast(1000.00 as decimal(5,2))", "22003"),
    ("insert into t values (3, 1, 1000, null, null, null)", "22003"),
    ("insert into t values (2147483648, 1, 1, null, null, null)", "22003"),
    ("select cast(1e30 as bigint)", "22003"),
    ("select cast('99999999999' as integer)", "22003"),
    # Bytes.
    ("select get_byte('\\x01', 1)", "2202E"),
    ("select '\\x123'::bytea", "22023"),
    ("select decode('a#cd', 'base64')", "22023"),
    # Windows.
    ("select a from t where rank() over (order by a) = 1", "42P20"),
    ("select sum(a) over (order by a rows null preceding) from t", "22004"),
    ("select sum(a) over (order by a rows -1 preceding) from t", "22013"),
    ("select ntile(0) over (order by a) from t", "22014"),
    ("select nth_value(a, 0) over (order by a) from t", "22016"),
    # Functions that give rows, samples.
    ("select * from generate_series(1, 2, 0)", "22023"),
    ("select a from t where generate_series(1, 2) = 1", "0A000"),
    ("select * from t tablesample bernoulli (101)", "2202H"),
    ("select * from t tablesample system (5) repeatable (null)", "2202G"),
    # Division.
    ("select 1 / 0", "22012"),
    ("select a / (a - a) from t", "22012"),
    ("select a % (f - f) from t", "22012"),
    ("select c / 0 from t", "22012"),
    ("select cast(a as double precision) / 0 from t", "22012"),
    ("select sum(a) / (count(*) - 2) from t", "22012"),
    # Text with a character that no text has.
    ("select 'a\0b'", "22021"),
    # Text that is not what it is cast to.
    ("select cast('one' as integer)", "22P02"),
    ("select cast(e as integer) from t", "22P02"),
    ("select cast(e as decimal(5,2)) from t", "22P02"),
    ("select cast('maybe' as boolean)", "22P02"),
    ("select cast('1x' as double precision)", "22P02"),
    # Texts.
    ("insert into short values ('abcd')", "22001"),
    ("select substring('abc' from 1 for -1)", "22011"),
    ("select 'ab' like 'a\\'", "22025"),
    # Dates.
    ("select date 'x'", "22007"),
    ("select date '2021-02-29'", "22008"),
    ("select cast('2021-13-01' as date)", "22008"),
    ("select timestamp '2021-01-01 25:00:00'", "22008"),
    # Statements.
    ("selec 1", "42601"),
    ("select a b c from t", "42601"),
    ("select * from t where (a = 1", "42601"),
    ("insert into t values", "42601"),
    ("select * from missing", "42P01"),
    ("insert into missing values (1)", "42P01"),
    ("drop table missing", "42P01"),
    ("delete from missing", "42P01"),
    ("freeze table missing", "42P01"),
    ("select x.a from t", "42P01"),
    ("select aa from t", "42703"),
    ("select t.aa from t", "42703"),
    ("select a from t order by missing_one", "42703"),
    ("insert into t (a, zz) values (1, 2)", "42703"),
    ("freeze table t order by zz", "42703"),
    ("select a from t x, t y", "42702"),
    ("select a, count(*) from t", "42803"),
    ("select a, sum(b) from t group by e", "42803"),
    ("select e from t group by a having max(b) > 1", "42803"),
    ("select grouping(b) from t group by rollup (a)", "42803"),
    ("select a from t where sum(a) > 1", "42803"),
    ("create table t (a integer)", "42P07"),
    ("create table twice (a integer, a integer)", "42701"),
    ("select nosuchfunction(a) from t", "42883"),
    ("select case when a then 1 end from t", "42804"),
    ("select a from t union select e from t", "42804"),
    ("select $1", "42P02"),
    # Rows.
    ("select (select a from t)", "21000"),
    ("select * from nullable where n = (select a from t)", "21000"),
    ("insert into t (b) values (1)", "23502"),
    ("insert into t values (null, 1, 1, null, null, null)", "23502"),
    ("insert into t (a, b) select n, 1 from nullable", "23502"),
    # Keys and conditions.
    ("insert into keyed values (1, 2)", "23505"),
    ("update keyed set n = n - 1", "23514"),
    ("alter table keyed add constraint keyed_n_check check (n < 9)", "42710"),
    # What is not there yet.
    ("create rule r as on insert to t do nothing", "0A000"),
    ("update t set a = 1 where current of c", "0A000"),
    ("create table u as select * from t for update", "0A000"),
    ("select count(*) from t for update", "0A000"),
    ("with recursive a(n) as (select 1 union all select n from b), b(n) as (select 2 union all select n from a) select n from a", "0A000"),
    ("savepoint s", "25P01"),
    ("declare c scroll no scroll cursor with hold for select 1", "42P11"),
    # What functions refuse.
    ("select e ~ '(' from t", "2201B"),
    ("select ln(a - a) from t", "2201E"),
    ("select power(-a, 0.5) from t", "2201F"),
    ("select interval '99999999999 years'", "22015"),
    # Paths of JSON.
    ("select jsonb_path_query('1', '$.datetime()')", "22031"),
    ("select jsonb_path_query('[1]', 'strict $[1]')", "22033"),
    ("select jsonb_path_query('true', '$.double()')", "22036"),
    ("select jsonb_path_match('1', '$')", "22038"),
    ("select jsonb_path_query('1', 'strict $[*]')", "22039"),
    ("select jsonb_path_query('{}', 'strict $.a')", "2203A"),
    ("select jsonb_path_query('true', '-$')", "2203B"),
    ("select jsonb_path_query('1', '$.keyvalue()')", "2203C"),
    # Names and types.
    ("select 1 from t x, t x", "42712"),
    ("select '1' + '2'", "42725"),
    ("select abs(distinct a) from t", "42809"),
    ("select cast(d as integer) from t", "42846"),
    ("select a from t order by 7", "42P10"),
    ("with recursive c(n) as (select n from c) select n from c", "42P19"),
    ("select " + "(" * 3000 + "1" + ")" * 3000, "54001"),
    ("select 1 from t group by cube (" + ", ".join(f"a + {n}" for n in range(13)) + ")", "54011"),
    ("select grouping(" + ", ".join(["a"] * 32) + ") from t group by a", "54023"),
    # Settings.
    ("set thread = 2", "42704"),
    ("set threads = 0", "22023"),
    ("set frazil.isa = 'mmx'", "22023"),
    ("set frazil.stages = 'none'", "22023"),
    ("show nothing", "42704"),
    ("set frazil.background_failures = 1", "55P02"),
    # Transactions.
    ("begin; select 1; set transaction isolation level serializable", "25001"),
    ("commit and chain", "25P01"),
    ("begin read only; delete from t", "25006"),
    ("begin; rollback to s", "3B001"),
    # Prepared statements.
    ("execute p (1)", "26000"),
    ("deallocate p", "26000"),
    ("prepare p as select 1; prepare p as select 2", "42P05"),
    ("prepare p (integer) as select $1; execute p (1, 2)", "42601"),
    ("prepare p (integer) as select $1; execute p (true)", "42804"),
    # Files.
    ("copy t from '/no/such/file.csv'", "58P01"),
    ("copy t from '/no/such/file.parquet' (format parquet)", "58P01"),
    ("copy t to '/' (format csv, partition_by a)", "58P02"),
]


# States that no single statement raises, and the tests that do.
ELSEWHERE = {
    "02000": "a query without the row that Rust's query_row wants: crates/frazil/tests/database/rust_values.rs",
    "08007": "a log that could not be synced: crates/durability/tests/wal",
    "22P03": "bytes that are no jsonb: crates/types/src/json/tests.rs",
    "22P05": "a character that jsonb has no room for: crates/types/src/json/tests.rs",
    "25006": "a directory opened read-only, below",
    "08003": "a closed connection, below", "22P04": "a wrong field, below", "25P02": "a failed transaction, below",
    "53200": "the memory budget, below", "53400": "turns of a recursive query, in tests/slt", "55006": "a directory in use, below", "55P03": "the second writer, below",
    "57014": "timeouts, below", "XX001": "flipped bits, below",
    "42P08": "a parameter of two types: crates/functions", "42P18": "a parameter that nothing types: crates/functions",
    "55000": "an enumeration without labels: crates/frazil/tests/database",
    "53000": "no thread for a deadline: what the operating system says",
    "53100": "a full disk, as the operating system says", "54000": "depth: crates/frontend/tests", "58030": "what the operating system says",
    "00000": "no error: the state of a notice", "40001": "two sessions: crates/frazil/tests/database/transactions.rs",
    "40P01": "rings of waits: crates/locks/tests",
    **{state: "clients of the server: crates/server/tests/wire" for state in (
        "08006", "08P01", "28000", "28P01", "34000", "3D000", "42P03", "53300", "57P01", "57P05",
        "25P03", "25P04")},
    **{state: "warnings about roles: crates/frazil/tests/database/notices.rs" for state in ("01000", "01006", "01007")},
    "42P09": "tables of one name in two schemas: tests/slt/dml/schemas.slt",
    "42501": "files that a session may not name: test_file_access.py",
    "XX000": "a defect: it has no statement",
}


def test_every_state_has_a_statement():
    """The states are listed in one place in the source."""
    source = Path(__file__).parents[2] / "crates" / "types" / "src" / "error.rs"
    states = set(re.findall(r'^    [A-Z_]+ = "(\w{5})";$', source.read_text(encoding="utf-8"), re.M))
    assert len(states) > 30
    covered = {state for _, state in ERRORS} | set(ELSEWHERE)
    assert states - covered == set(), "states that no test raises"
    assert set(ELSEWHERE) - states == set(), "states that there are no more"


@pytest.mark.parametrize("sql, state", ERRORS, ids=[f"{state}-{sql[:50]}" for sql, state in ERRORS])
def test_states(con, sql, state):
    error = refusal(con, sql)
    assert error.sqlstate == state, f"{sql}: {error}"
    if sql.startswith("begin"):
        con.execute("rollback")
    assert con.execute("select count(*), sum(a) from t").fetchall() == [(2, 3)], "nothing was harmed"


@pytest.mark.parametrize("state", ["hot", "frozen"])
@pytest.mark.parametrize("stages", ["fused", "relaxed", "staged"])
def test_errors_in_running_queries_do_not_depend_on_the_plan(con, state, stages):
    if state == "frozen":
        con.execute("freeze table t")
    con.execute(f"set frazil.stages = '{stages}'")
    assert refusal(con, "select e, 10 / (a - 2) from t").sqlstate == "22012"
    # The filter guards the division.
    assert con.execute("select 10 / (a - 2) from t where a <> 2").fetchall() == [(-10,)]
    assert con.execute("select case when a = 2 then 0 else 10 / (a - 2) end from t order by a").fetchall() == [(-10,), (0,)]
    assert refusal(con, "select a from t where b * 1000000000000000000 > 1").sqlstate == "22003"


def test_the_nearest_name_is_offered(con):
    con.execute("create table orders (customer_name text)")
    assert "customer_name" in str(refusal(con, "select custmer_name from orders"))
    assert "orders" in str(refusal(con, "select * from order_s"))
    assert "threads" in str(refusal(con, "set thread = 2"))


def test_unsupported_things_are_named(con):
    assert "RULE" in str(refusal(con, "create rule r as on insert to t do nothing")).upper()
    assert "FOR UPDATE" in str(refusal(con, "select distinct a from t for update"))


def test_parameters(con):
    assert con.execute("select a from t where a = $1", [2]).fetchall() == [(2,)]
    assert refusal(con, "select a from t where a = $1 and b = $2", [2]).sqlstate in ("42P02", "08P01")
    assert refusal(con, "select a from t where a = $1", ["two"]).sqlstate == "22P02"


CSV_HEAD = "a,b,c,d,e,f\n"
CSV_GOOD = "3,30,3.00,2022-03-03,three,3\n"
BAD_ROWS = [
    ("x,30,3.00,2022-03-03,three,3\n", "22P02", ["a", "x"]),
    ("4,99999999999999999999,3.00,2022-03-03,three,3\n", "22003", ["b"]),
    ("4,30,3.00,2022-02-30,three,3\n", "22008", ["d", "2022-02-30"]),
    ("4,30,3.00,2022-03-03,three,99999\n", "22003", ["f", "99999"]),
    ("4,30,3000.00,2022-03-03,three,3\n", "22003", ["c", "3000.00"]),
    (",30,3.00,2022-03-03,three,3\n", "23502", ["a"]),
    ("4,30\n", "22P04", []),
    ("4,30,3.00,2022-03-03,three,3,more\n", "22P04", []),
    ('4,30,3.00,2022-03-03,"three,3\n', "22P04", []),
]


@pytest.mark.parametrize("row, state, named", BAD_ROWS, ids=[r[0].strip() for r in BAD_ROWS])
def test_a_wrong_field_names_its_place_and_loads_nothing(con, tmp_path, row, state, named):
    path = tmp_path / "rows.csv"
    path.write_text(CSV_HEAD + CSV_GOOD * 3 + row)
    error = refusal(con, f"copy t from '{path}' (header true)")
    assert error.sqlstate == state, str(error)
    assert "rows.csv" in str(error) and "5" in str(error), str(error)
    for word in named:
        assert word in str(error), str(error)
    assert con.execute("select count(*) from t").fetchall() == [(2,)]


def test_csv_as_people_write_it(con, tmp_path):
    path = tmp_path / "rows.csv"
    con.execute("create table s (a integer, b text)")
    path.write_bytes('\ufeffa;b\r\n1;"one\r\nand ""a half"""\r\n2;NULL\r\n3;""\r\n'.encode())
    con.execute(f"copy s from '{path}' (header true, delimiter ';', null 'NULL')")
    rows = con.execute("select a, b from s order by a").fetchall()
    assert rows == [(1, 'one\r\nand "a half"'), (2, None), (3, "")]


def test_a_file_that_is_no_parquet(con, tmp_path):
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1 this is not what it seems to be PAR1")
    assert "rows.parquet" in str(refusal(con, f"copy t from '{path}' (format parquet)"))
    assert con.execute("select count(*) from t").fetchall() == [(2,)]


def test_a_failed_statement_ends_its_transaction(con):
    con.execute("begin")
    con.execute("insert into t values (3, 1, 1, null, null, null)")
    refusal(con, "select 1 / 0 from t")
    assert refusal(con, "select 1").sqlstate == "25P02"
    con.execute("rollback")
    assert con.execute("select count(*) from t").fetchall() == [(2,)]


def test_the_second_writer_of_a_row_waits_then_gives_up(con):
    other = con.duplicate()
    other.execute("set lock_timeout = '100ms'")
    con.execute("begin")
    con.execute("insert into t values (3, 1, 1, null, null, null)")
    con.execute("update t set b = 7")
    with pytest.raises(frazil.Error) as caught:
        other.execute("update t set b = 8")
    assert caught.value.sqlstate == "55P03"
    # A reader does not wait, and sees what was committed.
    assert other.execute("select count(*) from t").fetchall() == [(2,)]
    con.execute("commit")
    other.execute("insert into t values (4, 1, 1, null, null, null)")
    assert other.execute("select count(*) from t").fetchall() == [(4,)]


def test_a_lock_timeout_of_zero_waits_without_limit(con):
    con.execute("create table k (a integer primary key)")
    writer, waiter = con.duplicate(), con.duplicate()
    writer.execute("begin")
    writer.execute("insert into k values (1)")
    waiter.execute("set lock_timeout = 0")
    waiter.execute("set statement_timeout = '50ms'")
    with pytest.raises(frazil.Error) as ended:
        waiter.execute("insert into k values (1)")
    assert ended.value.sqlstate == "57014"


def test_over_the_memory_budget(con):
    con.execute("create table n (a integer)")
    con.execute("insert into n values " + ", ".join(f"({i})" for i in range(1000)))
    con.execute("set memory_limit = '16MB'")
    error = refusal(con, "select x.a * 1000 + y.a, count(*) from n x, n y group by 1")
    assert error.sqlstate == "53200", str(error)
    con.execute("set memory_limit = '1GB'")
    assert con.execute("select count(*) from n").fetchall() == [(1000,)]


def test_timeouts_cancel_the_statement_alone(con):
    con.execute("create table n (a integer)")
    con.execute("insert into n values " + ", ".join(f"({i})" for i in range(5000)))
    con.execute("set statement_timeout = '50ms'")
    error = refusal(con, "select count(*) from n x, n y, n z where x.a + y.a + z.a = 7")
    assert error.sqlstate == "57014", str(error)
    con.execute("set statement_timeout = 0")
    assert con.execute("select count(*) from n").fetchall() == [(5000,)]


def test_a_directory_is_one_processs(tmp_path):
    place = str(tmp_path / "db")
    con = frazil.connect(place)
    con.execute("create table t (a integer)")
    script = f"import frazil\ntry:\n    frazil.connect({place!r})\nexcept frazil.Error as e:\n    print(e.sqlstate, e)"
    second = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert second.stdout.startswith("55006") and place in second.stdout, second.stdout
    con.close()


def test_a_directory_opened_read_only_is_not_written(tmp_path):
    place = tmp_path / "db"
    with pytest.raises(frazil.Error) as caught:
        frazil.connect(place, read_only=True)
    assert caught.value.sqlstate == "58P01" and not place.exists(), str(caught.value)
    con = frazil.connect(place)
    con.execute("create table t (a integer)")
    con.execute("insert into t values (1), (2)")
    con.close()
    readers = [frazil.connect(place, read_only=True) for _ in range(2)]
    for reader in readers:
        assert reader.execute("select sum(a) from t").fetchall() == [(3,)]
        assert refusal(reader, "insert into t values (3)").sqlstate == "25006"
    # Within this process the directory is opened in one way.
    with pytest.raises(frazil.Error) as caught:
        frazil.connect(place)
    assert caught.value.sqlstate == "55006" and "read-only" in str(caught.value), str(caught.value)
    # Another one writes it meanwhile.
    script = f"import frazil\nfrazil.connect({str(place)!r}).execute('insert into t values (3)')"
    subprocess.run([sys.executable, "-c", script], check=True)
    for reader in readers:
        assert reader.execute("select sum(a) from t").fetchall() == [(6,)]
        reader.close()
    frazil.connect(place).close()


def test_flipped_bits_are_noticed(tmp_path):
    place = tmp_path / "db"
    con = frazil.connect(str(place))
    con.execute("create table t (a integer, b text)")
    con.execute("insert into t values " + ", ".join(f"({i * i}, 'text {i}')" for i in range(2000)))
    con.execute("create table other (a integer)")
    con.execute("insert into other values (7)")
    con.execute("freeze table t")
    con.close()
    # The log of a closed database is not read again: the rows are in the segments.
    files = (p for p in place.rglob("*") if p.is_file() and p.suffix != ".log")
    segment = max(files, key=lambda p: p.stat().st_size)
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 0x10
    segment.write_bytes(content)
    with pytest.raises(frazil.Error) as caught:
        con = frazil.connect(str(place))
        con.execute("select sum(a), max(b) from t").fetchall()
    assert caught.value.sqlstate == "XX001", str(caught.value)
    assert segment.name in str(caught.value), str(caught.value)


def test_a_closed_connection_says_so(con):
    con.close()
    with pytest.raises(frazil.Error):
        con.execute("select 1")


# Texts before a statement, and statements with parameters in every style. The error is at the sign @, which is left out.
BEFORE = ["", "\n  ", "-- größe: ? %% :x\n", "/* a\n b */ "]
MARKED = [
    ("qmark", "select ?, 'ü?', a, @nope from t where b = ?", (1, 2)),
    ("qmark", "select ?::text, a @+ ?::bytea from t where '{}'::jsonb ?? 'y'", (1, b"x")),
    ("numeric", "select :1, a, @nope, :1 from t where b = :2", (1, 2)),
    ("named", "select :größe, :größe, @nope from t where a = :n::integer", {"größe": 1, "n": 2}),
    ("format", "select %s, 5 %% 3, @nope from t where a = %s", (1, 2)),
    ("pyformat", "select %(x)s, %(x)s, 5 %% 3,\n @nope from t where a = %(y)s", {"x": 1, "y": 2}),
    ("numeric_dollar", "select $1, @nope from t where a = $2", (1, 2)),
    ("qmark", "select a, @nope from t", None),
    ("qmark", "select a from t t @t", None),
    ("qmark", "select 1; select a, @nope from t", None),
    ("qmark", "select @a / (a - 1) from t", None),
]


@pytest.mark.parametrize("style, sql, params", MARKED)
@pytest.mark.parametrize("before", BEFORE)
def test_the_place_of_an_error_is_in_the_text_that_was_given(con, style, sql, params, before):
    if style in ("format", "pyformat"):
        before = before.replace("%%", "")
    con.paramstyle = style
    at = (before + sql).index("@")
    sql = (before + sql).replace("@", "")
    line = sql[sql.rfind("\n", 0, at) + 1:].split("\n")[0]
    number = sql[:at].count("\n") + 1
    label = f"LINE {number}: "
    pointed = f"{label}{line}\n{' ' * (len(label) + at - sql.rfind(chr(10), 0, at) - 1)}^"
    runs = [con.execute, con.execute, con.cursor().execute]
    if params is not None:
        runs += [lambda sql, params: con.executemany(sql, [params]),
                 lambda sql, params: con.prepare(sql).execute(params)]
    for run in runs:
        with pytest.raises(frazil.Error) as caught:
            run(sql, params) if params is not None else run(sql)
        error = caught.value
        assert error.position == at + 1, str(error)
        text = str(error)
        assert text.split("\n", 1)[1].startswith(pointed), text
        for label, more in (("DETAIL", error.detail), ("HINT", error.hint)):
            assert more is None or f"\n{label}: {more}" in text


def test_errors_without_a_place_say_none(con):
    error = refusal(con, "insert into keyed values (1, 2)")
    assert (error.position, error.constraint, error.table) == (None, "keyed_pkey", "keyed")
    assert "LINE" not in str(error)
    assert frazil.Error.position is None
