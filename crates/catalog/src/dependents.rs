//! DROP, and what stands in its way: a relation cannot go while a view reads it, unless the view goes with it.

use crate::view::{not_a_table, not_a_view};
use crate::{Catalog, Relation, identifier};
use frazil_types::{Error, ObjectId, Result, SqlState};
use std::collections::{BTreeMap, BTreeSet};

/// Dependents that a message lists at most.
const LISTED: usize = 100;

/// A kind of relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    /// A table.
    Table,
    /// A view.
    View,
}

impl RelationKind {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            RelationKind::Table => "table",
            RelationKind::View => "view",
        }
    }
}

/// What becomes of views that read what is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropBehavior {
    /// They keep it from being dropped.
    Restrict,
    /// They are dropped, too.
    Cascade,
}

/// DROP TABLE or DROP VIEW.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropRelations {
    /// What is dropped.
    pub kind: RelationKind,
    /// The names.
    pub names: Vec<String>,
    /// IF EXISTS.
    pub if_exists: bool,
    /// CASCADE or RESTRICT.
    pub behavior: DropBehavior,
}

impl DropRelations {
    /// DROP TABLE of one table.
    pub fn table(name: &str) -> DropRelations {
        DropRelations {
            kind: RelationKind::Table,
            names: vec![name.to_string()],
            if_exists: false,
            behavior: DropBehavior::Restrict,
        }
    }
}

/// A view, and the relation through which it depends on what is dropped.
struct Dependent<'c> {
    view: &'c Relation,
    on: &'c Relation,
}

/// Something that views depend on.
pub(crate) enum Gone<'c> {
    /// A table or view.
    Relation(&'c Relation),
    /// A column of a table, by its name.
    Column(&'c Relation, &'c str),
    /// A constraint of a table, by its name.
    Constraint(&'c Relation, &'c str),
}

impl Gone<'_> {
    /// What it is called in messages.
    fn description(&self) -> String {
        match self {
            Gone::Relation(relation) => describe(relation),
            Gone::Column(table, column) => format!("column {} of {}", identifier(column), describe(table)),
            Gone::Constraint(table, name) => {
                format!("constraint {} on {}", identifier(name), describe(table))
            }
        }
    }
}

impl Catalog {
    /// The next version without some relations, and the ids of those; without any, this version.
    ///
    /// 42P01 for a name that there is not, 42809 for one of the other kind. With RESTRICT 2BP01 if a view reads one of
    /// them and is not dropped with it.
    pub fn drop_relations(&self, drop: &DropRelations) -> Result<(Catalog, Vec<ObjectId>)> {
        let mut gone: Vec<&Relation> = Vec::new();
        for name in &drop.names {
            let Some(relation) = self.named(name, drop)? else {
                continue;
            };
            if !gone.iter().any(|g| g.id() == relation.id()) {
                gone.push(relation);
            }
        }
        if gone.is_empty() {
            return Ok((self.clone(), Vec::new()));
        }
        let dependents = self.dependents(&gone, None);
        if drop.behavior == DropBehavior::Restrict && !dependents.is_empty() {
            let gone: Vec<Gone<'_>> = gone.iter().map(|r| Gone::Relation(r)).collect();
            return Err(still_read(&gone, &dependents));
        }
        gone.extend(dependents.iter().map(|d| d.view));
        let mut next = self.next();
        for relation in &gone {
            next.by_name.remove(relation.name());
        }
        Ok((next, gone.iter().map(|r| r.id()).collect()))
    }

    /// The names of the views that go with a column or constraint of a table: those that need it (`readers`), and all
    /// that read these. 2BP01 if there are any and they may not go.
    pub(crate) fn dropped_with(
        &self,
        part: &Gone<'_>,
        readers: &[ObjectId],
        behavior: DropBehavior,
    ) -> Result<Vec<String>> {
        let (Gone::Relation(table) | Gone::Column(table, _) | Gone::Constraint(table, _)) = part;
        let dependents = self.dependents(&[table], Some(readers));
        if behavior == DropBehavior::Restrict && !dependents.is_empty() {
            return Err(still_read(std::slice::from_ref(part), &dependents));
        }
        Ok(dependents.iter().map(|d| d.view.name().to_string()).collect())
    }

