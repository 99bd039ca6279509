//! A statement that is bound and compiled, to be run many times.
//!
//! It serves as long as its names have the catalog entries that it was bound to ([`EntriesRead`]), the settings that
//! shape plans are the same, and what its code relies on holds of the tables it reads ([`TableAssumptions`]).

use crate::assumptions::TableAssumptions;
use crate::direct_rows::DirectRows;
use crate::entries_read::EntriesRead;
use crate::given_values::GivenValues;
use crate::plan_settings::PlanSettings;
use crate::point_query::PointQuery;
use crate::statistics::StatementCounts;
use crate::write::WriteAction;
use frazil_catalog::Catalog;
use frazil_codegen::CompiledPlan;
use frazil_frontend::HiddenParameter;
use frazil_plan::pipeline::PipelinePlan;
use frazil_storage::Snapshot;
use frazil_types::{LogicalType, Schema};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A statement in the form in which it runs.
#[derive(Debug)]
pub struct CompiledStatement {
    /// What it does.
    pub action: Action,
    /// Types of its parameters.
    pub parameters: Vec<LogicalType>,
    /// Parameters, counted from 0, that are texts although another type might do as well.
    pub guessed: Vec<usize>,
    /// The own types of the values that typed its parameters. `None`: its text alone, or PREPARE, types them.
    pub typed_by: Option<Vec<Option<LogicalType>>>,
    /// Parameters that follow its own.
    pub hidden: Vec<HiddenParameter>,
    /// The way it was planned.
    pub settings: PlanSettings,
    /// The entries of the catalog it was bound to.
    pub entries: EntriesRead,
    /// The version of the catalog in which the entries were last compared. A version never changes, so that a statement
    /// that sees this one again need not compare them.
    pub catalog: AtomicU64,
    /// What it relies on.
    pub assumptions: Vec<TableAssumptions>,
    /// The counts of its text; `None` for a statement that has no text of its own.
    pub counts: Option<Arc<StatementCounts>>,
}

/// What a compiled statement does.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a statement has one, and most are queries"
)]
pub enum Action {
    /// Returns rows of constants and parameters.
    Rows(DirectRows, Arc<Schema>),
    /// Returns the row that a key finds, or rows that are few as a rule.
    Point(PointQuery),
    /// Returns the rows of a query.
    Query(CompiledQuery),
    /// INSERT, UPDATE, DELETE.
    Write(WriteAction, WriteRows),
}

/// Where the rows of a write come from.
#[derive(Debug)]
pub enum WriteRows {
    /// They are constants and parameters.
    Direct(DirectRows),
    /// A key finds one at most, or they are few as a rule.
    Point(PointQuery),
    /// A query computes them.
    Query(CompiledQuery),
}

/// A query in machine code.
#[derive(Clone, Debug)]
pub struct CompiledQuery {
    /// Its pipelines.
    pub pipelines: Arc<PipelinePlan>,
    /// Their code.
    pub code: Arc<CompiledPlan>,
    /// Columns of the result.
    pub schema: Arc<Schema>,
}

/// The parameters of `guessed` for which a value is given that is not a text.
pub fn mistyped<'g>(guessed: &'g [usize], given: GivenValues<'g>) -> impl Iterator<Item = usize> + 'g {
    let at = guessed.iter().copied();
    at.filter(move |&at| given.own_type(at).is_some())
}

impl WriteRows {
    /// The query that computes them; `None` for constants and parameters.
    pub fn query(&self) -> Option<&CompiledQuery> {
        match self {
            WriteRows::Direct(_) => None,
            WriteRows::Point(point) => Some(point.query()),
            WriteRows::Query(query) => Some(query),
        }
    }
}

impl Action {
    /// Its queries.
    pub fn queries(&self) -> impl Iterator<Item = &CompiledQuery> {
        let rows = match self {
            Action::Query(query) => Some(query),
            Action::Point(point) => Some(point.query()),
            Action::Write(_, rows) => rows.query(),
            Action::Rows(..) => None,
        };
        let write = match self {
            Action::Write(write, _) => Some(write),
            Action::Query(_) | Action::Point(_) | Action::Rows(..) => None,
        };
        rows.into_iter()
            .chain(write.into_iter().flat_map(WriteAction::queries))
    }
}

impl CompiledStatement {
    /// True if functions of the statement ask the catalog, which they find by the tables of its bundle.
    pub fn asks_catalog(&self) -> bool {
        self.hidden.contains(&HiddenParameter::Catalog)
    }

    /// Whether it serves a statement that sees `snapshot`.
    pub fn fits(&self, snapshot: &Snapshot, settings: &PlanSettings) -> bool {
        self.settings == *settings
            && self.has_its_entries(snapshot.catalog())
            && (self.assumptions.iter())
                .all(|assumed| (snapshot.table(assumed.table)).is_ok_and(|version| assumed.hold(version)))
    }

    /// True if the statement's names have the entries that it was bound to.
    fn has_its_entries(&self, catalog: &Catalog) -> bool {
        let version = catalog.version();
        if self.catalog.load(Ordering::Relaxed) == version {
            return true;
        }
        let same = self.entries.hold_in(catalog);
        if same {
            self.catalog.store(version, Ordering::Relaxed);
        }
        same
    }

    /// True if its parameters have the types that they would get from these values.
    pub fn serves(&self, given: GivenValues<'_>) -> bool {
        match &self.typed_by {
            None => mistyped(&self.guessed, given).next().is_none(),
            Some(types) => types.iter().copied().eq(given.own_types()),
        }
    }

    /// Whether it runs without pipelines, on the caller's thread.
    pub fn is_direct(&self) -> bool {
        match &self.action {
            Action::Rows(..) => true,
            Action::Point(point) => point.is_sure(),
            Action::Query(_) | Action::Write(_, WriteRows::Query(_)) => false,
            Action::Write(write, WriteRows::Point(point)) => point.is_sure() && !write.has_queries(),
            Action::Write(write, WriteRows::Direct(_)) => !write.has_queries(),
        }
    }

    /// A statement that returns nothing, planned in some way.
    #[cfg(test)]
    pub fn of_no_rows(settings: PlanSettings) -> CompiledStatement {
        CompiledStatement {
            action: Action::Rows(DirectRows::none(), Arc::default()),
            parameters: Vec::new(),
            guessed: Vec::new(),
            typed_by: None,
            hidden: Vec::new(),
            settings,
            entries: EntriesRead::default(),
            catalog: AtomicU64::new(0),
            assumptions: Vec::new(),
            counts: None,
        }
    }
}
