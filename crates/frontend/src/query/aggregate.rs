//! Grouping and aggregate functions.

use super::relation::mapped;
use super::typing::constant_of;
use super::{Relation, Translator};
use datafusion_common::DFSchema;
use datafusion_expr::expr::AggregateFunction as DfAggregate;
use datafusion_expr::{Aggregate, Expr as DfExpr};
use frazil_plan::{AggregateCall, AggregateFunction, ColumnId, Expr, Operator};
use frazil_types::{Error, LogicalType, Result, SqlState, Value};

const DECIMAL_DIGITS: u8 = 38;

/// Type of an aggregate's result, by the rules of [`AggregateFunction`]. 42883.
fn result_type(function: AggregateFunction, argument: LogicalType) -> Result<LogicalType> {
    use LogicalType::*;
    let wide = |scale| Decimal {
        precision: DECIMAL_DIGITS,
        scale,
    };
    match (function, argument) {
        (AggregateFunction::CountRows | AggregateFunction::Count, _) => Ok(BigInt),
        (AggregateFunction::Min | AggregateFunction::Max, ty) if ty != Boolean && ty != Interval => Ok(ty),
        (AggregateFunction::Sum, SmallInt | Integer) => Ok(BigInt),
        (AggregateFunction::Sum, BigInt) => Ok(wide(0)),
        (AggregateFunction::Sum, Decimal { scale, .. }) => Ok(wide(scale)),
        (AggregateFunction::Avg, SmallInt | Integer | BigInt) => Ok(wide(6)),
        (AggregateFunction::Avg, Decimal { scale, .. }) => Ok(wide(scale.max(6))),
        (AggregateFunction::Sum | AggregateFunction::Avg, Double) => Ok(Double),
        (function, ty) => Err(Error::new(
            SqlState::UNDEFINED_FUNCTION,
            format!(
                "function {}({ty}) does not exist",
                format!("{function:?}").to_lowercase()
            ),
        )),
    }
}

impl Translator {
    /// GROUP BY and aggregates.
    pub(super) fn aggregate(&mut self, a: &Aggregate) -> Result<Relation> {
        let input = self.relation(&a.input)?;
        let schema = a.input.schema();
        let (mut op, mut out) = (input.op, Vec::new());
        let mut groups: Vec<(ColumnId, Expr)> = Vec::new();
        let mut labels = a.schema.fields().iter().map(|f| f.name().clone());
        for e in &a.group_expr {
            let label = labels.next().unwrap_or_default();
            if matches!(e, DfExpr::GroupingSet(_)) {
                return Err(Error::unsupported("GROUPING SETS, ROLLUP or CUBE"));
            }
            let expression;
            (op, expression) = self.expression_over(op, schema, &input.out, e)?;
            if let Some((known, _)) = groups.iter().find(|g| g.1 == expression) {
                out.push(*known);
                continue;
            }
            let id = self.columns.add(label, expression.ty, expression.nullable);
            groups.push((id, expression));
            out.push(id);
        }
        let mut aggregates: Vec<(ColumnId, AggregateCall)> = Vec::new();
        let grouped = !groups.is_empty();
        for e in &a.aggr_expr {
            let label = labels.next().unwrap_or_default();
            let call;
            (op, call) = self.aggregate_call(op, schema, &input.out, e)?;
            if let Some((known, _)) = aggregates.iter().find(|a| a.1 == call) {
                out.push(*known);
                continue;
            }
            let counts = matches!(
                call.function,
                AggregateFunction::CountRows | AggregateFunction::Count
            );
            let argument_nullable = call.argument.as_ref().is_none_or(|e| e.nullable);
            let nullable = !counts && (!grouped || argument_nullable || call.filter.is_some());
            let id = self.columns.add(label, call.ty, nullable);
            aggregates.push((id, call));
            out.push(id);
        }
        // Grouping by constants alone is no grouping of nothing: without input rows there is no group.
        let op = Operator::Aggregate {
            input: Box::new(mapped(op, Vec::new())),
            groups,
            aggregates,
        };
        Ok(Relation { op, out })
    }

    fn aggregate_call(
        &mut self,
        op: Operator,
        schema: &DFSchema,
        out: &[ColumnId],
        e: &DfExpr,
    ) -> Result<(Operator, AggregateCall)> {
        let call = match e {
            DfExpr::AggregateFunction(call) => call,
            DfExpr::Alias(alias) => return self.aggregate_call(op, schema, out, &alias.expr),
            other => return Err(Error::internal(format!("no aggregate: {other}"))),
        };
        refuse_options(call)?;
        let params = &call.params;
        let (mut op, mut argument) = (op, None);
        if let Some(first) = params.args.first() {
            let expression;
            (op, expression) = self.expression_over(op, schema, out, first)?;
            argument = Some(expression);
        }
        let mut filter = None;
        if let Some(condition) = &params.filter {
            let expression;
            (op, expression) = self.expression_over(op, schema, out, condition)?;
            filter = Some(self.as_predicate(expression)?);
        }
        let function = function_of(call.func.name())?;
        let (function, argument) = match (function, argument) {
            // count(*) arrives as count(1); any constant counts rows, NULL counts none.
            (AggregateFunction::Count, Some(e))
                if !params.distinct && !e.nullable
                    || matches!(constant_of(&e), Some(Value::Int(_)) if !params.distinct) =>
            {
                (AggregateFunction::CountRows, None)
            }
            (f, Some(e)) => (f, Some(self.known_argument(f, e)?)),
            (AggregateFunction::Count, None) => (AggregateFunction::CountRows, None),
            (f, None) => {
                return Err(Error::new(
                    SqlState::UNDEFINED_FUNCTION,
                    format!("function {f:?}() needs an argument").to_lowercase(),
                ));
            }
        };
        let ty = result_type(function, argument.as_ref().map_or(LogicalType::BigInt, |e| e.ty))?;
        let idempotent = matches!(function, AggregateFunction::Min | AggregateFunction::Max);
        let call = AggregateCall {
            function,
            argument,
            distinct: params.distinct && !idempotent,
            filter,
            ty,
        };
        Ok((op, call))
    }

    fn known_argument(&self, function: AggregateFunction, e: Expr) -> Result<Expr> {
        let numeric = matches!(function, AggregateFunction::Sum | AggregateFunction::Avg);
        if numeric && self.typing.is_untyped(&e) {
            return self.typing.cast(e, LogicalType::Double);
        }
        Ok(e)
    }
}

fn function_of(name: &str) -> Result<AggregateFunction> {
    Ok(match name {
        "count" => AggregateFunction::Count,
        "sum" => AggregateFunction::Sum,
        "min" => AggregateFunction::Min,
        "max" => AggregateFunction::Max,
        "avg" => AggregateFunction::Avg,
        other => return Err(Error::unsupported(format!("aggregate function {other}"))),
    })
}

fn refuse_options(call: &DfAggregate) -> Result<()> {
    let params = &call.params;
    if !params.order_by.is_empty() {
        return Err(Error::unsupported("ORDER BY in an aggregate"));
    }
    if params.null_treatment.is_some() {
        return Err(Error::unsupported("IGNORE NULLS in an aggregate"));
    }
    if params.args.len() > 1 {
        return Err(Error::unsupported(format!(
            "{} of several arguments",
            call.func.name()
        )));
    }
    Ok(())
}
