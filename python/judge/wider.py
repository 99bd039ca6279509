"""Types and functions beyond documents: enumerations, domains, paths of jsonpath, every cast, and what else the registry of functions has.

`en`: an enumeration, `ea`: an array of it, `dl`, `dx`: domains over integer and text. All of it is PostgreSQL's alone, and the ability
`wider` draws it, in statements of their own: those of other seeds stay what they were."""

import random

SQL_TYPES = {"en": "mood", "ea": "mood[]", "dl": "little", "dx": "label", "iv": "interval"}
LABELS = ["sad", "ok", "Fine", "happy", "it's", "ä b"]
# The statements that create the types; labels are added before, between and behind others.
TYPES = [
    "create type mood as enum ('ok', 'happy', 'it''s')",
    "alter type mood add value 'sad' before 'ok'",
    "alter type mood add value 'Fine' after 'ok'",
    "alter type mood add value 'ä b'",
    "create domain little as integer check (value between -20 and 120)",
    "create domain label as text default 'none' check (length(value) < 60)",
    "create domain price as decimal(9,2) not null check (value >= 0) check (value < 1000)",
]
COLUMNS = {"mood": "en", "moods": "ea", "little": "dl", "label": "dx", "span": "iv"}
EDGES = {
    "en": LABELS,
    "ea": ["{}", "{sad,happy}", "{NULL,ok}", "{\"it's\",\"ä b\",Fine}", "{happy,sad,happy}", "{{sad,ok},{Fine,NULL}}"],
    "dl": [-20, -1, 0, 1, 7, 120],
    "iv": ["1 day", "-1 mons", "02:30:00", "1 year 2 mons 3 days 04:05:06.7", "00:00:00", "-3 days 12:00:00", "1 mon"],
    "dx": ["", "a", "abc", "B", "äöü", "7"],
}


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def literals():
    labels = [quoted(label) for label in LABELS]
    plain = {
        "en": [f"cast({label} as mood)" for label in labels] + [f"{labels[3]}::mood"],
        "ea": ["cast(array['sad', 'ok'] as mood[])", "cast('{happy,NULL}' as mood[])", "enum_range(cast(null as mood))", "array['Fine'::mood, 'sad']"],
        "dl": ["cast(5 as little)", "'-7'::little", "cast('120' as little)"],
        "dx": ["cast('abc' as label)", "cast('' as label)", "'B'::label"],
    }
    edges = {
        "en": ["cast(null as mood)", "enum_first(null::mood)", "enum_last(null::mood)"],
        "ea": ["cast(null as mood[])", "cast('{ }' as mood[])", "cast('{{sad,ok},{happy,Fine}}' as mood[])"],
        "dl": ["cast(null as little)", "cast(121 as little)"],
        "dx": ["cast(null as label)", "cast(repeat('x', 60) as label)"],
    }
    return plain, edges


def paths():
    """Literals of jsonpath: written ones, and some of chance from a fixed seed."""
    r = random.Random("paths")

    def number():
        return r.choice(["0", "1", "2", "-1", "1.5", "1e2", "7"])

    def scalar():
        return r.choice([number(), '"a"', '"b"', '""', "true", "false", "null", "$x", "$y"])

    def step():
        return r.choice([".a", ".b", ".k", ".a", '."ä"', '.""', ".*", "[*]", "[0]", "[1]", "[last]", "[last - 1]", "[0 to 1]", "[0, last]", "[1 to last]", ".**", ".**{1}", ".**{1 to 2}", ".**{last}",
                         ".size()", ".type()", ".double()", ".abs()", ".ceiling()", ".floor()", ".keyvalue().key", "[$n]"])

    def steps(start, most):
        return start + "".join(step() for _ in range(r.randint(0, most)))

    def value(start):
        pick = r.random()
        if pick < 0.25:
            return f"({steps(start, 2)} {r.choice(['+', '-', '*', '/', '%'])} {r.choice([number(), steps(start, 1)])})"
        if pick < 0.3:
            return f"(-{steps(start, 2)})"
        return steps(start, 2)

    def predicate(start, depth):
        pick = r.random()
        if depth and pick < 0.3:
            return f"({predicate(start, depth - 1)} {r.choice(['&&', '||'])} {predicate(start, depth - 1)})"
        if depth and pick < 0.4:
            return f"!({predicate(start, depth - 1)})"
        if depth and pick < 0.5:
            return f"({predicate(start, depth - 1)}) is unknown"
        if pick < 0.6:
            return f"exists({steps(start, 2)})"
        if pick < 0.7:
            return steps(start, 1) + " starts with " + r.choice(['"a"', '""', "$y"])
        if pick < 0.8:
            return steps(start, 1) + " like_regex " + r.choice(['"^a"', '"B" flag "i"', '"[a-c]+$"', '"a.b" flag "s"', '"a" flag "q"'])
        return f"{value(start)} {r.choice(['==', '!=', '<>', '<', '<=', '>', '>='])} {r.choice([scalar(), value(start)])}"

    def path():
        mode = r.choice(["", "", "lax ", "strict ", "strict "])
        pick = r.random()
        if pick < 0.35:
            return mode + steps("$", 3)
        if pick < 0.75:
            return f"{mode}{steps('$', 2)} ? ({predicate('@', 2)}){r.choice(['', '', step()])}"
        return mode + value("$")

    def found(make):
        return [quoted(text) for text in {make(): None for _ in range(300)}]
    return found(path), found(lambda: r.choice(["", "", "strict "]) + predicate("$", 2))


