//! The cursors that DECLARE named, and their end with the transaction.

use super::cursor::Cursor;
use crate::parameters;
use crate::session_view::{ListedCursor, ListedCursors};
use frazil_frontend::CursorOptions;
use frazil_types::{Cancel, Error, ObjectId, Result, SqlState};
use std::sync::Arc;

/// The cursors of a session.
#[derive(Debug)]
pub struct NamedCursors {
    list: Vec<NamedCursor>,
    /// Those of `list`.
    listed: ListedCursors,
    /// The savepoints of the open transaction, each with the number of the first cursor behind it.
    savepoints: Vec<(String, u64)>,
    /// The number of the next cursor.
    next: u64,
}

#[derive(Debug)]
struct NamedCursor {
    listed: Arc<ListedCursor>,
    cursor: Cursor,
    /// Counted in the order of DECLARE.
    number: u64,
    /// True while the transaction is open that declared it.
    is_of_transaction: bool,
}

impl NamedCursor {
    /// True if it outlives its transaction: it is WITH HOLD, and gave no error.
    fn can_be_held(&self) -> bool {
        self.listed.options.is_held && !self.cursor.has_failed()
    }
}

impl NamedCursors {
    /// No cursors; `listed` will show them.
    pub fn new(listed: ListedCursors) -> NamedCursors {
        NamedCursors {
            list: Vec::new(),
            listed,
            savepoints: Vec::new(),
            next: 0,
        }
    }

    /// Shows the cursors anew.
    fn tell(&self) {
        *self.listed.list() = self.list.iter().map(|known| known.listed.clone()).collect();
    }

    /// Adds a cursor with its text and the tables that it reads. `is_of_transaction`: true if a transaction is open,
    /// with which the cursor ends unless it is WITH HOLD.
    pub fn add(
        &mut self,
        name: String,
        options: CursorOptions,
        cursor: Cursor,
        (text, tables): (Arc<str>, Vec<ObjectId>),
        is_of_transaction: bool,
    ) {
        let listed = ListedCursor {
            name,
            text,
            tables,
            options,
            declared: parameters::now_micros(),
        };
        self.list.push(NamedCursor {
            listed: Arc::new(listed),
            cursor,
            number: self.next,
            is_of_transaction,
        });
        self.next += 1;
        self.tell();
    }

    /// 42P03 for a name that is taken.
    pub fn check_free(&self, name: &str) -> Result<()> {
        match self.list.iter().any(|known| known.listed.name == name) {
            true => {
                let message = format!("cursor \"{name}\" already exists");
                Err(Error::new(SqlState::DUPLICATE_CURSOR, message))
            }
            false => Ok(()),
        }
    }

    fn find(&self, name: &str) -> Result<usize> {
        let found = self.list.iter().position(|known| known.listed.name == name);
        found.ok_or_else(|| {
            let message = format!("cursor \"{name}\" does not exist");
            Error::new(SqlState::INVALID_CURSOR_NAME, message)
        })
    }

    /// The cursor of a name, with its options. 34000.
    pub fn get(&self, name: &str) -> Result<(&Cursor, CursorOptions)> {
        let known = &self.list[self.find(name)?];
        Ok((&known.cursor, known.listed.options))
    }

    /// The cursor of a name, to be moved. 34000; 55000 for a cursor that gave an error.
    pub fn get_mut(&mut self, name: &str) -> Result<&mut Cursor> {
        let at = self.find(name)?;
        let cursor = &mut self.list[at].cursor;
        match cursor.has_failed() {
            true => {
                let message = format!("portal \"{name}\" cannot be run");
                Err(Error::new(SqlState::NOT_IN_STATE, message))
            }
            false => Ok(cursor),
        }
    }

    /// Closes a cursor, all without a name. 34000.
    pub fn close(&mut self, name: Option<&str>) -> Result<()> {
        match name {
            Some(name) => drop(self.list.remove(self.find(name)?)),
            None => self.list.clear(),
        }
        self.tell();
        Ok(())
    }

    /// Computes the rows of the transaction's cursors WITH HOLD, before it commits. The errors of their queries.
    pub fn hold(&mut self, cancel: &Cancel) -> Result<()> {
        let held = self
            .list
            .iter_mut()
            .filter(|known| known.is_of_transaction && known.can_be_held());
        held.map(|known| &mut known.cursor)
            .try_for_each(|cursor| cursor.hold(cancel))
    }

    /// The transaction ended: its cursors are closed, save those WITH HOLD if it committed.
    pub fn end_transaction(&mut self, is_committed: bool) {
        self.savepoints.clear();
        if self.list.is_empty() {
            return;
        }
        self.list
            .retain(|known| !known.is_of_transaction || (is_committed && known.can_be_held()));
        self.list.iter_mut().for_each(|known| {
            known.is_of_transaction = false;
            if !known.listed.tables.is_empty() {
                // Its rows are kept now.
                Arc::make_mut(&mut known.listed).tables.clear();
            }
        });
        self.tell();
    }

    /// Notes a savepoint of the open transaction.
    pub fn savepoint(&mut self, name: &str) {
        self.savepoints.push((name.to_owned(), self.next));
    }

    /// Forgets a savepoint and those behind it. Their cursors stay.
    pub fn release(&mut self, name: &str) {
        if let Some(at) = self.savepoints.iter().rposition(|known| known.0 == name) {
            self.savepoints.truncate(at);
        }
    }

    /// Closes the cursors that were declared behind a savepoint.
    pub fn rollback_to(&mut self, name: &str) {
        if let Some(at) = self.savepoints.iter().rposition(|known| known.0 == name) {
            let first = self.savepoints[at].1;
            self.savepoints.truncate(at + 1);
            self.list.retain(|known| known.number < first);
            self.tell();
        }
    }
}
