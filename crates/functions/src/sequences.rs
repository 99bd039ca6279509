//! Functions of sequences: `nextval`, `currval`, `setval`, `lastval`, and the columns of a sequence that is read as a
//! table. Calls name their sequence when they are bound; the session's values are those of the thread
//! ([`sequence_values`]).

use crate::function::{Function, functions, volatile};
use crate::type_rules::Kind::{BigInt, Boolean, Text};
use crate::vector::{Output, Row};
use frazil_catalog::{Position, SequenceEntry};
use frazil_plan::vector_function::{CallContext, VectorFunction, VectorFunctionRef};
use frazil_plan::{CONDITION, Expr, ExprKind};
use frazil_types::sequence_values::{self, SequenceValues};
use frazil_types::{ColumnVector, Error, LogicalType, Result, SqlState, Value};
use std::sync::Arc;

pub(crate) const FUNCTIONS: &[Function] = functions! {
    "currval", [volatile(&[Text], unnamed, BigInt)], "the last value that the session took from a sequence";
    "lastval", [volatile(&[], last_value, BigInt)], "the last value that the session took from any sequence";
    "nextval", [volatile(&[Text], unnamed, BigInt)],
        "takes the next value of a sequence, for good: no ROLLBACK gives it back";
    "setval", [volatile(&[Text, BigInt], unnamed, BigInt), volatile(&[Text, BigInt, Boolean], unnamed, BigInt)],
        "sets the last value of a sequence, for good; with false the next value is that one";
};

/// 0A000 for a call whose sequence is not named by a constant: others are bound to their sequences.
fn unnamed(_: &Row<'_>, _: &mut Output<'_>) -> Result<()> {
    Err(Error::unsupported("a sequence that is not named by a constant"))
}

fn last_value(_: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    match session()?.last() {
        Some(value) => out.int(value.into()),
        None => {
            let message = "lastval is not yet defined in this session";
            Err(Error::new(SqlState::NOT_IN_STATE, message))
        }
    }
}

fn session() -> Result<SequenceValues> {
    sequence_values::of_session().ok_or_else(|| Error::internal("a sequence is used outside of a session"))
}

/// 25006 in a transaction that may not write.
fn refuse_read_only(session: &SequenceValues, function: &str) -> Result<()> {
    match session.is_read_only() {
        true => Err(Error::new(
            SqlState::READ_ONLY_TRANSACTION,
            format!("cannot execute {function}() in a read-only transaction"),
        )),
        false => Ok(()),
    }
}

/// A function of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceCall {
    /// `nextval`.
    Next,
    /// `currval`.
    Current,
    /// `setval`.
    Set,
}

/// A column of a sequence that is read as a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceField {
    /// `last_value`.
    LastValue,
    /// `log_cnt`: values that the log covers beyond the last one.
    LogCount,
    /// `is_called`: false if `last_value` is still to be given.
    IsCalled,
}

/// A value that is computed from a sequence.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Call(SequenceCall),
    Field(SequenceField),
}

#[derive(Debug)]
struct OfSequence {
    asked: Asked,
    sequence: Arc<SequenceEntry>,
}

fn expression(asked: Asked, sequence: Arc<SequenceEntry>, arguments: Vec<Expr>, ty: LogicalType) -> Expr {
    let function = VectorFunctionRef(Arc::new(OfSequence { asked, sequence }));
    Expr::new(ExprKind::VectorFunction(function, arguments), ty, true)
}

impl SequenceCall {
    /// The call for a sequence. `plain`: the call as the table of functions types it; its first argument, which names
    /// the sequence, is left out.
    pub fn of(self, sequence: Arc<SequenceEntry>, plain: Expr) -> Expr {
        if let ExprKind::VectorFunction(_, arguments) = &plain.kind
            && let [_, arguments @ ..] = &arguments[..]
        {
            return expression(Asked::Call(self), sequence, arguments.to_vec(), plain.ty).at(plain.span);
        }
        // A constant NULL.
        plain
    }
}

impl SequenceField {
    /// All columns, in order.
    pub const ALL: [SequenceField; 3] = [
        SequenceField::LastValue,
        SequenceField::LogCount,
        SequenceField::IsCalled,
    ];

