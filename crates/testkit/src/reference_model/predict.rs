//! Effects of statements on the model: transactions, savepoints, SET CONSTRAINTS, and changes of rows in several
//! orders.

use super::events::{ENDLESS, Event, Modes, Order, Run};
use super::statement::{Change, Condition, Conflict, Expression, Statement};
use super::{Cell, Code, Row, Seen, Table, World};
use crate::Random;
use std::collections::{BTreeSet, VecDeque};

/// Orders of rows that are tried besides those of writing and its reverse.
const SHUFFLES: u64 = 3;

/// A session over the tables.
#[derive(Clone, Debug)]
pub struct Model {
    /// The tables as the session sees them.
    pub world: World,
    open: Option<Open>,
    /// Counts of events so far.
    pub seen: Seen,
}

/// An open transaction.
#[derive(Clone, Debug)]
struct Open {
    begin: World,
    /// With the state when each was set.
    savepoints: Vec<(&'static str, World, Vec<Event>, Modes)>,
    deferred: Vec<Event>,
    modes: Modes,
    failed: bool,
}

/// Prescribes the outcome of a statement.
pub struct Prediction {
    /// The model afterwards.
    pub model: Model,
    /// Rows that a change counts.
    pub count: Option<u64>,
    /// Empty if the statement succeeds; else one of these is its SQLSTATE.
    pub errors: BTreeSet<Code>,
}

impl Model {
    /// A session outside of a transaction.
    pub fn new(world: World) -> Model {
        Model {
            world,
            open: None,
            seen: Seen::new(),
        }
    }

    /// The tables as others see them.
    pub fn committed(&self) -> &World {
        self.open.as_ref().map_or(&self.world, |open| &open.begin)
    }

    /// A transaction is open.
    pub fn is_inside(&self) -> bool {
        self.open.is_some()
    }

    /// The open transaction refuses everything but its end.
    pub fn is_failed(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.failed)
    }

