//! jsonpath: a path in documents, kept as it was written: what PostgreSQL shows of it may be read as another one. It is held as
//! bytes, and has neither order nor equality.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, SentText, TypeInfo, number_overflow,
    show_plain,
};
use super::wire;
use crate::json::Path;
use crate::{LogicalType, NativeType, Result, SqlState, Value};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::JsonPath,
    oid: 4072,
    typname: "jsonpath",
    name: "jsonpath",
    typlen: -1,
    catalog: CatalogRow::base(
        "U",
        ["i", "x"],
        [(4001, "jsonpath_in"), (4003, "jsonpath_out"), (4002, "jsonpath_recv"), (4004, "jsonpath_send")],
    ),
    modifier: |_| -1,
    measures: |_| Measures::NOTHING,
    array_oid: 4073,
    array_name: "jsonpath[]",
    sql_names: &["jsonpath"],
    category: Category::UserDefined,
    is_preferred: false,
    is_stored: true,
    has_extremes: false,
    sum: |_| None,
    native: NativeOf::Always(NativeType::String),
    counts: Counts::Nothing,
    document: None,
    sent_text: Some(SentText::Versioned),
    order: Order::Absent,
    constant: ConstantForm::Named,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::JsonPath),
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, _| read(text),
    write,
    send: wire::send_document,
    receive: wire::receive_document,
};

/// Keeps a text that is a path. Errors as of [`Path::new`].
fn read(text: &str) -> Result<Value> {
    Path::new(text)?;
    Ok(Value::Bytes(text.as_bytes().to_owned()))
}

fn write(f: &mut dyn fmt::Write, value: &Value, _: LogicalType) -> fmt::Result {
    let text = value.as_bytes().and_then(|bytes| std::str::from_utf8(bytes).ok());
    let path = Path::new(text.ok_or(fmt::Error)?).map_err(|_| fmt::Error)?;
    write!(f, "{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_with_quotes_and_parentheses() {
        for (text, shown) in [
            ("$.a", "$.\"a\""),
            (
                "strict $ . b [ 1 to last, 3] + 1.50",
                "strict ($.\"b\"[1 to last,3] + 1.50)",
            ),
            ("+-1", "-1"),
            ("(exists($)) is unknown", "(exists ($)) is unknown"),
            ("($.a + 1).b", "($.\"a\" + 1).\"b\""),
            ("$.TRUE.**{2 to last}", "$.\"TRUE\".**{2 to last}"),
            (
                "$ ? (!(@ == 1) && exists(@.a) || (@ <> 2) is unknown)",
                "$?(!(@ == 1) && exists (@.\"a\") || (@ != 2) is unknown)",
            ),
        ] {
            let value = read(text).unwrap();
            assert_eq!(value.display(LogicalType::JsonPath).to_string(), shown);
        }
        assert_eq!(read("").unwrap_err().state(), SqlState::INVALID_TEXT);
        assert_eq!(read("$.a[").unwrap_err().state(), SqlState::SYNTAX_ERROR);
    }

    /// A level takes a few kilobytes of stack in a program that is not optimized. Threads of the server have 8 MB, too.
    #[test]
    fn a_path_that_nests_too_deeply_is_refused() {
        let refused = std::thread::Builder::new().stack_size(8 << 20).spawn(|| {
            let deep = format!("{}1{}", "(".repeat(10_000), ")".repeat(10_000));
            assert_eq!(read(&deep).unwrap_err().state(), SqlState::STATEMENT_TOO_COMPLEX);
        });
        refused.unwrap().join().unwrap();
    }
}
