//! UPDATE and DELETE of a model: which rows, what they become, and which errors are due.

use super::predict::{Errors, Outcome, Written};
use super::{Cell, Condition, Expression, Kind, Mapping, Row, Shape, State, TEXT_LENGTH};
use std::collections::{BTreeMap, BTreeSet};

/// What an expression sees.
pub struct Sight<'a> {
    /// The row of the table.
    pub row: &'a Row,
    /// The row that was to be inserted.
    pub excluded: Option<&'a Row>,
    /// v of the mapping.
    pub mapped: Option<&'a Cell>,
}

impl Expression {
    /// Its value as one of column `to`, or the SQLSTATE of its error.
    pub fn assigned(&self, shape: &Shape, to: usize, sight: &Sight<'_>) -> Result<Cell, &'static str> {
        let cell = self.value(shape, to, sight)?;
        fits(cell, shape.columns[to].kind)
    }

    fn value(&self, shape: &Shape, to: usize, sight: &Sight<'_>) -> Result<Cell, &'static str> {
        Ok(match self {
            Expression::Constant(cell) => cell.clone(),
            Expression::Default => shape.columns[to].default.clone(),
            Expression::Column(c) => sight.row[*c].clone(),
            Expression::Excluded(c) => sight.excluded.expect("a conflict")[*c].clone(),
            Expression::Mapped => sight.mapped.expect("a mapping").clone(),
            Expression::Plus(e, n) => match e.value(shape, to, sight)? {
                Cell::Int(i) => Cell::Int(i + n),
                other => other,
            },
            Expression::Join(e, text) => match e.value(shape, to, sight)? {
                Cell::Text(t) => Cell::Text(t + text),
                other => other,
            },
            Expression::Ratio(c, n) => match &sight.row[*c] {
                Cell::Int(i) if i == n => return Err("22012"),
                Cell::Int(i) => Cell::Int(60 / (i - n)),
                other => other.clone(),
            },
        })
    }
}

/// Adds 22001 to the errors of an outcome if one of the constants is a text too long for its column: the statement may be
/// refused though no row asks for the constant, as PostgreSQL does.
pub fn with_constants<'a>(
    mut outcome: Outcome,
    shape: &Shape,
    mut set: impl Iterator<Item = (usize, &'a Expression)>,
) -> Outcome {
    let too_long = |(to, e): (usize, &Expression)| match e {
        Expression::Constant(cell) => fits(cell.clone(), shape.columns[to].kind).is_err(),
        _ => false,
    };
    if set.any(too_long) {
        outcome.errors.insert("22001");
    }
    outcome
}

/// A value that is assigned to a column; 22001 for a text that is too long.
pub fn fits(cell: Cell, kind: Kind) -> Result<Cell, &'static str> {
    match &cell {
        Cell::Text(t) if kind == Kind::Text && t.chars().count() > TEXT_LENGTH => Err("22001"),
        _ => Ok(cell),
    }
}

impl Condition {
    /// Whether it is true of a row: neither false nor NULL.
    pub fn holds(&self, row: &Row) -> bool {
        match self {
            Condition::All => true,
            Condition::Equal(c, cell) => *cell != Cell::Null && row[*c] == *cell,
            Condition::In(c, cells) => row[*c] != Cell::Null && cells.contains(&row[*c]),
            Condition::Below(c, n) => matches!(row[*c], Cell::Int(i) if i < *n),
            Condition::IsNull(c) => row[*c] == Cell::Null,
            Condition::Rest(c, modulus, rest) => {
                matches!(row[*c], Cell::Int(i) if i % modulus == *rest)
            }
            Condition::Both(a, b) => a.holds(row) && b.holds(row),
        }
    }
}

impl Shape {
    /// The SQLSTATE of a constraint that a row breaks by itself.
    pub fn refuses(&self, row: &Row) -> Option<&'static str> {
        let null = |(cell, column): (&Cell, &super::Column)| column.not_null && *cell == Cell::Null;
        if row.iter().zip(&self.columns).any(null) {
            return Some("23502");
        }
        let (column, bound) = self.check?;
        matches!(row[column], Cell::Int(i) if i <= bound).then_some("23514")
    }
}

