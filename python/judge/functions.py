"""Every operator and function as data: result type, template, argument types, the judge that knows it.

An argument type followed by `!` must be safe (small values), one followed by `.` is a safe column or literal; one in quotes is a literal chosen among words. Templates are
PostgreSQL's; a dict gives another text for DuckDB. Types: see tables.SQL_TYPES, and iv for intervals."""

from . import documents, wider

NAMES = {"i2": "smallint", "i4": "integer", "i8": "bigint", "dec": "decimal(12,2)", "f8": "double precision"}
NUMBERS = ["i2", "i4", "i8", "dec", "f8"]
WHOLE = ["i2", "i4", "i8"]
ORDERED = [*NUMBERS, "wide", "text", "char", "date", "ts", "bool"]
BOTH, POSTGRES = "both", "postgres"


def whole_division(form):
    return {None: f"({{}} {form} {{}})", "duckdb": f"({{}} {'//' if form == '/' else form} {{}})"}


def like(word):
    """DuckDB knows no escape unless it is said."""
    plain = f"({{}} {word} {{}})"
    return {None: plain, "duckdb": plain[:-1] + " escape '\\')"}


def operators():
    """(result, template, arguments, name, judges)"""
    out = []
    for kind in NUMBERS:
        safe = kind + "!"
        for sign in ("+", "-", "*"):
            out.append((kind, f"({{}} {sign} {{}})", [safe, safe], sign, BOTH))
        out.append((kind, "(- {})", [safe], "negation", BOTH))
        out.append((kind, "(+ {})", [kind], "plus sign", BOTH))
        out.append((kind, "abs({})", [safe], "abs", BOTH))
    for kind in WHOLE:
        for sign in ("/", "%"):
            out.append((kind, whole_division(sign), [kind + "!", f"nonzero {kind}"], f"whole {sign}", BOTH))
        out.append((kind, "mod({}, {})", [kind + "!", f"nonzero {kind}"], "mod", BOTH))
    out += [
        ("dec", "round({}, 1)", ["dec!"], "round to digits", BOTH),
        ("dec", "round({})", ["dec!"], "round", BOTH),
        ("dec", "floor({})", ["dec!"], "floor", BOTH),
        ("dec", "ceil({})", ["dec!"], "ceil", BOTH),
        ("dec", "mod({}, {})", ["dec!", "nonzero dec"], "mod", BOTH),
        ("f8", "floor({})", ["f8!"], "floor", BOTH),
        ("f8", "ceil({})", ["f8!"], "ceil", BOTH),
        ("f8", "round({})", ["f8!"], "round", POSTGRES),
        ("f8", "sqrt(abs({}))", ["f8!"], "sqrt", BOTH),
        ("f8", "exp({})", ["small f8"], "exp", BOTH),
        ("f8", "ln(1 + abs({}))", ["f8!"], "ln", BOTH),
        ("f8", "power({}, cast(2 as double precision))", ["f8!"], "power", BOTH),
        ("f8", "({} / {})", ["f8!", "nonzero f8"], "float /", BOTH),
        ("i4", "length({})", ["text"], "length", BOTH),
        ("i4", "length({})", ["char"], "length of char", BOTH),
        ("i4", "char_length({})", ["text"], "char_length", BOTH),
        ("i4", "octet_length({})", ["text"], "octet_length", POSTGRES),
        ("i4", "bit_length({})", ["text"], "bit_length", BOTH),
        ("i4", "ascii({})", ["text"], "ascii", BOTH),
        ("i4", "strpos({}, {})", ["text", "text"], "strpos", BOTH),
        ("i4", "position({} in {})", ["text", "text"], "position", BOTH),
        ("i4", "({} - {})", ["date", "date"], "date - date", BOTH),
        ("i4", "cast(extract({} from {}) as integer)", ["'year quarter month day dow doy week isodow'", "date!"], "extract", BOTH),
        ("i4", "cast(extract({} from {}) as integer)", ["'year month day hour minute'", "ts"], "extract", BOTH),
        ("i4", "cast(date_part({}, {}) as integer)", ["\"year month day\"", "ts"], "date_part", BOTH),
        ("text", "({} || {})", ["text", "text"], "||", BOTH),
        ("text", "({} || {})", ["text", "char"], "|| char", BOTH),
        ("text", "({} || {})", ["text", "i4"], "|| number", BOTH),
        ("text", "concat({}, {})", ["text", "i8"], "concat", BOTH),
        ("text", "concat_ws({}, {}, {})", ["short text", "text", "text"], "concat_ws", BOTH),
        ("text", "lower({})", ["ascii"], "lower", BOTH),
        ("text", "upper({})", ["ascii"], "upper", BOTH),
        ("text", "initcap({})", ["ascii"], "initcap", POSTGRES),
        ("text", "substring({} from {})", ["text", "position"], "substring from", BOTH),
        ("text", "substring({} from {} for {})", ["text", "position", "count"], "substring from for", BOTH),
        ("text", "substring({}, {}, {})", ["text", "position", "count"], "substring", BOTH),
        ("text", "trim({})", ["text"], "trim", BOTH),
        ("text", "trim(both {} from {})", ["short text", "text"], "trim both", BOTH),
        ("text", "trim(leading from {})", ["text"], "trim leading", POSTGRES),
        ("text", "ltrim({})", ["text"], "ltrim", BOTH),
        ("text", "rtrim({}, {})", ["text", "short text"], "rtrim", BOTH),
        ("text", {None: "btrim({})", "duckdb": "trim({})"}, ["text"], "btrim", BOTH),
        ("text", "replace({}, {}, {})", ["text", "short text", "text"], "replace", BOTH),
        ("text", "left({}, {})", ["text", "offset"], "left", BOTH),
        ("text", "right({}, {})", ["text", "offset"], "right", BOTH),
        ("text", "lpad({}, {}, {})", ["text", "count", "short text"], "lpad", BOTH),
        ("text", "rpad({}, {}, {})", ["text", "count", "short text"], "rpad", BOTH),
        ("text", "lpad({}, {})", ["text", "offset"], "lpad", POSTGRES),
        ("text", "repeat({}, {})", ["text", "count"], "repeat", BOTH),
        ("text", "reverse({})", ["ascii"], "reverse", BOTH),
        ("text", "split_part({}, {}, {})", ["text", "short text", "count"], "split_part", BOTH),
        ("text", "translate({}, {}, {})", ["text", "short text", "short text"], "translate", BOTH),
        ("text", "chr(65 + abs({}) % 50)", ["i4!"], "chr", BOTH),
        ("text", "to_hex({})", ["i4"], "to_hex", POSTGRES),
        ("text", "to_hex({})", ["i8"], "to_hex", POSTGRES),
        ("text", "regexp_replace({}, {}, {})", ["text", "pattern", "short text"], "regexp_replace", BOTH),
        ("text", "cast({} as text)", ["i8"], "cast to text", BOTH),
        ("text", "cast({} as text)", ["date!"], "cast to text", BOTH),
        ("text", "cast({} as text)", ["bool"], "cast to text", BOTH),
        ("text", "cast({} as varchar(3))", ["text"], "cast to varchar", POSTGRES),
        ("bool", "starts_with({}, {})", ["text", "short text"], "starts_with", BOTH),
        ("bool", like("like"), ["text", "like"], "like", BOTH),
        ("bool", like("not like"), ["text", "like"], "not like", BOTH),
        ("bool", like("ilike"), ["ascii", "like"], "ilike", BOTH),
        ("bool", "({} like {})", ["text", "text"], "like expression", POSTGRES),
        ("bool", "({} ~ {})", ["text", "pattern"], "~", POSTGRES),
        ("bool", "({} !~* {})", ["ascii", "pattern"], "!~*", POSTGRES),
        ("bool", "({} similar to {})", ["text", "similar"], "similar to", POSTGRES),
        ("bool", "(not {})", ["bool"], "not", BOTH),
        ("bool", "({} and {})", ["bool", "bool"], "and", BOTH),
        ("bool", "({} or {})", ["bool", "bool"], "or", BOTH),
        ("bool", "({} is true)", ["bool"], "is true", BOTH),
        ("bool", "({} is not false)", ["bool"], "is not false", BOTH),
        ("bool", "({} is unknown)", ["bool"], "is unknown", POSTGRES),
        ("bool", "(({}, {}) = ({}, {}))", ["i4", "text", "i4", "text"], "row =", POSTGRES),
        ("bool", "(({}, {}) < ({}, {}))", ["i4", "date", "i4", "date"], "row <", POSTGRES),
        ("date", "({} + {})", ["date!", "days"], "date + days", BOTH),
        ("date", "({} - {})", ["date!", "days"], "date - days", BOTH),
        ("date", "cast({} as date)", ["ts"], "cast to date", BOTH),
        ("ts", "({} + {})", ["ts", "iv"], "timestamp + interval", BOTH),
        ("ts", "({} - {})", ["ts", "iv"], "timestamp - interval", BOTH),
        ("ts", "({} + {})", ["date!", "iv"], "date + interval", BOTH),
        ("ts", "cast({} as timestamp)", ["date!"], "cast to timestamp", BOTH),
        ("ts", "date_trunc({}, {})", ["\"year month week day hour\"", "ts"], "date_trunc", BOTH),
        ("iv", "({} - {})", ["ts", "ts"], "timestamp - timestamp", POSTGRES),
        ("iv", "({} + {})", ["iv", "iv"], "interval + interval", POSTGRES),
        ("iv", "({} * {})", ["iv", "count"], "interval * number", POSTGRES),
        ("iv", "(- {})", ["iv"], "interval negation", POSTGRES),
    ]
    out += row_values() + intervals() + other_types() + arrays() + instants() + documents.rules()
    for kind in ORDERED:
        for sign in ("=", "<>", "<", "<=", ">", ">="):
            out.append(("bool", f"({{}} {sign} {{}})", [kind, kind], sign, BOTH))
        out.append(("bool", "({} between {} and {})", [kind, kind, kind], "between", BOTH))
        out.append(("bool", "({} not between {} and {})", [kind, kind, kind], "not between", BOTH))
        out.append(("bool", "({} between symmetric {} and {})", [kind, kind, kind], "between symmetric", POSTGRES))
        out.append(("bool", "({} is null)", [kind], "is null", BOTH))
        out.append(("bool", "({} is not null)", [kind], "is not null", BOTH))
        out.append(("bool", "({} is distinct from {})", [kind, kind], "is distinct from", BOTH))
        out.append(("bool", "({} is not distinct from {})", [kind, kind], "is not distinct from", BOTH))
        out.append(("bool", "({} in ({}, {}, {}))", [kind, kind, kind, kind], "in list", BOTH))
        out.append(("bool", "({} not in ({}, {}))", [kind, kind, kind], "not in list", BOTH))
        if kind not in ("bool", "char"):
            out.append((kind, "nullif({}, {})", [kind, kind], "nullif", BOTH))
            out.append((kind, "greatest({}, {})", [kind, kind], "greatest", BOTH))
            out.append((kind, "least({}, {}, {})", [kind, kind, kind], "least", BOTH))
        if kind != "char":
            out.append((kind, "coalesce({}, {})", [kind, kind], "coalesce", BOTH))
            out.append((kind, "case when {} then {} else {} end", ["bool", kind, kind], "case when", BOTH))
            out.append((kind, "case when {} then {} when {} then {} end", ["bool", kind, "bool", kind], "case without else", BOTH))
            out.append((kind, "case {} when {} then {} else {} end", ["i4", "i4", kind, kind], "simple case", BOTH))
    for left, right in (("i2", "i4"), ("i4", "i8"), ("i8", "dec"), ("i4", "f8"), ("dec", "f8"), ("i8", "wide"), ("date", "ts"), ("char", "char")):
        for sign in ("=", "<", ">="):
            out.append(("bool", f"({{}} {sign} {{}})", [left, right], f"{sign} of two types", BOTH))
    for low, high in (("i2", "i4"), ("i4", "i8"), ("i4", "dec"), ("i8", "f8"), ("dec", "f8")):
        out.append((high, f"cast({{}} as {NAMES[high]})", [low + "!"], f"cast to {high}", BOTH))
        out.append((high, "({} + {})", [low + "!", high + "!"], "+ of two types", BOTH))
    for low, high in (("i2", "i4"), ("i4", "i8"), ("i4", "dec"), ("i8", "f8"), ("i4", "f8")):
        out.append((low, f"cast({{}} as {NAMES[low]})", [high + "!"], f"cast to {low}", BOTH))
    return out



