//! ALTER TABLE: one action after the other, each on the outcome of those before it.

use crate::dependents::{Part, Within};
use crate::view::taken;
use crate::{
    Catalog, ColumnSequence, ConstraintKind, Deferral, DropBehavior, IndexEntry, NewConstraint,
    QualifiedName, Replacement, SearchPath, SequenceOptions, SetType, TableEntry,
};
use frazil_types::{ColumnDef, ColumnDefault, Error, ObjectId, Result, SqlState};
use std::sync::Arc;

/// An action of ALTER TABLE. Columns are positions in the table as the actions before left it.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterAction {
    /// RENAME TO.
    RenameTable {
        /// The new name.
        name: String,
        /// The texts that name the table.
        texts: RowTexts,
    },
    /// SET SCHEMA. The table's indexes go with it.
    SetSchema {
        /// The name of the schema.
        schema: String,
    },
    /// RENAME COLUMN.
    RenameColumn {
        /// The column.
        column: usize,
        /// Its new name.
        name: String,
        /// The texts that name the column.
        texts: RowTexts,
    },
    /// RENAME CONSTRAINT.
    RenameConstraint {
        /// Its name.
        from: String,
        /// Its new name.
        to: String,
    },
    /// ALTER COLUMN … SET DEFAULT.
    SetDefault {
        /// The column.
        column: usize,
        /// The default of rows that are inserted from now on; `None` for NULL.
        default: Option<ColumnDefault>,
    },
    /// ALTER COLUMN … DROP DEFAULT. The column has the default of its domain, if it has one.
    DropDefault {
        /// The column.
        column: usize,
    },
    /// ALTER COLUMN … ADD GENERATED … AS IDENTITY, and the sequence of a serial or identity column that comes.
    AddSequence(ColumnSequence),
    /// ALTER COLUMN … SET GENERATED, RESTART and SET of options of the sequence of an identity column.
    SetIdentity {
        /// The column.
        column: usize,
        /// SET GENERATED ALWAYS or BY DEFAULT.
        always: Option<bool>,
        /// The options.
        options: SequenceOptions,
    },
    /// ALTER COLUMN … DROP IDENTITY.
    DropIdentity {
        /// The column.
        column: usize,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// ALTER COLUMN … DROP EXPRESSION. Rows keep the values that were computed.
    DropExpression {
        /// The column.
        column: usize,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// ALTER COLUMN … TYPE. Done to a catalog alone, it leaves the values: see [`SetType::keeps_values`].
    SetType(SetType),
    /// The last column takes the place and the name of another, which goes.
    ReplaceColumn(Replacement),
    /// ALTER COLUMN … SET NOT NULL. No row may have NULL there.
    SetNotNull {
        /// The column.
        column: usize,
    },
    /// ALTER COLUMN … DROP NOT NULL.
    DropNotNull {
        /// The column.
        column: usize,
    },
    /// ADD COLUMN.
    AddColumn {
        /// The column, behind the others. Rows that there are have its `missing`; it gets a number.
        column: ColumnDef,
    },
    /// DROP COLUMN. Constraints and indexes that name the column go with it.
    DropColumn {
        /// The column.
        column: usize,
        /// What becomes of views that read it.
        behavior: DropBehavior,
        /// The views whose queries read it.
        readers: Vec<ObjectId>,
        /// The path by which an error names views.
        path: SearchPath,
        /// True for a generated column that goes with the column of a later action, which CASCADE drops.
        is_dependent: bool,
    },
    /// ADD CONSTRAINT. All rows must satisfy it.
    AddConstraint(NewConstraint),
    /// VALIDATE CONSTRAINT. All rows must satisfy it.
    ValidateConstraint {
        /// Its name.
        name: String,
    },
    /// ALTER CONSTRAINT of a foreign key.
    SetDeferral {
        /// Its name.
        name: String,
        /// When it is checked.
        deferral: Deferral,
    },
    /// Gives the rows that there are the default of a column. Done to a catalog alone, it changes nothing.
    FillColumn {
        /// The column.
        column: usize,
    },
    /// DROP CONSTRAINT.
    DropConstraint {
        /// Its name.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
        /// CASCADE drops the views that need it, RESTRICT refuses.
        behavior: DropBehavior,
        /// The views whose queries need it: they group by the primary key and read further columns of its table.
        readers: Vec<ObjectId>,
        /// The path by which an error names views.
        path: SearchPath,
    },
}

/// New texts of expressions over the rows of a table that gets another name, or one of whose columns gets another name
/// or type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowTexts {
    /// Names of CHECK constraints, and their new texts.
    pub checks: Vec<(String, String)>,
    /// Positions of generated columns, hidden ones among these, and their new texts.
    pub generated: Vec<(usize, String)>,
}

