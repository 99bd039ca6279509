"""The SQLAlchemy dialect of the embedded database: `create_engine("frazil:///shop.frazil")`.

Derives from SQLAlchemy's own PostgreSQL dialect: Frazil answers PostgreSQL's SQL and has PostgreSQL's catalogs, so that the
compilers and the reflection are PostgreSQL's. The dialect's name is "postgresql", too: types with variants for "postgresql",
`DDL.execute_if(dialect="postgresql")`, and Alembic's operations apply unchanged. The name of the driver is "frazil".

`frazil:///shop.frazil` is a directory below the current one, `frazil:////data/shop.frazil` an absolute path, `frazil://` a
database in memory that ends with the engine. All connections of an engine share one database, in whatever threads. Options of the
URL: `read_only=true` and `file_access=off`, as for `frazil.connect`.
"""

from __future__ import annotations

import datetime
import decimal
import json
import re
import threading
from typing import Any, Callable, Optional

from sqlalchemy import exc, types, util
from sqlalchemy.dialects.postgresql import BYTEA, ENUM, INTERVAL, JSON, JSONB, OID, REGCLASS
from sqlalchemy.dialects.postgresql import ARRAY as _ARRAY
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.engine import URL, processors

__all__ = ["FrazilDialect"]

_Processor = Optional[Callable[[Any], Any]]

#: Types whose values arrive as float.
_FLOATS = ("real", "double precision")

#: An interval as text in the style "postgres". Each unit has its own sign, and so has the time of day.
_INTERVAL = re.compile(
    r"(?:(?P<years>-?\d+) years? ?)?(?:(?P<months>-?\d+) mons? ?)?(?:(?P<days>[-+]?\d+) days? ?)?"
    r"(?:(?P<sign>[-+])?(?P<hours>\d+):(?P<minutes>\d+):(?P<seconds>\d+)(?:\.(?P<fraction>\d+))?)?"
)


def _timedelta(text: str) -> datetime.timedelta:
    """The span of an interval's text: 365 days a year and 30 a month, as psycopg counts. ValueError for text of another style
    than "postgres"."""
    found = _INTERVAL.fullmatch(text)
    if found is None:
        raise ValueError(f'interval "{text}" is not in the style "postgres": set intervalstyle to it')
    years, months, days, hours, minutes, seconds = (
        int(found[unit] or 0) for unit in ("years", "months", "days", "hours", "minutes", "seconds")
    )
    time = datetime.timedelta(
        hours=hours, minutes=minutes, seconds=seconds, microseconds=int((found["fraction"] or "").ljust(6, "0"))
    )
    return datetime.timedelta(days=365 * years + 30 * months + days) + (-time if found["sign"] == "-" else time)


# A type that renders its cast tells the statement the parameter's type: "$1::INTEGER".


class _String(types.String):
    render_bind_cast = True


class _Integer(types.Integer):
    render_bind_cast = True


class _SmallInteger(types.SmallInteger):
    render_bind_cast = True


class _BigInteger(types.BigInteger):
    render_bind_cast = True


class _Boolean(types.Boolean):
    render_bind_cast = True


class _Date(types.Date):
    render_bind_cast = True


class _Time(types.Time):
    render_bind_cast = True


class _DateTime(types.DateTime):
    render_bind_cast = True


class _Bytes(BYTEA):
    render_bind_cast = True


class _Array(_ARRAY):
    render_bind_cast = True


class _Enum(ENUM):
    render_bind_cast = True


class _Oid(OID):
    render_bind_cast = True


class _Regclass(REGCLASS):
    render_bind_cast = True


class _Interval(INTERVAL):
    render_bind_cast = True

    @classmethod
    def adapt_emulated_to_native(cls, interval: Any, **_: Any) -> _Interval:
        return _Interval(precision=interval.second_precision)

    def result_processor(self, dialect: Any, coltype: object) -> _Processor:
        return lambda value: None if value is None else _timedelta(value)


class _Number:
    """Numbers arrive as int, float or Decimal, as the column's type says."""

    render_bind_cast = True
    asdecimal: bool
    _effective_decimal_return_scale: int

    def bind_processor(self, dialect: Any) -> _Processor:
        return None

    def result_processor(self, dialect: Any, coltype: object) -> _Processor:
        is_float = str(coltype).removesuffix("[]") in _FLOATS
        if self.asdecimal and is_float:
            return processors.to_decimal_processor_factory(decimal.Decimal, self._effective_decimal_return_scale)
        return None if self.asdecimal or is_float else processors.to_float


class _Numeric(_Number, types.Numeric):
    pass


class _Float(_Number, types.Float):
    pass


class _ParsedJson:
    """JSON arrives parsed. A deserializer of the engine gets its text."""

    render_bind_cast = True

    def result_processor(self, dialect: Any, coltype: object) -> _Processor:
        deserializer = dialect._json_deserializer
        if deserializer is None:
            return None
        return lambda value: None if value is None else deserializer(json.dumps(value))


class _Json(_ParsedJson, JSON):
    pass


