//! The state of a sequence. It stands beside the versions of the catalog, which share it: a value that was given is
//! never taken back, whatever becomes of the transaction that took it.
//!
//! **Logged ahead.** Before a sequence gives a value, the log says durably that the value, and those of the next calls,
//! are given. After a crash a sequence goes on behind the values that the log covers, so that none is given twice, and
//! some may be given to nobody. A statement that takes many values logs as many ahead as it has taken.
//!
//! **Private.** The state of a sequence that a transaction creates or restarts is the transaction's own until it
//! commits, and is not logged: the record of the commit has it. The state that it replaces then leads to it, for
//! whoever still holds an older version.

use frazil_types::{Error, LogicalType, ObjectId, Result, SqlState};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

/// Values that a record of the log covers beyond those that a statement takes at once, at least. PostgreSQL's number.
const LEAST_AHEAD: u64 = 32;

/// The values that a sequence gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceDefinition {
    /// `smallint`, `integer` or `bigint`.
    pub ty: LogicalType,
    /// The first value, and the one of RESTART.
    pub start: i64,
    /// Added to a value to make the next one; not 0.
    pub increment: i64,
    /// The least value.
    pub min: i64,
    /// The greatest value.
    pub max: i64,
    /// Values that a session may set aside. Frazil keeps the number and sets none aside.
    pub cache: i64,
    /// True if the sequence begins again at its end.
    pub cycle: bool,
}

impl SequenceDefinition {
    /// The last value before the sequence ends or cycles.
    fn last(&self) -> i64 {
        match self.increment > 0 {
            true => self.max,
            false => self.min,
        }
    }

    /// The value behind the last one of a sequence that cycles.
    fn first(&self) -> i64 {
        match self.increment > 0 {
            true => self.min,
            false => self.max,
        }
    }

    /// The position of a sequence that gave no value.
    pub fn beginning(&self) -> Position {
        Position {
            value: self.start,
            is_called: false,
        }
    }
}

/// A sequence, for its state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers<'a> {
    /// Identity of the sequence.
    pub id: ObjectId,
    /// Name of the sequence.
    pub name: &'a str,
    /// The values that it gives.
    pub definition: &'a SequenceDefinition,
}

impl Numbers<'_> {
    /// 2200H.
    fn at_end(&self) -> Error {
        let (what, bound) = match self.definition.increment > 0 {
            true => ("maximum", self.definition.max),
            false => ("minimum", self.definition.min),
        };
        let message = format!(
            "nextval: reached {what} value of sequence \"{}\" ({bound})",
            self.name
        );
        Error::new(SqlState::SEQUENCE_LIMIT, message)
    }
}

/// The log of the states of sequences.
pub trait SequenceLog: fmt::Debug + Send + Sync {
    /// Returns once the log says durably that a sequence has a state. 58030, 53100, 08007 as a commit's.
    fn log(&self, sequence: ObjectId, position: Position) -> Result<()>;
}

/// A point in the values of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The last value, or the next one.
    pub value: i64,
    /// True if `value` was given; false if it is the next one to be given.
    pub is_called: bool,
}

/// The state of a sequence.
#[derive(Debug)]
pub struct SequenceState(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    position: Position,
    /// Values behind the position that the log covers.
    ahead: u64,
    kept: Kept,
}

/// The place where changes of the state go.
#[derive(Clone, Debug)]
enum Kept {
    /// Nowhere: the transaction that made the state has not committed.
    Private,
    /// Nowhere: the database is in memory, or is being opened.
    InMemory,
    /// Into a log.
    Logged(Arc<dyn SequenceLog>),
    /// Into the state that replaced this one.
    Replaced(Arc<SequenceState>),
}

impl SequenceState {
    /// A private state.
    pub fn new(position: Position) -> Arc<SequenceState> {
        SequenceState::kept(position, Kept::Private)
    }

    /// The state of a directory that is being opened.
    pub fn restored(position: Position) -> Arc<SequenceState> {
        SequenceState::kept(position, Kept::InMemory)
    }

