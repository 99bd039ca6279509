//! LIKE among the columns of CREATE TABLE: columns of another table or view, with the parts that INCLUDING names.

use super::constraints::{Constraints, Target};
use super::naming::find_relation;
use super::rename::Renamed;
use super::{Binder, TableEntry, missing_relation};
use crate::catalog_view;
use crate::parse::{LikeParts, WrittenLike};
use frazil_catalog::{
    ColumnSequence, ConstraintKind, CopiedComments, IndexEntry, IndexKey, NewConstraint, NewConstraintKind,
    NewIndex, QualifiedName, RowTexts, SequenceOptions,
};
use frazil_types::{ColumnDef, ColumnDefault, Error, ObjectId, Result, Span};

/// Columns that were copied.
pub(super) struct Copied {
    /// Position of the first one in the new table.
    pub first: usize,
    /// The place of LIKE.
    pub span: Span,
    /// The table they come from; `None` for a view.
    source: Option<TableEntry>,
    /// The relation they come from as the catalog has it; `None` for a system table.
    id: Option<ObjectId>,
    parts: LikeParts,
}

impl Copied {
    /// The comments to copy, into a table that has `indexes` indexes without constraints so far.
    pub fn comments(&self, indexes: usize) -> Option<CopiedComments> {
        let source = self.id.filter(|_| self.parts.comments)?;
        Some(CopiedComments {
            source,
            first: self.first,
            constraints: self.parts.constraints,
            indexes: self.parts.indexes.then_some(indexes),
        })
    }
}

