//! The rows of a join's table: keys, then what is read above or in the residual.

use super::lays::{Lays, Nullable, form};
use frazil_plan::breakers::{BreakerId, JoinTable};
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Sink};
use frazil_plan::{Bounds, ColumnId, Expr, ExprKind, JoinKind};
use frazil_runtime::breakers::join::JoinBreaker;
use frazil_runtime::breakers::{Breaker, Shape};
use frazil_runtime::{BoundValues, FieldPlace, JoinSpec, RowField, SortField};
use frazil_types::{NativeType, Result};
use std::sync::Arc;

/// The rows of a join's table.
#[derive(Clone, Debug)]
pub struct JoinLayout {
    /// For the runtime.
    pub spec: JoinSpec,
    /// How keys are held.
    pub(crate) key_natives: Vec<NativeType>,
    /// Where each payload column lies: a field of the layout.
    pub payload: Vec<(ColumnId, usize)>,
    /// Whether rows with a NULL key are kept, because the join gives out build rows without a match.
    pub(crate) keeps_null_keys: bool,
}

impl JoinLayout {
    /// The layout of a join of a plan.
    pub(super) fn of(
        table: &JoinTable,
        join: BreakerId,
        plan: &PipelinePlan,
        nullable: &Nullable,
    ) -> JoinLayout {
        let keeps_null_keys = matches!(
            table.kind,
            JoinKind::BuildOuter | JoinKind::FullOuter | JoinKind::BuildAnti
        );
        let sides = key_sides(plan, join);
        let mut keys = Vec::new();
        for (i, (ty, may_be_null)) in table.keys.iter().enumerate() {
            let wide = |side: &Vec<&Expr>| side.get(i).is_some_and(|e| form(plan, e) == NativeType::I128);
            let native = match ty.decimal_digits() {
                Some(_) if !sides.iter().any(wide) => NativeType::I64,
                _ => ty.native(),
            };
            keys.push(RowField::new(native, keeps_null_keys && *may_be_null));
        }
        // A payload column that is a key is not kept twice.
        let builds: Vec<&Vec<Expr>> = build_keys(plan, join).collect();
        let as_key = |column: ColumnId| {
            (0..keys.len()).find(|&k| {
                keys[k].native == plan.columns[column].native()
                    && (!nullable.column(column) || keys[k].nullable || !keeps_null_keys)
                    && builds.iter().all(|e| e[k].kind == ExprKind::Column(column))
            })
        };
        let mut payload_fields = Vec::new();
        let mut payload = Vec::new();
        for &column in &table.payload {
            let field = as_key(column).unwrap_or_else(|| {
                let field = nullable.field(plan, column);
                // Rows with marks are given out as they lie, and rows in order are compared as they lie.
                let is_read_by_probes = !table.marked && !table.in_order;
                let bounds = plan.columns[column].bounds.filter(|_| is_read_by_probes);
                payload_fields.push(bounds.map_or(field, |bounds| narrowed(field, bounds)));
                keys.len() + payload_fields.len() - 1
            });
            payload.push((column, field));
        }
        JoinLayout {
            key_natives: keys.iter().map(|k| k.native).collect(),
            spec: JoinSpec {
                order: order_of(table, &payload),
                reads_keys: payload.iter().any(|(_, field)| *field < keys.len()),
                ..JoinSpec::new(&keys, &payload_fields, table.marked)
            },
            payload,
            keeps_null_keys,
        }
    }
}

/// A field for integers that are within bounds, as narrow as they allow.
fn narrowed(field: RowField, bounds: Bounds) -> RowField {
    let fits = |least: i64, greatest: i64| bounds.min >= least.into() && bounds.max <= greatest.into();
    let native = match field.native {
        NativeType::I32 | NativeType::I64 if fits(i16::MIN.into(), i16::MAX.into()) => NativeType::I16,
        NativeType::I64 if fits(i32::MIN.into(), i32::MAX.into()) => NativeType::I32,
        native => native,
    };
    RowField { native, ..field }
}

impl Lays for JoinLayout {
    fn open(&self, _values: BoundValues<'_>) -> Result<Arc<dyn Breaker>> {
        Ok(Arc::new(JoinBreaker {
            spec: self.spec.clone(),
        }))
    }

    fn shape(&self) -> Shape {
        Shape::Rows
    }

    fn fields(&self) -> Vec<(Option<ColumnId>, FieldPlace)> {
        let fields = &self.spec.layout.fields;
        self.payload
            .iter()
            .map(|&(id, f)| (Some(id), fields[f]))
            .collect()
    }

    fn place(&self, _column: ColumnId) -> Option<usize> {
        None
    }
}

/// The build keys of a join, once for each pipeline that builds it.
fn build_keys(plan: &PipelinePlan, join: BreakerId) -> impl Iterator<Item = &Vec<Expr>> {
    plan.pipelines
        .iter()
        .filter_map(move |p: &Pipeline| match &p.sink {
            Sink::Into(id, keys) if *id == join => Some(keys),
            Sink::Into(..) | Sink::Mark => None,
        })
}

/// The order of the rows of a table that is in order; empty for any other table.
fn order_of(table: &JoinTable, payload: &[(ColumnId, usize)]) -> Vec<SortField> {
    if !table.in_order {
        return vec![];
    }
    let first = table.first.as_ref();
    let last = table.keys.len() - 1;
    let keys = (0..table.keys.len()).map(|field| SortField {
        field,
        descending: field == last && first.is_some_and(|first| first.descending),
        nulls_first: false,
    });
    let then = first.into_iter().flat_map(|first| &first.then);
    let then = then.filter_map(|key| {
        let field = payload.iter().find(|(column, _)| *column == key.column)?.1;
        Some(SortField {
            field,
            descending: key.descending,
            nulls_first: key.nulls_first,
        })
    });
    keys.chain(then).collect()
}

/// Lists of the keys of a join, or of what is compared with them: of the build side, and of probes. Each end of
/// a run is compared with the last key, and so makes a list of its own.
fn key_sides(plan: &PipelinePlan, join: BreakerId) -> Vec<Vec<&Expr>> {
    let mut sides: Vec<Vec<&Expr>> = build_keys(plan, join).map(|keys| keys.iter().collect()).collect();
    for operator in plan.pipelines.iter().flat_map(|p| &p.operators) {
        let PipelineOperator::Probe {
            join: id, keys, ends, ..
        } = operator
        else {
            continue;
        };
        if *id == join {
            let ends: Vec<&Expr> = ends.iter().flat_map(|ends| ends.values()).collect();
            let keys = keys.iter().collect::<Vec<&Expr>>();
            sides.extend(ends.iter().map(|end| keys.iter().chain([end]).copied().collect()));
            if ends.is_empty() {
                sides.push(keys);
            }
        }
    }
    sides
}