def row_values():
    """Comparisons of rows: only PostgreSQL has all of them."""
    out = []
    for types in (["i4", "text"], ["i4", "date"], ["i8", "dec"], ["bool", "i2"]):
        for sign in ("<>", "<=", ">", ">="):
            out.append(("bool", f"(({{}}, {{}}) {sign} ({{}}, {{}}))", types * 2, f"row {sign}", POSTGRES))
        out += [
            ("bool", "(({}, {}) in (({}, {}), ({}, {})))", types * 3, "row in list", POSTGRES),
            ("bool", "(row({}, {}) not in (({}, {}), ({}, {})))", types * 3, "row not in list", POSTGRES),
            ("bool", "(({}, {}) between ({}, {}) and ({}, {}))", types * 3, "row between", POSTGRES),
            ("bool", "(row({}, {}) is distinct from row({}, {}))", types * 2, "row is distinct from", POSTGRES),
            ("bool", "(({}, {}) is not distinct from ({}, {}))", types * 2, "row is not distinct from", POSTGRES),
            ("bool", "(({}, {}) is null)", types, "row is null", POSTGRES),
            ("bool", "(({}, {}) is not null)", types, "row is not null", POSTGRES),
        ]
    # Rows of one type without NULLs: PostgreSQL compares these rows as values, to which NULLs are equal.
    row = "(coalesce({}, 0), cast(coalesce({}, 'a') as text))"
    out.append(("i4", f"case {row} when {row} then 1 when {row} then 2 end", ["i4", "text"] * 3, "case of rows", POSTGRES))
    out.append(("bool", "(({}, {}, {}) < ({}, {}, {}))", ["i2", "i8", "f8", "i4", "i4", "f8"], "row < of two types", POSTGRES))
    out.append(("bool", "(({}, {}) = ({}, {}))", ["date", "i4", "ts", "i8"], "row = of two types", POSTGRES))
    return out


