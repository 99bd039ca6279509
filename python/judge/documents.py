"""Arrays and documents as values: kinds of columns, their edge values, and what json, jsonb and arrays are asked.

`ai`, `at`: arrays of integers and of texts. `js`, `jb`: json and jsonb of any form; with `a` or `o` behind them one that is an array
or an object, of which most functions want one. json has no order: it is no key, and a result only as a text. All of it is
PostgreSQL's alone."""

SQL_TYPES = {"ai": "integer[]", "at": "text[]", "js": "json", "jsa": "json", "jso": "json", "jb": "jsonb", "jba": "jsonb", "jbo": "jsonb"}
# Kinds that results, groups and orders may have, and those that have no order.
SHOWN = ["jb", "ai", "at"]
ARRAYS = {"ai": "i4", "at": "text"}
UNORDERED = ["js", "jsa", "jso"]
NAMES = {"jb": "jsonb", "ai": "integer[]", "at": "text[]"}

SCALARS = [
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1.5",
    "12345678901234567890.123456789",
    "1e2",
    "1E-7",
    "-0",
    '""',
    '"a"',
    '"1"',
    '"\\u00e4\\ud83d\\ude00"',
    '"a\\"b\\\\c\\/\\u0001"',
    "9" * 60 + ".5",
    '"' + "long " * 30 + '"',
]
LISTS = [
    "[]",
    "[null]",
    "[1, 2, 3]",
    "[1,[2,[3,[]]],{}]",
    '["a","b","k"]',
    '[{"a":1},{"a":null},{"b":[1]}]',
    "[[],{}]",
    "[true,false,null]",
    '[0,"",1e-3,-5]',
    '["a","a"]',
    "[3,1,2]",
]
OBJECTS = [
    "{ }",
    '{"a":1}',
    '{"a":null}',
    '{"a":{"b":[1,2,{"c":"x"}]}}',
    '{"b":1,"a":2,"aa":3}',
    '{"k":[1,null,"z"],"a":"b"}',
    '{"":0,"ä":"ö"}',
    '{"a":{},"b":[]}',
    '{"a":[{"b":null}],"k":{"k":{"k":1}}}',
    '{"a":true,"b":"12"}',
]
# As json keeps them: blanks, keys twice, digits and escapes as they were written.
WRITTEN = [' {"b" : 1, "a" : 2, "b" : 3} ', "1.50", "-0.0", "1e0005", '"\\u0041\\u005c"', "[ 1 ,\n 2 ]", '"\\u0000"']
EDGES = {
    "ai": ["{}", "{1,2,3}", "{1,NULL,3}", "{NULL}", "{3,1,2}", "{2147483647,-2147483648}", "{7}", "{1,2,2,1}"],
    "at": ["{}", "{a,b,c}", '{"",NULL,"null"}', '{"a,b","{x}","q\\"\\\\"}', "{k,a}", "{ä,日本語}", "{NULL,NULL}", "{ab}"],
    "js": SCALARS + LISTS + OBJECTS + WRITTEN,
    "jsa": LISTS + ["[ 1 ,\n 2 ]", "[1.50,1e0005]"],
    "jso": OBJECTS + WRITTEN[:1],
    "jb": SCALARS + LISTS + OBJECTS,
    "jba": LISTS,
    "jbo": OBJECTS,
}


def value(r, kind):
    """A value of a column as CSV has it: an edge, or a document of chance."""
    if kind in ARRAYS or r.random() < 0.6:
        return r.choice(EDGES[kind])
    return document(r, kind[2:], 3)


def document(r, form, depth):
    """A random document as a text; `form`: a for arrays, o for objects, else any."""
    form = form or (r.choice("aoss") if depth else "s")
    if form == "a":
        return "[" + ",".join(document(r, "", depth - 1) for _ in range(r.randint(0, 4))) + "]"
    if form == "o":
        return (
            "{"
            + ",".join(f'"{key}":{document(r, "", depth - 1)}' for key in r.sample(["a", "b", "k", "c", "1", "ä"], r.randint(1, 4)))
            + "}"
        )
    return r.choice(["1", "2", "-7", "0.25", '"a"', '"b"', '"x y"', "null", "true", "false"])


