//! Types that statements define: enumerations, and what they have in common with [domains](crate::Domain).
//!
//! Columns have the type itself, with its labels ([`EnumType`]). When these change, every entry gets the type as it is then: so
//! whoever has a table's entry knows its labels, and rows stay as they are.

use crate::dependents::{Dropping, Part};
use crate::{
    AlterDomain, Catalog, ConstraintKind, Domain, DropBehavior, QualifiedName, Relation, SchemaEntry,
    SearchPath, TableEntry, identifier, missing_schema,
};
use frazil_types::sql_type::{EnumLabel, EnumType};
use frazil_types::{ColumnDefault, Error, LogicalType, ObjectId, Result, Schema, SqlState};
use std::sync::Arc;

/// Bytes of a label: PostgreSQL's names have no more.
const LABEL_BYTES: usize = 63;
/// The gap between two labels that stand beside each other from the beginning: so often labels come between two.
const GAP: i64 = 1 << 16;
/// Positions that the labels of CREATE TYPE take, so that there is room for others behind them.
const FIRST_POSITIONS: i64 = 1 << 30;

/// A type of a statement's own, as the catalog knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeEntry {
    /// Its identity; relations, indexes and types share the numbers.
    pub id: ObjectId,
    /// The identity of its schema.
    pub namespace: ObjectId,
    /// Its name, folded to lower case unless it was quoted.
    pub name: String,
    /// What it is.
    pub kind: TypeKind,
}

/// What a type of a statement's own is.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// An enumeration: its labels, and its name as messages show it.
    Enum(EnumType),
    /// A domain.
    Domain(Domain),
}

impl PartialEq for TypeKind {
    fn eq(&self, other: &TypeKind) -> bool {
        match (self, other) {
            // Equal types may have different labels.
            (TypeKind::Enum(a), TypeKind::Enum(b)) => a == b && a.labels() == b.labels(),
            (TypeKind::Domain(a), TypeKind::Domain(b)) => a == b,
            (TypeKind::Enum(_), TypeKind::Domain(_)) | (TypeKind::Domain(_), TypeKind::Enum(_)) => false,
        }
    }
}

impl TypeEntry {
    /// An enumeration of the first schema `public` with labels in ascending order of their positions.
    pub fn enumeration(id: ObjectId, name: impl Into<String>, labels: Vec<EnumLabel>) -> TypeEntry {
        let name = name.into();
        let definition = EnumType::new(id.0, &identifier(&name), labels);
        TypeEntry {
            id,
            namespace: SchemaEntry::PUBLIC_ID,
            name,
            kind: TypeKind::Enum(definition),
        }
    }

    /// The type that columns and expressions have; of a domain its base.
    pub fn ty(&self) -> LogicalType {
        match &self.kind {
            TypeKind::Enum(e) => (*e).into(),
            TypeKind::Domain(domain) => domain.base,
        }
    }

    /// The enumeration that it is.
    pub fn as_enumeration(&self) -> Option<EnumType> {
        match self.kind {
            TypeKind::Enum(e) => Some(e),
            TypeKind::Domain(_) => None,
        }
    }

    /// The domain that it is.
    pub fn as_domain(&self) -> Option<&Domain> {
        match &self.kind {
            TypeKind::Enum(_) => None,
            TypeKind::Domain(domain) => Some(domain),
        }
    }
}

/// DROP TYPE or DROP DOMAIN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropTypes {
    /// The names.
    pub names: Vec<QualifiedName>,
    /// Whether they must be domains' (42809).
    pub only_domains: bool,
    /// IF EXISTS.
    pub if_exists: bool,
    /// CASCADE or RESTRICT.
    pub behavior: DropBehavior,
    /// The path by which errors name objects.
    pub path: SearchPath,
}

/// Where ALTER TYPE … ADD VALUE puts a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelPlace {
    /// Behind all others.
    Last,
    /// Before this one.
    Before(String),
    /// Behind this one.
    After(String),
}

