//! Estimates: rows of operators and distinct values of columns.
//!
//! Predicates on a table are counted in a sample of its rows ([`crate::sample_tests`]), and inner joins of scans by
//! equal columns are weighed by the frequencies of their values ([`crate::join_weights`]). System R's rules estimate
//! all else: values are spread evenly, predicates are independent, and the smaller set of join keys is contained in the
//! larger one. A join's selectivity is taken from the distinct counts of the base columns, so that the estimate for a
//! set of relations does not depend on the order of joining.

use crate::join_graph::Set;
use crate::join_weights::{Equality, JoinWeights, KnownFrequencies};
use crate::sample_tests::SampleTests;
use crate::selectivity;
use crate::value_bounds::RowBounds;
use frazil_plan::facts::{AboutRows, Facts, Match};
use frazil_plan::operators::{Join, Scan, ScanDisjunction, ScanRestriction};
use frazil_plan::pipeline_builder::Estimates;
use frazil_plan::{
    ColumnId, Columns, Expr, ExprKind, IndexInfo, JoinKind, Operator, Plan, RowsCall, RowsFunction, SharedId,
    Statistics, bounds,
};
use frazil_types::{KeySketch, ObjectId, Value};
use std::cell::OnceCell;
use std::sync::Arc;

/// Part of rows kept by a comparison of an aggregate, such as HAVING sum(x) > 300.
const UNKNOWN_DISTINCT_PART: f64 = 0.1;
/// Rows of a shared subplan of which nothing is known.
const UNKNOWN_SHARED_ROWS: f64 = 1000.0;
/// Rows of a series of which nothing is known, and of one that is given for each row.
const SERIES_ROWS: f64 = 1000.0;
const ROWS_OF_SERIES_OF_A_ROW: f64 = 10.0;
/// Distinct values for each row of a column whose values hardly repeat, at least: those of a key are estimated.
const HARDLY_REPEATING: f64 = 0.9;

/// Part of a column's range that the values of a chunk span, at least, if rows come in no order of the column.
/// In that order it is a half in a table of two chunks, and less in others.
const SCATTERED: f64 = 0.7;

/// What is estimated of a column.
#[derive(Clone, Copy, Debug, Default)]
struct Fact {
    /// Distinct values, where known.
    distinct: Option<f64>,
    /// Part of its values that are NULL.
    nulls: f64,
    /// The table it comes from unchanged.
    base: Option<Base>,
    /// A result of aggregation, whose values are not spread over its bounds.
    aggregated: bool,
    /// True if the rows of its table are known to come in no order of it.
    scattered: bool,
}

/// The place of a column in a table.
#[derive(Clone, Copy, Debug)]
struct Base {
    table: ObjectId,
    /// Rows of the table.
    rows: f64,
    /// The position of the column.
    position: usize,
    /// The scan that makes the column, in the order in which scans were learned.
    scan: usize,
}

/// A scan, with the filter above it.
struct LearnedScan {
    tests: SampleTests,
    /// Rows that the predicates leave.
    rows: f64,
}

/// A column of a scan, for the weights of joins.
pub struct BaseColumn {
    /// Its table.
    pub table: ObjectId,
    /// Its position there.
    pub position: usize,
    /// Rows of the table.
    pub rows: f64,
    /// Rows that the predicates on the scan leave.
    pub kept_rows: f64,
    /// Distinct values, about.
    pub distinct: f64,
    /// The part of its values that are NULL.
    pub nulls: f64,
    scan: usize,
}

/// Estimates for one plan.
pub struct Estimator<'a> {
    statistics: &'a dyn Statistics,
    bounds: RowBounds<'a>,
    facts: Vec<Fact>,
    scans: Vec<LearnedScan>,
    /// The equalities of the inner joins that were learned.
    equalities: Vec<Equality>,
    /// Their weights, once a join is estimated. A relation is a scan there.
    weights: OnceCell<JoinWeights>,
    frequencies: KnownFrequencies,
    shared_rows: Vec<f64>,
}

