//! Views: a query under a name, bound anew wherever the name is read.
//!
//! A view keeps the text of its query, and of every relation that the query reads the name that the text has for it,
//! its identity and the columns that it had. By these the text means the same ever after, whatever becomes of names and
//! of further columns.

use crate::{Catalog, QualifiedName, Relation, TableEntry, TableOptions, WrittenName};
use frazil_types::{Error, ObjectId, Result, Schema, SqlState};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A view as the catalog knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewEntry {
    /// Its identity; tables and views share the numbers.
    pub id: ObjectId,
    /// The identity of its schema.
    pub namespace: ObjectId,
    /// Its name, folded to lower case unless it was quoted.
    pub name: String,
    /// Its columns: names and types, as they were when it was created. All are nullable.
    pub schema: Arc<Schema>,
    /// The text of its query.
    pub query: String,
    /// What the query reads.
    pub reads: Vec<Reading>,
}

/// A relation that the query of a view reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The name that the query has for it, as it is written there.
    pub name: WrittenName,
    /// Its identity; `None` for a system table, which is found by its name.
    pub id: Option<ObjectId>,
    /// The names of its first columns. The query does not see later ones.
    pub columns: Vec<String>,
}

/// The query of a materialized view. Its rows are those of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Materialized {
    /// The text of the query.
    pub query: String,
    /// The relations that the query reads.
    pub reads: Vec<Reading>,
    /// False before the first REFRESH, and after REFRESH … WITH NO DATA: nobody may read the rows.
    pub is_populated: bool,
}

/// What CREATE VIEW does with a view of its name that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingView {
    /// Refuses it: CREATE VIEW.
    Refuse,
    /// Replaces its query: CREATE OR REPLACE VIEW.
    Replace,
    /// Leaves it alone: CREATE VIEW IF NOT EXISTS.
    Keep,
}

/// A view to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct NewView {
    /// Its name.
    pub name: QualifiedName,
    /// What becomes of a view of that name.
    pub existing: ExistingView,
    /// Names and types of its columns.
    pub schema: Schema,
    /// The text of its query.
    pub query: String,
    /// What the query reads.
    pub reads: Vec<Reading>,
}

impl Catalog {
    /// The next version, with one more view or another query of one; this version if there is nothing to do.
    ///
    /// 3F000 without the schema, 42P07 if the name is taken, 42710 if a type has it, 42809 if it is a table's that would
    /// be replaced. A view keeps its columns when it is
    /// replaced, and may get more behind them: else 42P16. It cannot come to read itself: 42P17.
    pub fn create_view(&self, view: NewView) -> Result<Catalog> {
        let namespace = self.namespace(&view.name.schema)?;
        let bare = &view.name.name;
        if self.index(&view.name).is_some() {
            return Err(taken(bare));
        }
        let id = match (self.relation(&view.name), view.existing) {
            (None, _) => {
                self.refuse_type_name(&view.name)?;
                None
            }
            (Some(_), ExistingView::Keep) => return Ok(self.clone()),
            (Some(_), ExistingView::Refuse) => return Err(taken(bare)),
            (Some(Relation::Table(_)), ExistingView::Replace) => return Err(not_a_view(bare)),
            (Some(Relation::View(old)), ExistingView::Replace) => {
                keeps_columns(&old.schema, &view.schema)?;
                self.refuse_recursion(old, &view.reads)?;
                Some(old.id)
            }
        };
        let mut next = self.next();
        let id = id.unwrap_or_else(|| next.take_id(namespace));
        let entry = ViewEntry {
            id,
            namespace,
            name: view.name.name,
            schema: Arc::new(view.schema),
            query: view.query,
            reads: view.reads,
        };
        next.objects.put_relation(Relation::View(Arc::new(entry)));
        Ok(next)
    }

    /// The next version, with one more materialized view that was never refreshed, and its table; `None` if there is a
    /// relation of its name that may be there.
    ///
    /// 3F000 without the schema, 42P07 if the name is taken, 42710 if a type has it, 0A000 for a column of a type that
    /// is only an expression's.
    pub fn create_materialized(&self, view: NewView) -> Result<Option<(Catalog, Arc<TableEntry>)>> {
        let namespace = self.namespace(&view.name.schema)?;
        if self.has_relation(&view.name) {
            return match view.existing {
                ExistingView::Keep => Ok(None),
                ExistingView::Refuse | ExistingView::Replace => Err(taken(&view.name.name)),
            };
        }
        self.refuse_type_name(&view.name)?;
        if let Some(column) = view.schema.columns.iter().find(|c| !c.ty.info().is_stored) {
            return Err(Error::unsupported(format!(
                "column \"{}\" of type {}",
                column.name, column.ty
            )));
        }
        let mut next = self.next();
        let id = next.take_id(namespace);
        let materialized = Materialized {
            query: view.query,
            reads: view.reads,
            is_populated: false,
        };
        let entry = TableEntry {
            namespace,
            materialized: Some(Arc::new(materialized)),
            ..TableEntry::new(id, view.name.name, Arc::new(view.schema), TableOptions::default())
        };
        let entry = next.put(entry);
        Ok(Some((next, entry)))
    }

