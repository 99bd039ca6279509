//! Optimized plans give the same rows as the plans they came from: random trees of joins of every kind,
//! filters, maps and aggregations over small tables with NULLs, against the naive evaluator. With subqueries in any
//! place, nested and correlated at any depth, they are plans as a binder makes them.

mod naive;

use frazil_optimizer::{Settings, optimize, pipelines};
use frazil_plan::pipeline::StagePolicy;
use frazil_plan::{
    AggregateCall, AggregateFunction, ArithmeticOp, ColumnId, Columns, Expr, ExprKind, JoinKind, Operator,
    Plan, RowCount, SortKey, Subquery, SubqueryKind, TableId, display, nullability, verify,
};
use frazil_types::{CompareOp, LogicalType, Value};
use naive::{Tables, run};
use proptest::prelude::*;

/// Numbers that decide what is built next; 0 when they are used up.
struct Choices(std::vec::IntoIter<u8>);

impl Choices {
    fn below(&mut self, n: usize) -> usize {
        usize::from(self.0.next().unwrap_or(0)) % n
    }
}

const WIDTH: usize = 3;

struct Generator {
    choices: Choices,
    columns: Columns,
    tables: usize,
    /// How deep subqueries may still nest.
    nesting: usize,
    /// Columns of the queries around what is being made.
    outer: Vec<ColumnId>,
}

impl Generator {
    fn scan(&mut self) -> Operator {
        let table = self.choices.below(self.tables);
        let columns = (0..WIDTH)
            .map(|at| (self.columns.add(format!("c{at}"), LogicalType::Integer, true), at))
            .collect();
        Operator::Scan {
            table: TableId(table as u32),
            name: format!("t{table}"),
            columns,
            row_id: None,
            restrictions: vec![],
            disjunctions: vec![],
        }
    }

    /// A column of the rows at hand or, now and then, of the queries around them.
    fn integer(&mut self, visible: &[ColumnId]) -> Expr {
        if !self.outer.is_empty() && self.choices.below(4) == 0 {
            let outer = self.outer.clone();
            return self.own_integer(&outer);
        }
        self.own_integer(visible)
    }

    fn own_integer(&mut self, visible: &[ColumnId]) -> Expr {
        let integers: Vec<ColumnId> = visible
            .iter()
            .copied()
            .filter(|c| self.columns[*c].ty == LogicalType::Integer)
            .collect();
        let id = integers[self.choices.below(integers.len())];
        Expr::column(id, &self.columns)
    }

    fn predicate(&mut self, visible: &[ColumnId], depth: usize) -> Expr {
        if self.nesting > 0 && self.choices.below(3) == 0 {
            return self.subquery_predicate(visible);
        }
        let left = Box::new(self.integer(visible));
        let kind = match self.choices.below(if depth == 0 { 4 } else { 7 }) {
            0 => ExprKind::Compare(self.op(), left, Box::new(self.constant())),
            1 => ExprKind::Compare(self.op(), left, Box::new(self.integer(visible))),
            2 => ExprKind::InList {
                value: left,
                list: vec![Value::Int(1), Value::Int(3)],
                negated: self.choices.below(2) == 1,
            },
            3 => ExprKind::IsNull(left),
            4 => ExprKind::Not(Box::new(self.predicate(visible, depth - 1))),
            5 => ExprKind::And(vec![
                self.predicate(visible, depth - 1),
                self.predicate(visible, depth - 1),
            ]),
            _ => ExprKind::Or(vec![
                self.predicate(visible, depth - 1),
                self.predicate(visible, depth - 1),
            ]),
        };
        Expr::boolean(kind, true)
    }

    fn op(&mut self) -> CompareOp {
        [CompareOp::Eq, CompareOp::Lt, CompareOp::Ge, CompareOp::Ne][self.choices.below(4)]
    }

    fn constant(&mut self) -> Expr {
        Expr::constant(Value::Int(self.choices.below(5) as i128), LogicalType::Integer)
    }

