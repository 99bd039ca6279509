//! Windows: OVER, the WINDOW clause, frames.
//!
//! A call becomes a column of the query that it stands in. Its window, arguments and the offsets of its frame are bound
//! where the call stands, and computed above the groups of the query.

use super::function::{Arguments, Written};
use super::list_limits;
use super::rows::Computed;
use super::scope::Clause;
use super::windows::{OrderKey, Specification, Windows};
use super::{Binder, error, fold};
use crate::parse::EXCLUDE;
use frazil_functions::{FrameSide, MadeOf, Operand, TypedWindowCall, Typing, compared_by};
use frazil_plan::aggregates::OverFrames;
use frazil_plan::operators::Window;
use frazil_plan::{
    AggregateCall, AggregateFunction, ColumnId, Expr, ExprKind, Frame, FrameBound, FrameExclusion, FrameUnit,
    Operator, SortKey, WindowCall, WindowFunction,
};
use frazil_types::{Error, LogicalType, Result, Span, SqlState};
use sqlparser::ast::{
    Expr as SqlExpr, Function, Ident, NamedWindowDefinition, NamedWindowExpr, NullTreatment, OrderByExpr,
    WindowFrame, WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType,
};

/// A call over a window and the condition of its FILTER.
type FilteredCall = (TypedWindowCall, Option<Expr>);

