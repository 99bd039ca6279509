//! Joins of two inputs.

use super::node::{Needed, Node, Tree, visible};
use crate::Columns;
use crate::breakers::{Breaker, JoinTable, Which};
use crate::display_expression::Names;
use crate::display_operator::{first_text, kind_name, match_text};
use crate::facts::{AboutRows, Facts, KnownValues, Match, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened, some_rows_of};
use crate::pipeline::{PipelineOperator, Sink};
use crate::role::Role;
use crate::verify::{Check, Visible, comparable, defect};
use crate::{Band, ColumnId, Expr, FirstMatches, JoinKind};
use frazil_types::Result;

/// Joins two inputs. Without keys it is a nested loop over the build rows, or over a run of them
/// ([`Join::in_order`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Join<T> {
    /// How.
    pub kind: JoinKind,
    /// The side that becomes a hash table.
    pub build: Box<T>,
    /// The side that streams.
    pub probe: Box<T>,
    /// Equal keys: (build expression, probe expression), of one native type each.
    pub keys: Vec<(Expr, Expr)>,
    /// A further condition on a pair; part of the match, not a filter after it.
    pub residual: Option<Expr>,
    /// NOT IN: a NULL on the build side makes every non-match unknown, a NULL probe key matches nothing
    /// (unless the build side is empty). Only with ProbeAnti, BuildAnti and ProbeMark.
    pub null_aware: bool,
    /// True if build rows are sorted by the keys, and then by the key of the residual's [`Band`], so that a probe row
    /// meets a run of them only.
    pub in_order: bool,
    /// The matches of a probe row that are given, if not all are. Only with [`JoinKind::Inner`], and in order.
    pub first: Option<FirstMatches>,
}

impl<T: Tree> Join<T> {
    /// The band by which build rows are sorted, if they are.
    pub fn band(&self) -> Option<Band> {
        let conditions = self.residual.clone().filter(|_| self.in_order)?.into_conjuncts();
        let (build, probe) = (visible(&*self.build), visible(&*self.probe));
        match self.first.as_ref().and_then(|first| first.by) {
            Some(column) => Band::on(column, &conditions, &build, &probe),
            None => Band::of(&conditions, &build, &probe),
        }
    }

    /// Further conditions on the order in which matches are given.
    fn verify_first(&self, first: &FirstMatches, check: &mut Check<'_>, build: &Visible) -> Result<()> {
        if self.kind != JoinKind::Inner || !self.in_order {
            return Err(defect(
                "the first matches of a join that is not inner, or not in order",
            ));
        }
        for id in first
            .by
            .into_iter()
            .chain(first.then.iter().map(|key| key.column))
        {
            check.reads_column(id, build, "the order of matches")?;
        }
        Ok(())
    }
}

impl<T> Join<T> {
    /// Its table, of `rows` rows with `keys` that keep `payload`.
    fn table(&self, keys: &[Expr], payload: Vec<ColumnId>, rows: f64) -> JoinTable {
        JoinTable {
            keys: keys.iter().map(|key| (key.ty, key.nullable)).collect(),
            in_order: self.in_order,
            first: self.first.clone(),
            payload,
            kind: self.kind,
            marked: self.kind.marks_build_rows(),
            null_aware: self.null_aware,
            estimated_rows: rows,
        }
    }
}

impl<T: Tree> Node<T> for Join<T> {
    fn inputs(&self) -> Vec<&T> {
        vec![&self.build, &self.probe]
    }

    fn inputs_mut(&mut self) -> Vec<&mut T> {
        vec![&mut self.build, &mut self.probe]
    }

    fn passes(&self) -> Vec<&T> {
        match self.kind {
            JoinKind::Inner | JoinKind::ProbeOuter | JoinKind::BuildOuter | JoinKind::FullOuter => {
                vec![&self.build, &self.probe]
            }
            JoinKind::ProbeSemi | JoinKind::ProbeAnti | JoinKind::ProbeMark(_) => vec![&self.probe],
            JoinKind::BuildSemi | JoinKind::BuildAnti => vec![&self.build],
        }
    }

    fn expressions(&self) -> Vec<&Expr> {
        (self.keys.iter())
            .flat_map(|k| [&k.0, &k.1])
            .chain(&self.residual)
            .collect()
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        (self.keys.iter_mut())
            .flat_map(|k| [&mut k.0, &mut k.1])
            .chain(&mut self.residual)
            .collect()
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        if let Some(first) = &self.first {
            first.by.iter().for_each(|id| visit(Role::Read, *id));
            (first.then.iter()).for_each(|key| visit(Role::Read, key.column));
        }
        self.kind.mark().iter().for_each(|id| visit(Role::Made, *id));
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        if let Some(first) = &mut self.first {
            first.by.iter_mut().for_each(|id| visit(Role::Read, id));
            (first.then.iter_mut()).for_each(|key| visit(Role::Read, &mut key.column));
        }
        self.kind
            .mark_mut()
            .into_iter()
            .for_each(|id| visit(Role::Made, id));
    }

