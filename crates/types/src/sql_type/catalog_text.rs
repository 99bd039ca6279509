//! The facts that `name` and `"char"` share: texts of the system tables, cut to their length.

use super::wire;
use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, SentText, TypeInfo,
    number_overflow, show_plain, write_text,
};
use crate::value_ops::{CastLength, to_string_type};
use crate::{NativeType, SqlState};

/// The facts that both share. Each file states the others.
pub(super) const FORM: TypeInfo = TypeInfo {
    kind: Kind::Name,
    oid: 0,
    typname: "",
    name: "",
    typlen: 0,
    catalog: CatalogRow::base("S", ["c", "p"], [(0, ""); 4]),
    modifier: |_| -1,
    measures: |_| Measures::NOTHING,
    array_oid: 0,
    array_name: "",
    sql_names: &[],
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
    show: show_plain,
    of_modifiers: |_| None,
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, ty| to_string_type(text, ty, CastLength::Cut),
    write: write_text,
    send: wire::send_text,
    receive: wire::receive_text,
};
