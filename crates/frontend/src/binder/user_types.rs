//! CREATE TYPE, ALTER TYPE, DROP TYPE: enumerations.

use super::nesting::Names;
use super::{Binder, fold, naming};
use crate::sql_type;
use crate::{Bound, Definition};
use frazil_catalog::{
    AlterType, DropTypes, LabelPlace, PUBLIC, Reading, SYSTEM_SCHEMA, TypeEntry, WrittenName, identifier,
};
use frazil_types::{Error, Kind, LogicalType, ObjectId, Result, Span};
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
        name: binder.name_to_create(name)?,
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
        id: binder.type_id(&statement.name)?,
        action,
        tag: "ALTER TYPE",
    }))
}

/// Binds DROP TYPE and DROP DOMAIN, without the columns that CASCADE drops.
pub(crate) fn drop_types(binder: &Binder, names: &[ObjectName], of: DropTypes) -> Result<Bound> {
    let to_drop = |name| {
        let written = binder.written_name(name)?;
        Ok(naming::type_to_drop(binder.catalog, &written))
    };
    Ok(Bound::plain(Definition::DropTypes {
        drop: DropTypes {
            names: names.iter().map(to_drop).collect::<Result<_>>()?,
            ..of
        },
        columns: Vec::new(),
    }))
}

impl Binder<'_> {
    /// The type that a statement defined under a name, if there is one.
    fn defined(&mut self, name: &ObjectName) -> Option<Arc<TypeEntry>> {
        let written = self.name_as_written(name).ok()?;
        self.defined_as(name, written)
    }

    /// The type of whose arrays a name is PostgreSQL's own, `_mood` for `mood[]`, if there is one.
    fn defined_element(&mut self, name: &ObjectName) -> Option<Arc<TypeEntry>> {
        let element = self.name_as_written(name).ok()?.element()?;
        self.defined_as(name, element)
    }

    /// The type that a statement defined as `written`, a name at the position of `name`.
    fn defined_as(&mut self, name: &ObjectName, written: WrittenName) -> Option<Arc<TypeEntry>> {
        // Types of the system come first, whatever is defined.
        if written.schema.is_none() && Kind::named(&written.name).is_some() {
            return None;
        }
        let (found, entry) = naming::find_type(self.catalog, &self.path, &written)?;
        if written.schema.is_none() && found.schema != PUBLIC {
            self.type_names.push((self.name_span(name), found.to_string()));
        }
        Some(entry)
    }

    /// The schema before a name, if there is none of that name.
    fn missing_schema_of(&self, name: &ObjectName) -> Option<String> {
        let schema = self.name_as_written(name).ok()?.schema?;
        let schema = naming::schema_name(self.catalog, &schema);
        (schema != SYSTEM_SCHEMA && !self.catalog.has_schema(&schema)).then_some(schema)
    }

    /// 42501 for a type in a schema without USAGE. Texts that the catalog keeps found the type when they were written.
    fn check_schema_of_type(&self, name: &ObjectName) -> Result<()> {
        if self.is_stored || matches!(self.names, Names::View(_)) {
            return Ok(());
        }
        match self.name_as_written(name) {
            Ok(written) => self.check_schema(&written),
            // The name is a built-in type's, or the type is missing.
            Err(_) => Ok(()),
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
            DataType::Custom(name, _) => {
                let span = self.name_span(name);
                self.check_schema_of_type(name).map_err(|e| e.at_span(span))?;
                (span, self.defined(name))
            }
            _ => (span, None),
        };
        let of_elements = match (innermost, &entry) {
            (DataType::Custom(name, _), None) => self.defined_element(name),
            _ => None,
        };
        is_array |= of_elements.is_some();
        let entry = entry.or(of_elements.clone());
        if let (DataType::Custom(name, _), None) = (innermost, &entry)
            && let Some(schema) = self.missing_schema_of(name)
        {
            return Err(frazil_catalog::missing_schema(&schema).at_span(span));
        }
        let array = of_elements.and_then(|of| of.ty().array());
        let known = array.or_else(|| entry.as_ref().map(|entry| entry.ty()));
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
                name: WrittenName::unqualified(&entry.name),
                id,
                columns: Vec::new(),
            });
        }
    }

    /// The type of a parameter that PREPARE declares, whose length and digits are not looked at.
    pub(crate) fn parameter_type(&mut self, ty: &DataType) -> Result<LogicalType> {
        self.ty(ty, Span::NONE).map(sql_type::without_modifiers)
    }

    /// The identity of a type that a statement defined. 42704.
    fn type_id(&self, name: &ObjectName) -> Result<ObjectId> {
        let written = self.written_name(name)?;
        match naming::find_type(self.catalog, &self.path, &written) {
            Some((_, entry)) => Ok(entry.id),
            None => {
                let missing = naming::missing_type(self.catalog, &written);
                Err(missing.at_span(self.name_span(name)))
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
