//! ALTER TABLE. Each action is bound to the columns that those before it leave.

use super::constraints::{Constraints, Target};
use super::naming::find_own_table;
use super::rename::Renamed;
use super::scope::Clause;
use super::select::calls_volatile;
use super::{Binder, TableEntry, error, fold};
use crate::parse::{AlteredConstraint, MovedKind, RenameTo};
use crate::{Bound, CatalogView, Definition};
use frazil_catalog::{
    AlterAction, ColumnSequence, DropBehavior, NewConstraintKind, SearchPath, WrittenName, nearest,
};
use frazil_functions::Operand;
use frazil_types::{ColumnDefault, Error, Result, Schema, Span, SqlState};
use sqlparser::ast::{
    AlterColumnOperation, AlterTable, AlterTableOperation as Operation, ColumnDef, DropBehavior as Behavior,
    Ident, ObjectName, RenameTableNameKind, Spanned, TableConstraint,
};

/// Binds ALTER TABLE.
pub(crate) fn alter_table<'a>(mut binder: Binder<'a>, alter: &'a AlterTable) -> Result<Bound> {
    if alter.on_cluster.is_some() || alter.location.is_some() || alter.table_type.is_some() {
        return Err(Error::unsupported("ALTER TABLE with ON CLUSTER or LOCATION"));
    }
    if let Some(bound) = renamed_relation(&binder, alter)? {
        return Ok(bound);
    }
    let entry = match binder.own_table(&alter.name) {
        Err(e) if alter.if_exists && e.state() == SqlState::UNDEFINED_TABLE => {
            let name = binder.written_name(&alter.name)?.name;
            return Ok(Bound::plain(Definition::skipped_alter(&name)));
        }
        Err(e) => return Err(e),
        Ok(_) => binder.table(&alter.name)?,
    };
    if entry.materialized.is_some() {
        refuse_of_materialized(&entry, &alter.operations)?;
    }
    if !alter.operations.iter().all(is_rename) {
        binder.catalog.refuse_used(entry.id, "ALTER TABLE")?;
    }
    if let [Operation::SetOptionsParens { options }] = &alter.operations[..] {
        return Ok(Bound::plain(Definition::AlterOptions {
            table: entry.id,
            options: super::alter::settings(&binder, options)?,
        }));
    }
    stands_alone(&binder, alter)?;
    binder.takes_parameters = false;
    let mut altered = Altered {
        schema: (*entry.schema).clone(),
        entry,
        before: None,
        added: Vec::new(),
        skipped: Vec::new(),
    };
    let mut actions = Vec::with_capacity(alter.operations.len());
    let mut in_order: Vec<&Operation> = alter.operations.iter().collect();
    in_order.sort_by_key(|operation| pass(operation));
    // Actions at the front whose order stays: a position that one of them names counts the columns that there are then.
    let mut settled = 0;
    for operation in in_order {
        binder.alter_action(&mut altered, operation, &mut actions)?;
        if pass(operation) < 3 {
            settled = actions.len();
        }
    }
    binder.constraints_of_added(&altered, &mut actions)?;
    actions[settled..].sort_by_key(pass_of_action);
    Ok(Bound::plain(Definition::AlterTable {
        table: Some(altered.entry.id),
        actions,
        skipped: altered.skipped,
    }))
}

/// Binds ALTER CONSTRAINT. 42P01, 42809 for a view.
pub(crate) fn alter_constraint(catalog: &dyn CatalogView, altered: &AlteredConstraint) -> Result<Bound> {
    match find_own_table(catalog, &altered.table) {
        Ok(table) => {
            let (name, deferral) = (altered.name.clone(), altered.deferral);
            Ok(Bound::plain(Definition::AlterTable {
                table: Some(table),
                actions: vec![AlterAction::SetDeferral { name, deferral }],
                skipped: Vec::new(),
            }))
        }
        Err(e) if altered.if_exists && e.state() == SqlState::UNDEFINED_TABLE => {
            Ok(Bound::plain(Definition::skipped_alter(&altered.table.name)))
        }
        Err(e) => Err(e),
    }
}

