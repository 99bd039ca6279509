//! The text of plans and pipelines: what EXPLAIN, EXPLAIN (PIPELINES) and EXPLAIN (STAGES) print. The
//! text is stable: golden tests compare it.

use crate::display_expression::{write_constant, write_list};
use crate::lookup::Lookup;
use crate::operators::{
    Aggregate, DependentJoin, Filter, Given, Join, Limit, Map, PlanConflict, Repeat, Scan,
    ScanRestrictionKind, Shared, Sort, TopPerGroup, UnionAll, Values, WriteKind,
};
use crate::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Sink, Source};
use crate::{
    AggregateCall, AggregateFunction, Change, ColumnId, Columns, Expr, JoinKind, Operator, Plan, RowCount,
    ScanDisjunction, ScanRestriction, SortKey,
};
use frazil_types::LogicalType;
use std::fmt::Write;

pub use crate::display_expression::{ExprText, Names};

/// What EXPLAIN prints beside an operator, such as its estimated rows.
pub type Note<'a> = &'a dyn Fn(&Operator) -> Option<String>;

/// The text of a plan, and of the queries of its [`Operator::Write`].
pub fn plan(plan: &Plan) -> String {
    with_queries(plan, &|plan| plan_with_notes(plan, &|_| None))
}

/// The text of a plan as `text` gives it, and behind it those of the queries of its [`Operator::Write`], under a title each.
pub fn with_queries(plan: &Plan, text: &dyn Fn(&Plan) -> String) -> String {
    let mut out = text(plan);
    if let Operator::Write(write) = &plan.root {
        let update = write.update.iter().map(|query| ("On conflict", query));
        let returning = write.returning.iter().map(|query| ("Returning", query));
        for (title, query) in update.chain(returning) {
            let _ = writeln!(out, "{title}:");
            for line in text(query).lines() {
                let _ = writeln!(out, "  {line}");
            }
        }
    }
    out
}

/// The text of a plan with a note beside each operator that has one.
pub fn plan_with_notes(plan: &Plan, note: Note<'_>) -> String {
    let printer = Printer {
        names: Names::of(&plan.columns),
        columns: &plan.columns,
        note,
    };
    let mut out = String::new();
    if !plan.output.is_empty() {
        let names = &printer.names;
        let output: Vec<String> = plan
            .output
            .iter()
            .map(|(name, id)| match names.name(*id) {
                same if same == name => name.clone(),
                other => format!("{name} = {other}"),
            })
            .collect();
        let _ = writeln!(out, "Output {}", output.join(", "));
    }
    printer.tree(&mut out, &plan.root, 0, "");
    for (i, (tree, column)) in plan.subqueries.iter().enumerate() {
        let _ = writeln!(out, "Subquery {i}: {}", printer.names.name(*column));
        printer.tree(&mut out, tree, 1, "");
    }
    for (i, tree) in plan.shared.iter().enumerate() {
        let _ = writeln!(out, "Shared {i}:");
        printer.tree(&mut out, tree, 1, "");
    }
    out
}

/// The text of pipelines, one line an operator.
pub fn pipelines(plan: &PipelinePlan) -> String {
    let names = Names::of(&plan.columns);
    let mut out = String::new();
    for (i, pipeline) in plan.pipelines.iter().enumerate() {
        let _ = writeln!(out, "Pipeline {i}");
        let _ = writeln!(out, "  from {}", source(pipeline, plan, &names));
        for op in &pipeline.operators {
            let _ = writeln!(out, "  {}", pipeline_operator(op, &names));
        }
        let _ = writeln!(out, "  into {}", sink(pipeline, plan, &names));
    }
    out
}

