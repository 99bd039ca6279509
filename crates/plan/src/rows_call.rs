//! Calls of functions that give rows, and what several of them side by side give.

use crate::display_expression::Names;
use crate::{Bounds, COUNT, ColumnId, Expr, ExprKind};
use frazil_types::value_ops::{Series, interval_span};
use frazil_types::{LogicalType, Value, Zone};

/// A function that gives rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowsFunction {
    /// generate_series(start, stop, step): all of its type, but a step of timestamps is an interval. No rows where an argument
    /// is NULL. Error 22023 for a step of 0.
    Series,
    /// Its argument, as one row: a function of a value that stands beside functions that give rows.
    Once,
    /// unnest(array): the elements, in row-major order; no rows of NULL. Error XX001 where the array's bytes are damaged.
    Elements,
}

impl RowsFunction {
    /// Its SQL name.
    pub fn name(self) -> &'static str {
        match self {
            RowsFunction::Series => "generate_series",
            RowsFunction::Once => "once",
            RowsFunction::Elements => "unnest",
        }
    }
}

/// A call of a function that gives rows.
#[derive(Clone, Debug, PartialEq)]
pub struct RowsCall {
    /// The function.
    pub function: RowsFunction,
    /// Its arguments.
    pub arguments: Vec<Expr>,
    /// Type of the column that it gives.
    pub ty: LogicalType,
}

impl RowsCall {
    /// The integers from 1 to a number: as many rows as that says.
    pub fn up_to(count: Expr) -> RowsCall {
        let ty = count.ty;
        let one = Expr::constant(Value::Int(1), ty);
        RowsCall {
            function: RowsFunction::Series,
            arguments: vec![one.clone(), count, one],
            ty,
        }
    }

    /// True if its arguments are as many as the function takes, and of its types.
    pub fn takes_its_arguments(&self) -> bool {
        let is_like = |e: &Expr| e.ty == self.ty || e.ty.scale().is_some() && e.ty.scale() == self.ty.scale();
        match (self.function, &self.arguments[..]) {
            (RowsFunction::Once, [value]) => value.ty == self.ty,
            (RowsFunction::Elements, [array]) => array.ty.element() == Some(self.ty),
            (RowsFunction::Series, [start, stop, step]) => {
                let is_step = match self.ty.scale() {
                    None => step.ty.is_span(),
                    Some(_) => is_like(step),
                };
                is_step && is_like(start) && is_like(stop)
            }
            _ => false,
        }
    }

    /// The elements of an array; of what is not an array nothing is given.
    pub fn elements(array: Expr) -> RowsCall {
        let ty = array.ty.element().unwrap_or(array.ty);
        RowsCall {
            function: RowsFunction::Elements,
            arguments: vec![array],
            ty,
        }
    }

    /// True if its arguments are constants, parameters and results of subqueries: they are known before a pipeline runs.
    pub fn is_known_before(&self) -> bool {
        let is_known = |e: &Expr| {
            matches!(
                e.kind,
                ExprKind::Constant(_) | ExprKind::Parameter(_) | ExprKind::ScalarSubquery(_)
            )
        };
        self.arguments.iter().all(is_known)
    }

    /// The rows that it gives, if its arguments are constants and it does not fail. Of one value there is a series of one row.
    pub fn constant_series(&self) -> Option<Series> {
        match self.function {
            RowsFunction::Once => return Series::of_integers(0, 0, 1).ok(),
            RowsFunction::Elements => return None,
            RowsFunction::Series => {}
        }
        let values: Option<Vec<Value>> = (self.arguments.iter())
            .map(|e| e.as_constant().cloned())
            .collect();
        match &values?[..] {
            values if values.iter().any(Value::is_null) => Some(Series::EMPTY),
            [Value::Int(start), Value::Int(stop), Value::Int(step)] => {
                Series::of_integers(*start, *stop, *step).ok()
            }
            [Value::Int(start), Value::Int(stop), Value::Interval(step)] => {
                let start = i64::try_from(*start).ok()?;
                Series::of_timestamps(start, i64::try_from(*stop).ok()?, *step, self.ty.zone()).ok()
            }
            _ => None,
        }
    }