/// An action of ALTER TYPE or ALTER DOMAIN.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterType {
    /// ADD VALUE.
    AddValue {
        /// The label.
        label: String,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// Where it stands.
        place: LabelPlace,
    },
    /// RENAME VALUE.
    RenameValue {
        /// The label.
        from: String,
        /// What it is called from now on.
        to: String,
    },
    /// RENAME TO.
    Rename {
        /// The new name.
        name: String,
    },
    /// SET SCHEMA.
    SetSchema {
        /// The name of the schema.
        schema: String,
    },
    /// An action of ALTER DOMAIN that types have not.
    Domain(AlterDomain),
}

impl Catalog {
    /// The types that statements defined, by schema and name.
    pub fn types(&self) -> impl Iterator<Item = &Arc<TypeEntry>> {
        self.objects.types()
    }

    /// A type by its name, if there is one.
    pub fn user_type(&self, name: &QualifiedName) -> Option<&Arc<TypeEntry>> {
        self.objects.user_type(name)
    }

    /// A type by its identity, if there is one.
    pub fn user_type_of(&self, id: ObjectId) -> Option<&Arc<TypeEntry>> {
        self.objects.user_type_of(id)
    }

    /// The next version, with one more enumeration. 3F000 without the schema, 42710 if the
    /// name is taken by a type or relation, 22023 for a label that stands
    /// twice (23505), is too long (42602), or if there are too many (54000).
    pub fn create_type(&self, name: &QualifiedName, labels: &[String]) -> Result<Catalog> {
        let namespace = self.namespace(&name.schema)?;
        crate::qualified_name::refuse_temporary_type(namespace)?;
        self.refuse_type_name(name)?;
        for (at, label) in labels.iter().enumerate() {
            check_label(label)?;
            if labels[..at].contains(label) {
                let message = format!("enum label \"{label}\" is given more than once");
                return Err(Error::new(SqlState::UNIQUE_VIOLATION, message));
            }
        }
        let count = labels.len() as i64;
        if count > FIRST_POSITIONS {
            return Err(no_room(&name.name));
        }
        let gap = GAP.min(FIRST_POSITIONS / count.max(1));
        let labels = labels.iter().zip(1..).map(|(text, number)| EnumLabel {
            // At most FIRST_POSITIONS.
            position: (number * gap) as i32,
            text: text.clone(),
        });
        let mut next = self.next();
        let entry = TypeEntry {
            namespace,
            ..TypeEntry::enumeration(next.take_id(namespace), &name.name, labels.collect())
        };
        next.objects.put_type(Arc::new(entry));
        Ok(next)
    }

