//! WITH RECURSIVE: a definition whose body is a UNION that reads itself on the right.
//!
//! The left side is bound first. It gives the columns' types and names, under which the right side reads the rows of
//! the turn before. A column may be NULL whatever the left side says: the right side makes of it what it likes.

use super::common_tables::{Rows, TurnColumns};
use super::query::{Literals, Tail};
use super::search_cycle::{Clauses, not_recursive};
use super::{Binder, OutputColumn, Relation, error, fold};
use frazil_functions::Typing;
use frazil_plan::operators::{Join, Recursion, RecursionId, Turn};
use frazil_plan::{ColumnId, Expr, ExprKind, JoinKind, Operator};
use frazil_types::{Error, LogicalType, Result, Span, SqlState};
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

/// Which digits decimals of a definition that reads itself have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decimals {
    /// Those of the left side.
    AsWritten,
    /// Those of `numeric`, to which the right side's decimals are cast.
    Numeric,
}

/// A UNION.
struct Union<'a> {
    left: &'a SetExpr,
    right: &'a SetExpr,
    distinct: bool,
    /// SEARCH and CYCLE behind the query.
    clauses: Option<Clauses<'a>>,
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
        let inside = self.ctes.len();
        let mut defined = self.recursion_of(at, definition, &union, Decimals::AsWritten);
        if matches!(defined, Ok(None)) {
            self.ctes.truncate(inside);
            self.set_rows(at, Rows::Closed(ON_THE_LEFT));
            defined = self.recursion_of(at, definition, &union, Decimals::Numeric);
        }
        self.ctes.truncate(known);
        defined?.ok_or_else(|| Error::internal("a recursion over numeric that has other digits"))
    }

    /// The definition with decimals as written, or as `numeric`. `None` if the right side makes decimals of other
    /// digits than the left side has.
    fn recursion_of(
        &mut self,
        at: usize,
        definition: &'a SqlCte,
        union: &Union<'a>,
        decimals: Decimals,
    ) -> Result<Option<Defined>> {
        let span = self.span(&definition.alias.name);
        if union.clauses.is_some() {
            of_selects(union, span)?;
        }
        let left = self.set_expression(union.left, Literals::Keep)?;
        let open = left.clone();
        let left = self.settled(left, decimals)?;
        let given = definition.alias.columns.iter().map(|c| fold(&c.name));
        let names = left.columns.iter().map(|c| c.name.clone());
        let names: Vec<String> = given.chain(names.skip(definition.alias.columns.len())).collect();
        let types: Vec<LogicalType> = left.columns.iter().map(|c| self.columns[c.id].ty).collect();
        let added = match &union.clauses {
            Some(clauses) => Some(self.added(clauses, &names)?),
            None => None,
        };
        self.recursions += 1;
        let id = RecursionId(self.recursions);
        let mut all: Vec<_> = names.into_iter().zip(types.iter().copied()).collect();
        let shown = all.len();
        all.extend(added.iter().flat_map(|a| a.columns.iter().cloned()));
        self.set_rows(at, Rows::Turn(id, TurnColumns { all, shown }));
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
        if uses.count == 0 && union.clauses.is_some() {
            return Err(not_recursive(span));
        }
        if uses.count == 0 {
            let (left, right) = self.of_one_type(open, right, "UNION")?;
            let both = self.union(left, right);
            let relation = if union.distinct {
                self.distinct_rows(both)
            } else {
                both
            };
            return Ok(Some(Defined::Plain(relation)));
        }
        let Some((left, right)) = self.of_types(left, right, &types, decimals)? else {
            return Ok(None);
        };
        check_equality(union, &types)?;
        self.keeps_types(&left, &types, &name, span)?;
        let Some(added) = added else {
            let relation = self.all_turns(id, left, right, union.distinct);
            return Ok(Some(Defined::Recursive(relation)));
        };
        self.enough_columns(left.columns.len(), definition)?;
        let before = turn_of(&right.op, id).unwrap_or_default();
        let right = self.next_of_paths(right, &added, &before, &name, span)?;
        let left = self.first_of_paths(left, &added);
        let kept = left.columns.len() - (added.columns.len() - added.shown);
        let mut relation = self.all_turns(id, left, right, union.distinct);
        relation.columns.truncate(kept);
        Ok(Some(Defined::Recursive(relation)))
    }

    /// Both sides of a UNION with common types. Decimals are those of `types`, the left side's; `None` if the right
    /// side's have other digits although they are as written.
    fn of_types(
        &mut self,
        left: Relation,
        right: Relation,
        types: &[LogicalType],
        decimals: Decimals,
    ) -> Result<Option<(Relation, Relation)>> {
        let (left, right) = self.of_one_type(left, right, "UNION")?;
        let common = left.columns.iter().map(|c| self.columns[c.id].ty).zip(types);
        let common: Vec<(LogicalType, LogicalType)> = common.map(|(ty, of_left)| (ty, *of_left)).collect();
        if common
            .iter()
            .all(|(ty, of_left)| ty == of_left || !are_decimals(*ty, *of_left))
        {
            return Ok(Some((left, right)));
        }
        if decimals == Decimals::AsWritten {
            return Ok(None);
        }
        let shown = common.into_iter();
        let shown = shown.map(|(ty, of_left)| if are_decimals(ty, of_left) { of_left } else { ty });
        let shown: Vec<LogicalType> = shown.collect();
        let left = self.cast_columns(left, &shown)?;
        Ok(Some((left, self.cast_columns(right, &shown)?)))
    }

    /// 42804 if a column of both terms has another type than the non-recursive one gives it.
    fn keeps_types(&self, both: &Relation, types: &[LogicalType], name: &str, span: Span) -> Result<()> {
        for (i, (column, ty)) in both.columns.iter().zip(types).enumerate() {
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
        Ok(())
    }

    /// A relation whose open literals are text, and whose decimals have some digits.
    fn settled(&mut self, relation: Relation, decimals: Decimals) -> Result<Relation> {
        let of = |column: &OutputColumn| match column.open {
            Some(_) => Typing::OPEN,
            None => match self.columns[column.id].ty {
                ty if decimals == Decimals::Numeric && ty.decimal_digits().is_some() => NUMERIC,
                ty => ty,
            },
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
    pub(super) fn turn(&mut self, id: RecursionId, columns: TurnColumns) -> Relation {
        let mut made: Vec<(ColumnId, usize)> = Vec::with_capacity(columns.all.len());
        let mut shown = Vec::with_capacity(columns.shown);
        for (at, (name, ty)) in columns.all.into_iter().enumerate() {
            let new = self.columns.add(name.clone(), ty, true);
            made.push((new, at));
            if at < columns.shown {
                shown.push(OutputColumn::new(name, new));
            }
        }
        Relation::new(Operator::Turn(Turn { id, columns: made }), shown)
    }
}

/// 42883 if UNION without ALL meets a type that has no equality.
fn check_equality(union: &Union<'_>, types: &[LogicalType]) -> Result<()> {
    match union.distinct {
        true => types
            .iter()
            .try_for_each(|ty| super::finish::absent(*ty, "equality")),
        false => Ok(()),
    }
}

/// `numeric` without digits.
const NUMERIC: LogicalType = LogicalType::Numeric;

fn are_decimals(a: LogicalType, b: LogicalType) -> bool {
    let is_decimal = |ty: LogicalType| ty.decimal_digits().is_some() || ty.is_unscaled();
    is_decimal(a) && is_decimal(b)
}

/// The UNION that a query is, with nothing behind it but SEARCH and CYCLE.
fn union_of(query: &Query) -> Option<Union<'_>> {
    let (tail, clauses) = (Tail::of(query), Clauses::of(query));
    if tail.order_by.is_some() && clauses.is_none() || tail.limit.is_some() || tail.fetch.is_some() {
        return None;
    }
    match &*query.body {
        SetExpr::Query(inner) if inner.with.is_none() => {
            let union = union_of(inner)?;
            let clauses = clauses.or(union.clauses);
            Some(Union { clauses, ..union })
        }
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
                clauses,
            })
        }
        _ => None,
    }
}

