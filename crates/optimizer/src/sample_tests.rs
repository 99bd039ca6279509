//! The part of a table's rows that the predicates on it keep, counted in the sample of its rows.
//!
//! Predicates that a scan could test are counted together, so that the estimate knows how columns depend on each
//! other. Without a matching row each of them is estimated by itself. Predicates that a sample cannot answer are
//! estimated by the rules of [`selectivity`]: those whose values are not known yet, and equalities of a key,
//! whose row is hardly ever in the sample.

use crate::cardinality::Estimator;
use crate::restriction_split;
use crate::selectivity;
use frazil_plan::operators::{Scan, ScanRestrictionKind};
use frazil_plan::{ColumnId, Columns, Expr, SampledRows, ScanDisjunction, ScanRestriction, Statistics};
use frazil_types::{CompareOp, MatchBits, ObjectId, Restriction, RestrictionKind};

/// The predicates on the rows of one scan.
#[derive(Clone, Debug)]
pub struct SampleTests {
    table: ObjectId,
    conditions: Vec<Condition>,
    /// The part of rows that further predicates keep, by rule.
    rest: f64,
}

/// A predicate that can be tested in a sample.
#[derive(Clone, Debug)]
struct Condition {
    /// A row satisfies all restrictions of one of the alternatives.
    alternatives: Vec<Vec<Restriction>>,
    /// The part of rows that it keeps, by rule.
    by_rule: f64,
    /// True if each of the values is that of one row: the column is a key.
    asks_for_keys: bool,
}

impl SampleTests {
    /// No predicate on the rows of a table.
    pub fn none(table: ObjectId) -> SampleTests {
        SampleTests {
            table,
            conditions: Vec::new(),
            rest: 1.0,
        }
    }

    /// The restrictions of a scan.
    pub fn of_scan(scan: &Scan, columns: &Columns, estimator: &Estimator<'_>) -> SampleTests {
        let mut tests = SampleTests::none(scan.table);
        let Scan {
            columns: made,
            restrictions,
            disjunctions,
            ..
        } = scan;
        tests.add(made, restrictions, disjunctions, columns, estimator);
        tests
    }

    /// Adds a filter above the scan.
    pub fn add_filter(
        &mut self,
        scan: &Scan,
        predicate: &Expr,
        columns: &Columns,
        estimator: &Estimator<'_>,
    ) {
        let made: Vec<ColumnId> = scan.columns.iter().map(|c| c.0).collect();
        let split = restriction_split::split(predicate, &made, columns);
        self.add(
            &scan.columns,
            &split.restrictions,
            &split.disjunctions,
            columns,
            estimator,
        );
        self.rest *= selectivity::of_conjuncts(&split.rest, columns, estimator);
    }

    /// Adds restrictions and disjunctions of columns `made`, which have positions in the table.
    pub fn add(
        &mut self,
        made: &[(ColumnId, usize)],
        restrictions: &[ScanRestriction],
        disjunctions: &[ScanDisjunction],
        columns: &Columns,
        estimator: &Estimator<'_>,
    ) {
        for restriction in restrictions {
            let by_rule = selectivity::of_restriction(restriction, columns, estimator);
            match known(made, restriction) {
                Some(found) => self.conditions.push(Condition {
                    alternatives: vec![vec![found]],
                    by_rule,
                    asks_for_keys: asks_for_keys(restriction, estimator),
                }),
                None => self.rest *= by_rule,
            }
        }
        for disjunction in disjunctions {
            let by_rule = selectivity::of_disjunction(disjunction, columns, estimator);
            let alternatives = disjunction.alternatives.iter();
            let all = |list: &Vec<ScanRestriction>| -> Option<Vec<Restriction>> {
                list.iter().map(|r| known(made, r)).collect()
            };
            match alternatives.map(all).collect::<Option<Vec<_>>>() {
                Some(alternatives) => self.conditions.push(Condition {
                    alternatives,
                    by_rule,
                    asks_for_keys: false,
                }),
                None => self.rest *= by_rule,
            }
        }
    }

