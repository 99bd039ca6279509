//! Sequences: CREATE SEQUENCE and ALTER SEQUENCE. Their values are in [`crate::sequence_state`], and DROP SEQUENCE is
//! one of [`crate::dependents`].

use crate::sequence_entry::{SequenceEntry, SequenceOwner};
use crate::sequence_state::{Position, SequenceDefinition, SequenceState};
use crate::sequence_text::{next_value_text, replace_sequences};
use crate::view::taken;
use crate::{Catalog, QualifiedName, TableEntry, missing_schema};
use frazil_types::{
    ColumnDef, ColumnDefault, ColumnNumber, Error, LogicalType, ObjectId, Result, SqlState, session_settings,
};
use std::sync::Arc;

/// Options of CREATE SEQUENCE and ALTER SEQUENCE. `None`: the statement does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequenceOptions {
    /// AS.
    pub ty: Option<LogicalType>,
    /// INCREMENT.
    pub increment: Option<i64>,
    /// MINVALUE; `Some(None)` for NO MINVALUE.
    pub min: Option<Option<i64>>,
    /// MAXVALUE; `Some(None)` for NO MAXVALUE.
    pub max: Option<Option<i64>>,
    /// START.
    pub start: Option<i64>,
    /// RESTART; `Some(None)` without a value.
    pub restart: Option<Option<i64>>,
    /// CACHE.
    pub cache: Option<i64>,
    /// CYCLE.
    pub cycle: Option<bool>,
}

/// CREATE SEQUENCE.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSequence {
    /// Name of the sequence.
    pub name: QualifiedName,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Options of the sequence.
    pub options: SequenceOptions,
    /// OWNED BY: the table and the position of the column.
    pub owner: Option<(ObjectId, usize)>,
}

/// An action of ALTER SEQUENCE.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterSequence {
    /// Options; OWNED BY as a table and the position of a column, `Some(None)` for NONE.
    Options(SequenceOptions, Option<Option<(ObjectId, usize)>>),
    /// RENAME TO.
    Rename(String),
    /// SET SCHEMA.
    SetSchema(String),
}

/// A sequence that a column owns, which gives the column its values.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSequence {
    /// The position of the column.
    pub column: usize,
    /// The options; AS is the column's type.
    pub options: SequenceOptions,
    /// The name that the statement gives, if it does.
    pub name: Option<QualifiedName>,
    /// `None` for a serial column; GENERATED ALWAYS (true) or BY DEFAULT (false) AS IDENTITY.
    pub identity: Option<bool>,
    /// True if rows that there are get values: the column is new, and is NOT NULL only then.
    pub fills: bool,
}

fn invalid(message: String) -> Error {
    Error::new(SqlState::INVALID_PARAMETER, message)
}

/// Least and greatest value of a sequence's type.
fn range(ty: LogicalType) -> (i64, i64) {
    ty.range()
        .map_or((i64::MIN, i64::MAX), |(min, max)| (min as i64, max as i64))
}

impl SequenceOptions {
    /// The definition of a new sequence. 22023.
    pub fn define(&self) -> Result<SequenceDefinition> {
        self.apply(None)
    }

