//! Columns that come and go under rows of all states, against rows by value: whatever a chunk stores, it shows the columns of its
//! table.

mod support;

use frazil_block::BuildOptions;
use frazil_catalog::{AlterAction, DropBehavior};
use frazil_storage::{NewRows, RowFetch, ScanOptions, Store, TableScan, TableSnapshot, Transaction};
use frazil_types::{
    Cancel, ColumnDef, Disjunction, LogicalType, MemoryBudget, ObjectId, RowId, Schema, Value,
};
use std::sync::Arc;
use support::*;

/// Rows as they should be, by id.
#[derive(Clone)]
struct Model {
    schema: Schema,
    rows: Vec<(RowId, Vec<Value>)>,
}

fn add(transaction: &mut Transaction, id: ObjectId, column: ColumnDef) {
    let action = AlterAction::AddColumn { column };
    transaction.alter_table(id, action, &Cancel::new()).unwrap();
}

fn remove(transaction: &mut Transaction, id: ObjectId, column: usize) {
    let action = AlterAction::DropColumn {
        column,
        behavior: DropBehavior::Restrict,
        readers: Vec::new(),
        path: frazil_catalog::SearchPath::default(),
        is_dependent: false,
    };
    transaction.alter_table(id, action, &Cancel::new()).unwrap();
}

/// Adds columns with a value of its own for each row. The values come in batches, in an order of their own.
fn fill(random: &mut Random, transaction: &mut Transaction, id: ObjectId, model: &mut Model) {
    let added: Vec<ColumnDef> = (0..1 + random.below(2))
        .map(|_| {
            let ty = TYPES[random.below(TYPES.len() as u64) as usize];
            ColumnDef::new(format!("f{}", random.below(1 << 40)), ty)
        })
        .collect();
    for column in &added {
        add(transaction, id, column.clone());
    }
    let columns = model.schema.columns.len()..model.schema.columns.len() + added.len();
    let schema = Schema::new(added);
    model.schema = (**transaction.view().table(id).unwrap().schema()).clone();
    model.rows.sort_by_key(|row| row.0);
    if random.below(2) == 0 {
        let most = model.rows.len() as u64;
        for at in 0..model.rows.len() {
            model.rows.swap(at, random.below(most) as usize);
        }
    }
    let budget = MemoryBudget::unlimited();
    let mut filled = transaction.begin_fill(id, columns.collect(), &budget).unwrap();
    for rows in model.rows.chunks_mut(1 + random.below(200) as usize) {
        let values = random.rows(&schema, rows.len());
        let ids: Vec<RowId> = rows.iter().map(|row| row.0).collect();
        filled.take(&ids, &NewRows::of(&batch(&schema, &values))).unwrap();
        rows.iter_mut()
            .zip(values)
            .for_each(|(row, values)| row.1.extend(values));
    }
    transaction.end_fill(filled, &Cancel::new()).unwrap();
}

const TYPES: [LogicalType; 8] = [
    LogicalType::BigInt,
    LogicalType::Boolean,
    LogicalType::SmallInt,
    LogicalType::Date,
    LogicalType::Decimal {
        precision: 30,
        scale: 2,
    },
    LogicalType::Double,
    LogicalType::Text,
    LogicalType::Char(1),
];