def literals():
    """The literals of each kind, and those of edges. No text has braces side by side: these mark places in templates."""
    plain = {
        "ai": ["array[1, 2, 3]", "array[2, null]", "cast('{3,1,2}' as integer[])", "cast('{ }' as integer[])", "array[7]"],
        "at": ["array['a', 'b']", "array['', null, 'ab']", "cast('{ }' as text[])", "array['k', 'a', 'b']"],
    }
    edges = {
        "ai": ["cast(null as integer[])", "array[[1, 2], [3, 4]]", "cast('[0:1]={5,6}' as integer[])", "array[2147483647, -2147483648]"],
        "at": ["cast(null as text[])", "array[['a', null], ['b', 'c']]", "cast('[2:3]={x,y}' as text[])", "array[cast(null as text)]"],
    }
    for kind in ("js", "jsa", "jso", "jb", "jba", "jbo"):
        texts = [text.replace("{}", "{ }") for text in EDGES[kind]]
        plain[kind] = [f"cast('{text}' as {SQL_TYPES[kind]})" for text in texts if len(text) < 50 and "u0000" not in text]
        edges[kind] = [f"cast(null as {SQL_TYPES[kind]})", *(f"{SQL_TYPES[kind]} '{text}'" for text in texts)]
    edges["jb"] += ["cast('[1.0, 1.50]' as jsonb)", '\'{"b":1,"a":2,"b":3}\'::jsonb']
    return plain, edges


WORDS = {
    "key": ["'a'", "'b'", "'k'", "'a'", "''", "'ä'", "'1'", "cast(null as text)"],
    "one": ["1", "0", "1", "2"],
    "place": ["0", "1", "-1", "2", "-3", "7"],
    "path": [
        "'{a}'",
        "'{a,b}'",
        "'{a,b,2,c}'",
        "'{k,0}'",
        "'{k,-1}'",
        "'{0}'",
        "'{-1}'",
        "'{1,1,0}'",
        "'{ }'",
        "array['a', 'b']",
        "'{a,0,b}'",
        "'{k,k,k}'",
    ],
    "name": ["'a'", "'b'", "''", "'ä'"],
    "new path": ["'{new}'", "'{k,0}'", "'{k,-1}'", "'{a,b,1}'", "'{a,new}'", "'{ }'", "array['', 'new']", "'{k,k,new}'"],
    "place path": ["'{0}'", "'{-1}'", "'{1,0}'", "'{5}'", "'{-9}'", "'{0,new}'", "'{1,1,0}'"],
    "keys": ["array['a', 'k']", "array['b']", "array['a', null]", "cast('{ }' as text[])", "array['', '1']"],
    "number": [
        "cast('1' as jsonb)",
        "cast('-30' as jsonb)",
        "cast('2.5' as jsonb)",
        "cast('1e2' as jsonb)",
        "cast('0.49' as jsonb)",
        "cast('-0.5' as jsonb)",
    ],
    "edge number": [
        "cast('32768' as jsonb)",
        "cast('9e30' as jsonb)",
        "cast('\"1\"' as jsonb)",
        "cast('null' as jsonb)",
        "cast('[1]' as jsonb)",
    ],
    "edge f8": [
        "cast('NaN' as double precision)",
        "cast('-Infinity' as double precision)",
        "cast('-0' as double precision)",
        "cast(1e308 as double precision)",
        "cast('5e-324' as double precision)",
        "cast(0.1 as double precision)",
        "cast(1e15 as double precision)",
        "cast(123456789012345680 as double precision)",
        "cast(0.00001 as double precision)",
    ],
}
# What becomes json: how it is written in a call, its arguments, what it is called.
MADE = [
    ("{}", ["i4"], "integer"),
    ("{}", ["i8"], "bigint"),
    ("{}", ["bool"], "boolean"),
    ("cast({} as text)", ["text"], "text"),
    ("{}", ["char"], "char"),
    ("{}", ["date"], "date"),
    ("cast({} as timestamp)", ["ts"], "timestamp"),
    ("cast({} as decimal(12,2))", ["dec"], "decimal"),
    ("{}", ["f8."], "double"),
    ("{}", ["edge f8"], "edges of doubles"),
    ("{}", ["iv"], "interval"),
    ("cast({} as timestamptz)", ["ts"], "timestamptz"),
    ("cast({} as time)", ["ts"], "time"),
    ("cast({} as real)", ["f8."], "real"),
    ("{}", ["ai"], "array of integers"),
    ("{}", ["at"], "array of texts"),
    ("array[cast({} as timestamp), {}]", ["ts", "ts"], "array of timestamps"),
    ("array[array[{}, {}]]", ["i4", "i4"], "array of arrays"),
    ("{}", ["js"], "json"),
    ("{}", ["jb"], "jsonb"),
    ("convert_to({}, 'UTF8')", ["text"], "bytea"),
    ("array[{}, null]", ["jbo"], "array of jsonb"),
]