def intervals():
    """What DuckDB computes or writes in another way."""
    out = [("bool", f"({{}} {sign} {{}})", ["iv", "iv"], f"interval {sign}", POSTGRES) for sign in ("=", "<", ">=")]
    return out + [
        ("text", "cast({} as text)", ["iv"], "cast interval to text", POSTGRES),
        ("bool", "({} between {} and {})", ["iv", "iv", "iv"], "interval between", POSTGRES),
        ("bool", "({} in ({}, {}))", ["iv", "iv", "iv"], "interval in list", POSTGRES),
        ("iv", "({} - {})", ["iv", "iv"], "interval - interval", POSTGRES),
        ("iv", "({} / {})", ["iv", "count"], "interval / number", POSTGRES),
        ("iv", "({} * {})", ["iv", "small f8"], "interval * float", POSTGRES),
        ("iv", "justify_days({})", ["iv"], "justify_days", POSTGRES),
        ("iv", "justify_hours({})", ["iv"], "justify_hours", POSTGRES),
        ("iv", "justify_interval({})", ["iv"], "justify_interval", POSTGRES),
        ("iv", "age({}, {})", ["ts", "ts"], "age", POSTGRES),
        ("iv", "coalesce({}, {})", ["iv", "iv"], "coalesce of intervals", POSTGRES),
        ("iv", "case when {} then {} else {} end", ["bool", "iv", "iv"], "case of intervals", POSTGRES),
        ("i4", "cast(extract({} from {}) as integer)", ["'year month day hour minute'", "iv"], "extract from interval", POSTGRES),
    ]


