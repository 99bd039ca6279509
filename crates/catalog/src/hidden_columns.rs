//! Columns that no statement sees: the expressions and conditions of indexes. A table stores each of them as a
//! generated column behind its other columns, so that an index knows columns and nothing else. Such a column is part of
//! its index: it comes with the index, and goes with it.
//!
//! The position of a hidden column is counted on from the table's visible columns: with `n` of these, the first hidden
//! column is at position `n`. ADD COLUMN and DROP COLUMN move them.

use crate::{Catalog, IndexEntry, IndexKey, TableEntry, identifier};
use frazil_types::{ColumnDef, ColumnDefault, ColumnNumber, ObjectId, Result, Schema};
use std::borrow::Cow;
use std::sync::Arc;

/// The number of a hidden column for which an id was taken that nothing else has. Visible columns keep the numbers that
/// PostgreSQL gives them.
pub(crate) fn hidden_number(id: ObjectId) -> ColumnNumber {
    ColumnNumber(ColumnNumber::FIRST_HIDDEN.0 | id.0)
}

impl TableEntry {
    /// The columns that rows store: the visible ones, and the hidden ones behind them.
    pub fn stored_columns(&self) -> impl Iterator<Item = &ColumnDef> {
        self.schema.columns.iter().chain(&self.hidden)
    }

    /// [`TableEntry::stored_columns`] as a schema.
    pub fn stored_schema(&self) -> Arc<Schema> {
        match self.hidden.is_empty() {
            true => self.schema.clone(),
            false => Arc::new(Schema::new(self.stored_columns().cloned().collect())),
        }
    }

    /// The hidden column at a position; `None` for a visible column.
    pub fn hidden_column(&self, position: usize) -> Option<&ColumnDef> {
        self.hidden.get(position.checked_sub(self.schema.columns.len())?)
    }

    /// Positions of the columns that are computed from others of their row, hidden ones among these.
    pub fn generated(&self) -> impl Iterator<Item = usize> {
        let columns = self.stored_columns().enumerate();
        columns
            .filter(|(_, column)| column.is_generated())
            .map(|(at, _)| at)
    }

    /// A part of an index's key as definitions and errors show it: the column's name, or the expression.
    pub fn key_text(&self, position: usize) -> Cow<'_, str> {
        key_text(&self.schema, &self.hidden, position)
    }

    /// The condition of a partial index as SQL text.
    pub fn condition_text(&self, index: &IndexEntry) -> Option<&str> {
        self.hidden_column(index.condition?)?
            .default
            .as_ref()?
            .expression()
    }

    /// True if an index, its expressions or its condition need a column.
    pub fn index_needs(&self, index: &IndexEntry, column: usize) -> bool {
        let of_hidden = index
            .stored_keys()
            .filter_map(|key| self.hidden_column(key.column));
        let mut reads = of_hidden.filter_map(ColumnDef::generated_reads).flatten();
        index.has_column(column) || reads.any(|read| *read == column)
    }

    /// Positions of the visible columns that an index needs, ascending.
    pub fn index_columns(&self, index: &IndexEntry) -> Vec<usize> {
        (0..self.schema.columns.len())
            .filter(|&column| self.index_needs(index, column))
            .collect()
    }

    /// The indexes whose expressions or conditions read a column.
    pub fn indexes_computed_from(&self, column: usize) -> impl Iterator<Item = &Arc<IndexEntry>> {
        let is_hidden = move |key: &IndexKey| {
            let hidden = self.hidden_column(key.column);
            hidden
                .and_then(ColumnDef::generated_reads)
                .is_some_and(|reads| reads.contains(&column))
        };
        (self.indexes.iter()).filter(move |index| index.stored_keys().any(|key| is_hidden(&key)))
    }

    /// Moves the hidden columns behind the visible ones, of which there were `before`.
    pub(crate) fn follow_visible(&mut self, before: usize) {
        let after = self.schema.columns.len();
        if self.hidden.is_empty() || before == after {
            return;
        }
        let moved = |position: usize| match position >= before {
            true => position - before + after,
            false => position,
        };
        self.move_indexes(&moved);
    }

    /// Gives the keys and conditions of all indexes their new positions.
    fn move_indexes(&mut self, moved: &dyn Fn(usize) -> usize) {
        for index in self.indexes.iter_mut().map(Arc::make_mut) {
            let keys = index.keys.iter_mut().map(|key| &mut key.column);
            for position in keys.chain(&mut index.condition) {
                *position = moved(*position);
            }
        }
    }

    /// Removes the hidden columns of indexes that are gone.
    pub(crate) fn drop_unused_hidden(&mut self) {
        if self.hidden.is_empty() {
            return;
        }
        let visible = self.schema.columns.len();
        let is_used: Vec<bool> = (visible..visible + self.hidden.len())
            .map(|at| (self.indexes.iter()).any(|index| index.stored_keys().any(|key| key.column == at)))
            .collect();
        if is_used.iter().all(|used| *used) {
            return;
        }
        let gone_before = |at: usize| is_used[..at - visible].iter().filter(|used| !**used).count();
        self.move_indexes(&|position| match position >= visible {
            true => position - gone_before(position),
            false => position,
        });
        let mut used = is_used.iter();
        self.hidden.retain(|_| used.next() == Some(&true));
    }
}