impl Catalog {
    /// The next version, in which an action was done to a table, and the table's entry in it; this version where there is
    /// nothing to do. Rows are not looked at.
    ///
    /// 42P07, 42701 and 42710 for names that are taken, 42704 for an unknown constraint, 42P16 for a second primary key or for NULL
    /// in a primary key, 2BP01 for a column or key that a view needs, 0A000 for the only column.
    pub fn alter_table(&self, table: ObjectId, action: AlterAction) -> Result<(Catalog, Arc<TableEntry>)> {
        let old = self.by_id(table)?;
        let mut entry = (*old).clone();
        match action {
            AlterAction::AddColumn { column } => entry.add_column(column)?,
            AlterAction::SetType(set) => return Ok(self.set_type(entry, set)),
            AlterAction::ReplaceColumn(new) => return self.replace_column(entry, new),
            AlterAction::AddSequence(new) => return self.create_column_sequence(table, &new),
            AlterAction::SetIdentity {
                column,
                always,
                options,
            } => return self.set_identity(entry, column, always, &options),
            AlterAction::DropIdentity { column, if_exists } => {
                return self.drop_identity(entry, column, if_exists);
            }
            AlterAction::DropColumn {
                column,
                behavior,
                readers,
                path,
                is_dependent: _,
            } => return self.drop_column(entry, column, (behavior, &path), &readers),
            AlterAction::AddConstraint(constraint) => return self.add_constraints(table, vec![constraint]),
            AlterAction::RenameTable { name, texts } => {
                self.refuse_relation_name(&self.qualified(entry.namespace, &name))?;
                set_texts(&mut entry, texts);
                entry.name = name;
            }
            AlterAction::SetSchema { schema } => return self.move_table(entry, &schema),
            AlterAction::RenameColumn { column, name, texts } => {
                entry.refuse_second_column(&name)?;
                set_texts(&mut entry, texts);
                entry.column_mut(column).name = name;
            }
            AlterAction::SetDeferral { name, deferral } => entry.set_deferral(&name, deferral)?,
            AlterAction::FillColumn { .. } => return Ok((self.clone(), old)),
            AlterAction::ValidateConstraint { name } => self.validate(&mut entry, &name)?,
            AlterAction::RenameConstraint { from, to } => self.rename_constraint(&mut entry, &from, to)?,
            AlterAction::SetDefault { column, default } => entry.column_mut(column).set_default(default),
            AlterAction::DropDefault { column } => self.take_default_of_domain(entry.column_mut(column)),
            AlterAction::DropExpression { column, if_exists } => {
                if !entry.drop_expression(column, if_exists)? {
                    return Ok((self.clone(), old));
                }
            }
            AlterAction::SetNotNull { column } => entry.column_mut(column).set_not_null(),
            AlterAction::DropNotNull { column } => {
                entry.refuse_key_column(column)?;
                self.take_null_of_domain(entry.column_mut(column));
            }
            AlterAction::DropConstraint {
                name,
                if_exists,
                behavior,
                readers,
                path,
            } => {
                if if_exists && entry.constraint(&name).is_none() {
                    return Ok((self.clone(), old));
                }
                return self.drop_constraint(entry, &name, (behavior, &path), &readers);
            }
        }
        let mut next = self.next();
        let entry = next.put(entry);
        Ok((next, entry))
    }

    /// The next version without a constraint of a table, and without the views that need it, if they may go. `readers`:
    /// the views whose queries need it. 42704 without the constraint, 2BP01 if views need it and may not go.
    fn drop_constraint(
        &self,
        mut entry: TableEntry,
        name: &str,
        (behavior, path): (DropBehavior, &SearchPath),
        readers: &[ObjectId],
    ) -> Result<(Catalog, Arc<TableEntry>)> {
        let Some(at) = entry.constraints.iter().position(|c| c.name == name) else {
            return Err(missing_constraint(&format!(
                "constraint \"{name}\" of relation \"{}\" does not exist",
                entry.name
            )));
        };
        let constraint = Part {
            id: entry.id,
            within: Within::Constraint(entry.constraints[at].id),
        };
        let index = entry.constraints[at].index();
        let indexes: Vec<ObjectId> = index.into_iter().collect();
        let more = self.dropped_with(constraint, &indexes, readers, (behavior, path))?;
        entry.constraints.remove(at);
        entry.indexes.retain(|i| Some(i.id) != index);
        Ok(self.with_less(entry, more))
    }