    /// The relation of a name that is to be dropped; `None` if it need not be there.
    fn named(&self, name: &str, drop: &DropRelations) -> Result<Option<&Relation>> {
        match self.relation(name) {
            Some(relation) if relation.kind() == drop.kind => Ok(Some(relation)),
            Some(Relation::Table(_)) => Err(not_a_view(name).with_hint("Use DROP TABLE to remove a table.")),
            Some(Relation::View(_)) => Err(not_a_table(name).with_hint("Use DROP VIEW to remove a view.")),
            None if self.index(name).is_some() => {
                let error = match drop.kind {
                    RelationKind::Table => not_a_table(name),
                    RelationKind::View => not_a_view(name),
                };
                Err(error.with_hint("Use DROP INDEX to remove an index."))
            }
            None if drop.if_exists => Ok(None),
            None => Err(self.missing(drop.kind, name)),
        }
    }

    /// The views that read some relations, directly or through other views, in PostgreSQL's order: a view stands behind
    /// what it reads, and older ones of two that read the same first. With `direct`, of the views that read what is gone
    /// directly these alone count.
    fn dependents<'c>(&'c self, gone: &[&'c Relation], direct: Option<&[ObjectId]>) -> Vec<Dependent<'c>> {
        let mut readers: BTreeMap<ObjectId, Vec<&Relation>> = BTreeMap::new();
        for relation in self.by_name.values() {
            let Relation::View(view) = relation else { continue };
            let read: BTreeSet<ObjectId> = view.reads.iter().filter_map(|r| r.id).collect();
            for id in read {
                readers.entry(id).or_default().push(relation);
            }
        }
        readers.values_mut().for_each(|r| r.sort_by_key(|view| view.id()));
        if let Some(direct) = direct {
            for relation in gone {
                let of_it = readers.entry(relation.id()).or_default();
                of_it.retain(|view| direct.contains(&view.id()));
            }
        }
        let mut seen: BTreeSet<ObjectId> = gone.iter().map(|r| r.id()).collect();
        let mut found = Vec::new();
        for relation in gone {
            collect(relation, &readers, &mut seen, &mut found);
        }
        found.reverse();
        found
    }
}

/// A relation on the way down, and how many of its readers are still to be visited.
struct Visit<'c> {
    relation: &'c Relation,
    on: Option<&'c Relation>,
    left: usize,
}

/// Adds the readers of `from` that were not seen, each behind its own readers, the youngest first.
fn collect<'c>(
    from: &'c Relation,
    readers: &BTreeMap<ObjectId, Vec<&'c Relation>>,
    seen: &mut BTreeSet<ObjectId>,
    found: &mut Vec<Dependent<'c>>,
) {
    let visit = |relation: &'c Relation, on| Visit {
        relation,
        on,
        left: readers.get(&relation.id()).map_or(0, Vec::len),
    };
    let mut path = vec![visit(from, None)];
    while let Some(last) = path.last_mut() {
        let relation = last.relation;
        if last.left == 0 {
            if let Some(on) = last.on {
                found.push(Dependent { view: relation, on });
            }
            path.pop();
            continue;
        }
        last.left -= 1;
        let reader = readers[&relation.id()][last.left];
        if seen.insert(reader.id()) {
            path.push(visit(reader, Some(relation)));
        }
    }
}

/// Kind and name of a relation.
fn describe(relation: &Relation) -> String {
    format!("{} {}", relation.kind().name(), identifier(relation.name()))
}

