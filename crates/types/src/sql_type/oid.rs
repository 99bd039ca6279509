//! oid: the number of an object, 32 bits without a sign.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo, range, show_plain,
    write_integer,
};
use super::wire;
use crate::value_ops::invalid;
use crate::{Error, LogicalType, NativeType, Result, SqlState, Value};

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Oid,
    oid: 26,
    typname: "oid",
    name: "oid",
    typlen: 4,
    catalog: CatalogRow::base(
        "N",
        ["i", "p"],
        [(1798, "oidin"), (1799, "oidout"), (2418, "oidrecv"), (2419, "oidsend")],
    ).preferred(),
    modifier: |_| -1,
    measures: |_| Measures::NOTHING,
    array_oid: 1028,
    array_name: "oid[]",
    sql_names: &["oid"],
    category: Category::UserDefined,
    is_preferred: false,
    is_stored: true,
    has_extremes: true,
    sum: |_| None,
    native: NativeOf::Always(NativeType::I64),
    counts: Counts::Nothing,
    document: None,
    sent_text: None,
    order: Order::Native,
    constant: ConstantForm::Named,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Oid),
    range: |_| range(0, u32::MAX as i128),
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: |_| Error::new(SqlState::NUMERIC_OUT_OF_RANGE, "OID out of range"),
    read: |text, ty| read_unsigned(text, ty).map(|oid| Value::Int(oid.into())),
    write: |f, value, _| write_integer(value, |v| write!(f, "{v}")),
    send: wire::send_oid,
    receive: wire::receive_oid,
};

/// Reads a number; a negative one of 32 bits counts back from 2^32, as in PostgreSQL. Errors 22P02, 22003.
pub(super) fn read_unsigned(text: &str, ty: LogicalType) -> Result<u32> {
    let digits = text.trim_matches(|c: char| c.is_ascii_whitespace());
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return Err(invalid(ty, text));
    }
    let beyond = || {
        let message = format!("value \"{text}\" is out of range for type {}", ty.name());
        Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message)
    };
    match digits.parse::<i64>() {
        Ok(v @ 0..) => u32::try_from(v).map_err(|_| beyond()),
        Ok(v) => i32::try_from(v).map(|v| v as u32).map_err(|_| beyond()),
        Err(_) => Err(beyond()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_postgresql_reads() {
        let number = |text| read_unsigned(text, LogicalType::Oid).map_err(|e| e.state().0);
        for (text, wanted) in [("0", 0), (" 7 ", 7), ("4294967295", u32::MAX), ("-1", u32::MAX)] {
            assert_eq!(number(text), Ok(wanted), "{text}");
        }
        for text in ["4294967296", "-2147483649", "99999999999999999999"] {
            assert_eq!(number(text), Err("22003"), "{text}");
        }
        for text in ["", "x", "1x", "1.5", "--1", "-"] {
            assert_eq!(number(text), Err("22P02"), "{text}");
        }
    }
}
