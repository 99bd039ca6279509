//! varchar(n): text of at most n characters.

use super::{
    CatalogRow, Category, ConstantForm, Counts, DEFAULT_COLLATION, Kind, Measures, NativeOf, Order, SentText, TypeInfo,
    number_overflow, text_length, text_modifier, write_text,
};
use super::wire;
use crate::logical_type::WITHOUT_LENGTH;
use crate::value_ops::{CastLength, to_string_type};
use crate::{LogicalType, NativeType, SqlState};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Varchar,
    oid: 1043,
    typname: "varchar",
    name: "character varying",
    typlen: -1,
    catalog: CatalogRow::base(
        "S",
        ["i", "x"],
        [(1046, "varcharin"), (1047, "varcharout"), (2432, "varcharrecv"), (2433, "varcharsend")],
    )
    .collated(DEFAULT_COLLATION)
    .modified([(2915, "varchartypmodin"), (2916, "varchartypmodout")]),
    modifier: text_modifier,
    measures: |ty| Measures::text(text_length(ty)),
    array_oid: 1015,
    array_name: "character varying[]",
    sql_names: &["varchar", "character varying", "char varying"],
    category: Category::String,
    is_preferred: false,
    is_stored: true,
    has_extremes: false,
    sum: |_| None,
    native: NativeOf::Always(NativeType::String),
    counts: Counts::Nothing,
    document: None,
    sent_text: Some(SentText::Whole),
    order: Order::Native,
    constant: ConstantForm::Quoted,
    show,
    of_modifiers,
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, ty| to_string_type(text, ty, CastLength::Refuse),
    write: write_text,
    send: wire::send_text,
    receive: wire::receive_text,
};

fn show(ty: LogicalType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match ty {
        LogicalType::Varchar(n) if n != WITHOUT_LENGTH => write!(f, "varchar({n})"),
        _ => f.write_str("varchar"),
    }
}

fn of_modifiers(modifiers: &[u32]) -> Option<LogicalType> {
    match *modifiers {
        [] => Some(LogicalType::Varchar(WITHOUT_LENGTH)),
        [n] => (n > 0 && n < WITHOUT_LENGTH).then_some(LogicalType::Varchar(n)),
        _ => None,
    }
}
