//! CREATE TYPE, ALTER TYPE, DROP TYPE: enumerations.

use super::view::Names;
use super::{Binder, error, fold};
use crate::{Bound, Statement};
use frazil_catalog::{AlterType, DropBehavior, LabelPlace, Reading};
use frazil_types::{Error, LogicalType, ObjectId, Result, Span, SqlState};
use sqlparser::ast::{
    AlterType as SqlAlterType, AlterTypeAddValuePosition, AlterTypeOperation, DataType, Ident, ObjectName,
    UserDefinedTypeRepresentation,
};

/// Binds CREATE TYPE. 0A000 for other types than enumerations.
pub(crate) fn create_type(
    binder: &Binder,
    name: &ObjectName,
    form: Option<&UserDefinedTypeRepresentation>,
) -> Result<Bound> {
    let Some(UserDefinedTypeRepresentation::Enum { labels }) = form else {
        return Err(Error::unsupported("CREATE TYPE of anything but AS ENUM (…)"));
    };
    let labels = labels.iter().map(|l| binder.label(l));
    Ok(Bound::plain(Statement::CreateType {
        name: binder.type_name(name)?,
        labels: labels.collect::<Result<_>>()?,
    }))
}

/// Binds ALTER TYPE.
pub(crate) fn alter_type(binder: &Binder, statement: &SqlAlterType) -> Result<Bound> {
    let action = match &statement.operation {
        AlterTypeOperation::Rename(to) => {
            binder.not_reserved(&to.new_name)?;
            AlterType::Rename {
                name: fold(&to.new_name),
            }
        }
        AlterTypeOperation::RenameValue(labels) => AlterType::RenameValue {
            from: binder.label(&labels.from)?,
            to: binder.label(&labels.to)?,
        },
        AlterTypeOperation::AddValue(added) => AlterType::AddValue {
            label: binder.label(&added.value)?,
            if_not_exists: added.if_not_exists,
            place: match &added.position {
                None => LabelPlace::Last,
                Some(AlterTypeAddValuePosition::Before(label)) => LabelPlace::Before(binder.label(label)?),
                Some(AlterTypeAddValuePosition::After(label)) => LabelPlace::After(binder.label(label)?),
            },
        },
    };
    Ok(Bound::plain(Statement::AlterType {
        name: binder.type_name(&statement.name)?,
        action,
    }))
}

/// Binds DROP TYPE, without the columns that CASCADE drops.
pub(crate) fn drop_types(
    binder: &Binder,
    names: &[ObjectName],
    if_exists: bool,
    behavior: DropBehavior,
) -> Result<Bound> {
    let names = names.iter().map(|n| binder.type_name(n));
    Ok(Bound::plain(Statement::DropTypes {
        names: names.collect::<Result<_>>()?,
        if_exists,
        behavior,
        columns: Vec::new(),
    }))
}

impl Binder<'_> {
    /// The type that a statement defined under a name.
    pub(super) fn defined_type(&self, name: &ObjectName) -> Option<LogicalType> {
        let name = self.type_name(name).ok()?;
        self.catalog.user_type(&name).map(|entry| entry.ty())
    }

    /// Notes that what is being created needs a type, if a statement defined it.
    pub(super) fn note_type(&mut self, ty: LogicalType) {
        let Some(e) = ty.enumeration_within() else { return };
        let id = Some(ObjectId(e.id()));
        if let Names::Noted(reads) = &mut self.names
            && !reads.iter().any(|r| r.id == id)
        {
            reads.push(Reading {
                name: e.name().to_string(),
                id,
                columns: Vec::new(),
            });
        }
    }

    /// The type of a parameter that PREPARE declares.
    pub(crate) fn parameter_type(&mut self, ty: &DataType) -> Result<LogicalType> {
        self.ty(ty, Span::NONE)
    }

    /// A type's name; there is one schema. 42704.
    fn type_name(&self, name: &ObjectName) -> Result<String> {
        let parts: Option<Vec<&Ident>> = name.0.iter().map(|p| p.as_ident()).collect();
        match parts.as_deref() {
            Some([name]) => {
                self.not_reserved(name)?;
                Ok(fold(name))
            }
            Some([schema, name]) if matches!(fold(schema).as_str(), "public" | "main") => Ok(fold(name)),
            _ => {
                let message = format!("type \"{name}\" does not exist");
                let missing = error(SqlState::UNDEFINED_OBJECT, message, self.name_span(name));
                Err(missing.with_hint("there is one schema, public"))
            }
        }
    }

    /// A label, which is a literal. 42601.
    fn label(&self, label: &Ident) -> Result<String> {
        match label.quote_style {
            Some('\'') => Ok(label.value.clone()),
            _ => Err(self.syntax_error(&label.value, self.span(label))),
        }
    }
}