    /// Whether its step may be 0, or lead out of the calendar, or its array may be damaged.
    fn may_fail(&self) -> bool {
        if self.function == RowsFunction::Elements {
            return true;
        }
        let Some(step) = self.arguments.get(2) else {
            return false;
        };
        match step.as_constant() {
            Some(Value::Int(step)) => *step == 0,
            Some(Value::Null) => false,
            Some(Value::Interval(step)) => {
                let is_uneven = step.months != 0 || step.days != 0 && self.ty.zone() != Zone::UTC;
                is_uneven || interval_span(*step) == 0
            }
            _ => true,
        }
    }

    /// Rows that it gives, where that is known.
    pub fn rows(&self) -> Option<u64> {
        let series = self.constant_series()?;
        (series.is_uneven == 0).then_some(series.left)
    }

    /// Bounds of what it gives, from those of its arguments.
    pub fn bounds(&self, of: &mut dyn FnMut(&Expr) -> Option<Bounds>) -> Option<Bounds> {
        match self.function {
            RowsFunction::Once => return of(self.arguments.first()?),
            RowsFunction::Elements => return None,
            RowsFunction::Series => {}
        }
        if let Some(series) = self.constant_series().filter(|s| s.is_uneven == 0) {
            let last = series.last().unwrap_or(series.value);
            return Some(Bounds {
                min: series.value.min(last),
                max: series.value.max(last),
            });
        }
        let [start, stop, ..] = &self.arguments[..] else {
            return None;
        };
        Some(of(start)?.union(of(stop)?))
    }
}

/// Functions that give rows, side by side: row i of each in row i of all. Those that give fewer than others give NULL from
/// there on.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    /// The columns made, and the calls.
    pub calls: Vec<(ColumnId, RowsCall)>,
    /// A bigint column that counts the rows from 1.
    pub ordinality: Option<ColumnId>,
}

impl Expansion {
    /// Type of the column that counts rows.
    pub const NUMBER: LogicalType = COUNT;

    /// The columns it makes.
    pub fn made(&self) -> impl Iterator<Item = ColumnId> {
        self.calls.iter().map(|c| c.0).chain(self.ordinality)
    }

    /// The arguments of all calls.
    pub fn arguments(&self) -> impl Iterator<Item = &Expr> {
        self.calls.iter().flat_map(|c| &c.1.arguments)
    }

    /// The same, to be changed.
    pub fn arguments_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.calls.iter_mut().flat_map(|c| &mut c.1.arguments)
    }

    /// Whether it may fail although its arguments do not.
    pub fn may_fail(&self) -> bool {
        self.calls.iter().any(|c| c.1.may_fail())
    }

    /// Rows that it gives for each row, where that is known.
    pub fn rows(&self) -> Option<u64> {
        let rows: Option<Vec<u64>> = self.calls.iter().map(|c| c.1.rows()).collect();
        rows?.into_iter().max()
    }

    /// True if the columns of its calls may be NULL although what they give is not: one may give fewer rows than another.
    pub fn pads(&self) -> bool {
        self.calls.len() > 1
    }

    /// Its text in EXPLAIN.
    pub(crate) fn text(&self, names: &Names) -> String {
        let call = |(id, call): &(ColumnId, RowsCall)| {
            let arguments = names.exprs(&call.arguments);
            format!("{} := {}({arguments})", names.name(*id), call.function.name())
        };
        let calls: Vec<String> = self.calls.iter().map(call).collect();
        let number = self.ordinality.map(|id| format!(", {} := row", names.name(id)));
        format!("{}{}", calls.join(", "), number.unwrap_or_default())
    }
}
