//! Grids: a statement for every choice of one entry of each axis, with PostgreSQL's recorded answers. `python/judge/grids.py` says what
//! their files look like, and records the answers.

use crate::memory;
use frazil::{Connection, Outcome};
use std::collections::BTreeMap;

/// Cells that are shown where a grid fails.
const SHOWN: usize = 40;

/// Every place where several expressions meet in one type, by every pair of types.
#[test]
fn common_types() {
    check("common_types");
}

/// Grouping sets over copies of columns, equal expressions and constants.
#[test]
fn grouping_sets() {
    check("grouping_sets");
}

/// Volatile functions in subqueries are called for each row: PostgreSQL, which runs them row by row, gives as many different values.
#[test]
fn volatile_functions() {
    check("volatile");
}

/// Quotients and averages of exact numbers, with the digits after the point that PostgreSQL gives them.
#[test]
fn quotients() {
    check("quotients");
}

/// A grid as its file has it.
struct Grid<'a> {
    setup: Vec<&'a str>,
    axes: Vec<Axis<'a>>,
    /// The text of a cell.
    cell: &'a str,
    /// A statement around up to `most` cells.
    statement: &'a str,
    most: usize,
    /// Cells that are meant to answer otherwise: for each axis the entries, or none for all.
    differs: Vec<(&'a str, Vec<Vec<&'a str>>)>,
    /// Answers by the names of all entries but the last.
    answers: BTreeMap<&'a str, Vec<&'a str>>,
}

struct Axis<'a> {
    name: &'a str,
    entries: Vec<Entry<'a>>,
}

struct Entry<'a> {
    name: &'a str,
    texts: Vec<&'a str>,
}

/// A cell: its names, the statement's text in its place, and the recorded answer.
struct Cell<'a> {
    names: Vec<&'a str>,
    text: String,
    wanted: &'a str,
}

impl<'a> Grid<'a> {
    fn read(text: &'a str) -> Grid<'a> {
        let mut grid = Grid {
            setup: vec![],
            axes: vec![],
            cell: "",
            statement: "",
            most: 1,
            differs: vec![],
            answers: BTreeMap::new(),
        };
        let mut section = "";
        for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
            if let Some(title) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                section = title;
                if let Some(name) = title.strip_prefix("axis ") {
                    grid.axes.push(Axis {
                        name,
                        entries: vec![],
                    });
                }
                if let Some(most) = title.strip_prefix("statement ") {
                    grid.most = most.parse().expect("a number of cells");
                }
                continue;
            }
            match section {
                "setup" => grid.setup.push(line),
                "cell" => grid.cell = line,
                "differs" => grid.differs.push(differing(line)),
                "answers" => {
                    let (names, answers) = line.split_once(":\t").expect("names and answers");
                    grid.answers.insert(names, answers.split('\t').collect());
                }
                _ if section.starts_with("statement ") => grid.statement = line,
                _ => {
                    let mut parts = line.split(" | ").map(str::trim);
                    let name = parts.next().unwrap_or_default();
                    let axis = grid.axes.last_mut().expect("an axis");
                    axis.entries.push(Entry {
                        name,
                        texts: parts.collect(),
                    });
                }
            }
        }
        grid
    }

    /// The cells of a line of answers: all entries of the last axis for a choice of the others.
    fn cells(&self, names: &'a str, answers: &[&'a str]) -> Vec<Cell<'a>> {
        let chosen: Vec<&str> = names.split("; ").collect();
        let (last, others) = self.axes.split_last().expect("axes");
        assert_eq!(
            (chosen.len(), answers.len()),
            (others.len(), last.entries.len()),
            "{names}"
        );
        let entry = |(axis, name): (&'_ Axis<'a>, &&str)| {
            let at = axis.entries.iter().position(|e| e.name == *name);
            at.unwrap_or_else(|| panic!("{name} is not an entry of axis {}", axis.name))
        };
        let chosen_at: Vec<usize> = others.iter().zip(&chosen).map(entry).collect();
        let cell = |(at, wanted): (usize, &&'a str)| {
            let entries = others
                .iter()
                .zip(&chosen_at)
                .map(|(axis, at)| (axis.name, &axis.entries[*at]));
            let all: Vec<(&str, &Entry)> = entries.chain([(last.name, &last.entries[at])]).collect();
            let mut text = self.cell.to_string();
            // Twice: an entry may name another axis.
            for (axis, entry) in all.iter().chain(&all) {
                for (i, given) in entry.texts.iter().enumerate() {
                    text = text.replace(&format!("{{{axis}.{}}}", i + 1), given);
                }
                text = text.replace(&format!("{{{axis}}}"), entry.texts[0]);
            }
            Cell {
                names: chosen.iter().copied().chain([last.entries[at].name]).collect(),
                text,
                wanted,
            }
        };
        answers.iter().enumerate().map(cell).collect()
    }
}