    /// True if no predicate is on the rows.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty() && self.rest == 1.0
    }

    /// The part of rows that all predicates keep.
    pub fn part(&self, statistics: &dyn Statistics) -> f64 {
        let by_rule = |condition: &Condition| condition.by_rule;
        let all_by_rule = || self.conditions.iter().map(by_rule).product::<f64>() * self.rest;
        if self.conditions.iter().all(|condition| condition.asks_for_keys) {
            return all_by_rule();
        }
        let Some(sample) = statistics.sample(self.table) else {
            return all_by_rule();
        };
        let rows = sample.rows as f64;
        // A sample without a match says that there are few.
        let least = 0.5 / rows;
        let mut ruled = self.rest;
        let mut single = 1.0;
        let mut together: Option<MatchBits> = None;
        for condition in &self.conditions {
            let matching = match condition.asks_for_keys {
                true => None,
                false => condition.matching(statistics, SampledRows::Own(self.table)),
            };
            let Some(matching) = matching else {
                ruled *= condition.by_rule;
                continue;
            };
            single *= match matching.count() {
                0 => condition.by_rule.min(least),
                matches => matches as f64 / rows,
            };
            and(&mut together, matching);
        }
        let matches = together.map_or(sample.rows, |bits| bits.count());
        ruled
            * match matches {
                0 if sample.is_whole => least,
                0 => single.min(least * 2.0),
                matches => matches as f64 / rows,
            }
    }

    /// The rows of a sample that satisfy the predicates that it can answer, and the part of them that the others keep;
    /// no bits if it can answer none.
    pub fn matching(&self, statistics: &dyn Statistics, rows: SampledRows) -> (Option<MatchBits>, f64) {
        let mut together = None;
        let mut others = self.rest;
        for condition in &self.conditions {
            match condition.matching(statistics, rows) {
                Some(matching) => and(&mut together, matching),
                None => others *= condition.by_rule,
            }
        }
        (together, others)
    }
}

impl Condition {
    fn matching(&self, statistics: &dyn Statistics, rows: SampledRows) -> Option<MatchBits> {
        let mut any: Option<MatchBits> = None;
        for alternative in &self.alternatives {
            let mut all = None;
            for restriction in alternative {
                and(&mut all, (*statistics.sampled(rows, restriction)?).clone());
            }
            match (&mut any, all?) {
                (None, all) => any = Some(all),
                (Some(any), all) => any.or(&all),
            }
        }
        any
    }
}

fn and(all: &mut Option<MatchBits>, more: MatchBits) {
    match all {
        Some(all) => all.and(&more),
        None => *all = Some(more),
    }
}

/// A restriction whose values are known.
fn known(made: &[(ColumnId, usize)], restriction: &ScanRestriction) -> Option<Restriction> {
    let constant = |e: &Expr| e.as_constant().cloned();
    let kind = match &restriction.kind {
        ScanRestrictionKind::Compare(op, e) => RestrictionKind::Compare(*op, constant(e)?),
        ScanRestrictionKind::Between(low, high) => RestrictionKind::Between(constant(low)?, constant(high)?),
        ScanRestrictionKind::In(list) => RestrictionKind::In(list.clone()),
        ScanRestrictionKind::IsNull => RestrictionKind::IsNull,
        ScanRestrictionKind::IsNotNull => RestrictionKind::IsNotNull,
        ScanRestrictionKind::Prefix(prefix) => RestrictionKind::Prefix(prefix.clone()),
        ScanRestrictionKind::Like { pattern, negated } => RestrictionKind::Like {
            pattern: pattern.clone(),
            negated: *negated,
        },
    };
    let (_, column) = *made.iter().find(|made| made.0 == restriction.column)?;
    Some(Restriction { column, kind })
}

fn asks_for_keys(restriction: &ScanRestriction, estimator: &Estimator<'_>) -> bool {
    let asks_for_values = match &restriction.kind {
        ScanRestrictionKind::Compare(op, _) => *op == CompareOp::Eq,
        ScanRestrictionKind::In(_) => true,
        ScanRestrictionKind::Between(..)
        | ScanRestrictionKind::IsNull
        | ScanRestrictionKind::IsNotNull
        | ScanRestrictionKind::Prefix(_)
        | ScanRestrictionKind::Like { .. } => false,
    };
    let base = || estimator.base_column(restriction.column);
    asks_for_values && base().is_some_and(|base| estimator.is_key(&base))
}
