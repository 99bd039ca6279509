"""What a script knows of its database: tables with their columns, keys, checks and indexes, as its statements have made them.

Values of a script's columns come from small domains, so that keys meet each other and conditions hold for some rows."""

from .tables import SQL_TYPES

# Types that a column of a kind may have.
TYPES = {
    **{kind: [sql] for kind, sql in SQL_TYPES.items()},
    "dec": ["decimal(9,2)", "decimal(9,2)", "numeric(5,1)", "decimal(20,3)"], "text": ["text", "text", "varchar(8)", "varchar(3)"],
    "char": ["char(5)", "char(1)", "character(3)"],
}
KINDS = ["i4", "i8", "i2", "dec", "f8", "text", "char", "date", "ts", "bool"]
KIND_WEIGHTS = [26, 12, 8, 10, 6, 16, 6, 8, 5, 6]
KEY_KINDS = ("i4", "i8", "i2", "text", "date", "dec", "char", "ts")
DOMAIN = {
    "bool": ["true", "false", "'t'"],
    "i2": ["0", "1", "2", "3", "-1", "'2'"], "i4": ["1", "2", "3", "4", "5", "6", "7", "0", "-1", "'3'"],
    "i8": ["1", "2", "3", "4", "5", "10", "-7", "4294967296"],
    "dec": ["0", "1.5", "2.25", "-3.75", "1.50", "10", "2"], "wide": ["1.5", "0", "-0.000001"],
    "f8": ["0.5", "-1.25", "2", "'NaN'", "1e3"],
    "text": ["'a'", "'b'", "'ab'", "''", "'abc'", "'B'", "'ä'", "'a '"], "char": ["'a'", "'b'", "'ab'", "''", "'a '", "'B'"],
    "date": ["'2000-02-29'", "date '1999-12-31'", "'2024-01-31'", "'1970-01-01'"],
    "ts": ["'2000-02-29 12:34:56.5'", "timestamp '1999-12-31 23:59:59'", "'2024-01-31'"],
}
# Assigned to a column whose type has no room for them.
TOO_LARGE = {"i2": ["40000", "-32769"], "i4": ["2147483648", "3000000000"], "i8": ["9223372036854775808"], "dec": ["12345678901234567890.5"],
             "text": ["'far too long for it'", "'blanks      '"], "char": ["'too long'", "'a        '"], "date": ["'2001-02-29'"], "f8": ["'x'"]}
# Kinds whose values an assignment converts to a kind.
ASSIGNED = {"i2": ["i4", "dec"], "i4": ["i2", "i8", "f8", "dec"], "i8": ["i4", "i2", "dec"], "dec": ["i4", "i8", "i2"], "f8": ["i4", "dec"],
            "text": ["char", "i4", "date", "bool"], "char": ["text"], "date": ["ts"], "ts": ["date"], "bool": ["bool"]}


class Field:
    """A column of a table."""

    def __init__(self, name, kind, sql, not_null=False, default=False):
        self.name, self.kind, self.sql, self.not_null, self.default = name, kind, sql, not_null, default


class Key:
    """A key, check or index. `kind`: primary, unique, check, index, unique index."""

    def __init__(self, name, kind, columns):
        self.name, self.kind, self.columns = name, kind, list(columns)

    def is_constraint(self):
        return self.kind in ("primary", "unique", "check")

    def is_unique(self):
        return self.kind in ("primary", "unique", "unique index")


class Table:
    def __init__(self, name, fields):
        self.name, self.fields, self.keys = name, fields, []
        self.rows = 12

    def field(self, name):
        return next(f for f in self.fields if f.name == name)

    def unique(self):
        return [k for k in self.keys if k.is_unique()]

    def key_columns(self):
        """Names of columns that some unique key has."""
        return {c for k in self.unique() for c in k.columns}

    def add(self, key):
        self.keys.append(key)
        if key.kind == "primary":
            for name in key.columns:
                self.field(name).not_null = True

    def drop_field(self, name):
        self.fields = [f for f in self.fields if f.name != name]
        self.keys = [k for k in self.keys if name not in k.columns]

    def rename_field(self, old, new):
        self.field(old).name = new
        for key in self.keys:
            key.columns = [new if c == old else c for c in key.columns]


def given_name(table, kind, columns):
    """The name of a key that its statement does not name, if it is free."""
    last = {"primary": "pkey", "unique": "key", "check": "check"}.get(kind, "idx")
    return "_".join([table, *([] if kind == "primary" else columns), last])
