"""Types and constructors of PEP 249."""

import datetime


class _Type:
    """What several types of columns have in common: it is equal to the type codes of all of them."""

    def __init__(self, name: str, *types: str) -> None:
        self._name = name
        self._types = frozenset(types)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return other.partition("(")[0] in self._types
        return self is other

    def __hash__(self) -> int:
        return hash(self._types)

    def __repr__(self) -> str:
        return f"frazil.{self._name}"


STRING = _Type("STRING", "char", "varchar", "bpchar", "text", "json")
#: There is no type of bytes yet: nothing is equal to it.
BINARY = _Type("BINARY", "bytea")
NUMBER = _Type("NUMBER", "smallint", "integer", "bigint", "decimal", "real", "double precision")
DATETIME = _Type("DATETIME", "date", "time", "timestamp", "interval")
#: Rows have no numbers that last: nothing is equal to it.
ROWID = _Type("ROWID")

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:
    """The local date so many seconds after 1970."""
    return datetime.date.fromtimestamp(ticks)


def TimeFromTicks(ticks: float) -> datetime.time:
    """The local time of day so many seconds after 1970."""
    return datetime.datetime.fromtimestamp(ticks).time()


def TimestampFromTicks(ticks: float) -> datetime.datetime:
    """The local date and time so many seconds after 1970."""
    return datetime.datetime.fromtimestamp(ticks)
