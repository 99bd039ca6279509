//! boolean.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo, number_overflow,
    show_plain,
};
use super::wire;
use crate::value_ops::{invalid, trimmed};
use crate::{LogicalType, NativeType, Result, SqlState, Value};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Boolean,
    oid: 16,
    typname: "bool",
    name: "boolean",
    typlen: 1,
    catalog: CatalogRow::base(
        "B",
        ["c", "p"],
        [(1242, "boolin"), (1243, "boolout"), (2436, "boolrecv"), (2437, "boolsend")],
    ).preferred(),
    modifier: |_| -1,
    measures: |_| Measures::NOTHING,
    array_oid: 1000,
    array_name: "boolean[]",
    sql_names: &["boolean", "bool"],
    category: Category::Boolean,
    is_preferred: true,
    is_stored: true,
    has_extremes: false,
    sum: |_| None,
    native: NativeOf::Always(NativeType::Bool),
    counts: Counts::Nothing,
    document: None,
    sent_text: None,
    order: Order::Native,
    constant: ConstantForm::Bare,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Boolean),
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, _| read_boolean(text).map(Value::Bool),
    write,
    send: wire::send_boolean,
    receive: wire::receive_boolean,
};

/// One letter, as results show it; a cast to text spells the word out.
fn write(f: &mut dyn fmt::Write, value: &Value, _: LogicalType) -> fmt::Result {
    let Value::Bool(b) = value else {
        return Err(fmt::Error);
    };
    f.write_str(if *b { "t" } else { "f" })
}

/// Reads a boolean: a word for it, or the beginning of one. Error 22P02.
pub fn read_boolean(text: &str) -> Result<bool> {
    let word = trimmed(text).to_ascii_lowercase();
    let short_for = |whole: &str, least: usize| word.len() >= least && whole.starts_with(&word);
    if word == "1" || short_for("true", 1) || short_for("yes", 1) || word == "on" {
        Ok(true)
    } else if word == "0" || short_for("false", 1) || short_for("no", 1) || short_for("off", 2) {
        Ok(false)
    } else {
        Err(invalid(LogicalType::Boolean, text))
    }
}
