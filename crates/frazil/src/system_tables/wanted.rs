//! The rows of a system table that a plan needs: those that its scans do not leave out by the values of a column. A
//! query for one relation makes the rows of that relation, however many others there are.

use frazil_plan::operators::Scan;
use frazil_runtime::BoundValues;
use frazil_types::{CompareOp, Restriction, RestrictionKind, Schema, Value};

/// The rows that are needed.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// All rows.
    All,
    /// The rows that satisfy one of the alternatives; of no alternative none.
    Rows(Vec<Alternative>),
}

/// Conditions that a row satisfies all: in each a column with the values that it may have.
pub type Alternative = Vec<(String, Vec<Value>)>;

/// A value that a row would have.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    Number(u32),
    Text(&'a str),
}

impl Wanted {
    /// False if no row with these cells is needed.
    pub fn has(&self, cells: &[(&str, Cell<'_>)]) -> bool {
        let agrees = |(column, values): &(String, Vec<Value>)| {
            let cell = cells.iter().find(|(name, _)| name == column);
            cell.is_none_or(|(_, cell)| values.iter().any(|value| cell.may_be(value)))
        };
        self.is_any(agrees)
    }

    /// The values of which a needed row has one in a column; `None` if rows with any value may be needed.
    pub fn values_in(&self, column: &str) -> Option<Vec<&Value>> {
        let Wanted::Rows(alternatives) = self else {
            return None;
        };
        let mut found = Vec::new();
        for all in alternatives {
            let (_, values) = all.iter().find(|(name, _)| name == column)?;
            found.extend(values);
        }
        Some(found)
    }

    /// False if the row of these values is not needed.
    pub fn has_row(&self, columns: &Schema, row: &[Value]) -> bool {
        let agrees = |(column, values): &(String, Vec<Value>)| {
            let cell = columns.index_of(column).and_then(|at| row.get(at));
            cell.is_none_or(|cell| values.iter().any(|value| may_be_equal(cell, value)))
        };
        self.is_any(agrees)
    }

    /// True if one alternative has only conditions that hold.
    fn is_any(&self, holds: impl Fn(&(String, Vec<Value>)) -> bool) -> bool {
        match self {
            Wanted::All => true,
            Wanted::Rows(alternatives) => alternatives.iter().any(|all| all.iter().all(&holds)),
        }
    }
}

impl Cell<'_> {
    fn may_be(self, value: &Value) -> bool {
        match (self, value) {
            (Cell::Number(a), Value::Int(b)) => i128::from(a) == *b,
            (Cell::Text(a), Value::Text(b)) => a == b,
            // The scan compares the others.
            _ => true,
        }
    }
}

fn may_be_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Text(a), Value::Text(b)) => a == b,
        _ => true,
    }
}

/// Columns by whose values an object is named. A table that is restricted by other columns alone is made whole and
/// kept, because many of its rows may be needed again.
const NAMING: [&str; 22] = [
    "adrelid",
    "attrelid",
    "confrelid",
    "conname",
    "conrelid",
    "constraint_name",
    "ev_class",
    "indexname",
    "indexrelid",
    "indrelid",
    "nspname",
    "objid",
    "objoid",
    "oid",
    "refobjid",
    "relname",
    "seqrelid",
    "sequence_name",
    "table_name",
    "tablename",
    "typname",
    "viewname",
];

/// True if the rows of an alternative are those of objects that are named.
pub fn names_objects(alternative: &Alternative) -> bool {
    let mut columns = alternative.iter();
    columns.any(|(column, _)| NAMING.contains(&column.as_str()))
}

/// The alternatives of a scan's rows. `None` if its restrictions compare no column with values that are known.
pub fn alternatives(scan: &Scan, columns: &Schema, parameters: &[Value]) -> Option<Vec<Alternative>> {
    let values = BoundValues {
        parameters,
        subqueries: &[],
    };
    let of_all = |restrictions: &[Restriction]| -> Alternative {
        let conditions = restrictions.iter();
        conditions
            .filter_map(|restriction| condition(restriction, columns))
            .collect()
    };
    let restrictions = scan.restrictions.iter();
    let bound = restrictions.filter_map(|r| values.restrictions(std::slice::from_ref(r), &scan.columns).ok());
    let common = of_all(&bound.flatten().collect::<Vec<_>>());
    let disjunctions = scan.disjunctions.iter();
    let bound = disjunctions.filter_map(|d| values.disjunctions(std::slice::from_ref(d), &scan.columns).ok());
    for disjunction in bound.flatten() {
        let each: Vec<Alternative> = disjunction.alternatives.iter().map(|r| of_all(r)).collect();
        if each.iter().all(|alternative| !alternative.is_empty()) {
            let with_common = each.into_iter().map(|each| [common.clone(), each].concat());
            return Some(with_common.collect());
        }
    }
    (!common.is_empty()).then(|| vec![common])
}

/// A column and the values that it may have, if a restriction lists them.
fn condition(restriction: &Restriction, columns: &Schema) -> Option<(String, Vec<Value>)> {
    let column = columns.columns.get(restriction.column)?;
    let values = match &restriction.kind {
        RestrictionKind::Compare(CompareOp::Eq, value) => vec![value.clone()],
        RestrictionKind::In(values) => values.clone(),
        _ => return None,
    };
    Some((column.name.clone(), values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::{ColumnDef, LogicalType};

    #[test]
    fn a_row_is_needed_if_one_alternative_does_not_leave_it_out() {
        let number = |n: i128| ("oid".to_owned(), vec![Value::Int(n), Value::Int(n + 1)]);
        let name = |text: &str| ("name".to_owned(), vec![Value::Text(text.to_owned())]);
        let wanted = Wanted::Rows(vec![vec![number(7), name("a")], vec![name("b")]]);
        let has =
            |oid: u32, text: &str| wanted.has(&[("oid", Cell::Number(oid)), ("name", Cell::Text(text))]);
        assert!(has(7, "a") && has(8, "a") && has(1, "b"));
        assert!(!has(9, "a") && !has(7, "c"));
        // Nothing is known of the other column.
        assert!(wanted.has(&[("oid", Cell::Number(9))]) && !wanted.has(&[("name", Cell::Text("c"))]));
        let columns = [("oid", LogicalType::Oid), ("name", LogicalType::Text)];
        let columns = Schema::new(columns.map(|(name, ty)| ColumnDef::new(name, ty)).to_vec());
        let has_row =
            |oid, text: &str| wanted.has_row(&columns, &[Value::Int(oid), Value::Text(text.to_owned())]);
        assert!(has_row(8, "a") && !has_row(9, "a"));
        assert!(Wanted::All.has(&[]) && !Wanted::Rows(Vec::new()).has(&[]));
    }
}