    /// The next version, in which an action was done to a type, and the tables whose columns have it; this version and none where
    /// there is nothing to do.
    ///
    /// 22023 for an unknown label, 42710 for a label or name that is taken, 54000 where no label has room, 0A000
    /// for a name that the text of a view, a check or a default has.
    pub fn alter_type(&self, id: ObjectId, action: &AlterType) -> Result<(Catalog, Vec<Arc<TableEntry>>)> {
        let missing = || Error::internal(format!("type {} is not in the catalog", id.0));
        let entry = self.user_type_of(id).ok_or_else(missing)?;
        let Some(definition) = entry.as_enumeration() else {
            return self.alter_domain(entry, action);
        };
        let (mut new_name, mut labels) = (entry.name.clone(), definition.labels().to_vec());
        match action {
            AlterType::AddValue {
                label,
                if_not_exists,
                place,
            } => {
                check_label(label)?;
                if definition.position(label).is_some() {
                    return match if_not_exists {
                        true => Ok((self.clone(), Vec::new())),
                        false => Err(label_taken(label)),
                    };
                }
                add_label(&mut labels, &entry.name, label, place)?;
            }
            AlterType::RenameValue { from, to } => {
                check_label(to)?;
                let label = labels.iter_mut().find(|l| l.text == *from);
                let label = label.ok_or_else(|| missing_label(from))?;
                if definition.position(to).is_some() {
                    return Err(label_taken(to));
                }
                self.refuse_texts(&format!("'{}'", from.replace('\'', "''")))?;
                label.text.clone_from(to);
            }
            AlterType::Rename { name } => {
                self.refuse_type_name(&self.qualified(entry.namespace, name))?;
                self.refuse_texts(&identifier(&entry.name))?;
                new_name.clone_from(name);
            }
            AlterType::SetSchema { schema } => return self.move_type(entry, schema),
            AlterType::Domain(_) => {
                let message = format!("{} is not a domain", identifier(&entry.name));
                return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message));
            }
        }
        let altered = TypeEntry {
            namespace: entry.namespace,
            ..TypeEntry::enumeration(entry.id, new_name, labels)
        };
        let mut next = self.next();
        let changed = altered
            .as_enumeration()
            .map(|definition| next.redefine(definition));
        next.objects.put_type(Arc::new(altered));
        Ok((next, changed.unwrap_or_default()))
    }

    /// Puts a type into another schema. 3F000 without the schema, 42710 if the name is taken there, 0A000 if a text
    /// names the type.
    fn move_type(&self, entry: &TypeEntry, schema: &str) -> Result<(Catalog, Vec<Arc<TableEntry>>)> {
        let namespace = self.namespace_to_move(entry.namespace, schema)?;
        if namespace == entry.namespace {
            return Ok((self.clone(), Vec::new()));
        }
        self.refuse_type_name(&QualifiedName::new(schema, &entry.name))?;
        self.refuse_texts(&identifier(&entry.name))?;
        let mut next = self.next();
        next.objects.put_type(Arc::new(TypeEntry {
            namespace,
            ..entry.clone()
        }));
        Ok((next, Vec::new()))
    }

    /// Does an action of ALTER DOMAIN. 42809 for labels, which a domain has not.
    fn alter_domain(&self, entry: &TypeEntry, action: &AlterType) -> Result<(Catalog, Vec<Arc<TableEntry>>)> {
        let name = match action {
            AlterType::Rename { name } => name,
            AlterType::SetSchema { schema } => return self.move_type(entry, schema),
            AlterType::Domain(action) => return self.change_domain(entry, action),
            AlterType::AddValue { .. } | AlterType::RenameValue { .. } => {
                let message = format!("{} is not an enum", identifier(&entry.name));
                return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message));
            }
        };
        self.refuse_type_name(&self.qualified(entry.namespace, name))?;
        self.refuse_texts(&identifier(&entry.name))?;
        let mut next = self.next();
        let renamed = TypeEntry {
            name: name.clone(),
            ..entry.clone()
        };
        next.objects.put_type(Arc::new(renamed));
        Ok((next, Vec::new()))
    }

    /// The next version without some types; this version if there is nothing to do.
    ///
    /// 42704 for a name that there is not, unless it need not be there; 42809 for one that is not a domain's where it
    /// must be; 2BP01 while a column of a table has one of them, and with RESTRICT while a view or domain needs one,
    /// which CASCADE drops.
    pub fn drop_types(&self, drop: &DropTypes) -> Result<Catalog> {
        let mut named: Vec<Part> = Vec::new();
        for name in &drop.names {
            match self.user_type(name) {
                Some(entry) if drop.only_domains && entry.as_domain().is_none() => {
                    let message = format!("\"{}\" is not a domain", name.name);
                    return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message)
                        .with_hint("Use DROP TYPE to remove a type."));
                }
                Some(entry) if named.contains(&Part::whole(entry.id)) => {}
                Some(entry) => named.push(Part::whole(entry.id)),
                None if drop.if_exists => {}
                None if self.schema(&name.schema).is_none() => return Err(missing_schema(&name.schema)),
                None => return Err(missing_type(&name.name)),
            }
        }
        if named.is_empty() {
            return Ok(self.clone());
        }
        let gone = self.parts_to_drop(&Dropping {
            named,
            behavior: drop.behavior,
            path: &drop.path,
        })?;
        Ok(self.without(&gone).0)
    }

    /// Gives all entries a definition in place of another of the same type. Returns the tables that have it.
    fn redefine(&mut self, definition: EnumType) -> Vec<Arc<TableEntry>> {
        let has = |ty: LogicalType| ty.enumeration_within() == Some(definition);
        let has_column = |schema: &Schema| schema.columns.iter().any(|c| has(c.ty));
        let has_hidden = |table: &TableEntry| table.hidden.iter().any(|c| has(c.ty));
        let renew = |old| if old == definition { definition } else { old };
        let mut changed = Vec::new();
        let with_it = |relation: &&Relation| match relation {
            Relation::Table(table) => has_column(&table.schema) || has_hidden(table),
            Relation::View(view) => has_column(&view.schema),
        };
        let relations: Vec<Relation> = self.relations().filter(with_it).cloned().collect();
        for mut relation in relations {
            match &mut relation {
                Relation::Table(table) => {
                    let entry = Arc::make_mut(table);
                    set_definitions(&mut entry.schema, &renew);
                    for column in &mut entry.hidden {
                        column.ty = column.ty.with_definition(renew);
                    }
                    changed.push(table.clone());
                }
                Relation::View(view) => set_definitions(&mut Arc::make_mut(view).schema, &renew),
            }
            self.objects.put_relation(relation);
        }
        let with_it = |entry: &&Arc<TypeEntry>| entry.as_domain().is_some_and(|domain| has(domain.base));
        let domains: Vec<Arc<TypeEntry>> = self.types().filter(with_it).cloned().collect();
        for mut entry in domains {
            if let TypeKind::Domain(domain) = &mut Arc::make_mut(&mut entry).kind {
                domain.base = domain.base.with_definition(|_| definition);
            }
            self.objects.put_type(entry);
        }
        changed
    }

    /// 42710 for a name that a type has, or a relation, whose rows are a type of its name.
    pub(crate) fn refuse_type_name(&self, name: &QualifiedName) -> Result<()> {
        if self.user_type(name).is_none() && self.relation(name).is_none() {
            return Ok(());
        }
        Err(type_taken(&name.name))
    }

    /// 0A000 if a view, check or default has a word in its text: it means what has that name now.
    pub(crate) fn refuse_texts(&self, word: &str) -> Result<()> {
        let named = |text: &str| has_word(text, word);
        for relation in self.relations() {
            let is_named = match relation {
                Relation::View(view) => named(&view.query),
                Relation::Table(table) => texts(table).any(named),
            };
            if is_named {
                let (kind, name) = (relation.kind().name(), identifier(relation.name()));
                return Err(named_by(word, kind, &name));
            }
        }
        for (entry, domain) in self.domains() {
            let default = domain.default.as_ref().and_then(ColumnDefault::expression);
            let mut texts = domain.checks.iter().map(|c| c.expression.as_str()).chain(default);
            if texts.any(named) {
                return Err(named_by(word, "domain", &identifier(&entry.name)));
            }
        }
        Ok(())
    }
}