def other_types():
    """Types that no column of the tables has, by casts from those that there are and back."""
    real, time, moment, data = "cast({} as real)", "cast({} as time)", ["ts", "ts"], "convert_to({}, 'UTF8')"
    uuid = "cast(md5({}) as uuid)"
    out = [("bool", f"({uuid} {sign} {uuid})", ["text", "text"], f"uuid {sign}", POSTGRES) for sign in ("=", "<>", "<", "<=", ">", ">=")]
    out += [
        ("text", f"cast({uuid} as text)", ["text"], "cast uuid to text", POSTGRES),
        ("text", f"cast(coalesce(nullif({uuid}, {uuid}), {uuid}) as text)", ["text", "text", "text"], "coalesce of uuid", POSTGRES),
        ("text", f"cast(greatest({uuid}, {uuid}) as text)", ["text", "text"], "greatest of uuid", POSTGRES),
        ("bool", f"({uuid} in ({uuid}, {uuid}))", ["text", "text", "text"], "uuid in list", POSTGRES),
        ("bool", f"({uuid} between {uuid} and {uuid})", ["text", "text", "text"], "uuid between", POSTGRES),
        ("text", f"cast(array[{uuid}, {uuid}] as text)", ["text", "text"], "array of uuid", POSTGRES),
        ("bool", f"({uuid} = any(array[{uuid}, {uuid}]))", ["text", "text", "text"], "= any array of uuid", POSTGRES),
        ("text", f"cast(to_json({uuid}) as text)", ["text"], "to_json of uuid", POSTGRES),
        ("text", f"cast(coalesce(nullif({data}, {data}), {data}) as text)", ["text", "text", "text"], "coalesce of bytea", POSTGRES),
        ("text", f"cast(array[{data}, {data}] as text)", ["text", "text"], "array of bytea", POSTGRES),
        ("text", f"cast(array[{time}, {time}] as text)", moment, "array of time", POSTGRES),
        ("text", f"cast(array[{real}, {real}] as text)", ["f8!", "dec!"], "array of real", POSTGRES),
        ("text", "cast(array[{}, {}] as text)", ["iv", "iv"], "array of interval", POSTGRES),
        ("text", "cast(array[cast({} as timestamptz), null] as text)", ["ts"], "array of timestamptz", POSTGRES),
        ("bool", "(array[{}, {}] < array[{}, {}])", ["iv", "iv", "iv", "iv"], "array of interval <", POSTGRES),
        ("bool", f"(array[{data}] >= array[{data}, {data}])", ["text", "text", "text"], "array of bytea >=", POSTGRES),
    ]
    for sign in ("=", "<", ">="):
        out += [
            ("bool", f"({real} {sign} {real})", ["f8!", "dec!"], f"real {sign}", POSTGRES),
            ("bool", f"({real} {sign} {{}})", ["dec!", "f8!"], f"real {sign} double", POSTGRES),
            ("bool", f"({time} {sign} {time})", moment, f"time {sign}", POSTGRES),
            ("bool", f"({data} {sign} {data})", ["text", "text"], f"bytea {sign}", POSTGRES),
        ]
    for sign in ("+", "-", "*"):
        out.append(("f8", f"cast({real} {sign} {real} as double precision)", ["f8!", "dec!"], f"real {sign}", POSTGRES))
        out.append(("f8", f"({real} {sign} {{}})", ["f8!", "i4!"], f"real {sign} integer", POSTGRES))
    return out + [
        ("text", f"cast({real} as text)", ["f8!"], "cast real to text", POSTGRES),
        ("text", f"cast({real} as text)", ["dec"], "cast decimal to real", POSTGRES),
        ("dec", f"cast({real} as decimal(12,2))", ["dec!"], "cast real to decimal", POSTGRES),
        ("i4", f"cast({real} as integer)", ["f8!"], "cast real to integer", POSTGRES),
        ("text", f"cast(coalesce({real}, abs({real})) as text)", ["f8!", "dec!"], "abs of real", POSTGRES),
        ("text", f"cast({time} as text)", ["ts"], "cast time to text", POSTGRES),
        ("ts", f"({{}} + {time})", ["date!", "ts"], "date + time", POSTGRES),
        ("text", f"cast({time} + {{}} as text)", ["ts", "iv"], "time + interval", POSTGRES),
        ("text", f"cast({time} - {{}} as text)", ["ts", "iv"], "time - interval", POSTGRES),
        ("text", f"cast(cast({{}} as time) as text)", ["iv"], "cast interval to time", POSTGRES),
        ("iv", f"({time} - {time})", moment, "time - time", POSTGRES),
        ("iv", f"cast({time} as interval)", ["ts"], "cast time to interval", POSTGRES),
        ("i4", f"cast(extract({{}} from {time}) as integer)", ["'hour minute'", "ts"], "extract from time", POSTGRES),
        ("text", f"encode({data}, {{}})", ["text", "\"hex base64 escape\""], "encode", POSTGRES),
        ("text", f"convert_from(decode(encode({data}, {{}}), 'hex'), 'UTF8')", ["text", "\"hex hex\""], "decode", POSTGRES),
        ("text", f"cast({data} || {data} as text)", ["text", "text"], "bytea ||", POSTGRES),
        ("text", f"cast(substring({data} from {{}} for {{}}) as text)", ["text", "position", "count"], "substring of bytea", POSTGRES),
        ("i4", f"position({data} in {data})", ["text", "text"], "position in bytea", POSTGRES),
        ("i4", f"octet_length({data})", ["text"], "length of bytea", POSTGRES),
        ("text", f"md5({data})", ["text"], "md5 of bytea", POSTGRES),
        ("text", "to_char({}, {})", ["ts", "date format"], "to_char of timestamp", POSTGRES),
        ("text", "to_char({}, {})", ["i4", "whole format"], "to_char of integer", POSTGRES),
        ("text", "to_char({}, {})", ["i4!", "number format"], "to_char of integer", POSTGRES),
        ("text", "to_char({}, {})", ["dec", "number format"], "to_char of decimal", POSTGRES),
        ("text", "to_char({}, {})", ["f8!", "number format"], "to_char of double", POSTGRES),
        ("text", "to_char({}, {})", ["iv", "interval format"], "to_char of interval", POSTGRES),
    ] + [
        ("date", f"to_date(to_char({{}}, '{way}'), '{way}')", ["date!"], "to_date", POSTGRES) for way in ("YYYY-MM-DD", "DDMMYYYY", "FMDD FMMonth YYYY", "YYYY-DDD", "J", "IYYY-IW-ID")
    ] + [
        # Of what has no time zone: PostgreSQL's result has one, that of UTC.
        ("ts", f"cast(to_timestamp(to_char({{}}, '{way}'), '{way}') as timestamp)", ["ts"], "to_timestamp", POSTGRES) for way in ("YYYY-MM-DD HH24:MI:SS.US", "DD Mon YYYY HH12:MI am", "YYYYMMDDHH24MISS", "YYYY MM DD SSSS")
    ] + [
        ("dec", f"cast(to_number(to_char({{}}, '{way}'), '{way}') as decimal(12,2))", ["dec!"], "to_number", POSTGRES) for way in ("S999.99", "FM9,999.99MI", "999.9PR", "0000")
    ] + [
    ]


