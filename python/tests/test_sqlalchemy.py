"""SQLAlchemy with the embedded database, by `frazil://`; SQLAlchemy's own compliance suite by `frazil://` and by
`postgresql+psycopg://` with `frazil serve`. Skipped where SQLAlchemy is not installed."""

import datetime
import decimal
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import uuid

import frazil
import pytest
from test_clients import port  # noqa: F401: a fixture

sa = pytest.importorskip("sqlalchemy")
orm = pytest.importorskip("sqlalchemy.orm")
from sqlalchemy.dialects import postgresql  # noqa: E402

HERE = pathlib.Path(__file__).parent


@pytest.fixture
def engine(tmp_path):
    engine = sa.create_engine(f"frazil:///{tmp_path}/shop.frazil")
    yield engine
    engine.dispose()


def test_connections_in_memory_share_one_database():
    engine = sa.create_engine("frazil://")
    with engine.begin() as one:
        one.execute(sa.text("create table t (a integer)"))
    with engine.connect() as one, engine.connect() as two:
        one.execute(sa.text("insert into t values (:a)"), {"a": 1})
        assert two.scalar(sa.text("select count(*) from t")) == 0
        one.commit()
        assert two.scalar(sa.text("select count(*) from t")) == 1
    engine.dispose()
    with engine.connect() as one:
        assert one.scalar(sa.text("select count(*) from t")) == 1
    with sa.create_engine("frazil://").connect() as another:
        assert not sa.inspect(another).has_table("t")


def test_threads_share_a_directory(engine):
    with engine.begin() as connection:
        connection.execute(sa.text("create table t (a integer)"))

    def insert(number):
        with engine.begin() as connection:
            connection.execute(sa.text("insert into t values (:a)"), {"a": number})

    threads = [threading.Thread(target=insert, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with engine.connect() as connection:
        assert connection.scalar(sa.text("select sum(a) from t")) == 190


def test_dispose_closes_the_directory(engine, tmp_path):
    with engine.begin() as connection:
        connection.execute(sa.text("create table t (a integer)"))
    reading = sa.create_engine(f"frazil:///{tmp_path}/shop.frazil?read_only=true&file_access=off")
    with pytest.raises(sa.exc.OperationalError) as caught:
        reading.connect()
    assert caught.value.orig.sqlstate == "55006"
    engine.dispose()
    with reading.connect() as connection:
        assert connection.scalar(sa.text("select count(*) from t")) == 0
        with pytest.raises(sa.exc.DBAPIError) as caught:
            connection.execute(sa.text("insert into t values (1)"))
        assert caught.value.orig.sqlstate == "25006"
    reading.dispose()


@pytest.mark.parametrize("url", ["frazil://there/shop", "frazil://me@/shop", "frazil:///shop?no_option=1"])
def test_other_urls_are_refused(url):
    with pytest.raises(sa.exc.ArgumentError, match="frazil://"):
        sa.create_engine(url).connect()


def test_name_and_driver():
    dialect = sa.create_engine("frazil://").dialect
    assert (dialect.name, dialect.driver) == ("postgresql", "frazil")


#: A type, and a value that comes back as it went in.
TYPES = [
    (sa.Integer(), 5),
    (sa.BigInteger(), 2**60),
    (sa.SmallInteger(), -7),
    (sa.Boolean(), True),
    (sa.String(20), "$1 ? :a %(x)s 100%"),
    (sa.Text(), "é"),
    (sa.CHAR(3), "abc"),
    (sa.Numeric(20, 4), decimal.Decimal("12345678901234.5678")),
    (sa.Numeric(8, 2, asdecimal=False), 1.25),
    (sa.Float(), 0.1),
    (sa.Double(), 1e300),
    (sa.Float(asdecimal=True), decimal.Decimal("0.5")),
    (sa.Date(), datetime.date(2020, 2, 29)),
    (sa.Time(), datetime.time(1, 2, 3, 4)),
    (sa.DateTime(), datetime.datetime(2020, 1, 1, 2, 3, 4, 5)),
    (sa.DateTime(timezone=True), datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)),
    (sa.Interval(), datetime.timedelta(days=-3, hours=5, microseconds=7)),
    (sa.Interval(), -datetime.timedelta(seconds=1)),
    (postgresql.INTERVAL(), datetime.timedelta(days=400)),
    (sa.LargeBinary(), b"\0\xff"),
    (sa.Uuid(), uuid.UUID(int=7)),
    (sa.Uuid(as_uuid=False), str(uuid.UUID(int=7))),
    (sa.Enum("sad", "ok", name="mood"), "ok"),
    (sa.Enum("sad", "ok", name="written", native_enum=False), "ok"),
    (sa.JSON(), {"a": [1, None, "x"]}),
    (postgresql.JSONB(), ["x", 1.5]),
    (postgresql.JSONB(), "text"),
    (postgresql.ARRAY(sa.Integer), [1, None, 3]),
    (postgresql.ARRAY(sa.Integer, dimensions=2), [[1, 2], [3, 4]]),
    (postgresql.ARRAY(sa.Numeric(8, 2)), [decimal.Decimal("1.50")]),
    (postgresql.ARRAY(sa.Enum("sad", "ok", name="mood")), ["sad", "ok"]),
    (postgresql.ARRAY(postgresql.JSONB), [{"a": 1}, 2]),
]


def test_values_of_every_type(engine):
    columns = [sa.Column(f"c{n}", ty) for n, (ty, _) in enumerate(TYPES)]
    table = sa.Table("t", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), *columns)
    table.metadata.create_all(engine)
    row = {f"c{n}": value for n, (_, value) in enumerate(TYPES)}
    with engine.begin() as connection:
        connection.execute(table.insert(), [row, row])
        returned = connection.execute(table.insert().returning(table.c.id), [row, dict.fromkeys(row)])
        assert returned.scalars().all() == [3, 4]
        rows = connection.execute(sa.select(*columns).order_by(table.c.id)).all()
        for found in (rows[0], rows[2]):
            for (ty, value), back in zip(TYPES, found):
                assert (back, type(back)) == (value, type(value)), ty
        assert set(rows[3]) == {None}
        for column, (ty, value) in zip(columns, TYPES):
            if not isinstance(ty, sa.JSON) or isinstance(ty, postgresql.JSONB):
                count = sa.select(sa.func.count()).where(column == sa.literal(value, ty))
                assert connection.scalar(count) == 3, ty