/// Does something to a table and to its model.
fn step(random: &mut Random, transaction: &mut Transaction, id: ObjectId, model: &mut Model) {
    match random.below(8) {
        7 => fill(random, transaction, id, model),
        0 => {
            let ty = TYPES[random.below(TYPES.len() as u64) as usize];
            let mut column = ColumnDef::new(format!("n{}", random.below(1 << 40)), ty);
            column.missing = random.value(&column);
            if !column.missing.is_null() && random.below(2) == 0 {
                column.nullable = false;
            }
            let missing = column.missing.clone();
            model.rows.iter_mut().for_each(|r| r.1.push(missing.clone()));
            add(transaction, id, column);
            model.schema = (**transaction.view().table(id).unwrap().schema()).clone();
        }
        1 if model.schema.columns.len() > 2 => {
            let column = random.below(model.schema.columns.len() as u64) as usize;
            remove(transaction, id, column);
            model.rows.iter_mut().for_each(|r| drop(r.1.remove(column)));
            model.schema.columns.remove(column);
        }
        2 => {
            transaction
                .freeze_table(id, None, BuildOptions::default(), &Cancel::new())
                .unwrap();
            // Small chunks are gathered: rows get new ids, in the order of the old ones.
            model.rows.sort_by_key(|r| r.0);
            let version = transaction.view().table(id).unwrap().clone();
            let found = scan(&version, &[], ScanOptions::default());
            for (row, found) in model.rows.iter_mut().zip(found) {
                row.0 = found.0;
            }
        }
        3 if !model.rows.is_empty() => {
            let at = random.below(model.rows.len() as u64) as usize;
            let column = random.below(model.schema.columns.len() as u64) as usize;
            let new = random.value(&model.schema.columns[column]);
            let schema = Schema::new(vec![model.schema.columns[column].clone()]);
            let values = batch(&schema, &[vec![new.clone()]]);
            let mut writer = transaction.writer(id).unwrap();
            let written = (writer.update(&[model.rows[at].0], &[column], &NewRows::of(&values))).unwrap();
            model.rows[at].0 = written.rows[0].unwrap();
            model.rows[at].1[column] = new;
        }
        4 if !model.rows.is_empty() => {
            let at = random.below(model.rows.len() as u64) as usize;
            let row = model.rows.swap_remove(at);
            (transaction.writer(id).unwrap()).delete(&[row.0]).unwrap();
        }
        _ => {
            let count = 1 + random.below(150) as usize;
            let rows = random.rows(&model.schema, count);
            let ids = insert(transaction, id, &batch(&model.schema, &rows));
            model.rows.extend(ids.into_iter().zip(rows));
        }
    }
}

fn compare(random: &mut Random, version: &Arc<TableSnapshot>, model: &Model) {
    let mut sorted = model.rows.clone();
    sorted.sort_by_key(|r| r.0);
    let options = ScanOptions {
        stage_rows: [64, 1024, 65_536][random.below(3) as usize],
        use_sma: random.below(2) == 0,
        lend_columns: random.below(3) > 0,
        ..ScanOptions::default()
    };
    let check = |found: Vec<(RowId, Vec<Value>)>, wanted: Vec<(RowId, Vec<Value>)>, what: &str| {
        let (ids, rows): (Vec<RowId>, Vec<Vec<Value>>) = found.into_iter().unzip();
        let (wanted_ids, wanted): (Vec<RowId>, Vec<Vec<Value>>) = wanted.into_iter().unzip();
        assert_eq!(ids, wanted_ids, "{what}");
        assert!(same(&rows, &wanted), "{what}: {rows:?} {wanted:?}");
    };
    check(scan(version, &[], options), sorted.clone(), "all rows");
    for _ in 0..3 {
        let restrictions: Vec<_> = (0..1 + random.below(2))
            .map(|_| random.restriction(&model.schema))
            .collect();
        let holds = |row: &[Value]| {
            let mut all = restrictions.iter();
            all.all(|r| satisfies(&row[r.column], &r.kind))
        };
        let wanted = sorted.iter().filter(|r| holds(&r.1)).cloned().collect();
        let found = scan(version, &restrictions, options);
        check(found, wanted, &format!("{restrictions:?}"));
    }
    let alternatives: Vec<Vec<_>> = (0..2)
        .map(|_| (0..2).map(|_| random.restriction(&model.schema)).collect())
        .collect();
    let holds = |row: &[Value]| {
        let all = |a: &Vec<frazil_types::Restriction>| a.iter().all(|r| satisfies(&row[r.column], &r.kind));
        alternatives.iter().any(all)
    };
    let wanted = sorted.iter().filter(|r| holds(&r.1)).cloned().collect();
    let columns: Vec<usize> = (0..model.schema.columns.len()).rev().collect();
    let disjunction = Disjunction {
        alternatives: alternatives.clone(),
    };
    let either = TableScan::new(version.clone(), columns, Vec::new(), options).unwrap();
    let found = run(either.with_disjunctions(vec![disjunction]).unwrap());
    check(found, wanted, &format!("{alternatives:?}"));
    // By ids, in any order, some twice.
    let picked: Vec<_> = (0..sorted.len().min(70))
        .map(|_| &sorted[random.below(sorted.len() as u64) as usize])
        .collect();
    let ids: Vec<RowId> = picked.iter().map(|r| r.0).collect();
    let rows = RowFetch::new(version).fetch(&ids).unwrap();
    for (at, row) in picked.iter().enumerate() {
        let got: Vec<Value> = rows.columns.iter().map(|c| c.value(at)).collect();
        assert!(same(&[got], std::slice::from_ref(&row.1)), "row {}", row.0.0);
    }
    let widest = version.table().bounds().widest();
    assert_eq!(
        version.describe().len(),
        version.chunk_count() * model.schema.columns.len()
    );
    for (column, bounds) in widest.columns.iter().enumerate() {
        for value in model.rows.iter().map(|r| &r.1[column]) {
            let holds = match (value, bounds.range) {
                (Value::Null, _) => bounds.has_nulls,
                (Value::Int(v), Some((low, high))) => low <= *v && *v <= high,
                (Value::Int(_), None) => false,
                _ => true,
            };
            assert!(holds, "{value:?} of column {column} beyond {bounds:?}");
        }
    }
}