def arrays():
    """Arrays of columns' values, and what they are asked. Elements are cast where literals would have a type of their own."""
    out = []
    for kind in ("i4", "i8", "dec", "f8", "text", "date", "ts", "bool"):
        one = {"text": "cast({} as text)", "dec": "cast({} as decimal(12,2))", "ts": "cast({} as timestamp)"}.get(kind, "{}")
        array, values = f"array[{one}, {one}, {one}]", [kind] * 3
        for sign in ("=", "<>", "<", "<=", ">", ">="):
            out.append(("bool", f"({array} {sign} {array})", values * 2, f"array of {kind} {sign}", POSTGRES))
        for sign in ("@>", "<@", "&&"):
            out.append(("bool", f"(array[{one}, {one}] {sign} {array})", [kind] * 5, f"array of {kind} {sign}", POSTGRES))
        for sign in ("=", "<>", "<", ">="):
            out += [("bool", f"({{}} {sign} {word}({array}))", [kind] * 4, f"{sign} {word} array of {kind}", POSTGRES) for word in ("any", "all")]
        out += [
            ("text", f"cast({array} as text)", values, f"cast array of {kind} to text", POSTGRES),
            ("text", f"array_to_string({array}, ',', '*')", values, f"array_to_string of {kind}", POSTGRES),
            (kind, f"({array})[{{}}]", [*values, "position"], f"subscript of {kind}", POSTGRES),
            ("text", f"cast(({array})[{{}}:{{}}] as text)", [*values, "position", "position"], f"slice of {kind}", POSTGRES),
            ("text", f"cast({array} || {one} as text)", [kind] * 4, f"array of {kind} || element", POSTGRES),
            ("text", f"cast({array} || {array} as text)", [kind] * 6, f"array of {kind} || array", POSTGRES),
            ("i4", f"array_position({array}, {one})", [kind] * 4, f"array_position of {kind}", POSTGRES),
            ("text", f"cast(array_positions({array}, {one}) as text)", [kind] * 4, f"array_positions of {kind}", POSTGRES),
            ("text", f"cast(array_remove({array}, {one}) as text)", [kind] * 4, f"array_remove of {kind}", POSTGRES),
            ("text", f"cast(array_replace({array}, {one}, {one}) as text)", [kind] * 5, f"array_replace of {kind}", POSTGRES),
            ("text", f"cast(array[{array}, {array}] as text)", [kind] * 6, f"array of arrays of {kind}", POSTGRES),
            (kind, f"(array[{array}, {array}])[2][{{}}]", [kind] * 6 + ["position"], f"subscripts of {kind}", POSTGRES),
        ]
    parts = "string_to_array({}, {})"
    return out + [
        ("i4", "cardinality(array[{}, {}])", ["i4", "i4"], "cardinality", POSTGRES),
        ("i4", f"array_length({parts}, 1)", ["text", "text"], "array_length", POSTGRES),
        ("text", f"cast({parts} as text)", ["text", "text"], "string_to_array", POSTGRES),
        ("text", "cast(trim_array(array[{}, {}], 1) as text)", ["i4", "i4"], "trim_array", POSTGRES),
        ("text", "array_dims(array[[{}], [{}]])", ["i4", "i4"], "array_dims", POSTGRES),
        ("text", "cast(array_fill({}, array[2, 2]) as text)", ["i4"], "array_fill", POSTGRES),
        ("text", "cast(array[{}, {}]::text[] as text)", ["dec", "dec"], "cast array of dec to array of text", POSTGRES),
        ("text", "cast(array[{}, {}]::bigint[] as text)", ["i4", "i4"], "cast array of i4 to array of i8", POSTGRES),
        ("text", "cast(regexp_split_to_array({}, '[a-c ]') as text)", ["text"], "regexp_split_to_array", POSTGRES),
        ("text", "cast(regexp_match({}, '([a-z])(.)?') as text)", ["text"], "regexp_match", POSTGRES),
        ("bool", "(({}, {}) overlaps ({}, {}))", ["ts", "ts", "ts", "ts"], "overlaps", POSTGRES),
        ("bool", "(({}, {}) overlaps ({}, {}))", ["date!", "iv", "date!", "date!"], "overlaps with interval", POSTGRES),
        ("iv", "make_interval(days => {}, hours => {})", ["count", "count"], "make_interval by names", POSTGRES),
    ]


