//! ALTER COLUMN … TYPE. A column whose values stay as they are stored keeps its number. Otherwise a new column with a
//! number of its own is filled first, and then takes the place of the old one with its name, its constraints and its
//! indexes. The indexes get new ids, because their keys are new.

use crate::alter::set_texts;
use crate::{Catalog, Commented, ConstraintKind, RowTexts, SequenceEntry, TableEntry};
use frazil_types::{ColumnDefault, ColumnNumber, Error, LogicalType, ObjectId, Result, SqlState};
use std::sync::Arc;

/// ALTER COLUMN … TYPE of one column.
#[derive(Clone, Debug, PartialEq)]
pub struct SetType {
    /// The position of the column.
    pub column: usize,
    /// Its new type.
    pub ty: LogicalType,
    /// USING: an expression over the row as SQL text. `None` casts the value as an assignment.
    pub using: Option<String>,
    /// The default of rows that are inserted from now on, in the new type.
    pub default: Option<ColumnDefault>,
    /// The views whose queries read the column.
    pub readers: Vec<ObjectId>,
    /// The CHECK constraints that read the column: their literals keep the types that the old type gave them. Nothing
    /// changes if the values stay.
    pub texts: RowTexts,
}

/// The last column of a table in the place of another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Replacement {
    /// The position of the column that goes.
    pub column: usize,
    /// The default of the column that takes its place.
    pub default: Option<ColumnDefault>,
    /// The new texts of CHECK constraints that read the column.
    pub texts: RowTexts,
}

impl SetType {
    /// True if stored values of a type are values of the new one, so that no row has to be written.
    pub fn keeps_values(&self, old: LogicalType) -> bool {
        if self.using.is_some() {
            return false;
        }
        if old == self.ty {
            return true;
        }
        let is_wider = match (old.decimal_digits(), self.ty.decimal_digits()) {
            (Some((digits, scale)), Some((more, same))) => scale == same && digits <= more,
            _ => is_longer_text(old, self.ty),
        };
        is_wider && old.native() == self.ty.native()
    }
}

/// True if all values of a text type are values of another as they are. Those of padded types are not, because their
/// blanks mean nothing.
fn is_longer_text(old: LogicalType, new: LogicalType) -> bool {
    let is_plain = |ty: LogicalType| ty.length().is_some() && !ty.kind().is_padded();
    // A type without a length says that it has the greatest one.
    is_plain(old) && is_plain(new) && old.length() <= new.length()
}

impl Catalog {
    /// Refuses another type for a column that a view, a generated column or a foreign key needs as it is: 0A000.
    pub fn refuse_type_change(&self, table: &TableEntry, set: &SetType) -> Result<()> {
        let column = &table.schema.columns[set.column];
        if let Some(view) = set.readers.first().and_then(|view| self.relation_of(*view)) {
            let message = "cannot alter type of a column used by a view or rule";
            return Err(
                Error::new(SqlState::FEATURE_NOT_SUPPORTED, message).with_detail(format!(
                    "rule _RETURN on view {} depends on column \"{}\"",
                    view.name(),
                    column.name
                )),
            );
        }
        if let Some(index) = table.indexes_computed_from(set.column).next() {
            let what = format!(
                "another type for column \"{}\", which an expression of index \"{}\" reads",
                column.name, index.name
            );
            return Err(Error::unsupported(what).with_hint("Drop the index, and create it again afterwards."));
        }
        if set.keeps_values(column.ty) {
            return Ok(());
        }
        let own = table
            .foreign_keys()
            .any(|(_, key)| key.columns.contains(&column.number));
        let mut others = self.tables().flat_map(|other| other.foreign_keys());
        let is_parent =
            others.any(|(_, key)| key.parent == table.id && key.parent_columns.contains(&column.number));
        match own || is_parent {
            false => Ok(()),
            true => {
                let what = format!("another type for column \"{}\" of a foreign key", column.name);
                Err(Error::unsupported(what).with_hint("Drop the foreign key, and add it again afterwards."))
            }
        }
    }

    /// The next version, in which a column has another type, and the values that it has.
    pub(crate) fn set_type(&self, mut entry: TableEntry, set: SetType) -> (Catalog, Arc<TableEntry>) {
        let column = &mut Arc::make_mut(&mut entry.schema).columns[set.column];
        column.ty = set.ty;
        column.default = set.default;
        let mut next = self.next();
        let entry = next.put(entry);
        (next, entry)
    }

