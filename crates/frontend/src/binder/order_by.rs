//! ORDER BY: names of the output, positions, else expressions over the input.

use super::list_limits;
use super::rows::Computed;
use super::select::ordered;
use super::select_list::Target;
use super::{Binder, OutputColumn, Relation, error, fold};
use frazil_functions::Operand;
use frazil_plan::same::same;
use frazil_plan::{ColumnId, Expr, SortKey};
use frazil_types::{Error, Result, Span, SqlState};
use sqlparser::ast::{Expr as SqlExpr, Ident, OrderBy, OrderByExpr, OrderByKind, UnaryOperator, Value};

/// What a key sorts by.
pub(super) enum By<'a> {
    /// An item of the select list.
    Target(usize),
    /// An expression that is in no item, and how it is written; a column of a whole row is not written.
    Expression(Expr, Option<&'a SqlExpr>),
}

impl By<'_> {
    pub fn expression_mut(&mut self) -> Option<&mut Expr> {
        match self {
            By::Target(_) => None,
            By::Expression(e, _) => Some(e),
        }
    }

    /// Whether both mean the same.
    fn is(&self, other: &By) -> bool {
        match (self, other) {
            (By::Target(a), By::Target(b)) => a == b,
            (By::Expression(a, written), By::Expression(b, other)) => {
                written.is_some() && written == other || same(a, b)
            }
            _ => false,
        }
    }
}

/// A key of ORDER BY.
pub(super) struct Key<'a> {
    pub by: By<'a>,
    pub span: Span,
    descending: bool,
    nulls_first: bool,
}

/// Columns that keys read, made where they are no items of the select list.
#[derive(Default)]
pub(super) struct KeyColumns<'a> {
    made: Vec<(By<'a>, ColumnId)>,
}

impl<'a> Binder<'a> {
    /// The keys of a SELECT's order.
    pub(super) fn order_keys(
        &mut self,
        order_by: &'a OrderBy,
        targets: &[Target<'a>],
    ) -> Result<Vec<Key<'a>>> {
        let mut keys = Vec::new();
        // Entries of the target list: its items, and the expressions that are none of them.
        let mut entries = targets.len();
        let items = items(order_by)?;
        list_limits::targets(items.len(), self.last_key(items))?;
        for item in items {
            if self.row_keys(item, targets, &mut keys)? {
                continue;
            }
            let by = self.by(&item.expr, targets, "ORDER BY")?;
            let span = match &by {
                By::Target(at) => targets[*at].value.span(),
                By::Expression(e, _) => {
                    entries += 1;
                    list_limits::targets(entries, e.span)?;
                    e.span
                }
            };
            keys.push(key(item, by, span)?);
        }
        Ok(keys)
    }

