//! SEARCH and CYCLE of WITH RECURSIVE: columns that say by which rows a row was reached.
//!
//! Both sides of the UNION compute them above their rows; the right side from those of the row before. A row whose mark says
//! that it closes a cycle is kept and leads nowhere. The key of the path, by which a cycle is noticed, is a column that nobody can name.

use super::rows::{Computed, filtered};
use super::{Binder, OutputColumn, Relation, error, fold};
use crate::parse::recursion_words as words;
use frazil_functions::{
    CastContext, KEYS, Operand, SHOWN, breadth_first, is_on_path, keys_of_path, text_of_path,
};
use frazil_plan::{ColumnId, Expr, ExprKind};
use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value};
use sqlparser::ast::{Expr as SqlExpr, Ident, OrderByKind, Query};

/// How SEARCH orders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Depth,
    Breadth,
}

/// What is said of a name: columns behind BY or CYCLE, and the column that is set.
struct Named<'a> {
    by: Vec<&'a Ident>,
    set: &'a Ident,
}

/// CYCLE.
struct Cycle<'a> {
    named: Named<'a>,
    /// The marks behind TO and DEFAULT.
    marks: Option<(&'a SqlExpr, &'a SqlExpr)>,
    path: &'a Ident,
}

/// The clauses behind a WITH query.
pub(super) struct Clauses<'a> {
    search: Option<(Order, Named<'a>)>,
    cycle: Option<Cycle<'a>>,
}

/// What they add to the columns of a recursive query.
pub(super) struct Added {
    /// The order, and positions of its columns.
    search: Option<(Order, Vec<usize>)>,
    cycle: Option<AddedCycle>,
    /// Names and types of the columns, in order.
    pub columns: Vec<(String, LogicalType)>,
    /// How many of them can be named: the last one of a cycle cannot.
    pub shown: usize,
}

struct AddedCycle {
    /// Positions of the columns that tell rows apart.
    by: Vec<usize>,
    mark: Expr,
    default: Expr,
}

/// SEARCH or CYCLE behind a query that does not read itself.
pub(super) fn not_recursive(span: Span) -> Error {
    error(SqlState::SYNTAX_ERROR, "WITH query is not recursive", span)
}

impl<'a> Clauses<'a> {
    /// The clauses of a WITH query, if it has some.
    pub(super) fn of(query: &'a Query) -> Option<Clauses<'a>> {
        let OrderByKind::Expressions(items) = &query.order_by.as_ref()?.kind else {
            return None;
        };
        let mut items = Items {
            rest: items.iter().map(|i| &i.expr).collect(),
        };
        let order = match items.mark() {
            Some(words::DEPTH) => Some(Order::Depth),
            Some(words::BREADTH) => Some(Order::Breadth),
            Some(words::CYCLE) => None,
            _ => return None,
        };
        let search = match order {
            Some(order) => {
                items.next();
                Some((order, items.named()?))
            }
            None => None,
        };
        Some(Clauses {
            search,
            cycle: items.cycle(),
        })
    }
}

/// What the order of a query stands for: see [`words`].
struct Items<'a> {
    rest: std::collections::VecDeque<&'a SqlExpr>,
}

impl<'a> Items<'a> {
    fn next(&mut self) -> Option<&'a SqlExpr> {
        self.rest.pop_front()
    }

    /// The next item, if it says what follows.
    fn mark(&self) -> Option<&'a str> {
        match self.rest.front()? {
            SqlExpr::Identifier(name) if name.value.starts_with('\0') => Some(&name.value),
            _ => None,
        }
    }

    fn name(&mut self) -> Option<&'a Ident> {
        match self.next()? {
            SqlExpr::Identifier(name) => Some(name),
            _ => None,
        }
    }

    fn named(&mut self) -> Option<Named<'a>> {
        let mut by = Vec::new();
        while self.mark().is_none() {
            by.push(self.name()?);
        }
        self.next();
        let set = self.name()?;
        Some(Named { by, set })
    }

    fn cycle(&mut self) -> Option<Cycle<'a>> {
        self.next()?;
        let named = self.named()?;
        let mut marks = None;
        if self.mark() == Some(words::TO) {
            self.next();
            let mark = self.next()?;
            self.next();
            marks = Some((mark, self.next()?));
        }
        self.next();
        let path = self.name()?;
        Some(Cycle { named, marks, path })
    }
}

