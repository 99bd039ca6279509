"""TPC-H: all 22 answers are DuckDB's, whatever the state of the data, the number of threads, the
instruction set, the stage policy and the kind of scan."""

import itertools

import duckdb
import frazil
import pyarrow.parquet as parquet
import pytest

import answers
import tpch_data

STATES = ["hot", "frozen", "half_frozen", "sorted", "reopened"]
STAGES = ["fused", "relaxed", "staged"]
SCANS = ["compiled", "vectorized", "sarg", "blocks", "sma", "psma"]
QUERIES = range(1, 23)
LAYOUTS = ["byte-packed", "bit-packed", "byteslice", "vbp", "hbp"]
ENCODINGS = ["dictionary", "frame of reference", "patched frame of reference", "frames of reference", "raw"]
PURPOSES = ["scan", "point", "size"]
PAX_ROWS = [1, 3, 512, 1000, 65536]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return tpch_data.generate(tmp_path_factory.mktemp("tpch"))


@pytest.fixture(scope="module")
def expected(files):
    """DuckDB's answers."""
    oracle = duckdb.connect()
    for table in tpch_data.TABLES:
        oracle.execute(tpch_data.ddl(table))
        oracle.execute(f"insert into {table} select * from '{files / table}.parquet'")
    return {q: oracle.execute(tpch_data.query(q)).fetchall() for q in QUERIES}


def pieces(path, count):
    """The rows of a file as files of about equal size."""
    table = parquet.read_table(path)
    step = -(-table.num_rows // count)
    for at in range(count):
        piece = path.with_name(f"{path.stem}-{at}-of-{count}.parquet")
        if not piece.exists():
            parquet.write_table(table.slice(at * step, step), piece)
        yield piece


def load(connection, files, state, options=None):
    for table in tpch_data.TABLES:
        connection.execute(tpch_data.ddl(table) + (f" with ({options})" if options else ""))
        path = files / f"{table}.parquet"
        if state == "hot":
            connection.execute(f"copy {table} from '{path}' (format parquet)")
            continue
        order = " order by l_shipdate" if state == "sorted" and table == "lineitem" else ""
        # Several pieces, each frozen by itself: several blocks, partial ones, for several workers.
        for at, piece in enumerate(pieces(path, 4)):
            connection.execute(f"copy {table} from '{piece}' (format parquet)")
            if state != "half_frozen" or at == 1:
                connection.execute(f"freeze table {table}{order}")


@pytest.fixture(scope="module", params=STATES)
def database(request, files, tmp_path_factory):
    place = ":memory:"
    if request.param == "reopened":
        place = str(tmp_path_factory.mktemp("database") / "db")
    connection = frazil.connect(place)
    load(connection, files, request.param)
    if request.param == "reopened":
        connection.close()
        connection = frazil.connect(place)
    yield connection
    connection.close()


def check(database, expected, query, **settings):
    for name, value in settings.items():
        database.execute(f"set {name.replace('_', '.', 1) if name != 'threads' else name} = '{value}'")
    ours = database.execute(tpch_data.query(query)).fetchall()
    width = len(expected[query][0]) if expected[query] else 0
    wrong = answers.difference(ours, expected[query], ordered_by=range(width))
    assert wrong is None, f"Q{query} with {settings}: {wrong}"


@pytest.mark.parametrize("query", QUERIES)
def test_answers_are_duckdbs(database, expected, isas, query):
    for threads, isa, stages in itertools.product([1, 2], isas, STAGES):
        check(database, expected, query, threads=threads, frazil_isa=isa, frazil_stages=stages,
              frazil_scan="psma")


@pytest.mark.parametrize("scan", SCANS)
def test_kinds_of_scan_answer_alike(database, expected, isas, scan):
    stages = "fused" if scan == "compiled" else "relaxed"
    for query in QUERIES:
        check(database, expected, query, threads=2, frazil_isa=isas[-1], frazil_stages=stages,
              frazil_scan=scan)
    database.execute("set frazil.scan = 'psma'")


@pytest.mark.parametrize("window, stage", [(64, 64), (1024, 128), (65536, 1024)])
def test_sizes_of_vectors_do_not_matter(database, expected, window, stage):
    database.execute(f"set frazil.window_rows = {window}")
    database.execute(f"set frazil.stage_rows = {stage}")
    for query in QUERIES:
        check(database, expected, query, threads=1, frazil_stages="relaxed")
    database.execute("set frazil.window_rows = 4096")
    database.execute("set frazil.stage_rows = 1024")


HOLDINGS = ([f"layout = '{layout}'" for layout in LAYOUTS] + [f"encoding = '{e}'" for e in ENCODINGS]
            + [f"freeze_for = '{purpose}'" for purpose in PURPOSES] + [f"pax_rows = {k}" for k in PAX_ROWS])


@pytest.mark.parametrize("options", HOLDINGS)
def test_answers_do_not_depend_on_how_rows_are_held(files, expected, isas, options):
    hot = options.startswith("pax_rows")
    connection = frazil.connect(":memory:")
    load(connection, files, "hot" if hot else "frozen", options)
    name, _, value = options.partition(" = ")
    held = connection.execute("select distinct layout, encoding from frazil_blocks").fetchall()
    if hot:
        assert held == [(f"memPAX({value})", "hot")]
    elif name == "layout":
        assert {layout for layout, _ in held} == {value.strip("'"), "none"}
    elif name == "encoding":
        assert value.strip("'") in {encoding for _, encoding in held}
    for query in QUERIES:
        check(connection, expected, query, threads=1, frazil_isa=isas[0], frazil_stages="fused")
        check(connection, expected, query, threads=2, frazil_isa=isas[-1], frazil_stages="relaxed")
    connection.close()


def test_rows_are_all_there(database, files):
    for table in tpch_data.TABLES:
        rows = parquet.read_metadata(files / f"{table}.parquet").num_rows
        assert database.execute(f"select count(*) from {table}").fetchall() == [(rows,)]


@pytest.mark.parametrize("query", QUERIES)
def test_every_part_is_a_compiled_pipeline(database, query):
    lines = [row[0] for row in database.execute(f"explain analyze {tpch_data.query(query)}").fetchall()]
    text = "\n".join(lines)
    assert "pipeline 0" in text, text
    assert "compile" in text and "execute" in text, text
