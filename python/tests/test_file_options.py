"""Options of read_csv, read_json and read_parquet. DuckDB is the judge where it has the option."""

import duckdb
import frazil
import pytest

FILES = {
    "plain.csv": "id,name,amount\n1,007,1.5\n2,NA,n/a\n3,,\n",
    "notes.csv": 'made by "someone\nyesterday, at noon\nid,name\n1,x\n2,y\n',
    "dates.csv": "d,t,n\n01-02-2024,01.02.2024 03:04,1\n03-04-2024,05.06.2024 23:59,2\n",
    "swapped.csv": "d\n2024-03-02\n2024-04-01\n",
    "bare.csv": "1,x,2024-02-29\n2,y,2024-03-01\n",
    "a.csv": "k,v\n1,one\n",
    "b.csv": "k,v\n2,two\n3,three\n",
    "u1.csv": "a,b\n1,x\n2,y\n",
    "u2.csv": "c,A\ntrue,2.5\nfalse,\n",
    "u3.csv": "b,e\n9,2024-01-02\n",
    "a.jsonl": '{"k": 1, "v": "one"}\n',
    "b.jsonl": '{"k": 2, "v": "two"}\n',
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for name in "ab":
        duckdb.sql(f"copy (from '{tmp_path}/{name}.csv') to '{tmp_path}/{name}.parquet'")
    return tmp_path


@pytest.mark.parametrize("source", [
    "read_csv('{}/plain.csv', nullstr => ['NA', 'n/a', ''])",
    "read_csv('{}/plain.csv', nullstr => 'NA', all_varchar => true)",
    "read_csv('{}/plain.csv', types => ['bigint', 'varchar', 'varchar'])",
    "read_csv('{}/plain.csv', types => {{'id': 'double', 'name': 'varchar'}}, nullstr => ['n/a', ''])",
    "read_csv('{}/plain.csv', dtypes => {{'name': 'integer', 'amount': 'decimal(9,3)'}}, nullstr => ['NA', 'n/a', ''])",
    "read_csv('{}/notes.csv', skip => 2)",
    "read_csv('{}/notes.csv', skip => 2, header => true, types => {{'id': 'varchar'}})",
    "read_csv('{}/bare.csv', columns => {{'id': 'integer', 'n': 'varchar', 'd': 'date'}}, header => false)",
    "read_csv('{}/dates.csv', dateformat => '%d-%m-%Y', timestampformat => '%d.%m.%Y %H:%M')",
    "read_csv('{}/dates.csv', dateformat => '%m-%d-%Y', timestampformat => '%m.%d.%Y %H:%M')",
    "read_csv('{}/dates.csv', types => {{'d': 'date', 't': 'varchar'}}, dateformat => '%d-%m-%Y', header => true)",
    "read_csv('{}/swapped.csv', dateformat => '%Y-%d-%m', header => true)",
    "read_csv(['{}/b.csv', '{}/a.csv'])",
    "read_csv(['{}/a.csv', '{}/b.csv'], filename => true)",
    "read_csv('{}/[ab].csv', filename => true)",
    "read_csv('{}/a.csv', filename => 'source')",
    "read_csv('{}/u*.csv', union_by_name => true)",
    "read_csv(['{}/u3.csv', '{}/u1.csv'], union_by_name => true)",
    "read_csv(['{}/u1.csv', '{}/u2.csv'], union_by_name => true, types => {{'a': 'double', 'c': 'varchar'}})",
    "read_csv('{}/[ab].csv', union_by_name => true)",
    "read_csv('{}/a.csv', union_by_name => true)",
    "read_parquet(['{}/b.parquet', '{}/a.parquet'])",
    "read_parquet('{}/[ab].parquet', filename => true)",
    "read_json(['{}/a.jsonl', '{}/b.jsonl'], filename => true)",
])
def test_options_are_duckdbs(con, folder, source):
    query = "select * from " + source.replace("{}", str(folder)).replace("{{", "{").replace("}}", "}")
    mine, theirs = con.execute(query), duckdb.sql(query)
    assert [column[0] for column in mine.description] == theirs.columns
    assert mine.fetchall() == theirs.fetchall()


def test_the_name_of_a_file_selects_files(con, folder):
    """Files that a condition on their name rules out answer nothing, and arrays can be written as PostgreSQL's."""
    paths = f"array['{folder}/a.parquet', '{folder}/b.parquet']"
    query = f"select filename, sum(k) from read_parquet({paths}, filename => true) where filename like '%b.parquet' group by 1"
    assert con.execute(query).fetchall() == [(f"{folder}/b.parquet", 5)]


@pytest.mark.parametrize("source, sqlstate, said", [
    ("read_csv('{}/plain.csv', types => ['bigint', 'no_type'])", "42704", 'type "no_type" does not exist'),
    ("read_csv('{}/plain.csv', types => ['bigint', 'bigint); x'])", "42704", "does not exist"),
    ("read_csv('{}/plain.csv', types => {'nothing': 'bigint'})", "42703", 'has no column "nothing"; it has id, name, amount'),
    ("read_csv('{}/u*.csv', union_by_name => true, types => {'z': 'text'})", "42703",
     'the union of 3 files has no column "z"; it has a, b, c, e'),
    ("read_csv('{}/u*.csv')", "22P04", "those before it a, b"),
    ("read_csv('{}/u*.csv', union_by_name => 'yes')", "22023", "union_by_name takes true or false"),
    ("read_csv('{}/plain.csv', types => array['text', 'text', 'text', 'text'])", "22023", "4 types for file"),
    ("read_csv('{}/plain.csv', types => 7)", "22023", "option types takes"),
    ("read_csv('{}/plain.csv', columns => ['bigint'])", "22023", "option columns takes"),
    ("read_csv('{}/plain.csv', types => {'id': 'boolean'})", "22P02", 'column 1 ("id")'),
    ("read_csv('{}/plain.csv', columns => {'a': 'bigint'})", "22P04", "extra data"),
    ("read_csv('{}/dates.csv', dateformat => '%d-%m')", "22023", "needs a year (%Y), a month (%m) and a day (%d)"),
    ("read_csv('{}/dates.csv', dateformat => '%Q')", "22023", "has %Q"),
    ("read_csv('{}/plain.csv', types => {'name': 'date'}, dateformat => '%d-%m-%Y')", "22007", 'of the format "%d-%m-%Y"'),
    ("read_csv('{}/plain.csv', skip => -1)", "22023", "option skip takes"),
    ("read_csv(array[]::text[])", "22023", "takes the path of a file"),
    ("read_csv([])", "22023", "takes the path of a file"),
    ("read_csv(['{}/a.csv', '{}/none.csv'])", "58P01", "none.csv"),
    ("read_parquet('{}/a.parquet', skip => 1)", "22023", 'no option "skip"'),
])
def test_options_that_do_not_fit_are_named(con, folder, source, sqlstate, said):
    with pytest.raises(frazil.Error) as caught:
        con.execute(f"select * from {source.replace('{}', str(folder))}").fetchall()
    assert caught.value.sqlstate == sqlstate
    assert said in str(caught.value)


@pytest.mark.parametrize("encoding, python", [
    ("utf-8", "utf-8"), ("latin-1", "latin-1"), ("ISO-8859-1", "latin-1"), ("utf-16", "utf-16"), ("utf16", "utf-16-le"), ("utf-16", "utf-16-be")])
def test_files_in_other_encodings(con, tmp_path, encoding, python):
    text = "k,näme\n" + "".join(f"{k},straße {k}\n" for k in range(70_000))
    mark = b"\xfe\xff" if python == "utf-16-be" else b""
    (tmp_path / "t.csv").write_bytes(mark + text.encode(python))
    source = f"read_csv('{tmp_path}/t.csv', encoding => '{encoding}')"
    assert con.execute(f'select count(*), sum(k), min("näme"), max(length("näme")) from {source}').fetchall() == [
        (70_000, 70_000 * 69_999 // 2, "straße 0", 12)]


def test_what_is_not_text_in_an_encoding_is_refused(con, tmp_path):
    (tmp_path / "t.csv").write_bytes("a\nx\n".encode("utf-16") + b"\x00")
    with pytest.raises(frazil.DataError, match='t.csv": invalid byte sequence for encoding UTF-16') as caught:
        con.execute(f"select * from read_csv('{tmp_path}/t.csv', encoding => 'utf-16')")
    assert caught.value.sqlstate == "22021"
    with pytest.raises(frazil.DataError, match="is UTF-16 text") as caught:
        con.execute(f"select * from '{tmp_path}/t.csv'")
    assert "encoding => 'utf-16'" in caught.value.hint
    with pytest.raises(frazil.Error, match="option encoding takes 'utf-8', 'utf-16' or 'latin-1'"):
        con.execute(f"select * from read_csv('{tmp_path}/t.csv', encoding => 'ebcdic')")


def test_names_with_values_are_options_only(con):
    with pytest.raises(frazil.Error, match='syntax error at or near "{"') as caught:
        con.execute("select {'a': 1}")
    assert caught.value.sqlstate == "42601"


def test_nested_values_of_json_files_are_documents(con, tmp_path):
    (tmp_path / "t.jsonl").write_text('{"id": 1, "o": {"a": [1, null]}, "l": [1, 2], "m": 7}\n{"id": 2, "l": [], "m": {"b": "x"}}\n{"id": 3, "m": "text"}\n')
    path = f"'{tmp_path}/t.jsonl'"
    assert con.execute(f"select * from {path}").fetchall() == [
        (1, {"a": [1, None]}, [1, 2], 7), (2, None, [], {"b": "x"}), (3, None, None, "text")]
    assert con.execute(f"select o->'a'->>0, jsonb_array_length(l), m->>'b' from {path} order by id").fetchall() == [
        ("1", 2, None), (None, 0, "x"), (None, None, None)]
