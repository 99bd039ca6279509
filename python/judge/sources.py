"""What FROM holds: columns that an expression may name, and sources of rows."""

from . import tables

# How casts name types.
CASTS = {**tables.SQL_TYPES, "iv": "interval", "dec": "decimal(12,2)"}


class Column:
    """Something that an expression may name: a type, how it is written, whether arithmetic on it is safe."""

    def __init__(self, name, kind, safe, ref):
        self.name, self.kind, self.safe, self.ref = name, kind, safe, ref


class Source:
    """What FROM holds so far: its tree, its columns, the columns that `*` and USING see, an estimate of its rows."""

    def __init__(self, node, columns, rows, tables_in=()):
        self.node, self.columns, self.rows, self.tables_in = node, columns, rows, list(tables_in)


def is_bare(column):
    """Whether it is named without its relation: what USING merged."""
    return isinstance(column.ref, str) and "." not in column.ref


def both(left, right):
    """The columns of two sources beside each other, without those whose bare name the other one makes ambiguous."""
    names = [{c.name for c in source.columns} for source in (left, right)]
    return ([c for c in left.columns if not (is_bare(c) and c.name in names[1])]
            + [c for c in right.columns if not (is_bare(c) and c.name in names[0])])