/// The text of pipelines with their stages and what each stage boundary carries.
pub fn stages(plan: &PipelinePlan) -> String {
    let names = Names::of(&plan.columns);
    let mut out = String::new();
    for (i, pipeline) in plan.pipelines.iter().enumerate() {
        let _ = writeln!(out, "Pipeline {i}");
        let _ = writeln!(out, "  stage 0");
        let _ = writeln!(out, "    from {}", source(pipeline, plan, &names));
        let mut stage = 0;
        for k in 0..=pipeline.operators.len() {
            if pipeline.boundaries.contains(&k) {
                stage += 1;
                let live = live_before(pipeline, k, plan);
                let _ = writeln!(out, "  stage {stage}, of vectors ({})", names.list(live));
            }
            let _ = match pipeline.operators.get(k) {
                Some(op) => writeln!(out, "    {}", pipeline_operator(op, &names)),
                None => writeln!(out, "    into {}", sink(pipeline, plan, &names)),
            };
        }
    }
    out
}

/// Columns made before operator `k` of a pipeline (the sink counts as the last) that it or what follows
/// reads, ascending: what a stage boundary there carries.
pub fn live_before(pipeline: &Pipeline, k: usize, plan: &PipelinePlan) -> Vec<ColumnId> {
    let mut read = pipeline.sink.reads(plan);
    for op in &pipeline.operators[k..] {
        read.extend(op.reads());
    }
    let mut made = pipeline.source.columns(plan);
    for op in &pipeline.operators[..k] {
        made.extend(op.adds(plan));
    }
    read.retain(|id| made.contains(id));
    read.sort();
    read.dedup();
    read
}

struct Printer<'a> {
    names: Names,
    columns: &'a Columns,
    note: Note<'a>,
}

impl Printer<'_> {
    fn tree(&self, out: &mut String, op: &Operator, depth: usize, role: &str) {
        let _ = write!(out, "{:1$}{role}", "", depth * 2);
        self.line(out, op);
        if let Some(note) = (self.note)(op) {
            let _ = write!(out, "  [{note}]");
        }
        out.push('\n');
        match op {
            Operator::Join(Join { build, probe, .. }) => {
                self.tree(out, build, depth + 1, "build: ");
                self.tree(out, probe, depth + 1, "probe: ");
            }
            _ => {
                for input in op.inputs() {
                    self.tree(out, input, depth + 1, "");
                }
            }
        }
    }

    fn line(&self, out: &mut String, op: &Operator) {
        let names = &self.names;
        let text = match op {
            Operator::Scan(Scan {
                name,
                columns,
                row_id,
                restrictions,
                disjunctions,
                ..
            }) => format!(
                "Scan {}{}",
                scan(name, columns, *row_id, names),
                scan_predicates(restrictions, disjunctions, names, self.columns)
            ),
            Operator::Values(Values { columns, rows }) => format!("Values {}", values(columns, rows, names)),
            Operator::Given(Given { columns }) => format!("Given {}", given(columns, names)),
            Operator::Filter(Filter { predicate, .. }) => format!("Filter {}", names.expr(predicate)),
            Operator::Map(Map { expressions, .. }) => format!("Map {}", assignments(expressions, names)),
            Operator::Join(join) => join_text(join, names),
            Operator::DependentJoin(join) => dependent_join_text(join, names),
            Operator::Aggregate(Aggregate {
                groups, aggregates, ..
            }) => format!("Aggregate{}", aggregation(groups, aggregates, names)),
            Operator::Sort(Sort {
                keys, limit, offset, ..
            }) => format!(
                "Sort by {}{}",
                sort_keys(keys, names),
                limits(limit, offset, names)
            ),
            Operator::TopPerGroup(TopPerGroup {
                groups,
                keys,
                limit,
                offset,
                ..
            }) => format!(
                "First rows for each ({}){}{}",
                names.list(groups.iter().copied()),
                by_keys(keys, names),
                limits(limit, offset, names)
            ),
            Operator::Limit(Limit { limit, offset, .. }) => {
                format!("Some rows{}", limits(limit, offset, names))
            }
            Operator::Repeat(Repeat { count, .. }) => format!("Repeat {} times", names.name(*count)),
            Operator::UnionAll(UnionAll { inputs, columns }) => {
                let inputs: Vec<&[ColumnId]> = inputs.iter().map(|(_, c)| c.as_slice()).collect();
                format!("Union all {}", union(&inputs, columns, names))
            }
            Operator::Shared(Shared { id, columns }) => {
                format!("Shared {} ({})", id.0, stored_columns(columns, names))
            }
            Operator::Write(write) => upper_first(write_text(&write.change, names)),
        };
        out.push_str(&text);
    }
}

