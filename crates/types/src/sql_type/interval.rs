//! interval: months, days and microseconds, which are compared by their length.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo, datetime_overflow,
    show_plain,
};
use super::wire;
use crate::date::write_interval;
use crate::logical_type::MICRO_DIGITS;
use crate::{LogicalType, NativeType, SqlState, Value, value_ops};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Interval,
    oid: 1186,
    typname: "interval",
    name: "interval",
    typlen: 16,
    catalog: CatalogRow::base(
        "T",
        ["d", "p"],
        [(1160, "interval_in"), (1161, "interval_out"), (2478, "interval_recv"), (2479, "interval_send")],
    ).preferred()
    .modified([(2903, "intervaltypmodin"), (2904, "intervaltypmodout")]),
    modifier: |_| -1,
    measures: |_| Measures::moment(u32::from(MICRO_DIGITS)),
    array_oid: 1187,
    array_name: "interval[]",
    sql_names: &["interval"],
    category: Category::Timespan,
    is_preferred: true,
    is_stored: true,
    has_extremes: false,
    sum: Some,
    native: NativeOf::Always(NativeType::I128),
    counts: Counts::Nothing,
    document: None,
    sent_text: None,
    order: Order::Span,
    constant: ConstantForm::Named,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Interval),
    range: |_| None,
    overflow_state: SqlState::DATETIME_OVERFLOW,
    overflow: datetime_overflow,
    read: |text, _| value_ops::parse_interval(text, None).map(Value::Interval),
    write,
    send: wire::send_interval,
    receive: wire::receive_interval,
};

fn write(f: &mut dyn fmt::Write, value: &Value, _: LogicalType) -> fmt::Result {
    let Value::Interval(i) = value else {
        return Err(fmt::Error);
    };
    write_interval(f, *i)
}