    fn kept(position: Position, kept: Kept) -> Arc<SequenceState> {
        Arc::new(SequenceState(Mutex::new(Inner {
            position,
            ahead: 0,
            kept,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// True until the transaction that made the state commits.
    pub fn is_private(&self) -> bool {
        matches!(self.lock().kept, Kept::Private)
    }

    /// Ends the state's being private: changes go to a log, if there is one.
    pub fn share(&self, log: Option<Arc<dyn SequenceLog>>) {
        self.lock().kept = log.map_or(Kept::InMemory, Kept::Logged);
    }

    /// Leads whoever still has this state to the one that replaced it.
    pub fn replace_by(&self, next: &Arc<SequenceState>) {
        self.lock().kept = Kept::Replaced(next.clone());
    }

    /// Runs `work` on the state that counts: this one, or the last of those that replaced it.
    fn with<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> T {
        let mut last: Option<Arc<SequenceState>> = None;
        loop {
            let mut inner = last.as_deref().unwrap_or(self).lock();
            let Kept::Replaced(next) = &inner.kept else {
                return work(&mut inner);
            };
            let next = next.clone();
            drop(inner);
            last = Some(next);
        }
    }

    /// The position of the sequence (`last_value`, `is_called`), and the number of values behind it that the log covers
    /// (`log_cnt`).
    pub fn shown(&self) -> (Position, u64) {
        self.with(|inner| (inner.position, inner.ahead))
    }

    /// The position of the sequence, to be written to a manifest. The next value is logged anew, behind the manifest.
    pub fn checkpointed(&self) -> Position {
        self.with(|inner| {
            inner.ahead = 0;
            inner.position
        })
    }

    /// Goes to a position that the log of a directory has.
    pub fn replay(&self, position: Position) {
        self.with(|inner| inner.position = position);
    }

    /// `setval`. 22003 beyond the bounds of the sequence; the errors of the log.
    pub(crate) fn set(&self, of: Numbers<'_>, position: Position) -> Result<()> {
        let SequenceDefinition { min, max, .. } = *of.definition;
        if !(min..=max).contains(&position.value) {
            let message = format!(
                "setval: value {} is out of bounds for sequence \"{}\" ({min}..{max})",
                position.value, of.name
            );
            return Err(Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message));
        }
        self.with(|inner| {
            inner.kept.log(of.id, position)?;
            inner.position = position;
            inner.ahead = 0;
            Ok(())
        })
    }

    /// Takes the next `count` values into `out`, for a statement that took `taken` values before. 2200H at the end of a
    /// sequence that does not cycle; the errors of the log, in which case nothing is taken.
    pub(crate) fn take(&self, of: Numbers<'_>, count: usize, taken: u64, out: &mut Vec<i64>) -> Result<()> {
        self.with(|inner| {
            let mut left = count;
            while left > 0 {
                let run = inner.run(of, left)?;
                inner.cover(of, &run, taken)?;
                out.extend((0..run.count).map(|at| run.value(at)));
                inner.position = Position {
                    value: run.value(run.count - 1),
                    is_called: true,
                };
                inner.ahead -= run.count;
                left -= run.count as usize;
            }
            Ok(())
        })
    }
}

/// Values in a row, none of which is beyond the sequence's bounds.
struct Run {
    first: i64,
    increment: i64,
    /// Values that are wanted.
    count: u64,
    /// Values up to the bound.
    available: u64,
}

impl Run {
    /// The value at a position below `available`.
    fn value(&self, at: u64) -> i64 {
        (i128::from(self.first) + i128::from(self.increment) * i128::from(at)) as i64
    }
}

impl Inner {
    /// The next values, at most `count` of them. 2200H.
    fn run(&self, of: Numbers<'_>, count: usize) -> Result<Run> {
        let definition = of.definition;
        let increment = definition.increment;
        let next = match self.position.is_called {
            false => i128::from(self.position.value),
            true => i128::from(self.position.value) + i128::from(increment),
        };
        let bound = definition.last();
        let is_beyond = match increment > 0 {
            true => next > i128::from(bound),
            false => next < i128::from(bound),
        };
        let first = match (is_beyond, definition.cycle) {
            (false, _) => next as i64,
            (true, true) => definition.first(),
            (true, false) => return Err(of.at_end()),
        };
        let available = (i128::from(bound) - i128::from(first)) / i128::from(increment) + 1;
        let available = u64::try_from(available).unwrap_or(u64::MAX);
        Ok(Run {
            first,
            increment,
            count: available.min(count as u64),
            available,
        })
    }

    /// Sees to it that the log covers the values of a run.
    fn cover(&mut self, of: Numbers<'_>, run: &Run, taken: u64) -> Result<()> {
        if self.position.is_called && run.count <= self.ahead {
            return Ok(());
        }
        let more = LEAST_AHEAD.max(taken).min(run.available - run.count);
        let covered = Position {
            value: run.value(run.count + more - 1),
            is_called: true,
        };
        self.kept.log(of.id, covered)?;
        self.ahead = run.count + more;
        Ok(())
    }
}

impl Kept {
    fn log(&self, sequence: ObjectId, position: Position) -> Result<()> {
        match self {
            Kept::Private | Kept::InMemory => Ok(()),
            Kept::Logged(log) => log.log(sequence, position),
            Kept::Replaced(_) => Err(Error::internal("a sequence's state that another one replaced")),
        }
    }
}