PATHS, PREDICATES = paths()
WORDS = {
    "jsonpath": PATHS,
    "predicate": PREDICATES,
    "vars": ["'{\"x\":1,\"y\":\"a\",\"n\":0}'", "'{\"x\":\"b\",\"y\":\"\",\"n\":1}'", "jsonb_build_object('x', {i4}, 'y', 'b', 'n', 0)", "'{\"x\":null,\"y\":\"a\",\"n\":-1}'"],
    "treatment": ["'use_json_null'", "'delete_key'", "'return_target'", "'use_json_null'"],
    "deletion": ["'delete_key'", "'return_target'"],
    "small edge f8": ["cast('NaN' as double precision)", "cast('-Infinity' as double precision)", "cast('-0' as double precision)", "cast(0.1 as double precision)", "cast(1e15 as double precision)", "cast(16777217 as double precision)"],
    "flat": ["array[1, 2, 3]", "array[2, null]", "cast('{ }' as integer[])"],
    "angle": ["0", "30", "45", "60", "90", "-90", "180", "270", "360", "-30", "0.5", "cast('NaN' as double precision)"],
    "fraction": ["0", "0.5", "-0.5", "1", "-1", "0.25"],
    "one or more": ["1", "1.5", "10", "2"],
    "month": ["1", "2", "12", "6"], "day of month": ["1", "28", "15"], "hour": ["0", "23", "12"], "minute": ["0", "59", "30"], "second": ["0", "59.999999", "12.5", "60"],
    "flags": ["''", "'i'", "'g'", "'s'", "'n'", "'x'"],
    "sought": ["'a'", "'[a-c]'", "'(b)(c)?'", "'^.'", "'x*'", "'.$'", "'[[:alpha:]]+'", "'(a|b)(.)'"],
    "stride": ["interval '1 day'", "interval '15 minutes'", "interval '2 hours 30 minutes'"],
    "unit": ["'hour'", "'day'", "'month'", "'year'", "'minute'"],
    "form": ["'NFC'", "'NFD'", "'NFKC'", "'NFKD'"],
    "identifier": ["'a.b'", "'\"A b\".c'", "'x'", "'a . \"b\"\"c\"'"],
    "named type": ["'integer'", "'int4'", "'text[]'", "'mood'", "'nothing'", "'numeric(5,2)'", "'timestamptz'"],
    "zone": ["'UTC'", "'Europe/Berlin'", "'America/New_York'", "'Asia/Kolkata'", "'+03'"],
    "bit": ["0", "1", "7"],
    "unicode": ["'d\\0061t'", "'\\u00e4'", "'\\+01F600'", "'a\\\\b'", "'abc'"],
    "false or true": ["false", "true"],
}


def rules():
    out = enumerations() + domains() + of_paths() + casts() + mathematics() + texts() + times() + others() + of_duckdb()
    return [(*rule, "postgres") for rule in out]


def of_duckdb():
    """Functions that PostgreSQL has other words for."""
    seconds = "cast(extract(epoch from {}) as numeric)"
    return [
        ("bool", {None: "ends_with({}, {})", "postgres": "(reverse({}) ^@ reverse({}))"}, ["text", "short text"], "ends_with"),
        ("bool", {None: "list_contains({}, {})", "postgres": "(coalesce(array_position({}, {}), 0) > 0)"}, ["flat", "position"], "list_contains"),
        ("text", {None: "strftime({}, '%Y-%m-%d %H:%M:%S')", "postgres": "to_char({}, 'YYYY-MM-DD HH24:MI:SS')"}, ["ts"], "strftime"),
        ("ts", {None: "strptime(to_char({}, 'YYYY-MM-DD HH24:MI:SS'), '%Y-%m-%d %H:%M:%S')", "postgres": "cast(to_timestamp(to_char({}, 'YYYY-MM-DD HH24:MI:SS'), 'YYYY-MM-DD HH24:MI:SS') as timestamp)"}, ["ts"], "strptime"),
    ] + [
        (kind, {None: f"{call}({{}})", "postgres": f"cast(trunc({seconds} * {factor}) as {sql})"}, ["ts"], call)
        for kind, call, factor, sql in (("i8", "epoch_ms", 1000, "bigint"), ("i8", "epoch_us", 1000000, "bigint"))
    ] + [("f8", {None: "epoch({})", "postgres": f"cast({seconds} as double precision)"}, ["ts"], "epoch")]


