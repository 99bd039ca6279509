//! Joins: conditions, merged columns of USING and NATURAL, LATERAL.

use super::from::FromRows;
use super::names::unqualified;
use super::rows::Computed;
use super::scope::{Clause, Item};
use super::{Binder, OutputColumn, error, fold};
use frazil_functions::{CastContext, Operand};
use frazil_plan::operators::{DependentJoin, Join};
use frazil_plan::{ColumnId, Expr, JoinKind, Operator, free_columns};
use frazil_types::{Error, LogicalType, Result, Span, SqlState};
use sqlparser::ast::{Expr as SqlExpr, Join as SqlJoin, JoinConstraint, JoinOperator, ObjectName};

/// How two relations are combined.
pub(super) struct Joined {
    kind: JoinKind,
    /// Whether the right relation streams: RIGHT joins.
    is_flipped: bool,
    pub condition: Option<Expr>,
}

impl Joined {
    pub fn plain(kind: JoinKind) -> Joined {
        Joined {
            kind,
            is_flipped: false,
            condition: None,
        }
    }
}

/// Says why rows are not locked that a join only tests.
const SEMI: &str = "cannot be applied to the side of a SEMI or ANTI join that is not returned";

/// The names that both sides of a join share, with the column of either side.
type Common = Vec<(String, ColumnId, ColumnId)>;

impl<'a> Binder<'a> {
    /// Joins `left` with what a JOIN clause names.
    pub(super) fn join(&mut self, left: FromRows, join: &'a SqlJoin) -> Result<FromRows> {
        let span = self.factor_span(&join.relation);
        if join.global {
            return Err(Error::unsupported("GLOBAL JOIN").at_span(span));
        }
        let (mut joined, constraint) = of_operator(&join.join_operator).map_err(|e| e.at_span(span))?;
        let right = self.factor(&join.relation)?;
        self.distinct_names(&left.items, &right.items, span)?;
        let common = match constraint {
            Constraint::On(condition) => {
                let items = [&left.items[..], &right.items[..]].concat();
                joined.condition = Some(self.within(Clause::On, items, |b| b.on(condition))?.0);
                None
            }
            Constraint::Using(names) => Some(self.using(&left.items, &right.items, names)?),
            Constraint::Natural => Some(self.natural(&left.items, &right.items)?),
            Constraint::Cross => None,
        };
        let Some(common) = common else {
            return self.combine(left, right, joined, span);
        };
        for (_, left, right) in &common {
            self.note_use(*left);
            self.note_use(*right);
        }
        joined.condition = self.equal(&common)?;
        let (outer, is_flipped) = (joined.kind, joined.is_flipped);
        let only_left = matches!(joined.kind, JoinKind::ProbeSemi | JoinKind::ProbeAnti) && !is_flipped;
        let only_right = matches!(joined.kind, JoinKind::ProbeSemi | JoinKind::ProbeAnti) && is_flipped;
        let (left_items, right_items) = (left.items.clone(), right.items.clone());
        let mut rows = self.combine(left, right, joined, span)?;
        if only_left || only_right {
            return Ok(rows);
        }
        self.merge(&mut rows, &left_items, &right_items, &common, (outer, is_flipped))?;
        Ok(rows)
    }

    fn on(&mut self, condition: &'a SqlExpr) -> Result<Expr> {
        let condition = self.expression(condition)?;
        self.typing.predicate(condition, "JOIN/ON")
    }

    /// Columns named by USING, on both sides. 42703, 42702.
    fn using(&self, left: &[Item], right: &[Item], names: &[ObjectName]) -> Result<Common> {
        let mut common: Common = Vec::new();
        for name in names {
            let span = self.name_span(name);
            let [part] = &name.0[..] else {
                return Err(self.syntax_error(&name.to_string(), span));
            };
            let Some(ident) = part.as_ident() else {
                return Err(self.syntax_error(&name.to_string(), span));
            };
            let name = fold(ident);
            if common.iter().any(|c| c.0 == name) {
                let message = format!("column name \"{name}\" appears more than once in USING clause");
                return Err(error(SqlState::DUPLICATE_COLUMN, message, span));
            }
            let l = common_column(left, &name, "left", span)?;
            let r = common_column(right, &name, "right", span)?;
            common.push((name, l, r));
        }
        Ok(common)
    }

    /// Columns that both sides have, in the left side's order. 42702.
    fn natural(&self, left: &[Item], right: &[Item]) -> Result<Common> {
        let mut common: Common = Vec::new();
        for column in unqualified(left) {
            let shared = unqualified(right).any(|r| r.name == column.name);
            if shared {
                let l = common_column(left, &column.name, "left", Span::NONE)?;
                let r = common_column(right, &column.name, "right", Span::NONE)?;
                common.push((column.name.clone(), l, r));
            }
        }
        Ok(common)
    }

