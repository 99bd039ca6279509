//! Keywords of SQL as far as Frazil reads them: what is completed and coloured.

/// All keywords in lower case, in order.
const KEYWORDS: &str = "\
access all alter analyze and any as asc backup begin between bigint boolean both by cascade case cast char character check \
checkpoint column commit constraint copy create cross current_date current_timestamp date day decimal default delete desc \
describe distinct do double drop else end escape except excluded exists explain extract false fetch filter first float \
following for foreign freeze from full group having hour if ilike in incremental index inner insert int integer intersect interval into \
is isolation join keep key last lateral leading left level like limit localtimestamp minute month natural not nothing null \
nulls numeric of offset on only or order outer over partition position preceding precision primary publish range real recursive \
references release replace reset restrict returning right rollback row rows savepoint second select serializable set show \
similar smallint some start substring table text then timestamp to trailing transaction trim true truncate unbounded union \
unique update using values varchar varying vacuum view when where window with work year";

/// Words behind which a table or view is named.
const BEFORE_RELATIONS: &str = "copy describe from freeze into join references table truncate update view";

/// All keywords.
pub fn all() -> impl Iterator<Item = &'static str> {
    KEYWORDS.split(' ')
}

/// Whether a word is a keyword, in any case.
pub fn is_keyword(word: &str) -> bool {
    all().any(|keyword| keyword.eq_ignore_ascii_case(word))
}

/// Whether a table or view is named behind this word.
pub fn comes_before_relation(word: &str) -> bool {
    BEFORE_RELATIONS.split(' ').any(|w| w.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_told_in_any_case() {
        assert!(is_keyword("Select") && is_keyword("access") && is_keyword("year"));
        assert!(!is_keyword("lineitem") && !is_keyword(""));
        assert!(comes_before_relation("FROM") && !comes_before_relation("select"));
    }
}