impl<'a> Binder<'a> {
    /// What the clauses add to a query of these columns. 42601, 42701, 42804, 42883.
    pub(super) fn added(&mut self, clauses: &Clauses<'a>, names: &[String]) -> Result<Added> {
        let mut added = Added {
            search: None,
            cycle: None,
            columns: Vec::new(),
            shown: 0,
        };
        if let Some((order, named)) = &clauses.search {
            let by = self.positions(named, names, "search")?;
            let name = self.new_name(named.set, names, "search sequence")?;
            added.search = Some((*order, by));
            added.columns.push((name, KEYS));
        }
        if let Some(cycle) = &clauses.cycle {
            let by = self.positions(&cycle.named, names, "cycle")?;
            let set = self.new_name(cycle.named.set, names, "cycle mark")?;
            let (mark, default) = self.marks(cycle)?;
            let path = self.new_name(cycle.path, names, "cycle path")?;
            let sequence = added.columns.first().map(|c| c.0.clone());
            let all = [(&set, "cycle mark"), (&path, "cycle path")];
            let twice = all.iter().find(|n| Some(n.0) == sequence.as_ref());
            let twice = match (set == path, twice) {
                (true, _) => {
                    Some("cycle mark column name and cycle path column name are the same".to_string())
                }
                (false, Some((_, what))) => Some(format!(
                    "search sequence column name and {what} column name are the same"
                )),
                (false, None) => None,
            };
            if let Some(message) = twice {
                return Err(error(SqlState::SYNTAX_ERROR, message, self.span(cycle.path)));
            }
            added.columns.push((set, mark.ty));
            added.columns.push((path, SHOWN));
            added.cycle = Some(AddedCycle { by, mark, default });
        }
        added.shown = added.columns.len();
        if added.cycle.is_some() {
            added.columns.push((String::new(), KEYS));
        }
        Ok(added)
    }

    /// Positions of the columns that a clause names.
    fn positions(&self, named: &Named<'_>, names: &[String], clause: &str) -> Result<Vec<usize>> {
        let mut positions = Vec::with_capacity(named.by.len());
        for ident in &named.by {
            let (name, span) = (fold(ident), self.span(ident));
            let Some(at) = names.iter().position(|n| *n == name) else {
                let message = format!("{clause} column \"{name}\" not in WITH query column list");
                return Err(error(SqlState::SYNTAX_ERROR, message, span));
            };
            if positions.contains(&at) {
                let message = format!("{clause} column \"{name}\" specified more than once");
                return Err(error(SqlState::DUPLICATE_COLUMN, message, span));
            }
            positions.push(at);
        }
        Ok(positions)
    }

    /// The name of a column that is added.
    fn new_name(&self, ident: &Ident, names: &[String], what: &str) -> Result<String> {
        let name = fold(ident);
        if names.contains(&name) {
            let message = format!("{what} column name \"{name}\" already used in WITH query column list");
            return Err(error(SqlState::SYNTAX_ERROR, message, self.span(ident)));
        }
        Ok(name)
    }

    /// The marks of rows that close a cycle, and of all others.
    fn marks(&mut self, cycle: &Cycle<'a>) -> Result<(Expr, Expr)> {
        let Some((mark, default)) = cycle.marks else {
            let boolean = |b| Expr::boolean(ExprKind::Constant(Value::Bool(b)), false);
            return Ok((boolean(true), boolean(false)));
        };
        let (mark, default) = (self.expression(mark)?, self.expression(default)?);
        let ty = self.typing.common_type(&[&mark, &default], "CYCLE")?;
        let of = |x: Operand| {
            let span = x.span();
            self.typing.cast(x, ty, CastContext::Implicit, span)
        };
        Ok((of(mark)?, of(default)?))
    }