def rules():
    """(result, template, arguments, name, judge) of all of them."""
    out = of_both("jb", "jsonb") + of_both("js", "json") + of_jsonb() + of_arrays("ai") + of_arrays("at") + made_forms()
    for kind, name in NAMES.items():
        out += [("bool", f"({{}} {sign} {{}})", [kind, kind], f"{name} {sign}") for sign in ("=", "<>", "<", "<=", ">", ">=")]
        out += [
            ("bool", "({} between {} and {})", [kind] * 3, f"{name} between"),
            ("bool", "({} is distinct from {})", [kind] * 2, f"{name} is distinct from"),
            ("bool", "({} is not distinct from {})", [kind] * 2, f"{name} is not distinct from"),
            ("bool", "({} in ({}, {}, {}))", [kind] * 4, f"{name} in list"),
            ("bool", "({} not in ({}, {}))", [kind] * 3, f"{name} not in list"),
            (kind, "nullif({}, {})", [kind] * 2, f"{name} nullif"),
            (kind, "greatest({}, {})", [kind] * 2, f"{name} greatest"),
            (kind, "least({}, {}, {})", [kind] * 3, f"{name} least"),
            ("i4", "case {} when {} then 1 when {} then 2 else 3 end", [kind] * 3, f"case of {name}"),
        ]
    for kind in (*NAMES, "js"):
        name = SQL_TYPES[kind]
        out += [
            ("bool", "({} is null)", [kind], f"{name} is null"),
            ("bool", "({} is not null)", [kind], f"{name} is not null"),
            (kind, "coalesce({}, {})", [kind] * 2, f"{name} coalesce"),
            (kind, "case when {} then {} else {} end", ["bool", kind, kind], f"{name} case when"),
            ("text", "cast({} as text)", [kind], f"cast {name} to text"),
        ]
    return [(*rule, "postgres") for rule in out]


def as_text(out, kind):
    """What gives json has its text beside it, which a result may have."""
    return out + (
        [("text", f"cast({template} as text)", arguments, name) for found, template, arguments, name in out if found == "js"]
        if kind == "js"
        else []
    )


