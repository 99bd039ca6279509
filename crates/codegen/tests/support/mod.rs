//! Runs small plans over VALUES lists through generated code, one worker or two, and compares rows.

#![allow(dead_code, reason = "each test file uses a part")]

use frazil_codegen::{CompileOptions, Flow, OpenPipeline, Opening, PaxCode, PlanState, compile};
use frazil_plan::operators::Values;
use frazil_plan::pipeline::{PipelinePlan, StagePolicy};
use frazil_plan::pipeline_builder::{Estimates, build};
use frazil_plan::schedule::Step;
use frazil_plan::{ColumnId, Columns, Expr, ExprKind, Operator, Plan};
use frazil_runtime::breakers::{Breaker, Partial, Task, Workers};
use frazil_storage::{ScanOptions, TableSnapshot};
use frazil_types::{Cancel, CompareOp, LogicalType, MemoryBudget, Result, Value};
use std::sync::Arc;

pub struct Few;

impl Estimates<Operator> for Few {
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
        // Half of the plans each way: with fused stages, and with a stage for each operator.
        let (policy, vector_rows) = match fused.len() % 2 {
            0 => (StagePolicy::Fused, 3),
            _ => (StagePolicy::Staged, 1),
        };
        let ground = Ground {
            pauses: true,
            vector_rows: Some(vector_rows),
            ..Ground::default()
        };
        let paused = run_over(&plan, policy, 1, &ground)?;
        assert_eq!(
            sorted(&fused),
            sorted(&paused),
            "{policy:?} with pauses, {vector_rows} rows a vector"
        );
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
    /// Most rows of a stage vector.
    pub vector_rows: Option<usize>,
    /// Pauses whenever the result is handed a vector.
    pub pauses: bool,
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
        let mut pipelines = plan.pipelines.clone();
        for p in &mut pipelines {
            let all = 0..=p.operators.len();
            p.boundaries = all.filter(|k| p.may_have_boundary(*k, &plan)).collect();
        }
        plan.pipelines = pipelines;
    }
    let options = CompileOptions {
        optimize: !ground.unoptimized,
        verify: true,
        text: std::env::var_os("FRAZIL_CLIF").is_some(),
        isa: None,
        pax_code: ground.pax_code,
        vector_rows: ground.vector_rows,
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
    let mut state = Arc::new(PlanState::new(&plan, vec![]));
    let mut filling: Vec<Option<Filling>> = plan.breakers.iter().map(|_| None).collect();
    for step in &plan.schedule.steps {
        match step {
            Step::Run(index) => {
                let id = plan.pipelines[*index].sink.breaker();
                let mut filled = match id {
                    Some(id) => Some(match filling[id.0].take() {
                        Some(filled) => filled,
                        None => (code.layouts.of_breaker(id).lays().open(state.values())?, vec![]),
                    }),
                    None => None,
                };
                let opening = Opening {
                    table: ground.table.clone(),
                    scan: ground.scan.clone(),
                    first_rows: None,
                    state: &state,
                    breaker: filled.as_ref().map(|f| f.0.clone()),
                    budget: &budget,
                    cancel: &cancel,
                };
                let open = Arc::new(OpenPipeline::new(&plan, &code, *index, opening)?);
                let parts = match ground.pauses && id.is_some() && id == plan.result {
                    true => run_with_pauses(&open)?,
                    false => run_pipeline(&open, workers)?,
                };
                if let (Some(id), Some(mut filled)) = (id, filled.take()) {
                    filled.1.extend(parts);
                    filling[id.0] = Some(filled);
                }
            }
            Step::Finish(id) => {
                let (breaker, parts) = filling[id.0].take().expect("it is filled");
                let finished = breaker.finish(parts, &OneThread(&budget, &cancel))?;
                Arc::make_mut(&mut state).finish(&plan, *id, finished)?;
            }
            Step::Turns(_) => unreachable!("no plan here is recursive"),
        }
    }
    let result = state.breaker(plan.result.expect("a result"))?.clone();
    let mut rows = Vec::new();
    for batch in (0..result.morsels()).map(|m| result.batch(m).expect("columns")) {
        for r in 0..batch.rows {
            rows.push(batch.columns.iter().map(|c| c.value(r)).collect());
        }
    }
    Ok(rows)
}

/// A breaker that is filled, and what workers left in it.
type Filling = (Arc<dyn Breaker>, Vec<Box<dyn Partial>>);

/// What workers leave that take morsels in turn.
fn run_pipeline(open: &Arc<OpenPipeline>, workers: usize) -> Result<Vec<Box<dyn Partial>>> {
    let mut team = Vec::new();
    for _ in 0..workers {
        team.push(open.worker()?);
    }
    for morsel in 0..open.morsels() {
        if team[morsel % workers].run(morsel)? == Flow::Enough {
            break;
        }
    }
    for worker in &mut team {
        worker.end()?;
    }
    Ok(team.into_iter().filter_map(|w| w.finish()).collect())
}

/// Runs a pipeline on one worker that pauses after each vector that the buffer was handed, and returns the parts that
/// it wrote. Each part of a pipeline that may pause within vectors has one vector of rows at most.
fn run_with_pauses(open: &Arc<OpenPipeline>) -> Result<Vec<Box<dyn Partial>>> {
    let mut parts: Vec<Box<dyn Partial>> = Vec::new();
    let mut worker = open.worker()?;
    worker.pause_at(1);
    for morsel in 0..open.morsels() {
        let mut flow = worker.run(morsel)?;
        while flow == Flow::Paused {
            parts.push(Box::new(worker.take_written()?));
            flow = worker.go_on()?;
        }
        if flow == Flow::Enough {
            break;
        }
    }
    worker.end()?;
    parts.extend(worker.finish());
    Ok(parts)
}

/// The calling thread.
pub struct OneThread<'a>(pub &'a MemoryBudget, pub &'a Cancel);

impl Workers for OneThread<'_> {
    fn threads(&self) -> usize {
        1
    }

    fn budget(&self) -> &MemoryBudget {
        self.0
    }

    fn cancel(&self) -> &Cancel {
        self.1
    }

    fn run(&self, tasks: usize, task: Task) -> Result<()> {
        (0..tasks).try_for_each(|t| task(t))
    }
}