def enumerations():
    out = [("bool", f"({{}} {sign} {{}})", ["en", "en"], f"mood {sign}") for sign in ("=", "<>", "<", "<=", ">", ">=")]
    out += [("bool", f"({{}} {sign} {{}})", ["ea", "ea"], f"mood[] {sign}") for sign in ("=", "<>", "<", "<=", ">", ">=", "@>", "<@", "&&")]
    out += [("bool", f"({{}} {sign} {word}({{}}))", ["en", "ea"], f"{sign} {word} mood[]") for sign in ("=", "<>", "<", "<=", ">", ">=") for word in ("any", "all")]
    return out + [
        ("bool", f"({{}} {sign} {quoted(label)})", ["en"], f"mood {sign} label") for sign in ("=", "<", ">=") for label in LABELS
    ] + [
        ("bool", "({} in ('sad', 'happy', {}))", ["en", "en"], "mood in list"),
        ("bool", "({} between {} and {})", ["en"] * 3, "mood between"),
        ("bool", "({} is distinct from {})", ["en"] * 2, "mood is distinct from"),
        ("bool", "({} is null)", ["en"], "mood is null"),
        ("bool", "(({}, {}) < ({}, {}))", ["en", "i4", "en", "i4"], "row of mood <"),
        ("text", "cast({} as text)", ["en"], "cast mood to text"),
        ("text", "cast({} as varchar(2))", ["en"], "cast mood to varchar"),
        ("text", "({} || cast({} as text))", ["text", "en"], "|| mood"),
        ("text", "({} || {})", ["text", "en"], "|| mood"),
        ("text", "concat({}, '-', {})", ["en", "ea"], "concat of mood"),
        ("text", "cast(cast(cast({} as text) as mood) as text)", ["en"], "cast text to mood"),
        ("en", "cast(cast({} as text) as mood)", ["en"], "cast text to mood"),
        ("en", "(array['ok', 'happy', 'Fine']::mood[])[1 + abs({}) % 3]", ["i4!"], "subscript of mood[]"),
        ("en", "({})[{}]", ["ea", "position"], "subscript of mood[]"),
        ("en", "enum_first({})", ["en"], "enum_first"),
        ("en", "enum_last({})", ["en"], "enum_last"),
        ("ea", "enum_range({})", ["en"], "enum_range"),
        ("ea", "enum_range({}, {})", ["en", "en"], "enum_range of two"),
        ("ea", "enum_range(null, {})", ["en"], "enum_range of two"),
        ("ea", "enum_range({}, null)", ["en"], "enum_range of two"),
        ("text", "cast(enum_range({}, {}) as text)", ["en", "en"], "enum_range of two"),
        ("text", "cast(enum_range({}) as text)", ["en"], "enum_range"),
        ("en", "cast(coalesce(nullif(cast({} as text), 'x'), 'glad') as mood)", ["en"], "unknown label"),
        ("en", "coalesce({}, {})", ["en", "en"], "mood coalesce"),
        ("en", "nullif({}, {})", ["en", "en"], "mood nullif"),
        ("en", "greatest({}, {})", ["en", "en"], "mood greatest"),
        ("en", "least({}, {}, {})", ["en", "en", "en"], "mood least"),
        ("en", "case when {} then {} else {} end", ["bool", "en", "en"], "mood case when"),
        ("en", "case when {} then {} else 'happy' end", ["bool", "en"], "mood case when"),
        ("i4", "case {} when 'sad' then 1 when {} then 2 else 3 end", ["en", "en"], "case of mood"),
        ("ea", "array[{}, {}]", ["en", "en"], "mood[] constructor"),
        ("ea", "({} || {})", ["ea", "en"], "mood[] || element"),
        ("ea", "({} || {})", ["ea", "ea"], "mood[] || array"),
        ("ea", "array_remove({}, {})", ["ea", "en"], "array_remove of mood[]"),
        ("ea", "array_append({}, {})", ["ea", "en"], "array_append to mood[]"),
        ("ea", "array_replace({}, {}, {})", ["ea", "en", "en"], "array_replace of mood[]"),
        ("ea", "cast(cast({} as text[]) as mood[])", ["ea"], "cast text[] to mood[]"),
        ("i4", "cardinality({})", ["ea"], "cardinality of mood[]"),
        ("i4", "array_position({}, {})", ["ea", "en"], "array_position in mood[]"),
        ("at", "cast({} as text[])", ["ea"], "cast mood[] to text[]"),
        ("text", "cast({} as text)", ["ea"], "cast mood[] to text"),
        ("text", "array_to_string({}, ',', '*')", ["ea"], "array_to_string of mood[]"),
        ("jb", "to_jsonb({})", ["en"], "to_jsonb of mood"),
        ("jb", "to_jsonb({})", ["ea"], "to_jsonb of mood[]"),
        ("jb", "jsonb_build_object({}, {})", ["name", "en"], "jsonb_build_object of mood"),
    ]


def domains():
    out = [("bool", f"({{}} {sign} {{}})", kinds, f"domain {sign}") for sign in ("=", "<>", "<", ">=") for kinds in (["dl", "dl"], ["dl", "i4"], ["dx", "dx"], ["dx", "text"], ["dl", "i8"])]
    return out + [
        ("i4", "({} + {})", ["dl", "dl"], "domain +"),
        ("i4", "(- {})", ["dl"], "domain negation"),
        ("i4", "abs({})", ["dl"], "abs of domain"),
        ("i4", "coalesce({}, {})", ["dl", "i4"], "coalesce of domain"),
        ("i4", "case when {} then {} else {} end", ["bool", "dl", "dl"], "case of domain"),
        ("i4", "cast({} as integer)", ["dl"], "cast domain to integer"),
        ("i4", "cast(abs({}) % 20 as little)", ["i4!"], "cast integer to domain"),
        ("i4", "cast({} as little)", ["i4!"], "cast integer to domain"),
        ("i4", "cast({} as little)", ["i8!"], "cast bigint to domain"),
        ("i4", "cast(cast(abs({}) % 120 as text) as little)", ["i4!"], "cast text to domain"),
        ("dl", "cast(abs({}) % 20 as little)", ["i4!"], "cast integer to domain"),
        ("i8", "cast({} as bigint)", ["dl"], "cast domain to bigint"),
        ("f8", "cast({} as double precision)", ["dl"], "cast domain to double"),
        ("text", "cast({} as text)", ["dl"], "cast domain to text"),
        ("text", "cast({} as text)", ["dx"], "cast domain to text"),
        ("text", "cast({} as label)", ["text"], "cast text to domain"),
        ("text", "cast({} as label)", ["i4"], "cast integer to label"),
        ("dx", "cast(left({}, 5) as label)", ["text"], "cast text to domain"),
        ("text", "({} || {})", ["dx", "dx"], "domain ||"),
        ("text", "upper(cast(left({}, 0) || 'abC' as label))", ["dx"], "upper of domain"),
        ("i4", "length({})", ["dx"], "length of domain"),
        ("bool", "({} like 'a%')", ["dx"], "domain like"),
        ("bool", "({} is null)", ["dl"], "domain is null"),
        ("bool", "({} in (1, 7, {}))", ["dl", "i4"], "domain in list"),
        ("dec", "cast(coalesce(abs({}), 1) as price)", ["dec!"], "cast decimal to domain"),
        ("dec", "cast(coalesce(abs({}), 1) as price)", ["i4!"], "cast integer to price"),
        ("dec", "cast({} as price)", ["dec!"], "cast decimal to domain"),
        ("jb", "to_jsonb({})", ["dl"], "to_jsonb of domain"),
        ("jb", "jsonb_build_array({}, {})", ["dl", "dx"], "jsonb_build_array of domain"),
    ]


