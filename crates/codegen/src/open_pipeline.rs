//! A pipeline about to run: its source, the values it knows, the objects its workers share.

use crate::compile::{CompiledPipeline, CompiledPlan};
use crate::first_rows::FirstRows;
use crate::join_lookup;
use crate::late_fetch::{LateFetch, make_transient};
use crate::moved_boundaries::{MovedPipeline, suited};
use crate::objects::ObjectSpec;
use crate::plan_state::PlanState;
use crate::row_lookup;
use crate::row_source::PipelineSource;
use crate::source_shape::is_bound_cell;
use crate::worker::Worker;
use frazil_kernels::LikePattern;
use frazil_plan::pipeline::{EarlyProbe, Pipeline, PipelinePlan, Source};
use frazil_plan::{ColumnId, Expansion, Expr, RowsCall, RowsFunction};
use frazil_runtime::BoundValues;
use frazil_runtime::abi::ParameterCell;
use frazil_runtime::breakers::join::join_hash_table::EarlyFilter;
use frazil_runtime::breakers::sorter::bound_of;
use frazil_runtime::breakers::{Breaker, Finished, Partial, Run};
use frazil_runtime::expansion_rows::{ExpansionRows, FunctionRows};
use frazil_runtime::functions::ValueSet;
use frazil_storage::{ScanOptions, TableScan, TableSnapshot};
use frazil_types::{
    Cancel, ColumnVector, Error, LogicalType, MemoryBudget, NativeType, Result, StringRef, Value,
};
use std::sync::Arc;

/// An object all workers of a pipeline read.
pub(crate) enum Constant {
    String(
        Box<StringRef>,
        #[allow(dead_code, reason = "keeps the bytes alive")] Box<[u8]>,
    ),
    Like(Box<LikePattern>),
    Values(Box<ValueSet>),
}

/// A pipeline with everything it needs.
pub struct OpenPipeline {
    pub(crate) plan: Arc<PipelinePlan>,
    pub(crate) code: Arc<CompiledPlan>,
    pub(crate) index: usize,
    /// Its code, if boundaries were moved.
    pub(crate) moved: Option<Arc<MovedPipeline>>,
    pub(crate) source: PipelineSource,
    pub(crate) state: Arc<PlanState>,
    pub(crate) cells: Box<[ParameterCell]>,
    pub(crate) constants: Vec<Option<Constant>>,
    /// What it fills; none if it only marks.
    pub(crate) breaker: Option<Arc<dyn Breaker>>,
    pub(crate) budget: MemoryBudget,
    pub(crate) cancel: Cancel,
}

// SAFETY: the string references in cells and constants point into memory this object owns and nobody
// writes; everything else is Send and Sync by itself.
unsafe impl Send for OpenPipeline {}
// SAFETY: see above.
unsafe impl Sync for OpenPipeline {}

/// What a pipeline is opened with.
pub struct Opening<'a> {
    /// The version of the scanned table, if it scans one.
    pub table: Option<Arc<TableSnapshot>>,
    /// How it is scanned.
    pub scan: ScanOptions,
    /// What the first rows of the scan may be enough for.
    pub first_rows: Option<&'a FirstRows>,
    /// What earlier pipelines finished.
    pub state: &'a Arc<PlanState>,
    /// What it fills; none if it only marks.
    pub breaker: Option<Arc<dyn Breaker>>,
    /// What its objects may take.
    pub budget: &'a MemoryBudget,
    /// Polled by generated code.
    pub cancel: &'a Cancel,
}

impl OpenPipeline {
    /// Opens pipeline `index` of a plan: operands of restrictions, parameters and subqueries are bound here.
    pub fn new(
        plan: &Arc<PipelinePlan>,
        code: &Arc<CompiledPlan>,
        index: usize,
        opening: Opening<'_>,
    ) -> Result<OpenPipeline> {
        let state = opening.state.clone();
        let source = source(plan, code, index, &opening)?;
        let moved = suited(plan, code, index, &state, source.most_rows(), opening.cancel);
        let cells = parameter_cells(plan, &state)?;
        let compiled = moved
            .as_ref()
            .map_or(&code.pipelines[index], |moved| &moved.pipeline);
        let constants = constants(compiled)?;
        Ok(OpenPipeline {
            plan: plan.clone(),
            code: code.clone(),
            index,
            moved,
            source,
            state,
            cells,
            constants,
            breaker: opening.breaker,
            budget: opening.budget.clone(),
            cancel: opening.cancel.clone(),
        })
    }

