//! FOR UPDATE, NO KEY UPDATE, SHARE and KEY SHARE.
//!
//! While the FROM of a query with such clauses is bound, the scans of tables that they name get columns of row ids. The
//! query becomes a plan of its own, which locks the rows that it found and returns them, and runs before the statement
//! does, as a WITH query that writes; the statement reads what it returned. So a locking query in a subquery is
//! computed once, whether its rows are asked for or not, and it must not read columns of a query around it. If the
//! locking query is the whole statement, its plan is the statement's.

use super::common_tables::Returned;
use super::locking_clauses::{LockedName, Locking, LockingClause};
use super::recursion::reads_turns;
use super::rows::Computed;
use super::written::{WriteQueries, Written};
use super::{Binder, Relation, error};
use crate::catalog_view;
use crate::parse::STRENGTH;
use frazil_plan::operators::{Join, Scan};
use frazil_plan::{
    COUNT, Change, ColumnId, Expr, JoinKind, LockBounds, LockStrength, LockWait, LockedTable, Operator,
    RowCount, RowLocks, WriteKind, free_columns,
};
use frazil_types::{Error, Result, Span, SqlState, Value};
use sqlparser::ast::{Distinct, GroupByExpr, LockClause, LockType, NonBlock, Select};

fn refused(strength: LockStrength, why: &str, span: Span) -> Error {
    error(SqlState::FEATURE_NOT_SUPPORTED, format!("{strength} {why}"), span)
}

impl<'a> Binder<'a> {
    /// The locking clauses of a query as they are written.
    pub(super) fn locking_clauses(&self, locks: &[&LockClause]) -> Vec<LockingClause> {
        let clause = |lock: &&LockClause| {
            let mut names = lock
                .of
                .iter()
                .flat_map(|of| &of.0)
                .filter_map(|part| part.as_ident())
                .peekable();
            let said = names.next_if(|first| first.value.starts_with(STRENGTH));
            let strength = match (said.map(|s| &s.value[STRENGTH.len()..]), lock.lock_type) {
                (Some("FOR KEY SHARE"), _) => LockStrength::KeyShare,
                (Some("FOR NO KEY UPDATE"), _) => LockStrength::NoKeyUpdate,
                (Some("FOR SHARE"), _) | (None, LockType::Share) => LockStrength::Share,
                (Some(_), _) | (None, LockType::Update) => LockStrength::Update,
            };
            let wait = match lock.nonblock {
                None => LockWait::Block,
                Some(NonBlock::Nowait) => LockWait::Fail,
                Some(NonBlock::SkipLocked) => LockWait::Skip,
            };
            let of = names.map(|name| LockedName {
                name: name.value.clone(),
                span: self.span(name),
                is_found: false,
            });
            LockingClause {
                strength,
                wait,
                of: of.collect(),
            }
        };
        locks.iter().map(clause).collect()
    }

    /// 0A000 for a query with locking clauses that is not a SELECT.
    pub(super) fn refuse_locks(&self, clauses: &[LockingClause], why: &str) -> Result<()> {
        match clauses.first() {
            Some(clause) => Err(refused(clause.strength, why, Span::NONE)),
            None => Ok(()),
        }
    }

    /// The strength and way to wait for a relation of FROM; `None` if no clause names it.
    fn lock_of(&mut self, name: Option<&str>) -> Option<(LockStrength, LockWait)> {
        let mut lock: Option<(LockStrength, LockWait)> = None;
        for clause in &mut self.level().locking.clauses {
            let place = clause.of.iter().position(|of| Some(of.name.as_str()) == name);
            match place {
                Some(place) => clause.of[place].is_found = true,
                None if clause.of.is_empty() => {}
                None => continue,
            }
            let (strength, wait) = lock.unwrap_or((clause.strength, clause.wait));
            lock = Some((strength.max(clause.strength), wait.max(clause.wait)));
        }
        lock
    }

    /// True if a clause of the query, or one around it, locks the rows of a relation of FROM.
    pub(super) fn is_locked(&mut self, name: Option<&str>) -> bool {
        self.level().locking.from_above || self.lock_of(name).is_some()
    }

    /// Lets the tables of a relation of FROM, which is a table, a view or a subquery, be locked if the query says so.
    pub(super) fn lock_relation(&mut self, op: &mut Operator, name: Option<&str>) -> Result<()> {
        if self.level().locking.clauses.is_empty() {
            return Ok(());
        }
        match self.lock_of(name) {
            Some(lock) => self.lock_scans(op, lock, name.unwrap_or_default(), false),
            None => Ok(()),
        }
    }

