//! Sequences: CREATE and ALTER SEQUENCE, calls of `nextval` and its kin, and a sequence in FROM.

use super::from::FromRows;
use super::insert::column_position;
use super::naming::{
    find_sequence, find_table, find_unused_table, schema_name, to_create, to_create_temporary,
};
use super::relation_call::{constant_text, is_null, written_in};
use super::scope::Clause;
use super::{Binder, OutputColumn};
use crate::parse::{
    AlteredIdentity, IdentityAction, Overriding, SequenceAction, WrittenOptions, WrittenSequence,
};
use crate::{Bound, CatalogView, Definition, TableEntry};
use frazil_catalog::{
    AlterAction, AlterSequence, ColumnSequence, NewSequence, QualifiedName, Rights, SYSTEM_SCHEMA,
    SequenceEntry, SequenceOptions, TEMPORARY_ALIAS, is_temporary_schema, missing_schema,
};
use frazil_functions::{Operand, SequenceCall, SequenceField};
use frazil_types::{
    ColumnDef, ColumnDefault, Error, FIRST_USER_OID, LogicalType, ObjectId, Result, Span, SqlState,
};
use sqlparser::ast::{DataType, Expr as SqlExpr, ObjectName, TableAlias};
use std::sync::Arc;

/// Functions of a sequence that their first argument names.
const CALLS: [(&str, SequenceCall); 3] = [
    ("currval", SequenceCall::Current),
    ("nextval", SequenceCall::Next),
    ("setval", SequenceCall::Set),
];

/// Binds CREATE SEQUENCE and ALTER SEQUENCE. 42P01, 42809, 42703.
pub(crate) fn sequence(catalog: &dyn CatalogView, written: &WrittenSequence) -> Result<Bound> {
    if let SequenceAction::Create(options) = &written.action {
        return Ok(Bound::plain(Definition::CreateSequence(NewSequence {
            name: match written.is_temporary {
                true => to_create_temporary(catalog, &written.name)?,
                false => to_create(catalog, &written.name)?,
            },
            if_not_exists: written.if_,
            options: options.options.clone(),
            owner: owner(catalog, options)?.flatten(),
        })));
    }
    let found = match find_sequence(catalog, catalog.path(), &written.name) {
        Err(e) if written.if_ && e.state() == SqlState::UNDEFINED_TABLE => None,
        found => Some(found?),
    };
    let action = match &written.action {
        SequenceAction::Create(options) | SequenceAction::Alter(options) => {
            AlterSequence::Options(options.options.clone(), owner(catalog, options)?)
        }
        SequenceAction::Rename(name) => AlterSequence::Rename(name.clone()),
        SequenceAction::SetSchema(schema) => AlterSequence::SetSchema(schema_name(catalog, schema)),
    };
    Ok(Bound::plain(Definition::AlterSequence(
        found.map(|sequence| (sequence.id, action)),
    )))
}

/// The table and the position of the column of OWNED BY; `Some(None)` for NONE.
fn owner(catalog: &dyn CatalogView, options: &WrittenOptions) -> Result<Option<Option<(ObjectId, usize)>>> {
    if options.name.is_some() {
        return Err(Error::new(
            SqlState::SYNTAX_ERROR,
            "syntax error at or near \"sequence\"",
        ));
    }
    let Some(Some((table, column))) = &options.owned_by else {
        return Ok(options.owned_by.as_ref().map(|_| None));
    };
    let entry = find_table(catalog, table)?;
    let Some(id) = catalog.catalog_id(entry.id) else {
        let message = format!("sequence cannot be owned by relation \"{}\"", entry.name);
        return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message));
    };
    Ok(Some(Some((id, column_position(&entry, column)?))))
}