    /// Describes what CASCADE drops with a constraint of a table, as [`Catalog::cascade`] does. `readers`: the views
    /// whose queries need the constraint.
    pub fn cascade_of_constraint(
        &self,
        table: &TableEntry,
        name: &str,
        readers: &[ObjectId],
        path: &SearchPath,
    ) -> Vec<String> {
        let Some(constraint) = table.constraint(name) else {
            return Vec::new();
        };
        let part = Part {
            id: table.id,
            within: Within::Constraint(constraint.id),
        };
        let index = constraint.index().map(Part::whole);
        let gone: Vec<Part> = std::iter::once(part).chain(index).collect();
        self.cascade_of_parts(&gone, &[(part, readers)], path)
    }

    /// The next version with an entry of a table, and without other parts, among them constraints of the table.
    pub(crate) fn with_less(&self, mut entry: TableEntry, gone: Vec<Part>) -> (Catalog, Arc<TableEntry>) {
        let mut next = self.next();
        entry.remove_defaults(&gone);
        let is_own = |part: &Part| part.id == entry.id && matches!(part.within, Within::Constraint(_));
        let (own, others): (Vec<Part>, Vec<Part>) = gone.into_iter().partition(is_own);
        let stays = |id: ObjectId| own.iter().all(|part| part.within != Within::Constraint(id));
        entry.constraints.retain(|constraint| stays(constraint.id));
        next.remove_parts(others.into_iter());
        let entry = next.put(entry);
        (next, entry)
    }

    /// Notes that all rows satisfy a constraint. 42704 without it, 42809 for a key, which is always valid.
    fn validate(&self, entry: &mut TableEntry, name: &str) -> Result<()> {
        let table = entry.name.clone();
        let Some(constraint) = entry.constraints.iter_mut().find(|c| c.name == name) else {
            return Err(missing_constraint(&format!(
                "constraint \"{name}\" of relation \"{table}\" does not exist"
            )));
        };
        match &mut constraint.kind {
            ConstraintKind::ForeignKey(key) => key.is_valid = true,
            ConstraintKind::Check { is_valid, .. } => *is_valid = true,
            ConstraintKind::PrimaryKey { .. } | ConstraintKind::Unique { .. } => {
                let message = format!(
                    "constraint \"{name}\" of relation \"{table}\" is not a foreign key or check constraint"
                );
                return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message));
            }
        }
        Ok(())
    }

    /// The next version, in which a table and the sequences that its columns own are in another schema.
    /// 3F000 without the schema, 42P07 and 42710 if a name is taken there.
    fn move_table(&self, mut entry: TableEntry, schema: &str) -> Result<(Catalog, Arc<TableEntry>)> {
        let namespace = self.namespace_to_move(entry.namespace, schema)?;
        if namespace == entry.namespace {
            return Ok((self.clone(), Arc::new(entry)));
        }
        self.refuse_relation_name(&QualifiedName::new(schema, &entry.name))?;
        for index in &entry.indexes {
            if self.has_relation(&QualifiedName::new(schema, &index.name)) {
                return Err(taken(&index.name));
            }
        }
        entry.namespace = namespace;
        let mut next = self.next();
        next.move_owned(entry.id, namespace)?;
        let entry = next.put(entry);
        Ok((next, entry))
    }

    /// 42P07 if a table, view or index has the name, 42710 if a type has it.
    pub(crate) fn refuse_relation_name(&self, name: &QualifiedName) -> Result<()> {
        match self.has_relation(name) {
            true => Err(taken(&name.name)),
            false => self.refuse_type_name(name),
        }
    }

    /// Gives a constraint, and the index that enforces it, another name.
    pub(crate) fn rename_constraint(&self, entry: &mut TableEntry, from: &str, to: String) -> Result<()> {
        let Some(at) = entry.constraints.iter().position(|c| c.name == from) else {
            let message = format!(
                "constraint \"{from}\" for table \"{}\" does not exist",
                entry.name
            );
            return Err(missing_constraint(&message));
        };
        let index = entry.constraints[at].index();
        if index.is_some() && self.has_relation(&self.qualified(entry.namespace, &to)) {
            return Err(taken(&to));
        }
        if entry.constraint(&to).is_some() {
            let message = format!(
                "constraint \"{to}\" for relation \"{}\" already exists",
                entry.name
            );
            return Err(Error::new(SqlState::DUPLICATE_OBJECT, message));
        }
        entry.constraints[at].name.clone_from(&to);
        for entry in entry.indexes.iter_mut().filter(|i| Some(i.id) == index) {
            let entry = Arc::make_mut(entry);
            entry.name.clone_from(&to);
            entry.constraint = Some(to.clone());
        }
        Ok(())
    }
}

