//! Rewrites a plan into one that runs fast and gives the same answer, and cuts it into pipelines and
//! stages.
//!
//! [`optimize`] is a straight line of passes, each in a module of its own; the comments in it say why
//! they stand in that order. Two rules hold for all of them: no expression that can fail moves before
//! a filter that guards it, and a bound is a proof while an estimate is only a guess.
#![forbid(unsafe_code)]

mod aggregate_reduction;
mod arbiters;
mod can_fail;
pub mod cardinality;
mod derived_groups;
mod distinct_aggregates;
mod early_probing;
mod equal_columns;
mod first_groups;
mod first_matches;
mod grouping_branches;
mod grouping_distinct;
mod grouping_sets;
mod implication;
mod inequality_joins;
mod join_graph;
mod join_order;
mod join_weights;
mod joins;
mod joins_without_pairs;
mod key_lookups;
pub mod known_calls;
mod known_counts;
mod late_rows;
mod limits;
mod numeric_bounds;
mod outer_to_anti;
mod partial_aggregates;
mod prune;
mod pushdown;
mod rename;
mod restriction_split;
mod sample_tests;
mod selectivity;
mod series_range;
mod shared_branches;
mod shared_conditions;
mod shared_filters;
mod shared_trees;
mod shifted_sums;
mod simplify;
mod stage_policy;
mod stored_expressions;
mod top_bounds;
mod unions;
mod unnest;
pub mod value_bounds;
mod volatile;

pub use joins::{KeyedInput, inputs_by_keys};

use cardinality::Estimator;
use frazil_plan::pipeline::{PipelinePlan, StagePolicy};
use frazil_plan::pipeline_builder;
use frazil_plan::{Operator, Plan, Statistics, display, longest_function, nullable_columns, verify};
use frazil_types::{Cancel, Result};

/// What the optimizer may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Push SARGable predicates into scans. Without it generated code evaluates them on every row.
    pub restrictions: bool,
    /// Choose the order of joins. Without it they stay as written.
    pub join_order: bool,
    /// Leave out checks of arithmetic, and hold values in fewer bits, where bounds prove that nothing is lost. Without
    /// it nothing counts as proved; answers are the same.
    pub elide_checks: bool,
    /// Look rows up by their keys where an index has them.
    pub use_indexes: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            restrictions: true,
            join_order: true,
            elide_checks: true,
            use_indexes: true,
        }
    }
}

/// Rewrites a plan, and the queries of its [`Operator::Write`]. Errors: 42P10 for a target of ON CONFLICT without an
/// index, 0A000 for what has no plan, 54001 for what is too long to be compiled, 57014 once `cancel` is set, which is asked between the passes, and
/// in unnesting and ordering joins, whose work may grow with the square of how deep queries nest.
pub fn optimize(
    mut plan: Plan,
    statistics: &dyn Statistics,
    settings: &Settings,
    cancel: &Cancel,
) -> Result<Plan> {
    arbiters::plan(&mut plan)?;
    queries_of_write(&mut plan, statistics, settings, cancel)?;
    if grouping_sets::has_sets(&plan) {
        // A select list is bound before its GROUP BY tells that columns of NOT NULL are NULL in it.
        nullable_columns::recompute(&mut plan);
    }
    unnest::plan(&mut plan, statistics, cancel)?;
    cancel.check()?;
    nullable_columns::recompute(&mut plan);
    cancel.check()?;
    simplify::plan(&mut plan, cancel);
    numeric_bounds::plan(&mut plan);
    cancel.check()?;
    longest_function::check(&plan)?;
    cancel.check()?;
    prune::plan(&mut plan);
    cancel.check()?;
    grouping_sets::plan(&mut plan, statistics, cancel)?;
    cancel.check()?;
    unions::plan(&mut plan);
    known_counts::plan(&mut plan, statistics);
    cancel.check()?;
    distinct_aggregates::plan(&mut plan)?;
    if !settings.elide_checks {
        plan.columns.forget_proofs();
    }
    // Bounds tell which expressions cannot fail, and so may be pushed. What is assumed for that stays assumed.
    let grid = value_bounds::choose_grid(&mut plan, statistics, cancel)?;
    cancel.check()?;
    pushdown::plan(&mut plan);
    outer_to_anti::plan(&mut plan);
    shared_branches::plan(&mut plan);
    shared_filters::plan(&mut plan);
    cancel.check()?;
    shared_trees::drop_unread(&mut plan);
    cancel.check()?;
    order_joins(&mut plan, statistics, settings, cancel)?;
    cancel.check()?;
    if settings.restrictions {
        if settings.use_indexes {
            stored_expressions::plan(&mut plan, statistics);
        }
        restriction_split::plan(&mut plan);
    } else if settings.use_indexes {
        restriction_split::plan_lookups(&mut plan, statistics);
    }
    limits::plan(&mut plan);
    // After filters and joins have their places: a map between would keep aggregations from being seen over joins.
    shared_conditions::plan(&mut plan);
    shifted_sums::plan(&mut plan);
    derived_groups::plan(&mut plan);
    first_matches::plan(&mut plan, statistics);
    inequality_joins::plan(&mut plan, statistics);
    cancel.check()?;
    nullable_columns::recompute(&mut plan);
    value_bounds::propagate(&mut plan, statistics, grid);
    if cfg!(debug_assertions) {
        verify::plan(&plan)?;
    }
    cancel.check()?;
    Ok(plan)
}