def instants():
    """Instants: both engines' sessions are in UTC."""
    instant = "cast({} as timestamptz)"
    out = [("bool", f"({instant} {sign} {instant})", ["ts", "ts"], f"timestamptz {sign}", POSTGRES) for sign in ("=", "<", ">=")]
    return out + [
        ("ts", f"({instant} at time zone 'Europe/Berlin')", ["ts"], "timestamptz at time zone", POSTGRES),
        ("ts", "cast(({} at time zone 'America/New_York') as timestamp)", ["ts"], "timestamp at time zone", POSTGRES),
        ("ts", f"cast({instant} + {{}} as timestamp)", ["ts", "iv"], "timestamptz + interval", POSTGRES),
        ("iv", f"({instant} - {instant})", ["ts", "ts"], "timestamptz - timestamptz", POSTGRES),
        ("date", f"cast({instant} as date)", ["ts"], "cast timestamptz to date", POSTGRES),
        ("ts", "cast(cast({} as timestamp(0)) as timestamp)", ["ts"], "cast to timestamp(0)", POSTGRES),
        ("ts", "cast(cast({} as timestamptz(3)) as timestamp)", ["ts"], "cast to timestamptz(3)", POSTGRES),
        ("text", "cast(cast({} as time(1)) as text)", ["ts"], "cast to time(1)", POSTGRES),
    ]


# Literals by type; those that are not safe are in EDGE_LITERALS.
LITERALS = {
    "bool": ["true", "false"],
    "i2": ["cast(1 as smallint)", "cast(-2 as smallint)", "smallint '3'"],
    "i4": ["0", "1", "2", "-1", "7", "10"],
    "i8": ["cast(1 as bigint)", "cast(-5 as bigint)", "bigint '10'"],
    "dec": ["1.5", "0.25", "-2.75", "10.00", "cast(3 as decimal(9,2))"],
    "wide": ["cast(1.5 as decimal(38,6))", "cast(0 as decimal(38,6))"],
    "f8": ["cast(1.5 as double precision)", "cast(-0.25 as double precision)", "cast('2' as float8)"],
    "text": ["''", "'a'", "'ab'", "'B'", "' x '", "'äöü'", "'it''s'", "cast('abc' as varchar(10))"],
    "char": ["cast('a' as char(5))", "cast('ab' as char(5))"],
    "date": ["date '2000-02-29'", "date '1999-12-31'", "cast('2026-03-01' as date)"],
    "ts": ["timestamp '2000-02-29 12:34:56.5'", "timestamp '1999-12-31 00:00:00'"],
    "iv": ["interval '1 day'", "interval '1 month'", "interval '2 hours'", "interval '1 year 2 months'", "interval '-3 days'", "interval '30' day"],
}
EDGE_LITERALS = {
    "bool": ["cast(null as boolean)"],
    "i2": ["cast(32767 as smallint)", "cast(-32768 as smallint)"],
    "i4": ["2147483647", "(-2147483648)", "cast(null as integer)"],
    "i8": ["9223372036854775807", "(-9223372036854775807 - 1)", "2147483648"],
    "dec": ["9999999.99", "-0.01", "0.00"],
    "wide": ["99999999999999999999999999999999.999999"],
    "f8": ["cast('NaN' as double precision)", "cast('Infinity' as double precision)", "cast('-0' as double precision)", "cast(1e308 as double precision)"],
    "text": ["'" + "y" * 40 + "'", "cast(null as text)", "'日本語'"],
    "char": ["cast('' as char(5))"],
    "date": ["date '0001-01-01'", "date '9999-12-31'", "cast(null as date)"],
    "ts": ["timestamp '9999-12-31 23:59:59.999999'", "timestamp '0001-01-01 00:00:00'"],
    "iv": ["interval '0 days'", "interval '90 minutes'"],
}
for known, more in zip((LITERALS, EDGE_LITERALS), documents.literals()):
    known.update(more)
