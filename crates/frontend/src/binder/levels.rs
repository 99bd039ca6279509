//! The nest of queries: which one is bound, and whose a column is.

use super::scope::{Clause, Item, Level, Reference};
use super::{Binder, error};
use frazil_plan::ColumnId;
use frazil_types::{Result, Span, SqlState};

impl Binder<'_> {
    pub(super) fn level(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    /// Depth of the query being bound.
    pub(super) fn depth(&self) -> u32 {
        self.levels.len() as u32
    }

    /// Says that a column belongs to the query being bound.
    pub(super) fn own(&mut self, id: ColumnId) {
        self.own_at(id, self.depth());
    }

    /// Says that a column belongs to the query of a depth.
    pub(super) fn own_at(&mut self, id: ColumnId, depth: u32) {
        let at = id.0 as usize;
        if self.owners.len() <= at {
            self.owners.resize(at + 1, 0);
        }
        self.owners[at] = depth;
    }

    /// Depth of the query that a column belongs to.
    pub(super) fn owner(&self, id: ColumnId) -> u32 {
        self.owners.get(id.0 as usize).copied().unwrap_or(0)
    }

    /// Notes that a column is named, or stands for an aggregate that is called.
    pub(super) fn refer(&mut self, id: ColumnId, span: Span) {
        self.note_use(id);
        let depth = self.depth();
        self.references.push(Reference { id, span, depth });
    }

    /// Binds with `items` in sight, in a clause.
    pub(super) fn within<T>(
        &mut self,
        clause: Clause,
        items: Vec<Item>,
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, Vec<Item>)> {
        let level = self.level();
        let before = std::mem::replace(&mut level.items, items);
        let clause = std::mem::replace(&mut level.clause, clause);
        let bound = bind(self);
        let level = self.level();
        level.clause = clause;
        let items = std::mem::replace(&mut level.items, before);
        Ok((bound?, items))
    }

    /// Binds in a clause.
    pub(super) fn in_clause<T>(
        &mut self,
        clause: Clause,
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = std::mem::replace(&mut self.level().clause, clause);
        let bound = bind(self);
        self.level().clause = before;
        bound
    }

    /// 42712 if two relations have one name, unless they are tables or views of different schemas without aliases.
    pub(super) fn distinct_names(&self, left: &[Item], right: &[Item], span: Span) -> Result<()> {
        for item in right {
            let Some(name) = &item.name else { continue };
            let differs = |l: &Item| l.schema.is_some() && item.schema.is_some() && l.schema != item.schema;
            if left.iter().any(|l| l.name.as_ref() == Some(name) && !differs(l)) {
                let message = format!("table name \"{name}\" specified more than once");
                return Err(error(SqlState::DUPLICATE_ALIAS, message, span)
                    .with_hint("give one of them another alias"));
            }
        }
        Ok(())
    }
}
