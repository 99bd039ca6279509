//! Redo reads back as it was written; bytes that are not redo are errors.

use frazil_catalog::Position;
use frazil_storage::redo::{Change, LoadedBlock, RedoBuffer, changes};
use frazil_storage::{RedoPlace, SegmentPlace};
use frazil_testkit::Random;
use frazil_types::{ColumnVector, LogicalType, ObjectId, RowBatch, RowId, SqlState, Value};

const DECIMAL: LogicalType = LogicalType::Decimal {
    precision: 38,
    scale: 2,
};
const TYPES: [LogicalType; 11] = [
    LogicalType::Boolean,
    LogicalType::SmallInt,
    LogicalType::Integer,
    LogicalType::BigInt,
    DECIMAL,
    LogicalType::Double,
    LogicalType::Date,
    LogicalType::TIMESTAMP,
    LogicalType::Char(1),
    LogicalType::Varchar(40),
    LogicalType::Text,
];

fn value(ty: LogicalType, random: &mut Random) -> Value {
    match ty {
        LogicalType::Boolean => Value::Bool(random.below(2) == 1),
        LogicalType::Double => Value::Double(f64::from_bits(random.bits())),
        // As its code point.
        LogicalType::Char(_) => Value::Int(i128::from(['a', 'ü', '氷'][random.index(3)] as u32)),
        LogicalType::Varchar(_) | LogicalType::Text => Value::Text(
            "frazil ice, żółć, 氷"
                .chars()
                .cycle()
                .take(random.index(40))
                .collect(),
        ),
        LogicalType::SmallInt => Value::Int(i128::from(random.bits() as i16)),
        LogicalType::Integer | LogicalType::Date => Value::Int(i128::from(random.bits() as i32)),
        _ => Value::Int(i128::from(random.bits() as i64)),
    }
}

fn batch(rows: usize, random: &mut Random) -> RowBatch {
    let columns = TYPES.map(|ty| {
        let nulls = random.below(3);
        let values: Vec<Value> = (0..rows)
            .map(|_| match nulls > 0 && random.below(4) < nulls {
                true => Value::Null,
                false => value(ty, random),
            })
            .collect();
        ColumnVector::from_values(ty, &values)
    });
    RowBatch {
        columns: columns.to_vec(),
        rows,
    }
}

fn assert_same(read: &RowBatch, written: &RowBatch, from: usize) {
    for (read, written) in read.columns.iter().zip(&written.columns) {
        assert_eq!(read.ty(), written.ty());
        for row in 0..read.len() {
            let (a, b) = (read.value(row), written.value(from + row));
            let same = match (&a, &b) {
                (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
                _ => a == b,
            };
            assert!(same, "{a:?} {b:?} in a column of type {}", read.ty());
        }
    }
}

#[test]
fn rows_read_back() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let written = batch(1 + random.index(200), &mut random);
        let from = random.index(written.rows);
        let to = from + 1 + random.index(written.rows - from);
        let mut redo = RedoBuffer::default();
        redo.insert(ObjectId(7), RowId::new(3, 65_000), &written, from..to);
        let change = changes(redo.bytes()).next().unwrap().unwrap();
        let Change::Insert {
            table,
            first,
            columns,
        } = change
        else {
            panic!("{change:?}");
        };
        assert_eq!(
            (table, first, columns.rows()),
            (ObjectId(7), RowId::new(3, 65_000), to - from)
        );
        let read = columns.read(&TYPES).unwrap();
        assert_eq!(read.rows, to - from);
        assert_same(&read, &written, from);
        let mut other = TYPES;
        other[3] = LogicalType::Integer;
        assert_eq!(
            columns.read(&other).unwrap_err().state(),
            SqlState::DATA_CORRUPTED
        );
        assert_eq!(
            columns.read(&TYPES[1..]).unwrap_err().state(),
            SqlState::DATA_CORRUPTED
        );
    }
}