/// Steps on one store, in transactions that are committed or rolled back; readers keep what they saw.
fn run_steps(random: &mut Random, store: &Arc<Store>, id: ObjectId, steps: usize) {
    let schema = store.snapshot().table(id).unwrap().schema().clone();
    let mut model = Model {
        schema: (*schema).clone(),
        rows: Vec::new(),
    };
    let mut seen: Option<(Arc<TableSnapshot>, Model)> = None;
    for _ in 0..steps {
        let mut transaction = begin(store);
        let mut private = model.clone();
        for _ in 0..1 + random.below(3) {
            let (point, before) = (transaction.savepoint(), private.clone());
            step(random, &mut transaction, id, &mut private);
            if random.below(6) == 0 {
                transaction.rollback_to(point);
                private = before;
            }
        }
        // Columns come and go, and rows are written, before anybody has read the chunks.
        if random.below(2) == 0 {
            compare(random, transaction.view().table(id).unwrap(), &private);
        }
        match random.below(4) {
            0 => transaction.rollback(),
            _ => {
                transaction.commit().unwrap();
                model = private;
            }
        }
        if let Some((version, model)) = &seen {
            compare(random, version, model);
        }
        let version = store.snapshot().table(id).unwrap().clone();
        if random.below(2) == 0 {
            compare(random, &version, &model);
        }
        if random.below(4) == 0 {
            seen = Some((version, model.clone()));
        }
    }
    compare(random, store.snapshot().table(id).unwrap(), &model);
}

#[test]
fn chunks_show_the_columns_of_their_table() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let k = [1, 3, 64, 1500, 65_536][seed as usize % 5];
        let (store, id) = store_with(schema(), k);
        run_steps(&mut random, &store, id, 14);
    }
}