fn join_text(join: &Join, names: &Names) -> String {
    let keys = join.keys.iter();
    let keys: Vec<String> = keys
        .map(|(b, p)| format!("{} = {}", names.expr(b), names.expr(p)))
        .collect();
    format!(
        "Join {}{}",
        kind_name(join.kind, names),
        match_text(&keys, &join.residual, join.null_aware, names)
    )
}

fn dependent_join_text(join: &DependentJoin, names: &Names) -> String {
    let kind = if join.keep_outer { "left" } else { "inner" };
    let on = join.condition.as_ref().map(|c| format!(" on {}", names.expr(c)));
    format!("Dependent join {kind}{}", on.unwrap_or_default())
}

fn upper_first(mut text: String) -> String {
    text[..1].make_ascii_uppercase();
    text
}

/// What a write does, in lower case.
fn write_text(change: &Change, names: &Names) -> String {
    let name = &change.name;
    let mut text = match &change.kind {
        WriteKind::Insert { columns, conflict } => {
            let columns = names.list(columns.iter().copied());
            format!("insert {name} ({columns}){}", conflict_text(conflict))
        }
        WriteKind::Update { row_id, set } => {
            format!(
                "update {name} by {} set ({})",
                names.name(*row_id),
                set_text(set, names)
            )
        }
        WriteKind::Delete { row_id } => format!("delete {name} by {}", names.name(*row_id)),
    };
    text.push_str(&checks_text(&change.checks, names));
    if !change.returning.is_empty() {
        let _ = write!(
            text,
            " returning ({})",
            names.list(change.returning.iter().copied())
        );
    }
    text
}

/// Columns with their positions among those that are given.
fn given(columns: &[(ColumnId, usize)], names: &Names) -> String {
    let columns = (columns.iter()).map(|(id, position)| format!("{} = {position}", names.name(*id)));
    format!("({})", columns.collect::<Vec<_>>().join(", "))
}

/// Positions of columns in the table, and their new values.
fn set_text(set: &[(usize, ColumnId)], names: &Names) -> String {
    let set = set
        .iter()
        .map(|(position, id)| format!("{position} = {}", names.name(*id)));
    set.collect::<Vec<_>>().join(", ")
}

fn checks_text(checks: &[(String, ColumnId)], names: &Names) -> String {
    let check = |(name, id): &(String, ColumnId)| format!(" check {name} {}", names.name(*id));
    checks.iter().map(check).collect()
}

fn conflict_text(conflict: &PlanConflict) -> String {
    match conflict {
        PlanConflict::Fail => String::new(),
        PlanConflict::Skip { .. } => " on conflict do nothing".into(),
        PlanConflict::Update(update) => {
            let set: Vec<String> = update.set.iter().map(usize::to_string).collect();
            let condition = if update.has_condition { " where" } else { "" };
            let checks: String = (update.checks.iter())
                .map(|name| format!(" check {name}"))
                .collect();
            format!(" on conflict update set ({}){condition}{checks}", set.join(", "))
        }
    }
}

/// The columns of a union, and of each of its inputs, which stand in the order of the union's columns.
fn union(inputs: &[&[ColumnId]], columns: &[ColumnId], names: &Names) -> String {
    let from: Vec<String> = inputs
        .iter()
        .map(|c| format!("({})", names.list(c.iter().copied())))
        .collect();
    format!("({}) of {}", names.list(columns.iter().copied()), from.join(", "))
}

/// Pairs of a column that is made and the column of a shared subplan that it repeats.
fn stored_columns(columns: &[(ColumnId, ColumnId)], names: &Names) -> String {
    let pairs: Vec<String> = columns
        .iter()
        .map(|(made, stored)| format!("{} := {}", names.name(*made), names.name(*stored)))
        .collect();
    pairs.join(", ")
}

