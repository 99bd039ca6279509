//! The select list: expressions, and what `*` stands for.

use super::list_limits;
use super::names::unqualified;
use super::scope::Item;
use super::{Binder, OutputColumn, error, fold};
use crate::parse::ROW_OF;
use frazil_catalog::WrittenName;
use frazil_functions::Operand;
use frazil_plan::{ColumnId, Expr};
use frazil_types::{Error, Result, Span, SqlState};
use sqlparser::ast::{
    ExcludeSelectItem, Expr as SqlExpr, Ident, ObjectName, ReplaceSelectItem, SelectItem,
    SelectItemQualifiedWildcardKind, WildcardAdditionalOptions,
};
use std::ops::Range;

/// An item of the select list.
pub(super) struct Target<'a> {
    pub name: String,
    pub value: Operand,
    /// The expression as it is written; `None` for a column of `*`.
    pub written: Option<&'a SqlExpr>,
    /// What is named in it, among the binder's references; nothing for a column of `*`.
    pub references: Range<usize>,
}

impl<'a> Binder<'a> {
    pub(super) fn select_list(&mut self, items: &'a [SelectItem]) -> Result<Vec<Target<'a>>> {
        let mut targets = Vec::with_capacity(items.len());
        for item in items {
            let first = self.references.len();
            if self.row_item.is_some_and(|row| std::ptr::eq(row, item))
                && self.columns_of_row(item, &mut targets)?
            {
                continue;
            }
            match item {
                SelectItem::UnnamedExpr(e) => {
                    let value = self.expression(e)?;
                    let target = Target {
                        name: self.column_names.of(e),
                        value,
                        written: Some(e),
                        references: first..self.references.len(),
                    };
                    add(&mut targets, target)?;
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let value = self.expression(expr)?;
                    if alias.quote_style == Some('\'') {
                        let near = format!("'{}'", alias.value);
                        let at = self.place.operator_after(value.span(), near.len());
                        return Err(self.syntax_error(&near, at));
                    }
                    let target = Target {
                        name: fold(alias),
                        value,
                        written: Some(expr),
                        references: first..self.references.len(),
                    };
                    add(&mut targets, target)?;
                }
                SelectItem::ExprWithAliases { .. } => {
                    return Err(Error::unsupported("several aliases of a column"));
                }
                SelectItem::QualifiedWildcard(kind, options) => {
                    let columns = self.qualified_wildcard(kind)?;
                    self.wildcard(columns, options, &mut targets)?;
                }
                SelectItem::Wildcard(options) => {
                    let columns = unqualified(&self.level().items).cloned().collect();
                    let span = self.place.span(options.wildcard_token.0.span);
                    if self.level().items.is_empty() {
                        let message = "SELECT * with no tables specified is not valid";
                        return Err(error(SqlState::SYNTAX_ERROR, message, span));
                    }
                    self.wildcard(columns, options, &mut targets)?;
                }
            }
        }
        Ok(targets)
    }

    /// Selects the columns of the relation whose row an item is, in place of the row: a comparison asks for them. False
    /// for another item, and for a row that an outer join may not have.
    fn columns_of_row(&mut self, item: &'a SelectItem, targets: &mut Vec<Target<'a>>) -> Result<bool> {
        let (SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. }) = item else {
            return Ok(false);
        };
        let Some(row) = self.whole_row(e)? else {
            return Ok(false);
        };
        let first = self.references.len();
        let record = self.record_of(row);
        if record.mark.is_some() {
            return Ok(false);
        }
        self.row_item = None;
        for (name, value) in record.names.into_iter().zip(record.values) {
            let target = Target {
                name,
                value: value.into(),
                written: None,
                references: first..self.references.len(),
            };
            add(targets, target)?;
        }
        Ok(true)
    }

    fn qualified_wildcard(&mut self, kind: &SelectItemQualifiedWildcardKind) -> Result<Vec<OutputColumn>> {
        match kind {
            SelectItemQualifiedWildcardKind::ObjectName(name) => {
                Ok(self.wildcard_item(name)?.columns.to_vec())
            }
            SelectItemQualifiedWildcardKind::Expr(_) => {
                Err(Error::unsupported("the fields of an expression"))
            }
        }
    }

    /// The relation that `name.*` speaks of. 42P01.
    pub(super) fn wildcard_item(&self, name: &ObjectName) -> Result<&Item> {
        let span = self.name_span(name);
        let parts: Vec<&Ident> = name.0.iter().filter_map(|p| p.as_ident()).collect();
        let table = match &parts[..] {
            [table] if let Some(row) = fold(table).strip_prefix(ROW_OF) => {
                if self.is_column(row) {
                    let message = "column notation needs a row: there are no row types";
                    return Err(error(SqlState::FEATURE_NOT_SUPPORTED, message, span));
                }
                if self.relation(row).is_none() {
                    let message = format!("column \"{row}\" does not exist");
                    return Err(error(SqlState::UNDEFINED_COLUMN, message, span));
                }
                WrittenName::unqualified(row)
            }
            [table] => WrittenName::unqualified(fold(table)),
            [schema, table] => WrittenName {
                schema: Some(fold(schema)),
                name: fold(table),
            },
            _ => WrittenName::unqualified(name.to_string()),
        };
        self.relation_named(&table, span)?
            .ok_or_else(|| self.missing_relation(&table.name, span))
    }