/// Binds ALTER COLUMN of an identity or generated column. 42P01, 42703.
pub(crate) fn alter_identity(catalog: &dyn CatalogView, altered: &AlteredIdentity) -> Result<Bound> {
    let entry = match find_table(catalog, &altered.table) {
        Err(e) if altered.if_exists && e.state() == SqlState::UNDEFINED_TABLE => {
            return Ok(Bound::plain(Definition::skipped_alter(&altered.table.name)));
        }
        found => found?,
    };
    let table = find_unused_table(catalog, &altered.table, "ALTER TABLE")?;
    let mut actions = Vec::with_capacity(altered.actions.len());
    for (column, action) in &altered.actions {
        let column = column_position(&entry, column)?;
        actions.push(identity_action(catalog, &entry, column, action)?);
    }
    // PostgreSQL's order: what goes, changes of what there is, what comes.
    actions.sort_by_key(|action| match action {
        AlterAction::AddSequence(_) => 2,
        AlterAction::SetIdentity { .. } => 1,
        _ => 0,
    });
    Ok(Bound::plain(Definition::AlterTable {
        table: Some(table),
        actions,
        skipped: Vec::new(),
    }))
}

/// An action on an identity or generated column. 22023 for a type that no identity column has.
fn identity_action(
    catalog: &dyn CatalogView,
    entry: &TableEntry,
    column: usize,
    action: &IdentityAction,
) -> Result<AlterAction> {
    Ok(match action {
        IdentityAction::Add { always, options } => {
            let ty = identity_type(entry.schema.columns[column].ty)?;
            AlterAction::AddSequence(ColumnSequence {
                column,
                options: with_type(&options.options, ty),
                name: options
                    .name
                    .as_ref()
                    .map(|name| to_create(catalog, name))
                    .transpose()?,
                identity: Some(*always),
                fills: false,
            })
        }
        IdentityAction::Set { always, options } => AlterAction::SetIdentity {
            column,
            always: *always,
            options: options.options.clone(),
        },
        IdentityAction::Drop { if_exists } => AlterAction::DropIdentity {
            column,
            if_exists: *if_exists,
        },
        IdentityAction::DropExpression { if_exists } => AlterAction::DropExpression {
            column,
            if_exists: *if_exists,
        },
    })
}

/// 22023 for a type that no identity column has.
fn identity_type(ty: LogicalType) -> Result<LogicalType> {
    match ty {
        LogicalType::SmallInt | LogicalType::Integer | LogicalType::BigInt => Ok(ty),
        _ => {
            let message = "identity column type must be smallint, integer, or bigint";
            Err(Error::new(SqlState::INVALID_PARAMETER, message))
        }
    }
}

fn with_type(options: &SequenceOptions, ty: LogicalType) -> SequenceOptions {
    SequenceOptions {
        ty: Some(ty),
        ..options.clone()
    }
}

