//! Names in SQL text, and the words of PostgreSQL that are none.

/// PostgreSQL's reserved words, sorted: none names a column, table or alias unless it is quoted.
const RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "constraint",
    "create",
    "current_catalog",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "false",
    "fetch",
    "for",
    "foreign",
    "from",
    "grant",
    "group",
    "having",
    "in",
    "initially",
    "intersect",
    "into",
    "lateral",
    "leading",
    "limit",
    "localtime",
    "localtimestamp",
    "not",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "placing",
    "primary",
    "references",
    "returning",
    "select",
    "session_user",
    "some",
    "symmetric",
    "table",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "variadic",
    "when",
    "where",
    "window",
    "with",
];

/// Words that name functions and types only, sorted.
const FUNCTIONS_AND_TYPES: &[&str] = &[
    "authorization",
    "binary",
    "collation",
    "concurrently",
    "cross",
    "current_schema",
    "freeze",
    "full",
    "ilike",
    "inner",
    "is",
    "isnull",
    "join",
    "left",
    "like",
    "natural",
    "notnull",
    "outer",
    "overlaps",
    "right",
    "similar",
    "tablesample",
    "verbose",
];

/// Words that begin expressions or types of a grammar of their own, sorted: they name columns and tables, but not functions.
const EXPRESSIONS_AND_TYPES: &[&str] = &[
    "between",
    "bigint",
    "bit",
    "boolean",
    "char",
    "character",
    "coalesce",
    "dec",
    "decimal",
    "exists",
    "extract",
    "float",
    "greatest",
    "grouping",
    "inout",
    "int",
    "integer",
    "interval",
    "least",
    "national",
    "nchar",
    "none",
    "normalize",
    "nullif",
    "numeric",
    "out",
    "overlay",
    "position",
    "precision",
    "real",
    "row",
    "setof",
    "smallint",
    "substring",
    "time",
    "timestamp",
    "treat",
    "trim",
    "values",
    "varchar",
    "xmlattributes",
    "xmlconcat",
    "xmlelement",
    "xmlexists",
    "xmlforest",
    "xmlnamespaces",
    "xmlparse",
    "xmlpi",
    "xmlroot",
    "xmlserialize",
    "xmltable",
];

/// Words that begin expressions in later versions of PostgreSQL, sorted: names here, and quoted where SQL is written.
const LATER: &[&str] = &[
    "json",
    "json_array",
    "json_arrayagg",
    "json_object",
    "json_objectagg",
];

/// Words that name a column of a select list only behind AS, sorted.
const NOT_BARE: &[&str] = &[
    "array",
    "as",
    "char",
    "character",
    "create",
    "day",
    "except",
    "fetch",
    "filter",
    "for",
    "from",
    "grant",
    "group",
    "having",
    "hour",
    "intersect",
    "into",
    "isnull",
    "limit",
    "minute",
    "month",
    "notnull",
    "offset",
    "on",
    "order",
    "over",
    "overlaps",
    "precision",
    "returning",
    "second",
    "to",
    "union",
    "varying",
    "where",
    "window",
    "with",
    "within",
    "without",
    "year",
];

/// The names that an unquoted word can be: the classes of PostgreSQL 15's `pg_get_keywords()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordClass {
    /// Any name: a word that is not a keyword, or an unreserved one.
    Name,
    /// A column, table or alias, but neither a function nor a type.
    ColumnName,
    /// A function or type, but neither a column nor a table.
    FunctionOrType,
    /// Only a label behind AS or a dot.
    Reserved,
}

/// The names that an unquoted word can be.
pub fn word_class(word: &str) -> WordClass {
    match () {
        () if is_in(RESERVED, word) => WordClass::Reserved,
        () if is_in(FUNCTIONS_AND_TYPES, word) => WordClass::FunctionOrType,
        () if is_in(EXPRESSIONS_AND_TYPES, word) => WordClass::ColumnName,
        () => WordClass::Name,
    }
}

/// True if an unquoted word can name a column of a select list without AS.
pub fn is_bare_label(word: &str) -> bool {
    !is_in(NOT_BARE, word)
}

/// Whether an unquoted word cannot name a table, column or alias.
pub fn is_reserved(word: &str) -> bool {
    is_in(RESERVED, word) || is_in(FUNCTIONS_AND_TYPES, word)
}

/// A name as SQL wants it: quoted unless it folds to itself, or where PostgreSQL has a keyword of more meaning than a name.
pub fn identifier(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && (name.chars()).all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    match is_plain && word_class(name) == WordClass::Name && !is_in(LATER, name) {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

fn is_in(list: &[&str], word: &str) -> bool {
    list.binary_search_by(|known| compare(known, word)).is_ok()
}

/// Compares with a word in any case.
fn compare(known: &str, word: &str) -> std::cmp::Ordering {
    known.bytes().cmp(word.bytes().map(|b| b.to_ascii_lowercase()))
}

/// The candidate that differs least from `name`, if any comes near: what a message proposes.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|c| (edit_distance(name, c), c))
        .filter(|&(d, c)| d <= 1 + name.len().max(c.len()) / 4)
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        for list in [
            RESERVED,
            FUNCTIONS_AND_TYPES,
            EXPRESSIONS_AND_TYPES,
            LATER,
            NOT_BARE,
        ] {
            assert!(list.is_sorted());
        }
        assert!(is_reserved("Where") && is_reserved("JOIN") && !is_reserved("name"));
    }

    #[test]
    fn names_are_quoted_where_they_must_be() {
        for plain in ["a", "_b2", "name", "date", "year"] {
            assert_eq!(identifier(plain), plain);
        }
        for (name, quoted) in [
            ("order", "\"order\""),
            ("interval", "\"interval\""),
            ("freeze", "\"freeze\""),
            ("Big", "\"Big\""),
            ("a\"b", "\"a\"\"b\""),
            ("2a", "\"2a\""),
            ("größe", "\"größe\""),
            ("", "\"\""),
        ] {
            assert_eq!(identifier(name), quoted);
        }
    }
}