    /// The name of the column.
    pub fn name(self) -> &'static str {
        match self {
            SequenceField::LastValue => "last_value",
            SequenceField::LogCount => "log_cnt",
            SequenceField::IsCalled => "is_called",
        }
    }

    /// The column's value.
    pub fn of(self, sequence: Arc<SequenceEntry>) -> Expr {
        let ty = match self {
            SequenceField::LastValue | SequenceField::LogCount => LogicalType::BigInt,
            SequenceField::IsCalled => CONDITION,
        };
        expression(Asked::Field(self), sequence, Vec::new(), ty)
    }
}

/// The next values of a sequence for the session of this thread. 2200H, 25006, and the errors of the log.
pub fn next_values(sequence: &SequenceEntry, count: usize) -> Result<Vec<i64>> {
    let session = session()?;
    refuse_read_only(&session, "nextval")?;
    let mut values = Vec::with_capacity(count);
    let taken = session.taken();
    let result = sequence.take(count, taken, &mut values);
    if let Some(last) = values.last() {
        session.took(sequence.id, *last, values.len() as u64);
    }
    result.map(|()| values)
}

impl OfSequence {
    fn current(&self) -> Result<i64> {
        session()?.current(self.sequence.id).ok_or_else(|| {
            let message = format!(
                "currval of sequence \"{}\" is not yet defined in this session",
                self.sequence.name
            );
            Error::new(SqlState::NOT_IN_STATE, message)
        })
    }

    /// Sets the value of a row; NULL if an argument is.
    fn set(&self, arguments: &[ColumnVector], row: usize) -> Result<Value> {
        let value = |at: usize| arguments.get(at).map(|argument| argument.value(row));
        let (value, is_called) = match (value(0), value(1)) {
            (Some(Value::Int(value)), None) => (value, true),
            (Some(Value::Int(value)), Some(Value::Bool(is_called))) => (value, is_called),
            (Some(Value::Null), _) | (_, Some(Value::Null)) => return Ok(Value::Null),
            _ => return Err(Error::internal("setval of other types")),
        };
        let session = session()?;
        refuse_read_only(&session, "setval")?;
        let position = Position {
            value: value as i64,
            is_called,
        };
        self.sequence.set(position)?;
        if is_called {
            session.set(self.sequence.id, position.value);
        }
        Ok(Value::Int(value))
    }
}

impl VectorFunction for OfSequence {
    fn name(&self) -> &str {
        match self.asked {
            Asked::Call(SequenceCall::Next) => "nextval",
            Asked::Call(SequenceCall::Current) => "currval",
            Asked::Call(SequenceCall::Set) => "setval",
            Asked::Field(field) => field.name(),
        }
    }

    fn can_fail(&self) -> bool {
        true
    }

    fn is_volatile(&self) -> bool {
        true
    }

    fn evaluate(
        &self,
        arguments: &[ColumnVector],
        rows: usize,
        result: LogicalType,
        context: &CallContext<'_>,
    ) -> Result<ColumnVector> {
        context.check()?;
        let values = match self.asked {
            Asked::Call(SequenceCall::Next) => {
                let values = next_values(&self.sequence, rows)?;
                let mut column = ColumnVector::new(result, rows);
                column.resize(rows);
                column.values_mut::<i64>().copy_from_slice(&values);
                return Ok(column);
            }
            Asked::Call(SequenceCall::Current) => vec![Value::Int(self.current()?.into()); rows],
            Asked::Call(SequenceCall::Set) => {
                let rows = 0..rows;
                rows.map(|row| self.set(arguments, row)).collect::<Result<_>>()?
            }
            Asked::Field(field) => {
                let (position, ahead) = self.sequence.state.shown();
                let value = match field {
                    SequenceField::LastValue => Value::Int(position.value.into()),
                    SequenceField::LogCount => Value::Int(ahead.into()),
                    SequenceField::IsCalled => Value::Bool(position.is_called),
                };
                vec![value; rows]
            }
        };
        Ok(ColumnVector::from_values(result, &values))
    }
}