    fn wildcard(
        &mut self,
        columns: Vec<OutputColumn>,
        options: &'a WildcardAdditionalOptions,
        targets: &mut Vec<Target<'a>>,
    ) -> Result<()> {
        let span = self.place.span(options.wildcard_token.0.span);
        let refused = [
            (options.opt_ilike.is_some(), "* ILIKE"),
            (options.opt_except.is_some(), "* EXCEPT (write EXCLUDE)"),
            (options.opt_rename.is_some(), "* RENAME"),
            (options.opt_alias.is_some(), "an alias of *"),
        ];
        if let Some((_, what)) = refused.iter().find(|r| r.0) {
            return Err(Error::unsupported(what).at_span(span));
        }
        let (first, in_from) = (targets.len(), columns.len());
        let excluded = self.excluded(options.opt_exclude.as_ref(), &columns)?;
        for column in columns {
            self.note_use(column.id);
            if !excluded.contains(&column.id) {
                let value = Expr::column(column.id, &self.columns).at(span).into();
                let target = Target {
                    name: column.name,
                    value,
                    written: None,
                    references: 0..0,
                };
                list_limits::targets_of_wildcard(targets.len() + 1, in_from, span)?;
                targets.push(target);
            }
        }
        match &options.opt_replace {
            Some(replace) => self.replaced(replace, &mut targets[first..]),
            None => Ok(()),
        }
    }

    /// The columns that EXCLUDE leaves out. 42703, 42P01; 42701 for one that is named twice.
    fn excluded(
        &self,
        exclude: Option<&ExcludeSelectItem>,
        columns: &[OutputColumn],
    ) -> Result<Vec<ColumnId>> {
        let names: &[ObjectName] = match exclude {
            None => &[],
            Some(ExcludeSelectItem::Single(name)) => std::slice::from_ref(name),
            Some(ExcludeSelectItem::Multiple(names)) => names,
        };
        let mut out: Vec<ColumnId> = Vec::new();
        for name in names {
            let span = self.name_span(name);
            let [table @ .., column] = &name.0[..] else {
                continue;
            };
            let column = column.as_ident().map(fold).unwrap_or_default();
            let item = match table {
                [] => None,
                table => Some(self.wildcard_item(&ObjectName(table.to_vec()))?),
            };
            let is_meant = |c: &&OutputColumn| {
                let is_of = |item: &Item| item.columns.iter().any(|of| of.id == c.id);
                c.name == column && item.is_none_or(is_of)
            };
            let meant: Vec<ColumnId> = columns.iter().filter(is_meant).map(|c| c.id).collect();
            self.wildcard_column(&column, !meant.is_empty(), span)?;
            if meant.iter().any(|id| out.contains(id)) {
                return Err(named_twice(&column, span));
            }
            out.extend(meant);
        }
        Ok(out)
    }

    fn wildcard_column(&self, name: &str, is_there: bool, span: Span) -> Result<()> {
        if is_there {
            return Ok(());
        }
        let message = format!("column \"{name}\" does not exist among those of *");
        Err(error(SqlState::UNDEFINED_COLUMN, message, span))
    }

    fn replaced(&mut self, replace: &'a ReplaceSelectItem, targets: &mut [Target]) -> Result<()> {
        for (at, item) in replace.items.iter().enumerate() {
            let name = fold(&item.column_name);
            if replace.items[..at]
                .iter()
                .any(|before| fold(&before.column_name) == name)
            {
                return Err(named_twice(&name, self.span(&item.column_name)));
            }
            let found = targets.iter_mut().find(|t| t.name == name);
            self.wildcard_column(&name, found.is_some(), self.span(&item.column_name))?;
            if let Some(target) = found {
                let first = self.references.len();
                target.value = self.expression(&item.expr)?;
                target.references = first..self.references.len();
            }
        }
        Ok(())
    }
}

/// Adds an item to a select list. 54011 if the list is too long.
fn add<'a>(targets: &mut Vec<Target<'a>>, target: Target<'a>) -> Result<()> {
    list_limits::targets(targets.len() + 1, target.value.span())?;
    targets.push(target);
    Ok(())
}

/// 42701 for a list of columns that has a name twice.
pub(super) fn named_twice(name: &str, span: Span) -> Error {
    let message = format!("column \"{name}\" specified more than once");
    error(SqlState::DUPLICATE_COLUMN, message, span)
}
