//! Functions of enumerations: PostgreSQL's manual, 9.10.

use crate::resolve::no_function;
use crate::vector::{OnNull, Output, Row, rows};
use crate::{CastContext, Operand, Typing};
use frazil_plan::Expr;
use frazil_types::sql_type::{EnumLabel, EnumType};
use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value, array};

/// The functions: name, ways to call it, description.
pub(super) const OF_ENUMS: &[(&str, &[&str], &str)] = &[
    (
        "enum_first",
        &["enum_first(anyenum) → anyenum"],
        "the first label of the argument's type",
    ),
    (
        "enum_last",
        &["enum_last(anyenum) → anyenum"],
        "the last label of the argument's type",
    ),
    (
        "enum_range",
        &[
            "enum_range(anyenum) → anyarray",
            "enum_range(anyenum, anyenum) → anyarray",
        ],
        "all labels of the argument's type in order; with two arguments those from the first to the second, where NULL means no bound",
    ),
];

impl Typing {
    /// A call of a function of [`OF_ENUMS`]; `None` for what is none of them. 42883, 42804, 55000.
    pub(super) fn enum_call(&self, name: &str, arguments: &[Operand]) -> Result<Option<Expr>> {
        let Some((name, ..)) = OF_ENUMS.iter().find(|f| f.0 == name) else {
            return Ok(None);
        };
        let most = if *name == "enum_range" { 2 } else { 1 };
        let missing = || no_function(name, arguments);
        if !(1..=most).contains(&arguments.len()) {
            return Err(missing());
        }
        let Some(ty) = arguments.iter().find_map(Operand::ty) else {
            let message = "could not determine polymorphic type because input has type unknown";
            return Err(Error::new(SqlState::DATATYPE_MISMATCH, message));
        };
        let e = ty.enumeration().ok_or_else(missing)?;
        if arguments.iter().any(|x| x.ty().is_some_and(|other| other != ty)) {
            return Err(missing());
        }
        let end = |label: Option<&EnumLabel>| match label {
            Some(label) => Ok(Some(Expr::constant(Value::Int(label.position.into()), ty))),
            None => {
                let message = format!("enum {} contains no values", ty.name());
                Err(Error::new(SqlState::NOT_IN_STATE, message))
            }
        };
        match (*name, arguments) {
            ("enum_first", _) => end(e.labels().first()),
            ("enum_last", _) => end(e.labels().last()),
            (_, [_]) => {
                let all = labels_between(e, None, None)?;
                Ok(Some(Expr::constant(Value::Bytes(all), array_of(ty)?)))
            }
            (name, _) => {
                let typed = arguments.iter().map(|x| {
                    let bound = x.clone();
                    self.cast(bound, ty, CastContext::Implicit, Span::NONE)
                });
                let typed = typed.collect::<Result<Vec<_>>>()?;
                Ok(Some(rows(name, OnNull::Called, range, typed, array_of(ty)?)))
            }
        }
    }
}

fn array_of(ty: LogicalType) -> Result<LogicalType> {
    ty.array()
        .ok_or_else(|| Error::internal("an enumeration that is an array"))
}

/// The labels from one value to another.
fn range(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let e = row.ty(0).enumeration();
    let e = e.ok_or_else(|| Error::internal("an argument that is no enumeration"))?;
    let bound = |at: usize| (!row.is_null(at)).then(|| row.int(at));
    out.bytes(&labels_between(e, bound(0), bound(1))?)
}

/// The labels from one position to another, as an array.
fn labels_between(e: EnumType, first: Option<i64>, last: Option<i64>) -> Result<Vec<u8>> {
    let labels = e.labels().iter().map(|l| i64::from(l.position));
    let within =
        labels.filter(|at| first.is_none_or(|first| first <= *at) && last.is_none_or(|last| *at <= last));
    let values: Vec<Value> = within.map(|at| Value::Int(at.into())).collect();
    array::encode_list(&values, e.into())
}
