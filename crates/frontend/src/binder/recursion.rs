//! WITH RECURSIVE: a definition whose body is a UNION that reads itself on the right.
//!
//! The left side is bound first. It gives the columns' types and names, under which the right side reads the rows of the turn
//! before. A column may be NULL whatever the left side says: the right side makes of it what it likes.

use super::cte::Rows;
use super::query::{Literals, Tail};
use super::{Binder, OutputColumn, Relation, error, fold};
use frazil_plan::operators::{Join, Recursion, RecursionId, Turn};
use frazil_plan::{ColumnId, Expr, ExprKind, JoinKind, Operator};
use frazil_types::{LogicalType, Result, Span, SqlState};
use sqlparser::ast::{Cte as SqlCte, Query, SetExpr, SetOperator, SetQuantifier};

/// Why a definition may not read itself, behind "recursive query \"name\"".
pub(super) const NO_UNION: &str = "does not have the form non-recursive-term UNION [ALL] recursive-term";
const ON_THE_LEFT: &str = "refers to itself within its non-recursive term";
/// Two definitions that read each other.
pub(super) const MUTUAL: &str = "reads a query that reads it";

/// A definition that was bound, if it reads itself.
pub(super) enum Defined {
    /// All rows of all turns.
    Recursive(Relation),
    /// It is a UNION that does not.
    Plain(Relation),
    /// It is no UNION; nothing is bound.
    NoUnion,
}

/// A UNION.
struct Union<'a> {
    left: &'a SetExpr,
    right: &'a SetExpr,
    distinct: bool,
}

impl<'a> Binder<'a> {
    /// The definition at `at`, if it reads itself. 42P19 where it may not.
    pub(super) fn recursion(&mut self, at: usize, definition: &'a SqlCte) -> Result<Defined> {
        let query = &*definition.query;
        super::refuse::query(query)?;
        let Some(union) = union_of(query) else {
            return Ok(Defined::NoUnion);
        };
        let known = self.ctes.len();
        self.set_rows(at, Rows::Closed(ON_THE_LEFT));
        if let Some(with) = &query.with {
            self.with(with)?;
        }
        let defined = self.recursion_of(at, definition, &union);
        self.ctes.truncate(known);
        defined
    }

    fn recursion_of(&mut self, at: usize, definition: &'a SqlCte, union: &Union<'a>) -> Result<Defined> {
        let span = self.span(&definition.alias.name);
        let left = self.set_expression(union.left, Literals::Keep)?;
        let open = left.clone();
        let left = self.settled(left)?;
        let given = definition.alias.columns.iter().map(|c| fold(&c.name));
        let names = left.columns.iter().map(|c| c.name.clone());
        let names: Vec<String> = given.chain(names.skip(definition.alias.columns.len())).collect();
        let types: Vec<LogicalType> = left.columns.iter().map(|c| self.columns[c.id].ty).collect();
        self.recursions += 1;
        let id = RecursionId(self.recursions);
        let kept = names.into_iter().zip(types.iter().copied()).collect();
        self.set_rows(at, Rows::Turn(id, kept));
        let right = self.set_expression(union.right, Literals::Keep)?;
        self.set_rows(at, Rows::Closed(MUTUAL));
        let mut uses = Uses { id, count: 0 };
        let name = fold(&definition.alias.name);
        uses.look(&right.op)
            .map_err(|why| error(SqlState::INVALID_RECURSION, why.replace("{}", &name), span))?;
        if left.columns.len() != right.columns.len() {
            let message = "each UNION query must have the same number of columns";
            let span = right.columns.first().map_or(Span::NONE, |c| c.span);
            return Err(error(SqlState::SYNTAX_ERROR, message, span));
        }
        if uses.count == 0 {
            let (left, right) = self.of_one_type(open, right, "UNION")?;
            let both = self.union(left, right);
            let relation = if union.distinct {
                self.distinct_rows(both)
            } else {
                both
            };
            return Ok(Defined::Plain(relation));
        }
        let (left, right) = self.of_one_type(left, right, "UNION")?;
        for (i, (column, ty)) in left.columns.iter().zip(&types).enumerate() {
            let common = self.columns[column.id].ty;
            if common != *ty {
                let message = format!(
                    "recursive query \"{name}\" column {} has type {ty} in non-recursive term but type {common} overall",
                    i + 1
                );
                let found = error(SqlState::DATATYPE_MISMATCH, message, span);
                return Err(found.with_hint("Cast the output of the non-recursive term to the correct type."));
            }
        }
        Ok(Defined::Recursive(self.all_turns(
            id,
            left,
            right,
            union.distinct,
        )))
    }

    /// A relation whose open literals are text.
    fn settled(&mut self, relation: Relation) -> Result<Relation> {
        let of = |column: &OutputColumn| match column.open {
            Some(_) => LogicalType::Text,
            None => self.columns[column.id].ty,
        };
        let types: Vec<LogicalType> = relation.columns.iter().map(of).collect();
        self.cast_columns(relation, &types)
    }

