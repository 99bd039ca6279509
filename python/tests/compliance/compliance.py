"""A plugin of pytest: SQLAlchemy's plugin for its suite, the preparation of the databases, and the exceptions.

`exceptions.txt` names each test that fails, below the reason. These tests must fail: one that works is taken from the list."""

import pathlib
import re

import pytest

pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

import sqlalchemy.dialects.postgresql.provision  # noqa: E402, F401: it registers the preparations for PostgreSQL
from sqlalchemy.dialects import registry  # noqa: E402
from sqlalchemy.testing import provision  # noqa: E402
from sqlalchemy.testing.plugin import pytestplugin  # noqa: E402
from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402, F403: the hooks of the plugin

HERE = pathlib.Path(__file__).parent

# The suite writes the driver into the URL.
registry.register("frazil.frazil", "frazil.sqlalchemy", "FrazilDialect")


def prepare(url, engine, follower_ident):
    """Creates the schemas that the suite uses. SQLAlchemy's own preparation creates extensions, too, and Frazil has none."""
    with engine.begin() as connection:
        for schema in ("test_schema", "test_schema_2"):
            connection.exec_driver_sql(f"create schema if not exists {schema}")


provision.post_configure_engine.for_db("postgresql", "frazil")(prepare)
for preparation in (
    "temp_table_keyword_args",
    "set_default_schema_on_connection",
    "drop_all_schema_objects_pre_tables",
    "drop_all_schema_objects_post_tables",
    "upsert",
):
    hooks = getattr(provision, preparation)
    hooks.for_db("frazil")(hooks.fns["postgresql"])


def exceptions():
    """The reason of each excepted test, by its name."""
    reasons = {}
    reason = None
    for line in (HERE / "exceptions.txt").read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            assert reason is not None and line not in reasons, line
            reasons[line] = reason
    return reasons


def name_of(item):
    """The name of a test, without the database that its class and its parameters name."""
    name = getattr(item.cls, "_sa_orig_cls_name", item.cls.__name__)
    test = re.sub(r"\[(frazil|postgresql)[^\]-]*-?", "[", item.name).removesuffix("[]")
    return f"{name}::{test}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(session, config, items):
    pytestplugin.pytest_collection_modifyitems(session, config, items)
    reasons = exceptions()
    for item in items:
        reason = reasons.pop(name_of(item), None)
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
    assert not reasons or config.getoption("keyword"), f"exceptions without a test: {sorted(reasons)}"
