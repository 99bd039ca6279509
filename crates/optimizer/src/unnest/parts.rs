//! A join taken apart: its kind and all its conditions, which columns of a domain may replace and join.

use super::Unnesting;
use crate::rename::{Names, rename_in};
use frazil_plan::{Expr, JoinKind, Operator};
use frazil_types::{Error, Result};

/// A join's kind and conditions.
pub struct Parts {
    /// The way it combines its sides.
    pub kind: JoinKind,
    /// True for NOT IN.
    pub null_aware: bool,
    /// Its keys as equalities.
    pub equal: Vec<Expr>,
    /// Its further conditions.
    pub conditions: Vec<Expr>,
}

impl Parts {
    /// Reads columns by their new names.
    pub fn rename(&mut self, names: &Names) {
        let all = self.equal.iter_mut().chain(&mut self.conditions);
        all.for_each(|e| rename_in(e, names));
    }
}

impl Unnesting<'_> {
    /// A join put together again.
    pub fn rejoined(&mut self, build: Operator, probe: Operator, parts: Parts) -> Result<Operator> {
        let Parts {
            kind,
            null_aware,
            equal,
            mut conditions,
        } = parts;
        match (null_aware, kind) {
            (true, JoinKind::ProbeMark(mark)) => {
                let condition = Expr::conjunction(equal)
                    .ok_or_else(|| Error::internal("a null-aware join without a key"))?;
                return Ok(self.three_valued(mark, build, probe, conditions, condition));
            }
            (true, _) => conditions.extend(equal.into_iter().map(super::not_false)),
            (false, _) => conditions.extend(equal),
        }
        Ok(super::join(kind, build, probe, conditions))
    }
}
