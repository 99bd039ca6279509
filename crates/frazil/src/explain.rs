//! EXPLAIN: every form a statement takes on its way, as lines of text.

use crate::bundle::Bundle;
use crate::compiled_statement::CompiledQuery;
use crate::query::{CodeText, Runner};
use crate::rows::{Response, Timing, text_rows};
use crate::session::Session;
use frazil_codegen::PaxCode;
use frazil_exec::{Metrics, PipelineMetrics};
use frazil_frontend::{ExplainMode, ExplainOptions};
use frazil_optimizer::Estimates;
use frazil_plan::pipeline::Source;
use frazil_plan::{Plan, display};
use frazil_storage::LookedUp;
use frazil_types::Result;
use std::time::Duration;

/// Runs EXPLAIN of a query, INSERT, UPDATE or DELETE. With ANALYZE the statement is run too; a statement that writes
/// then writes nothing.
pub fn run(session: &Session, options: ExplainOptions, plan: Plan, bundle: Bundle) -> Result<Response> {
    let ExplainOptions { mode, analyze, .. } = options;
    let estimates = match options.costs {
        true => Estimates::Shown,
        false => Estimates::Hidden,
    };
    let started = bundle.started;
    let runner = Runner::new(session);
    let mut timing = Timing::default();
    let plan = runner.optimize(plan, &bundle, &mut timing)?;
    let mut text = match mode {
        ExplainMode::Plan => {
            frazil_optimizer::explain(&plan, &*bundle.tables, &runner.optimizer_settings(), estimates)
        }
        _ => String::new(),
    };
    let planned = runner.cut(plan, &bundle, &mut timing)?;
    match mode {
        ExplainMode::Pipelines => text = display::pipelines(&planned.pipelines),
        ExplainMode::Stages => text = display::stages(&planned.pipelines),
        ExplainMode::Plan | ExplainMode::Clif => {}
    }
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if analyze || matches!(mode, ExplainMode::Stages | ExplainMode::Clif) {
        let kept = match mode {
            ExplainMode::Clif => CodeText::Kept,
            _ => CodeText::Dropped,
        };
        let query = runner.generate(planned, &bundle, kept, &mut timing)?;
        match mode {
            ExplainMode::Stages => lines.extend(hot_rows(&query)),
            _ => lines.extend(query.code.clif().lines().map(str::to_owned)),
        }
        if analyze {
            let result = runner.run(&query, bundle, &mut timing)?;
            let rows: usize = result.batches.iter().map(|b| b.rows).sum();
            lines.push(String::new());
            lines.extend(measured(timing, &result.metrics, rows, options));
        }
    }
    let mut response = text_rows("plan", lines, started).of_command("EXPLAIN");
    response.timing = Timing {
        execute: (response.timing.execute).saturating_sub(timing.plan() + timing.compile),
        ..timing
    };
    Ok(response)
}

/// How the code of each scan reads hot chunks, where it reads them itself.
fn hot_rows(query: &CompiledQuery) -> Vec<String> {
    let pipelines = &query.pipelines.pipelines;
    let scans = pipelines.iter().zip(&query.code.pipelines).enumerate();
    scans
        .filter(|(_, (plan, code))| {
            matches!(plan.source, Source::Scan { .. }) && code.pax_code != PaxCode::Gathered
        })
        .map(|(i, (_, code))| match code.known_partitions {
            Some(k) => format!(
                "Pipeline {i} reads hot chunks where they lie: compiled for memPAX({k}), others by their k"
            ),
            None => format!("Pipeline {i} reads hot chunks where they lie, by their k"),
        })
        .collect()
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

fn measured(timing: Timing, metrics: &Metrics, rows: usize, options: ExplainOptions) -> Vec<String> {
    let mut lines: Vec<String> = (metrics.pipelines.iter().enumerate())
        .map(|(i, p)| match options.timing {
            true => format!("pipeline {i}: {}, {}", milliseconds(p.time), pipeline(p)),
            false => format!("pipeline {i}: {}", pipeline(p)),
        })
        .collect();
    if options.summary {
        lines.push(format!(
            "plan {}, compile {}, execute {}, {rows} rows",
            milliseconds(timing.plan()),
            milliseconds(timing.compile),
            milliseconds(timing.execute)
        ));
    }
    lines
}

/// Which rows a scan looked at, if not all of them.
fn looked_up(p: &PipelineMetrics) -> String {
    let by = match p.looked_up {
        None | Some(LookedUp::Restrictions) => "",
        Some(LookedUp::JoinKeys) => " by the keys of a join",
        Some(LookedUp::FirstRows) => ", the first in its order",
        Some(LookedUp::RowIds) => " by row ids",
    };
    match (&p.index, p.looked_up) {
        (Some(index), _) => format!("; rows of index {index}{by}"),
        (None, None) => String::new(),
        (None, Some(_)) => "; no rows, because a join has none on its build side".to_owned(),
    }
}

fn pipeline(p: &PipelineMetrics) -> String {
    let mut text = format!("{} rows in", p.rows_in);
    if let Some(rows) = p.rows_out {
        text.push_str(&format!(", {rows} rows out"));
    }
    text.push_str(&format!(", {} morsels, {} workers", p.morsels, p.workers));
    if let (rows, room @ 1..) = p.handed {
        let percent = rows * 100 / room;
        text.push_str(&format!("; {rows} rows through stage vectors, {percent} % full"));
    }
    if let Some(stages) = p.moved_stages {
        text.push_str(&format!(
            "; cut into {stages} stages by the sizes of what it looks into"
        ));
    }
    text.push_str(&looked_up(p));
    if let Some(scan) = &p.scan {
        text.push_str(&format!(
            "; scan: {} chunks, {} skipped by SMA, {} rows skipped by PSMA, {} rows scanned, {} dropped early, {} rows returned, {} bytes touched",
            scan.chunks,
            scan.chunks_skipped_by_sma,
            scan.rows_skipped_by_psma,
            scan.rows_scanned,
            scan.rows_dropped_early,
            scan.rows_returned,
            scan.bytes_touched
        ));
        if scan.rows_by_code > 0 {
            text.push_str(&format!(", {} rows by code", scan.rows_by_code));
        }
    }
    text
}