/// 0A000.
fn named_by(word: &str, kind: &str, name: &str) -> Error {
    let message = format!("renaming {word}, which the definition of {kind} {name} uses");
    Error::unsupported(message).with_hint("drop the object that uses it, rename, and create the object again")
}

/// The types of columns with other definitions.
fn set_definitions(schema: &mut Arc<Schema>, definition: &dyn Fn(EnumType) -> EnumType) {
    if schema.columns.iter().any(|c| c.ty.enumeration_within().is_some()) {
        for column in &mut Arc::make_mut(schema).columns {
            column.ty = column.ty.with_definition(definition);
        }
    }
}

/// The texts of a table's checks and defaults.
fn texts(table: &TableEntry) -> impl Iterator<Item = &str> {
    let checks = table.constraints.iter().filter_map(|c| match &c.kind {
        ConstraintKind::Check { expression, .. } => Some(expression.as_str()),
        ConstraintKind::PrimaryKey { .. } | ConstraintKind::Unique { .. } | ConstraintKind::ForeignKey(_) => {
            None
        }
    });
    let defaults = table
        .stored_columns()
        .filter_map(|c| c.default.as_ref().and_then(ColumnDefault::expression));
    checks.chain(defaults)
}

/// Puts a label among others. 22023 for an unknown neighbour, 54000 if there is no number between its neighbours.
fn add_label(labels: &mut Vec<EnumLabel>, name: &str, text: &str, place: &LabelPlace) -> Result<()> {
    let at = |label: &str| {
        let at = labels.iter().position(|l| l.text == label);
        at.ok_or_else(|| missing_label(label))
    };
    let at = match place {
        LabelPlace::Last => labels.len(),
        LabelPlace::Before(label) => at(label)?,
        LabelPlace::After(label) => at(label)? + 1,
    };
    let position = |at: usize| labels.get(at).map(|l| i64::from(l.position));
    let before = at.checked_sub(1).and_then(position);
    let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
    let between = match (before, position(at)) {
        (None, None) => GAP,
        (Some(before), None) => (before + GAP).min(before + (most - before + 1) / 2),
        (None, Some(after)) => (after - GAP).max(after - (after - least + 1) / 2),
        (Some(before), Some(after)) => before + (after - before) / 2,
    };
    if Some(between) == before || Some(between) == position(at) {
        return Err(no_room(name));
    }
    let label = EnumLabel {
        // Between two that are, or within the bounds.
        position: between as i32,
        text: text.to_string(),
    };
    labels.insert(at, label);
    Ok(())
}

