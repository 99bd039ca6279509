"""Parts of a table that processes of any kind read: Spark's, Ray's and Dask's tasks, or a pool's.

A part names a directory, a snapshot and a query for the rows of some chunks. Whoever has the part pickles it, sends it
to another process, and reads it there: that process opens the directory once, to be read, and keeps it open.
"""

import collections
import os
import threading

from . import _frazil
from ._results import wanted

#: Rows of a part if nothing else is asked: 16 chunks.
ROWS = 1 << 20
#: Most snapshots that a process keeps open.
MOST_SNAPSHOTS = 8

ReadCounts = collections.namedtuple("ReadCounts", "chunks skipped_chunks rows bytes")
ReadCounts.__doc__ = """Counts of a part's query: chunks that it opened, blocks among them that an SMA ruled out, rows that
it looked at, and bytes of codes and values, by estimate."""


def partitions(path, table, columns=None, filters=None, *, rows_per_part=None, parts=None, texts=()):
    """Divides a table of a directory into parts of about as many bytes each: of `rows_per_part` rows (by default about a
    million), or at most `parts`. `columns` are the names of those to read, by default all; those in `texts` are read as
    texts. `filters` are tuples that all rows satisfy: (column, operator, value) with =, <, <=, >, >= or in, or (column, "is
    null"), (column, "is not null"). Blocks that they rule out belong to no part."""
    path = lasting(path)
    _check_sizes(rows_per_part, parts)
    filters = [tuple(part) for part in filters or ()]
    columns = None if columns is None else list(columns)
    opened = _opened(path)
    asked = (table, columns, list(texts), filters, rows_per_part or ROWS, parts)
    found = opened.call(_frazil.partitions, *asked)
    about = (opened.place, opened.snapshot, table, columns, filters)
    return [Part(*about, *part) for part in found]


def lasting(path):
    """A path that processes with other working directories understand: an absolute one, or the URL of a published folder."""
    path = os.fsdecode(path)
    return path if _frazil.is_url(path) else os.path.abspath(path)


def _check_sizes(rows_per_part, parts):
    if rows_per_part is not None and parts is not None:
        raise ValueError("rows_per_part and parts are two ways to say one thing: give one of them")
    for name, value in (("rows_per_part", rows_per_part), ("parts", parts)):
        if value is not None and value < 1:
            raise ValueError(f"{name} is at least 1, not {value!r}")


class Part:
    """A part of the rows of a table in one snapshot. It can be pickled, and read in any process that has the directory."""

    def __init__(self, path, snapshot, table, columns, filters, sql, chunks, rows, bytes):
        #: The directory, or the snapshot in a published folder.
        self.path = path
        #: The database's id, the number of the snapshot's last commit, and its end in the log.
        self.snapshot = snapshot
        #: The table's name as it was given.
        self.table = table
        #: The names of the columns as they were given; None: all.
        self.columns = columns
        #: The filters.
        self.filters = filters
        #: The part's query.
        self.sql = sql
        #: The numbers of its first and its last chunk.
        self.chunks = chunks
        #: Its rows, at most.
        self.rows = rows
        #: The bytes of its columns, as they are stored.
        self.bytes = bytes
        #: ReadCounts of the last call of read(); None before.
        self.counts = None

    def read(self, threads=None):
        """Reads the part: a pyarrow.RecordBatchReader. `threads` limits the threads that read it. OperationalError with
        SQLSTATE 55000 if its snapshot is gone."""
        wanted("pyarrow", "reading parts")
        opened = _opened(self.path, self.snapshot)
        reader, counts = opened.call(_frazil.read_part, self.snapshot, self.sql, threads=threads)
        self.counts = ReadCounts(*counts)
        return reader

    def __repr__(self):
        commit = self.snapshot[1]
        first, last = self.chunks
        return f"<frazil.Part of {self.table}: chunks {first} to {last} of commit {commit}, {self.rows} rows, {self.bytes} bytes>"


_BEGIN = "begin isolation level repeatable read, read only"


class _Snapshot:
    """A snapshot that this process has open: connections that see it as long as their transactions are open."""

    def __init__(self, path):
        self.lock = threading.Lock()
        #: Holds the snapshot even if the directory moves on; calls wait for each other on it then.
        self.first = _frazil.open_reader(path)
        self.first.execute(_BEGIN)
        self.snapshot = _frazil.snapshot(self.first)
        #: The path by which other processes find the snapshot: as long as KEEP leaves it in a published folder, or as long
        #: as nobody writes the directory.
        self.place = os.fspath(_frazil.snapshot_path(self.first, path) or path)
        self.idle = [self.first]

    def _connect(self):
        connection = self.first.duplicate()
        connection.execute(_BEGIN)
        return connection

    def call(self, function, *arguments, threads=None):
        """Calls a function with a connection that sees the snapshot."""
        connection = self._take()
        try:
            connection.execute("reset threads" if threads is None else f"set threads = {int(threads)}")
            return function(connection, *arguments)
        except BaseException:
            # The transaction has failed, and does not hold the snapshot any more.
            connection.execute("rollback")
            connection.execute(_BEGIN)
            raise
        finally:
            with self.lock:
                if connection not in self.idle:
                    self.idle.append(connection)

    def _take(self):
        with self.lock:
            if self.idle:
                return self.idle.pop()
        connection = self._connect()
        if _frazil.snapshot(connection) == self.snapshot:
            return connection
        connection.close()
        return self.first


_snapshots = collections.OrderedDict()
_lock = threading.Lock()


def _opened(path, snapshot=None):
    """A snapshot of a directory: the one that is asked for, if this process has it open, else the last one."""
    with _lock:
        found = snapshot and _snapshots.get((path, snapshot))
        if not found:
            fresh = _Snapshot(path)
            found = _snapshots.setdefault((fresh.place, fresh.snapshot), fresh)
        _snapshots.move_to_end((found.place, found.snapshot))
        while len(_snapshots) > MOST_SNAPSHOTS:
            _snapshots.popitem(last=False)
        return found


def _forget():
    """A forked child cannot use what its parent has open, and a lock that a thread of the parent held stays held."""
    global _snapshots, _lock
    _snapshots, _lock = collections.OrderedDict(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