/// 42809 for an action that changes the rows of a materialized view or what is asked of them.
fn refuse_of_materialized(entry: &TableEntry, operations: &[Operation]) -> Result<()> {
    let is_allowed = |operation: &&Operation| {
        matches!(
            operation,
            Operation::RenameTable { .. }
                | Operation::RenameColumn { .. }
                | Operation::SetOptionsParens { .. }
        )
    };
    let Some(refused) = operations.iter().find(|operation| !is_allowed(operation)) else {
        return Ok(());
    };
    let words = refused.to_string();
    let words: Vec<&str> = words.split_whitespace().take(2).collect();
    let message = format!(
        "ALTER action {} cannot be performed on relation \"{}\"",
        words.join(" "),
        entry.name
    );
    Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message)
        .with_detail("This operation is not supported for materialized views."))
}

/// True for an action that PostgreSQL takes as a statement of its own, which leaves rows alone.
fn is_rename(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::RenameTable { .. } | Operation::RenameColumn { .. } | Operation::RenameConstraint { .. }
    )
}

/// Binds ALTER TABLE … RENAME of a view or an index, which PostgreSQL allows; `None` for anything else.
fn renamed_relation(binder: &Binder, alter: &AlterTable) -> Result<Option<Bound>> {
    let to = match &alter.operations[..] {
        [
            Operation::RenameTable {
                table_name: RenameTableNameKind::To(name),
            },
        ] => RenameTo::Name(binder.new_table_name(name)?),
        [
            Operation::RenameColumn {
                old_column_name,
                new_column_name,
            },
        ] => RenameTo::Column {
            from: fold(old_column_name),
            to: fold(new_column_name),
        },
        _ => return Ok(None),
    };
    let written = binder.written_name(&alter.name)?;
    let renamed = match super::renames::of_relation(binder.catalog, MovedKind::Table, &written, to) {
        // ALTER TABLE itself misses what does not exist.
        Err(e) if e.state() == SqlState::UNDEFINED_TABLE => None,
        renamed => renamed?,
    };
    let tag = MovedKind::Table.tag();
    Ok(renamed.map(|renamed| {
        let renamed = Some(renamed);
        Bound::plain(Definition::Rename { renamed, tag })
    }))
}

/// When an action is bound, as PostgreSQL orders those of a statement: what goes, new types, columns that come, what
/// needs these.
fn pass(operation: &Operation) -> u8 {
    match operation {
        Operation::DropColumn { .. } | Operation::DropConstraint { .. } => 0,
        Operation::AlterColumn {
            op: AlterColumnOperation::DropNotNull | AlterColumnOperation::DropDefault,
            ..
        } => 0,
        Operation::AlterColumn {
            op: AlterColumnOperation::SetDataType { .. },
            ..
        } => 1,
        Operation::AddColumn { .. } => 2,
        _ => 3,
    }
}

/// When an action is done: keys come before what looks at all rows.
fn pass_of_action(action: &AlterAction) -> u8 {
    match action {
        AlterAction::DropColumn { .. }
        | AlterAction::DropConstraint { .. }
        | AlterAction::DropNotNull { .. } => 0,
        AlterAction::AddColumn { .. }
        | AlterAction::AddSequence(_)
        | AlterAction::FillColumn { .. }
        | AlterAction::SetType(_)
        | AlterAction::ReplaceColumn(_) => 1,
        AlterAction::AddConstraint(new) => match new.kind {
            NewConstraintKind::PrimaryKey { .. } | NewConstraintKind::Unique { .. } => 2,
            NewConstraintKind::Check { .. } => 4,
            NewConstraintKind::ForeignKey(_) => 5,
        },
        AlterAction::SetNotNull { .. } => 3,
        AlterAction::ValidateConstraint { .. } => 5,
        AlterAction::SetDefault { .. }
        | AlterAction::DropDefault { .. }
        | AlterAction::RenameTable { .. }
        | AlterAction::SetIdentity { .. }
        | AlterAction::DropIdentity { .. }
        | AlterAction::DropExpression { .. }
        | AlterAction::SetSchema { .. }
        | AlterAction::RenameColumn { .. }
        | AlterAction::SetDeferral { .. }
        | AlterAction::RenameConstraint { .. } => 4,
    }
}