impl Catalog {
    /// The next version, in which a table has more hidden columns behind the others. Their index has to follow before
    /// any other index is dropped.
    pub fn add_hidden_columns(
        &self,
        table: ObjectId,
        hidden: Vec<ColumnDef>,
    ) -> Result<(Catalog, Arc<TableEntry>)> {
        let mut entry = (*self.by_id(table)?).clone();
        let mut next = self.next();
        next.add_hidden(&mut entry, hidden);
        let entry = next.put(entry);
        Ok((next, entry))
    }

    /// Adds hidden columns to an entry, and gives them numbers.
    pub(crate) fn add_hidden(&mut self, entry: &mut TableEntry, hidden: Vec<ColumnDef>) {
        for mut column in hidden {
            column.number = hidden_number(self.take_id(entry.namespace));
            entry.hidden.push(column);
        }
    }
}

/// A part of a key over the columns of a table as definitions and errors show it.
pub fn key_text<'a>(schema: &'a Schema, hidden: &'a [ColumnDef], position: usize) -> Cow<'a, str> {
    let visible = schema.columns.len();
    if let Some(column) = schema.columns.get(position) {
        return Cow::Borrowed(&column.name);
    }
    let default = hidden
        .get(position - visible)
        .and_then(|column| column.default.as_ref());
    match default.and_then(ColumnDefault::expression) {
        Some(text) if is_call(text) => Cow::Borrowed(text),
        Some(text) => Cow::Owned(format!("({})", ended(text))),
        None => Cow::Borrowed(""),
    }
}

/// [`key_text`] as SQL: the name of a column is quoted if it has to be.
pub fn key_sql(entry: &TableEntry, position: usize) -> String {
    match entry.hidden_column(position) {
        Some(_) => entry.key_text(position).into_owned(),
        None => identifier(&entry.schema.columns[position].name),
    }
}

/// A text that more may follow: a comment at its end would hide that.
fn ended(text: &str) -> Cow<'_, str> {
    match text.rfind("--") {
        Some(at) if !text[at..].contains('\n') => Cow::Owned(format!("{text}\n")),
        _ => Cow::Borrowed(text),
    }
}