for known, more in zip((LITERALS, EDGE_LITERALS), wider.literals()):
    known.update(more)
# Words for arguments that want a certain literal.
WORDS = {
    "short text": ["'a'", "'x'", "' '", "','", "'ab'", "'é'"],
    "like": ["'a%'", "'%b%'", "'_b'", "'%'", "''", "'a\\%c'", "'%e'", "'a_c'"],
    "pattern": ["'a'", "'^a'", "'b$'", "'[a-c]+'", "'x*'", "'(a|b)'"],
    "similar": ["'a%'", "'(a|b)%'", "'_b'", "'[abc]+'"],
    "date format": ["'YYYY-MM-DD HH24:MI:SS.US'", "'FMDay, FMDDth FMMonth YYYY'", "'Dy DY dy Mon MONTH rm'", "'HH12:MI p.m. MS SSSS'", "'IYYY-IW-ID J Q WW W DDD CC'", "'Y,YYY YY Y AD'"],
    "whole format": ["'999'", "'FM999999999990'", "'9,999,999,999'", "'S0000'", "'999PR'", "'9999MI'", "'FM9999th'", "'FMRN'"],
    "interval format": ["'YYYY MM DD HH24:MI:SS'", "'FMDD FMHH24 FMMI'", "'HH12:MI:SS.MS'"],
    "number format": ["'999'", "'FM999990.00'", "'9,999,999.99'", "'S0000.9'", "'999PR'", "'9999MI'", "'FM9999th'", "'SG099.9'", "'FMRN'", "'99V9'"],
    "position": ["1", "2", "3"], "count": ["1", "2", "5"], "offset": ["0", "1", "3", "-1", "-2"], "days": ["1", "31", "-7"],
    "nonzero i2": ["cast(3 as smallint)", "cast(-2 as smallint)"], "nonzero i4": ["3", "-7", "nullif({i4}, 0)"],
    "nonzero i8": ["cast(10 as bigint)", "cast(-3 as bigint)"], "nonzero dec": ["2.5", "-0.3"],
    "nonzero f8": ["cast(2 as double precision)", "cast(0.5 as double precision)"],
    "small f8": ["cast(1.5 as double precision)", "cast(-2 as double precision)"],
    "ascii": ["'abC'", "'Hello wOrld'", "''", "cast({i4} as text)"],
    **documents.WORDS, **wider.WORDS,
}
AGGREGATES = [
    ("i8", "count(*)", [], "count(*)"), ("i8", "count({})", ["any"], "count"), ("i8", "count(distinct {})", ["any"], "count distinct"),
    ("i8", "sum({})", ["i4"], "sum"), ("i8", "sum(distinct {})", ["i2"], "sum distinct"), ("dec", "sum({})", ["i8!"], "sum"), ("dec", "sum({})", ["dec!"], "sum"),
    ("f8", "sum({})", ["f8!"], "sum"), ("f8", "avg({})", ["i4"], "avg"), ("f8", "avg({})", ["dec"], "avg"), ("f8", "avg({})", ["f8!"], "avg"), ("f8", "avg(distinct {})", ["i8"], "avg distinct"),
] + [(kind, call + "({})", [kind], call) for kind in ("i2", "i4", "i8", "dec", "wide", "f8", "text", "date", "ts") for call in ("min", "max")]