    /// The condition that common columns are equal.
    fn equal(&mut self, common: &Common) -> Result<Option<Expr>> {
        let mut equal = Vec::new();
        for (_, l, r) in common {
            let [l, r] = [*l, *r].map(|id| Operand::from(Expr::column(id, &self.columns)));
            self.typing.common_type(&[&l, &r], "JOIN/USING")?;
            let both = self.typing.infix("=", l, r, Span::NONE, &mut self.columns)?;
            equal.push(self.typing.predicate(both, "JOIN/USING")?);
        }
        Ok(Expr::conjunction(equal))
    }

    /// Puts the common columns first, each once: of a FULL join whichever side is not NULL, of a RIGHT join the
    /// right one, else the left one.
    fn merge(
        &mut self,
        rows: &mut FromRows,
        left: &[Item],
        right: &[Item],
        common: &Common,
        (kind, is_flipped): (JoinKind, bool),
    ) -> Result<()> {
        let mut computed = Computed::default();
        let mut columns = Vec::new();
        for (name, l, r) in common {
            let sides = [*l, *r].map(|id| Operand::from(Expr::column(id, &self.columns)));
            let ty = self.typing.common_type(&[&sides[0], &sides[1]], "JOIN/USING")?;
            let [l, r] = sides;
            let merged = match (kind, is_flipped) {
                (JoinKind::FullOuter, _) => {
                    let both = self.typing.coalesce(vec![l, r], Span::NONE, &mut self.columns)?;
                    self.typing.settle(both)?
                }
                (_, true) => self.typing.cast(r, ty, CastContext::Implicit, Span::NONE)?,
                // Either side will do: the one that is a numeric already keeps its digits.
                (JoinKind::Inner, false) if becomes_numeric(&l, ty) && !becomes_numeric(&r, ty) => {
                    self.typing.cast(r, ty, CastContext::Implicit, Span::NONE)?
                }
                (_, false) => self.typing.cast(l, ty, CastContext::Implicit, Span::NONE)?,
            };
            let id = self.as_column(merged, name, &mut computed);
            let name = name.clone();
            columns.push(OutputColumn::new(name, id));
        }
        let rest = |items: &[Item]| -> Vec<OutputColumn> {
            let others = unqualified(items).filter(|c| !common.iter().any(|m| m.0 == c.name));
            others.cloned().collect()
        };
        columns.extend(rest(left));
        columns.extend(rest(right));
        let op = std::mem::replace(&mut rows.op, super::rows::one_row());
        rows.op = computed.above(op);
        for item in &mut rows.items {
            item.is_unqualified = false;
        }
        rows.items.retain(|i| i.name.is_some());
        rows.items.push(Item::unnamed(columns));
        Ok(())
    }

    /// 0A000 if rows of a side are locked that the join makes NULL or only tests.
    fn refuse_locked_sides(
        &mut self,
        left: &Operator,
        right: &Operator,
        (kind, is_flipped): (JoinKind, bool),
    ) -> Result<()> {
        let nullable = "cannot be applied to the nullable side of an outer join";
        let (other, sides): (&str, &[&Operator]) = match (kind, is_flipped) {
            (JoinKind::FullOuter, _) => (nullable, &[left, right]),
            (JoinKind::ProbeOuter, false) => (nullable, &[right]),
            (JoinKind::ProbeOuter, true) => (nullable, &[left]),
            (JoinKind::ProbeSemi | JoinKind::ProbeAnti, false) => (SEMI, &[right]),
            (JoinKind::ProbeSemi | JoinKind::ProbeAnti, true) => (SEMI, &[left]),
            _ => return Ok(()),
        };
        sides
            .iter()
            .try_for_each(|side| self.refuse_locked_side(side, other))
    }

