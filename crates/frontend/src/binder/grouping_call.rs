//! `grouping(…)`: which groups a row's grouping set lacks.

use super::scope::GroupingCall;
use super::{Binder, error};
use frazil_functions::Operand;
use frazil_plan::Expr;
use frazil_plan::operators::GROUPING;
use frazil_plan::same::same;
use frazil_types::{Result, Span, SqlState};
use sqlparser::ast::Expr as SqlExpr;

/// Arguments, at most: as many as there are bits in the value.
const MOST_ARGUMENTS: usize = 31;

impl<'a> Binder<'a> {
    /// `grouping(…)`. What its arguments name need not be grouped otherwise; that they are groups is seen once these are known.
    /// 54023; 42803 where it may not stand.
    pub(super) fn grouping_call(&mut self, arguments: Vec<&'a SqlExpr>, span: Span) -> Result<Operand> {
        if arguments.is_empty() {
            return Err(self.syntax_error(")", span));
        }
        if arguments.len() > MOST_ARGUMENTS {
            let message = format!("GROUPING must have fewer than {} arguments", MOST_ARGUMENTS + 1);
            return Err(error(SqlState::TOO_MANY_ARGUMENTS, message, span));
        }
        let first_inside = self.references.len();
        let mut bound = Vec::with_capacity(arguments.len());
        for e in arguments {
            let e = self.expression(e)?;
            bound.push(self.typing.settle(e)?);
        }
        let mut inside = self.references.split_off(first_inside);
        // Subqueries inside have columns of their own.
        inside.retain(|r| self.owner(r.id) <= self.depth());
        let depth = inside.iter().map(|r| self.owner(r.id)).max().filter(|d| *d > 0);
        let depth = depth.unwrap_or_else(|| self.depth());
        if let Some(clause) = self.clause_without_aggregates(depth) {
            let message = format!("grouping operations are not allowed in {clause}");
            return Err(error(SqlState::GROUPING_ERROR, message, span));
        }
        inside.retain(|r| self.owner(r.id) < depth);
        self.references.append(&mut inside);
        let whole = bound.iter().fold(span, |span, e| span.to(e.span));
        let level = &mut self.levels[(depth as usize).saturating_sub(1)];
        let known = level.groupings.iter().find(|call| alike(&call.arguments, &bound));
        let id = match known {
            Some(call) => call.id,
            None => {
                let id = self.columns.add("grouping", GROUPING, false);
                level.groupings.push(GroupingCall { id, arguments: bound });
                id
            }
        };
        self.own_at(id, depth);
        self.refer(id, span);
        Ok(Expr::column(id, &self.columns).at(whole).into())
    }
}

fn alike(a: &[Expr], b: &[Expr]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}
