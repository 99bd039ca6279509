//! Rows that lie in memory of the program around the database: a data frame. They are a table's chunks as hot rows are, whose columns
//! are made when a scan first reads them: a column that nobody reads costs nothing, and one whose cells are ours already is not
//! copied.

use crate::chunk_entry::ChunkEntry;
use crate::hot_chunk::HotChunk;
use crate::lent_cells::{LentColumn, LentRows};
use crate::snapshot::{Table, TableSnapshot};
use frazil_types::{CHUNK_ROWS, Error, NativeType, Result};
use std::sync::Arc;

impl TableSnapshot {
    /// A version of an empty table that shows lent rows; `chunks`: the rows of each chunk, from 1 to [`CHUNK_ROWS`]. Nothing is known
    /// of their values.
    pub fn lent(table: Arc<Table>, chunks: &[u32], lender: &Arc<dyn LentRows>) -> Result<TableSnapshot> {
        let natives: Vec<NativeType> = table.schema().columns.iter().map(|c| c.ty.native()).collect();
        let layout = HotChunk::lent_layout(&natives)?;
        let mut entries = Vec::with_capacity(chunks.len());
        for (position, &rows) in chunks.iter().enumerate() {
            if rows == 0 || rows as usize > CHUNK_ROWS {
                return Err(Error::internal(format!("a chunk of {rows} lent rows")));
            }
            let column = |(column, &native): (usize, &NativeType)| {
                LentColumn::new(lender.clone(), (position, column), native, rows as usize)
            };
            let columns = natives.iter().enumerate().map(column);
            let hot = HotChunk::lent(rows, columns.collect(), layout.clone())?;
            entries.push(ChunkEntry::hot(
                table.take_chunk_number(),
                hot,
                table.numbers().clone(),
            ));
        }
        Ok(TableSnapshot::new(table, entries, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lent_cells::LentCells;
    use crate::table_scan::{ScanOptions, TableScan};
    use frazil_catalog::{TableEntry, TableOptions};
    use frazil_types::{
        ColumnDef, ColumnVector, CompareOp, Disjunction, LogicalType, ObjectId, Restriction, RestrictionKind,
    };
    use frazil_types::{Schema, SharedBytes, SqlState, Value};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Debug)]
    struct Numbers(ColumnVector);

    impl AsRef<[u8]> for Numbers {
        fn as_ref(&self) -> &[u8] {
            self.0.value_bytes()
        }
    }

    /// Numbers from 0 in memory of their own, texts of which every third is NULL, and a column that cannot be made.
    #[derive(Debug)]
    struct Lender {
        numbers: Arc<Numbers>,
        chunks: Vec<u32>,
        made: AtomicUsize,
    }

    impl LentRows for Lender {
        fn column(&self, chunk: usize, column: usize) -> Result<LentCells> {
            let before: u32 = self.chunks[..chunk].iter().sum();
            let (start, rows) = (before as usize, self.chunks[chunk] as usize);
            match column {
                0 => {
                    let memory = self.numbers.clone();
                    let lent = LentCells::of_memory(NativeType::I64, rows, memory, start * 8, None);
                    lent.ok_or_else(|| Error::internal("not there"))
                }
                1 => {
                    self.made.fetch_add(1, Ordering::Relaxed);
                    let text = |row: usize| match row % 3 {
                        0 => Value::Null,
                        _ => Value::Text(format!("a text of more than twelve bytes {row}")),
                    };
                    let values: Vec<Value> = (start..start + rows).map(text).collect();
                    Ok(LentCells::of_column(
                        ColumnVector::from_values(LogicalType::Text, &values),
                        None,
                    ))
                }
                _ => Err(Error::new(SqlState::INVALID_TEXT, "it cannot be made")),
            }
        }

        /// Knows of a restriction of the column that cannot be made.
        fn rules_out(&self, chunk: usize, restrictions: &[Restriction], _: &[Disjunction]) -> bool {
            chunk == 1
                && restrictions
                    .iter()
                    .any(|r| r.kind == RestrictionKind::IsNotNull && r.column == 2)
        }
    }

    fn lent(chunks: &[u32]) -> (Arc<TableSnapshot>, Arc<Lender>) {
        let rows: u32 = chunks.iter().sum();
        // The padding behind the last chunk.
        let values: Vec<Value> = (0..i128::from(rows) + 8).map(Value::Int).collect();
        let lender = Arc::new(Lender {
            numbers: Arc::new(Numbers(ColumnVector::from_values(LogicalType::BigInt, &values))),
            chunks: chunks.to_vec(),
            made: AtomicUsize::new(0),
        });
        let columns = [
            ("n", LogicalType::BigInt),
            ("t", LogicalType::Text),
            ("x", LogicalType::Integer),
        ];
        let columns = columns.into_iter().map(|(name, ty)| ColumnDef::new(name, ty));
        let schema = Arc::new(Schema::new(columns.collect()));
        let entry = TableEntry::new(ObjectId(1), "lent", schema, TableOptions::default());
        let table = Table::new(Arc::new(entry), 0);
        let rows: Arc<dyn LentRows> = lender.clone();
        let version = TableSnapshot::lent(table, chunks, &rows).expect("chunks of rows");
        (Arc::new(version), lender)
    }

    /// The numbers that a scan finds, and how many of them were fetched without a copy.
    fn scanned(
        (version, lender): &(Arc<TableSnapshot>, Arc<Lender>),
        columns: Vec<usize>,
        kinds: Vec<(usize, RestrictionKind)>,
    ) -> Result<(Vec<i64>, usize)> {
        let memory = lender.numbers.0.value_bytes().as_ptr_range();
        let restrictions = kinds
            .into_iter()
            .map(|(column, kind)| Restriction { column, kind });
        let options = ScanOptions::default();
        let scan = Arc::new(TableScan::new(
            version.clone(),
            columns,
            restrictions.collect(),
            options,
        )?);
        let mut cursor = scan.cursor();
        let (mut found, mut in_place) = (Vec::new(), 0);
        for morsel in 0..scan.morsels() {
            cursor.open(morsel)?;
            while let Some(rows) = cursor.next()? {
                let fetched = cursor.fetch(0)?;
                assert!(fetched.validity.is_none() && !fetched.constant);
                // SAFETY: the cursor stands where it fetched so many numbers.
                let numbers =
                    unsafe { std::slice::from_raw_parts(fetched.values.cast::<i64>(), rows as usize) };
                found.extend_from_slice(numbers);
                in_place += usize::from(memory.contains(&fetched.values)) * numbers.len();
                // Code that knows the partitions of hot chunks has none here.
                assert!(cursor.hot_rows(&[0]).is_none());
            }
        }
        Ok((found, in_place))
    }

    #[test]
    fn lent_rows_are_scanned_as_hot_ones() {
        let both = lent(&[65_536, 7, 1, 1000]);
        let (version, lender) = &both;
        let all: Vec<i64> = (0..66_544).collect();
        assert_eq!(version.rows(), 66_544);
        assert_eq!(
            scanned(&both, vec![0], vec![]).expect("rows"),
            (all.clone(), all.len())
        );
        assert_eq!(lender.made.load(Ordering::Relaxed), 0);
        let from = |n| (0, RestrictionKind::Compare(CompareOp::Ge, Value::Int(n)));
        let text = (1, RestrictionKind::IsNotNull);
        let found = scanned(&both, vec![0], vec![from(65_530), text.clone()])
            .expect("rows")
            .0;
        let expected = all.iter().copied().filter(|n| *n >= 65_530 && n % 3 != 0);
        assert_eq!(found, expected.collect::<Vec<_>>());
        assert_eq!(lender.made.load(Ordering::Relaxed), 4);
        // What was made is kept.
        let like = RestrictionKind::Prefix("a text of more than twelve bytes 66".to_owned());
        let found = scanned(&both, vec![0, 1], vec![(1, like)]).expect("rows").0;
        let expected = all
            .iter()
            .copied()
            .filter(|n| n % 3 != 0 && n.to_string().starts_with("66"));
        assert_eq!(found, expected.collect::<Vec<_>>());
        assert_eq!(lender.made.load(Ordering::Relaxed), 4);
    }

    #[test]
    fn errors_of_the_lender_are_the_scans() {
        let both = lent(&[10]);
        for (columns, kinds) in [
            (vec![0, 2], vec![]),
            (vec![0], vec![(2, RestrictionKind::IsNull)]),
        ] {
            let state = scanned(&both, columns, kinds).map_err(|e| e.state());
            assert_eq!(state, Err(SqlState::INVALID_TEXT));
        }
    }

    #[test]
    fn chunks_that_the_lender_rules_out_are_not_made() {
        let both = lent(&[10, 20]);
        let not_null = (2, RestrictionKind::IsNotNull);
        let error = scanned(&both, vec![0], vec![not_null.clone()]).map_err(|e| e.state());
        assert_eq!(error, Err(SqlState::INVALID_TEXT));
        // The first chunk has no such column either, but nobody reads it.
        let options = ScanOptions::default();
        let restriction = Restriction {
            column: not_null.0,
            kind: not_null.1,
        };
        let scan = TableScan::new(both.0.clone(), vec![0, 2], vec![restriction], options).expect("a scan");
        let mut cursor = Arc::new(scan).cursor();
        cursor.open(1).expect("a chunk that is ruled out");
        assert_eq!(cursor.next().expect("no rows"), None);
    }

    #[test]
    fn memory_that_cannot_be_read_in_place_is_not_lent() {
        let values: Vec<Value> = (0..100).map(Value::Int).collect();
        let memory = || -> Arc<dyn SharedBytes> {
            Arc::new(Numbers(ColumnVector::from_values(LogicalType::BigInt, &values)))
        };
        let lent = |native, rows, start| LentCells::of_memory(native, rows, memory(), start, None).is_some();
        assert!(lent(NativeType::I64, 92, 0) && lent(NativeType::I64, 1, 91 * 8));
        // No padding, not aligned, no numbers.
        assert!(!lent(NativeType::I64, 93, 0) && !lent(NativeType::I64, 1, 92 * 8));
        assert!(!lent(NativeType::I64, 1, 4) && lent(NativeType::I32, 1, 4));
        assert!(!lent(NativeType::String, 1, 0) && !lent(NativeType::Bool, 1, 0));
        let (version, _) = lent_chunks(&[0]);
        assert!(version.is_err());
    }

    fn lent_chunks(chunks: &[u32]) -> (Result<TableSnapshot>, Arc<Lender>) {
        let (version, lender) = lent(&[1]);
        let rows: Arc<dyn LentRows> = lender.clone();
        (
            TableSnapshot::lent(version.table().clone(), chunks, &rows),
            lender,
        )
    }
}
