//! The analytical queries of the CH-benCHmark.

use crate::named_statements::named;
use crate::population::Population;

const FILE: &str = include_str!("../sql/questions.sql");
/// The number of queries.
pub const QUESTIONS: usize = 22;

/// Name and text of each query, for tables of these sizes, in the order of TPC-H.
pub fn questions(population: &Population) -> Vec<(&'static str, String)> {
    let suppliers = population.suppliers().to_string();
    named(FILE)
        .map(|(name, text)| (name, text.replace("{suppliers}", &suppliers)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_numbered_and_complete() {
        let found = questions(&Population::new(1));
        let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
        let wanted: Vec<String> = (1..=QUESTIONS).map(|number| format!("q{number:02}")).collect();
        assert_eq!(names, wanted);
        assert!(found.iter().all(|(_, text)| !text.contains('{')));
    }
}
