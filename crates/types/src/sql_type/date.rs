//! date: days since 1970-01-01.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo, datetime_overflow,
    range, show_plain, write_integer,
};
use super::wire;
use crate::date::write_date;
use crate::date_input::parse_date;
use crate::{LogicalType, NativeType, SqlState, Value};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Date,
    oid: 1082,
    typname: "date",
    name: "date",
    typlen: 4,
    catalog: CatalogRow::base(
        "D",
        ["i", "p"],
        [(1084, "date_in"), (1085, "date_out"), (2468, "date_recv"), (2469, "date_send")],
    ),
    modifier: |_| -1,
    measures: |_| Measures::moment(0),
    array_oid: 1182,
    array_name: "date[]",
    sql_names: &["date"],
    category: Category::DateTime,
    is_preferred: false,
    is_stored: true,
    has_extremes: true,
    sum: |_| None,
    native: NativeOf::Always(NativeType::I32),
    counts: Counts::Days,
    document: None,
    sent_text: None,
    order: Order::Native,
    constant: ConstantForm::Named,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Date),
    range: |_| range(i32::MIN as i128, i32::MAX as i128),
    overflow_state: SqlState::DATETIME_OVERFLOW,
    overflow: datetime_overflow,
    read: |text, _| parse_date(text).map(|days| Value::Int(days.into())),
    write: |f, value, _| write_integer(value, |v| write_date(f, v as i32)),
    send: wire::send_date,
    receive: wire::receive_date,
};