/// Redo of every kind.
fn all_kinds(random: &mut Random) -> RedoBuffer {
    let mut redo = RedoBuffer::default();
    redo.catalog(b"{\"tables\":[]}");
    let rows = batch(1 + random.index(20), random);
    redo.insert(ObjectId(1), RowId::new(0, 5), &rows, 0..rows.rows);
    redo.delete(ObjectId(1), &[RowId::new(0, 6), RowId::new(u32::MAX, u16::MAX)]);
    redo.removed(ObjectId(2), &[7, 8]);
    let block = LoadedBlock {
        chunk: 9,
        rows: 65_536,
        checksum: 0xc0de,
        place: SegmentPlace {
            segment: 3,
            offset: 64,
            bytes: 1 << 20,
        },
    };
    redo.load(ObjectId(3), block);
    redo.sequence(
        ObjectId(4),
        Position {
            value: -32,
            is_called: true,
        },
    );
    redo.elsewhere(&RedoPlace {
        place: SegmentPlace {
            segment: 5,
            offset: 128,
            bytes: 1 << 30,
        },
        checksum: 0xcafe,
        used: 1 << 29,
    });
    redo
}

/// A line for each change.
fn read(redo: &[u8]) -> Vec<String> {
    let lines = changes(redo).map(|change| match change.unwrap() {
        Change::Insert {
            table,
            first,
            columns,
        } => format!("insert {table:?} {first:?} {}", columns.rows()),
        Change::Catalog(bytes) => format!("catalog {}", String::from_utf8_lossy(bytes)),
        other => format!("{other:?}"),
    });
    lines.collect()
}

#[test]
fn changes_come_back_in_order_and_a_savepoint_is_a_length() {
    let mut redo = all_kinds(&mut Random::new(1));
    let lines = read(redo.bytes());
    assert_eq!(lines.len(), 7);
    assert_eq!(lines[0], "catalog {\"tables\":[]}");
    assert!(lines[1].starts_with("insert ObjectId(1) RowId(5)"), "{lines:?}");
    assert_eq!(
        lines[2],
        "Delete { table: ObjectId(1), rows: [RowId(6), RowId(281474976710655)] }"
    );
    assert_eq!(lines[3], "Removed { table: ObjectId(2), chunks: [7, 8] }");
    let block = "rows: 65536, checksum: 49374, place: SegmentPlace { segment: 3, offset: 64";
    assert!(lines[4].contains(block), "{lines:?}");
    assert_eq!(
        lines[5],
        "Sequence { sequence: ObjectId(4), position: Position { value: -32, is_called: true } }"
    );
    let place = "segment: 5, offset: 128, bytes: 1073741824 }, checksum: 51966, used: 536870912";
    assert!(lines[6].contains(place), "{lines:?}");
    let savepoint = redo.len();
    redo.delete(ObjectId(1), &[]);
    redo.truncate(savepoint);
    assert_eq!(read(redo.bytes()), lines);
    assert!(!redo.is_empty() && RedoBuffer::default().is_empty());
}

#[test]
fn bytes_that_are_not_redo_are_errors() {
    let (mut errors, mut other) = (0, 0);
    for seed in 0..4_000 {
        let mut random = Random::new(seed);
        let mut bytes = all_kinds(&mut random).bytes().to_vec();
        for _ in 0..1 + random.below(3) {
            let at = random.index(bytes.len());
            match random.below(5) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, random.bits() as u8),
                2 => drop(bytes.remove(at)),
                3 => bytes[at] = random.bits() as u8,
                _ => bytes[at] ^= 1 << random.below(8),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let mut failed = false;
        for change in changes(&bytes) {
            let error = match change {
                Ok(Change::Insert { columns, .. }) => columns.read(&TYPES).err(),
                Ok(_) => None,
                Err(e) => Some(e),
            };
            if let Some(e) = error {
                assert_eq!(e.state(), SqlState::DATA_CORRUPTED, "{e}");
                assert!(e.message().contains("at byte"), "{e}");
                failed = true;
            }
        }
        errors += u32::from(failed);
        other += u32::from(!failed);
    }
    assert!(errors > 1_000 && other > 100, "{errors} {other}");
}
