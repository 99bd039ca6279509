//! The facts that regclass, regtype, regproc and regnamespace share: oids that show a name.

use super::named_oid::{read, write};
use super::wire;
use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NamedFunction, NativeOf, Order, TypeInfo,
    number_overflow, show_plain,
};
use crate::{NativeType, SqlState};

/// The facts that regclass and its like share. The others are regclass's, and each file states its own.
pub(super) const FORM: TypeInfo = TypeInfo {
    kind: Kind::Regclass,
    oid: 0,
    typname: "",
    name: "",
    typlen: 4,
    catalog: row([(0, ""); 4]),
    modifier: |_| -1,
    measures: |_| Measures::NOTHING,
    array_oid: 0,
    array_name: "",
    sql_names: &[],
    category: Category::UserDefined,
    is_preferred: false,
    is_stored: false,
    has_extremes: false,
    sum: |_| None,
    native: NativeOf::Always(NativeType::String),
    counts: Counts::Nothing,
    document: None,
    sent_text: None,
    order: Order::Key,
    constant: ConstantForm::Named,
    show: show_plain,
    of_modifiers: |_| None,
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read,
    write,
    send: wire::send_named_oid,
    receive: wire::receive_nothing,
};

/// The row of such a type with its functions.
pub(super) const fn row(input_output: [NamedFunction; 4]) -> CatalogRow {
    CatalogRow::base("N", ["i", "p"], input_output)
}