    fn all_turns(&mut self, id: RecursionId, left: Relation, right: Relation, distinct: bool) -> Relation {
        let ids = |relation: &Relation| relation.columns.iter().map(|c| c.id).collect::<Vec<_>>();
        let (of_left, of_right) = (ids(&left), ids(&right));
        let mut columns = Vec::with_capacity(of_left.len());
        for column in &left.columns {
            let ty = self.columns[column.id].ty;
            let made = self.columns.add(column.name.clone(), ty, true);
            columns.push(OutputColumn::new(column.name.clone(), made));
        }
        let op = Operator::Recursion(Recursion {
            id,
            start: (Box::new(left.op), of_left),
            turn: (Box::new(right.op), of_right),
            columns: columns.iter().map(|c| c.id).collect(),
            distinct,
            enough: None,
        });
        Relation::new(op, columns)
    }

    /// The rows of the turn before.
    pub(super) fn turn(&mut self, id: RecursionId, columns: Vec<(String, LogicalType)>) -> Relation {
        let mut made: Vec<(ColumnId, usize)> = Vec::with_capacity(columns.len());
        let mut shown = Vec::with_capacity(columns.len());
        for (at, (name, ty)) in columns.into_iter().enumerate() {
            let new = self.columns.add(name.clone(), ty, true);
            made.push((new, at));
            shown.push(OutputColumn::new(name, new));
        }
        Relation::new(Operator::Turn(Turn { id, columns: made }), shown)
    }
}

/// The UNION that a query is, with nothing behind it.
fn union_of(query: &Query) -> Option<Union<'_>> {
    let tail = Tail::of(query);
    if tail.order_by.is_some() || tail.limit.is_some() || tail.fetch.is_some() {
        return None;
    }
    match &*query.body {
        SetExpr::Query(inner) if inner.with.is_none() => union_of(inner),
        SetExpr::SetOperation {
            op: SetOperator::Union,
            set_quantifier,
            left,
            right,
        } => {
            let distinct = match set_quantifier {
                SetQuantifier::All => false,
                SetQuantifier::None | SetQuantifier::Distinct => true,
                _ => return None,
            };
            Some(Union {
                left,
                right,
                distinct,
            })
        }
        _ => None,
    }
}

/// True if a tree reads the rows of a turn, in its subqueries or not.
pub(super) fn reads_turns(op: &Operator) -> bool {
    matches!(op, Operator::Turn(_))
        || op.inputs().into_iter().any(reads_turns)
        || op.expressions().into_iter().any(turn_in_expression)
}

fn turn_in_expression(e: &Expr) -> bool {
    let own = matches!(&e.kind, ExprKind::Subquery(subquery) if reads_turns(&subquery.root));
    own || e.children().into_iter().any(turn_in_expression)
}

/// How a turn reads the rows before.
struct Uses {
    id: RecursionId,
    count: usize,
}

impl Uses {
    /// Counts the places. Error: why one of them may not be, with `{}` for the query's name.
    fn look(&mut self, op: &Operator) -> std::result::Result<(), String> {
        if let Operator::Turn(turn) = op {
            self.count += usize::from(turn.id == self.id);
            return match self.count > 1 {
                true => Err(place("more than once")),
                false => Ok(()),
            };
        }
        if op.expressions().into_iter().any(turn_in_expression) {
            return Err(place("within a subquery"));
        }
        let before = self.count;
        let mut found = Vec::new();
        for input in op.inputs() {
            let count = self.count;
            self.look(input)?;
            found.push(self.count > count);
        }
        if self.count == before {
            return Ok(());
        }
        let aggregation = op.node().aggregation();
        if aggregation.is_some_and(|a| !a.aggregates.is_empty()) {
            return Err("aggregate functions are not allowed in a recursive query's recursive term".into());
        }
        let supplied = op.node().null_supplied();
        let is_supplied = |input: &Operator| supplied.iter().any(|s| std::ptr::eq(*s, input));
        if (op.inputs().into_iter().zip(&found)).any(|(input, found)| *found && is_supplied(input)) {
            return Err(place("within an outer join"));
        }
        let Operator::Join(Join { kind, .. }) = op else {
            return Ok(());
        };
        match kind {
            JoinKind::ProbeSemi => Err(place("within INTERSECT")),
            JoinKind::ProbeAnti if found[0] => Err(place("within EXCEPT")),
            JoinKind::Inner
            | JoinKind::ProbeOuter
            | JoinKind::BuildOuter
            | JoinKind::FullOuter
            | JoinKind::ProbeAnti
            | JoinKind::ProbeMark(_)
            | JoinKind::BuildSemi
            | JoinKind::BuildAnti => Ok(()),
        }
    }
}

fn place(what: &str) -> String {
    format!("recursive reference to query \"{{}}\" must not appear {what}")
}
