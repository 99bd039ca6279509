//! Dependencies that DROP observes: an object can be dropped only together with the objects that depend on it.
//!
//! The dependencies are computed from the entries. They are those that PostgreSQL calls normal ones; keys, checks and
//! indexes of a table are part of its entry and go with it. A foreign key depends on its parent: on the table, the
//! columns, and the unique index.

use crate::objects::Object;
use crate::sequence_entry::not_a_sequence;
use crate::sequence_text::sequences_of_default;
use crate::view::{not_a_table, not_a_view, not_materialized};
use crate::{Catalog, QualifiedName, Relation, SearchPath, TableEntry, identifier};
use frazil_types::{ColumnNumber, Error, ObjectId, Result, SqlState};
use std::cmp::Reverse;
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
    /// A materialized view.
    MaterializedView,
    /// A sequence.
    Sequence,
}

impl RelationKind {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            RelationKind::Table => "table",
            RelationKind::View => "view",
            RelationKind::MaterializedView => "materialized view",
            RelationKind::Sequence => "sequence",
        }
    }
}

/// The fate of objects that depend on one that is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropBehavior {
    /// They keep it from being dropped.
    Restrict,
    /// They are dropped, too.
    Cascade,
}

/// DROP TABLE, DROP [MATERIALIZED] VIEW or DROP SEQUENCE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropRelations {
    /// What is dropped.
    pub kind: RelationKind,
    /// The names.
    pub names: Vec<QualifiedName>,
    /// IF EXISTS.
    pub if_exists: bool,
    /// CASCADE or RESTRICT.
    pub behavior: DropBehavior,
    /// The path by which errors name objects.
    pub path: SearchPath,
}

impl DropRelations {
    /// DROP TABLE of one table.
    pub fn table(name: impl Into<QualifiedName>) -> DropRelations {
        DropRelations {
            kind: RelationKind::Table,
            names: vec![name.into()],
            if_exists: false,
            behavior: DropBehavior::Restrict,
            path: SearchPath::default(),
        }
    }
}

/// An object, or a part of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part {
    /// The object.
    pub id: ObjectId,
    /// The part of it.
    pub within: Within,
}

/// A part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Within {
    /// All of it.
    Whole,
    /// A column of a table.
    Column(ColumnNumber),
    /// The default of a column.
    Default(ColumnNumber),
    /// A constraint of a table.
    Constraint(ObjectId),
}

impl Part {
    /// A whole object.
    pub fn whole(id: ObjectId) -> Part {
        Part {
            id,
            within: Within::Whole,
        }
    }
}

/// A part of the catalog, and the part through which it depends on what is dropped.
#[derive(Clone, Copy)]
struct Dependent {
    part: Part,
    on: Part,
}

/// The dependents of each part, those last that PostgreSQL looks at first: the youngest object, of a table its first
/// column.
type Dependents = BTreeMap<Part, Vec<Part>>;

/// DROP of some parts.
pub(crate) struct Dropping<'a> {
    /// The parts that the statement names, each once.
    pub named: Vec<Part>,
    /// CASCADE or RESTRICT.
    pub behavior: DropBehavior,
    /// The path by which errors name objects.
    pub path: &'a SearchPath,
}

impl Catalog {
    /// The next version without some relations, and the ids of those; without any, this version.
    ///
    /// 42P01 for a name that there is not, 42809 for one of the other kind. With RESTRICT 2BP01 if a view reads one of
    /// them and is not dropped with it.
    pub fn drop_relations(&self, drop: &DropRelations) -> Result<(Catalog, Vec<ObjectId>)> {
        let mut named: Vec<Part> = Vec::new();
        for name in &drop.names {
            let Some(id) = self.named(name, drop)? else {
                continue;
            };
            let part = Part::whole(id);
            if !named.contains(&part) {
                named.push(part);
            }
        }
        if named.is_empty() {
            return Ok((self.clone(), Vec::new()));
        }
        let gone = self.parts_to_drop(&Dropping {
            named,
            behavior: drop.behavior,
            path: &drop.path,
        })?;
        Ok(self.without(&gone))
    }

    /// The next version without some objects and defaults, and the ids of the tables and views among the objects.
    pub(crate) fn without(&self, gone: &[Part]) -> (Catalog, Vec<ObjectId>) {
        let mut next = self.next();
        let is_relation = |part: &&Part| part.within == Within::Whole && self.relation_of(part.id).is_some();
        let relations = gone.iter().filter(is_relation).map(|part| part.id).collect();
        // Schemas last: they must be empty.
        let is_schema = |part: &Part| self.schema_of(part.id).is_some();
        let (schemas, others): (Vec<Part>, Vec<Part>) = gone.iter().partition(|part| is_schema(part));
        next.remove_parts(others.into_iter().chain(schemas));
        (next, relations)
    }