impl<'a> Estimator<'a> {
    /// Learns the columns of a plan.
    pub fn new(plan: &Plan, statistics: &'a dyn Statistics) -> Estimator<'a> {
        let mut estimator = Estimator {
            statistics,
            bounds: RowBounds::new(plan, statistics),
            facts: vec![Fact::default(); plan.columns.len()],
            scans: Vec::new(),
            equalities: Vec::new(),
            weights: OnceCell::new(),
            frequencies: KnownFrequencies::default(),
            shared_rows: Vec::new(),
        };
        for tree in &plan.shared {
            let rows = estimator.learn(tree, &plan.columns);
            estimator.shared_rows.push(rows);
        }
        for tree in plan.unshared_trees() {
            estimator.learn(tree, &plan.columns);
        }
        estimator
    }

    fn set(&mut self, id: ColumnId, fact: Fact) {
        let at = id.0 as usize;
        if at >= self.facts.len() {
            self.facts.resize(at + 1, Fact::default());
        }
        self.facts[at] = fact;
    }

    fn fact(&self, id: ColumnId) -> Fact {
        self.facts.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// Learns the columns a tree makes; gives its rows.
    pub fn learn(&mut self, op: &Operator, columns: &Columns) -> f64 {
        let inputs: Vec<f64> = op.inputs().into_iter().map(|i| self.learn(i, columns)).collect();
        let estimator = &mut *self;
        op.node().learn(&inputs, &mut Learning { estimator, columns });
        if let Some(join) = op.inner_join() {
            self.learn_equalities(join);
        }
        match op
            .filtered_scan()
            .and_then(|(scan, filter)| Some((self.base_of(scan)?, scan, filter)))
        {
            Some((base, scan, filter)) => {
                let tests = self.tests_of(scan, filter, columns);
                let rows = self.rows_of_scan(scan, &tests);
                self.scans[base.scan] = LearnedScan { tests, rows };
                rows
            }
            None => self.rows_over(op, &inputs, columns),
        }
    }

    fn learn_equalities(&mut self, join: &Join) {
        let scans = (self.scans_below(&join.build), self.scans_below(&join.probe));
        let equalities = join.keys.iter().filter_map(|key| self.equality(key, scans));
        let equalities: Vec<Equality> = equalities.collect();
        self.equalities.extend(equalities);
        self.weights = OnceCell::new();
    }

    /// The predicates on a scan and in a filter above it.
    fn tests_of(&self, scan: &Scan, filter: Option<&Expr>, columns: &Columns) -> SampleTests {
        let mut tests = SampleTests::of_scan(scan, columns, self);
        if let Some(predicate) = filter {
            tests.add_filter(scan, predicate, columns, self);
        }
        tests
    }

    fn base_of(&self, scan: &Scan) -> Option<Base> {
        self.fact(scan.columns.first()?.0).base
    }

    /// The equality of a key's columns, if each is one of a scan on its side of the join.
    fn equality(&self, key: &(Expr, Expr), (build, probe): (Set, Set)) -> Option<Equality> {
        let columns = [key.0.as_column()?, key.1.as_column()?];
        let bit = |column: ColumnId, of: Set| {
            let bit = scan_bit(self.fact(column).base?.scan)?;
            (bit & of != 0).then_some(bit)
        };
        Some(Equality {
            columns,
            relations: [bit(columns[0], build)?, bit(columns[1], probe)?],
        })
    }

    /// The place of a column in the table of its scan; `None` if it is computed.
    pub fn base_column(&self, column: ColumnId) -> Option<BaseColumn> {
        let fact = self.fact(column);
        let base = fact.base?;
        Some(BaseColumn {
            table: base.table,
            position: base.position,
            rows: base.rows,
            kept_rows: self.scans[base.scan].rows,
            distinct: fact.distinct.unwrap_or(base.rows),
            nulls: fact.nulls,
            scan: base.scan,
        })
    }

    /// The predicates on the scan of a column.
    pub fn tests(&self, base: &BaseColumn) -> &SampleTests {
        &self.scans[base.scan].tests
    }

    /// True if a unique index has the column alone.
    pub fn is_key(&self, base: &BaseColumn) -> bool {
        let indexes = self.statistics.indexes(base.table);
        let is_it = |index: &IndexInfo| matches!(&index.keys[..], [key] if key.column == base.position);
        indexes.iter().any(|index| index.unique && is_it(index))
    }

    /// The frequencies of a column's values; `None` if they are no integers.
    pub fn key_sketch(&self, base: &BaseColumn) -> Option<Arc<KeySketch>> {
        self.statistics.key_sketch(base.table, base.position)
    }

    /// The frequencies of columns that were asked for.
    pub fn frequencies(&self) -> &KnownFrequencies {
        &self.frequencies
    }

    /// The statistics of tables.
    pub fn statistics(&self) -> &dyn Statistics {
        self.statistics
    }

    /// Learns the columns of a table.
    fn learn_table(&mut self, table: ObjectId, made: &[(ColumnId, usize)], columns: &Columns) {
        let rows = (self.statistics.row_count(table) as f64).max(1.0);
        let scan = self.scans.len();
        let tests = SampleTests::none(table);
        self.scans.push(LearnedScan { tests, rows });
        for (id, position) in made {
            let width = columns[*id].observed.and_then(|b| b.width()).map(|w| w as f64);
            let counted = self.statistics.distinct(table, *position).map(|d| d as f64);
            let distinct = match (counted, width) {
                (Some(d), Some(w)) => Some(d.min(w)),
                (d, w) => d.or(w.filter(|w| *w < rows)),
            };
            let fact = Fact {
                distinct,
                nulls: self.statistics.null_count(table, *position) as f64 / rows,
                base: Some(Base {
                    table,
                    rows,
                    position: *position,
                    scan,
                }),
                aggregated: false,
                scattered: (self.statistics.spread(table, *position)).is_some_and(|part| part >= SCATTERED),
            };
            self.set(*id, fact);
        }
    }

    fn of_computed(&self, e: &Expr, columns: &Columns) -> Fact {
        e.as_column().map_or_else(
            || Fact {
                distinct: self.distinct(e, columns),
                aggregated: self.is_aggregated(e),
                ..Fact::default()
            },
            |id| self.fact(id),
        )
    }

    /// Whether an expression reads a result of aggregation: bounds prove what it can be at most and say
    /// nothing of what it usually is.
    pub fn is_aggregated(&self, e: &Expr) -> bool {
        e.columns_read().into_iter().any(|id| self.fact(id).aggregated)
    }

    /// About how many distinct values an expression has in its base table; `None` if unknown.
    pub fn distinct(&self, e: &Expr, columns: &Columns) -> Option<f64> {
        let from_parts = match &e.kind {
            ExprKind::Column(id) => self.fact(*id).distinct,
            ExprKind::Constant(_) | ExprKind::Parameter(_) | ExprKind::ScalarSubquery(_) => Some(1.0),
            // A part of a text has fewer values than the text, and nobody knows how many.
            ExprKind::Function(..) | ExprKind::VectorFunction(..) => None,
            ExprKind::Subquery(_)
            | ExprKind::Let { .. }
            | ExprKind::Compare(..)
            | ExprKind::Distinct { .. }
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Not(_)
            | ExprKind::IsNull(_)
            | ExprKind::Arithmetic(..)
            | ExprKind::Negate(_)
            | ExprKind::Cast(_)
            | ExprKind::Case { .. }
            | ExprKind::Like { .. }
            | ExprKind::InList { .. }
            | ExprKind::Extract(..)
            | ExprKind::AddInterval(..) => {
                let read = e.columns_read();
                read.iter()
                    .try_fold(1.0, |n, id| Some(n * self.fact(*id).distinct?))
            }
        };
        let width = bounds::expected(e, columns)
            .and_then(|b| b.width())
            .map(|w| w as f64);
        match (from_parts, width) {
            (Some(d), Some(w)) => Some(d.min(w)),
            (d, w) => d.or(w.filter(|w| *w < 1e6)),
        }
    }

    /// True if an expression is a column of a table, or one cast, whose values hardly repeat in the table.
    pub fn hardly_repeats(&self, e: &Expr) -> bool {
        let column = uncast(e).as_column();
        let fact = column.map(|id| self.fact(id)).unwrap_or_default();
        let of_rows = fact.distinct.zip(fact.base);
        of_rows.is_some_and(|(distinct, base)| distinct >= base.rows * HARDLY_REPEATING)
    }

    /// True if an expression is a column of a table, or one cast, and the rows of the table come in no order of
    /// the column.
    pub fn is_scattered(&self, e: &Expr) -> bool {
        uncast(e).as_column().is_some_and(|id| self.fact(id).scattered)
    }

    /// Part of an expression's values that are NULL.
    pub fn null_fraction(&self, e: &Expr) -> f64 {
        match e.as_column() {
            Some(id) => self.fact(id).nulls,
            None if e.nullable => 0.05,
            None => 0.0,
        }
    }

    /// Part of all pairs that an equality of two keys keeps. `left` and `right` are the rows of the sides
    /// before any filter, for keys of which no distinct count is known.
    pub fn of_equal_keys(&self, a: &Expr, b: &Expr, left: f64, right: f64, columns: &Columns) -> f64 {
        let a = self.distinct(a, columns).unwrap_or(left);
        let b = self.distinct(b, columns).unwrap_or(right);
        1.0 / a.max(b).max(1.0)
    }

    /// Part of all pairs that several equalities keep. Columns of one table are a composite key of it, not
    /// independent: together they tell no more values apart than the table has rows.
    pub fn of_composite_key(&self, keys: &[(Expr, Expr)], left: f64, right: f64, columns: &Columns) -> f64 {
        let single = keys
            .iter()
            .map(|(a, b)| self.of_equal_keys(a, b, left, right, columns));
        let independent: f64 = single.product();
        if keys.len() < 2 {
            return independent;
        }
        let build = self.table_rows(keys.iter().map(|k| &k.0));
        let probe = self.table_rows(keys.iter().map(|k| &k.1));
        match (build, probe) {
            (Some(a), Some(b)) => independent.max(1.0 / a.min(b)),
            _ => independent,
        }
    }

    /// Rows of the one table that all expressions read; `None` if there are several.
    fn table_rows<'e>(&self, list: impl Iterator<Item = &'e Expr>) -> Option<f64> {
        let mut found: Option<Base> = None;
        for id in list.flat_map(Expr::columns_read) {
            let base = self.fact(id).base?;
            match found {
                Some(Base { table, .. }) if table != base.table => return None,
                _ => found = Some(base),
            }
        }
        found.map(|base| base.rows)
    }

    /// Part of the probe rows that find a match among `build_rows` rows: how much of the larger domain of
    /// keys is there at all.
    pub fn matching_part(&self, keys: &[(Expr, Expr)], build_rows: f64, columns: &Columns) -> f64 {
        let mut part: f64 = if keys.is_empty() { 0.5 } else { 1.0 };
        for (b, p) in keys {
            let build = self.distinct(b, columns).unwrap_or(build_rows).min(build_rows);
            let domain = self.distinct(p, columns).unwrap_or(build).max(build);
            part = part.min(build / domain.max(1.0));
        }
        part.clamp(0.0, 1.0)
    }

    /// Part of pairs that a residual keeps.
    pub fn residual_part(&self, residual: &Option<Expr>, columns: &Columns) -> f64 {
        residual
            .as_ref()
            .map_or(1.0, |e| selectivity::of_predicate(e, columns, self))
    }

    /// Rows an operator gives.
    pub fn rows(&self, op: &Operator, columns: &Columns) -> f64 {
        let inputs: Vec<f64> = op.inputs().into_iter().map(|i| self.rows(i, columns)).collect();
        self.rows_over(op, &inputs, columns)
    }

    fn rows_over(&self, op: &Operator, inputs: &[f64], columns: &Columns) -> f64 {
        let estimator = self;
        // The predicates of a filter and of the scan below it are counted together.
        if let Some((scan, Some(predicate))) = op.filtered_scan() {
            let tests = self.tests_of(scan, Some(predicate), columns);
            return self.rows_of_scan(scan, &tests).min(inputs[0]);
        }
        if let Some(join) = op.inner_join() {
            return self.inner_join_rows(join, inputs, columns);
        }
        op.node().about_rows(inputs, &Rows { estimator, columns })
    }

    /// Rows that predicates leave of a scan.
    fn rows_of_scan(&self, scan: &Scan, tests: &SampleTests) -> f64 {
        let part = tests.part(self.statistics);
        scan.at_most(self.statistics.row_count(scan.table) as f64 * part)
    }

    /// Rows of an inner join. Equalities of columns of scans are weighed; the others are estimated by distinct values.
    fn inner_join_rows(&self, join: &Join, inputs: &[f64], columns: &Columns) -> f64 {
        let weights = (self.weights).get_or_init(|| JoinWeights::new(&self.equalities, self));
        let (build, probe) = (self.scans_below(&join.build), self.scans_below(&join.probe));
        let is_weighed = |key: &&(Expr, Expr)| {
            let equality = self.equality(key, (build, probe));
            equality.is_some_and(|equality| weights.weighs_columns(equality.columns))
        };
        let keys: Vec<(Expr, Expr)> = join.keys.iter().filter(|key| !is_weighed(key)).cloned().collect();
        let (build_rows, probe_rows) = (inputs[0], inputs[1]);
        let others = self.of_composite_key(&keys, build_rows, probe_rows, columns);
        let residual = self.residual_part(&join.residual, columns);
        build_rows * probe_rows * weights.kept(build, probe) * others * residual
    }

    /// The scans whose rows an operator joins by inner joins, as bits.
    fn scans_below(&self, op: &Operator) -> Set {
        let scans = op.joined_scans().into_iter();
        let bits = scans.filter_map(|scan| scan_bit(self.base_of(scan)?.scan));
        bits.fold(0, |all, bit| all | bit)
    }

    /// Rows that a function gives.
    fn rows_of_call(&self, call: &RowsCall, columns: &Columns) -> f64 {
        if let Some(rows) = call.rows() {
            return rows as f64;
        }
        let (Some(start), Some(stop)) = (call.arguments.first(), call.arguments.get(1)) else {
            return match call.function {
                RowsFunction::Once => 1.0,
                RowsFunction::Series | RowsFunction::Elements => ROWS_OF_SERIES_OF_A_ROW,
            };
        };
        // How often a row is there is mostly once.
        if self.is_aggregated(stop) {
            return 1.0;
        }
        let middle = |e: &Expr| bounds::expected(e, columns).map(|b| (b.min as f64 + b.max as f64) / 2.0);
        let step = call.arguments.get(2).map(|e| &e.kind);
        match (middle(start), middle(stop), step) {
            (Some(start), Some(stop), Some(ExprKind::Constant(Value::Int(step)))) if *step != 0 => {
                ((stop - start) / *step as f64 + 1.0).max(1.0)
            }
            _ if call.is_known_before() => SERIES_ROWS,
            _ => ROWS_OF_SERIES_OF_A_ROW,
        }
    }

    fn join_rows(&self, join: Match<'_>, build: f64, probe: f64, columns: &Columns) -> f64 {
        let Match { kind, keys, residual } = join;
        let of_keys = self.of_composite_key(keys, build, probe, columns);
        let pairs = build * probe * of_keys * self.residual_part(residual, columns);
        let part =
            || self.matching_part(keys, build, columns) * self.residual_part(residual, columns).max(0.5);
        let flipped = || {
            let keys: Vec<_> = keys.iter().map(|(b, p)| (p.clone(), b.clone())).collect();
            self.matching_part(&keys, probe, columns) * self.residual_part(residual, columns).max(0.5)
        };
        match kind {
            JoinKind::Inner => pairs,
            JoinKind::ProbeOuter => pairs.max(probe),
            JoinKind::BuildOuter => pairs.max(build),
            JoinKind::FullOuter => pairs.max(build + probe),
            JoinKind::ProbeSemi => probe * part(),
            JoinKind::ProbeAnti => probe * unmatched(part(), residual),
            JoinKind::BuildSemi => build * flipped(),
            JoinKind::BuildAnti => build * unmatched(flipped(), residual),
            JoinKind::ProbeMark(_) => probe,
        }
    }

    /// Groups that `rows` rows fall into.
    pub fn groups(&self, groups: &[(ColumnId, Expr)], rows: f64, columns: &Columns) -> f64 {
        if groups.is_empty() {
            return 1.0;
        }
        let mut product = 1.0;
        for (_, e) in groups {
            product *= self.distinct(e, columns).unwrap_or(rows.sqrt()).max(1.0);
        }
        // Of `product` possible groups, those that `rows` independent draws hit (Cardenas).
        let hit = if product > rows * 50.0 {
            rows
        } else {
            product * (1.0 - (-rows / product).exp())
        };
        hit.clamp(rows.min(1.0), rows.max(1.0))
    }
}

/// Part of rows that an anti join keeps, of which `matched` have a match. A further condition on the match
/// makes that less certain.
pub fn unmatched(matched: f64, residual: &Option<Expr>) -> f64 {
    let least: f64 = if residual.is_some() { 0.25 } else { 0.05 };
    (1.0 - matched).max(least)
}

/// The bit of a scan; `None` for those beyond the first 64.
fn scan_bit(scan: usize) -> Option<Set> {
    (scan < Set::BITS as usize).then(|| 1 << scan)
}

/// The expression that is cast, if one is.
fn uncast(e: &Expr) -> &Expr {
    if let ExprKind::Cast(inner) = &e.kind {
        inner
    } else {
        e
    }
}

/// An estimator that learns the columns of an operator.
struct Learning<'a, 'b> {
    estimator: &'a mut Estimator<'b>,
    columns: &'a Columns,
}

impl Facts for Learning<'_, '_> {
    fn table(&mut self, table: ObjectId, columns: &[(ColumnId, usize)]) {
        self.estimator.learn_table(table, columns, self.columns);
    }

