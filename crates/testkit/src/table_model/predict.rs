//! The model: what a statement must do in the state of its transaction, and what it did.

use super::changes::{delete, twice, update, with_constants};
use super::conflicts::insert;
use super::{Change, Conflict, Row, Shape, State, Statement};
use std::collections::BTreeSet;

/// SQLSTATEs, each of which is right.
pub type Errors = BTreeSet<&'static str>;

/// What a change of rows leaves.
#[derive(Clone, Debug)]
pub struct Written {
    /// Keys and rows afterwards.
    pub state: State,
    /// The rows that RETURNING gives: as they are now, or were before they were deleted.
    pub returned: Vec<Row>,
}

impl From<State> for Written {
    fn from(state: State) -> Written {
        Written {
            state,
            returned: Vec::new(),
        }
    }
}

impl Written {
    /// Whether the rows are the same, whatever their identities.
    pub fn same_as(&self, other: &Written) -> bool {
        let sorted = |rows: Vec<&Row>| {
            let mut rows: Vec<Row> = rows.into_iter().cloned().collect();
            rows.sort();
            rows
        };
        let all = |w: &Written| sorted(w.state.rows.values().collect());
        let returned = |w: &Written| sorted(w.returned.iter().collect());
        all(self) == all(other) && returned(self) == returned(other)
    }
}

/// What may come of a change of rows: success, an error, or either.
pub struct Outcome {
    /// What success leaves; `None` if it must fail.
    pub done: Option<Written>,
    /// Errors that are right.
    pub errors: Errors,
}

impl Outcome {
    pub(super) fn done(written: Written) -> Outcome {
        Outcome {
            done: Some(written),
            errors: Errors::new(),
        }
    }

    pub(super) fn errors(errors: Errors) -> Outcome {
        Outcome { done: None, errors }
    }
}

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Status {
    Outside,
    Inside,
    Failed,
}

/// The table `t` as one connection sees it, and its transaction.
#[derive(Clone, Debug)]
pub struct Model {
    shape: Shape,
    status: Status,
    /// What was committed.
    committed: State,
    /// What the connection sees.
    current: State,
    savepoints: Vec<(&'static str, State)>,
}

/// What a statement must do.
#[derive(Debug)]
pub struct Prediction {
    /// What success leaves and gives; `None` if the statement must fail.
    pub done: Option<Done>,
    /// SQLSTATEs that are right; with `done`, success is right, too.
    pub errors: Errors,
}

/// What a statement that succeeds leaves and gives.
#[derive(Debug)]
pub struct Done {
    /// The model afterwards.
    pub model: Box<Model>,
    /// Rows it counts.
    pub count: Option<u64>,
    /// Rows it returns, as results show them, sorted.
    pub rows: Option<Vec<Vec<String>>>,
}

impl Model {
    /// A new table without rows.
    pub fn new(shape: Shape, keys: Vec<super::Key>) -> Model {
        let state = State {
            keys,
            ..State::default()
        };
        Model {
            shape,
            status: Status::Outside,
            committed: state.clone(),
            current: state,
            savepoints: Vec::new(),
        }
    }

    /// The columns.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// What the connection sees.
    pub fn state(&self) -> &State {
        &self.current
    }

    /// What others see.
    pub fn committed(&self) -> &State {
        &self.committed
    }

    /// Whether the connection is inside a transaction.
    pub fn is_inside(&self) -> bool {
        self.status != Status::Outside
    }

    /// Whether it is inside a transaction that failed.
    pub fn is_failed(&self) -> bool {
        self.status == Status::Failed
    }

    /// What a statement must do; `None` if it makes no sense here, or PostgreSQL's answer depends on an order that is
    /// open in more than success.
    pub fn predict(&self, statement: &Statement) -> Option<Prediction> {
        match (statement, self.status) {
            (Statement::Begin, Status::Outside) => Some(done(self.with(Status::Inside))),
            // Warnings, which change nothing.
            (Statement::Begin, Status::Inside) => Some(done(self.clone())),
            (Statement::Commit | Statement::Rollback, Status::Outside) => Some(done(self.clone())),
            (Statement::Commit, Status::Inside) => Some(done(self.ended(self.current.clone()))),
            (Statement::Commit | Statement::Rollback, _) => Some(done(self.ended(self.committed.clone()))),
            (Statement::Freeze, Status::Outside) => Some(done(self.clone())),
            (Statement::Freeze, _) => None,
            (Statement::Savepoint(_) | Statement::RollbackTo(_) | Statement::Release(_), Status::Outside) => {
                Some(fails("25P01"))
            }
            (Statement::RollbackTo(name), _) => Some(self.rolled_back_to(name)),
            (_, Status::Failed) => Some(fails("25P02")),
            (Statement::Savepoint(name), _) => {
                let mut next = self.clone();
                next.savepoints.push((name, self.current.clone()));
                Some(done(next))
            }
            (Statement::Release(name), _) => Some(match self.savepoint(name) {
                None => fails("3B001"),
                Some(at) => {
                    let mut next = self.clone();
                    next.savepoints.truncate(at);
                    done(next)
                }
            }),
            (statement, _) => self.predict_change(statement),
        }
    }