    /// Removes objects, defaults of columns, and constraints of tables that stay. A column stays.
    pub(crate) fn remove_parts(&mut self, parts: impl Iterator<Item = Part>) {
        for part in parts {
            if part.within == Within::Whole {
                self.objects.remove(part.id);
                continue;
            }
            let Some(table) = self.table_by_id(part.id) else {
                continue;
            };
            let mut entry = TableEntry::clone(table);
            match part.within {
                Within::Default(column) => entry.remove_default(column),
                Within::Constraint(id) => entry.constraints.retain(|constraint| constraint.id != id),
                Within::Whole | Within::Column(_) => continue,
            }
            self.put(entry);
        }
    }

    /// Describes what CASCADE drops with some objects, in PostgreSQL's order: `view v`, `constraint c on table t`.
    /// `readers`: views that read columns which go with the first object. Sequences that columns own are left out.
    pub fn cascade(&self, objects: &[ObjectId], readers: &[ObjectId], path: &SearchPath) -> Vec<String> {
        let named: Vec<Part> = objects.iter().copied().map(Part::whole).collect();
        let first = named.first().map(|first| (*first, readers));
        self.cascade_of_parts(&named, first.as_slice(), path)
    }

    /// Describes what CASCADE drops with some parts, as [`Catalog::cascade`] does. `readers`: views that need a part.
    pub(crate) fn cascade_of_parts(
        &self,
        gone: &[Part],
        readers: &[(Part, &[ObjectId])],
        path: &SearchPath,
    ) -> Vec<String> {
        let mut known = self.dependencies();
        for (part, readers) in readers {
            self.add_readers(*part, readers, &mut known);
        }
        let dependents = self.dependents(gone, known);
        let shown = self.without_owned(&dependents).into_iter();
        shown
            .map(|dependent| self.describe(dependent.part, path))
            .collect()
    }

    /// Everything that goes with some parts, themselves among it. 2BP01 with RESTRICT if there is more than what is
    /// named, and with CASCADE if a column would go, whose table stays: it must be dropped before.
    pub(crate) fn parts_to_drop(&self, dropping: &Dropping<'_>) -> Result<Vec<Part>> {
        self.refuse_identities(dropping)?;
        let dependents = self.dependents(&dropping.named, self.dependencies());
        let stays = |dependent: &Dependent| matches!(dependent.part.within, Within::Column(_));
        let shown = self.without_owned(&dependents);
        let is_refused = match dropping.behavior {
            DropBehavior::Restrict => !shown.is_empty(),
            DropBehavior::Cascade => dependents.iter().any(stays),
        };
        if is_refused {
            return Err(self.still_needed(dropping, &shown));
        }
        let more = dependents.iter().map(|dependent| dependent.part);
        Ok(dropping.named.iter().copied().chain(more).collect())
    }

    /// Dependents without the sequences that columns own: these go unasked with their columns.
    fn without_owned(&self, dependents: &[Dependent]) -> Vec<Dependent> {
        let is_owned = |part: Part| self.sequence_of(part.id).is_some_and(|s| s.owner.is_some());
        dependents.iter().copied().filter(|d| !is_owned(d.part)).collect()
    }

    /// 2BP01 for a sequence that an identity column requires, whose table stays.
    fn refuse_identities(&self, dropping: &Dropping<'_>) -> Result<()> {
        for part in &dropping.named {
            let Some(sequence) = self.sequence_of(part.id) else {
                continue;
            };
            let Some(owner) = sequence.owner.filter(|owner| owner.is_identity) else {
                continue;
            };
            let column = self.describe(
                Part {
                    id: owner.table,
                    within: Within::Column(owner.column),
                },
                dropping.path,
            );
            let sequence = self.describe(*part, dropping.path);
            let message = format!("cannot drop {sequence} because {column} requires it");
            return Err(Error::new(SqlState::DEPENDENT_OBJECTS, message)
                .with_hint(format!("You can drop {column} instead.")));
        }
        Ok(())
    }

