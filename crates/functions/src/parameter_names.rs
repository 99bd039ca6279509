//! The names of parameters, for calls such as `make_interval(days => 10)`: PostgreSQL's, of those functions whose
//! parameters have names.

/// A parameter that a call may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it is where a call leaves it out, as SQL: a number, `true`, `false`, or a string in quotes without quotes
    /// in it.
    pub default: Option<&'static str>,
}

const fn needed(name: &'static str) -> Parameter {
    Parameter { name, default: None }
}

const fn zero(name: &'static str) -> Parameter {
    Parameter {
        name,
        default: Some("0"),
    }
}

/// Parameters of the functions of paths.
const PATH: &[Parameter] = &[
    needed("target"),
    needed("path"),
    Parameter {
        name: "vars",
        default: Some("'{}'"),
    },
    Parameter {
        name: "silent",
        default: Some("false"),
    },
];

/// Functions by name; the last parameters of some calls may be left out though they have no default.
const NAMED: &[(&str, &[Parameter])] = &[
    (
        "jsonb_insert",
        &[
            needed("jsonb_in"),
            needed("path"),
            needed("replacement"),
            needed("insert_after"),
        ],
    ),
    ("jsonb_path_exists", PATH),
    ("jsonb_path_exists_tz", PATH),
    ("jsonb_path_match", PATH),
    ("jsonb_path_match_tz", PATH),
    ("jsonb_path_query", PATH),
    ("jsonb_path_query_array", PATH),
    ("jsonb_path_query_array_tz", PATH),
    ("jsonb_path_query_first", PATH),
    ("jsonb_path_query_first_tz", PATH),
    ("jsonb_path_query_tz", PATH),
    (
        "jsonb_set",
        &[
            needed("jsonb_in"),
            needed("path"),
            needed("replacement"),
            needed("create_if_missing"),
        ],
    ),
    (
        "jsonb_set_lax",
        &[
            needed("jsonb_in"),
            needed("path"),
            needed("replacement"),
            Parameter {
                name: "create_if_missing",
                default: Some("true"),
            },
            Parameter {
                name: "null_value_treatment",
                default: Some("'use_json_null'"),
            },
        ],
    ),
    ("make_date", &[needed("year"), needed("month"), needed("day")]),
    (
        "make_interval",
        &[
            zero("years"),
            zero("months"),
            zero("weeks"),
            zero("days"),
            zero("hours"),
            zero("mins"),
            zero("secs"),
        ],
    ),
    ("make_time", &[needed("hour"), needed("min"), needed("sec")]),
    (
        "make_timestamp",
        &[
            needed("year"),
            needed("month"),
            needed("mday"),
            needed("hour"),
            needed("min"),
            needed("sec"),
        ],
    ),
    (
        "make_timestamptz",
        &[
            needed("year"),
            needed("month"),
            needed("mday"),
            needed("hour"),
            needed("min"),
            needed("sec"),
            needed("timezone"),
        ],
    ),
    ("parse_ident", &[needed("str"), needed("strict")]),
];

/// The texts of all defaults.
pub fn parameter_defaults() -> impl Iterator<Item = &'static str> {
    let parameters = NAMED.iter().flat_map(|(_, parameters)| parameters.iter());
    parameters.filter_map(|parameter| parameter.default)
}

/// The parameters of a function, by its name in lower case; `None` for those that have no names.
pub fn parameters_of(function: &str) -> Option<&'static [Parameter]> {
    NAMED.iter().find(|f| f.0 == function).map(|f| f.1)
}
