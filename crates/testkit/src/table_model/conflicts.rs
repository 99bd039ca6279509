//! INSERT of a model, with and without ON CONFLICT.

use super::changes::{Sight, fits, set_row};
use super::predict::{Errors, Outcome, Written};
use super::{Conflict, Key, OnConflict, Row, Shape, Source, State};
use std::collections::BTreeSet;

/// INSERT. `None`: what comes depends on the order in which the source's rows come, which is open.
pub fn insert(shape: &Shape, state: &State, source: &Source, conflict: Option<&Conflict>) -> Option<Outcome> {
    if let Some(key) = conflict.and_then(|c| c.arbiter.as_ref())
        && !state.keys.iter().any(|k| k.name == key.name)
    {
        let unknown = if key.constraint { "42704" } else { "42P10" };
        return Some(Outcome::errors(Errors::from([unknown])));
    }
    let rows = rows(shape, state, source);
    let forward = insert_rows(shape, state, &rows, conflict);
    let mut errors: Errors = rows.iter().filter_map(|r| r.as_ref().err().copied()).collect();
    let early = early_errors(shape, state, &rows, conflict);
    errors.extend(&early);
    if let Source::Values(_) = source {
        return Some(match forward {
            Ok(written) => Outcome {
                done: Some(written),
                errors: early,
            },
            Err(e) => {
                errors.insert(e);
                Outcome::errors(errors)
            }
        });
    }
    let reverse: Vec<_> = rows.iter().rev().cloned().collect();
    match (forward, insert_rows(shape, state, &reverse, conflict)) {
        (Ok(a), Ok(b)) => a.same_as(&b).then(|| Outcome::done(a)),
        (Err(a), Err(b)) => {
            errors.extend([a, b]);
            let refused = rows.iter().flatten().filter_map(|row| shape.refuses(row));
            errors.extend(refused);
            if errors.len() > 1 {
                // Rows meet keys in an order that is open.
                errors.extend(["23505"]);
                errors.extend(conflict.map(|_| "21000"));
            }
            Some(Outcome::errors(errors))
        }
        _ => None,
    }
}

/// Errors of SET for rows that are in the way when the statement begins. All are computed before the first row is written, so
/// that one may come before another error, or for a row that is gone when its turn comes.
fn early_errors(
    shape: &Shape,
    state: &State,
    rows: &[Result<Row, &'static str>],
    conflict: Option<&Conflict>,
) -> Errors {
    let (Some(key), Some(OnConflict::Update(set, condition))) = (
        conflict.and_then(|c| c.arbiter.as_ref()),
        conflict.map(|c| &c.action),
    ) else {
        return Errors::new();
    };
    let error = |row: &Row| {
        let old = &state.rows[&rival(state, key, row)?];
        let sight = Sight {
            row: old,
            excluded: Some(row),
            mapped: None,
        };
        condition.holds(old).then(|| set_row(shape, set, &sight).err())?
    };
    rows.iter().flatten().filter_map(error).collect()
}

/// The rows that are to be inserted, or the SQLSTATE of an error of their expressions.
fn rows(shape: &Shape, state: &State, source: &Source) -> Vec<Result<Row, &'static str>> {
    match source {
        Source::Values(rows) => {
            let row = |row: &Vec<Option<super::Cell>>| {
                let cells = row.iter().zip(&shape.columns).map(|(cell, column)| {
                    let cell = cell.as_ref().unwrap_or(&column.default);
                    fits(cell.clone(), column.kind)
                });
                cells.collect()
            };
            rows.iter().map(row).collect()
        }
        Source::Own(list, condition) => {
            let met = state.rows.values().filter(|row| condition.holds(row));
            let row = |row: &Row| {
                let sight = Sight {
                    row,
                    excluded: None,
                    mapped: None,
                };
                let cells = list.iter().enumerate();
                cells.map(|(c, e)| e.assigned(shape, c, &sight)).collect()
            };
            met.map(row).collect()
        }
    }
}

/// Inserts rows one after the other, as PostgreSQL does.
fn insert_rows(
    shape: &Shape,
    state: &State,
    rows: &[Result<Row, &'static str>],
    conflict: Option<&Conflict>,
) -> Result<Written, &'static str> {
    let mut written = Written::from(state.clone());
    let mut own = BTreeSet::new();
    for row in rows {
        let row = row.clone()?;
        if let Some(refused) = shape.refuses(&row) {
            return Err(refused);
        }
        let named = conflict.and_then(|c| c.arbiter.as_ref());
        let rival = named.and_then(|key| rival(&written.state, key, &row));
        match conflict.map(|c| &c.action) {
            Some(OnConflict::Nothing) if rival.is_some() => continue,
            Some(OnConflict::Nothing) if named.is_none() && written.state.meets(&row, None) => continue,
            Some(OnConflict::Update(set, condition)) if rival.is_some() => {
                let rival = rival.expect("it is there");
                if own.contains(&rival) {
                    return Err("21000");
                }
                let old = &written.state.rows[&rival];
                if !condition.holds(old) {
                    continue;
                }
                let sight = Sight {
                    row: old,
                    excluded: Some(&row),
                    mapped: None,
                };
                let new = set_row(shape, set, &sight)?;
                if written.state.meets(&new, Some(rival)) {
                    return Err("23505");
                }
                own.insert(rival);
                written.state.rows.insert(rival, new.clone());
                written.returned.push(new);
            }
            _ if written.state.meets(&row, None) => return Err("23505"),
            _ => {
                own.insert(written.state.add(row.clone()));
                written.returned.push(row);
            }
        }
    }
    Ok(written)
}

/// The row in the way under the key that is named, as the table has it now.
fn rival(state: &State, named: &Key, row: &Row) -> Option<u64> {
    let key = state.keys.iter().find(|k| k.name == named.name)?;
    state.rival(key, row, None)
}