/// 428C9 for a value that a statement gives a column whose values the system makes: INSERT, or UPDATE.
fn not_given(column: &ColumnDef, message: String, hint: Option<&str>) -> Error {
    let detail = match column.default {
        Some(ColumnDefault::Generated { .. }) => format!("Column \"{}\" is a generated column.", column.name),
        _ => format!(
            "Column \"{}\" is an identity column defined as GENERATED ALWAYS.",
            column.name
        ),
    };
    let error = Error::new(SqlState::GENERATED_ALWAYS, message).with_detail(detail);
    match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

impl<'a> Binder<'a> {
    /// The sequence that a column owns: of a serial column, or with the next of the statement's options of an identity
    /// column. 22023, 3F000.
    pub(super) fn sequence_of_column(
        &mut self,
        column: &ColumnDef,
        identity: Option<bool>,
        span: Span,
    ) -> Result<ColumnSequence> {
        let (mut options, mut name) = (SequenceOptions::default(), None);
        if identity.is_some()
            && let [first, rest @ ..] = self.identities
        {
            options = first.options.clone();
            name = first
                .name
                .as_ref()
                .map(|name| to_create(self.catalog, name))
                .transpose()?;
            self.identities = rest;
        }
        let ty = identity_type(column.ty).map_err(|e| e.at_span(span))?;
        Ok(ColumnSequence {
            column: 0,
            options: with_type(&options, ty),
            name,
            identity,
            fills: false,
        })
    }

    /// True if INSERT takes the default of a column instead of what the statement gives: OVERRIDING USER VALUE.
    pub(super) fn overrides(&self, column: &ColumnDef) -> bool {
        self.overriding == Some(Overriding::User)
            && matches!(column.default, Some(ColumnDefault::Identity { .. }))
    }

    /// 428C9 if a value that INSERT gives a column is not taken.
    pub(super) fn check_inserted(&self, column: &ColumnDef, span: Span) -> Result<()> {
        let (is_refused, hint) = match column.default {
            Some(ColumnDefault::Generated { .. }) => (true, None),
            Some(ColumnDefault::Identity { always, .. }) => (
                always && self.overriding.is_none(),
                Some("Use OVERRIDING SYSTEM VALUE to override."),
            ),
            Some(ColumnDefault::Value(_) | ColumnDefault::Expression(_)) | None => (false, None),
        };
        let message = format!(
            "cannot insert a non-DEFAULT value into column \"{}\"",
            column.name
        );
        match is_refused {
            true => Err(not_given(column, message, hint).at_span(span)),
            false => Ok(()),
        }
    }

    /// 428C9 if a value that UPDATE gives a column is not taken.
    pub(super) fn check_updated(&self, column: &ColumnDef) -> Result<()> {
        match column.default {
            Some(ColumnDefault::Generated { .. } | ColumnDefault::Identity { always: true, .. }) => {
                let message = format!("column \"{}\" can only be updated to DEFAULT", column.name);
                Err(not_given(column, message, None))
            }
            Some(
                ColumnDefault::Value(_)
                | ColumnDefault::Expression(_)
                | ColumnDefault::Identity { always: false, .. },
            )
            | None => Ok(()),
        }
    }

    /// The name of the sequence that a column owns, as `pg_get_serial_sequence` gives it; NULL if it owns none.
    pub(super) fn serial_sequence(&self, table: &TableEntry, column: usize, span: Span) -> Operand {
        let number = table.schema.columns[column].number;
        let id = self.catalog.catalog_id(table.id);
        let owned = id.and_then(|id| self.catalog.owned_sequence(id, number));
        match owned {
            Some(name) if is_temporary_schema(&name.schema) => {
                let shown = QualifiedName::new(TEMPORARY_ALIAS, name.name);
                Operand::literal(shown.to_string(), span)
            }
            Some(name) => Operand::literal(name.to_string(), span),
            None => Operand::null(span),
        }
    }

    /// The argument of a call of a sequence's function without its cast to `regclass`.
    pub(super) fn sequence_argument(name: &str, list: &mut [&'a SqlExpr]) {
        if !CALLS.iter().any(|call| call.0 == name) {
            return;
        }
        if let [first, ..] = list {
            while let SqlExpr::Cast { expr, data_type, .. } = *first {
                let is_text = matches!(data_type, DataType::Text | DataType::Regclass);
                if !is_text || !matches!(**expr, SqlExpr::Value(_) | SqlExpr::Cast { .. }) {
                    return;
                }
                *first = &**expr;
            }
        }
    }

    /// A call of a function of a sequence, which its first argument names; `None` for another function, and for NULL.
    /// 42P01, 42809, 0A000 for a sequence that is not named by a constant.
    pub(super) fn sequence_call(
        &mut self,
        name: &str,
        arguments: &[Operand],
        span: Span,
    ) -> Result<Option<Operand>> {
        let Some((_, call)) = CALLS.iter().find(|call| call.0 == name) else {
            return Ok(None);
        };
        let Some(first) = arguments.first().filter(|first| !is_null(first)) else {
            return Ok(None);
        };
        let Some(text) = constant_text(first) else {
            let what = format!("{name} of a sequence that is not named by a constant");
            return Err(Error::unsupported(what).at_span(span));
        };
        let sequence = self.sequence_of_text(text).map_err(|e| e.at_span(first.span()))?;
        let is_default = self.levels.iter().any(|level| level.clause == Clause::Default);
        if is_default {
            self.keep_sequence(sequence.id, first.span());
        }
        if self.is_stored || !is_default {
            let any = rights_of_call(name);
            self.check_sequence(sequence.id, any)
                .map_err(|e| e.at_span(first.span()))?;
        }
        let plain = self
            .typing
            .call(name, arguments.to_vec(), span, &mut self.columns)?;
        let Operand::Typed(plain) = plain else {
            return Err(Error::internal("a call of a sequence's function without a type"));
        };
        Ok(Some(call.of(sequence, plain).into()))
    }

    /// The sequence that a text names, by its name or its number.
    fn sequence_of_text(&self, text: &str) -> Result<Arc<SequenceEntry>> {
        let number = text.trim().parse::<u32>().ok();
        if let Some(id) = number
            .filter(|oid| *oid >= FIRST_USER_OID)
            .and_then(ObjectId::of_oid)
        {
            return self.catalog.sequence_of(id).ok_or_else(|| {
                let message = format!("could not open relation with OID {}", id.oid());
                Error::new(SqlState::UNDEFINED_TABLE, message)
            });
        }
        let written = written_in(text);
        if let Some(schema) = written
            .schema
            .as_deref()
            .map(|schema| schema_name(self.catalog, schema))
            && schema != SYSTEM_SCHEMA
            && !self.catalog.has_schema(&schema)
        {
            return Err(missing_schema(&schema));
        }
        find_sequence(self.catalog, &self.path, &written)
    }

    /// Lets the text of a default name a sequence, whose literal stands at `span`, by its number.
    fn keep_sequence(&mut self, sequence: ObjectId, span: Span) {
        let behind = self.place.text().get(span.end as usize..).unwrap_or_default();
        let behind = behind.trim_start().strip_prefix("::").unwrap_or_default();
        let is_cast = behind.trim_start().to_lowercase().starts_with("regclass");
        let text = match is_cast {
            true => format!("'{}'", sequence.oid()),
            false => frazil_catalog::sequence_text(sequence),
        };
        self.type_names.push((span, text));
    }

    /// True if a name names a sequence.
    pub(super) fn is_sequence(&self, name: &ObjectName) -> bool {
        let written = self.written_name(name);
        written.is_ok_and(|written| find_sequence(self.catalog, &self.path, &written).is_ok())
    }

    /// The row of a sequence that a name in FROM names: `last_value`, `log_cnt`, `is_called`. `None` if it names none.
    pub(super) fn sequence_in_from(
        &mut self,
        name: &ObjectName,
        alias: Option<&'a TableAlias>,
    ) -> Result<Option<FromRows>> {
        let written = self.written_name(name)?;
        let Ok(sequence) = find_sequence(self.catalog, &self.path, &written) else {
            return Ok(None);
        };
        self.check_sequence(sequence.id, Rights::SELECT)?;
        let mut columns = Vec::new();
        let mut row = Vec::new();
        for field in SequenceField::ALL {
            let value = field.of(sequence.clone());
            let id = self.columns.add(field.name(), value.ty, value.nullable);
            columns.push(OutputColumn::new(field.name().to_string(), id));
            row.push(value);
        }
        let relation = self.rows_of(columns, vec![row]);
        self.item(relation, Some(&sequence.name), alias, false).map(Some)
    }
}

/// The rights of which a call of a sequence's function needs one.
fn rights_of_call(function: &str) -> Rights {
    match function {
        "nextval" => Rights::USAGE | Rights::UPDATE,
        "setval" => Rights::UPDATE,
        _ => Rights::USAGE | Rights::SELECT,
    }
}