impl Binder<'_> {
    /// Copies the columns of a table or view behind the columns that the table `name` has so far. 42P01.
    pub(super) fn copied_columns(
        &self,
        name: &QualifiedName,
        like: &WrittenLike,
        columns: &mut Vec<ColumnDef>,
        sequences: &mut Vec<ColumnSequence>,
    ) -> Result<Copied> {
        let (first, span) = (columns.len(), self.place.span(like.span));
        let found = find_relation(self.catalog, self.catalog.path(), &like.name);
        let found = found.ok_or_else(|| missing_relation(self.catalog, &like.name).at_span(span))?;
        let mut id = None;
        let source = match found.1 {
            catalog_view::Relation::View(view) => {
                id = Some(view.id);
                columns.extend(view.schema.columns.iter().map(|c| ColumnDef::new(&c.name, c.ty)));
                None
            }
            catalog_view::Relation::Table(table) => {
                id = self.catalog.catalog_id(table.id).or(id);
                let texts = self.texts_after(&table, Renamed::Table(&name.name))?;
                for (at, column) in table.schema.columns.iter().enumerate() {
                    let text = texts.generated.iter().find(|(of, _)| *of == at);
                    let mut copy = ColumnDef::new(&column.name, column.ty);
                    (copy.nullable, copy.domain) = (column.nullable, column.domain);
                    let new_text = text.map(|(_, text)| text.as_str());
                    copy.default = self.copied_default(column, like.parts, (first, new_text))?;
                    if copy.default.is_none() && column.own_default().is_some() {
                        self.take_default_of_domain(&mut copy);
                    }
                    if let Some(ColumnDefault::Identity { sequence, always }) = &column.default
                        && like.parts.identity
                    {
                        sequences.push(self.copied_identity(columns.len(), *sequence, *always)?);
                    }
                    columns.push(copy);
                }
                Some(table)
            }
        };
        Ok(Copied {
            first,
            span,
            source,
            id,
            parts: like.parts,
        })
    }

    /// The default of a copied column: `first` is the position of the first one, and `text` the new text of a generated
    /// column if it changes.
    fn copied_default(
        &self,
        column: &ColumnDef,
        parts: LikeParts,
        (first, text): (usize, Option<&str>),
    ) -> Result<Option<ColumnDefault>> {
        Ok(match &column.default {
            Some(default @ (ColumnDefault::Value(_) | ColumnDefault::Expression(_)))
                if parts.defaults || column.own_default().is_none() =>
            {
                Some(default.clone())
            }
            Some(ColumnDefault::Generated { text: old, reads }) if parts.generated => {
                Some(ColumnDefault::Generated {
                    text: text.unwrap_or(old).to_string(),
                    reads: reads.iter().map(|at| at + first).collect(),
                })
            }
            Some(
                ColumnDefault::Value(_)
                | ColumnDefault::Expression(_)
                | ColumnDefault::Generated { .. }
                // A sequence of the new table's own.
                | ColumnDefault::Identity { .. },
            )
            | None => None,
        })
    }

    fn copied_identity(&self, column: usize, sequence: ObjectId, always: bool) -> Result<ColumnSequence> {
        let sequence = self.catalog.sequence_of(sequence);
        let of = sequence
            .ok_or_else(|| Error::internal("an identity without its sequence"))?
            .definition;
        Ok(ColumnSequence {
            column,
            options: SequenceOptions {
                ty: Some(of.ty),
                increment: Some(of.increment),
                min: Some(Some(of.min)),
                max: Some(Some(of.max)),
                start: Some(of.start),
                restart: None,
                cache: Some(of.cache),
                cycle: Some(of.cycle),
            },
            name: None,
            identity: Some(always),
            fills: false,
        })
    }

    /// Adds the constraints that are copied, and returns the other indexes that are: of a table that has no id yet.
    /// Checks that columns have of their domains are among the constraints already.
    pub(super) fn copied_constraints(
        &self,
        copied: &Copied,
        target: &Target<'_>,
        constraints: &mut Constraints,
    ) -> Result<Vec<NewIndex>> {
        let Some(source) = &copied.source else {
            return Ok(Vec::new());
        };
        let texts = self.texts_after(source, Renamed::Table(&target.name.name))?;
        let moved = |columns: &[usize]| columns.iter().map(|at| at + copied.first).collect();
        for constraint in &source.constraints {
            let ConstraintKind::Check {
                expression,
                columns,
                of_domain: None,
                ..
            } = &constraint.kind
            else {
                continue;
            };
            let changed = texts.checks.iter().find(|(name, _)| *name == constraint.name);
            let expression = changed.map_or(expression, |(_, text)| text).clone();
            if copied.parts.constraints {
                let columns = moved(columns);
                let name = Some(constraint.name.clone());
                // The new table is empty.
                let kind = NewConstraintKind::Check {
                    expression,
                    columns,
                    is_valid: true,
                    of_domain: None,
                };
                constraints.push(copied.span, NewConstraint { name, kind });
            }
        }
        let mut indexes = Vec::new();
        for index in source.indexes.iter().filter(|_| copied.parts.indexes) {
            let owner = index.constraint.as_ref();
            let owner = owner.and_then(|name| source.constraints.iter().find(|c| c.name == *name));
            let columns: Vec<usize> = index.keys.iter().map(|key| key.column + copied.first).collect();
            let deferral = index.deferral;
            let kind = match owner.map(|owner| &owner.kind) {
                Some(ConstraintKind::PrimaryKey { .. }) => {
                    NewConstraintKind::PrimaryKey { columns, deferral }
                }
                Some(ConstraintKind::Unique { .. }) => NewConstraintKind::Unique {
                    columns,
                    nulls_distinct: index.nulls_distinct,
                    deferral,
                },
                Some(ConstraintKind::Check { .. } | ConstraintKind::ForeignKey(_)) | None => {
                    let width = target.schema.columns.len();
                    indexes.push(copied_index(source, index, &texts, (copied.first, width)));
                    continue;
                }
            };
            constraints.push(copied.span, NewConstraint { name: None, kind });
        }
        Ok(indexes)
    }
}

/// An index of `source`, whose columns are copied from position `first` on into a table of `width` columns. `texts`:
/// the texts that name the table.
fn copied_index(
    source: &TableEntry,
    index: &IndexEntry,
    texts: &RowTexts,
    (first, width): (usize, usize),
) -> NewIndex {
    let own = source.schema.columns.len();
    let mut hidden = Vec::new();
    let mut moved = |position: usize| {
        let Some(column) = source.stored_column(position).filter(|_| position >= own) else {
            return position + first;
        };
        let mut column = column.clone();
        if let Some(ColumnDefault::Generated { text, reads }) = &mut column.default {
            let changed = texts.generated.iter().find(|(at, _)| *at == position);
            changed.into_iter().for_each(|(_, new)| text.clone_from(new));
            reads.iter_mut().for_each(|read| *read += first);
        }
        hidden.push(column);
        width + hidden.len() - 1
    };
    let keys = index.keys.iter().map(|key| IndexKey {
        column: moved(key.column),
        ..*key
    });
    let keys = keys.collect();
    let condition = index.condition.map(&mut moved);
    NewIndex {
        name: None,
        if_not_exists: false,
        table: ObjectId(0),
        keys,
        include: index.include.iter().map(|at| at + first).collect(),
        unique: index.unique,
        nulls_distinct: index.nulls_distinct,
        hidden,
        condition,
    }
}