    /// The definition that a sequence gets. 22023.
    fn apply(&self, old: Option<&SequenceDefinition>) -> Result<SequenceDefinition> {
        let ty = self.ty.or(old.map(|old| old.ty)).unwrap_or(LogicalType::BigInt);
        let increment = self.increment.or(old.map(|old| old.increment)).unwrap_or(1);
        if increment == 0 {
            return Err(invalid("INCREMENT must not be zero".to_string()));
        }
        let (least, greatest) = range(ty);
        // A bound that was the old type's becomes the new type's.
        let of_old_type = |bound: fn(&SequenceDefinition) -> i64, of: fn((i64, i64)) -> i64| {
            old.is_some_and(|old| old.ty != ty && bound(old) == of(range(old.ty)))
        };
        let resets_max = of_old_type(|old| old.max, |range| range.1);
        let resets_min = of_old_type(|old| old.min, |range| range.0);
        let default_max = match increment > 0 || resets_max {
            true => greatest,
            false => -1,
        };
        let default_min = match increment < 0 || resets_min {
            true => least,
            false => 1,
        };
        let max = match (self.max, old) {
            (Some(given), _) => given.unwrap_or(default_max),
            (None, Some(old)) if !resets_max => old.max,
            (None, _) => default_max,
        };
        let min = match (self.min, old) {
            (Some(given), _) => given.unwrap_or(default_min),
            (None, Some(old)) if !resets_min => old.min,
            (None, _) => default_min,
        };
        for (what, bound) in [("MAXVALUE", max), ("MINVALUE", min)] {
            if !(least..=greatest).contains(&bound) {
                let message = format!("{what} ({bound}) is out of range for sequence data type {ty}");
                return Err(invalid(message));
            }
        }
        if min >= max {
            return Err(invalid(format!(
                "MINVALUE ({min}) must be less than MAXVALUE ({max})"
            )));
        }
        let first = if increment > 0 { min } else { max };
        let start = self.start.or(old.map(|old| old.start)).unwrap_or(first);
        within("START", start, (min, max))?;
        let cache = self.cache.or(old.map(|old| old.cache)).unwrap_or(1);
        if cache <= 0 {
            return Err(invalid(format!("CACHE ({cache}) must be greater than zero")));
        }
        Ok(SequenceDefinition {
            ty,
            start,
            increment,
            min,
            max,
            cache,
            cycle: self.cycle.or(old.map(|old| old.cycle)).unwrap_or(false),
        })
    }
}

/// 22023 for a value beyond bounds.
fn within(what: &str, value: i64, (min, max): (i64, i64)) -> Result<()> {
    let message = match (value < min, value > max) {
        (true, _) => format!("{what} value ({value}) cannot be less than MINVALUE ({min})"),
        (_, true) => format!("{what} value ({value}) cannot be greater than MAXVALUE ({max})"),
        (false, false) => return Ok(()),
    };
    Err(invalid(message))
}

impl Catalog {
    /// The sequences, by schema and name.
    pub fn sequences(&self) -> impl Iterator<Item = &Arc<SequenceEntry>> {
        self.objects.sequences()
    }

    /// A sequence by its name, if there is one.
    pub fn sequence(&self, name: &QualifiedName) -> Option<&Arc<SequenceEntry>> {
        self.objects.sequence(name)
    }

    /// A sequence by its identity, if there is one.
    pub fn sequence_of(&self, id: ObjectId) -> Option<&Arc<SequenceEntry>> {
        self.objects.sequence_of(id)
    }

    /// The next version, with one more sequence; this version if there may be a relation of the name and is. 42P07,
    /// 42710, 3F000 for its name, 22023 for its options, 55000 for an owner in another schema.
    pub fn create_sequence(&self, new: &NewSequence) -> Result<Catalog> {
        let namespace = self.namespace(&new.name.schema)?;
        if self.has_relation(&new.name) && new.if_not_exists {
            return Ok(self.clone());
        }
        self.refuse_relation_name(&new.name)?;
        let definition = new.options.define()?;
        let owner = new.owner.map(|of| self.owner(namespace, of)).transpose()?;
        let mut next = self.next();
        let id = next.take_id(namespace);
        next.objects.put_sequence(Arc::new(SequenceEntry {
            id,
            namespace,
            name: new.name.name.clone(),
            definition,
            owner,
            state: SequenceState::new(definition.beginning()),
        }));
        Ok(next)
    }

    /// The owner of a sequence in a schema. 55000 for a table of another schema.
    fn owner(&self, namespace: ObjectId, (table, column): (ObjectId, usize)) -> Result<SequenceOwner> {
        let table = self.by_id(table)?;
        if table.namespace != namespace {
            let message = "sequence must be in same schema as table it is linked to";
            return Err(Error::new(SqlState::NOT_IN_STATE, message));
        }
        Ok(SequenceOwner {
            table: table.id,
            column: table.schema.columns[column].number,
            is_identity: false,
        })
    }