    /// A subquery for rows with these columns, and one of its columns.
    fn subquery(&mut self, visible: &[ColumnId]) -> (Operator, ColumnId) {
        let around = self.outer.len();
        let integers = visible
            .iter()
            .copied()
            .filter(|c| self.columns[*c].ty == LogicalType::Integer);
        self.outer.extend(integers.collect::<Vec<_>>());
        self.nesting -= 1;
        let depth = self.choices.below(3);
        let mut op = self.tree(depth);
        if self.choices.below(3) > 0 {
            // Most correlations are equalities.
            let own = op.visible();
            let outer = self.outer.clone();
            let (l, r) = (self.own_integer(&own), self.own_integer(&outer));
            let kind = ExprKind::Compare(CompareOp::Eq, Box::new(l), Box::new(r));
            op = Operator::Filter {
                input: Box::new(op),
                predicate: Expr::boolean(kind, true),
            };
        }
        let out = self.shaped(op);
        self.nesting += 1;
        self.outer.truncate(around);
        out
    }

    /// A subquery's rows aggregated, distinct, limited, united or as they are.
    fn shaped(&mut self, op: Operator) -> (Operator, ColumnId) {
        let visible = op.visible();
        let input = Box::new(op);
        let integer = LogicalType::Integer;
        match self.choices.below(8) {
            0 => {
                let function = [AggregateFunction::Max, AggregateFunction::Count][self.choices.below(2)];
                let call = AggregateCall {
                    function,
                    argument: Some(self.integer(&visible)),
                    distinct: false,
                    filter: None,
                    ty: integer,
                };
                let id = self.columns.add("aggregate", integer, true);
                let op = Operator::Aggregate {
                    input,
                    groups: vec![],
                    aggregates: vec![(id, call)],
                };
                match self.choices.below(3) {
                    0 => (self.having(op), id),
                    _ => (op, id),
                }
            }
            1 => {
                let id = self.columns.add("distinct", integer, true);
                let groups = vec![(id, self.integer(&visible))];
                let op = Operator::Aggregate {
                    input,
                    groups,
                    aggregates: vec![],
                };
                (op, id)
            }
            2 => {
                let id = self.columns.add("first", integer, true);
                let e = self.integer(&visible);
                let op = Operator::Map {
                    input,
                    expressions: vec![(id, e)],
                };
                let key = SortKey {
                    column: id,
                    descending: self.choices.below(2) == 1,
                    nulls_first: self.choices.below(2) == 1,
                };
                let sorted = Operator::Sort {
                    input: Box::new(op),
                    keys: vec![key],
                    limit: Some(RowCount::Constant(self.choices.below(3) as u64)),
                    offset: RowCount::Constant(self.choices.below(2) as u64),
                };
                (sorted, id)
            }
            3 => {
                let other = self.scan();
                let from = [self.own_integer(&visible), self.own_integer(&other.visible())];
                let ids = from.map(|e| e.columns_read()[0]);
                let id = self.columns.add("union", integer, true);
                let op = Operator::UnionAll {
                    inputs: vec![(*input, vec![ids[0]]), (other, vec![ids[1]])],
                    columns: vec![id],
                };
                (op, id)
            }
            4 => {
                let other = self.scan();
                self.except_all(*input, other)
            }
            _ => {
                let id = self.own_integer(&visible).columns_read()[0];
                (*input, id)
            }
        }
    }

    /// A column of `left` EXCEPT ALL one of `right`.
    fn except_all(&mut self, left: Operator, right: Operator) -> (Operator, ColumnId) {
        let (integer, bigint) = (LogicalType::Integer, LogicalType::BigInt);
        let mut inputs = Vec::new();
        for (side, sign) in [(left, 1), (right, -1)] {
            let from = self.own_integer(&side.visible()).columns_read()[0];
            let sign = Expr::constant(Value::Int(sign), integer);
            let id = self.columns.add("sign", integer, false);
            let side = Operator::Map {
                input: Box::new(side),
                expressions: vec![(id, sign)],
            };
            inputs.push((side, vec![from, id]));
        }
        let mut add = |label: &str, ty| self.columns.add(label, ty, true);
        let (both, signs) = (add("both", integer), add("signs", integer));
        let (out, count) = (add("out", integer), add("count", bigint));
        let column = |id| Expr::column(id, &self.columns);
        let call = AggregateCall {
            function: AggregateFunction::Sum,
            argument: Some(column(signs)),
            distinct: false,
            filter: None,
            ty: bigint,
        };
        let input = Box::new(Operator::Aggregate {
            groups: vec![(out, column(both))],
            aggregates: vec![(count, call)],
            input: Box::new(Operator::UnionAll {
                inputs,
                columns: vec![both, signs],
            }),
        });
        (Operator::Repeat { input, count }, out)
    }