/// The table, and its columns as the actions bound so far leave them.
pub(super) struct Altered<'a> {
    pub entry: TableEntry,
    pub schema: Schema,
    /// The columns before the first of them got another type: the row of USING.
    pub before: Option<Schema>,
    /// Columns that come: their positions, and where they are defined.
    added: Vec<(usize, &'a ColumnDef)>,
    /// Notices of what IF EXISTS and IF NOT EXISTS left out.
    skipped: Vec<(SqlState, String)>,
}

impl Altered<'_> {
    fn has_constraint(&self, name: &str) -> bool {
        let mut constraints = self.entry.constraints.iter();
        constraints.any(|constraint| constraint.name == name)
    }

    /// Notes that IF EXISTS did not find an object of a kind.
    fn skip(&mut self, kind: &str, name: &Ident) {
        let (name, table) = (fold(name), &self.entry.name);
        let notice = format!("{kind} \"{name}\" of relation \"{table}\" does not exist, skipping");
        self.skipped.push((SqlState::SUCCESSFUL_COMPLETION, notice));
    }

    /// Position of a column. 42703.
    fn position(&self, binder: &Binder, name: &Ident) -> Result<usize> {
        let (name, span) = (fold(name), binder.span(name));
        self.schema.index_of(&name).ok_or_else(|| {
            let message = format!(
                "column \"{name}\" of relation \"{}\" does not exist",
                self.entry.name
            );
            let missing = error(SqlState::UNDEFINED_COLUMN, message, span);
            match nearest(&name, self.schema.columns.iter().map(|c| c.name.as_str())) {
                Some(near) => missing.with_hint(format!("did you mean \"{near}\"?")),
                None => missing,
            }
        })
    }
}

/// 42601 for RENAME among other actions.
fn stands_alone(binder: &Binder, alter: &AlterTable) -> Result<()> {
    let is_rename = |operation: &Operation| {
        matches!(
            operation,
            Operation::RenameTable { .. }
                | Operation::RenameColumn { .. }
                | Operation::RenameConstraint { .. }
        )
    };
    match &alter.operations[..] {
        [_] => Ok(()),
        several if several.iter().any(is_rename) => Err(binder.syntax_error(",", Span::NONE)),
        _ => Ok(()),
    }
}

impl<'a> Binder<'a> {
    /// The new name of a table, which stays in its schema. 42601.
    fn new_table_name(&self, name: &ObjectName) -> Result<String> {
        match self.written_name(name)? {
            WrittenName { schema: None, name } => Ok(name),
            WrittenName { .. } => Err(self.syntax_error(".", Span::NONE)),
        }
    }

    /// Binds an action; several columns may go with one, and none where it says IF EXISTS or IF NOT EXISTS.
    fn alter_action(
        &mut self,
        altered: &mut Altered<'a>,
        operation: &'a Operation,
        actions: &mut Vec<AlterAction>,
    ) -> Result<()> {
        actions.push(match operation {
            Operation::AddColumn {
                if_not_exists,
                column_def,
                ..
            } => return self.add_column(altered, column_def, *if_not_exists, actions),
            Operation::DropColumn {
                column_names,
                if_exists,
                drop_behavior,
                ..
            } => {
                for name in column_names {
                    self.dropped_column(altered, name, (*if_exists, *drop_behavior), actions)?;
                }
                return Ok(());
            }
            Operation::RenameTable {
                table_name: RenameTableNameKind::To(name),
            } => {
                let name = self.new_table_name(name)?;
                let texts = self.texts_after(&altered.entry, Renamed::Table(&name))?;
                AlterAction::RenameTable { name, texts }
            }
            Operation::RenameColumn {
                old_column_name,
                new_column_name,
            } => {
                self.not_reserved(new_column_name)?;
                let column = altered.position(self, old_column_name)?;
                let name = fold(new_column_name);
                super::system_columns::refuse_name(&name, self.span(new_column_name))?;
                let texts = self.texts_after(&altered.entry, Renamed::Column(column, &name))?;
                AlterAction::RenameColumn { column, name, texts }
            }
            Operation::RenameConstraint { old_name, new_name } => AlterAction::RenameConstraint {
                from: fold(old_name),
                to: fold(new_name),
            },
            Operation::AlterColumn { column_name, op } => {
                self.altered_column(altered, column_name, op, actions)?;
                return Ok(());
            }
            Operation::AddConstraint {
                constraint,
                not_valid,
            } => self.added_constraint(altered, constraint, *not_valid)?,
            Operation::ValidateConstraint { name } => AlterAction::ValidateConstraint { name: fold(name) },
            Operation::DropConstraint {
                if_exists,
                name,
                drop_behavior,
            } => {
                if *if_exists && !altered.has_constraint(&fold(name)) {
                    altered.skip("constraint", name);
                    return Ok(());
                }
                dropped_constraint(name, *if_exists, *drop_behavior, self.catalog.path())
            }
            other => return Err(Error::unsupported(refused(other))),
        });
        Ok(())
    }