    /// Checks wait for COMMIT.
    pub fn is_pending(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !open.deferred.is_empty())
    }

    /// The savepoints that are set.
    pub fn savepoints(&self) -> Vec<&'static str> {
        let open = self.open.iter().flat_map(|open| &open.savepoints);
        open.map(|s| s.0).collect()
    }

    /// The model after the session ended in the middle.
    pub fn cut(&self) -> Model {
        let mut model = Model::new(self.committed().clone());
        model.seen = self.seen.clone();
        model
    }

    /// Predicts a statement; `None` if its effect depends on the order of rows, or if it names what is not there.
    pub fn predict(&self, statement: &Statement) -> Option<Prediction> {
        statement.sql(&self.world)?;
        if let Some(outcome) = self.ended(statement) {
            return Some(outcome);
        }
        if self.is_failed() {
            return Some(self.refused(BTreeSet::from(["25P02"]), Seen::new()));
        }
        if let Statement::Begin | Statement::Savepoint(_) | Statement::Release(_) = statement {
            return self.control(statement);
        }
        let random = |n| Order::Shuffled(Random::new(self.world.next + n));
        let orders = [Order::Forward, Order::Backward]
            .into_iter()
            .chain((0..SHUFFLES).map(random));
        let mut ends = orders.map(|order| self.run(statement, order));
        let first = ends.next()??;
        let mut errors: BTreeSet<Code> = first.1.err().into_iter().collect();
        for end in ends {
            let end = end?;
            match (&first.1, end.1) {
                (Ok(a), Ok(b)) if a == &b && same(&first.0, &end.0) => {}
                (Err(_), Err(code)) => drop(errors.insert(code)),
                _ => return None,
            }
        }
        if errors.contains(ENDLESS) {
            return None;
        }
        let run = first.0;
        let seen = run.seen.clone();
        let Ok(count) = first.1 else {
            return Some(self.refused(errors, seen));
        };
        let mut model = self.clone();
        model.add(seen);
        model.world = run.world;
        match &mut model.open {
            Some(open) => (open.deferred, open.modes) = (run.deferred, run.modes),
            None => model.settle(),
        }
        let errors = BTreeSet::new();
        Some(Prediction { model, count, errors })
    }

    fn add(&mut self, seen: Seen) {
        for (what, n) in seen {
            *self.seen.entry(what).or_default() += n;
        }
    }

    /// Every row is committed.
    fn settle(&mut self) {
        let rows = self.world.tables.iter_mut().flat_map(|t| &mut t.rows);
        rows.for_each(|r| r.own = false);
    }

    fn refused(&self, errors: BTreeSet<Code>, seen: Seen) -> Prediction {
        let mut model = self.clone();
        model.add(seen);
        if let Some(open) = &mut model.open {
            open.failed = true;
        }
        Prediction {
            model,
            count: None,
            errors,
        }
    }

    fn done(model: Model) -> Prediction {
        Prediction {
            model,
            count: None,
            errors: BTreeSet::new(),
        }
    }

    /// COMMIT, ROLLBACK and ROLLBACK TO, which a failed transaction takes, too.
    fn ended(&self, statement: &Statement) -> Option<Prediction> {
        let mut model = self.clone();
        match (statement, &self.open) {
            (Statement::Commit, Some(open)) if !open.failed => {
                let mut run = self.start(Order::Forward);
                let checked = run.finish_deferred(|_| true);
                model.open = None;
                model.add(run.seen);
                let mut errors = BTreeSet::new();
                match checked {
                    Ok(()) => model.settle(),
                    Err(code) => {
                        model.world = open.begin.clone();
                        errors.insert(code);
                    }
                }
                Some(Prediction {
                    errors,
                    ..Model::done(model)
                })
            }
            (Statement::Commit | Statement::Rollback, Some(_)) => Some(Model::done(self.cut())),
            (Statement::Commit | Statement::Rollback, None) => Some(Model::done(model)),
            (Statement::RollbackTo(name), Some(_)) => {
                let open = model.open.as_mut().expect("it is open");
                let Some(at) = open.savepoints.iter().rposition(|s| s.0 == *name) else {
                    return Some(self.refused(BTreeSet::from(["3B001"]), Seen::new()));
                };
                open.savepoints.truncate(at + 1);
                open.failed = false;
                (model.world, open.deferred, open.modes) = {
                    let (_, world, deferred, modes) = open.savepoints[at].clone();
                    (world, deferred, modes)
                };
                Some(Model::done(model))
            }
            (Statement::RollbackTo(_), None) => Some(self.refused(BTreeSet::from(["25P01"]), Seen::new())),
            _ => None,
        }
    }

    fn control(&self, statement: &Statement) -> Option<Prediction> {
        let mut model = self.clone();
        match (statement, &mut model.open) {
            (Statement::Begin, None) => {
                model.open = Some(Open {
                    begin: self.world.clone(),
                    savepoints: Vec::new(),
                    deferred: Vec::new(),
                    modes: Modes::default(),
                    failed: false,
                });
            }
            (Statement::Savepoint(name), Some(open)) => {
                let state = (
                    *name,
                    model.world.clone(),
                    open.deferred.clone(),
                    open.modes.clone(),
                );
                open.savepoints.push(state);
            }
            (Statement::Release(name), Some(open)) => {
                let Some(at) = open.savepoints.iter().rposition(|s| s.0 == *name) else {
                    return Some(self.refused(BTreeSet::from(["3B001"]), Seen::new()));
                };
                open.savepoints.truncate(at);
            }
            _ => return None,
        }
        Some(Model::done(model))
    }

    fn start(&self, order: Order) -> Run {
        let open = self.open.as_ref();
        Run {
            world: self.world.clone(),
            queue: VecDeque::new(),
            deferred: open.map_or_else(Vec::new, |o| o.deferred.clone()),
            modes: open.map_or_else(Modes::default, |o| o.modes.clone()),
            order,
            seen: Seen::new(),
        }
    }

    /// Runs a statement with rows in an order, and to the end of its transaction if none is open.
    fn run(&self, statement: &Statement, order: Order) -> Option<(Run, Result<Option<u64>, Code>)> {
        let mut run = self.start(order);
        let result = match statement {
            Statement::Change(table, change) => change.run(&mut run, *table)?,
            Statement::SetConstraints(which, deferred) => {
                run.set_constraints(*which, *deferred).map(|()| None)
            }
            _ => {
                let defined = run.world.define(statement, &run.deferred)?;
                if let (Ok(()), Some(what)) = (&defined, statement.kind()) {
                    run.count(what);
                }
                defined.map(|()| None)
            }
        };
        let result = result.and_then(|count| run.finish().map(|()| count));
        let result = match self.open {
            None => result.and_then(|count| run.finish_deferred(|_| true).map(|()| count)),
            Some(_) => result,
        };
        Some((run, result))
    }
}

/// Two runs end with the same rows and the same checks that wait.
fn same(a: &Run, b: &Run) -> bool {
    let waiting = |run: &Run| {
        let mut numbers: Vec<u64> = run.deferred.iter().map(|e| e.constraint).collect();
        numbers.sort_unstable();
        numbers
    };
    a.world.shown() == b.world.shown() && waiting(a) == waiting(b)
}

