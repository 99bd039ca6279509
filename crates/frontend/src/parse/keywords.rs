//! Words that PostgreSQL reserves, as keywords of sqlparser.

use frazil_catalog::is_reserved;
use sqlparser::keywords::{ALL_KEYWORDS, ALL_KEYWORDS_INDEX, Keyword};
use sqlparser::tokenizer::Word;
use std::sync::LazyLock;

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

/// First words of statements that PostgreSQL, DuckDB or SQLite have and Frazil does not, sorted.
pub(super) const UNSUPPORTED_STATEMENTS: &[&str] = &[
    "attach", "call", "cluster", "detach", "do", "from", "import", "install", "load", "merge", "pivot",
    "pragma", "refresh", "replace", "security", "unpivot",
];

/// A name as the catalog keeps it: lower case unless quoted.
pub(crate) fn fold(w: &Word) -> String {
    if w.quote_style.is_some() {
        w.value.clone()
    } else {
        w.value.to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(UNSUPPORTED_STATEMENTS.is_sorted());
        assert!(is_reserved_keyword(Keyword::WHERE) && !is_reserved_keyword(Keyword::NAME));
        assert!(!is_reserved_keyword(Keyword::NoKeyword));
    }
}