/// 0A000, 42601 if one side of a UNION is a UNION, EXCEPT or INTERSECT itself: SEARCH and CYCLE add columns to a
/// SELECT.
fn of_selects(union: &Union<'_>, span: Span) -> Result<()> {
    let sides = [
        ("left", union.left, SqlState::FEATURE_NOT_SUPPORTED),
        ("right", union.right, SqlState::SYNTAX_ERROR),
    ];
    match sides.into_iter().find(|side| !is_select(side.1)) {
        None => Ok(()),
        Some((name, _, state)) => {
            let message =
                format!("with a SEARCH or CYCLE clause, the {name} side of the UNION must be a SELECT");
            Err(error(state, message, span))
        }
    }
}

/// True if one side of a UNION is no UNION, EXCEPT or INTERSECT itself.
fn is_select(side: &SetExpr) -> bool {
    match side {
        SetExpr::SetOperation { .. } => false,
        SetExpr::Query(inner) => {
            let tail = Tail::of(inner);
            let is_plain = tail.order_by.is_none() && tail.limit.is_none() && tail.fetch.is_none();
            !is_plain || inner.with.is_some() || is_select(&inner.body)
        }
        _ => true,
    }
}

/// The columns of the rows before that a turn reads.
fn turn_of(op: &Operator, id: RecursionId) -> Option<Vec<ColumnId>> {
    match op {
        Operator::Turn(turn) if turn.id == id => Some(turn.columns.iter().map(|c| c.0).collect()),
        _ => op.inputs().into_iter().find_map(|input| turn_of(input, id)),
    }
}