    fn computed(&mut self, id: ColumnId, e: &Expr) {
        let fact = self.estimator.of_computed(e, self.columns);
        self.estimator.set(id, fact);
    }

    fn same(&mut self, made: ColumnId, from: ColumnId) {
        self.estimator.set(made, self.estimator.fact(from));
    }

    fn aggregated(&mut self, id: ColumnId, rows: Option<f64>) {
        let fact = Fact {
            distinct: rows.map(|rows| (rows * UNKNOWN_DISTINCT_PART).max(1.0)),
            aggregated: true,
            ..Fact::default()
        };
        self.estimator.set(id, fact);
    }

    fn groups(&self, groups: &[(ColumnId, Expr)], rows: f64) -> f64 {
        self.estimator.groups(groups, rows, self.columns)
    }

    fn series(&mut self, id: ColumnId, call: &RowsCall) {
        let fact = Fact {
            distinct: call.rows().map(|rows| rows as f64),
            ..Fact::default()
        };
        self.estimator.set(id, fact);
    }
}

/// An estimator that is asked for rows.
struct Rows<'a, 'b> {
    estimator: &'a Estimator<'b>,
    columns: &'a Columns,
}

impl AboutRows for Rows<'_, '_> {
    fn table(&self, table: ObjectId) -> f64 {
        self.estimator.statistics.row_count(table) as f64
    }