def of_both(kind, name):
    """What json and jsonb have."""
    array, whole = kind + "a", kind + "o"
    out = [
        (kind, "({} -> {})", [whole, "key"], f"{name} -> key"),
        (kind, "({} -> {})", [kind, "key"], f"{name} -> key"),
        (kind, "({} -> {})", [array, "place"], f"{name} -> place"),
        (kind, "({} -> {})", [kind, "place"], f"{name} -> place"),
        (kind, "({} -> cast({} as text))", [whole, "text"], f"{name} -> text"),
        (kind, "({} -> {})", [array, "i4"], f"{name} -> integer"),
        (kind, "({} #> {})", [kind, "path"], f"{name} #>"),
        (kind, "({} #> {})", [whole, "path"], f"{name} #>"),
        (kind, f"{name}_extract_path({{}}, {{}})", [whole, "key"], f"{name}_extract_path"),
        (kind, f"{name}_extract_path({{}}, {{}}, {{}})", [kind, "key", "key"], f"{name}_extract_path"),
        (kind, f"{name}_strip_nulls({{}})", [kind], f"{name}_strip_nulls"),
        (kind, f"{name}_build_array({{}}, {{}}, null)", ["i4", "text"], f"{name}_build_array"),
        (kind, f"{name}_build_array({{}}, {{}}, {{}})", ["date", kind, "bool"], f"{name}_build_array"),
        (kind, f"{name}_build_array()", [], f"{name}_build_array of nothing"),
        (kind, f"{name}_build_object()", [], f"{name}_build_object of nothing"),
        (kind, f"{name}_build_object('a', {{}}, {{}}, cast({{}} as timestamp))", [kind, "i4", "ts"], f"{name}_build_object"),
        (kind, f"{name}_build_object({{}}, {{}}, 'b', {{}})", ["name", "i8", "text"], f"{name}_build_object"),
        (kind, f"{name}_object(array['a', {{}}, 'b', {{}}])", ["text", "text"], f"{name}_object"),
        (kind, f"{name}_object(array['a', 'b'], array[{{}}, {{}}])", ["text", "text"], f"{name}_object of two arrays"),
        (kind, f"cast(cast({{}} as text) as {name})", ["js"], f"cast text to {name}"),
        (kind, f"cast({{}} as {name})", ["js" if kind == "jb" else "jb"], f"cast to {name}"),
    ]
    out += [(kind, f"to_{name}({text})", arguments, f"to_{name} of {what}") for text, arguments, what in MADE]
    return as_text(out, kind) + [
        ("text", "({} ->> {})", [whole, "key"], f"{name} ->> key"),
        ("text", "({} ->> {})", [kind, "key"], f"{name} ->> key"),
        ("text", "({} ->> {})", [array, "place"], f"{name} ->> place"),
        ("text", "({} ->> cast({} as text))", [whole, "text"], f"{name} ->> text"),
        ("text", "({} ->> {})", [array, "i4"], f"{name} ->> integer"),
        ("text", "({} #>> {})", [kind, "path"], f"{name} #>>"),
        ("text", "({} #>> {})", [whole, "path"], f"{name} #>>"),
        ("text", f"{name}_extract_path_text({{}}, {{}})", [whole, "key"], f"{name}_extract_path_text"),
        ("text", f"{name}_extract_path_text({{}}, {{}}, {{}})", [kind, "key", "key"], f"{name}_extract_path_text"),
        ("text", f"{name}_typeof({{}})", [kind], f"{name}_typeof"),
        ("i4", f"{name}_array_length({{}})", [array], f"{name}_array_length"),
    ]


def of_jsonb():
    out = [
        ("jb", "({} || {})", ["jb", "jb"], "jsonb ||"),
        ("jb", "({} || {})", ["jbo", "jbo"], "jsonb || of objects"),
        ("jb", "({} || {})", ["jba", "jb"], "jsonb || of an array"),
        ("jb", "({} - cast({} as text))", ["jbo", "key"], "jsonb - key"),
        ("jb", "({} - cast({} as text))", ["jba", "key"], "jsonb - key"),
        ("jb", "({} - {})", ["jba", "place"], "jsonb - place"),
        ("jb", "({} - {})", ["jbo", "keys"], "jsonb - keys"),
        ("jb", "({} - {})", ["jba", "at"], "jsonb - keys"),
        ("jb", "({} #- {})", ["jbo", "path"], "jsonb #-"),
        ("jb", "({} #- {})", ["jba", "place path"], "jsonb #-"),
        ("text", "jsonb_pretty({})", ["jb"], "jsonb_pretty"),
    ]
    for call, more in (("jsonb_set", ["", ", false", ", true"]), ("jsonb_insert", ["", ", true", ", false"])):
        for said in more:
            name = f"{call} {said[2:]}".strip()
            out += [
                ("jb", f"{call}({{}}, {{}}, {{}}{said})", [kind, path, "jb"], name)
                for kind, path in (("jbo", "new path"), ("jba", "place path"), ("jbo", "new path"))
            ]
        out.append(("jb", f"{call}({{}}, {{}}, {{}})", ["jb", "path", "jb"], call))
    for sign, right in (("@>", "jb"), ("<@", "jb")):
        out += [
            ("bool", f"({{}} {sign} {{}})", kinds, f"jsonb {sign}")
            for kinds in (["jb", right], ["jbo", "jbo"], ["jba", "jba"], ["jba", "jb"])
        ]
    out += [("bool", "({} ? {})", [kind, "key"], "jsonb ?") for kind in ("jbo", "jba", "jb")] + [
        ("bool", "({} ? cast({} as text))", ["jb", "text"], "jsonb ? text")
    ]
    out += [
        ("bool", f"({{}} {sign} {{}})", [kind, right], f"jsonb {sign}")
        for sign in ("?|", "?&")
        for kind in ("jbo", "jba", "jb")
        for right in ("keys", "at")
    ]
    for kind, name in (("i2", "smallint"), ("i4", "integer"), ("i8", "bigint"), ("dec", "decimal(12,2)"), ("f8", "double precision")):
        out += [
            (kind, f"cast({{}} as {name})", ["number"], f"cast jsonb to {name}"),
            (kind, f"cast(to_jsonb({{}}) as {name})", ["i4!"], f"cast jsonb to {name}"),
            (kind, f"cast(to_jsonb({{}}) as {name})", ["dec!"], f"cast jsonb to {name}"),
        ]
    out.append(("i4", "cast({} as integer)", ["edge number"], "cast jsonb to integer"))
    return out + [
        ("bool", "cast(to_jsonb({}) as boolean)", ["bool"], "cast jsonb to boolean"),
        ("f8", "cast(cast(to_jsonb({}) as real) as double precision)", ["i4!"], "cast jsonb to real"),
        ("f8", "cast(to_jsonb({}) as double precision)", ["f8."], "cast jsonb to double precision"),
    ]