    /// The next version, in which an action was done to a sequence. 42P07, 42710, 3F000, 22023, 55000, 0A000 for what
    /// only the owner of a sequence can do.
    pub fn alter_sequence(&self, id: ObjectId, action: &AlterSequence) -> Result<Catalog> {
        let Some(old) = self.sequence_of(id) else {
            return Err(Error::internal(format!("sequence {} is not there", id.0)));
        };
        let mut entry = SequenceEntry::clone(old);
        match action {
            AlterSequence::Options(options, owner) => {
                set_options(&mut entry, options)?;
                if let Some(owner) = owner {
                    self.refuse_identity(old, "cannot change ownership of identity sequence")?;
                    let owner = owner.map(|of| self.owner(entry.namespace, of)).transpose()?;
                    entry.owner = owner;
                }
            }
            AlterSequence::Rename(name) => {
                self.refuse_relation_name(&self.qualified(entry.namespace, name))?;
                entry.name = name.clone();
            }
            AlterSequence::SetSchema(schema) => {
                let namespace = self.namespace_to_move(entry.namespace, schema)?;
                if let Some(owner) = old.owner {
                    return Err(self.linked(old, owner, "cannot move an owned sequence into another schema"));
                }
                if namespace != entry.namespace {
                    let name = QualifiedName::new(schema, &entry.name);
                    if self.has_relation(&name) {
                        let message = format!(
                            "relation \"{}\" already exists in schema \"{schema}\"",
                            entry.name
                        );
                        return Err(Error::new(SqlState::DUPLICATE_TABLE, message));
                    }
                }
                entry.namespace = namespace;
            }
        }
        let mut next = self.next();
        next.objects.put_sequence(Arc::new(entry));
        Ok(next)
    }

    /// 0A000 for the sequence of an identity column.
    fn refuse_identity(&self, sequence: &SequenceEntry, message: &str) -> Result<()> {
        match sequence.owner.filter(|owner| owner.is_identity) {
            Some(owner) => Err(self.linked(sequence, owner, message)),
            None => Ok(()),
        }
    }

    /// 0A000 for what a sequence's owner forbids.
    fn linked(&self, sequence: &SequenceEntry, owner: SequenceOwner, message: &str) -> Error {
        let table = self.table_by_id(owner.table).map_or("", |table| &table.name);
        let detail = format!("Sequence \"{}\" is linked to table \"{table}\".", sequence.name);
        Error::new(SqlState::FEATURE_NOT_SUPPORTED, message).with_detail(detail)
    }

    /// The next version, in which a column owns a new sequence that gives it its values, and the entry of its table.
    /// The errors of [`Catalog::create_sequence`].
    pub(crate) fn create_column_sequence(
        &self,
        table: ObjectId,
        new: &ColumnSequence,
    ) -> Result<(Catalog, Arc<TableEntry>)> {
        let mut entry = (*self.by_id(table)?).clone();
        let schema = self.schema_of(entry.namespace);
        let schema = schema.ok_or_else(|| missing_schema(""))?.name.clone();
        let column = entry.schema.columns[new.column].clone();
        refuse_second_source(&entry, &column, new)?;
        let name = match &new.name {
            Some(name) => name.clone(),
            None => {
                let taken = |name: &str| self.has_relation(&QualifiedName::new(&schema, name));
                let chosen = crate::object_names::choose(&entry.name, &column.name, "seq", taken);
                QualifiedName::new(&schema, chosen)
            }
        };
        let mut next = self.create_sequence(&NewSequence {
            name: name.clone(),
            if_not_exists: false,
            options: new.options.clone(),
            owner: Some((table, new.column)),
        })?;
        let Some(mut sequence) = next.sequence(&name).cloned() else {
            return Err(Error::internal("a sequence that was created is not there"));
        };
        let made = Arc::make_mut(&mut sequence);
        if let Some(owner) = made.owner.as_mut() {
            owner.is_identity = new.identity.is_some();
        }
        let column = &mut Arc::make_mut(&mut entry.schema).columns[new.column];
        column.nullable &= new.fills;
        column.default = Some(match new.identity {
            Some(always) => ColumnDefault::Identity {
                sequence: made.id,
                always,
            },
            None => ColumnDefault::Expression(next_value_text(made.id)),
        });
        next.objects.put_sequence(sequence);
        let entry = next.put(entry);
        Ok((next, entry))
    }

    /// The next version, in which an identity column gives values otherwise, and the entry of its table. `None` for
    /// `always` keeps what it says. 55000 for a column that is not an identity column; 22023.
    pub(crate) fn set_identity(
        &self,
        mut entry: TableEntry,
        column: usize,
        always: Option<bool>,
        options: &SequenceOptions,
    ) -> Result<(Catalog, Arc<TableEntry>)> {
        let name = entry.name.clone();
        let column = &mut Arc::make_mut(&mut entry.schema).columns[column];
        let Some(ColumnDefault::Identity {
            sequence,
            always: old,
        }) = &mut column.default
        else {
            return Err(not_an_identity(&name, &column.name));
        };
        *old = always.unwrap_or(*old);
        let mut next = self.alter_sequence(*sequence, &AlterSequence::Options(options.clone(), None))?;
        let entry = next.put(entry);
        Ok((next, entry))
    }