    fn having(&mut self, op: Operator) -> Operator {
        let predicate = self.predicate(&op.visible(), 0);
        Operator::Filter {
            input: Box::new(op),
            predicate,
        }
    }

    /// A scalar subquery of one row: which of several conditions meets a subquery that fails first is left open.
    fn scalar(&mut self, (root, column): (Operator, ColumnId)) -> (Operator, ColumnId) {
        let call = AggregateCall {
            function: AggregateFunction::Max,
            argument: Some(Expr::column(column, &self.columns)),
            distinct: false,
            filter: None,
            ty: LogicalType::Integer,
        };
        let id = self.columns.add("only", LogicalType::Integer, true);
        let op = Operator::Aggregate {
            input: Box::new(root),
            groups: vec![],
            aggregates: vec![(id, call)],
        };
        (op, id)
    }

    fn subquery_predicate(&mut self, visible: &[ColumnId]) -> Expr {
        let (root, column) = self.subquery(visible);
        let columns = vec![column];
        let of = |kind, root, columns, ty| {
            let nullable = kind != SubqueryKind::Exists;
            Expr::new(
                ExprKind::Subquery(Box::new(Subquery { kind, root, columns })),
                ty,
                nullable,
            )
        };
        let value = self.integer(visible);
        let compare =
            |op, l: Expr, r: Expr| Expr::boolean(ExprKind::Compare(op, Box::new(l), Box::new(r)), true);
        let e = match self.choices.below(4) {
            0 => of(SubqueryKind::Exists, root, columns, LogicalType::Boolean),
            1 => {
                let (root, column) = self.scalar((root, column));
                let e = of(SubqueryKind::Scalar, root, vec![column], LogicalType::Integer);
                compare(self.op(), value, e)
            }
            _ => {
                let condition = compare(self.op(), value, Expr::column(column, &self.columns));
                of(SubqueryKind::Any(condition), root, columns, LogicalType::Boolean)
            }
        };
        match self.choices.below(3) {
            0 => Expr::boolean(ExprKind::Not(Box::new(e)), true),
            _ => e,
        }
    }

    fn lateral(&mut self, depth: usize) -> Operator {
        let outer = self.tree(depth - 1);
        let visible = outer.visible();
        let (inner, column) = self.subquery(&visible);
        let both = [visible, inner.visible()].concat();
        let asked = inner.visible().contains(&column) && self.choices.below(2) == 0;
        Operator::DependentJoin {
            outer: Box::new(outer),
            inner: Box::new(inner),
            condition: asked.then(|| self.predicate(&both, 0)),
            keep_outer: self.choices.below(2) == 0,
        }
    }

    fn tree(&mut self, depth: usize) -> Operator {
        if depth == 0 {
            return self.scan();
        }
        if self.nesting > 0 && self.choices.below(6) == 0 {
            return self.lateral(depth);
        }
        match self.choices.below(10) {
            0 => {
                let input = Box::new(self.tree(depth - 1));
                let predicate = self.predicate(&input.visible(), 2);
                Operator::Filter { input, predicate }
            }
            1 => {
                let input = Box::new(self.tree(depth - 1));
                let visible = input.visible();
                let (l, r) = (self.integer(&visible), self.integer(&visible));
                let id = self.columns.add("sum", LogicalType::Integer, true);
                let e = match self.nesting > 0 && self.choices.below(2) == 0 {
                    true => self.guarded_subquery(&visible, l),
                    false => {
                        let kind = ExprKind::Arithmetic(ArithmeticOp::Add, Box::new(l), Box::new(r));
                        Expr::new(kind, LogicalType::Integer, true)
                    }
                };
                Operator::Map {
                    input,
                    expressions: vec![(id, e)],
                }
            }
            2 => self.aggregate(depth),
            3 => self.repeated(depth),
            _ => self.join(depth),
        }
    }