def of_arrays(kind):
    """What columns of arrays are asked; functions.arrays has those that are made of elements."""
    item, name, sql = ARRAYS[kind], NAMES[kind], {"ai": "integer", "at": "text"}[kind]
    element = f"cast({{}} as {sql})"
    out = [
        (kind, f"array[{element}, {element}]", [item, item], f"{name} constructor"),
        (kind, "({} || {})", [kind, kind], f"{name} || array"),
        (kind, f"({{}} || {element})", [kind, item], f"{name} || element"),
        (kind, f"({element} || {{}})", [item, kind], f"element || {name}"),
        (kind, f"array_append({{}}, {element})", [kind, item], f"array_append to {name}"),
        (kind, f"array_prepend({element}, {{}})", [item, kind], f"array_prepend to {name}"),
        (kind, "array_cat({}, {})", [kind, kind], f"array_cat of {name}"),
        (kind, f"array_remove({{}}, {element})", [kind, item], f"array_remove of {name}"),
        (kind, f"array_replace({{}}, {element}, {element})", [kind, item, item], f"array_replace of {name}"),
        (kind, "({})[{}:{}]", [kind, "position", "count"], f"slice of {name}"),
        (kind, "({})[{}:]", [kind, "position"], f"slice of {name} to its end"),
        (kind, "({})[:{}]", [kind, "count"], f"slice of {name} from its start"),
        (kind, f"trim_array({{}} || {element}, {{}})", [kind, item, "one"], f"trim_array of {name}"),
        (kind, f"array_fill({element}, array[{{}}])", [item, "count"], f"array_fill of {name}"),
        (item, "({})[{}]", [kind, "position"], f"subscript of {name}"),
        (item, "({})[{}]", [kind, "i4"], f"subscript of {name} by a column"),
        ("i4", "cardinality({})", [kind], f"cardinality of {name}"),
        ("i4", "array_length({}, {})", [kind, "position"], f"array_length of {name}"),
        ("i4", "array_ndims({})", [kind], f"array_ndims of {name}"),
        ("i4", "array_lower({}, 1)", [kind], f"array_lower of {name}"),
        ("i4", "array_upper({}, 1)", [kind], f"array_upper of {name}"),
        ("i4", f"array_position({{}}, {element})", [kind, item], f"array_position in {name}"),
        ("i4", f"array_position({{}}, {element}, 2)", [kind, item], f"array_position in {name} from 2"),
        ("ai", f"array_positions({{}}, {element})", [kind, item], f"array_positions in {name}"),
        ("text", "array_dims({})", [kind], f"array_dims of {name}"),
        ("text", "array_to_string({}, {})", [kind, "short text"], f"array_to_string of {name}"),
        ("text", "array_to_string({}, {}, {})", [kind, "short text", "short text"], f"array_to_string of {name} with null"),
        ("text", "cast(array_to_json({}) as text)", [kind], f"array_to_json of {name}"),
        ("text", "cast(array_to_json({}, true) as text)", [kind], f"array_to_json of {name} in lines"),
    ]
    out += [("bool", f"({{}} {sign} {{}})", [kind, kind], f"{name} {sign}") for sign in ("@>", "<@", "&&")]
    for word in ("any", "all"):
        out += [
            ("bool", f"({element} {sign} {word}({{}}))", [item, kind], f"{sign} {word} {name}")
            for sign in ("=", "<>", "<", "<=", ">", ">=")
        ]
    if kind == "ai":
        return out + [
            ("at", "cast({} as text[])", ["ai"], "cast integer[] to text[]"),
            ("text", "cast(cast({} as bigint[]) as text)", ["ai"], "cast integer[] to bigint[]"),
        ]
    return out + [
        ("at", "string_to_array({}, {})", ["text", "short text"], "string_to_array"),
        ("at", "string_to_array({}, null)", ["text"], "string_to_array of characters"),
        ("at", "string_to_array({}, {}, {})", ["text", "short text", "short text"], "string_to_array with null"),
        ("at", "regexp_split_to_array({}, {})", ["text", "pattern"], "regexp_split_to_array"),
        ("bool", "(cast({} as text) like any({}))", ["text", "at"], "like any text[]"),
        ("ai", "cast(array[cast({} as text), null] as integer[])", ["i4"], "cast text[] to integer[]"),
    ]