    /// Adds the keys of a whole row: its columns, in which NULLs are greater than all other values. False for an item
    /// that is not a whole row.
    fn row_keys(
        &mut self,
        item: &'a OrderByExpr,
        targets: &[Target<'a>],
        keys: &mut Vec<Key<'a>>,
    ) -> Result<bool> {
        let mut e = &item.expr;
        let named = match (self.position_of(e, targets.len(), "ORDER BY")?, e) {
            (Some(at), _) => Some(at),
            (None, SqlExpr::Identifier(name)) => self.output_named(name, targets, "ORDER BY")?,
            (None, _) => None,
        };
        if let Some(at) = named {
            match targets[at].written {
                Some(written) => e = written,
                None => return Ok(false),
            }
        }
        let Some(row) = self.whole_row(e)? else {
            return Ok(false);
        };
        let span = row.span();
        let record = self.record_of(row);
        let whole = key(item, By::Target(0), span)?;
        if let Some(mark) = record.mark {
            let is_missing = self.typing.is_null(mark.into(), span)?;
            let by = By::Expression(self.typing.settle(is_missing)?, None);
            keys.push(Key {
                by,
                span,
                descending: whole.nulls_first,
                nulls_first: false,
            });
        }
        for value in record.values {
            keys.push(Key {
                by: By::Expression(value, None),
                span,
                descending: whole.descending,
                nulls_first: whole.descending,
            });
        }
        Ok(true)
    }

    /// Place of the last key of a list.
    fn last_key(&self, items: &[OrderByExpr]) -> Span {
        items.last().map_or(Span::NONE, |item| self.leaf_span(&item.expr))
    }

    /// What an expression of ORDER BY or DISTINCT ON means.
    pub(super) fn by(&mut self, e: &'a SqlExpr, targets: &[Target<'a>], clause: &str) -> Result<By<'a>> {
        if let Some(at) = self.position_of(e, targets.len(), clause)? {
            return Ok(By::Target(at));
        }
        if let SqlExpr::Identifier(name) = e
            && let Some(at) = self.output_named(name, targets, clause)?
        {
            return Ok(By::Target(at));
        }
        // What is written alike means the same here, subqueries included.
        if let Some(at) = targets.iter().position(|t| t.written == Some(e)) {
            return Ok(By::Target(at));
        }
        let bound = self.expression(e)?;
        let bound = self.typing.settle(bound)?;
        let equal = |t: &Target| matches!(&t.value, Operand::Typed(value) if same(value, &bound));
        Ok(match targets.iter().position(equal) {
            Some(at) => By::Target(at),
            None => By::Expression(bound, Some(e)),
        })
    }

    /// The item of the select list that a name means. 42702 if it means several that differ.
    pub(super) fn output_named(
        &self,
        name: &Ident,
        targets: &[Target],
        clause: &str,
    ) -> Result<Option<usize>> {
        let folded = fold(name);
        let mut found: Option<usize> = None;
        for (at, target) in targets.iter().enumerate() {
            if target.name != folded {
                continue;
            }
            let equal = |other: usize| match (&targets[other].value, &target.value) {
                (Operand::Typed(a), Operand::Typed(b)) => same(a, b),
                (Operand::Unknown(a), Operand::Unknown(b)) => a.kind == b.kind,
                _ => false,
            };
            match found {
                None => found = Some(at),
                Some(first) if equal(first) => {}
                Some(_) => {
                    let message = format!("{clause} \"{folded}\" is ambiguous");
                    return Err(error(SqlState::AMBIGUOUS_COLUMN, message, self.span(name)));
                }
            }
        }
        Ok(found)
    }

    /// The column that a key reads.
    pub(super) fn key_column(
        &mut self,
        by: &By<'a>,
        columns: &[OutputColumn],
        known: &mut KeyColumns<'a>,
        computed: &mut Computed,
    ) -> ColumnId {
        if let Some((_, id)) = known.made.iter().find(|(other, _)| other.is(by)) {
            return *id;
        }
        match by {
            By::Target(at) => columns[*at].id,
            By::Expression(e, written) => {
                let id = self.as_column(e.clone(), "sort key", computed);
                known.made.push((By::Expression(e.clone(), *written), id));
                id
            }
        }
    }

    /// The order of a set operation or VALUES, whose columns have names and positions only. 0A000, 42703.
    pub(super) fn order_output(&mut self, relation: Relation, order_by: &'a OrderBy) -> Result<Relation> {
        let mut keys = Vec::new();
        let items = items(order_by)?;
        list_limits::targets(items.len(), self.last_key(items))?;
        for item in items {
            let at = match self.position_of(&item.expr, relation.columns.len(), "ORDER BY")? {
                Some(at) => at,
                None => self.output_position(&item.expr, &relation.columns)?,
            };
            keys.push(key(item, By::Target(at), Span::NONE)?.on(relation.columns[at].id));
        }
        Ok(ordered(relation, keys))
    }

    fn output_position(&self, e: &SqlExpr, columns: &[OutputColumn]) -> Result<usize> {
        let SqlExpr::Identifier(name) = e else {
            let message = "invalid UNION/INTERSECT/EXCEPT ORDER BY clause";
            return Err(error(SqlState::FEATURE_NOT_SUPPORTED, message, self.leaf_span(e))
                .with_detail("Only result column names can be used, not expressions or functions.")
                .with_hint("put the set operation into a FROM clause"));
        };
        let folded = fold(name);
        let span = self.span(name);
        let mut found = columns.iter().enumerate().filter(|(_, c)| c.name == folded);
        match (found.next(), found.next()) {
            (Some((at, _)), None) => Ok(at),
            (Some(_), Some(_)) => {
                let message = format!("ORDER BY \"{folded}\" is ambiguous");
                Err(error(SqlState::AMBIGUOUS_COLUMN, message, span))
            }
            (None, _) => {
                let message = format!("column \"{folded}\" does not exist");
                let missing = error(SqlState::UNDEFINED_COLUMN, message, span);
                let names = columns.iter().map(|c| c.name.as_str());
                Err(match frazil_catalog::nearest(&folded, names) {
                    Some(near) => missing.with_hint(format!("did you mean \"{near}\"?")),
                    None => missing,
                })
            }
        }
    }
}

fn items(order_by: &OrderBy) -> Result<&[OrderByExpr]> {
    if order_by.interpolate.is_some() {
        return Err(Error::unsupported("INTERPOLATE"));
    }
    match &order_by.kind {
        OrderByKind::Expressions(items) => Ok(items),
        OrderByKind::All(_) => Err(Error::unsupported("ORDER BY ALL")),
    }
}

impl Key<'_> {
    /// The key in its operator.
    pub fn on(&self, column: ColumnId) -> SortKey {
        SortKey {
            column,
            descending: self.descending,
            nulls_first: self.nulls_first,
        }
    }
}

fn key<'a>(item: &OrderByExpr, by: By<'a>, span: Span) -> Result<Key<'a>> {
    if item.with_fill.is_some() {
        return Err(Error::unsupported("ORDER BY … WITH FILL"));
    }
    let descending = item.options.asc == Some(false);
    Ok(Key {
        by,
        span,
        descending,
        nulls_first: item.options.nulls_first.unwrap_or(descending),
    })
}

/// The number that a constant of GROUP BY, ORDER BY or DISTINCT ON is; 42601 for any other constant, and for a number
/// that is no `integer`. A minus before a number belongs to it, however many there are and whatever parentheses.
pub(super) fn is_position(binder: &Binder, e: &SqlExpr, clause: &str) -> Result<Option<(i32, Span)>> {
    let (mut inner, mut minuses) = (e, 0);
    loop {
        match inner {
            SqlExpr::Nested(e) => inner = e,
            SqlExpr::UnaryOp {
                op: UnaryOperator::Minus,
                expr,
            } => (inner, minuses) = (expr, minuses + 1),
            _ => break,
        }
    }
    let SqlExpr::Value(value) = inner else {
        return Ok(None);
    };
    let number = match &value.value {
        Value::Placeholder(_) => return Ok(None),
        Value::Number(text, _) => text.parse::<i32>().ok(),
        _ if minuses > 0 => return Ok(None),
        _ => None,
    };
    let span = binder.place.span(value.span);
    let message = || {
        error(
            SqlState::SYNTAX_ERROR,
            format!("non-integer constant in {clause}"),
            span,
        )
    };
    let number = number.ok_or_else(message)?;
    Ok(Some((if minuses % 2 == 1 { -number } else { number }, span)))
}
