//! time: microseconds since midnight, without a zone, up to 24:00.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, NativeOf, Order, TypeInfo, datetime_overflow, range,
    rounded, second_digits, second_measures, second_modifier, show_second_digits, write_integer,
};
use super::wire;
use crate::date::{MICROS_PER_DAY, write_clock};
use crate::date_input::parse_time;
use crate::{LogicalType, NativeType, SqlState};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Time,
    oid: 1083,
    typname: "time",
    name: "time without time zone",
    typlen: 8,
    catalog: CatalogRow::base(
        "D",
        ["d", "p"],
        [(1143, "time_in"), (1144, "time_out"), (2470, "time_recv"), (2471, "time_send")],
    )
    .modified([(2909, "timetypmodin"), (2910, "timetypmodout")]),
    modifier: second_modifier,
    measures: second_measures,
    array_oid: 1183,
    array_name: "time without time zone[]",
    sql_names: &["time", "time without time zone"],
    category: Category::DateTime,
    is_preferred: false,
    is_stored: true,
    has_extremes: true,
    sum: |_| None,
    native: NativeOf::Always(NativeType::I64),
    counts: Counts::DayMicros,
    document: None,
    sent_text: None,
    order: Order::Native,
    constant: ConstantForm::Named,
    show: show_second_digits,
    of_modifiers: |m| second_digits(m).map(LogicalType::Time),
    range: |_| range(0, MICROS_PER_DAY as i128),
    overflow_state: SqlState::DATETIME_OVERFLOW,
    overflow: datetime_overflow,
    read: |text, ty| parse_time(text).and_then(|micros| rounded(micros, ty)),
    write: |f, value, _| write_integer(value, |v| write_clock(f, v as u64)),
    send: wire::send_i64,
    receive: wire::receive_time,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value_ops::read;

    #[test]
    fn reads_what_postgresql_reads() {
        let shown = |text: &str| {
            let value = read(text, LogicalType::TIME)?;
            Ok::<_, crate::Error>(value.display(LogicalType::TIME).to_string())
        };
        for (text, time) in [
            ("24:00:00", "24:00:00"),
            ("23:59:60", "24:00:00"),
            ("23:59:59.9999999", "24:00:00"),
            ("040506", "04:05:06"),
            ("040506.25", "04:05:06.25"),
            ("0405", "04:05:00"),
            ("04:05 PM", "16:05:00"),
            ("12:00 am", "00:00:00"),
            ("00:00 am", "00:00:00"),
            ("12:30pm", "12:30:00"),
            ("04:05:06.789-8", "04:05:06.789"),
            ("04:05:06+05:30", "04:05:06"),
            ("4:5", "04:05:00"),
            ("allballs", "00:00:00"),
            ("2020-01-01 10:11:12", "10:11:12"),
            ("10:11:12.1234567", "10:11:12.123457"),
            ("10:00z", "10:00:00"),
            (" 10:00 ", "10:00:00"),
            ("T10:00", "10:00:00"),
        ] {
            assert_eq!(shown(text).unwrap(), time, "{text}");
        }
        for (text, state) in [
            ("24:00:01", "22008"),
            ("25:00", "22008"),
            ("10:60", "22008"),
            ("13:00 PM", "22008"),
            ("x", "22007"),
            ("", "22007"),
            ("12", "22007"),
            ("1000000", "22007"),
            ("2020-01-01", "22007"),
            ("10:00 Europe/Berlin", "22007"),
            ("10:00:00:00", "22007"),
            ("-10:00", "22007"),
        ] {
            assert_eq!(shown(text).unwrap_err().state().0, state, "{text}");
        }
    }
}