    /// The rows of two relations that go together. 42P10 for LATERAL where the join allows none.
    pub(super) fn combine(
        &mut self,
        left: FromRows,
        right: FromRows,
        joined: Joined,
        span: Span,
    ) -> Result<FromRows> {
        let Joined {
            kind,
            is_flipped,
            condition,
        } = joined;
        let is_semi = matches!(kind, JoinKind::ProbeSemi | JoinKind::ProbeAnti);
        if !is_flipped && kind == JoinKind::ProbeOuter || kind == JoinKind::FullOuter {
            self.make_nullable(&right.items);
        }
        if is_flipped && kind == JoinKind::ProbeOuter || kind == JoinKind::FullOuter {
            self.make_nullable(&left.items);
        }
        self.refuse_locked_sides(&left.op, &right.op, (kind, is_flipped))?;
        let is_lateral = left.is_lateral || right.is_lateral;
        let depends = right.is_lateral && depends_on(&right.op, &left.items);
        let items = match (is_semi, is_flipped) {
            (true, false) => left.items,
            (true, true) => right.items,
            _ => [left.items, right.items].concat(),
        };
        let (left, right) = (Box::new(left.op), Box::new(right.op));
        let op = if depends {
            if !matches!(kind, JoinKind::Inner | JoinKind::ProbeOuter) || is_flipped {
                let message = "invalid reference to FROM-clause entry: the combining JOIN type must be INNER or LEFT \
                               for a LATERAL reference";
                return Err(error(SqlState::INVALID_COLUMN_REFERENCE, message, span));
            }
            self.nesting.subquery()?;
            Operator::DependentJoin(DependentJoin {
                outer: left,
                inner: right,
                condition,
                keep_outer: kind == JoinKind::ProbeOuter,
            })
        } else {
            let (build, probe) = if is_flipped { (left, right) } else { (right, left) };
            Operator::Join(Join {
                kind,
                build,
                probe,
                keys: Vec::new(),
                residual: condition,
                null_aware: false,
                in_order: false,
                first: None,
            })
        };
        Ok(FromRows {
            op,
            items,
            is_lateral,
        })
    }

    /// The columns of the side of an outer join that may have no partner.
    fn make_nullable(&mut self, items: &[Item]) {
        for item in items {
            for id in item
                .columns
                .iter()
                .map(|c| c.id)
                .chain(item.marker)
                .chain(item.system.iter().map(|shown| shown.1))
            {
                self.columns[id].nullable = true;
            }
        }
    }
}

/// Whether a relation reads columns of those to its left.
fn depends_on(op: &Operator, left: &[Item]) -> bool {
    let free = free_columns(op);
    let mut columns = left.iter().flat_map(|i| i.columns.iter());
    !free.is_empty() && columns.any(|c| free.contains(&c.id))
}

fn common_column(items: &[Item], name: &str, side: &str, span: Span) -> Result<ColumnId> {
    let mut found = unqualified(items).filter(|c| c.name == name);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one.id),
        (Some(_), Some(_)) => {
            let message = format!("common column name \"{name}\" appears more than once in {side} table");
            Err(error(SqlState::AMBIGUOUS_COLUMN, message, span))
        }
        (None, _) => {
            let message =
                format!("column \"{name}\" specified in USING clause does not exist in {side} table");
            Err(error(SqlState::UNDEFINED_COLUMN, message, span))
        }
    }
}

/// What JOIN asks of a pair of rows.
enum Constraint<'a> {
    On(&'a SqlExpr),
    Using(&'a [ObjectName]),
    Natural,
    Cross,
}

fn of_operator(operator: &JoinOperator) -> Result<(Joined, Constraint<'_>)> {
    use JoinOperator as J;
    let (kind, is_flipped, constraint) = match operator {
        J::Join(c) | J::Inner(c) => (JoinKind::Inner, false, c),
        J::Left(c) | J::LeftOuter(c) => (JoinKind::ProbeOuter, false, c),
        J::Right(c) | J::RightOuter(c) => (JoinKind::ProbeOuter, true, c),
        J::FullOuter(c) => (JoinKind::FullOuter, false, c),
        J::Semi(c) | J::LeftSemi(c) => (JoinKind::ProbeSemi, false, c),
        J::Anti(c) | J::LeftAnti(c) => (JoinKind::ProbeAnti, false, c),
        J::RightSemi(c) => (JoinKind::ProbeSemi, true, c),
        J::RightAnti(c) => (JoinKind::ProbeAnti, true, c),
        J::CrossJoin(JoinConstraint::None) => return Ok((Joined::plain(JoinKind::Inner), Constraint::Cross)),
        J::CrossJoin(_) => return Err(Error::unsupported("CROSS JOIN with a condition")),
        _ => return Err(Error::unsupported("this kind of join")),
    };
    let constraint = match constraint {
        JoinConstraint::On(condition) => Constraint::On(condition),
        JoinConstraint::Using(names) => Constraint::Using(names),
        JoinConstraint::Natural => Constraint::Natural,
        JoinConstraint::None => {
            let error = Error::new(SqlState::SYNTAX_ERROR, "syntax error: JOIN without ON or USING");
            return Err(error.with_hint("write ON condition, USING (column) or CROSS JOIN"));
        }
    };
    let joined = Joined {
        kind,
        is_flipped,
        condition: None,
    };
    Ok((joined, constraint))
}

/// True if a column of a join is merged to a numeric, and is not one.
fn becomes_numeric(side: &Operand, merged: LogicalType) -> bool {
    let is_numeric = |ty: LogicalType| ty.kind() == LogicalType::Numeric.kind();
    is_numeric(merged) && !side.ty().is_some_and(is_numeric)
}
