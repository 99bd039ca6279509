"""Frazil: an SQL database for transactions and analytics on one copy of the data.

    import frazil
    with frazil.connect("mydata") as con:
        con.execute("create table t (a integer, b text)")
        con.execute("insert into t values (?, ?)", (1, "one"))
        frame = con.execute("select * from t").df()

The module is a DB API of PEP 249; see docs/python.md.
"""

from ._frazil import (
    Connection,
    Cursor,
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Statement,
    Warning,
    __version__,
    connect,
)
from ._partitions import Part, ReadCounts, partitions
from ._types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

#: The version of the DB API.
apilevel = "2.0"
#: Threads may share the module, connections and cursors: a call is one step, and statements of a connection wait for each other.
threadsafety = 3
#: How connections mark parameters unless they say another style: "?". "$1" is taken in every style.
paramstyle = "qmark"

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
