"""Frazil: an SQL database for transactions and analytics on one copy of the data, as a DB API of PEP 249."""

import builtins
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Literal, NamedTuple, final

import numpy
import numpy.typing
import pandas  # type: ignore[import-untyped, unused-ignore]
import polars
import pyarrow  # type: ignore[import-untyped, unused-ignore]

from ._types import (
    BINARY as BINARY,
    DATETIME as DATETIME,
    NUMBER as NUMBER,
    ROWID as ROWID,
    STRING as STRING,
    Binary as Binary,
    Date as Date,
    DateFromTicks as DateFromTicks,
    Time as Time,
    TimeFromTicks as TimeFromTicks,
    Timestamp as Timestamp,
    TimestampFromTicks as TimestampFromTicks,
)

__all__ = [
    "BINARY",
    "Binary",
    "Connection",
    "Cursor",
    "DATETIME",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NUMBER",
    "NotSupportedError",
    "OperationalError",
    "Part",
    "ProgrammingError",
    "ROWID",
    "ReadCounts",
    "STRING",
    "Statement",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "__version__",
    "apilevel",
    "connect",
    "paramstyle",
    "partitions",
    "threadsafety",
]
__version__: Final[str]
apilevel: Final = "2.0"
threadsafety: Final = 3
paramstyle: str

_Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_Style = Literal["qmark", "numeric", "named", "format", "pyformat", "numeric_dollar"]
_Parameters = Sequence[Any] | Mapping[str, Any]
_Description = list[tuple[str, str, int | None, int | None, int | None, int | None, bool]]

class Warning(builtins.Warning): ...

class Error(Exception):
    """An error of the database: `sqlstate` is its kind, `position` the character of the statement (from 1) at which it
    occurred; `table`, `column` and `constraint` are the names it is about."""

    sqlstate: str | None
    position: int | None
    detail: str | None
    hint: str | None
    table: str | None
    column: str | None
    constraint: str | None

class InterfaceError(Error): ...
class DatabaseError(Error): ...
class DataError(DatabaseError): ...
class IntegrityError(DatabaseError): ...
class OperationalError(DatabaseError): ...
class ProgrammingError(DatabaseError): ...
class NotSupportedError(DatabaseError): ...
class InternalError(DatabaseError): ...

def connect(
    path: _Path | None = None,
    read_only: bool = False,
    *,
    paramstyle: _Style | None = None,
    autocommit: bool = True,
    file_access: str | Iterable[_Path] | None = None,
) -> Connection:
    """Opens a database: a directory, which is created if it does not exist; without one, a database in memory.
    `file_access` limits the files that statements may name: "on", "off", or a list of folders."""

_Filter = tuple[str, str] | tuple[str, str, Any]

def partitions(
    path: _Path,
    table: str,
    columns: Iterable[str] | None = None,
    filters: Iterable[_Filter] | None = None,
    *,
    rows_per_part: int | None = None,
    parts: int | None = None,
    texts: Iterable[str] = (),
) -> list[Part]:
    """Divides a table of a directory into parts of about as many bytes each: of `rows_per_part` rows (by default about a
    million), or at most `parts`. `columns` are the names of those to read, by default all; those in `texts` are read as
    texts. `filters` are tuples that all rows satisfy: (column, operator, value) with =, <, <=, >, >= or in, or (column, "is
    null"), (column, "is not null"). Blocks that they rule out belong to no part."""

class ReadCounts(NamedTuple):
    """Counts of a part's query: chunks that it opened, blocks among them that an SMA ruled out, rows that it looked at, and
    bytes of codes and values, by estimate."""

    chunks: int
    skipped_chunks: int
    rows: int
    bytes: int

class Part:
    """A part of the rows of a table in one snapshot. It can be pickled, and read in any process that has the directory."""

    path: str
    snapshot: tuple[str, int, int]
    table: str
    columns: list[str] | None
    filters: list[_Filter]
    sql: str
    chunks: tuple[int, int]
    rows: int
    bytes: int
    counts: ReadCounts | None
    def __init__(
        self,
        path: str,
        snapshot: tuple[str, int, int],
        table: str,
        columns: list[str] | None,
        filters: list[_Filter],
        sql: str,
        chunks: tuple[int, int],
        rows: int,
        bytes: int,
    ) -> None: ...
    def read(self, threads: int | None = None) -> pyarrow.RecordBatchReader:
        """Reads the part. `threads` limits the threads that read it. OperationalError with SQLSTATE 55000 if its
        snapshot is gone."""