    /// Adds the actions of ADD COLUMN; none if IF NOT EXISTS finds the column.
    fn add_column(
        &mut self,
        altered: &mut Altered<'a>,
        column: &'a ColumnDef,
        if_not_exists: bool,
        actions: &mut Vec<AlterAction>,
    ) -> Result<()> {
        let span = self.span(&column.name);
        let Some(column) = self.added_column(altered, column, if_not_exists)? else {
            return Ok(());
        };
        super::list_limits::columns(altered.schema.columns.len(), span)?;
        let position = altered.schema.columns.len() - 1;
        match self.column_sequence.take() {
            None if self.is_volatile_default(&column)? => actions.extend(with_values(position, column)),
            sequence => actions.extend(with_sequence(position, column, sequence)),
        }
        Ok(())
    }

    /// True if the default of a column has another value for each row.
    fn is_volatile_default(&mut self, column: &frazil_types::ColumnDef) -> Result<bool> {
        let Some(ColumnDefault::Expression(text)) = &column.default else {
            return Ok(false);
        };
        Ok(match self.stored(text, Vec::new(), Clause::Default)? {
            Operand::Typed(e) => calls_volatile(&e),
            Operand::Unknown(_) => false,
        })
    }

    /// ALTER COLUMN, whose effect later actions see. A new type takes the place of one that changed nothing.
    fn altered_column(
        &mut self,
        altered: &mut Altered<'a>,
        name: &Ident,
        operation: &'a AlterColumnOperation,
        actions: &mut Vec<AlterAction>,
    ) -> Result<()> {
        let column = altered.position(self, name)?;
        if let AlterColumnOperation::SetDataType { data_type, using, .. } = operation {
            let place = (column, self.span(name));
            let bound = self.column_type(altered, place, data_type, using.as_ref())?;
            actions.retain(|action| !matches!(action, AlterAction::SetType(set) if set.column == column));
            actions.extend(bound);
            return Ok(());
        }
        let action = self.alter_column(altered, column, operation)?;
        if let AlterColumnOperation::DropDefault = operation {
            altered.schema.columns[column].default = None;
        }
        actions.push(action);
        Ok(())
    }

    /// ADD CONSTRAINT. 0A000 for a primary or unique key that is NOT VALID.
    fn added_constraint(
        &mut self,
        altered: &Altered<'a>,
        constraint: &'a TableConstraint,
        not_valid: bool,
    ) -> Result<AlterAction> {
        let name = altered.entry.qualified();
        let target = Target {
            name: &name,
            schema: &altered.schema,
        };
        let mut constraints = Constraints::default();
        self.table_constraint(&target, constraint, &mut constraints)?;
        let mut made = constraints.in_order(&altered.entry.name)?.pop();
        match made.as_mut().map(|made| &mut made.kind) {
            Some(NewConstraintKind::ForeignKey(key)) => key.is_valid = !not_valid,
            Some(NewConstraintKind::Check { is_valid, .. }) => *is_valid = !not_valid,
            Some(NewConstraintKind::PrimaryKey { .. } | NewConstraintKind::Unique { .. }) if not_valid => {
                let span = self.place.span(constraint.span());
                let what = match constraint {
                    TableConstraint::PrimaryKey(_) => "PRIMARY KEY",
                    _ => "UNIQUE",
                };
                let message = format!("{what} constraints cannot be marked NOT VALID");
                return Err(error(SqlState::FEATURE_NOT_SUPPORTED, message, span));
            }
            Some(NewConstraintKind::PrimaryKey { .. } | NewConstraintKind::Unique { .. }) | None => {}
        }
        made.map(AlterAction::AddConstraint)
            .ok_or_else(|| Error::internal("a constraint that is none"))
    }