fn scan(name: &str, columns: &[(ColumnId, usize)], row_id: Option<ColumnId>, names: &Names) -> String {
    let columns = names.list(columns.iter().map(|c| c.0).chain(row_id));
    format!("{name} ({columns})")
}

/// What is pushed into a scan, from " where " on.
fn scan_predicates(
    restrictions: &[ScanRestriction],
    disjunctions: &[ScanDisjunction],
    names: &Names,
    types: &Columns,
) -> String {
    let text = |r: &ScanRestriction| restriction(r, names, types[r.column].ty);
    let all = |list: &[ScanRestriction]| list.iter().map(text).collect::<Vec<_>>().join(" and ");
    let any = |d: &ScanDisjunction| {
        let alternatives: Vec<String> = d.alternatives.iter().map(|a| all(a)).collect();
        format!("({})", alternatives.join(" or "))
    };
    let predicates: Vec<String> = (restrictions.iter().map(text))
        .chain(disjunctions.iter().map(any))
        .collect();
    match &predicates[..] {
        [] => String::new(),
        some => format!(" where {}", some.join(" and ")),
    }
}

/// The text of a restriction on a column of type `ty`.
fn restriction(r: &ScanRestriction, names: &Names, ty: LogicalType) -> String {
    let column = names.name(r.column);
    match &r.kind {
        ScanRestrictionKind::Compare(op, e) => format!("{column} {} {}", op.symbol(), names.expr(e)),
        ScanRestrictionKind::Between(low, high) => {
            format!("{column} between {} and {}", names.expr(low), names.expr(high))
        }
        ScanRestrictionKind::In(list) => {
            let mut out = format!("{column} in ");
            let _ = write_list(&mut out, list, ty);
            out
        }
        ScanRestrictionKind::IsNull => format!("{column} is null"),
        ScanRestrictionKind::IsNotNull => format!("{column} is not null"),
        ScanRestrictionKind::Prefix(prefix) => {
            let mut out = format!("{column} begins with ");
            let _ = write_constant(
                &mut out,
                &frazil_types::Value::Text(prefix.clone()),
                LogicalType::Text,
            );
            out
        }
        ScanRestrictionKind::Like { pattern, negated } => {
            let mut out = format!("{column} {}like ", if *negated { "not " } else { "" });
            let _ = write_constant(
                &mut out,
                &frazil_types::Value::Text(pattern.clone()),
                LogicalType::Text,
            );
            out
        }
    }
}

fn values(columns: &[ColumnId], rows: &[Vec<Expr>], names: &Names) -> String {
    const SHOWN: usize = 4;
    let shown: Vec<String> = rows
        .iter()
        .take(SHOWN)
        .map(|r| format!("({})", names.exprs(r)))
        .collect();
    let columns = names.list(columns.iter().copied());
    match rows.len() {
        0 => format!("({columns}): no rows"),
        n if n > SHOWN => format!("({columns}): {}, … {n} rows in all", shown.join(", ")),
        _ => format!("({columns}): {}", shown.join(", ")),
    }
}

fn assignments(expressions: &[(ColumnId, Expr)], names: &Names) -> String {
    let list: Vec<String> = expressions
        .iter()
        .map(|(id, e)| format!("{} := {}", names.name(*id), names.expr(e)))
        .collect();
    list.join(", ")
}

fn kind_name(kind: JoinKind, names: &Names) -> String {
    match kind {
        JoinKind::Inner => "inner".into(),
        JoinKind::ProbeOuter => "probe outer".into(),
        JoinKind::BuildOuter => "build outer".into(),
        JoinKind::FullOuter => "full outer".into(),
        JoinKind::ProbeSemi => "probe semi".into(),
        JoinKind::ProbeAnti => "probe anti".into(),
        JoinKind::BuildSemi => "build semi".into(),
        JoinKind::BuildAnti => "build anti".into(),
        JoinKind::ProbeMark(mark) => format!("probe mark {}", names.name(mark)),
    }
}