/// True if a word stands in a text that is no part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        word.starts_with(['\'', '"']) || !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

fn check_label(label: &str) -> Result<()> {
    if (1..=LABEL_BYTES).contains(&label.len()) {
        return Ok(());
    }
    let message = format!("invalid enum label \"{label}\"");
    let detail = format!("Labels must be 1 to {LABEL_BYTES} bytes long.");
    Err(Error::new(SqlState::INVALID_NAME, message).with_detail(detail))
}

/// 42704.
fn missing_type(name: &str) -> Error {
    Error::new(
        SqlState::UNDEFINED_OBJECT,
        format!("type \"{name}\" does not exist"),
    )
}

/// 42710.
pub(crate) fn type_taken(name: &str) -> Error {
    Error::new(
        SqlState::DUPLICATE_OBJECT,
        format!("type \"{name}\" already exists"),
    )
}

fn label_taken(label: &str) -> Error {
    Error::new(
        SqlState::DUPLICATE_OBJECT,
        format!("enum label \"{label}\" already exists"),
    )
}

fn missing_label(label: &str) -> Error {
    let message = format!("\"{label}\" is not an existing enum label");
    Error::new(SqlState::INVALID_PARAMETER, message)
}

fn no_room(name: &str) -> Error {
    let message = format!("there is no room left for a label there in type \"{name}\"");
    Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message).with_hint(
        "create a type with all labels in order, and a column of it; cast the values by way of text",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewTable, TableOptions};
    use frazil_types::ColumnDef;

    fn texts(catalog: &Catalog) -> Vec<&'static str> {
        let labels = catalog
            .user_type(&"size".into())
            .unwrap()
            .as_enumeration()
            .unwrap()
            .labels();
        labels.iter().map(|l| l.text.as_str()).collect()
    }

    fn id_of_size(catalog: &Catalog) -> ObjectId {
        catalog.user_type(&"size".into()).unwrap().id
    }

    fn size(labels: &[&str]) -> Catalog {
        let labels: Vec<String> = labels.iter().map(|l| l.to_string()).collect();
        Catalog::new().create_type(&"size".into(), &labels).unwrap()
    }

    fn with_table(catalog: &Catalog) -> Catalog {
        let ty = catalog.user_type(&"size".into()).unwrap().ty();
        let new = NewTable {
            name: "t".into(),
            schema: Arc::new(Schema::new(vec![
                ColumnDef::new("a", ty),
                ColumnDef::new("b", ty.array().unwrap()),
                ColumnDef::new("c", LogicalType::Text),
            ])),
            options: TableOptions::default(),
            constraints: Vec::new(),
        };
        catalog.create(new).unwrap().0
    }

    fn add(catalog: &Catalog, label: &str, place: LabelPlace) -> Result<(Catalog, Vec<Arc<TableEntry>>)> {
        let action = AlterType::AddValue {
            label: label.to_string(),
            if_not_exists: false,
            place,
        };
        catalog.alter_type(id_of_size(catalog), &action)
    }

    #[test]
    fn labels_come_between_others_and_tables_know_them() {
        let old = with_table(&size(&["small", "large"]));
        let (catalog, tables) = add(&old, "tiny", LabelPlace::Before("small".into())).unwrap();
        assert_eq!(tables.len(), 1);
        let columns = &tables[0].schema.columns;
        let labels = |at: usize| columns[at].ty.enumeration_within().map(|e| e.labels().len());
        assert_eq!((labels(0), labels(1), labels(2)), (Some(3), Some(3), None));
        let (catalog, _) = add(&catalog, "medium", LabelPlace::After("small".into())).unwrap();
        let (catalog, _) = add(&catalog, "huge", LabelPlace::Last).unwrap();
        assert_eq!(texts(&catalog), ["tiny", "small", "medium", "large", "huge"]);
        assert_eq!(texts(&old), ["small", "large"]);
        assert_eq!(
            old.table(&"t".into()).unwrap().schema.columns[0]
                .ty
                .enumeration()
                .unwrap()
                .labels()
                .len(),
            2
        );
    }

    #[test]
    fn places_run_out_with_an_error() {
        let mut catalog = size(&["a", "z"]);
        let mut added = 0;
        let error = loop {
            match add(&catalog, &format!("m{added}"), LabelPlace::After("a".into())) {
                Ok((next, _)) => catalog = next,
                Err(error) => break error,
            }
            added += 1;
        };
        assert_eq!((error.state(), added), (SqlState::PROGRAM_LIMIT_EXCEEDED, 16));
        let labels = catalog
            .user_type(&"size".into())
            .unwrap()
            .as_enumeration()
            .unwrap()
            .labels();
        assert!(labels.is_sorted_by_key(|l| l.position));
    }

    #[test]
    fn names_and_labels_that_are_taken_or_missing_are_refused() {
        let catalog = with_table(&size(&["a", "b"]));
        let state = |result: Result<Catalog>| result.unwrap_err().state();
        let labels = |labels: &[&str]| labels.iter().map(|l| l.to_string()).collect::<Vec<_>>();
        for (name, given, wanted) in [
            ("size", &["x"][..], SqlState::DUPLICATE_OBJECT),
            ("t", &["x"], SqlState::DUPLICATE_OBJECT),
            ("u", &["x", "x"], SqlState::UNIQUE_VIOLATION),
            ("u", &[""], SqlState::INVALID_NAME),
        ] {
            assert_eq!(
                state(catalog.create_type(&name.into(), &labels(given))),
                wanted,
                "{name}"
            );
        }
        assert!(catalog.create_type(&"none".into(), &[]).is_ok());
        assert_eq!(
            state(add(&catalog, "a", LabelPlace::Last).map(|c| c.0)),
            SqlState::DUPLICATE_OBJECT
        );
        let unknown = add(&catalog, "c", LabelPlace::After("x".into()));
        assert_eq!(state(unknown.map(|c| c.0)), SqlState::INVALID_PARAMETER);
        let rename = |from: &str, to: &str| {
            let (from, to) = (from.to_string(), to.to_string());
            catalog.alter_type(id_of_size(&catalog), &AlterType::RenameValue { from, to })
        };
        assert_eq!(texts(&rename("b", "c").unwrap().0), ["a", "c"]);
        assert_eq!(state(rename("x", "y").map(|c| c.0)), SqlState::INVALID_PARAMETER);
        assert_eq!(state(rename("a", "b").map(|c| c.0)), SqlState::DUPLICATE_OBJECT);
        let renamed = catalog
            .alter_type(
                id_of_size(&catalog),
                &AlterType::Rename {
                    name: "Width".to_string(),
                },
            )
            .unwrap()
            .0;
        assert_eq!(
            renamed.table(&"t".into()).unwrap().schema.columns[0].ty.name(),
            "\"Width\""
        );
        assert!(renamed.user_type(&"size".into()).is_none() && renamed.user_type(&"Width".into()).is_some());
    }

    #[test]
    fn a_type_that_columns_have_stays() {
        let catalog = with_table(&size(&["a"]));
        let drop = |catalog: &Catalog, name: &str, if_exists| {
            catalog.drop_types(&DropTypes {
                names: vec![QualifiedName::in_public(name)],
                only_domains: false,
                if_exists,
                behavior: DropBehavior::Restrict,
                path: SearchPath::default(),
            })
        };
        let error = drop(&catalog, "size", false).unwrap_err();
        assert_eq!(error.state(), SqlState::DEPENDENT_OBJECTS);
        assert_eq!(
            error.detail(),
            Some("column b of table t depends on type size\ncolumn a of table t depends on type size")
        );
        let gone = catalog
            .drop_relations(&crate::DropRelations::table("t"))
            .unwrap()
            .0;
        assert_eq!(drop(&gone, "size", false).unwrap().types().count(), 0);
        assert_eq!(
            drop(&gone, "none", false).unwrap_err().state(),
            SqlState::UNDEFINED_OBJECT
        );
        assert_eq!(drop(&gone, "none", true).unwrap().version(), gone.version());
    }
}