    /// The next version, in which a column is no longer an identity column and its sequence is gone, and the entry of
    /// its table; this version if it need not be one. 55000.
    pub(crate) fn drop_identity(
        &self,
        mut entry: TableEntry,
        column: usize,
        if_exists: bool,
    ) -> Result<(Catalog, Arc<TableEntry>)> {
        let column = &mut Arc::make_mut(&mut entry.schema).columns[column];
        let Some(ColumnDefault::Identity { sequence, .. }) = column.default else {
            return match if_exists {
                true => Ok((self.clone(), self.by_id(entry.id)?)),
                false => Err(not_an_identity(&entry.name, &column.name)),
            };
        };
        column.default = None;
        let mut next = self.next();
        next.objects.remove(sequence);
        let entry = next.put(entry);
        Ok((next, entry))
    }

    /// The next version, in which some tables' sequences begin again: those that their columns own. This version if
    /// there are none.
    pub fn restart_owned(&self, tables: &[ObjectId]) -> Catalog {
        let is_owned = |s: &&Arc<SequenceEntry>| s.owner.is_some_and(|owner| tables.contains(&owner.table));
        let owned: Vec<Arc<SequenceEntry>> = self.sequences().filter(is_owned).cloned().collect();
        if owned.is_empty() {
            return self.clone();
        }
        let mut next = self.next();
        for mut sequence in owned {
            let entry = Arc::make_mut(&mut sequence);
            entry.state = SequenceState::new(entry.definition.beginning());
            next.objects.put_sequence(sequence);
        }
        next
    }

    /// The sequences that a column owns, or without a column those that any column of the table owns.
    pub(crate) fn owned(
        &self,
        table: ObjectId,
        column: Option<ColumnNumber>,
    ) -> impl Iterator<Item = &Arc<SequenceEntry>> {
        self.sequences().filter(move |sequence| {
            sequence.owner.is_some_and(|owner| {
                owner.table == table && column.is_none_or(|column| owner.column == column)
            })
        })
    }

    /// Moves the sequences that a table's columns own into a schema. 42P07 if a name is taken there.
    pub(crate) fn move_owned(&mut self, table: ObjectId, namespace: ObjectId) -> Result<()> {
        let owned: Vec<Arc<SequenceEntry>> = self.owned(table, None).cloned().collect();
        for mut sequence in owned {
            if self.has_relation(&self.qualified(namespace, &sequence.name)) {
                return Err(taken(&sequence.name));
            }
            Arc::make_mut(&mut sequence).namespace = namespace;
            self.objects.put_sequence(sequence);
        }
        Ok(())
    }

    /// A default's text as SQL shows it: sequences by their names.
    pub fn shown_default(&self, text: &str) -> String {
        replace_sequences(text, |id| {
            let sequence = self.sequence_of(id)?;
            let name = self.qualified(sequence.namespace, &sequence.name);
            let shown = match name.schema == crate::PUBLIC && is_public_searched() {
                true => crate::identifier(&name.name),
                false => name.to_string(),
            };
            Some(shown.replace('\'', "''"))
        })
    }
}

/// True if a name without a schema may be one of `public`, by the search path of the session that asks.
fn is_public_searched() -> bool {
    let session = session_settings::of_statement();
    let path = session.and_then(|session| session.show("search_path").ok().flatten());
    path.is_none_or(|path| {
        path.split(',')
            .any(|schema| schema.trim().trim_matches('"') == crate::PUBLIC)
    })
}

/// 55000 for a column that cannot become an identity column, because it has values from elsewhere, or NULL.
fn refuse_second_source(entry: &TableEntry, column: &ColumnDef, new: &ColumnSequence) -> Result<()> {
    let of = format!("column \"{}\" of relation \"{}\"", column.name, entry.name);
    let message = match (&column.default, new.identity) {
        (_, None) => return Ok(()),
        (Some(ColumnDefault::Identity { .. }), _) => format!("{of} is already an identity column"),
        (Some(_), _) => format!("{of} already has a default value"),
        (None, _) if column.nullable && !new.fills => {
            format!("{of} must be declared NOT NULL before identity can be added")
        }
        (None, _) => return Ok(()),
    };
    Err(Error::new(SqlState::NOT_IN_STATE, message))
}

