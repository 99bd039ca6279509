//! Optimized plans give the same rows as the plans they came from: random trees of joins of every kind,
//! filters, maps and aggregations over small tables with NULLs, against the naive evaluator.

mod naive;

use frazil_optimizer::{Settings, optimize, pipelines};
use frazil_plan::pipeline::StagePolicy;
use frazil_plan::{
    AggregateCall, AggregateFunction, ArithmeticOp, ColumnId, Columns, Expr, ExprKind, JoinKind, Operator,
    Plan, TableId, display, nullability, verify,
};
use frazil_types::{CompareOp, LogicalType, Span, Value};
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

    fn integer(&mut self, visible: &[ColumnId]) -> Expr {
        let integers: Vec<ColumnId> = visible
            .iter()
            .copied()
            .filter(|c| self.columns[*c].ty == LogicalType::Integer)
            .collect();
        let id = integers[self.choices.below(integers.len())];
        Expr::column(id, &self.columns)
    }

    fn predicate(&mut self, visible: &[ColumnId], depth: usize) -> Expr {
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

    fn tree(&mut self, depth: usize) -> Operator {
        if depth == 0 {
            return self.scan();
        }
        match self.choices.below(9) {
            0 => {
                let input = Box::new(self.tree(depth - 1));
                let predicate = self.predicate(&input.visible(), 2);
                Operator::Filter { input, predicate }
            }
            1 => {
                let input = Box::new(self.tree(depth - 1));
                let visible = input.visible();
                let (l, r) = (self.integer(&visible), self.integer(&visible));
                let kind = ExprKind::Arithmetic(ArithmeticOp::Add, Box::new(l), Box::new(r));
                let id = self.columns.add("sum", LogicalType::Integer, true);
                let e = Expr {
                    kind,
                    ty: LogicalType::Integer,
                    nullable: true,
                    span: Span::NONE,
                };
                Operator::Map {
                    input,
                    expressions: vec![(id, e)],
                }
            }
            2 => self.aggregate(depth),
            _ => self.join(depth),
        }
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
            .map(|_| (self.integer(&b), self.integer(&p)))
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

fn random_plan(choices: Vec<u8>, tables: usize) -> Plan {
    let mut generator = Generator {
        choices: Choices(choices.into_iter()),
        columns: Columns::default(),
        tables,
    };
    let root = generator.tree(4);
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
        let plan = random_plan(choices, tables.rows.len());
        verify::plan(&plan).unwrap();
        let expected = run(&plan, &tables);
        let before = display::plan(&plan);
        let optimized = optimize(plan, &tables, &Settings { restrictions, join_order, elide_checks }).unwrap();
        let after = display::plan(&optimized);
        let found = run(&optimized, &tables);
        for ((name, column), value) in found.iter().flat_map(|row| optimized.output.iter().zip(row)) {
            let bounds = optimized.columns[*column].bounds.filter(|_| !tables.inflated);
            let held = value.is_none_or(|v| bounds.is_none_or(|b| b.contains(v)));
            prop_assert!(held, "{name} = {value:?} leaves {bounds:?}\n{after}");
        }
        prop_assert_eq!(expected, found, "\n{}\nbecame\n{}", before, after);
        let cut = pipelines(optimized, &tables, StagePolicy::Staged);
        prop_assert!(verify::pipelines(&cut).is_ok(), "{}\n{}", after, display::stages(&cut));
    }
}
