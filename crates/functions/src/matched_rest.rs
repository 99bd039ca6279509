//! Regular expressions that end in `.*` or `.*$`: whatever the part in front matches, the match reaches to the end of
//! the text. So the rest of the text need not be looked at. A `.` stands for every character, a newline, too.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// The part in front of the `.*` or `.*$` at the end of an expression in the syntax of the crate `regex`, which has no
/// options. `None` if the expression ends in anything else.
pub(crate) fn in_front_of_rest(expression: &str) -> Option<String> {
    let mut parser = ParserBuilder::new().dot_matches_new_line(true).build();
    let parsed = parser.parse(expression).ok()?;
    let HirKind::Concat(parts) = parsed.kind() else {
        return None;
    };
    let parts = match parts.split_last() {
        Some((last, others)) if matches!(last.kind(), HirKind::Look(Look::End)) => others,
        _ => &parts[..],
    };
    let (last, others) = parts.split_last()?;
    is_rest(last).then(|| Hir::concat(others.to_vec()).to_string())
}

/// True for `.*`.
fn is_rest(part: &Hir) -> bool {
    let HirKind::Repetition(repetition) = part.kind() else {
        return false;
    };
    let HirKind::Class(Class::Unicode(class)) = repetition.sub.kind() else {
        return false;
    };
    let is_any = matches!(class.ranges(), [all] if (all.start(), all.end()) == ('\0', char::MAX));
    is_any && (repetition.min, repetition.max, repetition.greedy) == (0, None, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::RegexBuilder;

    #[test]
    fn matches_and_groups_are_those_of_the_whole_expression() {
        let expressions = [
            "^https?://(?:www\\.)?([^/]+)/.*$",
            "(a+)(b?).*",
            "a|b.*$",
            "(a|bc?)(.*).*$",
            "x*.*$",
            "(a+?)b.*?$",
            "(a)\\.*$",
            "(b)[.*$]",
            "(c)(?-s:.*)$",
            "^(ü.)b.*$",
            ".*$",
            "(?i)(AB).*$",
            "(a+|b)+.*",
        ];
        let texts = [
            "",
            "https://www.site.com/page\n of it",
            "http://a/",
            "aab",
            "aabb\nab",
            "bcüxb",
            "üxb rest",
            "a.*$",
            "xxabc",
        ];
        let mut shortened = 0;
        for expression in expressions {
            let Some(front) = in_front_of_rest(expression) else {
                continue;
            };
            shortened += 1;
            let built = |e: &str| {
                RegexBuilder::new(e)
                    .dot_matches_new_line(true)
                    .build()
                    .expect("an expression")
            };
            let (whole, front) = (built(expression), built(&front));
            assert_eq!(whole.captures_len(), front.captures_len(), "{expression}");
            for text in texts {
                let (wanted, found) = (whole.captures(text), front.captures(text));
                assert_eq!(wanted.is_some(), found.is_some(), "{expression} {text}");
                let (Some(wanted), Some(found)) = (wanted, found) else {
                    continue;
                };
                assert_eq!(
                    wanted.get_match().range(),
                    found.get_match().start()..text.len(),
                    "{expression} {text}"
                );
                for group in 1..whole.captures_len() {
                    let range = |captures: &regex::Captures<'_>| captures.get(group).map(|m| m.range());
                    assert_eq!(range(&wanted), range(&found), "{expression} {text} {group}");
                }
            }
        }
        assert_eq!(shortened, 8);
    }
}