def of_paths():
    out = []
    for kind in ("jb", "jbo", "jba"):
        for call, result in (("jsonb_path_query_first", "jb"), ("jsonb_path_query_array", "jb"), ("jsonb_path_exists", "bool"), ("jsonb_path_match", "bool")):
            path = "predicate" if "match" in call else "jsonpath"
            for tz in ("", "_tz"):
                name = call + tz
                out += [
                    (result, f"{name}({{}}, {{}}, {{}}, true)", [kind, path, "vars"], f"{name} silent"),
                    (result, f"{name}({{}}, {{}}, {{}})", [kind, path, "vars"], f"{name} with vars"),
                    (result, f"{name}({{}}, {{}}, silent => true, vars => {{}})", [kind, path, "vars"], f"{name} by names"),
                    (result, f"{name}({{}}, {{}})", [kind, path], name),
                ]
            out.append((result, f"{call}({{}}, {{}}, {{}}, true)", [kind, "jsonpath", "vars"], f"{call} silent"))
        out += [
            ("bool", "({} @? {})", [kind, "jsonpath"], "jsonb @?"),
            ("bool", "({} @@ {})", [kind, "predicate"], "jsonb @@"),
            ("bool", "({} @@ {})", [kind, "jsonpath"], "jsonb @@"),
            ("bool", "jsonb_path_exists_opr({}, {})", [kind, "jsonpath"], "jsonb_path_exists_opr"),
            ("bool", "jsonb_path_match_opr({}, {})", [kind, "predicate"], "jsonb_path_match_opr"),
            ("text", "cast(cast({} as jsonpath) as text)", ["jsonpath"], "cast jsonpath to text"),
            ("text", "cast(cast({} as jsonpath) as text)", ["predicate"], "cast jsonpath to text"),
        ]
    # Of a NULL that becomes null PostgreSQL 15 ends the process: a NULL deletes the key or leaves the document alone.
    new = "coalesce({}, '7')"
    for kind, path in (("jbo", "new path"), ("jba", "place path")):
        out += [
            ("jb", f"jsonb_set_lax({{}}, {{}}, {new})", [kind, path, "jb"], "jsonb_set_lax"),
            ("jb", f"jsonb_set_lax({{}}, {{}}, {new}, {{}})", [kind, path, "jb", "false or true"], "jsonb_set_lax creating"),
            ("jb", f"jsonb_set_lax({{}}, {{}}, {new}, {{}}, {{}})", [kind, path, "jb", "false or true", "treatment"], "jsonb_set_lax with treatment"),
            ("jb", f"jsonb_set_lax({{}}, {{}}, nullif({{}}, 'null'), {{}}, {{}})", [kind, path, "jb", "false or true", "deletion"], "jsonb_set_lax of null"),
        ]
    for name, kind in (("json", "js"), ("jsonb", "jb")):
        array, whole = kind + "a", kind + "o"
        shown = ("{}", "jb") if kind == "jb" else ("cast({} as text)", "text")
        out += [
            (shown[1], shown[0].replace("{}", f"{name}_object_field({{}}, {{}})"), [whole, "key"], f"{name}_object_field"),
            ("text", f"{name}_object_field_text({{}}, {{}})", [whole, "key"], f"{name}_object_field_text"),
            (shown[1], shown[0].replace("{}", f"{name}_array_element({{}}, {{}})"), [array, "place"], f"{name}_array_element"),
            ("text", f"{name}_array_element_text({{}}, {{}})", [array, "place"], f"{name}_array_element_text"),
        ]
    return out + [
        ("jb", "jsonb_concat({}, {})", ["jbo", "jbo"], "jsonb_concat"),
        ("bool", "jsonb_contained({}, {})", ["jbo", "jbo"], "jsonb_contained"),
        ("bool", "jsonb_contains({}, {})", ["jba", "jba"], "jsonb_contains"),
        ("jb", "jsonb_delete({}, cast({} as text))", ["jbo", "key"], "jsonb_delete"),
        ("jb", "jsonb_delete({}, {})", ["jba", "place"], "jsonb_delete"),
        ("jb", "jsonb_delete_path({}, {})", ["jbo", "path"], "jsonb_delete_path"),
        ("bool", "jsonb_exists({}, {})", ["jbo", "key"], "jsonb_exists"),
        ("bool", "jsonb_exists_all({}, {})", ["jbo", "keys"], "jsonb_exists_all"),
        ("bool", "jsonb_exists_any({}, {})", ["jbo", "keys"], "jsonb_exists_any"),
        ("bool", "arraycontains({}, {})", ["ai", "ai"], "arraycontains"),
        ("bool", "arraycontained({}, {})", ["at", "at"], "arraycontained"),
        ("bool", "arrayoverlap({}, {})", ["ai", "ai"], "arrayoverlap"),
    ]