    /// What a statement must do that changes the table.
    fn predict_change(&self, statement: &Statement) -> Option<Prediction> {
        let mut next = self.current.clone();
        match statement {
            Statement::Truncate => next.rows.clear(),
            Statement::CreateIndex(key) => {
                if next.keys.iter().any(|k| k.name == key.name) {
                    return Some(fails("42P07"));
                }
                next.keys.push(key.clone());
                if key.unique && twice(&next) {
                    return Some(fails("23505"));
                }
            }
            Statement::DropIndex(name) => match next.keys.iter().position(|k| k.name == *name) {
                None => return Some(fails("42704")),
                Some(at) if next.keys[at].constraint => return Some(fails("2BP01")),
                Some(at) => drop(next.keys.remove(at)),
            },
            Statement::Change(change, returning) => {
                let outcome = self.outcome(change)?;
                return Some(Prediction {
                    done: outcome.done.map(|written| Done {
                        count: Some(written.returned.len() as u64),
                        rows: returning.then(|| self.shape.shown(written.returned.iter())),
                        model: Box::new(self.changed(written.state)),
                    }),
                    errors: outcome.errors,
                });
            }
            other => unreachable!("{other:?} changes no table"),
        }
        Some(done(self.changed(next)))
    }

    fn outcome(&self, change: &Change) -> Option<Outcome> {
        let (shape, state) = (&self.shape, &self.current);
        match change {
            Change::Insert(source, conflict) => {
                let outcome = insert(shape, state, source, conflict.as_ref())?;
                let set = conflict.as_ref().map_or(&[][..], Conflict::set);
                let set = set.iter().map(|(to, e)| (*to, e));
                let own = source.list().iter().enumerate();
                Some(with_constants(outcome, shape, set.chain(own)))
            }
            Change::Update(set, condition, mapping) => {
                let outcome = update(shape, state, set, condition, mapping.as_ref());
                let set = set.iter().map(|(to, e)| (*to, e));
                Some(with_constants(outcome, shape, set))
            }
            Change::Delete(condition, mapping) => Some(delete(state, condition, mapping.as_ref())),
        }
    }

    /// The statement failed.
    pub fn failed(&mut self) {
        if self.status == Status::Inside {
            self.status = Status::Failed;
        }
    }

    fn with(&self, status: Status) -> Model {
        Model {
            status,
            ..self.clone()
        }
    }

    /// The model after a transaction that left `state`.
    fn ended(&self, state: State) -> Model {
        Model {
            shape: self.shape.clone(),
            status: Status::Outside,
            committed: state.clone(),
            current: state,
            savepoints: Vec::new(),
        }
    }

    /// The model after a change that left `state`.
    fn changed(&self, state: State) -> Model {
        match self.status {
            Status::Outside => self.ended(state),
            _ => Model {
                current: state,
                ..self.clone()
            },
        }
    }

    fn savepoint(&self, name: &str) -> Option<usize> {
        self.savepoints.iter().rposition(|(n, _)| *n == name)
    }

    fn rolled_back_to(&self, name: &str) -> Prediction {
        let Some(at) = self.savepoint(name) else {
            return fails("3B001");
        };
        let mut next = self.with(Status::Inside);
        next.current = next.savepoints[at].1.clone();
        next.savepoints.truncate(at + 1);
        done(next)
    }
}

fn done(model: Model) -> Prediction {
    Prediction {
        done: Some(Done {
            model: Box::new(model),
            count: None,
            rows: None,
        }),
        errors: Errors::new(),
    }
}

fn fails(state: &'static str) -> Prediction {
    Prediction {
        done: None,
        errors: Errors::from([state]),
    }
}