    /// The left side with the columns that are added.
    pub(super) fn first_of_paths(&mut self, left: Relation, added: &Added) -> Relation {
        let ids: Vec<ColumnId> = left.columns.iter().map(|c| c.id).collect();
        let none = vec![None; added.columns.len()];
        let computed = self.path_columns(&ids, &none, added);
        self.with_computed(left, added, computed)
    }

    /// The right side with the columns that are added; `turn`: the columns of the turn before that it reads. 0A000 if these are not
    /// in sight above it.
    pub(super) fn next_of_paths(
        &mut self,
        mut right: Relation,
        added: &Added,
        turn: &[ColumnId],
        name: &str,
        span: Span,
    ) -> Result<Relation> {
        let visible = right.op.visible();
        let before = &turn[turn.len().saturating_sub(added.columns.len())..];
        if !before.iter().all(|id| visible.contains(id)) {
            let message = format!(
                "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"{name}\" must be at the top level of its right-hand SELECT"
            );
            return Err(error(SqlState::FEATURE_NOT_SUPPORTED, message, span));
        }
        let column = |id: &ColumnId| Expr::column(*id, &self.columns);
        let before: Vec<Option<Expr>> = before.iter().map(|id| Some(column(id))).collect();
        if let Some(cycle) = &added.cycle
            && let Some(mark) = before[usize::from(added.search.is_some())].clone()
        {
            let closed: Operand = cycle.mark.clone().into();
            let differs = self
                .typing
                .infix("<>", mark.into(), closed, span, &mut self.columns)?;
            let predicate = self.typing.predicate(differs, "CYCLE")?;
            right.op = filtered(right.op, Some(predicate));
        }
        let ids: Vec<ColumnId> = right.columns.iter().map(|c| c.id).collect();
        let computed = self.path_columns(&ids, &before, added);
        Ok(self.with_computed(right, added, computed))
    }

    /// The columns added to rows whose own columns are `ids`; `before`: those of the row before.
    fn path_columns(&self, ids: &[ColumnId], before: &[Option<Expr>], added: &Added) -> Vec<Expr> {
        let values = |by: &[usize]| -> Vec<Expr> {
            let columns = by.iter().map(|at| Expr::column(ids[*at], &self.columns));
            columns.collect()
        };
        let (mut computed, mut before) = (Vec::new(), before.iter().cloned());
        let mut next = || before.next().flatten();
        if let Some((order, by)) = &added.search {
            let key = match order {
                Order::Depth => keys_of_path(next(), values(by)),
                Order::Breadth => breadth_first(next(), values(by)),
            };
            computed.push(key);
        }
        if let Some(cycle) = &added.cycle {
            let (_, text, keys) = (next(), next(), next());
            let mark = match &keys {
                None => cycle.default.clone(),
                Some(keys) => marked(is_on_path(keys.clone(), values(&cycle.by)), cycle),
            };
            computed.push(mark);
            computed.push(text_of_path(text, values(&cycle.by)));
            computed.push(keys_of_path(keys, values(&cycle.by)));
        }
        computed
    }

    fn with_computed(&mut self, mut relation: Relation, added: &Added, computed: Vec<Expr>) -> Relation {
        let mut expressions = Vec::with_capacity(computed.len());
        for ((name, ty), e) in added.columns.iter().zip(computed) {
            let id = self.columns.add(name.clone(), *ty, true);
            relation.columns.push(OutputColumn::new(name.clone(), id));
            expressions.push((id, e));
        }
        relation.op = Computed { expressions }.above(relation.op);
        relation
    }
}

/// The mark of a row: `closes` says whether it is on its own path.
fn marked(closes: Expr, cycle: &AddedCycle) -> Expr {
    let kind = ExprKind::Case {
        branches: vec![(closes, cycle.mark.clone())],
        otherwise: Some(Box::new(cycle.default.clone())),
    };
    Expr::new(kind, cycle.mark.ty, true)
}