# A value of each type: how it is written over its arguments, those that are small, and those of edges.
VALUES = {
    "boolean": ("{}", "bool", "bool"), "smallint": ("{}", "i2!", "i2"), "integer": ("{}", "i4!", "i4"), "bigint": ("{}", "i8!", "i8"),
    "decimal(12,2)": ("cast({} as decimal(12,2))", "dec!", "dec"), "real": ("cast({} as real)", "f8.", "small edge f8"), "double precision": ("{}", "f8.", "edge f8"),
    "text": ("cast({} as text)", "text", "text"), "varchar(8)": ("cast({} as varchar(8))", "text", "text"), "char(5)": ("{}", "char", "char"),
    "date": ("{}", "date!", "date"), "time": ("cast({} as time)", "ts", "ts"), "timestamp": ("cast({} as timestamp)", "ts", "ts"), "timestamptz": ("cast({} as timestamptz)", "ts", "ts"),
    "interval": ("{}", "iv", "iv"), "uuid": ("cast(md5({}) as uuid)", "text", "text"), "bytea": ("convert_to({}, 'UTF8')", "text", "text"),
    "json": ("{}", "js", "js"), "jsonb": ("{}", "jb", "jb"), "integer[]": ("{}", "ai", "ai"), "text[]": ("{}", "at", "at"), "mood": ("{}", "en", "en"), "mood[]": ("{}", "ea", "ea"),
}
NUMBERS = ["smallint", "integer", "bigint", "decimal(12,2)", "real", "double precision"]
STRINGS = ["text", "varchar(8)", "char(5)"]
# The casts between types that are no strings.
PAIRS = [(a, b) for a in NUMBERS for b in NUMBERS if a != b] + [
    ("boolean", "integer"), ("integer", "boolean"), ("date", "timestamp"), ("date", "timestamptz"), ("timestamp", "date"), ("timestamp", "time"), ("timestamp", "timestamptz"),
    ("timestamptz", "date"), ("timestamptz", "time"), ("timestamptz", "timestamp"), ("time", "interval"), ("interval", "time"), ("json", "jsonb"), ("jsonb", "json"),
    ("integer[]", "bigint[]"), ("integer[]", "text[]"), ("integer[]", "decimal(9,1)[]"), ("integer[]", "double precision[]"), ("timestamp", "timestamp(0)"), ("timestamptz", "timestamptz(2)"), ("time", "time(1)"),
    ("decimal(12,2)", "decimal(9,1)"), ("double precision", "decimal(20,6)"), ("real", "decimal(20,6)"), ("text[]", "varchar(2)[]"), ("interval", "interval(0)"),
]
# Those whose text another type reads.
READ = ["boolean", "smallint", "integer", "bigint", "decimal(12,2)", "real", "double precision", "date", "time", "timestamp", "timestamptz", "interval", "uuid", "bytea", "json", "jsonb", "integer[]", "text[]", "mood", "mood[]"]


def casts():
    """Every cast, its result as a text: of small values, and of edges."""
    out = []
    for source, target in PAIRS + [(name, string) for name in VALUES for string in STRINGS]:
        value, small, edge = VALUES[source]
        out += [("text", f"cast(cast({value} as {target}) as text)", [kind], f"cast {source} to {target}") for kind in (small, small, edge)]
    for target in READ:
        value, small, edge = VALUES[target]
        for string in STRINGS[:2 if target in ("boolean", "integer", "bigint", "date", "mood") else 1]:
            string = string.replace("(8)", "")
            out += [("text", f"cast(cast(cast({value} as {string}) as {target}) as text)", [kind], f"cast {string} to {target}") for kind in (small, edge)]
    return out


def mathematics():
    out = []
    for call in ("sin", "cos", "tan", "sinh", "tanh", "atan", "asinh", "degrees", "radians", "cbrt", "trunc"):
        out.append(("f8", f"{call}({{}})", ["f8!"], call))
    out += [("f8", f"{call}(cast({{}} as double precision))", [words], call) for call, words in (
        ("sind", "angle"), ("cosd", "angle"), ("tand", "angle"), ("cotd", "angle"), ("acos", "fraction"), ("asin", "fraction"), ("acosd", "fraction"), ("asind", "fraction"), ("atand", "angle"),
        ("acosh", "one or more"), ("atanh", "fraction"), ("log", "one or more"), ("log10", "one or more"), ("cosh", "fraction"), ("cot", "one or more"), ("sqrt", "one or more"), ("exp", "fraction"))]
    for kind, name in (("i4", "integer"), ("i8", "bigint")):
        out += [(kind, f"{call}({{}}, {{}})", [kind + "!"] * 2, f"{call} of {name}") for call in ("gcd", "lcm")]
        out += [(kind, f"({{}} {sign} {{}})", [kind] * 2, f"{name} {sign}") for sign in ("&", "|", "#")]
        out += [(kind, f"({{}} {sign} {{}})", [kind, "position"], f"{name} {sign}") for sign in ("<<", ">>")] + [(kind, "(~ {})", [kind], f"~ of {name}")]
    out += [("dec", f"{call}({{}}, {{}})", ["dec!"] * 2, f"{call} of numeric") for call in ("gcd", "lcm")]
    for kind in ("dec", "f8"):
        out += [(kind, f"{call}({{}})", [kind + "!"], f"{call} of {kind}") for call in ("ceiling", "trunc", "floor", "ceil", "round")]
        out.append((kind, "sign({})", [kind + "!"], f"sign of {kind}"))
        out.append(("i4", "width_bucket({}, {}, {}, 5)", [kind + "!", "fraction", "angle"] if kind == "dec" else ["f8!", "f8!", "f8!"], f"width_bucket of {kind}"))
    return out + [
        ("f8", "pow({}, cast({} as double precision))", ["f8!", "count"], "pow"),
        ("f8", "atan2({}, {})", ["f8!", "f8!"], "atan2"),
        ("f8", "atan2d({}, {})", ["f8!", "f8!"], "atan2d"),
        ("f8", "pi()", [], "pi"),
        ("text", "cast(factorial(abs({}) % 30) as text)", ["i8!"], "factorial"),
        ("text", "cast(div({}, {}) as text)", ["dec!", "nonzero dec"], "div"),
        ("i4", "scale(cast({} as decimal(12,2)))", ["dec"], "scale"),
        ("i4", "min_scale({})", ["dec"], "min_scale"),
        ("dec", "trunc({}, 1)", ["dec"], "trunc to digits"),
        ("dec", "trunc({}, {})", ["dec", "offset"], "trunc to digits"),
        ("dec", "trim_scale({})", ["dec"], "trim_scale"),
        ("dec", "round({}, {})", ["dec", "offset"], "round to digits"),
        ("f8", "(|/ abs({}))", ["f8!"], "|/"),
        ("f8", "(||/ {})", ["f8!"], "||/"),
        ("i4", "(@ {})", ["i4!"], "@"),
        ("f8", "({} ^ cast(2 as double precision))", ["f8!"], "^"),
        ("i4", "num_nulls({}, {}, {})", ["i4", "text", "date"], "num_nulls"),
        ("i4", "num_nonnulls({}, {}, {})", ["en", "jb", "dl"], "num_nonnulls"),
    ]


