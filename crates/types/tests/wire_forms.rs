//! Binary forms of values: what is sent is received, as PostgreSQL's `send` functions write it.

use frazil_testkit::Random;
use frazil_types::sql_type::{numeric_text, send_sized};
use frazil_types::{Kind, LogicalType, SqlState, Value};

fn ty(text: &str) -> LogicalType {
    LogicalType::parse(text).unwrap_or_else(|| panic!("no type {text}"))
}

fn read(text: &str, ty: LogicalType) -> Value {
    (ty.info().read)(text, ty).unwrap_or_else(|e| panic!("{ty} {text}: {e:?}"))
}

fn sent(value: &Value, ty: LogicalType) -> Vec<u8> {
    let mut out = Vec::new();
    (ty.info().send)(&mut out, value, ty).unwrap_or_else(|e| panic!("{ty} {value:?}: {e:?}"));
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// PostgreSQL 15's answers to `select encode(TYPEsend(VALUE::TYPE), 'hex')`, with the array oids of the built-in types.
const RECORDED: &str = include_str!("recorded/wire_forms.txt");

#[test]
fn values_are_sent_as_postgresql_sends_them() {
    let mut lines = 0;
    for line in RECORDED.lines() {
        let [name, text, bytes] = line.split('|').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let ty = ty(name);
        let value = read(text, ty);
        assert_eq!(hex(&sent(&value, ty)), bytes, "{line}");
        let received = (ty.info().receive)(&sent(&value, ty), ty);
        assert_eq!(
            received.unwrap_or_else(|e| panic!("{line}: {e:?}")),
            value,
            "{line}"
        );
        lines += 1;
    }
    assert!(lines > 60, "{lines}");
}

/// Types of values that are held as integers, with a seed that becomes a value of each.
fn of_integer(kind: Kind, seed: i128) -> Option<(LogicalType, Value)> {
    let ty = match kind {
        Kind::Numeric => LogicalType::Decimal {
            precision: 38,
            scale: (seed & 31) as u8,
        },
        other => other.plain()?,
    };
    let (least, greatest) = match kind {
        Kind::Char | Kind::Enum => return None,
        Kind::Uuid => (i128::MIN, i128::MAX),
        Kind::Time => (0, 86_400_000_000),
        Kind::Date => (-2_440_588, 2_145_042_905),
        Kind::Timestamp | Kind::TimestampTz => (-210_866_803_200_000_000, 9_223_371_331_200_000_000),
        _ => (ty.info().range)(ty)?,
    };
    let value = match (least, greatest) {
        (i128::MIN, i128::MAX) => seed,
        (_, greatest) if kind == Kind::Numeric => seed % (greatest + 1),
        (least, greatest) => least + seed.rem_euclid(greatest - least),
    };
    Some((ty, Value::Int(value)))
}

/// A number of any length of bits, in either sign.
fn seed(random: &mut Random) -> i128 {
    let wide = i128::from(random.bits()) << 64 | i128::from(random.bits());
    wide >> random.below(127)
}

#[test]
fn integers_of_every_type_are_received_as_they_were_sent() {
    let mut random = Random::new(51);
    for _ in 0..2_000 {
        let seed = seed(&mut random);
        for kind in Kind::ALL {
            let Some((ty, value)) = of_integer(kind, seed) else {
                continue;
            };
            let bytes = sent(&value, ty);
            let received = (ty.info().receive)(&bytes, ty);
            assert_eq!(received.ok(), Some(value.clone()), "{ty} {value:?}");
            let width = i64::from(ty.info().typlen);
            assert!(width == -1 || width == bytes.len() as i64, "{ty}");
            let array = ty.array().unwrap();
            let list = frazil_types::array::encode_list(&[value, Value::Null], ty).unwrap();
            let list = Value::Bytes(list);
            let received = (array.info().receive)(&sent(&list, array), array);
            assert_eq!(received.ok(), Some(list), "{array}");
        }
    }
}

#[test]
fn numerics_are_the_same_number_in_binary_and_text() {
    let mut random = Random::new(52);
    for _ in 0..5_000 {
        let scale = random.below(39) as u8;
        let ty = LogicalType::Decimal { precision: 38, scale };
        let value = Value::Int(seed(&mut random) % 10i128.pow(38));
        let text = numeric_text(&sent(&value, ty)).unwrap();
        assert_eq!(read(&text, ty), value, "{ty} {text}");
        // Numerics keep their own digits after the point.
        let unscaled = LogicalType::Numeric;
        let value = read(&value.display(ty).to_string(), unscaled);
        let received = (unscaled.info().receive)(&sent(&value, unscaled), unscaled);
        assert_eq!(received.unwrap(), value, "{text}");
    }
}

#[test]
fn bytes_that_are_no_value_are_an_error() {
    let mut random = Random::new(53);
    for _ in 0..500 {
        let bytes: Vec<u8> = (0..random.below(40)).map(|_| random.bits() as u8).collect();
        for kind in Kind::ALL {
            let plain = match kind {
                Kind::Numeric => Some(ty("decimal(12,2)")),
                other => other.plain(),
            };
            let array = plain.and_then(LogicalType::array);
            for ty in [plain, array].into_iter().flatten() {
                check_refusal(&bytes, ty);
                let Ok(value) = (ty.info().read)("1", ty) else {
                    continue;
                };
                let mut whole = sent(&value, ty);
                let at = random.index(whole.len());
                check_refusal(&whole[..at], ty);
                whole[at] ^= random.bits() as u8;
                check_refusal(&whole, ty);
            }
        }
    }
}

/// Bytes are a value that can be shown, or an error that blames them.
fn check_refusal(bytes: &[u8], ty: LogicalType) {
    match (ty.info().receive)(bytes, ty) {
        Ok(value) => drop(value.display(ty).to_string()),
        Err(error) => assert_ne!(error.state(), SqlState::INTERNAL_ERROR, "{ty}: {error:?}"),
    }
}

#[test]
fn null_has_a_length_of_minus_one() {
    let mut out = Vec::new();
    send_sized(&mut out, &Value::Null, LogicalType::Integer).unwrap();
    send_sized(&mut out, &Value::Int(7), LogicalType::Integer).unwrap();
    assert_eq!(hex(&out), "ffffffff0000000400000007");
}

#[test]
fn lengths_texts_and_versions_are_checked() {
    let state = |name: &str, bytes: &[u8]| {
        let ty = ty(name);
        (ty.info().receive)(bytes, ty).map_err(|e| e.state())
    };
    assert_eq!(state("integer", &[0; 3]), Err(SqlState::INVALID_BINARY));
    assert_eq!(state("bigint", &[0; 9]), Err(SqlState::INVALID_BINARY));
    assert_eq!(state("text", &[0xff]), Err(SqlState::CHARACTER_NOT_IN_REPERTOIRE));
    assert_eq!(state("text", b"a\0"), Err(SqlState::CHARACTER_NOT_IN_REPERTOIRE));
    assert_eq!(state("jsonb", b"\x02{}"), Err(SqlState::INVALID_BINARY));
    assert_eq!(state("jsonb", b""), Err(SqlState::INVALID_BINARY));
    assert_eq!(state("varchar(2)", b"abc"), Err(SqlState::STRING_TRUNCATION));
    assert_eq!(
        state("time", &(-1i64).to_be_bytes()),
        Err(SqlState::DATETIME_OVERFLOW)
    );
    assert_eq!(
        state("timestamp", &(i64::MAX - 1).to_be_bytes()),
        Err(SqlState::DATETIME_OVERFLOW)
    );
    // Dimensions that promise more elements than there are bytes take no memory for them.
    let mut huge = vec![0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23];
    huge.extend([0x07, 0xff, 0xff, 0xff, 0, 0, 0, 1]);
    assert_eq!(state("integer[]", &huge), Err(SqlState::INVALID_BINARY));
    assert_eq!(
        state("text[]", &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 23]),
        Err(SqlState::DATATYPE_MISMATCH)
    );
}