def made_forms():
    """Arrays and objects that are made of what columns there are."""
    out = []
    for kind, name in (("jb", "jsonb"), ("js", "json")):
        out += [
            (kind + "a", f"{name}_build_array({{}}, {{}})", ["i4", "text"], f"{name}_build_array"),
            (kind + "a", f"to_{name}(array[{{}}, {{}}])", ["i4", "i4"], f"to_{name} of array of integers"),
            (kind + "a", f"{name}_build_array({{}}, {name}_build_array({{}}))", ["bool", kind], f"{name}_build_array"),
            (kind + "o", f"{name}_build_object('a', {{}}, 'k', {{}})", ["i4", kind], f"{name}_build_object"),
            (kind + "o", f"{name}_build_object({{}}, {{}})", ["name", "text"], f"{name}_build_object"),
        ]
    return out


# Values that aggregates take, as they are written: where two rows have equal ones, they are alike.
TAKEN = [
    ("i4", "{}"),
    ("i8", "{}"),
    ("bool", "{}"),
    ("text", "cast({} as text)"),
    ("date", "{}"),
    ("ts", "cast({} as timestamp)"),
    ("dec", "cast({} as decimal(12,2))"),
    ("i2", "{}"),
]


def aggregates():
    """By ability. `same`: the argument before it once more, `same 0`: that of this place."""
    arrays, made = [], []
    for kind, value in TAKEN:
        for words, way in (("", ""), ("", " desc"), ("", " nulls first"), ("distinct ", ""), ("distinct ", " desc nulls last")):
            name = f"{words}of {kind}"
            arrays.append(("text", f"cast(array_agg({words}{value} order by {value}{way}) as text)", [kind, "same"], f"array_agg {name}"))
            made += [
                ("text", f"cast(json_agg({words}{value} order by {value}{way}) as text)", [kind, "same"], f"json_agg {name}"),
                ("jb", f"jsonb_agg({words}{value} order by {value}{way})", [kind, "same"], f"jsonb_agg {name}"),
            ]
    arrays += [
        ("ai", "array_agg(cast({} as integer) order by cast({} as integer))", ["i4", "same"], "array_agg"),
        ("at", "array_agg(cast({} as text) order by cast({} as text) desc)", ["text", "same"], "array_agg"),
        ("ai", "array_agg(distinct cast({} as integer) order by cast({} as integer))", ["i4", "same"], "array_agg distinct"),
        ("at", "array_agg(distinct cast({} as text) order by cast({} as text) desc nulls last)", ["text", "same"], "array_agg distinct"),
        ("i4", "cardinality(array_agg({}))", ["i8"], "array_agg unordered"),
        ("i4", "cardinality(array_agg(cast({} as text)))", ["text"], "array_agg unordered"),
        ("i4", "array_length(array_agg(distinct {}), 1)", ["i4"], "array_agg distinct unordered"),
        ("text", "cast(array_agg(array[{}, 1] order by {}) as text)", ["i4", "same"], "array_agg of arrays"),
        ("text", "cast(array_agg({} order by cast({} as text)) as text)", ["jb", "same"], "array_agg of jsonb"),
        ("text", "cast(array_agg({} order by cast({} as text)) as text)", ["js", "same"], "array_agg of json"),
        ("text", "array_to_string(array_agg({} order by {} desc), ',', '*')", ["i4", "same"], "array_agg of integers in a call"),
    ] + [(kind, f"{call}({{}})", [kind], f"{call}") for call in ("min", "max") for kind in ("ai", "at")]
    made += [
        ("jb", "jsonb_agg({} order by cast({} as text))", ["jb", "same"], "jsonb_agg of jsonb"),
        ("text", "cast(json_agg({} order by cast({} as text)) as text)", ["js", "same"], "json_agg of json"),
        ("text", "cast(json_agg({} order by {}) as text)", ["ai", "same"], "json_agg of arrays"),
        ("jb", "jsonb_agg({} order by {})", ["at", "same"], "jsonb_agg of arrays"),
        ("i4", "json_array_length(json_agg({}))", ["any"], "json_agg unordered"),
        ("i4", "jsonb_array_length(jsonb_agg({}))", ["i4"], "jsonb_agg unordered"),
    ]
    for name in ("json", "jsonb"):
        for key, kind in (("text", "i4"), ("i4", "text"), ("date", "bool"), ("text", "jb")):
            item = "cast({} as text)" if kind == "text" else "{}"
            text = f"{name}_object_agg(coalesce(cast({{}} as text), 'none'), {item} order by cast({{}} as text), {item})"
            made.append(
                ("jb", text, [key, kind, "same 0", "same 1"], "jsonb_object_agg of values")
                if name == "jsonb"
                else ("text", f"cast({text} as text)", [key, kind, "same 0", "same 1"], "json_object_agg of values")
            )
    return {"arrays": arrays, "json": made}


