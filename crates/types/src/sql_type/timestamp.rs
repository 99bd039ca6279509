//! timestamp: microseconds since 1970-01-01 00:00:00, without a zone.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, NativeOf, Order, TypeInfo, datetime_overflow, range,
    rounded, second_digits, second_measures, second_modifier, show_second_digits, write_integer,
};
use super::wire;
use crate::date::write_timestamp;
use crate::date_input::parse_timestamp;
use crate::{LogicalType, NativeType, SqlState};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Timestamp,
    oid: 1114,
    typname: "timestamp",
    name: "timestamp without time zone",
    typlen: 8,
    catalog: CatalogRow::base(
        "D",
        ["d", "p"],
        [(1312, "timestamp_in"), (1313, "timestamp_out"), (2474, "timestamp_recv"), (2475, "timestamp_send")],
    )
    .modified([(2905, "timestamptypmodin"), (2906, "timestamptypmodout")]),
    modifier: second_modifier,
    measures: second_measures,
    array_oid: 1115,
    array_name: "timestamp without time zone[]",
    sql_names: &["timestamp", "timestamp without time zone"],
    category: Category::DateTime,
    is_preferred: false,
    is_stored: true,
    has_extremes: true,
    sum: |_| None,
    native: NativeOf::Always(NativeType::I64),
    counts: Counts::Micros,
    document: None,
    sent_text: None,
    order: Order::Native,
    constant: ConstantForm::Named,
    show: show_second_digits,
    of_modifiers: |m| second_digits(m).map(LogicalType::Timestamp),
    range: |_| range(i64::MIN as i128, i64::MAX as i128),
    overflow_state: SqlState::DATETIME_OVERFLOW,
    overflow: datetime_overflow,
    read: |text, ty| parse_timestamp(text).and_then(|micros| rounded(micros, ty)),
    write: |f, value, _| write_integer(value, |v| write_timestamp(f, v as i64)),
    send: wire::send_timestamp,
    receive: wire::receive_timestamp,
};