fn match_text(keys: &[String], residual: &Option<Expr>, null_aware: bool, names: &Names) -> String {
    let mut out = String::new();
    if !keys.is_empty() {
        let _ = write!(out, " on {}", keys.join(" and "));
    }
    if let Some(e) = residual {
        let _ = write!(out, " if {}", names.expr(e));
    }
    if null_aware {
        out.push_str(", null aware");
    }
    out
}

fn aggregation(
    groups: &[(ColumnId, Expr)],
    aggregates: &[(ColumnId, AggregateCall)],
    names: &Names,
) -> String {
    let mut out = String::new();
    if !groups.is_empty() {
        let _ = write!(out, " by {}", assignments(groups, names));
    }
    for (i, (id, call)) in aggregates.iter().enumerate() {
        let before = if i > 0 {
            ", "
        } else if groups.is_empty() {
            " "
        } else {
            ": "
        };
        let _ = write!(out, "{before}{} := {}", names.name(*id), call_text(call, names));
    }
    out
}

fn call_text(call: &AggregateCall, names: &Names) -> String {
    let name = match call.function {
        AggregateFunction::CountRows | AggregateFunction::Count => "count",
        AggregateFunction::Sum => "sum",
        AggregateFunction::Min => "min",
        AggregateFunction::Max => "max",
        AggregateFunction::Avg => "avg",
    };
    let argument = call
        .argument
        .as_ref()
        .map_or("*".to_string(), |e| names.expr(e).to_string());
    let distinct = if call.distinct { "distinct " } else { "" };
    let filter = call
        .filter
        .as_ref()
        .map_or(String::new(), |e| format!(" filter (where {})", names.expr(e)));
    format!("{name}({distinct}{argument}){filter}")
}

fn sort_keys(keys: &[SortKey], names: &Names) -> String {
    let list: Vec<String> = keys
        .iter()
        .map(|k| {
            let order = if k.descending { " desc" } else { "" };
            // PostgreSQL's default: NULLs are larger than all else.
            let nulls = match (k.descending, k.nulls_first) {
                (false, true) => " nulls first",
                (true, false) => " nulls last",
                _ => "",
            };
            format!("{}{order}{nulls}", names.name(k.column))
        })
        .collect();
    list.join(", ")
}

/// " by " and the keys, if there are any.
fn by_keys(keys: &[SortKey], names: &Names) -> String {
    match keys {
        [] => String::new(),
        keys => format!(" by {}", sort_keys(keys, names)),
    }
}

fn limits(limit: &Option<RowCount>, offset: &RowCount, names: &Names) -> String {
    let count = |rows: &RowCount| match rows {
        RowCount::Constant(n) => n.to_string(),
        RowCount::Value(e) => names.expr(e).to_string(),
        RowCount::Column(id) => names.name(*id).to_string(),
    };
    let mut out = (limit.as_ref()).map_or(String::new(), |n| format!(", limit {}", count(n)));
    if !offset.is_zero() {
        let _ = write!(out, ", offset {}", count(offset));
    }
    out
}

fn source(pipeline: &Pipeline, plan: &PipelinePlan, names: &Names) -> String {
    match &pipeline.source {
        Source::Scan {
            name,
            columns,
            row_id,
            restrictions,
            disjunctions,
            early_probes,
            ..
        } => {
            let mut out = format!(
                "scan {}{}",
                scan(name, columns, *row_id, names),
                scan_predicates(restrictions, disjunctions, names, &plan.columns)
            );
            for probe in early_probes {
                let _ = write!(
                    out,
                    ", {} early in join {}",
                    names.name(probe.column),
                    probe.join.0
                );
            }
            out
        }
        Source::Lookup(lookup) => format!(
            "lookup {} {}",
            scan(&lookup.name, &lookup.columns, lookup.row_id, names),
            by_index(lookup, names)
        ),
        Source::Values { columns, rows } => format!("values {}", values(columns, rows, names)),
        Source::Given { columns } => format!("given {}", given(columns, names)),
        Source::Groups(id) => format!("groups {} ({})", id.0, names.list(pipeline.source.columns(plan))),
        Source::Sorted(id) => format!("sorted {} ({})", id.0, names.list(pipeline.source.columns(plan))),
        Source::Buffer(id, columns) => {
            let columns: Vec<String> = columns
                .iter()
                .map(|(made, stored)| match made == stored {
                    true => names.name(*made).to_string(),
                    false => format!("{} := {}", names.name(*made), names.name(*stored)),
                })
                .collect();
            format!("buffer {} ({})", id.0, columns.join(", "))
        }
        Source::BuildRows { join, matched } => {
            let which = if *matched { "matched" } else { "unmatched" };
            format!(
                "{which} rows of join {} ({})",
                join.0,
                names.list(pipeline.source.columns(plan))
            )
        }
    }
}