    /// The first pipeline of a plan, to be run over rows that are given one by one.
    pub(crate) fn of_given(
        plan: &Arc<PipelinePlan>,
        code: &Arc<CompiledPlan>,
        shared: (Arc<PlanState>, Arc<dyn Breaker>),
        run: (&MemoryBudget, &Cancel),
    ) -> Result<OpenPipeline> {
        OpenPipeline::of_source(plan, code, (0, PipelineSource::Given), shared, run)
    }

    /// A pipeline of a plan with the source that its first run reads.
    pub(crate) fn of_source(
        plan: &Arc<PipelinePlan>,
        code: &Arc<CompiledPlan>,
        (index, source): (usize, PipelineSource),
        (state, breaker): (Arc<PlanState>, Arc<dyn Breaker>),
        (budget, cancel): (&MemoryBudget, &Cancel),
    ) -> Result<OpenPipeline> {
        let cells = parameter_cells(plan, &state)?;
        let constants = constants(&code.pipelines[index])?;
        Ok(OpenPipeline {
            plan: plan.clone(),
            code: code.clone(),
            index,
            moved: None,
            source,
            constants,
            state,
            cells,
            breaker: Some(breaker),
            budget: budget.clone(),
            cancel: cancel.clone(),
        })
    }

    /// Its code.
    pub(crate) fn compiled(&self) -> &CompiledPipeline {
        (self.moved.as_ref()).map_or(&self.code.pipelines[self.index], |moved| &moved.pipeline)
    }

    /// The error behind a failure point noted by its code; `noted` is what a runtime function knew of it.
    pub(crate) fn failure(&self, point: u64, noted: Option<Error>) -> Error {
        match &self.moved {
            Some(moved) => moved.failures.error(point, noted),
            None => self.code.failure(point, noted),
        }
    }

    /// Number of its stages, if boundaries were moved by the bytes of what it probes.
    pub fn moved_stages(&self) -> Option<usize> {
        self.moved.as_ref().map(|moved| moved.pipeline.stages)
    }

    /// True if one worker is to take all rows, in their order.
    pub fn keeps_order(&self) -> bool {
        self.plan.pipelines[self.index].keeps_order(&self.plan)
    }

    /// Number of morsels of its source.
    pub fn morsels(&self) -> usize {
        self.source.morsels()
    }

    /// What orders its rows among those of other morsels and of pipelines that fill the same breaker: the morsel, below the
    /// pipeline.
    pub fn place(&self, morsel: usize) -> u64 {
        (self.index as u64) << u32::BITS | morsel as u64
    }

    /// The scan, if its source is one.
    pub fn scan(&self) -> Option<&Arc<TableScan>> {
        match &self.source {
            PipelineSource::Scan { scan, .. } => Some(scan),
            _ => None,
        }
    }

    /// Name of the index that its rows are found by, if they are.
    pub fn index(&self) -> Option<&str> {
        match (&self.plan.pipelines[self.index].source, &self.source) {
            (Source::Lookup(lookup), _) => Some(&lookup.index_name),
            (_, PipelineSource::Scan { scan, .. }) => scan.index(),
            _ => None,
        }
    }

    /// A worker of this pipeline.
    pub fn worker(self: &Arc<OpenPipeline>) -> Result<Worker> {
        Worker::new(self.clone())
    }

    /// A worker's empty part of what it fills; none if it only marks.
    pub fn partial(&self) -> Result<Option<Box<dyn Partial>>> {
        let run = Run {
            budget: &self.budget,
            cancel: &self.cancel,
        };
        self.breaker
            .as_ref()
            .map(|breaker| breaker.partial(run))
            .transpose()
    }
}

/// The position in the table of a column of a scan.
fn place(columns: &[(ColumnId, usize)], id: ColumnId) -> Result<usize> {
    let column = columns.iter().find(|column| column.0 == id);
    let column = column.ok_or_else(|| Error::internal("a bound of a column that is not scanned"))?;
    Ok(column.1)
}

fn missing(what: &str) -> Error {
    Error::internal(format!("{what} is read before it is finished"))
}

