//! Scans that need look at one row only: where restrictions give each column of a unique index a value, the row is looked up,
//! and the other restrictions become a filter behind the lookup.
//!
//! This is no choice by cost: one row is never more than a scan finds. Which of several unique indexes is used does not matter
//! either, so it is the first one.

use frazil_plan::operators::{Scan, ScanRestrictionKind};
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Source};
use frazil_plan::{
    ColumnId, Columns, Expr, ExprKind, IndexInfo, Lookup, Operator, ScanDisjunction, ScanRestriction,
    Statistics,
};
use frazil_types::{CompareOp, ObjectId};
use std::collections::BTreeSet;

/// A unique index whose key restrictions give.
struct Found {
    index: IndexInfo,
    /// Places of the restrictions that give it, in the order of its columns.
    places: Vec<usize>,
}

/// Turns scans into lookups.
pub fn apply(plan: &mut PipelinePlan, statistics: &dyn Statistics) {
    let mut pipelines = std::mem::take(&mut plan.pipelines);
    for pipeline in &mut pipelines {
        if let Some((source, filter)) = looked_up(&pipeline.source, &plan.columns, statistics) {
            pipeline.source = source;
            let filter = filter.map(PipelineOperator::Filter);
            pipeline.operators.splice(0..0, filter);
            keep_what_is_read(pipeline, plan);
            if !pipeline.operators.iter().any(adds_rows) {
                pipeline.estimated_rows = pipeline.estimated_rows.min(1.0);
            }
        }
    }
    plan.pipelines = pipelines;
}

/// What EXPLAIN says beside a scan that becomes a lookup: the index.
pub fn index_of(op: &Operator, statistics: &dyn Statistics) -> Option<String> {
    let Operator::Scan(Scan {
        table,
        columns,
        restrictions,
        ..
    }) = op
    else {
        return None;
    };
    find(*table, columns, restrictions, statistics).map(|found| found.index.name)
}

/// True if a unique index finds the only row that a scan with these restrictions can have.
pub fn finds_row(
    table: ObjectId,
    columns: &[(ColumnId, usize)],
    restrictions: &[ScanRestriction],
    statistics: &dyn Statistics,
) -> bool {
    find(table, columns, restrictions, statistics).is_some()
}

/// A scan as a lookup, and what else is asked of the row.
fn looked_up(
    source: &Source,
    types: &Columns,
    statistics: &dyn Statistics,
) -> Option<(Source, Option<Expr>)> {
    let Source::Scan {
        table,
        name,
        columns,
        row_id,
        restrictions,
        disjunctions,
        ..
    } = source
    else {
        return None;
    };
    let Found { index, places } = find(*table, columns, restrictions, statistics)?;
    let value = |&place: &usize| {
        let (column, value) = equal_to(&restrictions[place])?;
        Some((column, value.clone()))
    };
    let key = places.iter().map(value).collect::<Option<_>>()?;
    let others = restrictions.iter().enumerate();
    let others = others.filter(|(place, _)| !places.contains(place));
    let conditions = others.map(|(_, restriction)| condition(restriction, types));
    let conditions = conditions.chain(disjunctions.iter().map(|d| any_of(d, types)));
    let lookup = Lookup {
        table: *table,
        name: name.clone(),
        columns: columns.clone(),
        row_id: *row_id,
        index: index.id,
        index_name: index.name,
        key,
    };
    let filter = Expr::conjunction(conditions.collect());
    Some((Source::Lookup(Box::new(lookup)), filter))
}

/// The first unique index of which restrictions give each column a value.
fn find(
    table: ObjectId,
    columns: &[(ColumnId, usize)],
    restrictions: &[ScanRestriction],
    statistics: &dyn Statistics,
) -> Option<Found> {
    if !restrictions.iter().any(|r| equal_to(r).is_some()) {
        return None;
    }
    let gives = |restriction: &ScanRestriction, position: usize| {
        equal_to(restriction).is_some_and(|(column, _)| columns.contains(&(column, position)))
    };
    let place = |position: usize| restrictions.iter().position(|r| gives(r, position));
    let unique = statistics.indexes(table).into_iter().filter(|index| index.unique);
    let mut found = unique.filter_map(|index| {
        let places = index.keys.iter().map(|key| place(key.column));
        let places = places.collect::<Option<_>>()?;
        Some(Found { index, places })
    });
    found.next()
}