    /// Rows twice where a predicate holds, elsewhere once, never, or as often as NULL says.
    fn repeated(&mut self, depth: usize) -> Operator {
        let input = Box::new(self.tree(depth - 1));
        let predicate = self.predicate(&input.visible(), 0);
        let bigint = LogicalType::BigInt;
        let times = |n: i128| Expr::constant(Value::Int(n), bigint);
        let otherwise = [Some(times(0)), Some(times(1)), None][self.choices.below(3)].clone();
        let kind = ExprKind::Case {
            branches: vec![(predicate, times(2))],
            otherwise: otherwise.map(Box::new),
        };
        let count = self.columns.add("times", bigint, true);
        let input = Box::new(Operator::Map {
            input,
            expressions: vec![(count, Expr::new(kind, bigint, true))],
        });
        Operator::Repeat { input, count }
    }

    /// CASE with a scalar subquery in its branch.
    fn guarded_subquery(&mut self, visible: &[ColumnId], otherwise: Expr) -> Expr {
        let condition = self.predicate(visible, 1);
        let made = self.subquery(visible);
        let (root, column) = self.scalar(made);
        let subquery = Subquery {
            kind: SubqueryKind::Scalar,
            root,
            columns: vec![column],
        };
        let value = Expr::new(ExprKind::Subquery(Box::new(subquery)), LogicalType::Integer, true);
        let kind = ExprKind::Case {
            branches: vec![(condition, value)],
            otherwise: Some(Box::new(otherwise)),
        };
        Expr::new(kind, LogicalType::Integer, true)
    }

    fn join(&mut self, depth: usize) -> Operator {
        let other = self.choices.below(depth);
        let (build, probe) = (Box::new(self.tree(other)), Box::new(self.tree(depth - 1)));
        let (b, p) = (build.visible(), probe.visible());
        let mark = self.columns.add("mark", LogicalType::Boolean, true);
        let kinds = [
            JoinKind::Inner,
            JoinKind::Inner,
            JoinKind::Inner,
            JoinKind::ProbeOuter,
            JoinKind::BuildOuter,
            JoinKind::FullOuter,
            JoinKind::ProbeSemi,
            JoinKind::ProbeAnti,
            JoinKind::BuildSemi,
            JoinKind::BuildAnti,
            JoinKind::ProbeMark(mark),
        ];
        let kind = kinds[self.choices.below(kinds.len())];
        let keys: Vec<(Expr, Expr)> = (0..self.choices.below(3))
            .map(|_| (self.own_integer(&b), self.own_integer(&p)))
            .collect();
        let both: Vec<ColumnId> = b.iter().chain(&p).copied().collect();
        let residual = (self.choices.below(3) == 0).then(|| self.predicate(&both, 1));
        let may_be_null_aware = matches!(kind, JoinKind::ProbeAnti | JoinKind::ProbeMark(_));
        let null_aware = may_be_null_aware && keys.len() == 1 && self.choices.below(2) == 1;
        let join = Operator::Join {
            kind,
            build,
            probe,
            keys,
            residual,
            null_aware,
        };
        match kind {
            // The mark is read together with something else, as an IN beneath an OR is.
            JoinKind::ProbeMark(mark) => {
                let parts = vec![Expr::column(mark, &self.columns), self.predicate(&p, 0)];
                Operator::Filter {
                    input: Box::new(join),
                    predicate: Expr::boolean(ExprKind::Or(parts), true),
                }
            }
            _ => join,
        }
    }