/// True if a tree reads the rows of a turn, in its subqueries or not.
pub(super) fn reads_turns(op: &Operator) -> bool {
    matches!(op, Operator::Turn(_))
        || op.inputs().into_iter().any(reads_turns)
        || op.expressions().into_iter().any(turn_in_expression)
}

/// True if a tree reads the rows of a turn whose recursion is around it.
pub(super) fn reads_turns_around(op: &Operator) -> bool {
    let (mut read, mut own) = (Vec::new(), Vec::new());
    add_turns(op, &mut read, &mut own);
    read.iter().any(|id| !own.contains(id))
}

fn add_turns(op: &Operator, read: &mut Vec<RecursionId>, own: &mut Vec<RecursionId>) {
    match op {
        Operator::Turn(turn) => read.push(turn.id),
        Operator::Recursion(recursion) => own.push(recursion.id),
        _ => {}
    }
    op.inputs()
        .into_iter()
        .for_each(|input| add_turns(input, read, own));
    for e in op.expressions() {
        add_turns_of_expression(e, read, own);
    }
}

fn add_turns_of_expression(e: &Expr, read: &mut Vec<RecursionId>, own: &mut Vec<RecursionId>) {
    if let ExprKind::Subquery(subquery) = &e.kind {
        add_turns(subquery.root(), read, own);
    }
    e.children()
        .into_iter()
        .for_each(|child| add_turns_of_expression(child, read, own));
}

fn turn_in_expression(e: &Expr) -> bool {
    let own = matches!(&e.kind, ExprKind::Subquery(subquery) if reads_turns(subquery.root()));
    own || e.children().into_iter().any(turn_in_expression)
}

/// How a turn reads the rows before.
struct Uses {
    id: RecursionId,
    count: usize,
}

impl Uses {
    /// Whether a subquery reads the rows before; one may well have a recursion of its own.
    fn is_in_subquery_of(&self, e: &Expr) -> bool {
        let mut read = Vec::new();
        add_turns_of_expression(e, &mut read, &mut Vec::new());
        read.contains(&self.id)
    }

    /// Counts the places. Error: why one of them may not be, with `{}` for the query's name.
    fn look(&mut self, op: &Operator) -> std::result::Result<(), String> {
        if let Operator::Turn(turn) = op {
            self.count += usize::from(turn.id == self.id);
            return match self.count > 1 {
                true => Err(place("more than once")),
                false => Ok(()),
            };
        }
        if op.expressions().into_iter().any(|e| self.is_in_subquery_of(e)) {
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
        if !op.aggregates().is_empty() {
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