    /// The next version, in which a materialized view is populated or not, and its table; `None` if there is nothing to
    /// do.
    pub fn set_populated(
        &self,
        table: ObjectId,
        is_populated: bool,
    ) -> Result<Option<(Catalog, Arc<TableEntry>)>> {
        let mut entry = TableEntry::clone(&*self.by_id(table)?);
        let Some(materialized) = &mut entry.materialized else {
            return Err(Error::internal("a refresh of a table"));
        };
        if materialized.is_populated == is_populated {
            return Ok(None);
        }
        Arc::make_mut(materialized).is_populated = is_populated;
        let mut next = self.next();
        let entry = next.put(entry);
        Ok(Some((next, entry)))
    }

    /// The views and materialized views, by schema and name.
    pub fn all_views(&self) -> impl Iterator<Item = Arc<ViewEntry>> {
        self.relations().filter_map(|relation| match relation {
            Relation::View(view) => Some(view.clone()),
            Relation::Table(table) => table.as_view(),
        })
    }

    /// The relation that a view's query reads under a name; `None` for a system table.
    pub fn read_by(&self, reading: &Reading) -> Option<&Relation> {
        self.relation_of(reading.id?)
    }

    /// The views and materialized views, each behind those that it reads; else the older ones first.
    pub fn views_by_reading(&self) -> Vec<Arc<ViewEntry>> {
        let mut left: Vec<Arc<ViewEntry>> = self.all_views().collect();
        left.sort_by_key(|view| view.id);
        let mut waiting: BTreeSet<ObjectId> = left.iter().map(|view| view.id).collect();
        let mut ordered = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let before = ordered.len();
            left.retain(|view| {
                let waits = view
                    .reads
                    .iter()
                    .filter_map(|r| r.id)
                    .any(|id| waiting.contains(&id));
                if !waits {
                    waiting.remove(&view.id);
                    ordered.push(Arc::clone(view));
                }
                waits
            });
            if ordered.len() == before {
                // No view reads itself; a catalog that says so is damaged, and still listed.
                ordered.append(&mut left);
            }
        }
        ordered
    }

    /// 42P17 if one of the relations reads the view, at any depth.
    fn refuse_recursion(&self, view: &ViewEntry, reads: &[Reading]) -> Result<()> {
        let mut seen: BTreeSet<ObjectId> = BTreeSet::new();
        let mut open: Vec<&Reading> = reads.iter().collect();
        while let Some(reading) = open.pop() {
            let Some(id) = reading.id else { continue };
            if id == view.id {
                let message = format!(
                    "infinite recursion detected in rules for relation \"{}\"",
                    view.name
                );
                return Err(Error::new(SqlState::INVALID_OBJECT_DEFINITION, message)
                    .with_hint("the new query reads the view itself, perhaps through another view"));
            }
            if seen.insert(id)
                && let Some(Relation::View(below)) = self.read_by(reading)
            {
                open.extend(&below.reads);
            }
        }
        Ok(())
    }
}

impl TableEntry {
    /// The view that a materialized view is, without its rows; `None` for a table.
    pub fn as_view(&self) -> Option<Arc<ViewEntry>> {
        let materialized = self.materialized.as_ref()?;
        Some(Arc::new(ViewEntry {
            id: self.id,
            namespace: self.namespace,
            name: self.name.clone(),
            schema: self.schema.clone(),
            query: materialized.query.clone(),
            reads: materialized.reads.clone(),
        }))
    }
}

/// 42809 for another relation where a materialized view must be.
pub fn not_materialized(name: &str) -> Error {
    let message = format!("\"{name}\" is not a materialized view");
    Error::new(SqlState::WRONG_OBJECT_TYPE, message)
}

/// 42P07.
pub(crate) fn taken(name: &str) -> Error {
    let message = format!("relation \"{name}\" already exists");
    Error::new(SqlState::DUPLICATE_TABLE, message)
}

/// 42809 for a table where a view must stand.
pub(crate) fn not_a_view(name: &str) -> Error {
    Error::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{name}\" is not a view"))
}

/// 42809 for a view where a table must stand.
pub fn not_a_table(name: &str) -> Error {
    Error::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{name}\" is not a table"))
}

/// 42P16 unless the new columns begin with the old ones.
fn keeps_columns(old: &Schema, new: &Schema) -> Result<()> {
    let refused = |message: String| Error::new(SqlState::INVALID_TABLE_DEFINITION, message);
    if new.columns.len() < old.columns.len() {
        return Err(refused("cannot drop columns from view".to_string()));
    }
    for (old, new) in old.columns.iter().zip(&new.columns) {
        if old.name != new.name {
            let message = format!(
                "cannot change name of view column \"{}\" to \"{}\"",
                old.name, new.name
            );
            let hint = "drop and re-create the view, or give the column its old name with AS";
            return Err(refused(message).with_hint(hint));
        }
        if old.ty != new.ty {
            return Err(refused(format!(
                "cannot change data type of view column \"{}\" from {} to {}",
                old.name, old.ty, new.ty
            )));
        }
    }
    Ok(())
}
