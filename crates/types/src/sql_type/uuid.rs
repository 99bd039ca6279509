//! uuid: 128 bits, ordered as their bytes. They are held as the integer whose order that is: big-endian, the first bit flipped.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo, number_overflow,
    range, show_plain, write_integer,
};
use super::wire;
use crate::value_ops::invalid;
use crate::{LogicalType, NativeType, Result, SqlState, Value};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Uuid,
    oid: 2950,
    typname: "uuid",
    name: "uuid",
    typlen: 16,
    catalog: CatalogRow::base(
        "U",
        ["c", "p"],
        [(2952, "uuid_in"), (2953, "uuid_out"), (2961, "uuid_recv"), (2962, "uuid_send")],
    ),
    modifier: |_| -1,
    measures: |_| Measures::NOTHING,
    array_oid: 2951,
    array_name: "uuid[]",
    sql_names: &["uuid"],
    category: Category::UserDefined,
    is_preferred: false,
    is_stored: true,
    has_extremes: false,
    sum: |_| None,
    native: NativeOf::Always(NativeType::I128),
    counts: Counts::Nothing,
    document: None,
    sent_text: None,
    order: Order::Native,
    constant: ConstantForm::Named,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Uuid),
    range: |_| range(i128::MIN, i128::MAX),
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: number_overflow,
    read,
    write: |f, value, _| write_integer(value, |v| write(f, v)),
    send: wire::send_uuid,
    receive: wire::receive_uuid,
};

/// Turns the bytes of a uuid, as a big-endian number, into its native integer and back.
const FIRST_BIT: u128 = 1 << 127;

/// The native integer of a uuid's sixteen bytes.
pub fn of_bytes(bytes: [u8; 16]) -> i128 {
    (u128::from_be_bytes(bytes) ^ FIRST_BIT) as i128
}

/// The sixteen bytes of a uuid.
pub fn to_bytes(native: i128) -> [u8; 16] {
    (native as u128 ^ FIRST_BIT).to_be_bytes()
}

/// Reads 32 hexadecimal digits, in braces or not, with a hyphen or none behind each four of them. Error 22P02.
fn read(text: &str, ty: LogicalType) -> Result<Value> {
    let inner = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}'),
        None => Some(text),
    };
    let number = inner.and_then(digits).ok_or_else(|| invalid(ty, text))?;
    Ok(Value::Int((number ^ FIRST_BIT) as i128))
}

fn digits(text: &str) -> Option<u128> {
    let (mut number, mut count) = (0u128, 0);
    let mut is_behind_digit = false;
    for c in text.chars() {
        match c.to_digit(16) {
            Some(digit) if count < 32 => {
                number = number << 4 | u128::from(digit);
                count += 1;
                is_behind_digit = true;
            }
            None if c == '-' && is_behind_digit && count % 4 == 0 && count < 32 => is_behind_digit = false,
            _ => return None,
        }
    }
    (count == 32).then_some(number)
}

fn write(f: &mut dyn fmt::Write, native: i128) -> fmt::Result {
    let digits = format!("{:032x}", native as u128 ^ FIRST_BIT);
    let (a, b, c, d, e) = (&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]);
    write!(f, "{a}-{b}-{c}-{d}-{e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_postgresql_reads() {
        let written = |text| read(text, LogicalType::Uuid).map(|v| v.display(LogicalType::Uuid).to_string());
        let whole = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
        for text in [
            whole,
            "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
            "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
            "a0eebc999c0b4ef8bb6d6bb9bd380a11",
            "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
            "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}",
        ] {
            assert_eq!(written(text).unwrap(), whole, "{text}");
        }
        for text in [
            "",
            "not-a-uuid",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a111",
            "g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
            "a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11",
            "-a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11-",
            "a0e-ebc999c0b4ef8bb6d6bb9bd380a11",
            " a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        ] {
            let error = read(text, LogicalType::Uuid).unwrap_err();
            assert_eq!(error.state(), SqlState::INVALID_TEXT, "{text}");
        }
    }

    #[test]
    fn bytes_are_ordered_as_the_integers() {
        let texts = [
            "00000000-0000-0000-0000-000000000000",
            "7fffffff-ffff-ffff-ffff-ffffffffffff",
            "80000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
        ];
        let natives = texts.map(|text| read(text, LogicalType::Uuid).unwrap().to_wide());
        assert!(natives.is_sorted());
        assert_eq!(natives[0], i128::MIN);
        assert_eq!(natives.map(|native| of_bytes(to_bytes(native))), natives);
    }
}