def texts():
    out = [("text", f"encode({call}(convert_to({{}}, 'UTF8')), 'hex')", ["text"], call) for call in ("sha224", "sha256", "sha384", "sha512")]
    for at, more in enumerate(("", ", {}", ", {}, {}")):
        out.append(("i4", f"regexp_count({{}}, {{}}{more})", ["text", "sought", "position", "flags"][:2 + at], "regexp_count"))
    places = [["text", "sought", "position", "position", "bit one", "flags", "bit one"][:n] for n in range(2, 8)]
    places = [[word.replace("bit one", "one") for word in words] for words in places]
    for words in places:
        out.append(("i4", f"regexp_instr({', '.join(['{}'] * len(words))})", words, "regexp_instr"))
    for words in places[:5]:
        words = [*words[:4], *(["flags"] if len(words) > 4 else []), *(["one"] if len(words) > 5 else [])]
        out.append(("text", f"regexp_substr({', '.join(['{}'] * len(words))})", words, "regexp_substr"))
    data = "convert_to({}, 'UTF8')"
    out += [("text", f"cast({text} as text)", arguments, f"{name} of bytea") for text, arguments, name in (
        (f"substr({data}, {{}})", ["text", "position"], "substr"), (f"substr({data}, {{}}, {{}})", ["text", "position", "count"], "substr"),
        (f"overlay({data} placing {data} from {{}})", ["text", "text", "position"], "overlay"), (f"overlay({data} placing {data} from {{}} for {{}})", ["text", "text", "position", "count"], "overlay"),
        (f"set_byte({data} || '\\x00ff'::bytea, {{}}, {{}})", ["text", "bit", "position"], "set_byte"), (f"set_bit({data} || '\\x00ff'::bytea, {{}}, {{}})", ["text", "bit", "one bit"], "set_bit"),
        (f"btrim({data}, {data})", ["text", "short text"], "btrim"), (f"ltrim({data}, {data})", ["text", "short text"], "ltrim"), (f"rtrim({data}, {data})", ["text", "short text"], "rtrim"),
        (f"convert({data}, 'UTF8', 'LATIN1')", ["ascii"], "convert"), (f"convert({data}, 'LATIN1', 'UTF8')", ["text"], "convert"))]
    out += [("i4", f"{call}({data})", ["text"], f"{call} of bytea") for call in ("length", "octet_length", "bit_length")] + [("i8", f"bit_count({data})", ["text"], "bit_count")]
    out += [("i4", f"{call}({data} || '\\x0180'::bytea, {{}})", ["text", "bit"], call) for call in ("get_bit", "get_byte")]
    return out + [
        ("bool", "regexp_like({}, {})", ["text", "sought"], "regexp_like"), ("bool", "regexp_like({}, {}, {})", ["text", "sought", "plain flags"], "regexp_like"),
        ("text", "regexp_replace({}, {}, '<\\1>', {})", ["text", "sought", "flags"], "regexp_replace with flags"),
        ("text", "regexp_replace({}, {}, '\\&\\&', {}, {}, {})", ["text", "sought", "position", "one", "plain flags"], "regexp_replace of the nth"),
        ("text", "regexp_replace({}, {}, 'X', {})", ["text", "sought", "position"], "regexp_replace from"),
        ("text", "cast(regexp_match({}, {}, {}) as text)", ["text", "sought", "plain flags"], "regexp_match with flags"),
        ("i4", "character_length({})", ["text"], "character_length"), ("text", "substr({}, {})", ["text", "position"], "substr"), ("text", "substr({}, {}, {})", ["text", "offset", "count"], "substr"),
        ("text", "substring({} from {} for '#')", ["text", "similar part"], "substring similar"),
        ("text", "substring({} from {})", ["text", "sought"], "substring by a pattern"),
        ("text", "overlay({} placing {} from {})", ["text", "text", "position"], "overlay"), ("text", "overlay({} placing {} from {} for {})", ["text", "text", "position", "offset"], "overlay"),
        ("text", "quote_ident({})", ["text"], "quote_ident"), ("text", "quote_literal({})", ["text"], "quote_literal"), ("text", "quote_literal({})", ["i4"], "quote_literal"),
        ("text", "quote_nullable({})", ["text"], "quote_nullable"), ("text", "quote_nullable({})", ["date"], "quote_nullable"),
        ("text", "normalize({}, NFC)", ["text"], "normalize"), ("text", "normalize({}, NFD)", ["text"], "normalize"), ("text", "normalize({}, NFKD)", ["text"], "normalize"), ("text", "normalize({})", ["text"], "normalize"),
        ("bool", "({} is normalized)", ["text"], "is normalized"), ("bool", "({} is not nfd normalized)", ["text"], "is normalized"), ("bool", "is_normalized({}, {})", ["text", "form"], "is_normalized"),
        ("text", "unistr({})", ["unicode"], "unistr"), ("text", "cast(parse_ident({}) as text)", ["identifier"], "parse_ident"), ("text", "cast(parse_ident({}, false) as text)", ["identifier"], "parse_ident"),
        ("text", "format('%s-%L-%I-%%', {}, {}, {})", ["text", "i4", "name of one"], "format"), ("text", "format('%2$s|%1$5s|%2$-6s|', {}, {})", ["text", "date"], "format"),
        ("text", "cast(pg_typeof({}) as text)", ["any"], "pg_typeof"), ("text", "cast(pg_typeof({}) as text)", ["en"], "pg_typeof"), ("text", "cast(pg_typeof({}) as text)", ["ai"], "pg_typeof"),
        ("text", "cast(to_regtype({}) as text)", ["named type"], "to_regtype"), ("text", "pg_client_encoding()", [], "pg_client_encoding"), ("i4", "pg_trigger_depth()", [], "pg_trigger_depth"),
        ("text", "cast(current_schema() as text)", [], "current_schema"), ("text", "cast(current_schemas(false) as text)", [], "current_schemas"),
        ("text", "to_ascii(cast({} as text), 'LATIN1')", ["ascii"], "to_ascii"), ("bool", "({} ^@ {})", ["text", "short text"], "^@"),
        ("bool", "({} ~* {})", ["text", "sought"], "~*"), ("bool", "({} !~ {})", ["text", "sought"], "!~"), ("bool", "({} !~~ {})", ["text", "like"], "!~~"), ("bool", "({} ~~* {})", ["ascii", "like"], "~~*"),
        ("bool", "({} like any(array[{}, {}]))", ["text", "like", "text"], "like any array"), ("bool", "({} not ilike all({}))", ["ascii", "at"], "not ilike all array"),
    ]