#[test]
fn nothing_is_rewritten_and_what_is_frozen_next_holds_what_is_shown() {
    let mut random = Random::new(5);
    let schema = schema();
    let (store, id) = store_with(schema.clone(), 65_536);
    let mut transaction = begin(&store);
    insert(&mut transaction, id, &batch(&schema, &random.rows(&schema, 3000)));
    transaction
        .freeze_table(id, None, BuildOptions::default(), &Cancel::new())
        .unwrap();
    insert(&mut transaction, id, &batch(&schema, &random.rows(&schema, 10)));
    transaction.commit().unwrap();
    let before = store.snapshot().table(id).unwrap().clone();
    let mut transaction = begin(&store);
    let column = ColumnDef {
        missing: Value::Text("a default that is longer than an inline string".to_string()),
        ..ColumnDef::new("late", LogicalType::Text)
    };
    add(&mut transaction, id, column);
    remove(&mut transaction, id, 7);
    transaction.commit().unwrap();
    let after = store.snapshot().table(id).unwrap().clone();
    let bytes = |version: &TableSnapshot| version.chunk(0).block().unwrap().bytes().as_ptr();
    assert_eq!(bytes(&before), bytes(&after));
    assert!(before.chunk(0).identity() == after.chunk(0).identity());
    assert!(before.chunk(1).identity() == after.chunk(1).identity());
    let late = after
        .describe()
        .into_iter()
        .find(|info| info.column == 8)
        .unwrap();
    assert_eq!(late.encoding, "constant");
    assert_eq!(after.chunk(0).block().unwrap().stored_columns(), 9);
    // A rewrite leaves behind what is not shown.
    let mut transaction = begin(&store);
    transaction
        .freeze_table(id, Some(0), BuildOptions::default(), &Cancel::new())
        .unwrap();
    transaction.commit().unwrap();
    let rewritten = store.snapshot().table(id).unwrap().clone();
    let block = rewritten.chunk(0).block().unwrap();
    assert_eq!((block.stored_columns(), block.columns()), (9, 9));
    assert!(rewritten.chunk(0).stored() == rewritten.table().numbers());
}

#[test]
fn nulls_that_are_allowed_later_have_a_place() {
    let (store, id) = store_with(schema(), 65_536);
    let mut random = Random::new(1);
    let mut rows = random.rows(&schema(), 3);
    let mut transaction = begin(&store);
    insert(&mut transaction, id, &batch(&schema(), &rows));
    let action = AlterAction::DropNotNull { column: 0 };
    transaction.alter_table(id, action, &Cancel::new()).unwrap();
    rows[1][0] = Value::Null;
    insert(&mut transaction, id, &batch(&schema(), &rows));
    let version = transaction.view().table(id).unwrap().clone();
    let found = scan(&version, &[], ScanOptions::default());
    let nulls: Vec<usize> = (0..6).filter(|&i| found[i].1[0].is_null()).collect();
    assert_eq!(nulls, [4]);
}

#[test]
fn strings_of_filled_columns_stay_when_others_are_filled() {
    let schema = Arc::new(Schema::new(vec![ColumnDef::new("a", LogicalType::Integer)]));
    let (store, id) = store_with(schema.clone(), 65_536);
    let mut transaction = begin(&store);
    let rows: Vec<Vec<Value>> = (0..500).map(|i| vec![Value::Int(i)]).collect();
    let ids = insert(&mut transaction, id, &batch(&schema, &rows));
    let options = BuildOptions::default();
    transaction
        .freeze_table(id, None, options, &Cancel::new())
        .unwrap();
    transaction.commit().unwrap();
    let text =
        |column: usize, row: usize| format!("a text of column {column} that is long enough {}", row % 7);
    for column in 1..=4 {
        let mut transaction = begin(&store);
        let def = ColumnDef::new(format!("t{column}"), LogicalType::Text);
        add(&mut transaction, id, def.clone());
        let budget = MemoryBudget::unlimited();
        let mut filled = transaction.begin_fill(id, vec![column], &budget).unwrap();
        let values: Vec<Vec<Value>> = (0..500).map(|row| vec![Value::Text(text(column, row))]).collect();
        let values = batch(&Schema::new(vec![def]), &values);
        filled.take(&ids, &NewRows::of(&values)).unwrap();
        transaction.end_fill(filled, &Cancel::new()).unwrap();
        transaction.commit().unwrap();
        // Nobody holds the version before: its bytes are free.
        let found = scan(store.snapshot().table(id).unwrap(), &[], ScanOptions::default());
        for (row, (_, values)) in found.iter().enumerate() {
            let texts = (1..=column).map(|column| Value::Text(text(column, row)));
            assert!(
                same(&[values[1..].to_vec()], &[texts.collect::<Vec<_>>()]),
                "row {row}: {values:?}"
            );
        }
    }
}
