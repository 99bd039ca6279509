//! Common table expressions. One that is read several times is computed once; one that reads columns of a query
//! around it is bound anew wherever it is read.

use super::common_tables::{Cte, Rows};
use super::recursion::{Defined, MUTUAL, NO_UNION, reads_turns, reads_turns_around};
use super::scope::Level;
use super::search_cycle::{Clauses, not_recursive};
use super::writing_with::{not_at_the_top, writing};
use super::{Binder, OutputColumn, Relation, error, fold};
use frazil_plan::operators::Shared;
use frazil_plan::{ColumnId, Operator, SharedId, free_columns};
use frazil_types::{Error, Result, SqlState};
use sqlparser::ast::{Cte as SqlCte, CteAsMaterialized, With};

impl<'a> Binder<'a> {
    /// Takes the definitions of WITH in sight.
    pub(crate) fn with(&mut self, with: &'a With) -> Result<()> {
        let before = self.ctes.len();
        let may_write = std::mem::take(&mut self.may_write);
        for definition in &with.cte_tables {
            let name = fold(&definition.alias.name);
            let span = self.span(&definition.alias.name);
            if self.ctes[before..].iter().any(|c| c.name == name) {
                let message = format!("WITH query name \"{name}\" specified more than once");
                return Err(error(SqlState::DUPLICATE_ALIAS, message, span));
            }
            if definition.from.is_some() {
                return Err(Error::unsupported("FROM behind a common table expression").at_span(span));
            }
            let written = writing(definition);
            if written.is_some() && !may_write {
                return Err(not_at_the_top(span));
            }
            if !with.recursive && Clauses::of(&definition.query).is_some() {
                return Err(not_recursive(span));
            }
            let rows = match (with.recursive, written) {
                (true, _) => Rows::Pending,
                (false, Some(inner)) => self.writing_rows(&name, definition, inner)?,
                (false, None) => self.plain_rows(definition)?,
            };
            let depth = self.levels.len();
            let sees = match with.recursive {
                true => before + with.cte_tables.len(),
                false => self.ctes.len(),
            };
            self.ctes.push(Cte {
                name,
                definition,
                depth,
                sees,
                rows,
            });
        }
        // Each may read those behind it.
        for at in (before..self.ctes.len()).filter(|_| with.recursive) {
            self.settle(at)?;
        }
        Ok(())
    }

    /// The rows of a definition that is not recursive.
    fn plain_rows(&mut self, definition: &'a SqlCte) -> Result<Rows> {
        let relation = self.define(definition)?;
        Ok(self.shared_or_anew(relation, definition))
    }

    fn shared_or_anew(&mut self, relation: Relation, definition: &SqlCte) -> Rows {
        let anew = !self.settings.share_common_tables
            || matches!(definition.materialized, Some(CteAsMaterialized::NotMaterialized))
            || !free_columns(&relation.op).is_empty()
            || reads_turns(&relation.op);
        if anew { Rows::Anew } else { self.share(relation) }
    }

    fn share(&mut self, relation: Relation) -> Rows {
        self.shared.push(relation.op);
        let columns = relation.columns.into_iter().map(|c| (c.name, c.id));
        Rows::Shared(SharedId(self.shared.len() - 1), columns.collect())
    }

    /// Binds a definition of WITH RECURSIVE that is not bound yet, with what is in sight at its place.
    fn settle(&mut self, at: usize) -> Result<()> {
        if !matches!(self.ctes[at].rows, Rows::Pending) {
            return Ok(());
        }
        let (definition, depth) = (self.ctes[at].definition, self.ctes[at].depth);
        let later = self.ctes.split_off(self.ctes[at].sees);
        let inner: Vec<Level> = self.levels.split_off(depth);
        // Those of the clause that are being bound would read what reads them.
        let mut open = Vec::new();
        let sees = self.ctes[at].sees;
        for (i, cte) in self.ctes.iter_mut().enumerate().filter(|(_, c)| c.sees == sees) {
            if matches!(cte.rows, Rows::Turn(..) | Rows::Closed(_)) {
                open.push((i, std::mem::replace(&mut cte.rows, Rows::Closed(MUTUAL))));
            }
        }
        let bound = self.recursive_rows(at, definition);
        open.into_iter().for_each(|(i, rows)| self.ctes[i].rows = rows);
        self.ctes.truncate(self.ctes[at].sees);
        self.ctes.extend(later);
        self.levels.truncate(depth);
        self.levels.extend(inner);
        self.ctes[at].rows = bound?;
        Ok(())
    }

    fn recursive_rows(&mut self, at: usize, definition: &'a SqlCte) -> Result<Rows> {
        if let Some(inner) = writing(definition) {
            self.ctes[at].rows = Rows::Closed("must not contain data-modifying statements");
            let name = self.ctes[at].name.clone();
            return self.writing_rows(&name, definition, inner);
        }
        match self.recursion(at, definition)? {
            Defined::Recursive(relation) => {
                let relation = self.with_names(relation, definition)?;
                let depends = !free_columns(&relation.op).is_empty() || reads_turns_around(&relation.op);
                Ok(match depends {
                    true => Rows::AnewRecursive,
                    false => self.share(relation),
                })
            }
            Defined::Plain(relation) => {
                let relation = self.with_names(relation, definition)?;
                Ok(self.shared_or_anew(relation, definition))
            }
            Defined::NoUnion if Clauses::of(&definition.query).is_some() => {
                Err(not_recursive(self.span(&definition.alias.name)))
            }
            Defined::NoUnion => {
                self.ctes[at].rows = Rows::Closed(NO_UNION);
                self.plain_rows(definition)
            }
        }
    }