def test_intervals_of_every_unit(engine):
    texts = {
        "1 year 2 mons -3 days +04:05:06.7": datetime.timedelta(days=422, hours=4, minutes=5, seconds=6.7),
        "-1 mons +1 day": datetime.timedelta(days=-29),
        "-100:00:00.000001": -datetime.timedelta(hours=100, microseconds=1),
        "0": datetime.timedelta(),
    }
    with engine.connect() as connection:
        for text, span in texts.items():
            statement = sa.text(f"select interval '{text}' as x").columns(x=sa.Interval)
            assert connection.scalar(statement) == span, text


def test_functions_of_json(engine):
    read = lambda text: json.loads(text, parse_int=float)  # noqa: E731
    own = sa.create_engine(engine.url, json_deserializer=read, json_serializer=lambda value: json.dumps([value]))
    with own.begin() as connection:
        found = connection.scalar(sa.select(sa.literal({"a": 1}, postgresql.JSONB)))
        assert found == [{"a": 1.0}] and isinstance(found[0]["a"], float)
    own.dispose()


def test_isolation(engine):
    with engine.connect() as connection:
        assert connection.get_isolation_level() == "READ COMMITTED"
    with engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        assert connection.scalar(sa.text("show transaction_isolation")) == "repeatable read"
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("create table t (a integer)"))
    with engine.connect().execution_options(postgresql_readonly=True) as connection:
        with pytest.raises(sa.exc.DBAPIError, match="25006"):
            connection.execute(sa.text("insert into t values (1)"))
    with engine.connect() as connection:
        assert connection.scalar(sa.text("show transaction_isolation")) == "read committed"
        connection.execute(sa.text("insert into t values (1)"))
        with connection.begin_nested():
            connection.execute(sa.text("insert into t values (2)"))
        with pytest.raises(sa.exc.ProgrammingError), connection.begin_nested():
            connection.execute(sa.text("select nothing"))
        assert connection.scalar(sa.text("select count(*) from t")) == 2


def test_errors_keep_what_they_are_about(engine):
    with engine.begin() as connection:
        connection.execute(sa.text("create table t (a integer primary key)"))
    with engine.connect() as connection, pytest.raises(sa.exc.IntegrityError) as caught:
        connection.execute(sa.text("insert into t values (1), (1)"))
    assert (caught.value.orig.sqlstate, caught.value.orig.constraint) == ("23505", "t_pkey")


def test_a_connection_that_was_closed_is_replaced(tmp_path):
    engine = sa.create_engine(f"frazil:///{tmp_path}/shop.frazil", pool_pre_ping=True)
    with engine.connect() as connection:
        connection.connection.driver_connection.close()
        with pytest.raises(sa.exc.DBAPIError) as caught:
            connection.execute(sa.text("select 1"))
        assert caught.value.connection_invalidated
    with engine.connect() as connection:
        inner = connection.connection.driver_connection
    inner.close()
    with engine.connect() as connection:
        assert connection.scalar(sa.text("select 1")) == 1
    engine.dispose()


