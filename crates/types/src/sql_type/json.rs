//! json: a text that is JSON, kept as it was written. It is held as bytes, and has neither order nor equality.

use super::{
    CatalogRow, Category, ConstantForm, Counts, DocumentForm, Kind, Measures, NativeOf, Order, SentText, TypeInfo,
    number_overflow, show_plain,
};
use super::wire;
use crate::{LogicalType, NativeType, Result, SqlState, Value, json};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Json,
    oid: 114,
    typname: "json",
    name: "json",
    typlen: -1,
    catalog: CatalogRow::base(
        "U",
        ["i", "x"],
        [(321, "json_in"), (322, "json_out"), (323, "json_recv"), (324, "json_send")],
    ),
    modifier: |_| -1,
    measures: |_| Measures::NOTHING,
    array_oid: 199,
    array_name: "json[]",
    sql_names: &["json"],
    category: Category::UserDefined,
    is_preferred: false,
    is_stored: true,
    has_extremes: false,
    sum: |_| None,
    native: NativeOf::Always(NativeType::String),
    counts: Counts::Nothing,
    document: Some(DocumentForm::Text),
    sent_text: Some(SentText::Whole),
    order: Order::Absent,
    constant: ConstantForm::Named,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Json),
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, _| read(text),
    write,
    send: wire::send_text,
    receive: wire::receive_text,
};

/// Keeps a text that is JSON. Errors 22P02, 54001.
fn read(text: &str) -> Result<Value> {
    json::check(text)?;
    Ok(Value::Bytes(text.as_bytes().to_owned()))
}

fn write(f: &mut dyn fmt::Write, value: &Value, _: LogicalType) -> fmt::Result {
    let text = value.as_bytes().and_then(|bytes| std::str::from_utf8(bytes).ok());
    f.write_str(text.ok_or(fmt::Error)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_as_it_was_written() {
        for text in ["1.00", " {\"b\": 1, \"a\":  2, \"b\": 3}", "\"\\u0000\"", "[ ]"] {
            let value = read(text).unwrap();
            assert_eq!(value.display(LogicalType::Json).to_string(), text);
        }
        assert_eq!(read("[1,]").unwrap_err().state(), SqlState::INVALID_TEXT);
    }
}