/// The rows that a change meets, each with v of its mapping.
fn targets<'a>(
    state: &'a State,
    condition: &Condition,
    mapping: Option<&'a Mapping>,
) -> Vec<(u64, &'a Row, Option<&'a Cell>)> {
    let met = state.rows.iter().filter(|(_, row)| condition.holds(row));
    let joined = met.filter_map(|(id, row)| {
        let Some(mapping) = mapping else {
            return Some((*id, row, None));
        };
        let pair = mapping
            .pairs
            .iter()
            .find(|(k, _)| *k != Cell::Null && *k == row[mapping.on])?;
        Some((*id, row, Some(&pair.1)))
    });
    joined.collect()
}

/// DELETE.
pub fn delete(state: &State, condition: &Condition, mapping: Option<&Mapping>) -> Outcome {
    let mut written = Written::from(state.clone());
    for (id, row, _) in targets(state, condition, mapping) {
        written.state.rows.remove(&id);
        written.returned.push(row.clone());
    }
    Outcome::done(written)
}

/// UPDATE.
pub fn update(
    shape: &Shape,
    state: &State,
    set: &[(usize, Expression)],
    condition: &Condition,
    mapping: Option<&Mapping>,
) -> Outcome {
    let mut errors = Errors::new();
    let mut new: BTreeMap<u64, Row> = BTreeMap::new();
    for (id, row, mapped) in targets(state, condition, mapping) {
        let sight = Sight {
            row,
            excluded: None,
            mapped,
        };
        match set_row(shape, set, &sight) {
            Ok(row) => drop(new.insert(id, row)),
            Err(e) => drop(errors.insert(e)),
        }
    }
    let mut next = state.clone();
    next.rows.extend(new.clone());
    let order = order(state, &new);
    if !errors.is_empty() {
        // Which of several errors comes first is open.
        if order != Order::Any || twice(&next) {
            errors.insert("23505");
        }
        return Outcome::errors(errors);
    }
    if order == Order::None || twice(&next) {
        return Outcome::errors(Errors::from(["23505"]));
    }
    if order == Order::Some {
        errors.insert("23505");
    }
    Outcome {
        done: Some(Written {
            returned: new.into_values().collect(),
            ..Written::from(next)
        }),
        errors,
    }
}

/// A row as SET makes it, or the SQLSTATE of an error of an expression or of a constraint of the row by itself.
pub fn set_row(shape: &Shape, set: &[(usize, Expression)], sight: &Sight<'_>) -> Result<Row, &'static str> {
    let mut row = sight.row.clone();
    for (column, e) in set {
        row[*column] = e.assigned(shape, *column, sight)?;
    }
    shape.refuses(&row).map_or(Ok(row), Err)
}

/// Whether two rows have the same values under a unique key.
pub fn twice(state: &State) -> bool {
    state.keys.iter().filter(|k| k.unique).any(|key| {
        let mut seen = BTreeSet::new();
        let mut values = state.rows.values().filter_map(|row| key.of(row));
        !values.all(|values| seen.insert(values))
    })
}

/// In which orders rows can get their new values without meeting a key that another row has not left yet. A row is
/// checked as it is written.
#[derive(PartialEq)]
enum Order {
    Any,
    /// In some and not in all.
    Some,
    None,
}

fn order(state: &State, new: &BTreeMap<u64, Row>) -> Order {
    // waits[a] holds b if b must be written before a, because a gets a key that b leaves.
    let mut waits: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for key in state.keys.iter().filter(|k| k.unique) {
        let old: BTreeMap<_, u64> = new
            .keys()
            .filter_map(|id| Some((key.of(&state.rows[id])?, *id)))
            .collect();
        for (id, row) in new {
            let left = key.of(row).and_then(|values| old.get(&values));
            if let Some(other) = left.filter(|other| *other != id) {
                waits.entry(*id).or_default().insert(*other);
            }
        }
    }
    if waits.is_empty() {
        return Order::Any;
    }
    loop {
        let free: Vec<u64> = waits
            .iter()
            .filter(|(_, on)| on.iter().all(|b| !waits.contains_key(b)))
            .map(|(a, _)| *a)
            .collect();
        if free.is_empty() {
            break;
        }
        free.iter().for_each(|a| drop(waits.remove(a)));
    }
    match waits.is_empty() {
        true => Order::Some,
        false => Order::None,
    }
}