    /// 0A000 if OF names a relation that has no rows to lock.
    pub(super) fn refuse_to_lock(&mut self, name: &str, what: &str) -> Result<()> {
        let clauses = &self.level().locking.clauses;
        let named = clauses.iter().find_map(|clause| {
            let of = clause.of.iter().find(|of| of.name == name)?;
            Some(refused(
                clause.strength,
                &format!("cannot be applied to {what}"),
                of.span,
            ))
        });
        named.map_or(Ok(()), Err)
    }

    /// Gives the scans of tables below an operator columns of row ids. `is_nullable`: an outer join may make NULLs of
    /// the rows.
    fn lock_scans(
        &mut self,
        op: &mut Operator,
        lock: (LockStrength, LockWait),
        name: &str,
        is_nullable: bool,
    ) -> Result<()> {
        if let Some(what) = op.node().unlockable() {
            let message = format!("is not allowed with {what}");
            return Err(refused(lock.0, &message, Span::NONE));
        }
        if op.node().limits_rows() && lock.1 == LockWait::Skip {
            return Err(Error::unsupported("SKIP LOCKED of a subquery with LIMIT")
                .with_hint("write the locking clause in the subquery"));
        }
        if let Operator::Scan(scan) = op {
            return self.lock_scan(scan, lock, name, is_nullable);
        }
        if let Operator::Join(join) = op {
            let (build, probe) = nullable_sides(join);
            if let Some(build) = build {
                self.lock_scans(&mut join.build, lock, name, is_nullable || build)?;
            }
            return match probe {
                Some(probe) => self.lock_scans(&mut join.probe, lock, name, is_nullable || probe),
                None => Ok(()),
            };
        }
        if let Operator::DependentJoin(join) = op {
            self.lock_scans(&mut join.outer, lock, name, is_nullable)?;
            return self.lock_scans(&mut join.inner, lock, name, is_nullable || join.keep_outer);
        }
        // The rows of others are those of an input, or of no table.
        let passes = op.node().passes().len();
        let mut inputs = op.node_mut().inputs_mut().into_iter().take(passes);
        inputs.try_for_each(|input| self.lock_scans(input, lock, name, is_nullable))
    }

    /// Lets a scan be locked. System tables, files and what WITH queries returned have no rows that anybody changes.
    fn lock_scan(
        &mut self,
        scan: &mut Scan,
        (strength, wait): (LockStrength, LockWait),
        name: &str,
        is_nullable: bool,
    ) -> Result<()> {
        if self.catalog.catalog_id(scan.table).is_none() {
            return Ok(());
        }
        if let Some(catalog_view::Relation::Table(table)) = self.catalog.relation_of(scan.table)
            && table.materialized.is_some()
        {
            let message = format!("cannot lock rows in materialized view \"{}\"", table.name);
            return Err(error(SqlState::WRONG_OBJECT_TYPE, message, Span::NONE));
        }
        if is_nullable {
            let why = "cannot be applied to the nullable side of an outer join";
            return Err(refused(strength, why, Span::NONE));
        }
        let row_id = match scan.row_id {
            Some(row_id) => row_id,
            None => self.row_id(),
        };
        scan.row_id = Some(row_id);
        self.level().locking.tables.push(LockedTable {
            table: scan.table,
            name: name.to_string(),
            row_id,
            strength,
            wait,
        });
        Ok(())
    }

    /// 0A000 if rows of a relation are locked that a join makes NULL or only tests.
    pub(super) fn refuse_locked_side(&mut self, side: &Operator, why: &str) -> Result<()> {
        if self.level().locking.tables.is_empty() {
            return Ok(());
        }
        let visible = side.visible();
        let tables = &self.level().locking.tables;
        match tables.iter().find(|table| visible.contains(&table.row_id)) {
            Some(table) => Err(refused(table.strength, why, Span::NONE)),
            None => Ok(()),
        }
    }

    /// 42P01 if OF names a relation that FROM does not have.
    pub(super) fn check_locked_names(&mut self) -> Result<()> {
        for clause in &self.level().locking.clauses {
            if let Some(missing) = clause.of.iter().find(|of| !of.is_found) {
                let message = format!(
                    "relation \"{}\" in {} clause not found in FROM clause",
                    missing.name, clause.strength
                );
                return Err(error(SqlState::UNDEFINED_TABLE, message, missing.span));
            }
        }
        Ok(())
    }