/// 42704.
fn missing_constraint(message: &str) -> Error {
    Error::new(SqlState::UNDEFINED_OBJECT, message)
}

impl TableEntry {
    /// A column, to be changed.
    fn column_mut(&mut self, column: usize) -> &mut ColumnDef {
        &mut Arc::make_mut(&mut self.schema).columns[column]
    }

    /// ALTER CONSTRAINT. 42704 without the constraint, 42809 if it is not a foreign key.
    fn set_deferral(&mut self, name: &str, deferral: Deferral) -> Result<()> {
        let table = &self.name;
        let Some(constraint) = self.constraints.iter_mut().find(|c| c.name == name) else {
            return Err(missing_constraint(&format!(
                "constraint \"{name}\" of relation \"{table}\" does not exist"
            )));
        };
        match &mut constraint.kind {
            ConstraintKind::ForeignKey(key) => {
                key.deferral = deferral;
                Ok(())
            }
            ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::Unique { .. }
            | ConstraintKind::Check { .. } => {
                let message =
                    format!("constraint \"{name}\" of relation \"{table}\" is not a foreign key constraint");
                Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message))
            }
        }
    }

    /// 42P16 for a column of the primary key.
    fn refuse_key_column(&self, column: usize) -> Result<()> {
        let is_key = |key: &Arc<IndexEntry>| key.keys.iter().any(|k| k.column == column);
        if !self.primary_key().is_some_and(is_key) {
            return Ok(());
        }
        let message = format!(
            "column \"{}\" is in a primary key",
            self.schema.columns[column].name
        );
        Err(Error::new(SqlState::INVALID_TABLE_DEFINITION, message).with_hint("drop the primary key first"))
    }

    /// DROP EXPRESSION. False if the column is not generated and need not be, else 55000.
    fn drop_expression(&mut self, column: usize, if_exists: bool) -> Result<bool> {
        let column = &mut Arc::make_mut(&mut self.schema).columns[column];
        match (column.is_generated(), if_exists) {
            (true, _) => {
                column.default = None;
                Ok(true)
            }
            (false, true) => Ok(false),
            (false, false) => Err(not_generated(&self.name, &column.name)),
        }
    }
}

/// 55000.
fn not_generated(table: &str, column: &str) -> Error {
    let message = format!("column \"{column}\" of relation \"{table}\" is not a stored generated column");
    Error::new(SqlState::NOT_IN_STATE, message)
}