# Functions that give rows: name, how it is called, arguments, its columns.
ROWS = [
    ("unnest of integers", "unnest({})", ["ai"], [("v", "i4")]),
    ("unnest of texts", "unnest({})", ["at"], [("v", "text")]),
    ("unnest of two", "unnest({}, {})", ["ai", "at"], [("v", "i4"), ("w", "text")]),
    ("unnest of three", "unnest({}, {}, {})", ["at", "ai", "ai"], [("v", "text"), ("w", "i4"), ("x", "i4")]),
    ("jsonb_array_elements", "jsonb_array_elements({})", ["jba"], [("v", "jb")]),
    ("jsonb_array_elements_text", "jsonb_array_elements_text({})", ["jba"], [("v", "text")]),
    ("json_array_elements", "json_array_elements({})", ["jsa"], [("v", "js")]),
    ("json_array_elements_text", "json_array_elements_text({})", ["jsa"], [("v", "text")]),
    ("jsonb_each", "jsonb_each({})", ["jbo"], [("key", "text"), ("value", "jb")]),
    ("jsonb_each_text", "jsonb_each_text({})", ["jbo"], [("key", "text"), ("value", "text")]),
    ("json_each", "json_each({})", ["jso"], [("key", "text"), ("value", "js")]),
    ("json_each_text", "json_each_text({})", ["jso"], [("key", "text"), ("value", "text")]),
    ("jsonb_object_keys", "jsonb_object_keys({})", ["jbo"], [("v", "text")]),
    ("json_object_keys", "json_object_keys({})", ["jso"], [("v", "text")]),
]
# Those that may stand in a list of rows to show, by the type they give.
SHOWN_ROWS = {"i4": [ROWS[0]], "text": [ROWS[1], ROWS[5], ROWS[7], ROWS[12], ROWS[13]], "jb": [ROWS[4]]}
# How a function that reads columns is joined to what stands before it.
BESIDE = [
    "{}, {}",
    "{} cross join {}",
    "{} cross join lateral {}",
    "{} left join lateral {} on true",
    "{} join {} on true",
    "{}, lateral {}",
]
# Windows over arrays and documents: result, template, argument, name.
WINDOWS = [
    ("ai", "array_agg(cast({} as integer)) over {}", "i4", "array_agg"),
    ("at", "array_agg(cast({} as text)) over {}", "text", "array_agg"),
    ("jb", "jsonb_agg(cast({} as text)) over {}", "text", "jsonb_agg"),
    ("jb", "jsonb_agg({}) over {}", "i4", "jsonb_agg"),
    ("jb", "jsonb_object_agg(coalesce(cast({} as text), ''), 1) over {}", "text", "jsonb_object_agg"),
    ("text", "cast(json_agg({}) over {} as text)", "i4", "json_agg"),
]
NAMED = {rule[3] for rule in rules()}