fn source(
    plan: &PipelinePlan,
    code: &CompiledPlan,
    index: usize,
    opening: &Opening<'_>,
) -> Result<PipelineSource> {
    let values = opening.state.values();
    let pipeline: &Pipeline = &plan.pipelines[index];
    Ok(match &pipeline.source {
        Source::Scan {
            table: id,
            columns,
            row_id,
            restrictions,
            disjunctions,
            places: rows,
            early_probes,
            bound,
            ..
        } => {
            let table = opening.table.clone().ok_or_else(|| missing("a table"))?;
            let places = columns.iter().map(|c| c.1).collect();
            let restrictions = values.restrictions(restrictions, columns)?;
            let rows = rows.iter().map(|r| values.restriction_kind(&r.kind));
            let rows = rows.collect::<Result<Vec<_>>>()?;
            let scan = TableScan::new(table, places, restrictions, opening.scan)?.at_rows(&rows);
            let scan = join_lookup::restrict(scan, plan, pipeline, columns, opening)?;
            let (probes, filters) = early_filters(early_probes, columns, opening);
            let scan = scan
                .with_disjunctions(values.disjunctions(disjunctions, columns)?)?
                .with_early_probes(probes);
            let readers = plan.pipelines.iter().filter(|p| p.source.table() == Some(*id));
            let scan = match readers.count() {
                1 if row_id.is_none() && plan.recursions.is_empty() => scan.as_the_only_one(),
                _ => scan,
            };
            let scan = match opening.first_rows {
                Some(first) => first.restrict(scan),
                None => scan,
            };
            let scan = match (bound, opening.breaker.as_deref().and_then(bound_of)) {
                (Some(key), Some(bound)) => scan.with_bound(place(columns, *key)?, bound.clone()),
                _ => scan,
            };
            PipelineSource::Scan {
                scan: Arc::new(scan),
                row_id: row_id.is_some(),
                _filters: filters,
            }
        }
        Source::Lookup(lookup) => {
            let table = opening.table.as_deref().ok_or_else(|| missing("a table"))?;
            let row = row_lookup::find(lookup, table, values, &mut Vec::new())?;
            let vectors = row_lookup::columns(lookup, table, row)?;
            PipelineSource::Values(vectors, usize::from(row.is_some()))
        }
        Source::Values { columns, rows } => {
            let types = columns.iter().map(|id| plan.columns[*id].ty);
            let vectors = types.enumerate().map(|(i, ty)| bound_cells(rows, i, ty, values));
            PipelineSource::Values(vectors.collect::<Result<_>>()?, rows.len())
        }
        Source::Given { columns } => {
            let places = columns.iter().map(|c| c.1).collect();
            PipelineSource::Batches(opening.state.given.clone(), places)
        }
        Source::Expansion(expansion) => PipelineSource::Expansion(expansion_rows(expansion, values)?),
        Source::Of { .. } => rows_of_breaker(pipeline, code, opening)?,
    })
}

/// Column `at` of a VALUES list, in which cells that generated code computes are NULL.
fn bound_cells(
    rows: &[Vec<Expr>],
    at: usize,
    ty: LogicalType,
    values: BoundValues<'_>,
) -> Result<ColumnVector> {
    let cell = |row: &Vec<Expr>| match is_bound_cell(&row[at]) {
        true => values.value(&row[at]),
        false => Ok(Value::Null),
    };
    let cells: Vec<Value> = rows.iter().map(cell).collect::<Result<_>>()?;
    let mut vector = ColumnVector::from_values(ty, &cells);
    make_transient(&mut vector);
    Ok(vector)
}

/// The rows of functions whose arguments are known. 22023 for a step of 0, XX001 for a damaged array.
fn expansion_rows(expansion: &Expansion, values: BoundValues<'_>) -> Result<Arc<ExpansionRows>> {
    let rows = |(_, call): &(ColumnId, RowsCall)| {
        let arguments = call.arguments.iter().map(|e| values.value(e));
        let arguments: Vec<Value> = arguments.collect::<Result<_>>()?;
        match call.function {
            RowsFunction::Series => FunctionRows::series(&arguments, call.ty),
            RowsFunction::Elements => FunctionRows::elements(&arguments[0], call.ty),
            RowsFunction::Once => {
                let mut vector = ColumnVector::from_values(call.ty, &arguments);
                make_transient(&mut vector);
                Ok(FunctionRows::Once(vector))
            }
        }
    };
    let functions = expansion.calls.iter().map(rows).collect::<Result<_>>()?;
    Ok(Arc::new(ExpansionRows::new(
        functions,
        expansion.ordinality.is_some(),
    )))
}

/// The rows of a finished breaker.
fn rows_of_breaker(
    pipeline: &Pipeline,
    code: &CompiledPlan,
    opening: &Opening<'_>,
) -> Result<PipelineSource> {
    let Source::Of { breaker, late, .. } = &pipeline.source else {
        return Err(missing("a breaker"));
    };
    let finished = opening.state.breaker(*breaker)?.clone();
    let late = late.as_deref().map(|late| {
        let table = opening.table.clone().ok_or_else(|| missing("a table"))?;
        LateFetch::new(late, code.layouts.of_breaker(*breaker).lays(), table)
    });
    finished_rows(pipeline, code, finished, late.transpose()?)
}