    /// ADD COLUMN; `None` if the column is there and may be. 42701.
    fn added_column(
        &mut self,
        altered: &mut Altered<'a>,
        definition: &'a ColumnDef,
        if_not_exists: bool,
    ) -> Result<Option<frazil_types::ColumnDef>> {
        let name = fold(&definition.name);
        if altered.schema.index_of(&name).is_some() {
            let table = &altered.entry.name;
            let message = format!("column \"{name}\" of relation \"{table}\" already exists");
            if if_not_exists {
                let notice = format!("{message}, skipping");
                altered.skipped.push((SqlState::DUPLICATE_COLUMN, notice));
                return Ok(None);
            }
            let span = self.span(&definition.name);
            return Err(error(SqlState::DUPLICATE_COLUMN, message, span));
        }
        super::system_columns::refuse_name(&name, self.span(&definition.name))?;
        let column = self.column_definition(definition)?;
        let position = altered.schema.columns.len();
        altered.added.push((position, definition));
        altered.schema.columns.push(column);
        self.generation(
            &altered.entry.qualified(),
            &mut altered.schema,
            position,
            definition,
        )?;
        Ok(altered.schema.columns.last().cloned())
    }

    /// DROP COLUMN, with CASCADE behind those of the generated columns that read it; nothing if there is no such column
    /// and need not be. 42703.
    fn dropped_column(
        &self,
        altered: &mut Altered<'a>,
        name: &Ident,
        (if_exists, written): (bool, Option<Behavior>),
        actions: &mut Vec<AlterAction>,
    ) -> Result<()> {
        if if_exists && altered.schema.index_of(&fold(name)).is_none() {
            altered.skip("column", name);
            return Ok(());
        }
        let column = altered.position(self, name)?;
        let behavior = behavior(written);
        let mut gone = vec![column];
        if behavior == DropBehavior::Cascade {
            let reads = |at: &usize| {
                let reads = altered.schema.columns[*at].generated_reads();
                reads.is_some_and(|reads| reads.contains(&column))
            };
            gone.extend((0..altered.schema.columns.len()).filter(reads));
        }
        while let Some(at) = gone.pop() {
            altered.schema.remove(at);
            gone.iter_mut()
                .filter(|other| **other > at)
                .for_each(|other| *other -= 1);
            actions.push(AlterAction::DropColumn {
                column: at,
                behavior,
                readers: Vec::new(),
                path: self.catalog.path().clone(),
                is_dependent: !gone.is_empty(),
            });
        }
        Ok(())
    }

    /// The constraints of the columns that come, when all of these are known.
    fn constraints_of_added(&mut self, altered: &Altered<'a>, actions: &mut Vec<AlterAction>) -> Result<()> {
        let name = altered.entry.qualified();
        let target = Target {
            name: &name,
            schema: &altered.schema,
        };
        let mut constraints = Constraints::default();
        for (position, definition) in &altered.added {
            let place = (*position, self.span(&definition.name));
            for option in &definition.options {
                self.column_constraint(&target, place, option, &mut constraints)?;
            }
            self.domain_checks(&target, place, &mut constraints)?;
        }
        let made = constraints.in_order(&altered.entry.name)?.into_iter();
        actions.extend(made.map(AlterAction::AddConstraint));
        Ok(())
    }

    fn alter_column(
        &mut self,
        altered: &mut Altered<'a>,
        column: usize,
        operation: &'a AlterColumnOperation,
    ) -> Result<AlterAction> {
        Ok(match operation {
            AlterColumnOperation::SetNotNull => AlterAction::SetNotNull { column },
            AlterColumnOperation::DropNotNull => {
                refuse_identity(altered, column, None)?;
                AlterAction::DropNotNull { column }
            }
            AlterColumnOperation::SetDefault { value } => {
                refuse_identity(altered, column, Some((" first.", "")))?;
                let default = self.default(&altered.schema.columns[column], value)?;
                AlterAction::SetDefault { column, default }
            }
            AlterColumnOperation::DropDefault => {
                refuse_identity(altered, column, Some((" instead.", " instead.")))?;
                AlterAction::DropDefault { column }
            }
            _ => return Err(Error::unsupported("this ALTER COLUMN")),
        })
    }
}

