//! timestamp with time zone: instants, as microseconds since 1970-01-01 00:00 UTC, read and shown by the clock of a zone that the type
//! carries along and that columns do not have.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, NativeOf, Order, TypeInfo, datetime_overflow, range,
    rounded, second_digits, second_measures, second_modifier, show_second_digits, write_integer,
};
use super::wire;
use crate::date::write_instant;
use crate::date_input::parse_instant;
use crate::zone::Zone;
use crate::{LogicalType, NativeType, SqlState};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::TimestampTz,
    oid: 1184,
    typname: "timestamptz",
    name: "timestamp with time zone",
    typlen: 8,
    catalog: CatalogRow::base(
        "D",
        ["d", "p"],
        [(1150, "timestamptz_in"), (1151, "timestamptz_out"), (2476, "timestamptz_recv"), (2477, "timestamptz_send")],
    ).preferred()
    .modified([(2907, "timestamptztypmodin"), (2908, "timestamptztypmodout")]),
    modifier: second_modifier,
    measures: second_measures,
    array_oid: 1185,
    array_name: "timestamp with time zone[]",
    sql_names: &["timestamptz", "timestamp with time zone"],
    category: Category::DateTime,
    is_preferred: true,
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
    of_modifiers: |m| second_digits(m).map(|digits| LogicalType::TimestampTz(Zone::UTC, digits)),
    range: |_| range(i64::MIN as i128, i64::MAX as i128),
    overflow_state: SqlState::DATETIME_OVERFLOW,
    overflow: datetime_overflow,
    read: |text, ty| parse_instant(text, ty.zone()).and_then(|micros| rounded(micros, ty)),
    write: |f, value, ty| write_integer(value, |v| write_instant(f, v as i64, ty.zone())),
    send: wire::send_timestamp,
    receive: wire::receive_timestamp,
};