impl<'a> Binder<'a> {
    /// A call with OVER. 42P20 where it may not stand.
    pub(super) fn window_call(
        &mut self,
        call: &'a Function,
        over: &'a WindowType,
        (name, written): (&str, Written<'a>),
        span: Span,
    ) -> Result<Operand> {
        if let Some(clause) = self.level().clause.without_windows() {
            let message = format!("window functions are not allowed in {clause}");
            return Err(error(SqlState::WINDOWING_ERROR, message, span));
        }
        if !Typing::is_aggregate(name) && !Typing::is_window_function(name) {
            return Err(self.no_window_function(name, written.arguments, span));
        }
        refuse_clauses(call, name, &written, span)?;
        let first = self.references.len();
        let before = self.rows_functions();
        let (typed, value, whole) = match Typing::is_aggregate(name) {
            true => self.aggregate_over_frames(call, (name, written), span)?,
            false => {
                let mut bound = Vec::new();
                for e in written.arguments.list() {
                    bound.push(self.expression(e)?);
                }
                let whole = span.to(super::expression::row_span(&bound));
                let typed = self.typing.window_call(name, bound, span)?;
                (vec![(typed, None)], None, whole)
            }
        };
        self.arguments_without_rows(before, "window", span)?;
        let mut ignore_nulls = false;
        for (typed, _) in &typed {
            ignore_nulls = ignores_nulls(call, typed.function, name).map_err(|e| e.at_span(span))?;
        }
        let inside: Vec<ColumnId> = self.references[first..].iter().map(|r| r.id).collect();
        if self.level().windows.first_of(&inside).is_some() {
            let message = "window function calls cannot be nested";
            return Err(error(SqlState::WINDOWING_ERROR, message, span));
        }
        let window = match over {
            WindowType::NamedWindow(name) => self.named_window(name)?.clone(),
            WindowType::WindowSpec(written) => self.specification(written, span)?,
        };
        let mut made = Vec::with_capacity(typed.len());
        for (typed, filter) in typed {
            let call = WindowCall {
                function: typed.function,
                arguments: typed.arguments,
                filter,
                ignore_nulls,
                frame: window.frame.clone().unwrap_or_else(Frame::to_peers),
                ty: typed.ty,
            };
            let id = self.window_column(name, call, window.clone());
            self.refer(id, span);
            made.push(Expr::column(id, &self.columns));
        }
        Ok(frazil_functions::value_of(made, value)?.at(whole).into())
    }

    /// An aggregate as calls over a window, each with its filter; what is made of them, and where all of it is written.
    fn aggregate_over_frames(
        &mut self,
        call: &'a Function,
        (name, written): (&str, Written<'a>),
        span: Span,
    ) -> Result<(Vec<FilteredCall>, Option<MadeOf>, Span)> {
        let filter = call.filter.as_deref();
        let (aggregate, whole) = self.aggregate_call(name, written, filter, span)?;
        let aggregate = frazil_functions::over_frames(aggregate);
        let over = |call: AggregateCall| {
            let typed = TypedWindowCall {
                function: window_function(call.function, name).map_err(|e| e.at_span(span))?,
                arguments: call.argument.into_iter().chain(call.second).collect(),
                ty: call.ty,
            };
            Ok((typed, call.filter))
        };
        let calls: Result<Vec<_>> = aggregate.calls.into_iter().map(over).collect();
        Ok((calls?, aggregate.value, whole))
    }

    /// The column of a call: that of an equal one, or a new one.
    fn window_column(&mut self, name: &str, call: WindowCall, window: Specification) -> ColumnId {
        let at = self.level().windows.definition(window);
        let calls = &self.level().windows.definitions[at].calls;
        if let Some((id, _)) = calls.iter().find(|c| c.1 == call) {
            return *id;
        }
        let id = self.columns.add(name, call.ty, call.function.is_nullable());
        self.own(id);
        self.level().windows.definitions[at].calls.push((id, call));
        id
    }

    /// 42809 for OVER behind a function that is neither; 42883 for a name of none.
    fn no_window_function(&mut self, name: &str, arguments: Arguments<'a>, span: Span) -> Error {
        let mut bound = Vec::new();
        for e in arguments.list() {
            match self.expression(e) {
                Ok(e) => bound.push(e),
                Err(e) => return e,
            }
        }
        match self.call_by_name(name, bound, span) {
            Err(e) if !Typing::gives_rows(name) => e,
            _ => {
                let message =
                    format!("OVER specified, but {name} is not a window function nor an aggregate function");
                error(SqlState::WRONG_OBJECT_TYPE, message, span)
            }
        }
    }

    // --- Windows -------------------------------------------------------------------------------

    /// Binds the WINDOW clause of the query being bound.
    pub(super) fn named_windows(&mut self, list: &'a [NamedWindowDefinition]) -> Result<()> {
        for NamedWindowDefinition(ident, written) in list {
            let (name, span) = (fold(ident), self.span(ident));
            self.not_reserved(ident)?;
            if self.level().windows.named.iter().any(|n| n.0 == name) {
                let message = format!("window \"{name}\" is already defined");
                return Err(error(SqlState::WINDOWING_ERROR, message, span));
            }
            let window = match written {
                NamedWindowExpr::NamedWindow(other) => {
                    return Err(self.syntax_error(&other.value, self.span(other)));
                }
                NamedWindowExpr::WindowSpec(written) => self.specification(written, span)?,
            };
            self.level().windows.named.push((name, window));
        }
        Ok(())
    }

    fn named_window(&mut self, ident: &Ident) -> Result<&Specification> {
        let (name, span) = (fold(ident), self.span(ident));
        let named = &self.level().windows.named;
        match named.iter().position(|n| n.0 == name) {
            Some(at) => Ok(&self.level().windows.named[at].1),
            None => {
                let message = format!("window \"{name}\" does not exist");
                Err(error(SqlState::UNDEFINED_OBJECT, message, span))
            }
        }
    }

    /// A window in parentheses, which may begin with the name of another.
    fn specification(&mut self, written: &'a WindowSpec, span: Span) -> Result<Specification> {
        let (partition_by, order_by, exclusion) = without_exclusion(written);
        let base = match &written.window_name {
            Some(name) => Some((fold(name), self.named_window(name)?.clone())),
            None => None,
        };
        list_limits::targets(partition_by.len().max(order_by.len()), span)?;
        let partition = self.in_clause(Clause::WindowPartition, |b| {
            partition_by
                .iter()
                .map(|e| b.window_key(e).map(|(key, _)| key))
                .collect::<Result<Vec<Expr>>>()
        })?;
        let order = self.in_clause(Clause::WindowOrder, |b| {
            order_by
                .iter()
                .map(|item| b.window_order(item))
                .collect::<Result<Vec<OrderKey>>>()
        })?;
        let mut window = match base {
            None => Specification {
                partition,
                order,
                frame: None,
            },
            Some((name, base)) => {
                let frame = written.window_frame.is_some();
                extended(&name, base, partition, order, frame).map_err(|e| e.at_span(span))?
            }
        };
        if let Some(frame) = &written.window_frame {
            window.frame = Some(self.frame(frame, exclusion, &window.order, span)?);
        }
        Ok(window)
    }

    /// What rows of a window are put together or ordered by, and its type as it is written.
    fn window_key(&mut self, e: &'a SqlExpr) -> Result<(Expr, LogicalType)> {
        let bound = self.expression(e)?;
        let e = self.typing.settle(bound)?;
        super::finish::absent(e.ty, "ordering").map_err(|error| error.at_span(e.span))?;
        let ty = e.ty;
        Ok((compared_by(e), ty))
    }

    fn window_order(&mut self, item: &'a OrderByExpr) -> Result<OrderKey> {
        if item.with_fill.is_some() {
            return Err(Error::unsupported("ORDER BY … WITH FILL"));
        }
        let descending = item.options.asc == Some(false);
        let (e, ty) = self.window_key(&item.expr)?;
        Ok(OrderKey {
            e,
            ty,
            descending,
            nulls_first: item.options.nulls_first.unwrap_or(descending),
        })
    }

    // --- Frames --------------------------------------------------------------------------------

    /// The frame of a window in an order. 42P20, 42P10, 42804.
    fn frame(
        &mut self,
        written: &'a WindowFrame,
        exclusion: FrameExclusion,
        order: &[OrderKey],
        span: Span,
    ) -> Result<Frame> {
        check_bounds(written).map_err(|message| error(SqlState::WINDOWING_ERROR, message, span))?;
        let unit = match written.units {
            WindowFrameUnits::Rows => FrameUnit::Rows,
            WindowFrameUnits::Range => FrameUnit::Range,
            WindowFrameUnits::Groups => FrameUnit::Groups,
        };
        let has_offset = [Some(&written.start_bound), written.end_bound.as_ref()]
            .into_iter()
            .flatten()
            .any(|b| {
                matches!(
                    b,
                    WindowFrameBound::Preceding(Some(_)) | WindowFrameBound::Following(Some(_))
                )
            });
        if unit == FrameUnit::Range && has_offset && order.len() != 1 {
            let message = "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column";
            return Err(error(SqlState::WINDOWING_ERROR, message, span));
        }
        if unit == FrameUnit::Groups && order.is_empty() {
            let message = "GROUPS mode requires an ORDER BY clause";
            return Err(error(SqlState::WINDOWING_ERROR, message, span));
        }
        let key = order.first().map(|k| k.ty);
        let start = self.frame_bound(&written.start_bound, unit, key, FrameEnd::Start)?;
        let end = match &written.end_bound {
            None => FrameBound::CurrentRow,
            Some(bound) => self.frame_bound(bound, unit, key, FrameEnd::End)?,
        };
        Ok(Frame {
            unit,
            start,
            end,
            exclusion,
        })
    }

    fn frame_bound(
        &mut self,
        bound: &'a WindowFrameBound,
        unit: FrameUnit,
        key: Option<LogicalType>,
        end: FrameEnd,
    ) -> Result<FrameBound> {
        let mut offset = |e: &'a SqlExpr, side: FrameSide| self.frame_offset(e, unit, key, side);
        let (before, behind) = match end {
            FrameEnd::Start => (FrameSide::Outward, FrameSide::Inward),
            FrameEnd::End => (FrameSide::Inward, FrameSide::Outward),
        };
        Ok(match bound {
            WindowFrameBound::CurrentRow => FrameBound::CurrentRow,
            WindowFrameBound::Preceding(None) => FrameBound::UnboundedPreceding,
            WindowFrameBound::Following(None) => FrameBound::UnboundedFollowing,
            WindowFrameBound::Preceding(Some(e)) => FrameBound::Preceding(offset(e, before)?),
            WindowFrameBound::Following(Some(e)) => FrameBound::Following(offset(e, behind)?),
        })
    }

    fn frame_offset(
        &mut self,
        e: &'a SqlExpr,
        unit: FrameUnit,
        key: Option<LogicalType>,
        side: FrameSide,
    ) -> Result<Expr> {
        let name = unit_name(unit);
        let first = self.references.len();
        let bound = self.in_clause(Clause::Frame(unit), |b| b.expression(e))?;
        let depth = self.depth();
        let own = self.references[first..]
            .iter()
            .find(|r| self.owner(r.id) == depth);
        if let Some(own) = own {
            let message = format!("argument of {name} must not contain variables");
            return Err(error(SqlState::INVALID_COLUMN_REFERENCE, message, own.span));
        }
        match (unit, key) {
            (FrameUnit::Range, Some(key)) => self.typing.frame_difference(bound, key, side),
            _ => self.typing.frame_count(bound, name),
        }
    }

    // --- Operators -----------------------------------------------------------------------------

    /// The windows of a query above its rows.
    pub(super) fn windowed(&mut self, op: Operator, windows: Windows) -> Operator {
        let mut computed = Computed::default();
        let mut made = Vec::with_capacity(windows.definitions.len());
        for definition in windows.definitions {
            let partition = (definition.partition.into_iter())
                .map(|e| self.as_column(e, "partition", &mut computed))
                .collect();
            let order = (definition.order.into_iter())
                .map(|key| SortKey {
                    column: self.as_column(key.e, "window key", &mut computed),
                    descending: key.descending,
                    nulls_first: key.nulls_first,
                })
                .collect();
            let mut calls = definition.calls;
            for e in calls.iter_mut().flat_map(|c| c.1.expressions_mut()) {
                if !matches!(e.kind, ExprKind::Constant(_)) {
                    let (ty, span) = (e.ty, e.span);
                    let null = Expr::constant(frazil_types::Value::Null, ty);
                    let id = self.as_column(std::mem::replace(e, null), "argument", &mut computed);
                    *e = Expr::column(id, &self.columns).at(span);
                }
            }
            made.push((partition, order, calls));
        }
        let op = computed.above(op);
        made.into_iter().fold(op, |input, (partition, order, calls)| {
            Operator::Window(Window {
                input: Box::new(input),
                partition,
                order,
                calls,
                most: None,
            })
        })
    }
}

#[derive(Clone, Copy)]
enum FrameEnd {
    Start,
    End,
}

/// PostgreSQL's name of a unit.
pub(super) fn unit_name(unit: FrameUnit) -> &'static str {
    match unit {
        FrameUnit::Rows => "ROWS",
        FrameUnit::Range => "RANGE",
        FrameUnit::Groups => "GROUPS",
    }
}

/// An aggregate as a function over a window. 0A000 for those that need all rows of a group in an order of their own.
fn window_function(function: AggregateFunction, name: &str) -> Result<WindowFunction> {
    match function.info().over_frames {
        OverFrames::AsGroups => Ok(WindowFunction::Aggregate(function)),
        OverFrames::FirstValue => Ok(WindowFunction::FirstValue),
        OverFrames::LastValue => Ok(WindowFunction::LastValue),
        OverFrames::Refused => Err(Error::unsupported(format!("{name} as a window function"))),
    }
}

/// 0A000 and 42809 for clauses that a call with OVER may not have.
fn refuse_clauses(call: &Function, name: &str, written: &Written<'_>, span: Span) -> Result<()> {
    if Typing::is_ordered_set(name) {
        let message = format!("OVER is not supported for ordered-set aggregate {name}");
        return Err(error(SqlState::FEATURE_NOT_SUPPORTED, message, span));
    }
    if written.is_within {
        let message = format!("{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP");
        return Err(error(SqlState::WRONG_OBJECT_TYPE, message, span));
    }
    let refused = [
        (
            written.distinct,
            "DISTINCT is not implemented for window functions",
        ),
        (
            !written.order.is_empty(),
            "aggregate ORDER BY is not implemented for window functions",
        ),
        (
            call.filter.is_some() && !Typing::is_aggregate(name),
            "FILTER is not implemented for non-aggregate window functions",
        ),
    ];
    match refused.iter().find(|r| r.0) {
        Some((_, message)) => Err(error(SqlState::FEATURE_NOT_SUPPORTED, *message, span)),
        None => Ok(()),
    }
}

/// True for IGNORE NULLS. 0A000 for functions without it.
fn ignores_nulls(call: &Function, function: WindowFunction, name: &str) -> Result<bool> {
    let Some(treatment) = &call.null_treatment else {
        return Ok(false);
    };
    match function {
        WindowFunction::Lag
        | WindowFunction::Lead
        | WindowFunction::FirstValue
        | WindowFunction::LastValue
        | WindowFunction::NthValue => Ok(*treatment == NullTreatment::IgnoreNulls),
        WindowFunction::Aggregate(_) => Err(Error::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "aggregate functions do not accept RESPECT/IGNORE NULLS",
        )),
        WindowFunction::RowNumber
        | WindowFunction::Rank
        | WindowFunction::DenseRank
        | WindowFunction::PercentRank
        | WindowFunction::CumeDist
        | WindowFunction::Ntile => {
            let message = format!("function {name} does not allow RESPECT/IGNORE NULLS");
            Err(Error::new(SqlState::FEATURE_NOT_SUPPORTED, message))
        }
    }
}

