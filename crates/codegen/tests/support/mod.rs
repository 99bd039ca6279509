//! Runs small plans over VALUES lists through generated code, one worker or two, and compares rows.

#![allow(dead_code, reason = "each test file uses a part")]

use frazil_codegen::{
    CompileOptions, Finished, Flow, OpenPipeline, Opening, Partial, PaxCode, buffer_build, compile,
};
use frazil_plan::operators::Values;
use frazil_plan::pipeline::{PipelinePlan, Sink, StagePolicy};
use frazil_plan::pipeline_builder::{Estimates, build};
use frazil_plan::{ColumnId, Columns, Expr, ExprKind, Operator, Plan};
use frazil_runtime::{BufferBuild, GroupMerge, JoinTable, SortedRows};
use frazil_storage::{ScanOptions, TableSnapshot};
use frazil_types::{Cancel, CompareOp, LogicalType, MemoryBudget, Result, Value};
use std::sync::Arc;

pub struct Few;

impl Estimates for Few {
    fn rows_from(&self, _: &Operator, _: &[f64], _: &Columns) -> f64 {
        100.0
    }
    fn row_bound(&self, _: &Operator) -> Option<u64> {
        Some(1 << 20)
    }
}

/// A plan in the making.
#[derive(Default)]
pub struct Maker {
    pub columns: Columns,
    pub subqueries: Vec<(Operator, ColumnId)>,
}

impl Maker {
    /// A VALUES list; a column is nullable if it has a NULL.
    pub fn values(&mut self, types: &[LogicalType], rows: &[Vec<Value>]) -> (Operator, Vec<ColumnId>) {
        let ids: Vec<ColumnId> = types
            .iter()
            .enumerate()
            .map(|(i, &ty)| {
                let nullable = rows.iter().any(|r| r[i].is_null());
                self.columns.add(format!("c{i}"), ty, nullable)
            })
            .collect();
        let rows = rows
            .iter()
            .map(|r| {
                r.iter()
                    .zip(types)
                    .map(|(v, &ty)| Expr::constant(v.clone(), ty))
                    .collect()
            })
            .collect();
        let values = Operator::Values(Values {
            columns: ids.clone(),
            rows,
        });
        (values, ids)
    }

    pub fn column(&self, id: ColumnId) -> Expr {
        Expr::column(id, &self.columns)
    }

    pub fn add(&mut self, ty: LogicalType, nullable: bool) -> ColumnId {
        self.columns.add("x", ty, nullable)
    }

    pub fn plan(&self, root: Operator, output: &[ColumnId]) -> Plan {
        Plan {
            root,
            columns: self.columns.clone(),
            output: output.iter().map(|&c| (format!("c{}", c.0), c)).collect(),
            subqueries: self.subqueries.clone(),
            shared: vec![],
            parameters: vec![],
        }
    }

    /// Runs the plan under every policy; all must agree.
    pub fn run(&self, root: Operator, output: &[ColumnId]) -> Result<Vec<Vec<Value>>> {
        let plan = build(self.plan(root, output), &Few);
        let fused = run(&plan, StagePolicy::Fused, 1)?;
        for (policy, workers) in [(StagePolicy::Staged, 1), (StagePolicy::Fused, 2)] {
            let other = run(&plan, policy, workers)?;
            assert_eq!(
                sorted(&fused),
                sorted(&other),
                "{policy:?} with {workers} workers"
            );
        }
        Ok(fused)
    }
}

pub fn compare(op: CompareOp, l: Expr, r: Expr) -> Expr {
    let nullable = l.nullable || r.nullable;
    Expr::boolean(ExprKind::Compare(op, Box::new(l), Box::new(r)), nullable)
}

pub fn int(v: i128, ty: LogicalType) -> Expr {
    Expr::constant(Value::Int(v), ty)
}

/// Rows in an order of their own, to compare sets.
pub fn sorted(rows: &[Vec<Value>]) -> Vec<String> {
    let mut out: Vec<String> = rows.iter().map(|r| format!("{r:?}")).collect();
    out.sort();
    out
}

/// Runs a plan; the rows of its result.
pub fn run(plan: &PipelinePlan, policy: StagePolicy, workers: usize) -> Result<Vec<Vec<Value>>> {
    run_over(plan, policy, workers, &Ground::default())
}

/// What a plan scans, and how.
#[derive(Default)]
pub struct Ground {
    pub table: Option<Arc<TableSnapshot>>,
    pub scan: ScanOptions,
    pub pax_code: PaxCode,
    pub unoptimized: bool,
}

