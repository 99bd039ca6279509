//! `\crosstabview`: rows with a value each become a table with a column for every value of another column.

use super::command::Call;
use crate::complaint::Complaint;
use crate::shell::Next;
use crate::text::unquoted;
use frazil::{ColumnDef, ColumnVector, RawValue as Value, RowBatch, Rows, Schema};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Most columns that a table gets, as in psql.
const MAX_COLUMNS: usize = 1600;
/// Most cells, with or without a value: what is shown whole has to fit into memory.
const MAX_CELLS: usize = 10_000_000;

/// Runs the statement and shows its rows as such a table.
pub fn crosstab(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let words = call.words();
    if let [_, _, _, _, more, ..] = &words[..] {
        return Err(call.wrong("at most four columns", more));
    }
    let text = super::statements::statement(call)?;
    call.shell
        .run_statement_changed(&text, |rows| pivoted(rows, &words))?;
    Ok(Next::More)
}

/// Places of the columns in the result.
#[derive(Debug, PartialEq, Eq)]
struct Roles {
    /// Its values begin the rows.
    down: usize,
    /// Its values become the names of columns.
    across: usize,
    /// Its values stand in the cells.
    value: usize,
    /// Its whole numbers order the columns; without it they stand in the order in which they come.
    rank: Option<usize>,
}

impl Roles {
    /// Those that the words name, or what psql takes where they are silent.
    fn of(names: &[&str], words: &[String]) -> Result<Roles, Complaint> {
        if names.len() < 3 {
            return Err(complaint(format!(
                "the statement has to give at least three columns, not {}",
                names.len()
            )));
        }
        let at = |word: usize| words.get(word).map(|word| place(names, word)).transpose();
        let (down, across) = (at(0)?.unwrap_or(0), at(1)?.unwrap_or(1));
        if down == across {
            return Err(complaint(format!(
                "column \"{}\" cannot go both down and across",
                names[down]
            )));
        }
        let value = match at(2)? {
            Some(value) => value,
            None if names.len() > 3 => {
                return Err(complaint(format!(
                    "the third argument has to name the column of values, for the statement gives {} columns",
                    names.len()
                )));
            }
            // The one of three that is neither of the others.
            None => 3 - down - across,
        };
        let rank = at(3)?;
        Ok(Roles {
            down,
            across,
            value,
            rank,
        })
    }
}

/// The place of a column that is named, or numbered from 1.
fn place(names: &[&str], word: &str) -> Result<usize, Complaint> {
    if !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()) {
        let number = word.parse().unwrap_or(usize::MAX);
        return match number {
            1.. if number <= names.len() => Ok(number - 1),
            _ => Err(complaint(format!(
                "there is no column {word}: they go from 1 to {}",
                names.len()
            ))),
        };
    }
    let name = unquoted(word);
    let mut found = (0..names.len()).filter(|&i| names[i] == name);
    match (found.next(), found.next()) {
        (Some(place), None) => Ok(place),
        (Some(_), Some(_)) => Err(complaint(format!("several columns are named \"{name}\""))),
        (None, _) => Err(complaint(format!(
            "there is no column \"{name}\"; there are {}",
            names.join(", ")
        ))),
    }
}

fn complaint(text: String) -> Complaint {
    Complaint::usage(format!("\\crosstabview: {text}"))
}

/// Different values in the order in which they come, told apart by how they are shown.
#[derive(Default)]
struct Headings {
    places: HashMap<Option<String>, usize>,
    values: Vec<Value>,
}

impl Headings {
    /// The place of a value, and whether it is new.
    fn place(&mut self, value: Value, shown: Option<String>) -> (usize, bool) {
        let next = self.values.len();
        match self.places.entry(shown) {
            Entry::Occupied(found) => (*found.get(), false),
            Entry::Vacant(free) => {
                free.insert(next);
                self.values.push(value);
                (next, true)
            }
        }
    }
}