    /// The parts that go with a column or constraint of a table, and with the indexes that go with it: the views that
    /// need it (`readers`), sequences that the column owns, all that need these, and foreign keys. 2BP01 if there is
    /// anything but sequences and it may not go.
    pub(crate) fn dropped_with(
        &self,
        part: Part,
        indexes: &[ObjectId],
        readers: &[ObjectId],
        (behavior, path): (DropBehavior, &SearchPath),
    ) -> Result<Vec<Part>> {
        let mut known = self.dependencies();
        self.add_readers(part, readers, &mut known);
        let mut gone = vec![part];
        gone.extend(indexes.iter().map(|index| Part::whole(*index)));
        let dependents = self.dependents(&gone, known);
        let shown = self.without_owned(&dependents);
        if behavior == DropBehavior::Restrict && !shown.is_empty() {
            let named = vec![part];
            let dropping = Dropping {
                named,
                behavior,
                path,
            };
            return Err(self.still_needed(&dropping, &shown));
        }
        Ok(dependents.iter().map(|dependent| dependent.part).collect())
    }

    /// Adds what depends on a part beside the dependencies of the catalog: views, and sequences that a column owns.
    fn add_readers(&self, part: Part, readers: &[ObjectId], known: &mut Dependents) {
        let owned: Vec<ObjectId> = match part.within {
            Within::Column(column) => self.owned(part.id, Some(column)).map(|s| s.id).collect(),
            Within::Whole | Within::Default(_) | Within::Constraint(_) => Vec::new(),
        };
        let of_part = known.entry(part).or_default();
        of_part.extend(readers.iter().copied().chain(owned).map(Part::whole));
        *of_part = in_order(std::mem::take(of_part));
    }

    /// The foreign keys that go with indexes. 2BP01 if there are any and they may not go.
    pub(crate) fn dropped_with_indexes(
        &self,
        indexes: &[ObjectId],
        behavior: DropBehavior,
        path: &SearchPath,
    ) -> Result<Vec<Part>> {
        let named: Vec<Part> = indexes.iter().map(|index| Part::whole(*index)).collect();
        let dependents = self.dependents(&named, self.dependencies());
        if behavior == DropBehavior::Restrict && !dependents.is_empty() {
            let dropping = Dropping {
                named,
                behavior,
                path,
            };
            return Err(self.still_needed(&dropping, &dependents));
        }
        Ok(dependents.iter().map(|dependent| dependent.part).collect())
    }

    /// The relation of a name that is to be dropped; `None` if it need not be there.
    fn named(&self, name: &QualifiedName, drop: &DropRelations) -> Result<Option<ObjectId>> {
        let relation = self.relation(name).map(|r| (r.id(), r.kind()));
        let sequence = self.sequence(name).map(|s| (s.id, RelationKind::Sequence));
        let hint = match relation.or(sequence) {
            Some((id, kind)) if kind == drop.kind => return Ok(Some(id)),
            Some((_, RelationKind::Table)) => "Use DROP TABLE to remove a table.",
            Some((_, RelationKind::View)) => "Use DROP VIEW to remove a view.",
            Some((_, RelationKind::MaterializedView)) => {
                "Use DROP MATERIALIZED VIEW to remove a materialized view."
            }
            Some((_, RelationKind::Sequence)) => "Use DROP SEQUENCE to remove a sequence.",
            None if self.index(name).is_some() => "Use DROP INDEX to remove an index.",
            None if drop.if_exists => return Ok(None),
            None => return Err(self.missing(drop.kind, name)),
        };
        let error = match drop.kind {
            RelationKind::Table => not_a_table(&name.name),
            RelationKind::View => not_a_view(&name.name),
            RelationKind::MaterializedView => not_materialized(&name.name),
            RelationKind::Sequence => not_a_sequence(&name.name),
        };
        Err(error.with_hint(hint))
    }

    /// Each foreign key, with each part that it depends on.
    fn parents_of_keys(&self) -> impl Iterator<Item = (Part, Part)> {
        let keys = self
            .tables()
            .flat_map(|table| table.foreign_keys().map(move |key| (table.id, key)));
        keys.flat_map(|(id, (constraint, key))| {
            let within = Within::Constraint(constraint.id);
            let parent = [key.parent, key.index].map(Part::whole).into_iter();
            let columns = key.parent_columns.iter().map(|column| Part {
                id: key.parent,
                within: Within::Column(*column),
            });
            parent.chain(columns).map(move |on| (Part { id, within }, on))
        })
    }