    /// The next version, in which the last column has taken the place of another, with a default of its own.
    pub(crate) fn replace_column(
        &self,
        mut entry: TableEntry,
        new: Replacement,
    ) -> Result<(Catalog, Arc<TableEntry>)> {
        let Replacement {
            column,
            default,
            texts,
        } = new;
        set_texts(&mut entry, texts);
        let columns = &mut Arc::make_mut(&mut entry.schema).columns;
        let mut new = columns
            .pop()
            .ok_or_else(|| Error::internal("a table without columns"))?;
        let before = columns.len() + 1;
        let old = columns[column].clone();
        new.name.clone_from(&old.name);
        new.nullable = old.nullable;
        new.default = default;
        let number = new.number;
        if old.ty.native() != new.ty.native() {
            entry.options.columns.remove(&column);
        }
        columns[column] = new;
        entry.follow_visible(before);
        let mut next = self.next();
        for index in entry.indexes.iter_mut().filter(|index| index.has_column(column)) {
            let old = index.id;
            let id = next.take_id(entry.namespace);
            Arc::make_mut(index).id = id;
            next.move_comment(Commented::Object(old), Commented::Object(id));
            for constraint in &mut entry.constraints {
                match &mut constraint.kind {
                    ConstraintKind::PrimaryKey { index } | ConstraintKind::Unique { index }
                        if *index == old =>
                    {
                        *index = id;
                    }
                    ConstraintKind::PrimaryKey { .. }
                    | ConstraintKind::Unique { .. }
                    | ConstraintKind::Check { .. }
                    | ConstraintKind::ForeignKey(_) => {}
                }
            }
        }
        next.give_sequences(entry.id, old.number, number);
        let column = |number| Commented::Column(entry.id, number);
        next.move_comment(column(old.number), column(number));
        let entry = next.put(entry);
        Ok((next, entry))
    }

    /// Gives the sequences that a column owns to another column of its table.
    fn give_sequences(&mut self, table: ObjectId, from: ColumnNumber, to: ColumnNumber) {
        let owned: Vec<Arc<SequenceEntry>> = self.owned(table, Some(from)).cloned().collect();
        for mut sequence in owned {
            if let Some(owner) = &mut Arc::make_mut(&mut sequence).owner {
                owner.column = to;
            }
            self.objects.put_sequence(sequence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AlterAction, Deferral, IndexKey, NewConstraint, NewConstraintKind, NewIndex, NewTable, TableOptions,
    };
    use frazil_types::{ColumnDef, Schema};

    fn set(ty: LogicalType) -> SetType {
        SetType {
            column: 1,
            ty,
            using: None,
            default: None,
            readers: Vec::new(),
            texts: RowTexts::default(),
        }
    }

    #[test]
    fn values_stay_if_the_new_type_has_them_all() {
        let keeps = |old: &str, new: &str| {
            let parse = |name| LogicalType::parse(name).unwrap();
            set(parse(new)).keeps_values(parse(old))
        };
        for (old, new) in [
            ("varchar(5)", "varchar(5)"),
            ("varchar(5)", "varchar(6)"),
            ("varchar(5)", "text"),
            ("text", "varchar"),
            ("decimal(8,2)", "decimal(18,2)"),
            ("decimal(20,2)", "decimal(38,2)"),
        ] {
            assert!(keeps(old, new), "{old} {new}");
        }
        for (old, new) in [
            ("varchar(6)", "varchar(5)"),
            ("text", "varchar(5)"),
            ("text", "name"),
            ("varchar(5)", "char(5)"),
            ("char(5)", "char(6)"),
            ("char(5)", "varchar(6)"),
            ("decimal(8,2)", "decimal(8,3)"),
            ("decimal(8,2)", "decimal(7,2)"),
            ("decimal(8,2)", "decimal(20,2)"),
            ("decimal(8,2)", "numeric"),
            ("integer", "bigint"),
            ("text", "bytea"),
        ] {
            assert!(!keeps(old, new), "{old} {new}");
        }
    }

    #[test]
    fn a_new_column_takes_the_place_with_new_indexes() {
        let columns = ["a", "b", "c"].map(|name| ColumnDef::new(name, LogicalType::Integer));
        let new = NewTable {
            name: "t".into(),
            schema: Arc::new(Schema::new(columns.to_vec())),
            options: TableOptions::default(),
            constraints: vec![NewConstraint {
                name: None,
                kind: NewConstraintKind::PrimaryKey {
                    columns: vec![1],
                    deferral: Deferral::Never,
                },
            }],
        };
        let (catalog, t) = Catalog::new().create(new).unwrap();
        let index = NewIndex {
            name: Some("i".to_string()),
            if_not_exists: false,
            table: t.id,
            keys: vec![IndexKey::ascending(2)],
            include: Vec::new(),
            unique: false,
            nulls_distinct: true,
            hidden: Vec::new(),
            condition: None,
        };
        let (catalog, before, _) = catalog.create_index(index).unwrap().unwrap();
        let column = ColumnDef::new("other", LogicalType::Text);
        let (catalog, _) = catalog
            .alter_table(t.id, AlterAction::AddColumn { column })
            .unwrap();
        let replace = AlterAction::ReplaceColumn(Replacement {
            column: 1,
            default: None,
            texts: RowTexts::default(),
        });
        let (_, entry) = catalog.alter_table(t.id, replace).unwrap();
        let names: Vec<&str> = entry.schema.columns.iter().map(|c| c.name.as_str()).collect();
        let numbers: Vec<u32> = entry.schema.numbers().map(|n| n.0).collect();
        assert_eq!((names, numbers), (vec!["a", "b", "c"], vec![1, 4, 3]));
        assert_eq!(entry.schema.columns[1].ty, LogicalType::Text);
        assert!(!entry.schema.columns[1].nullable);
        assert_ne!(entry.indexes[0].id, before.indexes[0].id);
        assert_eq!(entry.constraints[0].index(), Some(entry.indexes[0].id));
        assert_eq!(entry.indexes[1].id, before.indexes[1].id);
    }
}
