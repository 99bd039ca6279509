//! Common table expressions. One that is read several times is computed once; one that reads columns of a query
//! around it is bound anew wherever it is read.

use super::scope::Level;
use super::{Binder, OutputColumn, Relation, error, fold};
use frazil_plan::operators::Shared;
use frazil_plan::subquery::free_columns;
use frazil_plan::{ColumnId, Operator, SharedId};
use frazil_types::{Error, Result, SqlState};
use sqlparser::ast::{Cte as SqlCte, CteAsMaterialized, With};

/// A common table expression in sight.
pub(super) struct Cte<'a> {
    name: String,
    definition: &'a SqlCte,
    /// How many queries surround its definition.
    depth: usize,
    rows: Rows,
}

/// Where its rows come from.
#[derive(Clone)]
enum Rows {
    /// A shared subplan and its columns.
    Shared(SharedId, Vec<(String, ColumnId)>),
    /// Its definition, bound anew.
    Anew,
}

impl<'a> Binder<'a> {
    /// Takes the definitions of WITH in sight.
    pub(crate) fn with(&mut self, with: &'a With) -> Result<()> {
        if with.recursive {
            return Err(Error::unsupported("WITH RECURSIVE"));
        }
        let before = self.ctes.len();
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
            let relation = self.define(definition)?;
            let anew = !self.settings.share_common_tables
                || matches!(definition.materialized, Some(CteAsMaterialized::NotMaterialized))
                || !free_columns(&relation.op).is_empty();
            let rows = if anew {
                Rows::Anew
            } else {
                self.shared.push(relation.op);
                let columns = relation.columns.into_iter().map(|c| (c.name, c.id));
                Rows::Shared(SharedId(self.shared.len() - 1), columns.collect())
            };
            let depth = self.levels.len();
            self.ctes.push(Cte {
                name,
                definition,
                depth,
                rows,
            });
        }
        Ok(())
    }

    fn define(&mut self, definition: &'a SqlCte) -> Result<Relation> {
        let mut relation = self.query(&definition.query)?;
        let (given, available) = (definition.alias.columns.len(), relation.columns.len());
        if given > available {
            let name = fold(&definition.alias.name);
            let message = format!(
                "WITH query \"{name}\" has {available} columns available but {given} columns specified"
            );
            let span = self.span(&definition.alias.name);
            return Err(error(SqlState::INVALID_COLUMN_REFERENCE, message, span));
        }
        self.rename(&mut relation.columns, &definition.alias)?;
        Ok(relation)
    }

    /// The common table expression of a name that is nearest.
    pub(super) fn find_cte(&self, name: &str) -> Option<usize> {
        self.ctes.iter().rposition(|c| c.name == name)
    }

    /// Its rows, for one more place that reads them.
    pub(super) fn read_cte(&mut self, at: usize) -> Result<Relation> {
        let (definition, depth) = (self.ctes[at].definition, self.ctes[at].depth);
        match self.ctes[at].rows.clone() {
            Rows::Shared(id, stored) => {
                let mut made = Vec::with_capacity(stored.len());
                let mut columns: Vec<OutputColumn> = Vec::with_capacity(stored.len());
                for (name, from) in stored {
                    // A column that stands twice is read once.
                    let known = made.iter().find(|(_, old)| *old == from).map(|(new, _)| *new);
                    let new = known.unwrap_or_else(|| {
                        let info = self.columns[from].clone();
                        let new = self.columns.add(name.clone(), info.ty, info.nullable);
                        made.push((new, from));
                        new
                    });
                    columns.push(OutputColumn::new(name, new));
                }
                let op = Operator::Shared(Shared { id, columns: made });
                Ok(Relation { op, columns })
            }
            Rows::Anew => {
                // It sees what its definition saw.
                let first = self.references.len();
                let later = self.ctes.split_off(at);
                let inner: Vec<Level> = self.levels.split_off(depth);
                let relation = self.define(definition);
                self.levels.truncate(depth);
                self.levels.extend(inner);
                self.ctes.truncate(at);
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
