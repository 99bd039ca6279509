//! The text of plans and pipelines: what EXPLAIN, EXPLAIN (PIPELINES) and EXPLAIN (STAGES) print. The
//! text is stable: golden tests compare it.

use crate::band::Ends;
use crate::display_operator::*;
use crate::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Sink, Source};
use crate::{ColumnId, Columns, Operator, Plan};
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
    if let Some(write) = plan.root.write() {
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
            let _ = writeln!(out, "  {}", pipeline_operator(op, plan, &names));
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
                Some(op) => writeln!(out, "    {}", pipeline_operator(op, plan, &names)),
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
    let mut made = pipeline.source.columns();
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
        let node = op.node();
        let _ = write!(out, "{:1$}{role}", "", depth * 2);
        out.push_str(&node.text(&self.names, self.columns));
        if let Some(note) = (self.note)(op) {
            let _ = write!(out, "  [{note}]");
        }
        out.push('\n');
        for (i, input) in node.inputs().into_iter().enumerate() {
            self.tree(out, input, depth + 1, node.input_title(i));
        }
    }
}

fn source(pipeline: &Pipeline, plan: &PipelinePlan, names: &Names) -> String {
    match &pipeline.source {
        Source::Scan {
            name,
            columns,
            row_id,
            restrictions,
            disjunctions,
            places,
            early_probes,
            bound,
            ..
        } => {
            let mut out = format!("scan {}", scan(name, columns, *row_id, names));
            out += &scan_predicates(restrictions, disjunctions, names, &plan.columns);
            out += &scan_places(places, names, &plan.columns);
            for probe in early_probes {
                let _ = write!(
                    out,
                    ", {} early in join {}",
                    names.name(probe.column),
                    plan.number(probe.join)
                );
            }
            if let (Some(key), Some(sorter)) = (bound, pipeline.sink.breaker()) {
                let _ = write!(
                    out,
                    ", {} bounded by sort {}",
                    names.name(*key),
                    plan.number(sorter)
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
        Source::Expansion(expansion) => format!("rows of {}", expansion.text(names)),
        Source::Of {
            breaker,
            columns,
            which,
            late,
        } => {
            let columns: Vec<String> = columns
                .iter()
                .map(|(made, stored)| match made == stored {
                    true => names.name(*made).to_string(),
                    false => format!("{} := {}", names.name(*made), names.name(*stored)),
                })
                .collect();
            let rows = plan.keeps(*breaker).rows_text(*which);
            let late = late.as_ref().map(|late| {
                let columns = names.list(late.columns.iter().map(|c| c.0));
                format!(
                    ", with ({columns}) of {} by {}",
                    late.name,
                    names.name(late.row_id)
                )
            });
            let (number, columns) = (plan.number(*breaker), columns.join(", "));
            format!("{rows} {number} ({columns}){}", late.unwrap_or_default())
        }
    }
}

fn pipeline_operator(op: &PipelineOperator, plan: &PipelinePlan, names: &Names) -> String {
    match op {
        PipelineOperator::Filter(e) => format!("filter {}", names.expr(e)),
        PipelineOperator::Map(expressions) => format!("map {}", assignments(expressions, names)),
        PipelineOperator::Probe {
            join,
            kind,
            keys,
            ends,
            residual,
            null_aware,
        } => {
            let keys: Vec<String> = match keys.is_empty() {
                true => vec![],
                false => vec![names.exprs(keys)],
            };
            let run = ends
                .as_ref()
                .map(|ends| run_text(ends, names))
                .unwrap_or_default();
            let text = match_text(&keys, residual, *null_aware, names);
            format!(
                "probe join {}, {}{run}{text}",
                plan.number(*join),
                kind_name(*kind, names)
            )
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
        PipelineOperator::Expand(expansion) => format!("expand {}", expansion.text(names)),
    }
}

/// The run of a probe row, with brackets for ends that belong to it and parentheses for others.
fn run_text(ends: &Ends, names: &Names) -> String {
    let low = match &ends.low {
        Some(end) => format!(
            "{}{}",
            if end.included { "[" } else { "(" },
            names.expr(&end.value)
        ),
        None => "(".to_string(),
    };
    let high = match &ends.high {
        Some(end) => format!(
            "{}{}",
            names.expr(&end.value),
            if end.included { "]" } else { ")" }
        ),
        None => ")".to_string(),
    };
    format!(" run {low} to {high}")
}

fn sink(pipeline: &Pipeline, plan: &PipelinePlan, names: &Names) -> String {
    let (id, keys) = match &pipeline.sink {
        Sink::Into(id, keys) => (id, keys),
        Sink::Mark => return "marks".into(),
    };
    let kept = plan.keeps(*id);
    let role = match (&plan.write, plan.subqueries.iter().position(|s| s == id)) {
        (Some(change), _) if plan.result == Some(*id) => return write_text(change, names),
        (None, _) if plan.result == Some(*id) => "result".to_string(),
        (_, Some(n)) => format!("subquery {n}"),
        _ => format!("{} {}", kept.name(), plan.number(*id)),
    };
    format!("{role}{}", kept.text(keys, names))
}