    /// 0A000 for a locking query whose clauses make groups.
    pub(super) fn refuse_locked_groups(&self, select: &Select, locking: &Locking) -> Result<()> {
        let has_groups = match &select.group_by {
            GroupByExpr::All(_) => true,
            GroupByExpr::Expressions(list, _) => !list.is_empty(),
        };
        let conditions = [
            (
                matches!(select.distinct, Some(Distinct::Distinct | Distinct::On(_))),
                "DISTINCT clause",
            ),
            (has_groups, "GROUP BY clause"),
            (select.having.is_some(), "HAVING clause"),
        ];
        match conditions.iter().find(|condition| condition.0) {
            Some((_, what)) => self.refuse_locks(&locking.clauses, &format!("is not allowed with {what}")),
            None => Ok(()),
        }
    }

    /// 0A000 for a locking query that calls aggregates, window functions or functions that give rows.
    pub(super) fn refuse_locked_calls(&mut self, has_windows: bool, gives_rows: bool) -> Result<()> {
        let conditions = [
            (!self.level().aggregates.is_empty(), "aggregate functions"),
            (has_windows, "window functions"),
            (gives_rows, "set-returning functions in the target list"),
        ];
        let Some((_, what)) = conditions.iter().find(|condition| condition.0) else {
            return Ok(());
        };
        let clauses = std::mem::take(&mut self.level().locking.clauses);
        self.refuse_locks(&clauses, &format!("is not allowed with {what}"))
    }

    /// The rows that a query returns once it has locked them. `bounds`: LIMIT and OFFSET of a query that skips rows.
    pub(super) fn locked_rows(
        &mut self,
        relation: Relation,
        tables: Vec<LockedTable>,
        bounds: Option<(Option<RowCount>, RowCount)>,
    ) -> Result<Relation> {
        let Some(first) = tables.first() else {
            return Ok(relation);
        };
        if !free_columns(&relation.op).is_empty() || reads_turns(&relation.op) {
            let what = format!(
                "{} in a subquery that reads columns of a query around it",
                first.strength
            );
            return Err(Error::unsupported(what));
        }
        let Relation { mut op, columns } = relation;
        let bounds = bounds.map(|bounds| self.bound_columns(&mut op, bounds));
        let change = Change {
            table: first.table,
            name: first.name.clone(),
            kind: WriteKind::Lock(RowLocks { tables, bounds }),
            checks: Vec::new(),
            returning: Vec::new(),
        };
        let shown = columns.iter().map(|c| {
            let known = &self.columns[c.id];
            (c.name.clone(), known.ty, known.origin)
        });
        let shown = shown.collect();
        let written = Written {
            op,
            change,
            output: columns,
            queries: WriteQueries::default(),
        };
        let table = self.pending("locked", written)?;
        Ok(self.returned_rows(
            "locked",
            Returned {
                table,
                columns: shown,
            },
        ))
    }

    /// Columns of LIMIT and OFFSET below the order of the rows.
    fn bound_columns(&mut self, op: &mut Operator, bounds: (Option<RowCount>, RowCount)) -> LockBounds {
        let mut computed = Computed::default();
        let mut column = |count: RowCount, name: &str| -> Option<ColumnId> {
            let value = match count {
                RowCount::Constant(0) if name == "offset" => return None,
                RowCount::Constant(rows) => Expr::constant(Value::Int(rows.into()), COUNT),
                RowCount::Value(value) => *value,
                RowCount::Column(id) => return Some(id),
            };
            Some(self.as_column(value, name, &mut computed))
        };
        let limit = bounds.0.and_then(|limit| column(limit, "limit"));
        let offset = column(bounds.1, "offset");
        let mut below = op;
        if let Operator::Sort(sort) = below {
            below = &mut sort.input;
        }
        let rows = std::mem::replace(below, super::rows::one_row());
        *below = computed.above(rows);
        LockBounds { limit, offset }
    }
}

/// Returns a flag for the build side of a join and one for the probe side: true if the join makes NULLs of rows of the
/// side, `None` if it does not return the side's rows.
fn nullable_sides(join: &Join) -> (Option<bool>, Option<bool>) {
    match join.kind {
        JoinKind::Inner => (Some(false), Some(false)),
        JoinKind::ProbeOuter => (Some(true), Some(false)),
        JoinKind::BuildOuter => (Some(false), Some(true)),
        JoinKind::FullOuter => (Some(true), Some(true)),
        JoinKind::ProbeSemi | JoinKind::ProbeAnti | JoinKind::ProbeMark(_) => (None, Some(false)),
        JoinKind::BuildSemi | JoinKind::BuildAnti => (Some(false), None),
    }
}
