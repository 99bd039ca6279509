//! The twelve consistency conditions (TPC-C, 3.3.2).

use crate::named_statements::named;
use frazil::{Connection, Result};
use std::fmt;

/// The queries, each of which returns the keys of rows that break a condition.
const FILE: &str = include_str!("../sql/conditions.sql");
/// The number of conditions.
pub const CONDITIONS: usize = 12;

/// A condition that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Its number and its words.
    pub condition: &'static str,
    /// The number of rows that break it.
    pub rows: usize,
    /// The key of the first one.
    pub first: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Broken {
            condition,
            rows,
            first,
        } = self;
        write!(
            f,
            "condition {condition}: {rows} rows break it, the first has the key {first}"
        )
    }
}

/// Checks all conditions; returns those that do not hold.
pub fn broken_conditions(connection: &Connection) -> Result<Vec<Broken>> {
    let mut broken = Vec::new();
    for (condition, query) in named(FILE) {
        let rows = connection.query(&query, ())?;
        if let Some(row) = rows.iter().next() {
            let key: Vec<String> = row.values().iter().map(|value| format!("{value:?}")).collect();
            broken.push(Broken {
                condition,
                rows: rows.len(),
                first: key.join(", "),
            });
        }
    }
    Ok(broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_numbered() {
        let numbers: Vec<String> = named(FILE)
            .map(|(name, _)| name.split(':').next().unwrap_or_default().to_owned())
            .collect();
        let wanted: Vec<String> = (1..=CONDITIONS).map(|number| number.to_string()).collect();
        assert_eq!(numbers, wanted);
    }
}