impl Run {
    fn set_constraints(&mut self, which: Option<u64>, deferred: bool) -> Result<(), Code> {
        match which {
            None => {
                self.modes.named.clear();
                self.modes.all = Some(deferred);
            }
            Some(number) => {
                let foreign = self.world.foreign_keys.iter().find(|k| k.number == number);
                let keys = self.world.tables.iter().flat_map(|t| &t.keys);
                let unique = keys
                    .clone()
                    .find(|k| k.number == number)
                    .and_then(|k| k.deferrable);
                if deferred && foreign.and_then(|k| k.deferrable).or(unique).is_none() {
                    return Err("42809");
                }
                self.modes.named.insert(number, deferred);
            }
        }
        match deferred {
            true => Ok(()),
            false => self.finish_deferred(|event| which.is_none_or(|n| n == event.constraint)),
        }
    }
}

impl Condition {
    fn holds(&self, table: &Table, row: &Row) -> Option<bool> {
        let cell = |id: &usize| Some(row.cells[table.at(*id)?]);
        Some(match self {
            Condition::All => true,
            Condition::Equal(c, n) => cell(c)? == Some(*n),
            Condition::AtLeast(c, n) => cell(c)?.is_some_and(|cell| cell >= *n),
            Condition::IsNull(c) => cell(c)?.is_none(),
        })
    }
}

/// The row that SET makes of a row.
fn set(table: &Table, set: &[(usize, Expression)], cells: &[Cell]) -> Option<Vec<Cell>> {
    let mut new = cells.to_vec();
    for (id, e) in set {
        let at = table.at(*id)?;
        new[at] = match e {
            Expression::Constant(cell) => *cell,
            Expression::Default => table.columns[at].default,
            Expression::Plus(of, n) => cells[table.at(*of)?].map(|c| c + n),
        };
    }
    Some(new)
}

impl Change {
    /// Writes the rows of a statement and queues their events; the number of rows.
    fn run(&self, run: &mut Run, table: usize) -> Option<Result<Option<u64>, Code>> {
        let met = |run: &Run, condition: &Condition| -> Option<Vec<Row>> {
            let t = &run.world.tables[table];
            let rows = t.rows.iter().map(|r| Some((condition.holds(t, r)?, r.clone())));
            let rows: Vec<(bool, Row)> = rows.collect::<Option<_>>()?;
            Some(
                rows.into_iter()
                    .filter(|(holds, _)| *holds)
                    .map(|(_, r)| r)
                    .collect(),
            )
        };
        match self {
            Change::Insert(columns, rows, conflict) => insert(run, table, columns, rows, conflict.as_ref()),
            Change::Update(values, condition) => {
                let mut rows = met(run, condition)?;
                run.order.sort(&mut rows);
                let count = rows.len() as u64;
                for row in rows {
                    let new = set(&run.world.tables[table], values, &row.cells)?;
                    if let Err(e) = run.update(table, row.version, new, &[table]) {
                        return Some(Err(e));
                    }
                }
                Some(Ok(Some(count)))
            }
            Change::Delete(condition) => {
                let mut rows = met(run, condition)?;
                run.order.sort(&mut rows);
                rows.iter()
                    .for_each(|row| run.delete(table, row.version, &[table]));
                Some(Ok(Some(rows.len() as u64)))
            }
        }
    }
}

fn insert(
    run: &mut Run,
    table: usize,
    columns: &[usize],
    rows: &[Vec<Option<Cell>>],
    conflict: Option<&Conflict>,
) -> Option<Result<Option<u64>, Code>> {
    let mut written = BTreeSet::new();
    for row in rows {
        let t = &run.world.tables[table];
        let mut cells: Vec<Cell> = t.columns.iter().map(|c| c.default).collect();
        for (id, cell) in columns.iter().zip(row) {
            let at = t.at(*id)?;
            cells[at] = cell.unwrap_or(t.columns[at].default);
        }
        let key = t.values(&t.keys[0].columns, &cells);
        let rival = t
            .rows
            .iter()
            .find(|r| t.values(&t.keys[0].columns, &r.cells) == key)
            .cloned();
        let refused = t
            .columns
            .iter()
            .zip(&cells)
            .any(|(c, cell)| c.not_null && cell.is_none());
        let result = match (conflict, rival) {
            (Some(_), _) if refused => Err("23502"),
            (Some(_), _) if t.check(&cells).is_err() => Err("23514"),
            (Some(Conflict(values)), Some(_)) if values.is_empty() => continue,
            (Some(_), Some(rival)) if written.contains(&rival.version) => Err("21000"),
            (Some(Conflict(values)), Some(rival)) => {
                let new = set(t, values, &rival.cells)?;
                run.update(table, rival.version, new, &[table])
            }
            _ => run.insert(table, cells, &[table]),
        };
        match result {
            Ok(version) => drop(written.insert(version)),
            Err(e) => return Some(Err(e)),
        }
    }
    Some(Ok(Some(written.len() as u64)))
}
