"""Alembic and SQLAlchemy's reflection: tables made by autogenerate, no difference afterwards, every operation, migrations up
and down. Usage: python alembic_steps.py PORT, or a URL, in an empty folder."""

import pathlib
import sys

import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata, produce_migrations
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine.reflection import ObjectKind, ObjectScope

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path.cwd())]
from steps import finish, step

URL = sys.argv[1] if ":" in sys.argv[1] else f"postgresql+psycopg://me@127.0.0.1:{sys.argv[1]}/frazil"
engine = sa.create_engine(URL)
metadata = sa.MetaData()
parents = sa.Table(
    "al_parent",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(20), nullable=False, unique=True),
    sa.Column("at", sa.DateTime(timezone=True), server_default=sa.func.now()),
    sa.Column("kind", sa.Enum("a", "b", name="al_kind")),
    comment="parents",
)
children = sa.Table(
    "al_child",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    sa.Column("parent", sa.ForeignKey("al_parent.id", ondelete="CASCADE", name="al_parent_of")),
    sa.Column("n", sa.Numeric(8, 2), comment="a number"),
    sa.Column("j", postgresql.JSONB),
    sa.Column("tags", postgresql.ARRAY(sa.Text)),
    sa.Column("g", sa.Integer, sa.Computed("id * 2", persisted=True)),
    sa.Index("al_by_parent", "parent"),
    sa.CheckConstraint("n > 0", name="al_n_is_positive"),
)


def is_ours(name, kind, _):
    return kind != "table" or name.startswith("al_")


def context(connection):
    options = {"include_name": is_ours, "compare_type": True, "compare_server_default": True}
    return MigrationContext.configure(connection, opts=options)


def generated():
    with engine.begin() as connection:
        migration = context(connection)
        operations = Operations(migration)
        for operation in produce_migrations(migration, metadata).upgrade_ops.ops:
            for part in getattr(operation, "ops", [operation]):
                operations.invoke(part)


def same():
    with engine.begin() as connection:
        found = compare_metadata(context(connection), metadata)
        assert found == [], found


def operations():
    with engine.begin() as connection:
        op = Operations(MigrationContext.configure(connection))
        op.add_column("al_parent", sa.Column("extra", sa.Integer, server_default="5"))
        column = {"server_default": None, "nullable": True, "new_column_name": "more"}
        op.alter_column("al_parent", "extra", type_=sa.BigInteger(), **column)
        op.alter_column("al_parent", "more", nullable=False)
        op.create_unique_constraint("al_unique", "al_parent", ["id", "more"])
        op.create_check_constraint("al_check", "al_parent", "more >= 0")
        op.create_index("al_index", "al_parent", ["more"], unique=False)
        op.drop_index("al_index", "al_parent")
        op.drop_constraint("al_check", "al_parent")
        op.drop_constraint("al_unique", "al_parent", type_="unique")
        op.create_table_comment("al_parent", "new")
        op.drop_table_comment("al_parent")
        op.drop_constraint("al_parent_of", "al_child")
        op.create_foreign_key("al_new", "al_child", "al_parent", ["parent"], ["id"], ondelete="SET NULL", deferrable=True)
        op.rename_table("al_child", "al_renamed")
        op.rename_table("al_renamed", "al_child")
        op.execute("insert into al_parent (id, name, more) values (1, 'x', 1)")
        op.drop_column("al_parent", "more")


def reflected():
    inspector = sa.inspect(engine)
    kinds = ["columns", "pk_constraint", "foreign_keys", "indexes", "unique_constraints", "check_constraints", "table_comment"]
    # SQLAlchemy 2.0 reads them of other databases only.
    kinds += ["table_options"] if sa.__version__ >= "2.1" else []
    for name in kinds:
        for kind in ObjectKind:
            getattr(inspector, f"get_multi_{name}")(kind=kind, scope=ObjectScope.ANY)
    for name in ("schema", "table", "view", "materialized_view", "temp_table", "temp_view", "sequence", "foreign_table"):
        getattr(inspector, f"get_{name}_names")()
    assert [kind["labels"] for kind in inspector.get_enums() if kind["name"] == "al_kind"] == [["a", "b"]]
    inspector.get_domains()
    assert inspector.has_table("al_parent") and inspector.has_index("al_child", "al_by_parent")
    assert inspector.has_schema("public") and inspector.has_type("al_kind")
    columns = {column["name"]: column for column in inspector.get_columns("al_child")}
    assert columns["g"]["computed"]["persisted"] and columns["id"]["identity"]["always"] is False
    assert columns["n"]["comment"] == "a number" and isinstance(columns["tags"]["type"], postgresql.ARRAY)
    assert [check["name"] for check in inspector.get_check_constraints("al_child")] == ["al_n_is_positive"]


def everything():
    sa.MetaData().reflect(engine, views=True)
    sa.MetaData().reflect(engine, schema="pg_catalog", views=True, only=["pg_class", "pg_tables"])


ENVIRONMENT = """
import sqlalchemy as sa
from alembic import context
from al_metadata import metadata

engine = sa.create_engine(context.config.get_main_option("sqlalchemy.url"))
with engine.connect() as connection:
    is_ours = lambda name, kind, _: kind != "table" or name.startswith("am_")
    context.configure(connection=connection, target_metadata=metadata, include_name=is_ours)
    with context.begin_transaction():
        context.run_migrations()
"""
METADATA = """
import sqlalchemy as sa

metadata = sa.MetaData()
id = lambda: sa.Column("id", sa.Integer, primary_key=True)
sa.Table("am_a", metadata, id(), sa.Column("u", sa.Uuid, unique=True))
sa.Table("am_b", metadata, id(), sa.Column("a", sa.ForeignKey("am_a.id")), sa.Index("am_index", "a"))
"""


def migrated():
    config = Config("migrations.ini", stdout=open("said.txt", "w"))
    config.set_main_option("script_location", "migrations")
    command.init(config, "migrations")
    config.set_main_option("sqlalchemy.url", URL)
    pathlib.Path("migrations/env.py").write_text(ENVIRONMENT)
    pathlib.Path("al_metadata.py").write_text(METADATA)
    command.revision(config, "one", autogenerate=True)
    command.upgrade(config, "head")
    command.check(config)
    command.current(config)
    command.downgrade(config, "base")
    assert not sa.inspect(engine).has_table("am_b")
    command.upgrade(config, "head")
    command.stamp(config, "base")


def dropped():
    with engine.begin() as connection:
        metadata.drop_all(connection)


step("autogenerate", generated)
step("no difference", same)
step("operations", operations)
step("reflection", reflected)
step("reflection of everything", everything)
step("up and down", migrated)
step("drop", dropped)
finish()
