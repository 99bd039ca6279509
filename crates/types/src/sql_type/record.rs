//! record: a row as one value, held as the text that PostgreSQL shows of it. The binder keeps rows as their columns as
//! long as it can: only results, casts to text and functions of any type see a record. It has neither order nor
//! equality, and no table stores it.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo, number_overflow,
    show_plain,
};
use super::wire;
use crate::{Error, LogicalType, NativeType, SqlState, Value};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Record,
    oid: 2249,
    typname: "record",
    name: "record",
    typlen: -1,
    catalog: CatalogRow::base(
        "P",
        ["d", "x"],
        [(2290, "record_in"), (2291, "record_out"), (2402, "record_recv"), (2403, "record_send")],
    ).pseudo(),
    modifier: |_| -1,
    measures: |_| Measures::NOTHING,
    array_oid: 2287,
    array_name: "record[]",
    sql_names: &["record"],
    category: Category::UserDefined,
    is_preferred: false,
    is_stored: false,
    has_extremes: false,
    sum: |_| None,
    native: NativeOf::Always(NativeType::String),
    counts: Counts::Nothing,
    document: None,
    sent_text: None,
    order: Order::Absent,
    constant: ConstantForm::Named,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Record),
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |_, _| Err(unread()),
    write,
    send: wire::send_nothing,
    receive: wire::receive_nothing,
};

/// Error 0A000: a text does not say which columns a row has.
fn unread() -> Error {
    let message = "input of anonymous composite types is not implemented";
    Error::new(SqlState::FEATURE_NOT_SUPPORTED, message)
}

fn write(f: &mut dyn fmt::Write, value: &Value, _: LogicalType) -> fmt::Result {
    let text = value.as_bytes().and_then(|bytes| std::str::from_utf8(bytes).ok());
    f.write_str(text.ok_or(fmt::Error)?)
}

/// Appends a field of a row to its text as PostgreSQL does: NULL is nothing, and a text is quoted if it is empty or has
/// quotes, backslashes, parentheses, commas or blanks, with quotes and backslashes doubled.
pub fn push_field(out: &mut String, text: Option<&str>) {
    let Some(text) = text else { return };
    let is_special = |c: char| matches!(c, '"' | '\\' | '(' | ')' | ',' | ' ' | '\t'..='\r');
    if !text.is_empty() && !text.contains(is_special) {
        out.push_str(text);
        return;
    }
    out.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push(c);
        }
        out.push(c);
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_postgresql_quotes_them() {
        for (text, shown) in [
            (None, ""),
            (Some(""), "\"\""),
            (Some("ab"), "ab"),
            (Some("a b"), "\"a b\""),
            (Some("a\u{a0}b"), "a\u{a0}b"),
            (Some("a\"b"), "\"a\"\"b\""),
            (Some("a\\b"), "\"a\\\\b\""),
            (Some("(1,2)"), "\"(1,2)\""),
            (Some("{1}"), "{1}"),
            (Some("'"), "'"),
        ] {
            let mut out = String::new();
            push_field(&mut out, text);
            assert_eq!(out, shown);
        }
        assert_eq!(unread().state(), SqlState::FEATURE_NOT_SUPPORTED);
    }
}