# Those that not every engine has: see analytics.py. `same` is the argument before it once more, `same 0` the first one.
ANALYTIC_AGGREGATES = {
    "logic": [("bool", "bool_and({})", ["bool"], "bool_and"), ("bool", "bool_or({})", ["bool"], "bool_or")]
    + [(kind, call + "({})", [kind], call) for kind in WHOLE for call in ("bit_and", "bit_or", "bit_xor")],
    "every": [("bool", "every({})", ["bool"], "every")],
    "statistics": [("f8" if kind == "f8" else "dec", call + "({})", [kind + "!"], call)
                   for call in ("stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop") for kind in ("i4", "dec", "f8", "f8")],
    "regression": [("f8", call + "({}, {})", ["f8!", "f8!"], call) for call in (
        "covar_pop", "covar_samp", "regr_avgx", "regr_avgy", "regr_sxx", "regr_sxy", "regr_syy")]
    + [("i8", "regr_count({}, {})", ["f8", "f8"], "regr_count")],
    "slopes": [("f8", call + "({}, {})", ["f8.", "f8."], call) for call in ("corr", "regr_slope", "regr_intercept", "regr_r2")],
    "texts": [("text", "string_agg(cast({} as text), ',' order by cast({} as text))", ["text", "same"], "string_agg"),
              ("text", "string_agg(distinct cast({} as text), ', ' order by cast({} as text) desc)", ["text", "same"], "string_agg distinct")],
    "ordered sets": [("f8", f"percentile_cont({share}) within group (order by {{}})", ["f8!"], "percentile_cont") for share in ("0.5", "0.25", "1")]
    + [(kind, f"percentile_disc({share}) within group (order by cast({{}} as {name}){way})", [kind], "percentile_disc")
       for kind, name, share, way in (("i4", "integer", "0.5", ""), ("text", "text", "0.75", ""), ("date", "date", "0", ""), ("dec", "decimal(12,2)", "0.3", " desc"))]
    + [(kind, f"mode() within group (order by cast({{}} as {name}))", [kind], "mode") for kind, name in (("i4", "integer"), ("text", "text"))],
    "hypothetical": [("i8", "rank({}) within group (order by {})", ["position", "i4"], "hypothetical rank"), ("i8", "dense_rank({}) within group (order by {} desc)", ["position", "i4"], "hypothetical dense_rank"),
                     ("f8", "percent_rank({}) within group (order by {})", ["position", "i4"], "hypothetical percent_rank"), ("f8", "cume_dist({}) within group (order by {})", ["position", "i4"], "hypothetical cume_dist")] * 2,
    "pairs": [("i8", f"count(distinct ({{}}, {second}))", types, "count distinct of rows") for types, second in ((["i4", "text"], "cast({} as text)"), (["date", "i2"], "{}"))],
    "other types": [("text", f"cast({call}(cast({{}} as time)) as text)", ["ts"], f"{call} of time") for call in ("min", "max")]
    + [("text", f"cast({call}({{}}) as text)", ["char"], f"{call} of char") for call in ("min", "max")]
    + [("f8", f"cast({call}(cast({{}} as real)) as double precision)", ["f8!"], f"{call} of real") for call in ("min", "max")],
    # The smallest of the values, which PostgreSQL 15 and DuckDB, where it is the first, have no word for.
    "any value": [(kind, {None: "any_value({})", POSTGRES: "bool_and({})" if kind == "bool" else "min({})", "duckdb": "min({})"}, [kind], "any_value") for kind in ("bool", *NUMBERS, "text", "date", "ts")],
    # Which of several rows with the least second argument is open: the first one follows from it.
    "places": [(kind, f"{call}({value}, cast({{}} as {name}))", [kind + "!", "same"], call) for call in ("arg_min", "arg_max", "min_by", "max_by")
               for kind, name, value in (("i4", "integer", "nullif(- {}, -3)"), ("i8", "bigint", "nullif({}, 0)"), ("text", "text", "nullif(cast({} as text) || 'z', 'az')"),
                                         ("date", "date", "nullif({} + 1, date '2000-03-01')"), ("dec", "decimal(12,2)", "cast(- {} as decimal(12,2))"))],
    "ends": [(kind, f"{call}({value} order by {value}{way})", [kind, "same"], call) for call in ("first", "last") for way in ("", " desc", " nulls first")
             for kind, value in (("i4", "cast({} as integer)"), ("text", "cast({} as text)"), ("date", "cast({} as date)"), ("bool", "cast({} as boolean)"))],
    # Exact, as there are few values.
    "about": [("i8", {None: "approx_count_distinct({} % 16)", POSTGRES: "count(distinct {} % 16)", "duckdb": "count(distinct {} % 16)"}, ["i4!"], "approx_count_distinct"),
              ("i8", {None: "approx_count_distinct({})", POSTGRES: "count(distinct {})", "duckdb": "count(distinct {})"}, ["bool"], "approx_count_distinct")],
    "spans": [("iv", f"{call}({{}})", ["iv"], call) for call in ("sum", "avg", "min", "max")] + [("iv", "percentile_cont(0.5) within group (order by {})", ["iv"], "percentile_cont")],
    "quantiles": [("f8", {None: "median({})", POSTGRES: "percentile_cont(0.5) within group (order by {})"}, ["f8!"], "median"),
                  ("f8", {None: "quantile_cont({}, 0.25)", POSTGRES: "percentile_cont(0.25) within group (order by {})"}, ["f8!"], "quantile_cont")]
    + [(kind, {None: f"{call}(cast({{}} as {name}), {share})", POSTGRES: f"percentile_disc({share}) within group (order by cast({{}} as {name}))"}, [kind], call)
       for call in ("quantile_disc", "quantile") for kind, name, share in (("i4", "integer", "0.5"), ("text", "text", "0.75"), ("dec", "decimal(12,2)", "0.3"))],
}
ANALYTIC_AGGREGATES |= documents.aggregates() | {"wider": wider.aggregates()}
# Aggregates whose last digits are open.
LOOSE = {"avg", "avg distinct"} | {name for ability in ("statistics", "regression", "slopes", "quantiles") for _, _, _, name in ANALYTIC_AGGREGATES[ability] if "quantile" not in name or "cont" in name} | {"percentile_cont"}
# Aggregates that do not go with OVER, by a word of their name.
NO_WINDOW = ["distinct", "string_agg", "percentile", "mode", "hypothetical", "median", "quantile", "first", "last", " of ", "array_agg", "json"]


def is_no_window(name):
    return any(word in name for word in NO_WINDOW)
