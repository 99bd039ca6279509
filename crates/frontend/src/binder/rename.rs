//! A column or table gets another name: the texts of the table's CHECK constraints and generated columns get it, too.
//! The binder says which names of a text mean the renamed object; the rest of the text stays. Before a column gets
//! another type, the binder says which types the literals of a text have.

use super::scope::{Clause, Item, Level};
use super::{Binder, OutputColumn, TableEntry, typed_literals};
use crate::deep_stack::on_deep_stack;
use crate::parse::{ParsedStatement, parse};
use frazil_catalog::{ConstraintKind, RowTexts, SearchPath, identifier};
use frazil_plan::ColumnId;
use frazil_types::{ColumnDefault, Error, Result};
use sqlparser::ast::{Expr as SqlExpr, SelectItem, SetExpr};
use std::ops::Range;

/// What gets another name.
#[derive(Clone, Copy)]
pub(super) enum Renamed<'n> {
    /// The table.
    Table(&'n str),
    /// The column at a position.
    Column(usize, &'n str),
    /// Nothing: literals without a type get the one that they have.
    Literals,
}

/// Before and behind a text where it is read.
const AROUND: (&str, &str) = ("select (", "\n)");

impl Binder<'_> {
    /// The CHECK constraints and generated columns whose texts change.
    pub(super) fn texts_after(&self, entry: &TableEntry, renamed: Renamed<'_>) -> Result<RowTexts> {
        let mut changed = RowTexts::default();
        for constraint in &entry.constraints {
            let ConstraintKind::Check { expression, .. } = &constraint.kind else {
                continue;
            };
            let text = self.after(entry, expression, renamed)?;
            changed
                .checks
                .extend(text.map(|text| (constraint.name.clone(), text)));
        }
        for (at, column) in entry.stored_columns().enumerate() {
            if let Some(ColumnDefault::Generated { text, .. }) = &column.default {
                let text = self.after(entry, text, renamed)?;
                changed.generated.extend(text.map(|text| (at, text)));
            }
        }
        Ok(changed)
    }

    /// The new text of an expression over the table's row; `None` if it stays.
    fn after(&self, entry: &TableEntry, expression: &str, renamed: Renamed<'_>) -> Result<Option<String>> {
        let parsed = parse(
            &format!("{}{expression}{}", AROUND.0, AROUND.1),
            &self.nesting.limits,
        )?;
        let [parsed] = &parsed[..] else {
            return Err(not_one(expression));
        };
        let text = on_deep_stack(parsed.depth(), || self.text_after(entry, parsed, renamed))?;
        Ok(Some(text).filter(|text| text != expression))
    }

    fn text_after(
        &self,
        entry: &TableEntry,
        parsed: &ParsedStatement,
        renamed: Renamed<'_>,
    ) -> Result<String> {
        let mut inner = Binder::new(self.catalog, self.settings, &parsed.place, &[], self.nesting);
        let ids = inner.enter_row(entry);
        let expression = written(parsed).ok_or_else(|| not_one(&parsed.text))?;
        let bound = inner.expression(expression)?;
        let new = match renamed {
            Renamed::Table(new) | Renamed::Column(_, new) => new,
            Renamed::Literals => return inside(&typed_literals::with_types(&parsed.text, &bound)),
        };
        let mut places: Vec<Range<usize>> = Vec::new();
        for reference in &inner.references {
            let span = reference.span.start as usize..reference.span.end as usize;
            let name = parsed.text.get(span.clone()).unwrap_or_default();
            let part = match renamed {
                Renamed::Column(column, _) if ids[column] == reference.id => parts(name).pop(),
                Renamed::Column(..) | Renamed::Literals => None,
                Renamed::Table(_) => parts(name).into_iter().rev().nth(1),
            };
            places.extend(part.map(|part| span.start + part.start..span.start + part.end));
        }
        places.sort_by_key(|place| place.start);
        places.dedup();
        let mut text = parsed.text.clone();
        for place in places.into_iter().rev() {
            text.replace_range(place, &identifier(new));
        }
        inside(&text)
    }

    /// Makes the row of a table what names mean. Returns the columns in the order of the table's.
    fn enter_row(&mut self, entry: &TableEntry) -> Vec<ColumnId> {
        self.path = SearchPath::public();
        let mut columns = Vec::with_capacity(entry.schema.columns.len());
        for column in &entry.schema.columns {
            let id = self.columns.add(column.name.as_str(), column.ty, column.nullable);
            columns.push(OutputColumn::new(column.name.as_str(), id));
        }
        let ids = columns.iter().map(|c| c.id).collect();
        self.levels.push(Level {
            items: vec![Item::named(&entry.name, columns).in_schema(&entry.schema_name)],
            clause: Clause::Check,
            ..Level::default()
        });
        ids
    }
}

/// The expression of a text that was read.
fn inside(text: &str) -> Result<String> {
    let inside = text.strip_prefix(AROUND.0).and_then(|t| t.strip_suffix(AROUND.1));
    inside.map(str::to_string).ok_or_else(|| not_one(text))
}

/// The parts of a dotted name: bytes of each, without the blanks around it.
fn parts(name: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut is_quoted) = (0, false);
    for (at, c) in name.char_indices().chain([(name.len(), '.')]) {
        is_quoted ^= c == '"';
        if c == '.' && !is_quoted {
            let part = &name[start..at];
            let from = start + part.len() - part.trim_start().len();
            parts.push(from..from + part.trim().len());
            start = at + 1;
        }
    }
    parts
}

/// The expression of the text.
fn written(parsed: &ParsedStatement) -> Option<&SqlExpr> {
    let SetExpr::Select(select) = &*parsed.query()?.body else {
        return None;
    };
    match &select.projection[..] {
        [SelectItem::UnnamedExpr(e)] => Some(e),
        _ => None,
    }
}

fn not_one(text: &str) -> Error {
    Error::internal(format!(
        "the catalog keeps a text that is not one expression: {text}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dotted_name_has_its_parts() {
        let name = "t . \"a.\"\"b\".c";
        let found: Vec<&str> = parts(name).into_iter().map(|p| &name[p]).collect();
        assert_eq!(found, ["t", "\"a.\"\"b\"", "c"]);
        assert_eq!(parts("é").as_slice(), std::slice::from_ref(&(0..2)));
        assert_eq!(
            (identifier("order"), identifier("A"), identifier("a_1")),
            ("\"order\"".into(), "\"A\"".into(), "a_1".into())
        );
    }
}