    fn aggregate(&mut self, depth: usize) -> Operator {
        let input = Box::new(self.tree(depth - 1));
        let visible = input.visible();
        let key = self.columns.add("key", LogicalType::Integer, true);
        let groups = vec![(key, self.integer(&visible))];
        let mut aggregates = Vec::new();
        for _ in 0..1 + self.choices.below(3) {
            let function = [
                AggregateFunction::Count,
                AggregateFunction::Sum,
                AggregateFunction::Max,
            ][self.choices.below(3)];
            let ty = match function {
                AggregateFunction::Max => LogicalType::Integer,
                _ => LogicalType::BigInt,
            };
            let call = AggregateCall {
                function,
                argument: Some(self.integer(&visible)),
                distinct: self.choices.below(2) == 1,
                filter: (self.choices.below(4) == 0).then(|| self.predicate(&visible, 0)),
                ty,
            };
            aggregates.push((self.columns.add("aggregate", ty, true), call));
        }
        Operator::Aggregate {
            input,
            groups,
            aggregates,
        }
    }
}

fn random_plan(choices: Vec<u8>, tables: usize, nesting: usize) -> Plan {
    let mut generator = Generator {
        choices: Choices(choices.into_iter()),
        columns: Columns::default(),
        tables,
        nesting,
        outer: vec![],
    };
    let root = generator.tree(if nesting > 0 { 3 } else { 4 });
    let visible = root.visible();
    let mut plan = Plan {
        root,
        output: visible.iter().map(|c| (format!("o{}", c.0), *c)).collect(),
        columns: generator.columns,
        subqueries: vec![],
        shared: vec![],
        parameters: vec![],
    };
    nullability::recompute(&mut plan);
    plan
}

fn tables() -> impl Strategy<Value = Tables> {
    let cell = prop_oneof![1 => Just(None), 5 => (0i128..5).prop_map(Some)];
    let row = prop::collection::vec(cell, WIDTH);
    let rows = prop::collection::vec(prop::collection::vec(row, 0..5), 3);
    (rows, any::<bool>()).prop_map(|(rows, inflated)| Tables { rows, inflated })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, max_shrink_iters: 20_000, ..ProptestConfig::default() })]
    #[test]
    fn optimized_plans_give_the_same_rows(
        choices in prop::collection::vec(any::<u8>(), 10..80),
        tables in tables(),
        restrictions: bool,
        join_order: bool,
        elide_checks: bool,
    ) {
        let plan = random_plan(choices, tables.rows.len(), 0);
        verify::plan(&plan).unwrap();
        let expected = run(&plan, &tables);
        let before = display::plan(&plan);
        let optimized = optimize(plan, &tables, &Settings { restrictions, join_order, elide_checks }).unwrap();
        let after = display::plan(&optimized);
        let found = run(&optimized, &tables);
        for ((name, column), value) in found.iter().flatten().flat_map(|row| optimized.output.iter().zip(row)) {
            let bounds = optimized.columns[*column].bounds.filter(|_| !tables.inflated);
            let held = value.is_none_or(|v| bounds.is_none_or(|b| b.contains(v)));
            prop_assert!(held, "{name} = {value:?} leaves {bounds:?}\n{after}");
        }
        prop_assert_eq!(expected, found, "\n{}\nbecame\n{}", before, after);
        let cut = pipelines(optimized, &tables, StagePolicy::Staged);
        prop_assert!(verify::pipelines(&cut).is_ok(), "{}\n{}", after, display::stages(&cut));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, max_shrink_iters: 400, ..ProptestConfig::default() })]
    #[test]
    fn unnested_plans_give_the_same_rows(
        choices in prop::collection::vec(any::<u8>(), 10..160),
        tables in tables(),
        nesting in 1..4usize,
    ) {
        let plan = random_plan(choices, tables.rows.len(), nesting);
        let before = display::plan(&plan);
        let expected = run(&plan, &tables);
        let optimized = optimize(plan, &tables, &Settings::default());
        prop_assert!(optimized.is_ok(), "\n{}\n{:?}", before, optimized);
        let optimized = optimized.unwrap();
        let after = display::plan(&optimized);
        let found = run(&optimized, &tables);
        // A filter may drop a row before the subquery that fails for it is asked, never the other way round.
        if expected.is_ok() {
            prop_assert_eq!(expected, found, "\n{}\nbecame\n{}", before, after);
        }
        let cut = pipelines(optimized, &tables, StagePolicy::Staged);
        prop_assert!(verify::pipelines(&cut).is_ok(), "{}\n{}", after, display::stages(&cut));
    }
}
