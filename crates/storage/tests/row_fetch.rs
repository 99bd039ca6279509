//! Whole rows by their ids, hot and frozen, against the rows that were written.

mod support;

use frazil_block::BuildOptions;
use frazil_catalog::{TableEntry, TableOptions};
use frazil_storage::{LentCells, LentRows, RowFetch, ScanOptions, Table, TableSnapshot};
use frazil_types::{
    Cancel, ColumnDef, ColumnVector, Disjunction, LogicalType, ObjectId, Restriction, Result, RowId, Schema,
    SqlState, Value,
};
use std::sync::Arc;
use support::*;

#[test]
fn whole_rows_come_back_in_the_order_of_their_ids() {
    let mut random = Random::new(11);
    for k in [1, 2, 7, 64, 1000, 65_536] {
        let schema = schema();
        let (store, id) = store_with(schema.clone(), k);
        let mut transaction = begin(&store);
        let mut rows = random.rows(&schema, 1200);
        insert(&mut transaction, id, &batch(&schema, &rows));
        transaction
            .freeze_table(id, None, BuildOptions::default(), &Cancel::new())
            .unwrap();
        let hot = random.rows(&schema, 1500);
        insert(&mut transaction, id, &batch(&schema, &hot));
        rows.extend(hot);
        let table = transaction.snapshot().table(id).unwrap().clone();
        let ids: Vec<RowId> = scan(&table, &[], ScanOptions::default())
            .into_iter()
            .map(|r| r.0)
            .collect();
        // Groups of frozen rows, of hot ones, and of both.
        for (from, count) in [(0, 1200), (1200, 1500), (0, 2700)] {
            let wanted: Vec<usize> = (0..500).map(|_| from + random.below(count) as usize).collect();
            let wanted_ids: Vec<RowId> = wanted.iter().map(|&r| ids[r]).collect();
            let found = RowFetch::new(&table).fetch(&wanted_ids).unwrap();
            for (i, &row) in wanted.iter().enumerate() {
                let got: Vec<Value> = found.columns.iter().map(|c| c.value(i)).collect();
                assert!(same(&[got], std::slice::from_ref(&rows[row])), "k {k}, row {row}");
            }
        }
        let last = ids[ids.len() - 1];
        for nowhere in [RowId(last.0 + 1), RowId(9 << 16), RowId(u64::MAX)] {
            let error = RowFetch::new(&table).fetch(&[last, nowhere]).unwrap_err();
            assert_eq!(error.state(), SqlState::INTERNAL_ERROR);
        }
    }
}

/// Rows of one column of texts, made when they are asked for.
#[derive(Debug)]
struct Lender;

impl LentRows for Lender {
    fn column(&self, chunk: usize, _column: usize) -> Result<LentCells> {
        let text = |row: usize| match row {
            2 => Value::Null,
            row => Value::Text(format!("a text that does not lie in its cell, {chunk}, {row}")),
        };
        let values: Vec<Value> = (0..4).map(text).collect();
        Ok(LentCells::of_column(
            ColumnVector::from_values(LogicalType::Text, &values),
            None,
        ))
    }

    fn rules_out(&self, _chunk: usize, _restrictions: &[Restriction], _disjunctions: &[Disjunction]) -> bool {
        false
    }
}

#[test]
fn rows_that_lie_elsewhere_are_fetched_like_others() {
    let schema = Arc::new(Schema::new(vec![ColumnDef::new("t", LogicalType::Text)]));
    let entry = TableEntry::new(ObjectId(1), "lent", schema, TableOptions::default());
    let rows: Arc<dyn LentRows> = Arc::new(Lender);
    let table = Table::new(Arc::new(entry), 0);
    let version = TableSnapshot::lent(table, &[4, 4], &rows).unwrap();
    let id = |chunk: usize, offset| RowId::new(version.chunk(chunk).number(), offset);
    let found = RowFetch::new(&version)
        .fetch(&[id(1, 3), id(0, 2), id(0, 0)])
        .unwrap();
    let text = |place: &str| Value::Text(format!("a text that does not lie in its cell, {place}"));
    let got: Vec<Value> = (0..3).map(|i| found.columns[0].value(i)).collect();
    assert_eq!(got, [text("1, 3"), Value::Null, text("0, 0")]);
}
