//! CREATE TYPE, ALTER TYPE, DROP TYPE: enumerations.

use super::nesting::Names;
use super::{Binder, error, fold};
use crate::sql_type;
use crate::{Bound, Definition};
use frazil_catalog::{AlterType, DropTypes, LabelPlace, Reading, TypeEntry, identifier};
use frazil_types::{Error, Kind, LogicalType, Result, Span, SqlState};
use sqlparser::ast::{
    AlterType as SqlAlterType, AlterTypeAddValuePosition, AlterTypeOperation, ArrayElemTypeDef, DataType,
    Ident, ObjectName, UserDefinedTypeRepresentation,
};
use std::sync::Arc;

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
    Ok(Bound::plain(Definition::CreateType {
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
    Ok(Bound::plain(Definition::AlterType {
        name: binder.type_name(&statement.name)?,
        action,
    }))
}

/// Binds DROP TYPE and DROP DOMAIN, without the columns that CASCADE drops.
pub(crate) fn drop_types(binder: &Binder, names: &[ObjectName], of: DropTypes) -> Result<Bound> {
    let names = names.iter().map(|n| binder.type_name(n));
    Ok(Bound::plain(Definition::DropTypes {
        drop: DropTypes {
            names: names.collect::<Result<_>>()?,
            ..of
        },
        columns: Vec::new(),
    }))
}

impl Binder<'_> {
    /// What a statement defined under a name, if it is a type.
    fn defined(&self, name: &ObjectName) -> Option<Arc<TypeEntry>> {
        let name = self.type_name(name).ok()?;
        // Types of the system come first, whatever is defined.
        match Kind::named(&name) {
            Some(_) => None,
            None => self.catalog.user_type(&name),
        }
    }

    /// A type by its name, which stands at `span` or behind it, and the domain that it is. 0A000, 42704, 22023.
    pub(super) fn ty_or_domain(
        &mut self,
        name: &DataType,
        span: Span,
    ) -> Result<(LogicalType, Option<Arc<TypeEntry>>)> {
        let (mut innermost, mut is_array) = (name, false);
        while let DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) = innermost {
            (innermost, is_array) = (element, true);
        }
        let (span, entry) = match innermost {
            DataType::Custom(name, _) => (self.name_span(name), self.defined(name)),
            _ => (span, None),
        };
        let known = entry.as_ref().map(|entry| entry.ty());
        let ty = sql_type::of_sql(name, &|_| known).map_err(|e| e.at_span(span))?;
        if let Some(entry) = &entry {
            self.note_type(entry);
        }
        let domain = entry.filter(|entry| entry.as_domain().is_some());
        match domain {
            Some(domain) if is_array => {
                let what = format!("an array of domain {}", identifier(&domain.name));
                Err(Error::unsupported(what).at_span(span))
            }
            domain => Ok((ty, domain)),
        }
    }

    /// The same where a domain may not stand: 0A000.
    pub(super) fn ty(&mut self, name: &DataType, span: Span) -> Result<LogicalType> {
        match self.ty_or_domain(name, span)? {
            (ty, None) => Ok(ty),
            (_, Some(domain)) => {
                let what = format!("domain {} as the type of a parameter", identifier(&domain.name));
                Err(Error::unsupported(what).at_span(span))
            }
        }
    }

    /// Notes that what is being created needs a type that a statement defined.
    fn note_type(&mut self, entry: &TypeEntry) {
        let id = Some(entry.id);
        if let Names::Noted(reads) = &mut self.names
            && !reads.iter().any(|r| r.id == id)
        {
            reads.push(Reading {
                name: entry.name.clone(),
                id,
                columns: Vec::new(),
            });
        }
    }

    /// The type of a parameter that PREPARE declares, whose length and digits are not looked at.
    pub(crate) fn parameter_type(&mut self, ty: &DataType) -> Result<LogicalType> {
        self.ty(ty, Span::NONE).map(sql_type::without_modifiers)
    }

    /// A type's name; there is one schema. 42704.
    pub(super) fn type_name(&self, name: &ObjectName) -> Result<String> {
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