/// The table: a row for each value that goes down, a column for each that goes across. A cell without a row is NULL.
fn pivoted(rows: &Rows, words: &[String]) -> Result<Rows, Complaint> {
    let columns = &rows.schema().columns;
    let names: Vec<&str> = columns.iter().map(|c| &*c.name).collect();
    let roles = Roles::of(&names, words)?;
    let (mut down, mut across) = (Headings::default(), Headings::default());
    let mut ranks: Vec<i64> = Vec::new();
    let mut cells: HashMap<(usize, usize), Value> = HashMap::new();
    for row in rows.raw() {
        let shown = |at: usize| (!row[at].is_null()).then(|| row[at].display(columns[at].ty).to_string());
        let (y, _) = down.place(row[roles.down].clone(), shown(roles.down));
        let (x, is_new) = across.place(row[roles.across].clone(), shown(roles.across));
        if is_new {
            if x == MAX_COLUMNS {
                return Err(complaint(format!(
                    "column \"{}\" has more than {MAX_COLUMNS} values, each of which would be a column",
                    names[roles.across]
                )));
            }
            // As in psql, what is no whole number counts as 0.
            let rank = roles.rank.and_then(shown).and_then(|text| text.parse().ok());
            ranks.push(rank.unwrap_or(0));
        }
        if cells.insert((y, x), row[roles.value].clone()).is_some() {
            let named = |at: usize| shown(at).unwrap_or_else(|| "NULL".to_owned());
            return Err(complaint(format!(
                "there are several values for row \"{}\" and column \"{}\"",
                named(roles.down),
                named(roles.across)
            )));
        }
    }
    let height = down.values.len();
    if height.saturating_mul(ranks.len()) > MAX_CELLS {
        return Err(complaint(format!(
            "{height} rows of {} columns are more than {MAX_CELLS} cells",
            ranks.len()
        )));
    }
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|&x| ranks[x]);
    let (heading, value) = (&columns[roles.down], &columns[roles.value]);
    let mut schema = vec![ColumnDef::new(heading.name.clone(), heading.ty)];
    let mut vectors = vec![ColumnVector::from_values(heading.ty, &down.values)];
    for x in order {
        let name = match &across.values[x] {
            Value::Null => String::new(),
            name => name.display(columns[roles.across].ty).to_string(),
        };
        schema.push(ColumnDef::new(name, value.ty));
        let taken = (0..height).map(|y| cells.remove(&(y, x)).unwrap_or(Value::Null));
        let taken: Vec<Value> = taken.collect();
        vectors.push(ColumnVector::from_values(value.ty, &taken));
    }
    let batch = RowBatch {
        columns: vectors,
        rows: height,
    };
    Ok(Rows::new(Schema::new(schema).into(), vec![batch]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(names: &[&str], words: &[&str]) -> Result<Roles, String> {
        let words: Vec<String> = words.iter().map(|&w| w.to_owned()).collect();
        Roles::of(names, &words).map_err(|complaint| complaint.message().to_owned())
    }

    #[test]
    fn columns_are_named_or_numbered_or_what_is_left() {
        let made = |down, across, value, rank| {
            Ok(Roles {
                down,
                across,
                value,
                rank,
            })
        };
        assert_eq!(roles(&["a", "b", "c"], &[]), made(0, 1, 2, None));
        assert_eq!(roles(&["a", "b", "c"], &["C", "1"]), made(2, 0, 1, None));
        assert_eq!(
            roles(&["a", "b", "c", "D"], &["2", "a", "c", "\"D\""]),
            made(1, 0, 2, Some(3))
        );
    }

    #[test]
    fn columns_that_cannot_be_are_named() {
        for (names, words, wanted) in [
            (&["a", "b"][..], &[][..], "at least three columns, not 2"),
            (&["a", "b", "c", "d"], &[], "third argument"),
            (&["a", "a", "c"], &["a"], "several columns are named \"a\""),
            (&["a", "b", "c"], &["4"], "no column 4: they go from 1 to 3"),
            (&["a", "b", "c"], &["0"], "no column 0"),
            (&["a", "b", "c"], &["b"], "\"b\" cannot go both"),
            (&["a", "b", "c"], &["x"], "no column \"x\"; there are a, b, c"),
        ] {
            let told = roles(names, words).expect_err("it is refused");
            assert!(told.contains(wanted), "{told}");
        }
    }
}
