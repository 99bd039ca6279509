//! Literals of a kept text that get their types from what is beside them. Before a column gets another type, the text
//! says the types that its literals have: otherwise they would be read anew as values of the new type.

use frazil_functions::Operand;
use frazil_plan::{Expr, ExprKind};
use frazil_types::LogicalType;
use std::collections::BTreeMap;
use std::ops::Range;

/// The text with a cast behind each quoted literal that the bound expression has as a constant.
pub(super) fn with_types(text: &str, bound: &Operand) -> String {
    let mut casts: BTreeMap<usize, String> = BTreeMap::new();
    if let Operand::Typed(bound) = bound {
        bound.walk(&mut |part: &Expr| {
            let place = part.span.start as usize..part.span.end as usize;
            let is_literal = |place: Range<usize>| text.get(place).is_some_and(is_literal);
            let (ty, places) = if matches!(part.kind, ExprKind::Constant(_)) && is_literal(place.clone()) {
                (part.ty, vec![place])
            } else if let ExprKind::InList { value, .. } = &part.kind {
                // The constants of a list have no places of their own.
                (value.ty, literals(text, value.span.end as usize..place.end))
            } else {
                return;
            };
            if let Some(name) = name(ty) {
                casts.extend(places.into_iter().map(|place| (place.end, format!("::{name}"))));
            }
        });
    }
    let mut text = text.to_owned();
    for (at, cast) in casts.into_iter().rev() {
        text.insert_str(at, &cast);
    }
    text
}

/// A literal of a type: the text of a number as it is, any other text in quotes with a cast.
pub(super) fn literal(text: &str, ty: LogicalType) -> String {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let digits = text.strip_prefix('-').unwrap_or(text);
    if ty.is_numeric() && digits.chars().all(is_digit) {
        return text.to_owned();
    }
    let quoted = format!("'{}'", text.replace('\'', "''"));
    match name(ty) {
        Some(name) => format!("{quoted}::{name}"),
        None => quoted,
    }
}

/// True for the text of one quoted literal.
fn is_literal(text: &str) -> bool {
    let inside = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    inside.is_some_and(|inside| !inside.replace("''", "").contains('\''))
}

/// The places of the quoted literals in a part of a text, without those that say their types before or behind.
fn literals(text: &str, within: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some(part) = text.get(within.clone()) else {
        return found;
    };
    let bytes = part.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\'' {
            at += 1;
            continue;
        }
        let start = at;
        at += 1;
        while at < bytes.len() && (bytes[at] != b'\'' || bytes.get(at + 1) == Some(&b'\'')) {
            at += if bytes[at] == b'\'' { 2 } else { 1 };
        }
        at += 1;
        let before = part[..start].trim_end().chars().next_back();
        let is_bare = before.is_some_and(|c| c == '(' || c == ',');
        let behind = part.get(at..).unwrap_or_default().trim_start();
        if is_bare && !behind.starts_with("::") && at <= bytes.len() {
            found.push(within.start + start..within.start + at);
        }
    }
    found
}

/// The name of a type without its modifiers, which would change a value; `None` for an enumeration, whose name depends
/// on the search path, and for an array of padded texts.
fn name(ty: LogicalType) -> Option<&'static str> {
    if ty.enumeration_within().is_some() {
        return None;
    }
    match ty.element() {
        Some(element) if element.is_padded() => None,
        None if ty.is_padded() => Some("bpchar"),
        None if ty.is_text() && ty.length().is_some() => Some("text"),
        _ => Some(ty.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_a_list_are_found_without_those_that_have_types() {
        let text = "c in ('a', 'it''s', date 'd', 'e'::text, ',')";
        let found = literals(text, 1..text.len());
        let found: Vec<&str> = found.into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, ["'a'", "'it''s'", "','"]);
        assert!(is_literal("'it''s'") && !is_literal("'a' = 'b'") && !is_literal("E'a'"));
    }
}
