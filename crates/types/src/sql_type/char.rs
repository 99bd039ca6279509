//! char(n): text whose blanks at the end do not count. One character is held as its code point (Data Blocks, section 3.3).

use super::{
    CatalogRow, Category, ConstantForm, Counts, DEFAULT_COLLATION, Kind, Measures, NativeOf, Order, SentText, TypeInfo,
    number_overflow, text_length, text_modifier, write_text,
};
use super::wire;
use crate::logical_type::WITHOUT_LENGTH;
use crate::value_ops::{CastLength, to_string_type};
use crate::{LogicalType, NativeType, SqlState, Value};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Char,
    oid: 1042,
    typname: "bpchar",
    name: "character",
    typlen: -1,
    catalog: CatalogRow::base(
        "S",
        ["i", "x"],
        [(1044, "bpcharin"), (1045, "bpcharout"), (2430, "bpcharrecv"), (2431, "bpcharsend")],
    )
    .collated(DEFAULT_COLLATION)
    .modified([(2913, "bpchartypmodin"), (2914, "bpchartypmodout")]),
    modifier: text_modifier,
    measures: |ty| Measures::text(text_length(ty)),
    array_oid: 1014,
    array_name: "character[]",
    sql_names: &["char", "character", "bpchar"],
    category: Category::String,
    is_preferred: false,
    is_stored: true,
    has_extremes: true,
    sum: |_| None,
    native: NativeOf::Length,
    counts: Counts::Nothing,
    document: None,
    sent_text: Some(SentText::Whole),
    order: Order::WithoutBlanks,
    constant: ConstantForm::Quoted,
    show,
    of_modifiers,
    range: |ty| (ty.native() == NativeType::I32).then_some((0, char::MAX as i128)),
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, ty| to_string_type(text, ty, CastLength::Refuse),
    write,
    send: wire::send_text,
    receive: wire::receive_text,
};

fn show(ty: LogicalType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match ty {
        LogicalType::Char(n) if n != WITHOUT_LENGTH => write!(f, "char({n})"),
        _ => f.write_str("bpchar"),
    }
}

fn of_modifiers(modifiers: &[u32]) -> Option<LogicalType> {
    match *modifiers {
        [] => Some(LogicalType::Char(WITHOUT_LENGTH)),
        [n] => (n > 0 && n < WITHOUT_LENGTH).then_some(LogicalType::Char(n)),
        _ => None,
    }
}

fn write(f: &mut dyn fmt::Write, value: &Value, ty: LogicalType) -> fmt::Result {
    match value {
        Value::Int(v) => {
            let point = u32::try_from(*v).ok().and_then(char::from_u32);
            f.write_char(point.unwrap_or('\u{fffd}'))
        }
        text => write_text(f, text, ty),
    }
}