    /// All dependencies, by what is depended on.
    fn dependencies(&self) -> Dependents {
        let mut found: BTreeMap<Part, BTreeSet<Part>> = BTreeMap::new();
        let mut add_to = |part: Part, on: Part| {
            found.entry(on).or_default().insert(part);
        };
        self.parents_of_keys().for_each(|(part, on)| add_to(part, on));
        let generated = self.tables().flat_map(|table| sources_of_generated(table));
        generated.for_each(|(part, on)| add_to(part, on));
        let mut add = |part: Part, on: ObjectId| add_to(part, Part::whole(on));
        for relation in self.relations() {
            let whole = Part::whole(relation.id());
            add(whole, relation.namespace());
            match relation {
                Relation::Table(table) => {
                    let read = table.materialized.iter().flat_map(|m| &m.reads);
                    read.filter_map(|r| r.id).for_each(|id| add(whole, id));
                    for column in &table.schema.columns {
                        let part = Part {
                            id: table.id,
                            within: Within::Column(column.number),
                        };
                        let enumeration = column.ty.enumeration_within().map(|e| ObjectId(e.id()));
                        column
                            .domain_id()
                            .or(enumeration)
                            .into_iter()
                            .for_each(|ty| add(part, ty));
                        let part = Part {
                            id: table.id,
                            within: Within::Default(column.number),
                        };
                        let used = column.default.as_ref().map(sequences_of_default);
                        used.into_iter().flatten().for_each(|id| add(part, id));
                    }
                }
                Relation::View(view) => {
                    let columns = view.schema.columns.iter();
                    let types = columns.filter_map(|c| c.ty.enumeration_within());
                    types.for_each(|e| add(whole, ObjectId(e.id())));
                    view.reads
                        .iter()
                        .filter_map(|r| r.id)
                        .for_each(|id| add(whole, id));
                }
            }
        }
        for sequence in self.sequences() {
            // A sequence that a column owns is in the schema of its table.
            let on = sequence.owner.map_or(sequence.namespace, |owner| owner.table);
            add(Part::whole(sequence.id), on);
        }
        for entry in self.types() {
            add(Part::whole(entry.id), entry.namespace);
            let base = entry
                .as_domain()
                .and_then(|domain| domain.base.enumeration_within());
            base.into_iter()
                .for_each(|e| add(Part::whole(entry.id), ObjectId(e.id())));
        }
        let sorted = found.into_iter();
        sorted
            .map(|(on, parts)| (on, in_order(parts.into_iter().collect())))
            .collect()
    }

    /// The parts that depend on some, directly or through others, in PostgreSQL's order: a part stands behind what it
    /// depends on, and the older one first of two that depend on the same. A column does not count whose table goes.
    fn dependents(&self, gone: &[Part], known: Dependents) -> Vec<Dependent> {
        let mut seen: BTreeSet<Part> = gone.iter().copied().collect();
        let mut found = Vec::new();
        for part in gone {
            collect(*part, &known, &mut seen, &mut found);
        }
        found.reverse();
        found.retain(|d: &Dependent| match d.part.within {
            Within::Whole => true,
            Within::Column(_) | Within::Constraint(_) => !seen.contains(&Part::whole(d.part.id)),
            Within::Default(column) => {
                let within = Within::Column(column);
                !seen.contains(&Part::whole(d.part.id)) && !seen.contains(&Part { within, ..d.part })
            }
        });
        found
    }

    /// Kind and name of a part, as messages have them.
    fn describe(&self, part: Part, path: &SearchPath) -> String {
        let whole = match self.objects.get(part.id) {
            Some(Object::Schema(schema)) => format!("schema {}", identifier(&schema.name)),
            Some(Object::Relation(relation)) => {
                let name = self.shown_relation(relation.namespace(), relation.name(), path);
                format!("{} {name}", relation.kind().name())
            }
            Some(Object::Type(entry)) => {
                format!("type {}", self.shown_type(entry.namespace, &entry.name, path))
            }
            Some(Object::Index(index)) => format!("index {}", identifier(&index.name)),
            Some(Object::Sequence(sequence)) => {
                let name = self.shown_relation(sequence.namespace, &sequence.name, path);
                format!("sequence {name}")
            }
            None => format!("object {}", part.id.0),
        };
        let table = self.table_by_id(part.id);
        let columns = table.into_iter().flat_map(|table| &table.schema.columns);
        match part.within {
            Within::Whole => whole,
            Within::Column(number) | Within::Default(number) => {
                let column = columns.into_iter().find(|column| column.number == number);
                let column = identifier(column.map_or("", |column| &column.name));
                match part.within {
                    Within::Default(_) => format!("default value for column {column} of {whole}"),
                    _ => format!("column {column} of {whole}"),
                }
            }
            Within::Constraint(id) => {
                let constraint = table.and_then(|table| table.constraints.iter().find(|c| c.id == id));
                format!(
                    "constraint {} on {whole}",
                    identifier(constraint.map_or("", |c| &c.name))
                )
            }
        }
    }

