//! Words that PostgreSQL reserves.

use sqlparser::keywords::{ALL_KEYWORDS, ALL_KEYWORDS_INDEX, Keyword};
use std::sync::LazyLock;

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

/// Whether an unquoted word cannot name a table, column or alias.
pub(crate) fn is_reserved(word: &str) -> bool {
    let is_in = |list: &[&str]| list.binary_search_by(|known| compare(known, word)).is_ok();
    is_in(RESERVED) || is_in(FUNCTIONS_AND_TYPES)
}

/// Compares with a word in any case.
fn compare(known: &str, word: &str) -> std::cmp::Ordering {
    known.bytes().cmp(word.bytes().map(|b| b.to_ascii_lowercase()))
}

/// Whether each keyword of sqlparser, by its discriminant, is one of them: asked for every word that may be an alias.
static RESERVED_KEYWORDS: LazyLock<Vec<bool>> = LazyLock::new(|| {
    let mut reserved = Vec::new();
    for (word, keyword) in ALL_KEYWORDS.iter().zip(ALL_KEYWORDS_INDEX) {
        let at = *keyword as usize;
        reserved.resize(reserved.len().max(at + 1), false);
        reserved[at] = is_reserved(word);
    }
    reserved
});

/// Whether a keyword of sqlparser is one of them.
pub(super) fn is_reserved_keyword(keyword: Keyword) -> bool {
    RESERVED_KEYWORDS.get(keyword as usize).is_some_and(|is| *is)
}

/// Statements of PostgreSQL that Frazil does not have.
pub(super) const UNSUPPORTED_STATEMENTS: &[&str] = &[
    "analyse",
    "analyze",
    "call",
    "close",
    "cluster",
    "comment",
    "deallocate",
    "declare",
    "discard",
    "do",
    "execute",
    "fetch",
    "grant",
    "import",
    "listen",
    "load",
    "lock",
    "merge",
    "move",
    "notify",
    "prepare",
    "reassign",
    "refresh",
    "reindex",
    "revoke",
    "security",
    "unlisten",
    "vacuum",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        for list in [RESERVED, FUNCTIONS_AND_TYPES, UNSUPPORTED_STATEMENTS] {
            assert!(list.is_sorted());
        }
        assert!(is_reserved("Where") && is_reserved("JOIN") && !is_reserved("name"));
        assert!(is_reserved_keyword(Keyword::WHERE) && !is_reserved_keyword(Keyword::NAME));
        assert!(!is_reserved_keyword(Keyword::NoKeyword));
    }
}