/// True for the text of one call, such as `lower(email)`: definitions show others in parentheses.
fn is_call(text: &str) -> bool {
    let Some(open) = text.find('(') else { return false };
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let name = &text[..open];
    if name.is_empty() || !name.chars().all(is_of_name) || name.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    // PostgreSQL does not call these functions.
    const OWN_SYNTAX: [&str; 4] = ["cast", "row", "array", "exists"];
    if OWN_SYNTAX.iter().any(|word| name.eq_ignore_ascii_case(word)) {
        return false;
    }
    let (mut depth, mut quote) = (0usize, None);
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => {
                depth -= 1;
                if depth == 0 {
                    return at + 1 == text.len();
                }
            }
            (None, _) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AlterAction, DropBehavior, DropIndexes, NewIndex, QualifiedName, SearchPath, TableOptions};
    use frazil_types::LogicalType;

    fn generated(name: &str, text: &str, reads: &[usize]) -> ColumnDef {
        let mut column = ColumnDef::new(name, LogicalType::Text);
        column.default = Some(ColumnDefault::Generated {
            text: text.to_string(),
            reads: reads.to_vec(),
        });
        column
    }

    /// A table of `a`, `b` with an index on `lower(a)` where `b` is true, and one on `upper(b)`.
    fn catalog() -> (Catalog, ObjectId) {
        let columns = ["a", "b"].map(|name| ColumnDef::new(name, LogicalType::Text));
        let schema = Arc::new(Schema::new(columns.to_vec()));
        let made = Catalog::new().create_table(&"t".into(), schema, TableOptions::default());
        let (catalog, table) = made.unwrap();
        let index = |hidden, condition| NewIndex {
            name: None,
            if_not_exists: false,
            table: table.id,
            keys: vec![IndexKey::ascending(2)],
            include: Vec::new(),
            unique: false,
            nulls_distinct: true,
            hidden,
            condition,
        };
        let first = vec![
            generated("lower", "lower(a)", &[0]),
            generated("", "b = 'x'", &[1]),
        ];
        let (catalog, ..) = catalog.create_index(index(first, Some(3))).unwrap().unwrap();
        let second = index(vec![generated("upper", "upper(b)", &[1])], None);
        let (catalog, entry, made) = catalog.create_index(second).unwrap().unwrap();
        assert_eq!((made.name.as_str(), made.keys[0].column), ("t_upper_idx", 4));
        assert_eq!(entry.indexes[0].name, "t_lower_idx");
        (catalog, table.id)
    }

    fn shown(entry: &TableEntry) -> Vec<(String, Option<&str>)> {
        let indexes = entry.indexes.iter();
        indexes
            .map(|index| {
                let key = entry.key_text(index.keys[0].column).into_owned();
                (key, entry.condition_text(index))
            })
            .collect()
    }

    #[test]
    fn hidden_columns_stay_behind_the_visible_ones() {
        let (catalog, t) = catalog();
        let column = ColumnDef::new("c", LogicalType::Integer);
        let (catalog, entry) = catalog.alter_table(t, AlterAction::AddColumn { column }).unwrap();
        let both = [
            ("lower(a)".to_string(), Some("b = 'x'")),
            ("upper(b)".to_string(), None),
        ];
        assert_eq!(shown(&entry), both);
        assert_eq!(entry.schema.columns[2].number, ColumnNumber(3));
        assert!(entry.hidden.iter().all(|column| column.number.is_hidden()));
        let drop = |column| AlterAction::DropColumn {
            column,
            behavior: DropBehavior::Restrict,
            readers: Vec::new(),
            path: SearchPath::default(),
            is_dependent: false,
        };
        let (_, without) = catalog.alter_table(t, drop(2)).unwrap();
        assert_eq!(shown(&without), both);
        // Both indexes need `b`.
        let (_, without) = catalog.alter_table(t, drop(1)).unwrap();
        assert!(without.indexes.is_empty() && without.hidden.is_empty());
        let (_, without) = catalog.alter_table(t, drop(0)).unwrap();
        assert_eq!(shown(&without), [("upper(b)".to_string(), None)]);
        assert_eq!(without.hidden[0].generated_reads(), Some(&[0][..]));
    }

    #[test]
    fn hidden_columns_go_with_their_index() {
        let (catalog, t) = catalog();
        let drop = DropIndexes {
            names: vec![QualifiedName::in_public("t_lower_idx")],
            if_exists: false,
            behavior: DropBehavior::Restrict,
            path: SearchPath::default(),
        };
        let (catalog, ..) = catalog.drop_indexes(&drop).unwrap();
        let entry = catalog.table_by_id(t).unwrap();
        assert_eq!(shown(entry), [("upper(b)".to_string(), None)]);
        assert_eq!((entry.hidden.len(), entry.indexes[0].keys[0].column), (1, 2));
    }

    #[test]
    fn only_calls_are_shown_without_parentheses() {
        for (text, is) in [
            ("lower(a)", true),
            ("pg_catalog.lower((a))", true),
            ("f(')', a)", true),
            ("a + 1", false),
            ("lower(a) || b(c)", false),
            ("(a)", false),
            ("cast(a as text)", false),
            ("coalesce(a, 'x')", true),
            ("a::text", false),
            ("lower(a)::text", false),
        ] {
            assert_eq!(is_call(text), is, "{text}");
        }
    }
}