WORDS |= {"one bit": ["0", "1"], "plain flags": ["''", "'i'", "'s'", "'n'"], "similar part": ["'%#\"b#\"%'", "'#\"a#\"%'", "'#\"[a-c]+#\"%'"], "name of one": ["'a'", "'A b'", "'select'"]}


def times():
    instant = "cast({} as timestamptz)"
    out = [("ts", f"date_trunc({{}}, {instant}, {{}}) at time zone 'UTC'", ["unit", "ts", "zone"], "date_trunc in a zone"),
           ("ts", f"date_trunc({{}}, {instant}) at time zone 'UTC'", ["unit", "ts"], "date_trunc of timestamptz"),
           ("iv", "date_trunc({}, {})", ["unit", "iv"], "date_trunc of interval"),
           ("ts", "date_bin({}, {}, timestamp '2000-01-01')", ["stride", "ts"], "date_bin"),
           ("ts", f"date_bin({{}}, {instant}, timestamptz '2001-02-03 04:05:06+00') at time zone 'UTC'", ["stride", "ts"], "date_bin of timestamptz"),
           ("date", "make_date(2000 + abs({}) % 30, {}, {})", ["i4!", "month", "day of month"], "make_date"),
           ("text", "cast(make_time({}, {}, {}) as text)", ["hour", "minute", "second"], "make_time"),
           ("ts", "make_timestamp(1990 + abs({}) % 60, {}, {}, {}, {}, {})", ["i4!", "month", "day of month", "hour", "minute", "second"], "make_timestamp"),
           ("ts", "make_timestamptz(1990 + abs({}) % 60, {}, {}, {}, {}, {}) at time zone 'UTC'", ["i4!", "month", "day of month", "hour", "minute", "second"], "make_timestamptz"),
           ("ts", "make_timestamptz(1990 + abs({}) % 60, {}, {}, {}, {}, {}, {}) at time zone 'UTC'", ["i4!", "month", "day of month", "hour", "minute", "second", "zone"], "make_timestamptz in a zone"),
           ("iv", "make_interval({}, {}, {}, {}, {}, {}, {})", ["count", "offset", "count", "offset", "count", "offset", "second"], "make_interval"),
           ("ts", "timezone({}, {}) at time zone 'UTC'", ["zone", "ts"], "timezone"), ("ts", f"timezone({{}}, {instant})", ["zone", "ts"], "timezone of timestamptz"),
           ("ts", f"({instant} at time zone {{}})", ["ts", "zone"], "timestamptz at time zone"), ("ts", f"({instant} at time zone interval '-03:30')", ["ts"], "at time zone of an interval"),
           ("iv", f"age({instant}, {instant})", ["ts", "ts"], "age of timestamptz"), ("text", "cast(to_timestamp({}) at time zone 'UTC' as text)", ["f8."], "to_timestamp of seconds"),
           ("text", f"to_char({instant}, 'YYYY-MM-DD HH24:MI:SS TZ OF')", ["ts"], "to_char of timestamptz"), ("text", f"to_char({instant}, {{}})", ["ts", "date format"], "to_char of timestamptz"),
           ("text", "to_char(cast({} as time), 'HH24:MI:SS.US')", ["ts"], "to_char of time")]
    out += [("bool", f"isfinite({value})", [kind], "isfinite") for value, kind in (("{}", "date"), ("{}", "ts"), (instant, "ts"), ("{}", "iv"))]
    for field in ("epoch", "millennium", "century", "decade", "millisecond", "microsecond", "julian", "isoyear", "isodow", "second", "quarter"):
        out.append(("f8", f"cast(floor(extract({field} from {{}})) as double precision)", ["ts"], f"extract {field}"))
        if field in ("epoch", "second", "millisecond", "microsecond", "century", "decade", "quarter", "millennium"):
            out.append(("f8", f"cast(trunc(extract({field} from {{}})) as double precision)", ["iv"], f"extract {field} from interval"))
    out += [("f8", f"date_part({{}}, {value})", ["unit", kind], f"date_part of {name}") for value, kind, name in (("{}", "iv", "interval"), (instant, "ts", "timestamptz"))]
    out += [("f8", f"extract({field} from {instant} at time zone 'Asia/Kolkata')", ["ts"], "extract in a zone") for field in ("hour", "minute", "day")]
    return out + [("bool", f"({{}} {sign} {instant})", ["ts", "ts"], f"timestamp {sign} timestamptz") for sign in ("<", "=", ">=")] \
        + [("bool", f"({{}} {sign} {instant})", ["date", "ts"], f"date {sign} timestamptz") for sign in ("<", "=", ">=")]


# Privileges that a superuser has.
PRIVILEGES = [("table", "'moods', 'select'"), ("any_column", "'moods', 'select'"), ("column", "'moods', 'k', 'select'"), ("schema", "'public', 'usage'"), ("type", "'mood', 'usage'"), ("function", "'abs(integer)', 'execute'"),
              ("language", "'sql', 'usage'"), ("tablespace", "'pg_default', 'create'"), ("parameter", "'work_mem', 'set'")]