/// 55000.
fn not_an_identity(table: &str, column: &str) -> Error {
    let message = format!("column \"{column}\" of relation \"{table}\" is not an identity column");
    Error::new(SqlState::NOT_IN_STATE, message)
}

/// Gives a sequence other options, and with RESTART a state of its own. 22023.
fn set_options(entry: &mut SequenceEntry, options: &SequenceOptions) -> Result<()> {
    let definition = options.apply(Some(&entry.definition))?;
    let bounds = (definition.min, definition.max);
    match options.restart {
        Some(value) => {
            let value = value.unwrap_or(definition.start);
            within("RESTART", value, bounds)?;
            entry.state = SequenceState::new(Position {
                value,
                is_called: false,
            });
        }
        None => within("RESTART", entry.state.shown().0.value, bounds)?,
    }
    entry.definition = definition;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_show_sequences_by_their_names() {
        use crate::sequence_text::sequences_in;
        let new = |name: &str| NewSequence {
            name: QualifiedName::in_public(name),
            if_not_exists: false,
            options: SequenceOptions::default(),
            owner: None,
        };
        let catalog = Catalog::new().create_sequence(&new("it's")).unwrap();
        let id = catalog.sequences().next().unwrap().id;
        let text = format!(
            "{} || '''16385'''::text || '99999'::regclass",
            next_value_text(id)
        );
        assert_eq!(
            catalog.shown_default(&text),
            "nextval('\"it''s\"'::regclass) || '''16385'''::text || '99999'::regclass"
        );
        assert_eq!(sequences_in(&text), [id, ObjectId::of_oid(99999).unwrap()]);
    }

    #[test]
    fn values_are_taken_up_to_the_bounds_and_logged_ahead() {
        #[derive(Debug, Default)]
        struct Records(std::sync::Mutex<Vec<i64>>);
        impl crate::SequenceLog for Records {
            fn log(&self, _: ObjectId, position: Position) -> Result<()> {
                self.0.lock().unwrap().push(position.value);
                Ok(())
            }
        }
        let new = NewSequence {
            name: "s".into(),
            if_not_exists: false,
            options: SequenceOptions {
                max: Some(Some(100)),
                increment: Some(2),
                ..SequenceOptions::default()
            },
            owner: None,
        };
        let catalog = Catalog::new().create_sequence(&new).unwrap();
        let sequence = catalog.sequences().next().unwrap();
        let records = Arc::new(Records::default());
        sequence.state.share(Some(records.clone()));
        let mut values = Vec::new();
        for _ in 0..50 {
            sequence.take(1, 0, &mut values).unwrap();
        }
        assert!(values.iter().copied().eq((1..100).step_by(2)));
        let error = sequence.take(1, 0, &mut values).unwrap_err();
        assert_eq!(error.state(), SqlState::SEQUENCE_LIMIT);
        // 33 values, and as many as are left.
        assert_eq!(records.0.lock().unwrap()[..], [65, 99]);
    }

    #[test]
    fn who_holds_a_state_that_was_replaced_takes_values_of_the_next_one() {
        let new = NewSequence {
            name: "s".into(),
            if_not_exists: false,
            options: SequenceOptions::default(),
            owner: None,
        };
        let catalog = Catalog::new().create_sequence(&new).unwrap();
        let old = catalog.sequences().next().unwrap();
        old.state.share(None);
        let mut values = Vec::new();
        old.take(5, 0, &mut values).unwrap();
        let restart = SequenceOptions {
            restart: Some(Some(40)),
            ..SequenceOptions::default()
        };
        let next = catalog
            .alter_sequence(old.id, &AlterSequence::Options(restart, None))
            .unwrap();
        let new = next.sequences().next().unwrap();
        old.take(1, 0, &mut values).unwrap();
        new.state.share(None);
        old.state.replace_by(&new.state);
        old.take(1, 0, &mut values).unwrap();
        new.take(1, 0, &mut values).unwrap();
        assert_eq!(values, [1, 2, 3, 4, 5, 6, 40, 41]);
    }
}