@final
class Connection:
    """A session on a database. Threads may share it: their statements wait for each other."""

    Warning: type[Warning]
    Error: type[Error]
    InterfaceError: type[InterfaceError]
    DatabaseError: type[DatabaseError]
    DataError: type[DataError]
    IntegrityError: type[IntegrityError]
    OperationalError: type[OperationalError]
    ProgrammingError: type[ProgrammingError]
    NotSupportedError: type[NotSupportedError]
    InternalError: type[InternalError]
    autocommit: bool
    paramstyle: str
    @property
    def in_transaction(self) -> bool: ...
    @property
    def closed(self) -> bool: ...
    def execute(self, sql: str, params: _Parameters | None = None, /) -> Cursor: ...
    def executemany(self, sql: str, params: Iterable[_Parameters], /) -> Cursor: ...
    def prepare(self, sql: str, /) -> Statement: ...
    def cursor(self) -> Cursor: ...
    def duplicate(self) -> Connection: ...
    def register(self, name: str, frame: Any, /) -> None: ...
    def unregister(self, name: str, /) -> None: ...
    def append(self, table: str, frame: Any, /) -> int: ...
    def read_csv(self, path: _Path, /, **options: str | bool) -> Cursor: ...
    def read_parquet(self, path: _Path, /, **options: str | bool) -> Cursor: ...
    def read_json(self, path: _Path, /, **options: str | bool) -> Cursor: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def interrupt(self) -> None: ...
    def progress(self) -> tuple[str, int, int]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Connection: ...
    def __exit__(
        self,
        kind: type[BaseException] | None = ...,
        value: BaseException | None = ...,
        traceback: TracebackType | None = ...,
        /,
    ) -> None: ...

@final
class Cursor:
    """Runs statements and holds their results."""

    arraysize: int
    @property
    def connection(self) -> Connection: ...
    @property
    def description(self) -> _Description | None: ...
    @property
    def rowcount(self) -> int: ...
    @property
    def rownumber(self) -> int | None: ...
    @property
    def lastrowid(self) -> None: ...
    @property
    def messages(self) -> list[tuple[type[Warning], Warning]]: ...
    @property
    def closed(self) -> bool: ...
    def execute(self, sql: str, params: _Parameters | None = None, /) -> Cursor: ...
    def executemany(self, sql: str, params: Iterable[_Parameters], /) -> Cursor: ...
    def callproc(self, procname: str, params: Sequence[Any] | None = None, /) -> None: ...
    def fetchone(self) -> tuple[Any, ...] | None: ...
    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]: ...
    def fetchall(self) -> list[tuple[Any, ...]]: ...
    def nextset(self) -> Literal[True] | None: ...
    def setinputsizes(self, sizes: Sequence[Any]) -> None: ...
    def setoutputsize(self, size: int, column: int | None = None) -> None: ...
    def df(self, *, decimals: Literal["float", "decimal"] = "float") -> pandas.DataFrame: ...
    def pl(self) -> polars.DataFrame: ...
    def arrow(self) -> pyarrow.Table: ...
    def fetchnumpy(self) -> dict[str, numpy.typing.NDArray[Any] | numpy.ma.MaskedArray[Any, Any]]: ...
    def fetch_record_batch(self) -> pyarrow.RecordBatchReader: ...
    def close(self) -> None: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...
    def __next__(self) -> tuple[Any, ...]: ...
    def __enter__(self) -> Cursor: ...
    def __exit__(
        self,
        kind: type[BaseException] | None = ...,
        value: BaseException | None = ...,
        traceback: TracebackType | None = ...,
        /,
    ) -> None: ...

@final
class Statement:
    """A statement that is parsed, bound and compiled once."""

    def execute(self, params: _Parameters | None = None, /) -> Cursor: ...
    def executemany(self, params: Iterable[_Parameters], /) -> int: ...