    /// Common table expressions in sight.
    pub(super) fn with_count(&self) -> usize {
        self.ctes.len()
    }

    /// Leaves only so many common table expressions in sight.
    pub(super) fn forget_with(&mut self, count: usize) {
        self.ctes.truncate(count);
    }

    /// Says which rows a definition that is being bound has when it is read.
    pub(super) fn set_rows(&mut self, at: usize, rows: Rows) {
        self.ctes[at].rows = rows;
    }

    fn define(&mut self, definition: &'a SqlCte) -> Result<Relation> {
        let relation = self.query(&definition.query)?;
        self.with_names(relation, definition)
    }

    /// The rows of a definition that reads itself, bound once more.
    fn define_recursion(&mut self, at: usize, definition: &'a SqlCte) -> Result<Relation> {
        let bound = self.recursion(at, definition);
        self.ctes[at].rows = Rows::AnewRecursive;
        match bound? {
            Defined::Recursive(relation) => self.with_names(relation, definition),
            Defined::Plain(_) | Defined::NoUnion => {
                Err(Error::internal("a recursive query that is no longer one"))
            }
        }
    }

    /// A definition's rows, their columns named as it says.
    pub(super) fn with_names(&mut self, mut relation: Relation, definition: &'a SqlCte) -> Result<Relation> {
        self.enough_columns(relation.columns.len(), definition)?;
        self.rename(&mut relation.columns, &definition.alias)?;
        Ok(relation)
    }

    /// 42P10 if a definition names more columns than there are.
    pub(super) fn enough_columns(&self, available: usize, definition: &SqlCte) -> Result<()> {
        let given = definition.alias.columns.len();
        if given > available {
            let name = fold(&definition.alias.name);
            let message = format!(
                "WITH query \"{name}\" has {available} columns available but {given} columns specified"
            );
            let span = self.span(&definition.alias.name);
            return Err(error(SqlState::INVALID_COLUMN_REFERENCE, message, span));
        }
        Ok(())
    }

    /// The common table expression of a name that is nearest.
    pub(super) fn find_cte(&self, name: &str) -> Option<usize> {
        self.ctes.iter().rposition(|c| c.name == name)
    }

    /// The rows of a shared subplan, for one more place that reads them. `stored`: names and columns of the subplan.
    fn shared_rows(&mut self, id: SharedId, stored: Vec<(String, ColumnId)>) -> Relation {
        let mut made = Vec::with_capacity(stored.len());
        let mut columns: Vec<OutputColumn> = Vec::with_capacity(stored.len());
        for (name, from) in stored {
            // A column that is there twice is read once.
            let known = made.iter().find(|(_, old)| *old == from).map(|(new, _)| *new);
            let new = known.unwrap_or_else(|| {
                let info = self.columns[from].clone();
                let new = self.columns.add(name.clone(), info.ty, info.nullable);
                let domain = self.domains.get(&from).copied();
                self.domains.extend(domain.map(|domain| (new, domain)));
                self.keep_fields(new, from);
                self.columns[new].origin = info.origin;
                made.push((new, from));
                new
            });
            columns.push(OutputColumn::new(name, new));
        }
        let op = Operator::Shared(Shared { id, columns: made });
        Relation { op, columns }
    }

    /// Its rows, for one more place that reads them.
    pub(super) fn read_cte(&mut self, at: usize) -> Result<Relation> {
        self.settle(at)?;
        let (definition, depth) = (self.ctes[at].definition, self.ctes[at].depth);
        match self.ctes[at].rows.clone() {
            Rows::Pending => Err(Error::internal("a common table expression that was not bound")),
            Rows::Closed(why) => {
                let name = &self.ctes[at].name;
                let span = self.span(&definition.alias.name);
                Err(match why {
                    MUTUAL => Error::unsupported("mutual recursion between WITH queries").at_span(span),
                    why => {
                        let message = format!("recursive query \"{name}\" {why}");
                        error(SqlState::INVALID_RECURSION, message, span)
                    }
                })
            }
            Rows::Turn(id, columns) => Ok(self.turn(id, columns)),
            Rows::Returned(returned) => {
                let name = self.ctes[at].name.clone();
                Ok(self.returned_rows(&name, returned))
            }
            Rows::Silent => {
                let message = format!(
                    "WITH query \"{}\" does not have a RETURNING clause",
                    self.ctes[at].name
                );
                let span = self.span(&definition.alias.name);
                Err(error(SqlState::FEATURE_NOT_SUPPORTED, message, span))
            }
            Rows::Shared(id, stored) => Ok(self.shared_rows(id, stored)),
            rows @ (Rows::Anew | Rows::AnewRecursive) => {
                // It sees what its definition saw.
                let first = self.references.len();
                let sees = self.ctes[at].sees;
                let later = self.ctes.split_off(sees);
                let inner: Vec<Level> = self.levels.split_off(depth);
                let relation = match rows {
                    Rows::AnewRecursive => self.define_recursion(at, definition),
                    _ => self.define(definition),
                };
                self.levels.truncate(depth);
                self.levels.extend(inner);
                self.ctes.truncate(sees);
                self.ctes.extend(later);
                // The query at hand may be as deep as the definition's was: its columns are not named in it.
                let named = self.references.split_off(first).into_iter();
                let of_around = |id| self.owner(id) as usize <= depth;
                let kept: Vec<_> = named.filter(|r| of_around(r.id)).collect();
                self.references.extend(kept);
                relation
            }
        }
    }
}