/// A line of `[differs]`: entries by axis, between `; `, each a list or `*` for all, and the reason.
fn differing(line: &str) -> (&str, Vec<Vec<&str>>) {
    let (cells, _reason) = line.split_once(": ").expect("cells and a reason");
    let entries = |axis| match axis {
        "*" => vec![],
        list => str::split(list, ", ").collect(),
    };
    (line, cells.split("; ").map(entries).collect())
}

/// What each cell of a statement answers, as the grid's file has it.
fn answers(c: &Connection, grid: &Grid<'_>, cells: &[&Cell<'_>]) -> Result<Vec<String>, String> {
    let texts: Vec<&str> = cells.iter().map(|cell| &cell.text[..]).collect();
    let sql = grid.statement.replace("{cell}", &texts.join(", "));
    match c.execute(&sql).map(|response| response.outcome) {
        Ok(Outcome::Rows(rows)) => {
            let types: Vec<_> = rows.schema().columns.iter().map(|c| c.ty).collect();
            let mut columns = vec![Vec::new(); cells.len()];
            for row in rows.raw() {
                for (at, value) in row.iter().enumerate() {
                    let shown = match value.is_null() {
                        true => "NULL".to_string(),
                        false => value.display(types[at]).to_string(),
                    };
                    columns[at].push(shown);
                }
            }
            Ok(columns.iter().map(|values| values.join("/")).collect())
        }
        Ok(Outcome::Command { tag, .. }) => panic!("{sql}: {tag}"),
        Err(error) => Err(format!("!{}", error.state())),
    }
}

/// Whether an answer is the recorded one. Where PostgreSQL has an internal error, any error will do.
fn is_wanted(got: &str, wanted: &str) -> bool {
    got == wanted || wanted == "!XX000" && got.starts_with('!')
}

/// Runs the cells that have values together, and those with errors, or whose statement fails, each by itself.
fn check(name: &str) {
    let path = format!("{}/tests/grids/{name}.grid", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the grid's file is there");
    let grid = Grid::read(&text);
    let c = memory();
    for sql in &grid.setup {
        c.execute(sql).unwrap_or_else(|e| panic!("{sql}: {e:?}"));
    }
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut differed = vec![false; grid.differs.len()];
    for (names, recorded) in &grid.answers {
        let cells = grid.cells(names, recorded);
        count += cells.len();
        let (failing, valued): (Vec<&Cell>, Vec<&Cell>) =
            cells.iter().partition(|c| c.wanted.starts_with('!'));
        let together = valued.chunks(grid.most).chain(failing.chunks(1));
        for batch in together {
            let got = answers(&c, &grid, batch).unwrap_or_else(|error| match batch {
                [_] => vec![error],
                batch => {
                    let alone = batch.iter().map(|cell| answers(&c, &grid, &[cell]));
                    alone
                        .map(|got| got.map_or_else(|error| error, |mut got| got.remove(0)))
                        .collect()
                }
            });
            for (cell, got) in batch.iter().zip(got) {
                if is_wanted(&got, cell.wanted) {
                    continue;
                }
                match grid
                    .differs
                    .iter()
                    .position(|(_, meant)| is_meant(meant, &cell.names))
                {
                    Some(at) => differed[at] = true,
                    None => wrong.push(format!(
                        "{}: {got}, not {}\n    {}",
                        cell.names.join("; "),
                        cell.wanted,
                        cell.text
                    )),
                }
            }
        }
    }
    let unneeded = grid
        .differs
        .iter()
        .zip(&differed)
        .filter(|(_, differed)| !**differed);
    wrong.extend(unneeded.map(|((line, _), _)| format!("nothing differs as [differs] says: {line}")));
    let shown = wrong
        .len()
        .min(std::env::var("FRAZIL_GRID_SHOWN").map_or(SHOWN, |n| n.parse().unwrap_or(SHOWN)));
    assert!(
        wrong.is_empty(),
        "{} of {count} cells differ:\n{}",
        wrong.len(),
        wrong[..shown].join("\n")
    );
}

fn is_meant(meant: &[Vec<&str>], names: &[&str]) -> bool {
    meant
        .iter()
        .zip(names)
        .all(|(list, name)| list.is_empty() || list.contains(name))
}
