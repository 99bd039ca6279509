//! tid: where a version of a row is stored, a block of 32 bits and a place in the block of 16. It is held as one
//! integer, `block << 16 | place`, whose order is PostgreSQL's. [`RowId::to_tid`](crate::RowId::to_tid) makes the tid
//! of a row.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo, number_overflow,
    range, show_plain, write_integer,
};
use super::wire;
use crate::value_ops::invalid;
use crate::{LogicalType, NativeType, SqlState, Value};

/// Bits of the place in a block.
const PLACE_BITS: u32 = 16;
/// The last tid: the last place of the last block.
const LAST: i128 = (1 << (u32::BITS + PLACE_BITS)) - 1;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Tid,
    oid: 27,
    typname: "tid",
    name: "tid",
    typlen: 6,
    catalog: CatalogRow::base(
        "U",
        ["s", "p"],
        [(48, "tidin"), (49, "tidout"), (2438, "tidrecv"), (2439, "tidsend")],
    ),
    modifier: |_| -1,
    measures: |_| Measures::NOTHING,
    array_oid: 1010,
    array_name: "tid[]",
    sql_names: &["tid"],
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
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Tid),
    range: |_| range(0, LAST),
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read: |text, ty| {
        let tid = read(text).ok_or_else(|| invalid(ty, text))?;
        Ok(Value::Int(tid.into()))
    },
    write: |f, value, _| {
        write_integer(value, |v| write!(f, "({},{})", v >> PLACE_BITS, v & i128::from(u16::MAX)))
    },
    send: wire::send_tid,
    receive: wire::receive_tid,
};

/// Reads `(block,place)`, as PostgreSQL does: what comes before the numbers and behind the second parenthesis does not
/// count, and a negative block counts back from 2^32. `None` for what is not a tid.
fn read(text: &str) -> Option<i64> {
    let (before, _) = text.split_once(')')?;
    let first = before.find(['(', ','])? + 1;
    let (block, place) = before[first..].split_once(',')?;
    let block = number(block)?;
    let block = u32::try_from(block).or_else(|_| i32::try_from(block).map(|block| block as u32));
    let place = u16::try_from(number(place)?).ok()?;
    Some(i64::from(block.ok()?) << PLACE_BITS | i64::from(place))
}

/// Reads a number, before which there may be blanks and a sign. No digits are 0, as in C's `strtoul`.
fn number(text: &str) -> Option<i64> {
    match text.trim_start_matches(|c: char| c.is_ascii_whitespace()) {
        "" => text.is_empty().then_some(0),
        digits => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_postgresql_reads() {
        let written = |text| {
            let read = (INFO.read)(text, LogicalType::Tid);
            read.map(|v| v.display(LogicalType::Tid).to_string()).map_err(|e| e.state().0)
        };
        for (text, wanted) in [
            ("(0,1)", "(0,1)"),
            ("(4294967295,65535)", "(4294967295,65535)"),
            ("( 7, 8)", "(7,8)"),
            ("(-1,0)", "(4294967295,0)"),
            ("x(1,2)y", "(1,2)"),
            ("(,)", "(0,0)"),
        ] {
            assert_eq!(written(text), Ok(wanted.to_string()), "{text}");
        }
        for text in ["", "1,2", "(1,2", "(1)", "(1,65536)", "(4294967296,0)", "(a,1)", "(1,1x)", "(1 ,2)"] {
            assert_eq!(written(text), Err("22P02"), "{text}");
        }
    }

    #[test]
    fn bytes_are_block_and_place() {
        let value = (INFO.read)("(258,3)", LogicalType::Tid).unwrap();
        let mut bytes = Vec::new();
        (INFO.send)(&mut bytes, &value, LogicalType::Tid).unwrap();
        assert_eq!(bytes, [0, 0, 1, 2, 0, 3]);
        assert_eq!((INFO.receive)(&bytes, LogicalType::Tid).unwrap(), value);
        assert!((INFO.receive)(&bytes[1..], LogicalType::Tid).is_err());
    }
}