    /// 2BP01.
    fn still_needed(&self, dropping: &Dropping<'_>, dependents: &[Dependent]) -> Error {
        let describe = |part: Part| self.describe(part, dropping.path);
        let message = match dropping.named[..] {
            [one] => format!("cannot drop {} because other objects depend on it", describe(one)),
            _ => "cannot drop desired object(s) because other objects depend on them".to_string(),
        };
        let lines = dependents.iter().take(LISTED);
        let mut lines: Vec<String> = lines
            .map(|d| format!("{} depends on {}", describe(d.part), describe(d.on)))
            .collect();
        if dependents.len() > LISTED {
            lines.push(format!("and {} other objects", dependents.len() - LISTED));
        }
        Error::new(SqlState::DEPENDENT_OBJECTS, message)
            .with_detail(lines.join("\n"))
            .with_hint("Use DROP ... CASCADE to drop the dependent objects too.")
    }
}

/// Each generated column of a table, with each column that its expression reads.
fn sources_of_generated(table: &TableEntry) -> impl Iterator<Item = (Part, Part)> {
    let columns = &table.schema.columns;
    let part = |number: ColumnNumber| Part {
        id: table.id,
        within: Within::Column(number),
    };
    columns.iter().flat_map(move |column| {
        let reads = column.generated_reads().unwrap_or_default();
        reads
            .iter()
            .map(move |&read| (part(column.number), part(columns[read].number)))
    })
}

/// Dependents of one part in the order of [`Dependents`].
fn in_order(mut parts: Vec<Part>) -> Vec<Part> {
    let age = |part: &Part| match part.within {
        Within::Whole | Within::Column(_) | Within::Default(_) => part.id,
        Within::Constraint(id) => id,
    };
    parts.sort_by_key(|part| (age(part), part.id, Reverse(part.within)));
    parts
}

/// A part on the way down, and how many of its dependents are still to be visited.
struct Visit {
    part: Part,
    on: Option<Part>,
    left: usize,
}

/// Adds the dependents of `from` that were not seen, each behind its own dependents.
fn collect(from: Part, known: &Dependents, seen: &mut BTreeSet<Part>, found: &mut Vec<Dependent>) {
    let visit = |part: Part, on| Visit {
        part,
        on,
        left: known.get(&part).map_or(0, Vec::len),
    };
    let mut path = vec![visit(from, None)];
    while let Some(last) = path.last_mut() {
        let part = last.part;
        if last.left == 0 {
            if let Some(on) = last.on {
                found.push(Dependent { part, on });
            }
            path.pop();
            continue;
        }
        last.left -= 1;
        let dependent = known[&part][last.left];
        let is_new = !seen.contains(&Part::whole(dependent.id)) && seen.insert(dependent);
        if is_new {
            path.push(visit(dependent, Some(part)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ExistingView, NewView, Reading, TableOptions, WrittenName};
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
            .create_table(&"t".into(), Arc::new(schema(&["a"])), options)
            .unwrap();
        for (name, reads) in views {
            let view = view(&catalog, name, reads, ExistingView::Refuse);
            catalog = catalog.create_view(view).unwrap();
        }
        catalog
    }

    fn view(catalog: &Catalog, name: &str, reads: &[&str], existing: ExistingView) -> NewView {
        let reads = reads.iter().map(|name| Reading {
            name: WrittenName::unqualified(*name),
            id: catalog
                .relation(&QualifiedName::in_public(*name))
                .map(Relation::id),
            columns: vec!["a".to_string()],
        });
        NewView {
            name: QualifiedName::in_public(name),
            existing,
            schema: schema(&["a"]),
            query: String::new(),
            reads: reads.collect(),
        }
    }

    fn drop_of(kind: RelationKind, names: &[&str], behavior: DropBehavior) -> DropRelations {
        DropRelations {
            kind,
            names: names.iter().map(|n| QualifiedName::in_public(*n)).collect(),
            if_exists: false,
            behavior,
            path: SearchPath::default(),
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
        let id = catalog.relation(&"v".into()).unwrap().id();
        let replace = |name: &str, reads: &[&str]| {
            catalog.create_view(view(&catalog, name, reads, ExistingView::Replace))
        };
        let next = replace("v", &[]).unwrap();
        assert_eq!(next.relation(&"v".into()).unwrap().id(), id);
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