/// 2BP01.
fn still_read(gone: &[Gone<'_>], dependents: &[Dependent<'_>]) -> Error {
    let message = match gone {
        [one] => format!(
            "cannot drop {} because other objects depend on it",
            one.description()
        ),
        _ => "cannot drop desired object(s) because other objects depend on them".to_string(),
    };
    // Of a table it may be a column or a constraint that views depend on.
    let named = |relation: &Relation| {
        let is_it = |gone: &&Gone<'_>| match gone {
            Gone::Relation(gone) | Gone::Column(gone, _) | Gone::Constraint(gone, _) => {
                gone.id() == relation.id()
            }
        };
        gone.iter()
            .find(is_it)
            .map_or_else(|| describe(relation), Gone::description)
    };
    let lines = dependents.iter().take(LISTED);
    let mut lines: Vec<String> = lines
        .map(|d| format!("{} depends on {}", describe(d.view), named(d.on)))
        .collect();
    if dependents.len() > LISTED {
        lines.push(format!("and {} other objects", dependents.len() - LISTED));
    }
    Error::new(SqlState::DEPENDENT_OBJECTS, message)
        .with_detail(lines.join("\n"))
        .with_hint("Use DROP ... CASCADE to drop the dependent objects too.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ExistingView, NewView, Reading, TableOptions};
    use frazil_types::{ColumnDef, LogicalType, Schema};
    use std::sync::Arc;

    fn schema(names: &[&str]) -> Schema {
        let columns = names.iter().map(|n| ColumnDef::new(*n, LogicalType::Integer));
        Schema::new(columns.collect())
    }

    /// Table `t`, and views that read others: each a name and what it reads.
    fn catalog(views: &[(&str, &[&str])]) -> Catalog {
        let options = TableOptions::default();
        let (mut catalog, _) = Catalog::new()
            .create_table("t", Arc::new(schema(&["a"])), options)
            .unwrap();
        for (name, reads) in views {
            let view = view(&catalog, name, reads, ExistingView::Refuse);
            catalog = catalog.create_view(view).unwrap();
        }
        catalog
    }

    fn view(catalog: &Catalog, name: &str, reads: &[&str], existing: ExistingView) -> NewView {
        let reads = reads.iter().map(|name| Reading {
            name: name.to_string(),
            id: catalog.relation(name).map(Relation::id),
            columns: vec!["a".to_string()],
        });
        NewView {
            name: name.to_string(),
            existing,
            schema: schema(&["a"]),
            query: String::new(),
            reads: reads.collect(),
        }
    }

    fn drop_of(kind: RelationKind, names: &[&str], behavior: DropBehavior) -> DropRelations {
        DropRelations {
            kind,
            names: names.iter().map(|n| n.to_string()).collect(),
            if_exists: false,
            behavior,
        }
    }

    fn names(catalog: &Catalog) -> Vec<&str> {
        catalog.relations().map(Relation::name).collect()
    }

    #[test]
    fn dependents_are_listed_in_postgresqls_order() {
        let reads: [(&str, &[&str]); 5] = [
            ("a1", &["t"]),
            ("b1", &["t"]),
            ("a2", &["a1"]),
            ("b2", &["b1"]),
            ("a3", &["a2", "b1", "t"]),
        ];
        let catalog = catalog(&reads);
        let error = catalog.drop_relations(&DropRelations::table("t")).unwrap_err();
        assert_eq!(error.state(), SqlState::DEPENDENT_OBJECTS);
        assert_eq!(
            error.detail(),
            Some(
                "view a1 depends on table t\nview a2 depends on view a1\nview b1 depends on table t\n\
                 view b2 depends on view b1\nview a3 depends on table t"
            )
        );
    }

    #[test]
    fn what_reads_goes_along_or_keeps_what_it_reads() {
        let catalog = catalog(&[("v", &["t"]), ("w", &["v"]), ("apart", &[])]);
        let restricted = |names: &[&str]| {
            let drop = drop_of(RelationKind::View, names, DropBehavior::Restrict);
            catalog.drop_relations(&drop)
        };
        assert_eq!(
            restricted(&["v"]).unwrap_err().state(),
            SqlState::DEPENDENT_OBJECTS
        );
        assert_eq!(names(&restricted(&["v", "w", "v"]).unwrap().0), ["apart", "t"]);
        assert_eq!(names(&restricted(&["w"]).unwrap().0), ["apart", "t", "v"]);
        let all = drop_of(RelationKind::Table, &["t"], DropBehavior::Cascade);
        let (next, ids) = catalog.drop_relations(&all).unwrap();
        assert_eq!((names(&next), ids.len()), (vec!["apart"], 3));
        assert_eq!(names(&catalog), ["apart", "t", "v", "w"]);
    }

    #[test]
    fn the_kind_of_what_is_dropped_counts() {
        let catalog = catalog(&[("v", &["t"])]);
        for (kind, name, message) in [
            (RelationKind::Table, "v", "\"v\" is not a table"),
            (RelationKind::View, "t", "\"t\" is not a view"),
            (RelationKind::View, "nope", "view \"nope\" does not exist"),
        ] {
            let drop = drop_of(kind, &[name], DropBehavior::Cascade);
            let error = catalog.drop_relations(&drop).unwrap_err();
            assert_eq!(error.message(), message);
            let if_exists = DropRelations {
                if_exists: true,
                ..drop
            };
            let left = catalog.drop_relations(&if_exists).map(|(c, _)| c.version());
            assert_eq!(left.ok(), (name == "nope").then(|| catalog.version()));
        }
    }

    #[test]
    fn a_view_is_replaced_under_its_identity_and_never_reads_itself() {
        let catalog = catalog(&[("v", &["t"]), ("w", &["v"])]);
        let id = catalog.relation("v").unwrap().id();
        let replace = |name: &str, reads: &[&str]| {
            catalog.create_view(view(&catalog, name, reads, ExistingView::Replace))
        };
        let next = replace("v", &[]).unwrap();
        assert_eq!(next.relation("v").unwrap().id(), id);
        assert!(next.drop_relations(&DropRelations::table("t")).is_ok());
        for reads in [["v"], ["w"]] {
            let error = replace("v", &reads).unwrap_err();
            assert_eq!(error.state(), SqlState::INVALID_OBJECT_DEFINITION);
        }
        assert_eq!(
            replace("t", &[]).unwrap_err().state(),
            SqlState::WRONG_OBJECT_TYPE
        );
        let again = view(&catalog, "t", &[], ExistingView::Refuse);
        assert_eq!(
            catalog.create_view(again).unwrap_err().state(),
            SqlState::DUPLICATE_TABLE
        );
        let kept = view(&catalog, "v", &[], ExistingView::Keep);
        assert_eq!(catalog.create_view(kept).unwrap().version(), catalog.version());
    }

    #[test]
    fn views_come_behind_what_they_read() {
        let catalog = catalog(&[("v", &["t"]), ("w", &["t"]), ("x", &["w", "v"])]);
        let v_reads_w = view(&catalog, "v", &["w", "t"], ExistingView::Replace);
        let catalog = catalog.create_view(v_reads_w).unwrap();
        let views = catalog.views_by_reading();
        let names: Vec<&str> = views.iter().map(|v| v.name.as_str()).collect();
        assert_eq!(names, ["w", "v", "x"]);
    }

    #[test]
    fn a_replaced_view_keeps_its_columns() {
        let catalog = catalog(&[("v", &["t"])]);
        let with = |columns: Schema| {
            let new = view(&catalog, "v", &["t"], ExistingView::Replace);
            catalog.create_view(NewView {
                schema: columns,
                ..new
            })
        };
        assert!(with(schema(&["a", "b"])).is_ok());
        let text = Schema::new(vec![ColumnDef::new("a", LogicalType::Text)]);
        for (columns, message) in [
            (schema(&[]), "cannot drop columns from view"),
            (schema(&["b"]), "cannot change name of view column \"a\" to \"b\""),
            (
                text,
                "cannot change data type of view column \"a\" from integer to text",
            ),
        ] {
            let error = with(columns).unwrap_err();
            assert_eq!(error.state(), SqlState::INVALID_TABLE_DEFINITION);
            assert_eq!(error.message(), message);
        }
    }
}
