//! Recursive queries that depend on outer columns: the domain's columns go through all turns, so that one recursion serves all outer rows.

use super::Unnesting;
use super::domain::Domain;
use crate::rename::Names;
use frazil_plan::operators::{Recursion, Turn};
use frazil_plan::{ColumnId, Operator};
use frazil_types::{Error, Result};

impl Unnesting<'_> {
    /// All recursions at once, one for each row of the domain: a row leads to rows of its own recursion.
    pub(super) fn depend_recursion(
        &mut self,
        recursion: Recursion,
        domain: &mut Domain,
    ) -> Result<(Recursion, Names)> {
        let Recursion {
            id,
            start,
            turn,
            mut columns,
            distinct,
            ..
        } = recursion;
        if self.shares_turn(&turn.0, id) {
            return Err(Error::unsupported(
                "a recursive query that reads columns of a query around it, and its own rows in a subquery",
            ));
        }
        let start = self.depend_side(start, domain)?;
        domain.turns.push((id, columns.len()));
        let turn = self.depend_side(turn, domain);
        domain.turns.pop();
        let turn = turn?;
        let mut names = Names::new();
        for of in &domain.of {
            let info = self.columns[*of].clone();
            let made = self.columns.add(info.label, info.ty, info.nullable);
            columns.push(made);
            names.insert(*of, made);
        }
        let recursion = Recursion {
            id,
            start,
            turn,
            columns,
            distinct,
            enough: None,
        };
        Ok((recursion, names))
    }

    /// One side of a recursion, whose columns are followed by those of the domain.
    fn depend_side(
        &mut self,
        (op, mut from): (Box<Operator>, Vec<ColumnId>),
        domain: &mut Domain,
    ) -> Result<(Box<Operator>, Vec<ColumnId>)> {
        let side = self.depend(*op, domain)?;
        for id in &mut from {
            *id = side.names.get(id).copied().unwrap_or(*id);
        }
        from.extend(domain.of.iter().map(|id| side.names[id]));
        Ok((Box::new(side.op), from))
    }

    /// The rows of the turn before, with the columns of the domain.
    pub(super) fn depend_turn(&mut self, mut turn: Turn, domain: &Domain) -> (Turn, Names) {
        let first = domain.turns.iter().find(|t| t.0 == turn.id).map_or(0, |t| t.1);
        let mut names = Names::new();
        for (at, of) in domain.of.iter().enumerate() {
            let info = self.columns[*of].clone();
            let made = self.columns.add(info.label, info.ty, info.nullable);
            turn.columns.push((made, first + at));
            names.insert(*of, made);
        }
        (turn, names)
    }
}