    fn at_most_one_row(&self) -> bool {
        use JoinKind::*;
        match self.kind {
            Inner | ProbeOuter | BuildOuter => {
                self.build.node().at_most_one_row() && self.probe.node().at_most_one_row()
            }
            ProbeSemi | ProbeAnti | ProbeMark(_) => self.probe.node().at_most_one_row(),
            BuildSemi | BuildAnti => self.build.node().at_most_one_row(),
            FullOuter => false,
        }
    }

    fn surely_has_a_row(&self) -> bool {
        false
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        let at = |i: usize| empty.get(i) == Some(&true);
        match self.kind {
            JoinKind::Inner | JoinKind::BuildSemi | JoinKind::ProbeSemi => at(0) || at(1),
            JoinKind::ProbeOuter | JoinKind::ProbeAnti | JoinKind::ProbeMark(_) => at(1),
            JoinKind::BuildOuter | JoinKind::BuildAnti => at(0),
            JoinKind::FullOuter => at(0) && at(1),
        }
    }

    fn prune(&mut self, _needed: &mut dyn Needed) {}

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        let (left, right) = (check.tree(&*self.build)?, check.tree(&*self.probe)?);
        for (b, p) in &self.keys {
            check.reads(b, &left, "a build key")?;
            check.reads(p, &right, "a probe key")?;
            if !comparable(b.ty, p.ty) {
                return Err(defect(format!("join keys of types {} and {}", b.ty, p.ty)));
            }
        }
        let both: Visible = left.union(&right).copied().collect();
        if let Some(e) = &self.residual {
            check.predicate(e, &both, "a join's condition")?;
        }
        let may_be_null_aware = matches!(
            self.kind,
            JoinKind::ProbeAnti | JoinKind::BuildAnti | JoinKind::ProbeMark(_)
        );
        if self.null_aware && !may_be_null_aware {
            return Err(defect(format!("a null-aware join of kind {:?}", self.kind)));
        }
        if self.in_order && (self.null_aware || self.band().is_none()) {
            return Err(defect("a join in order that is NULL-aware, or has no band"));
        }
        if let Some(first) = &self.first {
            self.verify_first(first, check, &left)?;
        }
        Ok(match self.kind {
            JoinKind::ProbeSemi | JoinKind::ProbeAnti => right,
            JoinKind::BuildSemi | JoinKind::BuildAnti => left,
            JoinKind::ProbeMark(mark) => {
                check.make([mark])?;
                let mut visible = right;
                visible.insert(mark);
                visible
            }
            JoinKind::Inner | JoinKind::ProbeOuter | JoinKind::BuildOuter | JoinKind::FullOuter => both,
        })
    }

    fn null_supplied(&self) -> Vec<&T> {
        match self.kind {
            JoinKind::ProbeOuter => vec![&self.build],
            JoinKind::BuildOuter => vec![&self.probe],
            JoinKind::FullOuter => vec![&self.build, &self.probe],
            JoinKind::Inner
            | JoinKind::ProbeSemi
            | JoinKind::ProbeAnti
            | JoinKind::ProbeMark(_)
            | JoinKind::BuildSemi
            | JoinKind::BuildAnti => vec![],
        }
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        for (b, p) in &mut self.keys {
            pass.expression(b);
            pass.expression(p);
        }
        self.residual.iter_mut().for_each(|e| pass.expression(e));
        if let JoinKind::ProbeMark(mark) = self.kind {
            let unknown = self.null_aware && self.keys.iter().any(|(b, p)| b.nullable || p.nullable);
            pass.set(mark, unknown);
        }
    }

    fn most_rows(&self, of: &dyn MostRows<T>) -> Option<u64> {
        let (b, p) = (of.operator(&self.build), of.operator(&self.probe));
        let limit = self.first.as_ref().and_then(|first| first.limit);
        let matches = limit.map_or(b, |limit| Some(b.map_or(limit, |b| b.min(limit))));
        let pairs = || matches?.checked_mul(p?);
        match self.kind {
            JoinKind::Inner => pairs(),
            JoinKind::ProbeOuter => pairs().map(|n| n.max(p.unwrap_or(n))),
            JoinKind::BuildOuter => pairs().map(|n| n.max(b.unwrap_or(n))),
            JoinKind::FullOuter => pairs()?.checked_add(b?)?.checked_add(p?),
            JoinKind::ProbeSemi | JoinKind::ProbeAnti | JoinKind::ProbeMark(_) => p,
            JoinKind::BuildSemi | JoinKind::BuildAnti => b,
        }
    }

    fn about_rows(&self, inputs: &[f64], of: &dyn AboutRows) -> f64 {
        let matched = Match {
            kind: self.kind,
            keys: &self.keys,
            residual: &self.residual,
        };
        let rows = of.join(matched, inputs[0], inputs[1]);
        let limit = self.first.as_ref().and_then(|first| first.limit);
        limit.map_or(rows, |limit| rows.min(inputs[1] * limit as f64))
    }

    fn learn(&self, _inputs: &[f64], _facts: &mut dyn Facts) {}

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        for e in self.expressions() {
            pass.expression(e);
        }
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        let keys = self.keys.iter();
        let keys: Vec<String> = keys
            .map(|(b, p)| format!("{} = {}", names.expr(b), names.expr(p)))
            .collect();
        let order = self
            .band()
            .map(|band| format!(", ordered by {}", names.expr(&band.key)));
        let first = self.first.as_ref();
        let first = first.map(|first| first_text(first, names)).unwrap_or_default();
        format!(
            "Join {}{}{}{first}",
            kind_name(self.kind, names),
            match_text(&keys, &self.residual, self.null_aware, names),
            order.unwrap_or_default()
        )
    }

    fn input_title(&self, i: usize) -> &'static str {
        match i {
            0 => "build: ",
            _ => "probe: ",
        }
    }

    fn open(&self, op: &T, builder: &mut Builder<'_, T>, needed: &NeededColumns) -> Opened {
        let Join {
            kind, build, probe, ..
        } = self;
        let mut build_keys: Vec<Expr> = self.keys.iter().map(|k| k.0.clone()).collect();
        let (ends, residual) = match self.band() {
            Some(band) => {
                build_keys.push(band.key);
                (Some(Box::new(band.ends)), Expr::conjunction(band.rest))
            }
            None => (None, self.residual.clone()),
        };
        let residual_reads: NeededColumns = residual.iter().flat_map(Expr::columns_read).collect();
        let build_visible: NeededColumns = visible(&**build).into_iter().collect();
        let probe_visible: NeededColumns = visible(&**probe).into_iter().collect();
        let mut wanted: NeededColumns = needed.union(&residual_reads).copied().collect();
        wanted.extend(self.first.iter().flat_map(|f| &f.then).map(|key| key.column));
        let payload: NeededColumns = build_visible.intersection(&wanted).copied().collect();
        let mut build_needed: NeededColumns = payload.clone();
        build_needed.extend(build_keys.iter().flat_map(Expr::columns_read));
        let mut probe_needed: NeededColumns = probe_visible.intersection(&wanted).copied().collect();
        let ends_read = ends.iter().flat_map(|ends| ends.values());
        let probe_reads = self.keys.iter().map(|k| &k.1).chain(ends_read);
        probe_needed.extend(probe_reads.flat_map(Expr::columns_read));

        let built = builder.open(build, &build_needed);
        let build_rows = built.rows;
        let table = self.table(&build_keys, payload.into_iter().collect(), build_rows);
        let payload = table.payload.clone();
        let id = builder.fill(Breaker::Join(table), built, build_keys);

        let opened = builder.open(probe, &probe_needed);
        let rows = builder.rows(op, &[build_rows, opened.rows]);
        let operator = PipelineOperator::Probe {
            join: id,
            kind: *kind,
            keys: self.keys.iter().map(|k| k.1.clone()).collect(),
            ends,
            residual,
            null_aware: self.null_aware,
        };
        let mut probed = opened.append(operator, rows);
        match kind {
            JoinKind::BuildSemi | JoinKind::BuildAnti => {
                builder.close(probed, Sink::Mark);
                let which = match kind {
                    JoinKind::BuildSemi => Which::Matched,
                    _ => Which::Unmatched,
                };
                Opened::of(some_rows_of(id, payload, which), rows)
            }
            JoinKind::BuildOuter | JoinKind::FullOuter => {
                let nulls = probe_visible.intersection(needed);
                let nulls = nulls.map(|&c| (c, builder.null(c))).collect();
                let unmatched = Opened::of(some_rows_of(id, payload, Which::Unmatched), build_rows);
                probed.add_counted(unmatched.append(PipelineOperator::Map(nulls), build_rows));
                probed
            }
            JoinKind::Inner
            | JoinKind::ProbeOuter
            | JoinKind::ProbeSemi
            | JoinKind::ProbeAnti
            | JoinKind::ProbeMark(_) => probed,
        }
    }
}