/// Gives CHECK constraints and generated columns their new texts.
pub(crate) fn set_texts(entry: &mut TableEntry, texts: RowTexts) {
    let visible = entry.schema.columns.len();
    for (position, new) in texts.generated {
        let column = match position.checked_sub(visible) {
            Some(at) => &mut entry.hidden[at],
            None => &mut Arc::make_mut(&mut entry.schema).columns[position],
        };
        if let Some(ColumnDefault::Generated { text, .. }) = &mut column.default {
            *text = new;
        }
    }
    for (name, text) in texts.checks {
        let named = entry.constraints.iter_mut().filter(|c| c.name == name);
        for constraint in named {
            if let ConstraintKind::Check { expression, .. } = &mut constraint.kind {
                expression.clone_from(&text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewConstraintKind, NewTable, TableOptions};
    use frazil_types::{ColumnDef, LogicalType, Schema, Value};

    /// Table `t` of `a`, its primary key, and `b`, which is unique, and table `u`.
    fn catalog() -> (Catalog, ObjectId) {
        let columns = ["a", "b"].map(|n| ColumnDef::new(n, LogicalType::Integer));
        let unnamed = |kind| NewConstraint { name: None, kind };
        let new = |name: &str, constraints| NewTable {
            name: QualifiedName::in_public(name),
            schema: Arc::new(Schema::new(columns.to_vec())),
            options: TableOptions::default(),
            constraints,
        };
        let key = NewConstraintKind::PrimaryKey {
            columns: vec![0],
            deferral: Deferral::Never,
        };
        let unique = NewConstraintKind::Unique {
            columns: vec![1],
            nulls_distinct: true,
            deferral: Deferral::Never,
        };
        let check = NewConstraintKind::Check {
            expression: "b > 0".to_string(),
            columns: vec![1],
            is_valid: true,
            of_domain: None,
        };
        let constraints = vec![unnamed(key), unnamed(unique), unnamed(check)];
        let (catalog, t) = Catalog::new().create(new("t", constraints)).unwrap();
        let (catalog, _) = catalog.create(new("u", Vec::new())).unwrap();
        (catalog, t.id)
    }

    #[test]
    fn names_and_defaults_change_and_the_old_version_does_not() {
        let (old, t) = catalog();
        let rename = AlterAction::RenameColumn {
            column: 1,
            name: "c".to_string(),
            texts: RowTexts {
                checks: vec![("t_b_check".to_string(), "c > 0".to_string())],
                generated: Vec::new(),
            },
        };
        let (catalog, entry) = old.alter_table(t, rename).unwrap();
        assert_eq!(entry.schema.index_of("c"), Some(1));
        let kind = &entry.constraint("t_b_check").unwrap().kind;
        assert!(matches!(kind, ConstraintKind::Check { expression, .. } if expression == "c > 0"));
        let rename = AlterAction::RenameTable {
            name: "v".to_string(),
            texts: RowTexts::default(),
        };
        let (catalog, _) = catalog.alter_table(t, rename).unwrap();
        assert!(catalog.find(&"t".into()).is_none() && catalog.table(&"v".into()).unwrap().id == t);
        let default = Some(ColumnDefault::Value(Value::Int(3)));
        let set = AlterAction::SetDefault {
            column: 0,
            default: default.clone(),
        };
        let (catalog, entry) = catalog.alter_table(t, set).unwrap();
        assert_eq!(entry.schema.columns[0].default, default);
        let rename = AlterAction::RenameConstraint {
            from: "t_pkey".to_string(),
            to: "first".to_string(),
        };
        let (catalog, entry) = catalog.alter_table(t, rename).unwrap();
        assert_eq!(entry.primary_key().unwrap().name, "first");
        assert!(catalog.index(&"first".into()).is_some() && catalog.index(&"t_pkey".into()).is_none());
        assert_eq!(old.table(&"t".into()).unwrap().schema.index_of("b"), Some(1));
    }

    #[test]
    fn constraints_go_with_their_indexes() {
        let (catalog, t) = catalog();
        let drop = |name: &str, if_exists| AlterAction::DropConstraint {
            name: name.to_string(),
            if_exists,
            behavior: DropBehavior::Restrict,
            readers: Vec::new(),
            path: SearchPath::default(),
        };
        let (next, entry) = catalog.alter_table(t, drop("t_pkey", false)).unwrap();
        assert!(entry.primary_key().is_none() && next.index(&"t_pkey".into()).is_none());
        // NOT NULL stays until it is dropped.
        assert!(!entry.schema.columns[0].nullable);
        let refused = next.alter_table(t, drop("t_pkey", false)).unwrap_err();
        assert_eq!(refused.state(), SqlState::UNDEFINED_OBJECT);
        let (same, _) = next.alter_table(t, drop("t_pkey", true)).unwrap();
        assert_eq!(same.version(), next.version());
        let nullable = AlterAction::DropNotNull { column: 0 };
        assert!(next.alter_table(t, nullable.clone()).unwrap().1.schema.columns[0].nullable);
        let refused = catalog.alter_table(t, nullable).unwrap_err();
        assert_eq!(refused.state(), SqlState::INVALID_TABLE_DEFINITION);
    }

    #[test]
    fn names_that_are_taken_are_refused() {
        let (catalog, t) = catalog();
        let renamed = |name: &str| AlterAction::RenameTable {
            name: name.to_string(),
            texts: RowTexts::default(),
        };
        let column = AlterAction::RenameColumn {
            column: 0,
            name: "b".to_string(),
            texts: RowTexts::default(),
        };
        let constraint = |from: &str, to: &str| AlterAction::RenameConstraint {
            from: from.to_string(),
            to: to.to_string(),
        };
        for (action, state) in [
            (renamed("u"), SqlState::DUPLICATE_TABLE),
            (renamed("t_pkey"), SqlState::DUPLICATE_TABLE),
            (column, SqlState::DUPLICATE_COLUMN),
            (constraint("t_pkey", "t_b_key"), SqlState::DUPLICATE_TABLE),
            (constraint("t_b_check", "t_b_key"), SqlState::DUPLICATE_OBJECT),
            (constraint("nowhere", "x"), SqlState::UNDEFINED_OBJECT),
        ] {
            let error = catalog.alter_table(t, action).unwrap_err();
            assert_eq!(error.state(), state, "{error}");
        }
    }
}