/// Drops joins without pairs and chooses the order of those that are left, once filters are pushed down.
fn order_joins(
    plan: &mut Plan,
    statistics: &dyn Statistics,
    settings: &Settings,
    cancel: &Cancel,
) -> Result<()> {
    let has_joins = joins::has_joins(plan);
    if has_joins {
        // Outer joins that became inner ones supply no NULLs.
        nullable_columns::recompute(plan);
    }
    simplify::plan(plan, cancel);
    joins_without_pairs::plan(plan);
    cancel.check()?;
    if settings.join_order && has_joins {
        let mut estimator = Estimator::new(plan, statistics);
        joins::plan(plan, &mut estimator, cancel)?;
    }
    Ok(())
}

/// Rewrites the queries of an [`Operator::Write`].
fn queries_of_write(
    plan: &mut Plan,
    statistics: &dyn Statistics,
    settings: &Settings,
    cancel: &Cancel,
) -> Result<()> {
    let Some(write) = plan.root.write_mut() else {
        return Ok(());
    };
    for query in [&mut write.update, &mut write.returning] {
        if let Some(naive) = query.take() {
            *query = Some(Box::new(optimize(*naive, statistics, settings, cancel)?));
        }
    }
    Ok(())
}

/// Cuts an optimized plan into pipelines and stages. 57014 once `cancel` is set.
pub fn pipelines(
    plan: Plan,
    statistics: &dyn Statistics,
    settings: &Settings,
    policy: StagePolicy,
    cancel: &Cancel,
) -> Result<PipelinePlan> {
    let estimator = Estimator::new(&plan, statistics);
    cancel.check()?;
    let assumptions = value_bounds::assumptions(&plan, statistics);
    cancel.check()?;
    let mut pipelines = pipeline_builder::build(plan, &estimator);
    cancel.check()?;
    pipelines.assumptions = assumptions;
    if settings.use_indexes {
        key_lookups::apply(&mut pipelines, statistics);
    }
    early_probing::apply(&mut pipelines, &estimator);
    late_rows::apply(&mut pipelines);
    if settings.restrictions {
        top_bounds::apply(&mut pipelines);
        first_groups::apply(&mut pipelines);
    }
    stage_policy::apply(&mut pipelines, policy, &estimator);
    debug_assert!(verify::pipelines(&pipelines).is_ok());
    Ok(pipelines)
}

/// Whether a plan's text shows how many rows are expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimates {
    /// Beside each operator.
    Shown,
    /// Not at all.
    Hidden,
}

/// The text of an optimized plan with the estimated rows beside each operator, and the index of a lookup: what EXPLAIN
/// prints.
pub fn explain(
    plan: &Plan,
    statistics: &dyn Statistics,
    settings: &Settings,
    estimates: Estimates,
) -> String {
    display::with_queries(plan, &|plan| {
        let estimator = Estimator::new(plan, statistics);
        let note = |op: &Operator| {
            if matches!(op, Operator::Map(_) | Operator::Given(_) | Operator::Write(_)) {
                return None;
            }
            let index = (settings.use_indexes).then(|| key_lookups::index_of(op, statistics));
            let index = index.flatten().map(|name| format!("looked up by index {name}"));
            let rows = match estimates {
                Estimates::Shown => Some(format!("{:.0} rows", estimator.rows(op, &plan.columns))),
                Estimates::Hidden => None,
            };
            let notes: Vec<String> = rows.into_iter().chain(index).collect();
            (!notes.is_empty()).then(|| notes.join(", "))
        };
        display::plan_with_notes(plan, &note)
    })
}