/// Runs a plan over a table.
pub fn run_over(
    plan: &PipelinePlan,
    policy: StagePolicy,
    workers: usize,
    ground: &Ground,
) -> Result<Vec<Vec<Value>>> {
    let mut plan = plan.clone();
    if policy == StagePolicy::Staged {
        for p in &mut plan.pipelines {
            let all = 0..=p.operators.len();
            p.boundaries = all.filter(|k| p.may_have_boundary(*k)).collect();
        }
    }
    let options = CompileOptions {
        optimize: !ground.unoptimized,
        verify: true,
        text: std::env::var_os("FRAZIL_CLIF").is_some(),
        isa: None,
        pax_code: ground.pax_code,
        ..CompileOptions::default()
    };
    let hot_layout = |_| Some(ground.table.as_ref()?.hot_layout()?.0);
    let code = Arc::new(compile(&plan, &options, &hot_layout)?);
    if options.text {
        println!("{}", code.clif());
    }
    let plan = Arc::new(plan);
    let budget = MemoryBudget::unlimited();
    let cancel = Cancel::new();
    let mut finished = Arc::new(Finished::new(&plan, vec![]));
    let mut partials: Vec<Partial> = Vec::new();
    let mut buffer: Option<BufferBuild> = None;
    for index in 0..plan.pipelines.len() {
        if buffer.is_none() {
            buffer = buffer_build(&plan, index, &finished)?;
        }
        let opening = Opening {
            table: ground.table.clone(),
            scan: ground.scan.clone(),
            first_rows: None,
            finished: &finished,
            buffer: buffer.clone(),
            budget: &budget,
            cancel: &cancel,
        };
        let open = Arc::new(OpenPipeline::new(&plan, &code, index, opening)?);
        let mut team = Vec::new();
        for _ in 0..workers {
            team.push(open.worker()?);
        }
        for morsel in 0..open.morsels() {
            if team[morsel % workers].run(morsel)? == Flow::Enough {
                break;
            }
        }
        partials.extend(team.into_iter().map(|w| w.finish()));
        let sink = &plan.pipelines[index].sink;
        let later = plan.pipelines.get(index + 1).map(|p| &p.sink);
        let same = match (sink, later) {
            (Sink::Buffer(a, _), Some(Sink::Buffer(b, _))) => a == b,
            (Sink::Sort(a), Some(Sink::Sort(b))) => a == b,
            (Sink::Aggregate(a), Some(Sink::Aggregate(b))) => a == b,
            (Sink::JoinBuild(a, _), Some(Sink::JoinBuild(b, _))) => a == b,
            _ => false,
        };
        if !same {
            finish(
                &plan,
                &code,
                sink,
                std::mem::take(&mut partials),
                &mut buffer,
                Arc::make_mut(&mut finished),
            )?;
        }
    }
    let result = finished.buffers[plan.result.expect("a result").0]
        .clone()
        .expect("finished");
    let mut rows = Vec::new();
    for batch in result.batches() {
        for r in 0..batch.rows {
            rows.push(batch.columns.iter().map(|c| c.value(r)).collect());
        }
    }
    Ok(rows)
}

fn finish(
    plan: &PipelinePlan,
    code: &frazil_codegen::CompiledPlan,
    sink: &Sink,
    partials: Vec<Partial>,
    buffer: &mut Option<BufferBuild>,
    finished: &mut Finished,
) -> Result<()> {
    let (mut joins, mut groups, mut sorters, mut writers) = (vec![], vec![], vec![], vec![]);
    for p in partials {
        match p {
            Partial::Join(b) => joins.push(*b),
            Partial::Groups(t) => groups.push(*t),
            Partial::Sort(s) => sorters.push(*s),
            Partial::Buffer(w) => writers.push(*w),
            Partial::Mark => {}
        }
    }
    match sink {
        Sink::JoinBuild(id, _) => {
            let spec = code.layouts.joins[id.0].spec.clone();
            let table = JoinTable::build(spec, joins, &MemoryBudget::unlimited())?;
            finished.joins[id.0] = Some(Arc::new(table));
        }
        Sink::Aggregate(id) => finished.groups[id.0] = Some(Arc::new(GroupMerge::run(groups)?)),
        Sink::Sort(id) => finished.sorted[id.0] = Some(Arc::new(SortedRows::run(sorters)?)),
        Sink::Buffer(id, _) => {
            let rows = buffer.take().expect("a buffer").finish(writers);
            for (i, subquery) in plan.subqueries.iter().enumerate() {
                if subquery == id {
                    finished.subqueries[i] = rows.scalar()?;
                }
            }
            finished.buffers[id.0] = Some(Arc::new(rows));
        }
        _ => {}
    }
    Ok(())
}