/// "by index", its name and the key.
fn by_index(lookup: &Lookup, names: &Names) -> String {
    let part =
        |(column, value): &(ColumnId, Expr)| format!("{} = {}", names.name(*column), names.expr(value));
    let key: Vec<String> = lookup.key.iter().map(part).collect();
    format!("by index {} where {}", lookup.index_name, key.join(" and "))
}

fn pipeline_operator(op: &PipelineOperator, names: &Names) -> String {
    match op {
        PipelineOperator::Filter(e) => format!("filter {}", names.expr(e)),
        PipelineOperator::Map(expressions) => format!("map {}", assignments(expressions, names)),
        PipelineOperator::Probe {
            join,
            kind,
            keys,
            residual,
            null_aware,
        } => {
            let keys: Vec<String> = match keys.is_empty() {
                true => vec![],
                false => vec![names.exprs(keys)],
            };
            let text = match_text(&keys, residual, *null_aware, names);
            format!("probe join {}, {}{text}", join.0, kind_name(*kind, names))
        }
        PipelineOperator::Call(call) => {
            let arguments = names.list(call.arguments.iter().copied());
            let guard = call.guard.map(|g| format!(" where {}", names.name(g)));
            let (made, function) = (names.name(call.made), call.function.0.name());
            format!(
                "call {made} := {function}({arguments}){}",
                guard.unwrap_or_default()
            )
        }
        PipelineOperator::Repeat { count } => format!("repeat {} times", names.name(*count)),
    }
}

fn sink(pipeline: &Pipeline, plan: &PipelinePlan, names: &Names) -> String {
    match &pipeline.sink {
        Sink::JoinBuild(id, keys) => {
            let table = &plan.joins[id.0];
            let payload = names.list(table.payload.iter().copied());
            let rows = table.estimated_rows;
            format!(
                "join {} on ({}) with ({payload}), about {rows:.0} rows",
                id.0,
                names.exprs(keys)
            )
        }
        Sink::Aggregate(id) => {
            let table = &plan.aggregates[id.0];
            let text = aggregation(&table.groups, &table.aggregates, names);
            match table.groups.is_empty() {
                true => format!("groups {}{text}", id.0),
                false => format!(
                    "groups {}{text}, about {:.0} groups",
                    id.0, table.estimated_groups
                ),
            }
        }
        Sink::Sort(id) => {
            let table = &plan.sorts[id.0];
            let columns = names.list(table.columns.iter().copied());
            let (groups, keys) = table.keys.split_at(table.groups);
            let groups = match groups {
                [] => String::new(),
                groups => format!(", for each ({})", names.list(groups.iter().map(|k| k.column))),
            };
            let keys = by_keys(keys, names);
            format!(
                "sort {} ({columns}){keys}{groups}{}",
                id.0,
                limits(&table.limit, &table.offset, names)
            )
        }
        Sink::Buffer(id, columns) => {
            let buffer = &plan.buffers[id.0];
            let role = match (
                plan.result == Some(*id),
                plan.subqueries.iter().position(|s| s == id),
            ) {
                (true, _) => "result".to_string(),
                (_, Some(n)) => format!("subquery {n}"),
                _ => format!("buffer {}", id.0),
            };
            let columns = names.list(columns.iter().copied());
            format!(
                "{role} ({columns}){}",
                limits(&buffer.limit, &buffer.offset, names)
            )
        }
        Sink::Mark => "marks".into(),
        Sink::Write(change) => write_text(change, names),
    }
}