def others():
    out = [("bool", f"has_{what}_privilege({said})", [], f"has_{what}_privilege") for what, said in PRIVILEGES]
    out += [("bool", f"({call} is not null)", [], call.strip("(").partition("(")[0]) for call in (
        "now()", "clock_timestamp()", "statement_timestamp()", "transaction_timestamp()", "timeofday()", "pg_backend_pid()", "version()", "pg_postmaster_start_time()", "pg_conf_load_time()",
        "current_database()", "current_user", "session_user", "current_query()", "gen_random_uuid()", "random()", "txid_current()", "pg_current_xact_id()", "txid_current_snapshot()", "pg_current_snapshot()",
        "pg_jit_available()", "pg_my_temp_schema()", "to_regclass('moods')", "to_regnamespace('public')", "to_regproc('pi')", "to_regrole('nobody')", "to_regcollation('\"C\"')", "to_regoperator('+(integer,integer)')",
        "to_regprocedure('abs(integer)')", "to_regoper('||/')", "txid_status(txid_current())", "pg_blocking_pids(0)", "pg_safe_snapshot_blocking_pids(0)", "pg_is_other_temp_schema(0)", "pg_notification_queue_usage()",
        "pg_collation_for('a' collate \"C\")", "col_description(0, 1)", "obj_description(0, 'pg_class')", "shobj_description(0, 'pg_database')", "inet_client_port()", "inet_server_port()", "pg_current_logfile()",
        "txid_snapshot_xmin(txid_current_snapshot())", "txid_snapshot_xmax(txid_current_snapshot())", "pg_snapshot_xmin(pg_current_snapshot())", "pg_snapshot_xmax(pg_current_snapshot())",
        "txid_visible_in_snapshot(1, txid_current_snapshot())", "pg_has_role(current_user, 'member')", "has_database_privilege(current_database(), 'connect')", "(pg_current_xact_id_if_assigned() is null)", "(txid_current_if_assigned() is null)", "pg_visible_in_snapshot(pg_current_xact_id(), pg_current_snapshot())",
        *(f"pg_{what}_is_visible(0)" for what in ("collation", "conversion", "function", "opclass", "operator", "opfamily", "statistics_obj", "table", "type")),
        *(f"pg_get_{what}(0)" for what in ("constraintdef", "function_arguments", "function_identity_arguments", "function_result", "functiondef", "indexdef", "partkeydef", "ruledef", "statisticsobjdef", "triggerdef", "viewdef")),
        "pg_describe_object(0, 0, 0)", "pg_get_expr(null, 0)", "pg_index_column_has_property(0, 1, 'asc')", "pg_index_has_property(0, 'clusterable')", "pg_indexam_has_property(0, 'can_order')",
        "row_security_active('moods')", "format_type(23, null)")]
    return out


# Functions that give rows: name, how it is called, arguments, its columns.
ROWS = [
    ("jsonb_path_query", "jsonb_path_query({}, {})", ["jb", "jsonpath"], [("v", "jb")]),
    ("jsonb_path_query silent", "jsonb_path_query({}, {}, {}, true)", ["jbo", "jsonpath", "vars"], [("v", "jb")]),
    ("jsonb_path_query_tz silent", "jsonb_path_query_tz({}, {}, {}, true)", ["jba", "jsonpath", "vars"], [("v", "jb")]),
    ("unnest of moods", "unnest({})", ["ea"], [("v", "en")]),
    ("unnest of enum_range", "unnest(enum_range({}))", ["en"], [("v", "en")]),
    ("regexp_matches", "regexp_matches({}, {}, {})", ["text", "sought", "flags"], [("v", "at")]),
    ("regexp_split_to_table", "regexp_split_to_table({}, {})", ["text", "sought"], [("v", "text")]),
    ("string_to_table", "string_to_table({}, {})", ["text", "short text"], [("v", "text")]),
    ("string_to_table with null", "string_to_table({}, {}, {})", ["text", "short text", "short text"], [("v", "text")]),
    ("generate_subscripts", "generate_subscripts({}, 1)", ["ai"], [("v", "i4")]),
    ("generate_subscripts backwards", "generate_subscripts({}, 1, true)", ["at"], [("v", "i4")]),
]


def aggregates():
    return [(kind, f"{call}({{}})", [kind], f"{call} of {kind}") for call in ("min", "max") for kind in ("en", "iv")] + [
        ("text", "cast(array_agg({} order by {}) as text)", ["en", "same"], "array_agg of mood"),
        ("text", "cast(array_agg(distinct {} order by {} desc) as text)", ["en", "same"], "array_agg distinct of mood"),
        ("text", "string_agg(cast({} as text), ',' order by {})", ["en", "same 0"], "string_agg of mood"),
        ("i8", "count(distinct {})", ["en"], "count distinct of mood"),
        ("jb", "jsonb_agg({} order by {})", ["en", "same"], "jsonb_agg of mood"),
        ("text", "cast(json_agg({} order by {}) as text)", ["en", "same"], "json_agg of mood"),
        ("text", "cast(mode() within group (order by {}) as text)", ["en"], "mode of mood"),
        ("text", "cast(percentile_disc(0.5) within group (order by {}) as text)", ["en"], "percentile_disc of mood"),
        ("i4", "max({})", ["dl"], "max of domain"), ("i8", "sum({})", ["dl"], "sum of domain"), ("text", "min(cast({} as text))", ["dx"], "min of domain"),
        ("text", "cast(array_agg({} order by {}) as text)", ["dl", "same"], "array_agg of domain"),
        ("i8", "count(distinct {})", ["dx"], "count distinct of domain"),
        ("text", "cast(array_agg({} order by {}, cast({} as text)) as text)", ["iv", "same", "same"], "array_agg of interval"),
        ("text", "cast(string_agg(convert_to({}, 'UTF8'), convert_to(',', 'UTF8') order by {}) as text)", ["text", "same"], "string_agg of bytea"),
        ("text", "cast(max(cast({} as timestamptz)) as text)", ["ts"], "max of timestamptz"), ("text", "cast(min(cast({} as timestamptz)) as text)", ["ts"], "min of timestamptz"),
        ("bool", "every({} < 'happy')", ["en"], "every of mood"),
        ("text", "cast(array_agg(cast(md5({}) as uuid) order by cast(md5({}) as uuid)) as text)", ["text", "same"], "array_agg of uuid"),
    ]