class _Jsonb(_ParsedJson, JSONB):
    pass


class _JsonInteger(types.JSON.JSONIntIndexType):
    __visit_name__ = "json_int_index"
    render_bind_cast = True


class _JsonKey(types.JSON.JSONStrIndexType):
    __visit_name__ = "json_str_index"
    render_bind_cast = True


class FrazilDialect(PGDialect):
    """PostgreSQL's dialect on connections of the module `frazil`."""

    driver = "frazil"
    supports_statement_cache = True
    supports_sane_multi_rowcount = True
    supports_native_json_deserialization = True
    dialect_injects_custom_json_deserializer = False
    default_paramstyle = "numeric_dollar"

    colspecs = util.update_copy(
        PGDialect.colspecs,
        {
            types.String: _String,
            types.Integer: _Integer,
            types.SmallInteger: _SmallInteger,
            types.BigInteger: _BigInteger,
            types.Boolean: _Boolean,
            types.Date: _Date,
            types.Time: _Time,
            types.DateTime: _DateTime,
            types.Interval: _Interval,
            INTERVAL: _Interval,
            types.Numeric: _Numeric,
            types.Float: _Float,
            types.LargeBinary: _Bytes,
            BYTEA: _Bytes,
            types.ARRAY: _Array,
            types.Enum: _Enum,
            ENUM: _Enum,
            types.JSON: _Json,
            JSON: _Json,
            JSONB: _Jsonb,
            types.JSON.JSONIntIndexType: _JsonInteger,
            types.JSON.JSONStrIndexType: _JsonKey,
            OID: _Oid,
            REGCLASS: _Regclass,
        },
    )

    def __init__(self, paramstyle: Optional[str] = None, **options: Any) -> None:
        super().__init__(paramstyle=paramstyle or self.default_paramstyle, **options)
        self._lock = threading.Lock()
        #: The connection that keeps the database in memory.
        self._memory: Any = None

    @classmethod
    def import_dbapi(cls) -> Any:
        import frazil

        return frazil

    def create_connect_args(self, url: URL) -> Any:
        unknown = set(url.query) - {"read_only", "file_access"}
        if url.host or url.username or url.port:
            raise exc.ArgumentError(
                f'"{url}" names a server, but the database is a directory: frazil:///shop.frazil, or frazil:////data/shop.frazil '
                f"for an absolute path. frazil serve is reached by postgresql+psycopg://"
            )
        if unknown:
            raise exc.ArgumentError(f'"{url}" has the unknown option {min(unknown)}: there are read_only and file_access')
        options: dict[str, Any] = dict(url.query)
        if "read_only" in options:
            options["read_only"] = util.asbool(options["read_only"])
        if isinstance(options.get("file_access"), str) and options["file_access"] not in ("on", "off"):
            options["file_access"] = [options["file_access"]]
        return [url.database or ":memory:"], options

    def connect(self, path: Any, **options: Any) -> Any:
        options = {"autocommit": False, "paramstyle": self.paramstyle, **options}
        if path != ":memory:":
            return self.loaded_dbapi.connect(path, **options)
        with self._lock:
            if self._memory is None:
                self._memory = self.loaded_dbapi.connect(**options)
            return self._memory.duplicate()

    def is_disconnect(self, e: Any, connection: Any, cursor: Any) -> bool:
        return isinstance(e, self.loaded_dbapi.Error) and connection is not None and connection.closed

    def do_ping(self, dbapi_connection: Any) -> bool:
        # A connection that the pool holds is outside a transaction, and SHOW begins none.
        dbapi_connection.cursor().execute("show server_version")
        return True

    # Isolation.

    def get_isolation_level_values(self, dbapi_conn: Any) -> Any:
        return ("AUTOCOMMIT", "READ COMMITTED", "READ UNCOMMITTED", "REPEATABLE READ")

    def set_isolation_level(self, dbapi_connection: Any, level: str) -> None:
        dbapi_connection.autocommit = level == "AUTOCOMMIT"
        if level != "AUTOCOMMIT":
            self._characteristic(dbapi_connection, f"isolation level {level}")

    def detect_autocommit_setting(self, dbapi_conn: Any) -> bool:
        return bool(dbapi_conn.autocommit)

    def set_readonly(self, connection: Any, value: bool) -> None:
        self._characteristic(connection, "read only" if value else "read write")

    def get_readonly(self, connection: Any) -> bool:
        return self._is_on(connection, "default_transaction_read_only")

    def set_deferrable(self, connection: Any, value: bool) -> None:
        self._characteristic(connection, "deferrable" if value else "not deferrable")

    def get_deferrable(self, connection: Any) -> bool:
        return self._is_on(connection, "default_transaction_deferrable")

    def _characteristic(self, connection: Any, mode: str) -> None:
        connection.cursor().execute(f"set session characteristics as transaction {mode}")

    def _is_on(self, connection: Any, setting: str) -> bool:
        return bool(connection.cursor().execute(f"show {setting}").fetchone()[0] == "on")