/// The column and the value to which a restriction binds it, if it does.
fn equal_to(restriction: &ScanRestriction) -> Option<(ColumnId, &Expr)> {
    match &restriction.kind {
        ScanRestrictionKind::Compare(CompareOp::Eq, value) => Some((restriction.column, value)),
        _ => None,
    }
}

/// Whether more rows may come out of an operator than go into it.
fn adds_rows(operator: &PipelineOperator) -> bool {
    matches!(
        operator,
        PipelineOperator::Probe { .. } | PipelineOperator::Expand(_)
    )
}

/// Leaves out columns that nobody reads: the key's, most of the time.
fn keep_what_is_read(pipeline: &mut Pipeline, plan: &PipelinePlan) {
    let mut read: BTreeSet<ColumnId> = pipeline.sink.reads(plan).into_iter().collect();
    pipeline
        .operators
        .iter()
        .for_each(|operator| read.extend(operator.reads()));
    if let Source::Lookup(lookup) = &mut pipeline.source {
        lookup.columns.retain(|(column, _)| read.contains(column));
    }
}

/// A restriction as a predicate: true for the same rows.
fn condition(restriction: &ScanRestriction, types: &Columns) -> Expr {
    let column = || Box::new(Expr::column(restriction.column, types));
    let nullable = types[restriction.column].nullable;
    let compare = |op, value: &Expr| {
        let nullable = nullable || value.nullable;
        Expr::boolean(ExprKind::Compare(op, column(), Box::new(value.clone())), nullable)
    };
    let like = |pattern, negated| ExprKind::Like {
        value: column(),
        pattern,
        escape: Some('\\'),
        negated,
    };
    match &restriction.kind {
        ScanRestrictionKind::Compare(op, value) => compare(*op, value),
        ScanRestrictionKind::Between(low, high) => {
            let ends = vec![compare(CompareOp::Ge, low), compare(CompareOp::Le, high)];
            all_of(ends)
        }
        ScanRestrictionKind::In(list) => {
            let list = list.iter().filter(|value| !value.is_null()).cloned().collect();
            let value = column();
            let negated = false;
            Expr::boolean(ExprKind::InList { value, list, negated }, nullable)
        }
        ScanRestrictionKind::IsNull => Expr::boolean(ExprKind::IsNull(column()), false),
        ScanRestrictionKind::IsNotNull => {
            let is_null = Expr::boolean(ExprKind::IsNull(column()), false);
            Expr::boolean(ExprKind::Not(Box::new(is_null)), false)
        }
        ScanRestrictionKind::Prefix(prefix) => {
            let escaped = prefix.chars().flat_map(|c| {
                let escape = matches!(c, '%' | '_' | '\\').then_some('\\');
                escape.into_iter().chain([c])
            });
            Expr::boolean(like(escaped.chain(['%']).collect(), false), nullable)
        }
        ScanRestrictionKind::Like { pattern, negated } => {
            Expr::boolean(like(pattern.clone(), *negated), nullable)
        }
    }
}

fn all_of(conditions: Vec<Expr>) -> Expr {
    Expr::conjunction(conditions).unwrap_or_else(|| Expr::truth(true))
}

fn any_of(disjunction: &ScanDisjunction, types: &Columns) -> Expr {
    let alternatives: Vec<Expr> = (disjunction.alternatives.iter())
        .map(|alternative| all_of(alternative.iter().map(|r| condition(r, types)).collect()))
        .collect();
    let nullable = alternatives.iter().any(|a| a.nullable);
    Expr::boolean(ExprKind::Or(alternatives), nullable)
}
