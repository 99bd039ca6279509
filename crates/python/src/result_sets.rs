//! What statements gave, and how far it was fetched.

use frazil::{Notice, Outcome, Response, Rows};
use std::collections::VecDeque;
use std::sync::Arc;

/// A result with rows, or that of a command.
#[derive(Clone, Debug)]
pub struct ResultSet {
    /// Its rows.
    pub rows: Option<Arc<Rows>>,
    /// Rows returned or written; -1 where that has no meaning.
    pub count: i64,
    /// The batch that holds the next row.
    batch: usize,
    /// The next row in its batch.
    row: usize,
    /// Rows fetched so far.
    pub fetched: u64,
}

impl Default for ResultSet {
    fn default() -> ResultSet {
        ResultSet {
            rows: None,
            count: -1,
            batch: 0,
            row: 0,
            fetched: 0,
        }
    }
}

/// Rows of a result that lie behind each other.
pub struct Taken {
    /// The result.
    pub rows: Arc<Rows>,
    /// Batch and row in it of the first one.
    pub from: (usize, usize),
    /// How many.
    pub count: usize,
}

impl ResultSet {
    /// A result that says how many rows were written.
    pub fn of_count(count: i64) -> ResultSet {
        ResultSet {
            count,
            ..ResultSet::default()
        }
    }

    /// Rows, of which none were fetched.
    pub fn of_rows(rows: Arc<Rows>) -> ResultSet {
        ResultSet {
            count: rows.len() as i64,
            rows: Some(rows),
            ..ResultSet::default()
        }
    }

    fn of(response: Response) -> ResultSet {
        match response.outcome {
            Outcome::Rows(rows) => ResultSet::of_rows(Arc::new(rows)),
            Outcome::Command { rows, .. } => ResultSet::of_count(rows.map_or(-1, |rows| rows as i64)),
        }
    }

    /// Moves on by `limit` rows, or to the end; the rows passed. `None` for a command.
    pub fn take(&mut self, limit: usize) -> Option<Taken> {
        let rows = self.rows.clone()?;
        let from = (self.batch, self.row);
        let mut count = 0;
        while count < limit
            && let Some(batch) = rows.batches().get(self.batch)
        {
            let part = (batch.rows - self.row).min(limit - count);
            (count, self.row) = (count + part, self.row + part);
            if self.row == batch.rows {
                (self.batch, self.row) = (self.batch + 1, 0);
            }
        }
        self.fetched += count as u64;
        Some(Taken { rows, from, count })
    }
}

/// The results of a text: those with rows, or else the last one.
#[derive(Debug, Default)]
pub struct ResultSets {
    /// The current one.
    pub current: ResultSet,
    /// Those behind it.
    following: VecDeque<ResultSet>,
    /// What the statements said though they succeeded.
    pub notices: Vec<Notice>,
}

impl ResultSets {
    /// The result of a statement alone.
    pub fn one(response: Response) -> ResultSets {
        let mut sets = ResultSets::default();
        sets.push(response);
        sets
    }

    /// The number of rows that statements wrote.
    pub fn of_count(count: i64) -> ResultSets {
        ResultSets {
            current: ResultSet::of_count(count),
            ..ResultSets::default()
        }
    }

    /// Adds the result of the next statement.
    pub fn push(&mut self, mut response: Response) {
        self.notices.append(&mut response.notices);
        let set = ResultSet::of(response);
        match (&self.current.rows, &set.rows) {
            (None, _) => self.current = set,
            (Some(_), Some(_)) => self.following.push_back(set),
            (Some(_), None) => {}
        }
    }

    /// Moves to the next result; whether there is one.
    pub fn next(&mut self) -> bool {
        match self.following.pop_front() {
            Some(set) => {
                self.current = set;
                true
            }
            None => false,
        }
    }
}
