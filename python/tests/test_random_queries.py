"""A thousand generated queries over generated tables, each compared with DuckDB, under settings that
are drawn with the query. Tables are partly frozen, partly hot, with deleted rows in both parts.

FRAZIL_QUERY_SEED shifts the seeds, FRAZIL_QUERIES changes their number, for longer hunts."""

import os
import random

import duckdb
import frazil
import pyarrow.parquet as parquet
import pytest

import answers
import generated_tables
import query_generator

FIRST = int(os.environ.get("FRAZIL_QUERY_SEED", "0"))
COUNT = int(os.environ.get("FRAZIL_QUERIES", "1000"))
BATCH = 25

DELETES = [
    "delete from facts where id % 97 = 3",
    "delete from facts where id between 20000 and 20500",
    "delete from facts where id > 69000 and k is null",
    "delete from mid where n = 2",
]


def batch_of(table, start, stop):
    return table.slice(start, stop - start)


@pytest.fixture(scope="module")
def engines(tmp_path_factory):
    """Frazil and DuckDB with the same rows, and samples of the values of each column."""
    place = tmp_path_factory.mktemp("generated")
    ours, theirs = frazil.connect(":memory:"), duckdb.connect()
    samples = {}
    for table, (columns, count) in generated_tables.TABLES.items():
        rows = generated_tables.rows(table)
        ours.execute(generated_tables.ddl(table))
        theirs.execute(generated_tables.ddl(table))
        # A frozen chunk, a frozen chunk sorted, a hot rest.
        cuts = [0, count * 3 // 4, count * 9 // 10, count]
        for piece, (start, stop) in enumerate(zip(cuts, cuts[1:])):
            path = place / f"{table}-{piece}.parquet"
            parquet.write_table(batch_of(rows, start, stop), path)
            ours.execute(f"copy {table} from '{path}' (format parquet)")
            theirs.execute(f"insert into {table} select * from '{path}'")
            if piece < 2:
                ours.execute(f"freeze table {table}" + (" order by day" if piece == 1 and table == "facts" else ""))
        for column in columns:
            draw = random.Random(f"{table}.{column.name} samples")
            values = rows[column.name]
            samples[table, column.name] = [values[draw.randrange(count)].as_py() for _ in range(60)] if count else []
    for statement in DELETES:
        assert ours.execute(statement).rowcount == theirs.execute(statement).fetchall()[0][0], statement
    ours.execute("set statement_timeout = '60s'")
    yield ours, theirs, samples
    ours.close()


def settings(draw, isas):
    """Settings of one query: what must not change an answer."""
    scan = draw.choice(["psma", "psma", "sma", "blocks", "sarg", "vectorized", "compiled"])
    return {
        "threads": draw.choice([1, 2, 4]),
        "frazil.isa": draw.choice(isas),
        "frazil.stages": draw.choice(["fused", "relaxed", "relaxed", "staged"]),
        "frazil.scan": scan,
        "frazil.window_rows": draw.choice([64, 1024, 4096, 4096, 65536]),
        "frazil.stage_rows": draw.choice([64, 100, 1024, 1024]),
        "frazil.early_probes": draw.choice(["on", "on", "off"]),
        "frazil.codes_travel": draw.choice(["on", "on", "off"]),
    }


def check(engines, isas, seed):
    """None if the answers agree, else a report to run it by."""
    ours, theirs, samples = engines
    draw = random.Random(f"query {seed}")
    query = query_generator.Generator(draw, samples).query()
    chosen = settings(draw, isas)
    expected = theirs.execute(query.theirs).fetchall()
    try:
        for name, value in chosen.items():
            ours.execute(f"set {name} = '{value}'")
        answer = ours.execute(query.ours).fetchall()
        wrong = answers.difference(answer, expected, query.ordered_by)
    except frazil.Error as error:
        wrong = str(error)
    if wrong is None:
        return None
    return f"seed {seed}: {wrong}\n  {chosen}\n  Frazil: {query.ours}\n  DuckDB: {query.theirs}"


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, BATCH))
def test_answers_are_duckdbs(engines, isas, first):
    reports = [check(engines, isas, seed) for seed in range(first, min(first + BATCH, FIRST + COUNT))]
    wrong = [r for r in reports if r is not None]
    assert not wrong, f"{len(wrong)} of {len(reports)} queries disagree\n" + "\n".join(wrong[:5])