    fn shared(&self, id: SharedId) -> f64 {
        (self.estimator.shared_rows.get(id.0).copied()).unwrap_or(UNKNOWN_SHARED_ROWS)
    }

    fn restricted(
        &self,
        table: ObjectId,
        columns: &[(ColumnId, usize)],
        restrictions: &[ScanRestriction],
        disjunctions: &[ScanDisjunction],
    ) -> f64 {
        let mut tests = SampleTests::none(table);
        tests.add(columns, restrictions, disjunctions, self.columns, self.estimator);
        tests.part(self.estimator.statistics)
    }

    fn predicate(&self, predicate: &Expr) -> f64 {
        selectivity::of_predicate(predicate, self.columns, self.estimator)
    }

    fn join(&self, join: Match<'_>, build: f64, probe: f64) -> f64 {
        self.estimator.join_rows(join, build, probe, self.columns)
    }

    fn groups(&self, groups: &[(ColumnId, Expr)], rows: f64) -> f64 {
        self.estimator.groups(groups, rows, self.columns)
    }

    fn call(&self, call: &RowsCall) -> f64 {
        self.estimator.rows_of_call(call, self.columns)
    }
}

impl Estimates<Operator> for Estimator<'_> {
    fn rows_from(&self, operator: &Operator, inputs: &[f64], columns: &Columns) -> f64 {
        self.rows_over(operator, inputs, columns)
    }

    fn row_bound(&self, operator: &Operator) -> Option<u64> {
        self.bounds.of(operator)
    }
}