/// PARTITION BY and ORDER BY of a window, and what its frame excludes: see [`crate::parse`].
fn without_exclusion(written: &WindowSpec) -> (&[SqlExpr], &[OrderByExpr], FrameExclusion) {
    let said = |e: &SqlExpr| match e {
        SqlExpr::Identifier(name) => match name.value.strip_prefix(EXCLUDE)? {
            "current row" => Some(FrameExclusion::CurrentRow),
            "group" => Some(FrameExclusion::Group),
            "ties" => Some(FrameExclusion::Ties),
            _ => Some(FrameExclusion::NoOthers),
        },
        _ => None,
    };
    let (partition, order) = (&written.partition_by[..], &written.order_by[..]);
    if let [rest @ .., last] = order
        && let Some(exclusion) = said(&last.expr)
    {
        return (partition, rest, exclusion);
    }
    if let [rest @ .., last] = partition
        && let Some(exclusion) = said(last)
    {
        return (rest, order, exclusion);
    }
    (partition, order, FrameExclusion::NoOthers)
}

/// A window that begins with a named one. 42P20.
fn extended(
    name: &str,
    base: Specification,
    partition: Vec<Expr>,
    order: Vec<OrderKey>,
    has_frame: bool,
) -> Result<Specification> {
    let refused = |message: String| Err(Error::new(SqlState::WINDOWING_ERROR, message));
    if !partition.is_empty() {
        return refused(format!(
            "cannot override PARTITION BY clause of window \"{name}\""
        ));
    }
    if !order.is_empty() && !base.order.is_empty() {
        return refused(format!("cannot override ORDER BY clause of window \"{name}\""));
    }
    if base.frame.is_some() {
        let message = format!("cannot copy window \"{name}\" because it has a frame clause");
        let refused = Error::new(SqlState::WINDOWING_ERROR, message);
        return Err(match order.is_empty() && !has_frame {
            true => refused.with_hint("Omit the parentheses in this OVER clause."),
            false => refused,
        });
    }
    let order = if order.is_empty() { base.order } else { order };
    Ok(Specification {
        partition: base.partition,
        order,
        frame: None,
    })
}

/// What is wrong with the ends of a frame.
fn check_bounds(frame: &WindowFrame) -> std::result::Result<(), &'static str> {
    use WindowFrameBound::{CurrentRow, Following, Preceding};
    let (start, end) = (&frame.start_bound, frame.end_bound.as_ref());
    match (start, end) {
        (Following(None), _) => Err("frame start cannot be UNBOUNDED FOLLOWING"),
        (Following(Some(_)), None) => Err("frame starting from following row cannot end with current row"),
        (_, Some(Preceding(None))) => Err("frame end cannot be UNBOUNDED PRECEDING"),
        (CurrentRow, Some(Preceding(Some(_)))) => {
            Err("frame starting from current row cannot have preceding rows")
        }
        (Following(Some(_)), Some(CurrentRow | Preceding(Some(_)))) => {
            Err("frame starting from following row cannot have preceding rows")
        }
        _ => Ok(()),
    }
}