/// The rows of a finished breaker as the source of the pipeline that reads them. `late` fetches columns for them. An
/// internal error for a pipeline that reads no breaker.
pub(crate) fn finished_rows(
    pipeline: &Pipeline,
    code: &CompiledPlan,
    finished: Arc<dyn Finished>,
    late: Option<LateFetch>,
) -> Result<PipelineSource> {
    let Source::Of {
        breaker,
        columns,
        which,
        ..
    } = &pipeline.source
    else {
        return Err(missing("a breaker"));
    };
    let layout = code.layouts.of_breaker(*breaker).lays();
    let places = columns.iter().filter_map(|(_, kept)| layout.place(*kept));
    Ok(PipelineSource::Of {
        finished,
        columns: places.collect(),
        which: *which,
        late,
    })
}

/// The filters of the joins that a scan probes early, as far as their build keys make one.
fn early_filters(
    list: &[EarlyProbe],
    columns: &[(ColumnId, usize)],
    opening: &Opening<'_>,
) -> (Vec<frazil_storage::EarlyProbe>, Vec<EarlyFilter>) {
    let mut probes = Vec::new();
    let mut filters = Vec::new();
    for probe in list.iter().filter(|_| opening.scan.early_probes) {
        let table = opening.state.join(probe.join);
        let column = columns.iter().position(|c| c.0 == probe.column);
        let filter = table.and_then(|t| t.key_filter(probe.key, opening.budget));
        if let (Some(column), Some(filter)) = (column, filter) {
            probes.push(frazil_storage::EarlyProbe {
                column,
                filter: filter.keys.clone(),
            });
            filters.push(filter);
        }
    }
    (probes, filters)
}

/// The cells generated code reads: parameters, then subqueries. Their strings are those of `state`.
fn parameter_cells(plan: &PipelinePlan, state: &PlanState) -> Result<Box<[ParameterCell]>> {
    let subquery_types = (plan.subqueries.iter()).flat_map(|id| {
        let columns = plan.keeps(*id).reads();
        columns.into_iter().map(|column| plan.columns[column].ty)
    });
    let types = plan.parameters.iter().copied().chain(subquery_types);
    let values = state.parameters.iter().chain(&state.subqueries);
    types.zip(values).map(|(ty, value)| cell(ty, value)).collect()
}

/// The cell of a value. A string in it is the value's own, and lives as long.
pub(crate) fn cell(ty: LogicalType, value: &Value) -> Result<ParameterCell> {
    let mut out = ParameterCell {
        valid: 1,
        ..ParameterCell::NULL
    };
    let mut put = |bytes: &[u8]| out.value[..bytes.len()].copy_from_slice(bytes);
    match (value, ty.native()) {
        (Value::Null, _) => return Ok(ParameterCell::NULL),
        (Value::Bool(b), NativeType::Bool) => put(&[u8::from(*b)]),
        (Value::Double(d), NativeType::F64) => put(&d.to_le_bytes()),
        (Value::Interval(i), NativeType::I128) => put(&i.to_native().to_le_bytes()),
        (Value::Int(v), NativeType::I16 | NativeType::I32 | NativeType::I64 | NativeType::I128) => {
            put(&v.to_le_bytes()[..ty.native().size()]);
        }
        (Value::Text(_) | Value::Bytes(_), NativeType::String) => {
            let bytes = value.as_bytes().unwrap_or_default();
            // SAFETY: nobody reads the cell once the value is gone.
            let string = unsafe { StringRef::new(bytes) }.as_transient();
            put(&string.head.to_le_bytes());
            out.value[8..].copy_from_slice(&string.tail.to_le_bytes());
        }
        (value, _) => return Err(Error::internal(format!("{value:?} as a parameter of type {ty}"))),
    }
    Ok(out)
}

/// For each object of a pipeline the constant that it is; `None` for an object of another kind.
pub(crate) fn constants(compiled: &CompiledPipeline) -> Result<Vec<Option<Constant>>> {
    compiled.objects.iter().map(constant).collect()
}

fn constant(spec: &ObjectSpec) -> Result<Option<Constant>> {
    Ok(Some(match spec {
        ObjectSpec::String(bytes) => {
            let bytes = bytes.clone();
            // Whoever keeps a constant longer than the pipeline copies it.
            // SAFETY: the bytes are kept beside the reference.
            let string = unsafe { StringRef::new(&bytes) }.as_transient();
            Constant::String(Box::new(string), bytes)
        }
        ObjectSpec::Like { pattern, escape } => {
            Constant::Like(Box::new(LikePattern::compile(pattern, *escape)?))
        }
        ObjectSpec::Values(values) => Constant::Values(Box::new(ValueSet::new(values))),
        _ => return Ok(None),
    }))
}