/// The actions that add a column. If it owns a sequence or is generated, rows that there are get values before it is
/// NOT NULL.
fn with_sequence(
    position: usize,
    mut column: frazil_types::ColumnDef,
    sequence: Option<ColumnSequence>,
) -> Vec<AlterAction> {
    if column.is_generated() && !column.nullable {
        column.nullable = true;
        let not_null = AlterAction::SetNotNull { column: position };
        return vec![AlterAction::AddColumn { column }, not_null];
    }
    let Some(sequence) = sequence else {
        return vec![AlterAction::AddColumn { column }];
    };
    column.nullable = true;
    let sequence = ColumnSequence {
        column: position,
        fills: true,
        ..sequence
    };
    vec![
        AlterAction::AddColumn { column },
        AlterAction::AddSequence(sequence),
        AlterAction::SetNotNull { column: position },
    ]
}

/// The actions that add a column whose default each row that there is gets by itself, before the column is NOT NULL.
fn with_values(position: usize, mut column: frazil_types::ColumnDef) -> Vec<AlterAction> {
    let is_strict = column.has_own_not_null();
    let is_of_strict_domain = !column.nullable && !is_strict;
    let is_of_domain = column.domain.is_some_and(|domain| domain.gives_default);
    let default = column.default.take();
    column.nullable = true;
    let default = match is_of_domain {
        // The column has its domain's again.
        true => AlterAction::DropDefault { column: position },
        false => AlterAction::SetDefault {
            column: position,
            default,
        },
    };
    let mut actions = vec![
        AlterAction::AddColumn { column },
        default,
        AlterAction::FillColumn { column: position },
    ];
    if is_strict || is_of_strict_domain {
        actions.push(AlterAction::SetNotNull { column: position });
    }
    if is_of_strict_domain {
        // The rows are checked by now, and the column has its domain's again.
        actions.push(AlterAction::DropNotNull { column: position });
    }
    actions
}

/// 42601 for what an identity column does not take, and for another default of a generated one. `ends`: how the hints
/// for identity and generated columns end, if the action is one on the default; no hint where an end is empty.
fn refuse_identity(altered: &Altered<'_>, column: usize, ends: Option<(&str, &str)>) -> Result<()> {
    let column = &altered.schema.columns[column];
    let (what, dropped, end) = match (&column.default, ends) {
        (Some(ColumnDefault::Identity { .. }), _) => {
            ("an identity column", "IDENTITY", ends.map_or("", |ends| ends.0))
        }
        (Some(ColumnDefault::Generated { .. }), Some(ends)) => ("a generated column", "EXPRESSION", ends.1),
        (Some(ColumnDefault::Generated { .. }), None)
        | (Some(ColumnDefault::Value(_) | ColumnDefault::Expression(_)) | None, _) => return Ok(()),
    };
    let table = &altered.entry.name;
    let message = format!("column \"{}\" of relation \"{table}\" is {what}", column.name);
    let error = Error::new(SqlState::SYNTAX_ERROR, message);
    Err(match end {
        "" => error,
        end => error.with_hint(format!(
            "Use ALTER TABLE ... ALTER COLUMN ... DROP {dropped}{end}"
        )),
    })
}

/// DROP CONSTRAINT.
fn dropped_constraint(
    name: &Ident,
    if_exists: bool,
    written: Option<Behavior>,
    path: &SearchPath,
) -> AlterAction {
    AlterAction::DropConstraint {
        name: fold(name),
        if_exists,
        behavior: behavior(written),
        readers: Vec::new(),
        path: path.clone(),
    }
}

/// RESTRICT unless CASCADE is written.
fn behavior(written: Option<Behavior>) -> DropBehavior {
    match written {
        Some(Behavior::Cascade) => DropBehavior::Cascade,
        Some(Behavior::Restrict) | None => DropBehavior::Restrict,
    }
}

/// The name of an action that there is not.
fn refused(operation: &Operation) -> String {
    let text = operation.to_string();
    let words: Vec<&str> = text.split_whitespace().take(2).collect();
    match operation {
        Operation::SetOptionsParens { .. } => "SET (…) among other actions of ALTER TABLE".to_string(),
        _ => format!("ALTER TABLE … {}", words.join(" ")),
    }
}