def test_object_relational_mapping_and_reflection(engine):
    base = orm.declarative_base()

    class Customer(base):
        __tablename__ = "customer"
        id = sa.Column(sa.Integer, primary_key=True)
        name = sa.Column(sa.String(30), unique=True)
        orders = orm.relationship("Order", back_populates="customer", cascade="all, delete-orphan")

    class Order(base):
        __tablename__ = "order"
        id = sa.Column(sa.BigInteger, sa.Identity(), primary_key=True)
        customer_id = sa.Column(sa.ForeignKey("customer.id", ondelete="CASCADE"), index=True)
        price = sa.Column(sa.Numeric(10, 2), sa.CheckConstraint("price >= 0", name="price_is_paid"), server_default="0")
        customer = orm.relationship("Customer", back_populates="orders")

    base.metadata.create_all(engine)
    with orm.Session(engine) as session:
        session.add_all([Customer(name=str(n), orders=[Order(price=n), Order()]) for n in range(100)])
        session.commit()
        customer = session.scalars(sa.select(Customer).where(Customer.name == "7")).one()
        customer.name = "seven"
        session.delete(customer.orders[0])
        session.flush()
        insert = postgresql.insert(Customer).values(id=customer.id, name="x")
        insert = insert.on_conflict_do_update(index_elements=["id"], set_={"name": insert.excluded.name + "!"})
        assert session.scalars(insert.returning(Customer.name)).one() == "x!"
        session.commit()
        joined = sa.select(sa.func.count(), sa.func.sum(Order.price)).join(Customer)
        assert session.execute(joined).one() == (199, decimal.Decimal(4943))
        pieces = session.scalars(sa.select(Order.id).order_by(Order.id).execution_options(yield_per=50)).partitions()
        assert [len(piece) for piece in pieces] == [50, 50, 50, 49]
    inspector = sa.inspect(engine)
    assert set(inspector.get_table_names()) == {"customer", "order"}
    assert [check["name"] for check in inspector.get_check_constraints("order")] == ["price_is_paid"]
    assert inspector.get_foreign_keys("order")[0]["options"] == {"ondelete": "CASCADE"}
    assert [index["name"] for index in inspector.get_indexes("order")] == ["ix_order_customer_id"]
    reflected = sa.MetaData()
    reflected.reflect(engine)
    assert reflected.tables["order"].c.price.type.scale == 2
    base.metadata.drop_all(engine)


def test_pandas(engine):
    pandas = pytest.importorskip("pandas")
    times = pandas.to_datetime(["2020-01-01"] * 3)
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"], "c": times, "d": [0.5, None, 1.5]})
    for times in (1, 2):
        frame.to_sql("rows", engine, if_exists="replace", index=False)
        frame.to_sql("rows", engine, if_exists="append", index=False, method="multi", chunksize=2)
    read = pandas.read_sql(sa.text("select * from rows where a < :most"), engine, params={"most": 3})
    assert len(read) == 4 and str(read["c"].dtype).startswith("datetime64")
    assert len(pandas.read_sql_table("rows", engine)) == 6
    pieces = pandas.read_sql("select * from rows", engine, chunksize=2)
    assert [len(piece) for piece in pieces] == [2, 2, 2]


def test_alembic(tmp_path):
    pytest.importorskip("alembic")
    script = HERE / "clients/alembic_steps.py"
    run = [sys.executable, str(script), f"frazil:///{tmp_path}/shop.frazil"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "FAIL" not in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("ok ") == 7, done.stdout


class Suite:
    """A run of SQLAlchemy's suite, in a process of its own, because the suite takes over pytest."""

    def __init__(self, url, folder):
        home = HERE / "compliance"
        paths = [str(home), *filter(None, [os.environ.get("PYTHONPATH")])]
        options = ["-p", "compliance", "-p", "no:cacheprovider", f"--rootdir={home}", f"-c{home}/setup.cfg", "--maxfail=1000"]
        command = [sys.executable, "-m", "pytest", "-q", *options, "--tb=short", "-rfEX", "--dburi", url, str(home / "suite.py")]
        self.said = folder / "said.txt"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        with self.said.open("w") as said:
            self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=said, stderr=subprocess.STDOUT)

    def check(self):
        """All tests passed but the exceptions, and most of them ran."""
        code = self.process.wait(timeout=1800)
        said = self.said.read_text()
        assert code == 0, said[-20000:]
        counted = re.search(r"(\d+) passed", said)
        assert counted and int(counted[1]) > 1700, said[-500:]


@pytest.fixture(scope="module")
def suites(port, tmp_path_factory):  # noqa: F811
    """Both runs of the suite, side by side."""
    if tuple(map(int, sa.__version__.split(".")[:2])) < (2, 1):
        pytest.skip("the suite is the one of SQLAlchemy 2.1")
    pytest.importorskip("psycopg")
    urls = {
        "frazil": f"frazil:///{tmp_path_factory.mktemp('database')}/suite.frazil",
        "psycopg": f"postgresql+psycopg://me@127.0.0.1:{port}/frazil",
    }
    started = {name: Suite(url, tmp_path_factory.mktemp(name)) for name, url in urls.items()}
    yield started
    for suite in started.values():
        suite.process.kill()


@pytest.mark.parametrize("driver", ["frazil", "psycopg"])
def test_suite_of_sqlalchemy(suites, driver):
    suites[driver].check()


def test_module_is_optional():
    """Nothing of the package but the dialect needs SQLAlchemy."""
    for path in pathlib.Path(frazil.__file__).parent.glob("*.py"):
        assert path.name == "sqlalchemy.py" or "sqlalchemy" not in path.read_text(), path
