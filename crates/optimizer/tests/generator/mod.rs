//! Random plans over small tables of nullable integers: joins of every kind, filters, maps, aggregations, grouping sets,
//! repetitions and unions; with subqueries in any place, nested and correlated at any depth, plans as a binder makes them. Expressions
//! and scalar subqueries may fail, with and without a guard.

use crate::naive::Tables;
use frazil_plan::operators::{
    Aggregate, DependentJoin, Expand, Filter, GroupingSets, Join, Map, Scan, Shared, Sort, UnionAll,
};
use frazil_plan::{
    AggregateCall, AggregateFunction, ArithmeticOp, ColumnId, Columns, Expansion, Expr, ExprKind, JoinKind,
    Operator, Plan, RowCount, RowsCall, SharedId, SortKey, Subquery, SubqueryKind, nullable_columns,
};
use frazil_types::{CompareOp, LogicalType, ObjectId, Value};
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
        Operator::Scan(Scan {
            table: ObjectId(table as u32),
            name: format!("t{table}"),
            columns,
            row_id: None,
            restrictions: vec![],
            disjunctions: vec![],
            places: vec![],
        })
    }

    /// A column of the rows at hand or, now and then, of the queries around them.
    fn integer(&mut self, visible: &[ColumnId]) -> Expr {
        if !self.outer.is_empty() && self.choices.below(4) == 0 {
            let outer = self.outer.clone();
            return self.own_integer(&outer);
        }
        match self.choices.below(12) {
            0 => self.quotient(visible),
            _ => self.own_integer(visible),
        }
    }

    /// A quotient of two columns, every other one guarded by CASE against a divisor of 0.
    fn quotient(&mut self, visible: &[ColumnId]) -> Expr {
        let (dividend, divisor) = (self.own_integer(visible), self.own_integer(visible));
        let quotient = self.over(dividend, divisor.clone());
        if self.choices.below(2) == 0 {
            return quotient;
        }
        let kind = ExprKind::Case {
            branches: vec![(self.is_not_zero(divisor), quotient)],
            otherwise: None,
        };
        Expr::new(kind, LogicalType::Integer, true)
    }

    fn over(&self, dividend: Expr, divisor: Expr) -> Expr {
        let kind = ExprKind::Arithmetic(ArithmeticOp::Div, Box::new(dividend), Box::new(divisor));
        Expr::new(kind, LogicalType::Integer, true)
    }

    fn is_not_zero(&self, e: Expr) -> Expr {
        let zero = Expr::constant(Value::Int(0), LogicalType::Integer);
        Expr::boolean(
            ExprKind::Compare(CompareOp::Ne, Box::new(e), Box::new(zero)),
            true,
        )
    }

    /// `divisor <> 0 and dividend / divisor` compared with an integer, or with a subquery where they may nest.
    fn guarded_quotient(&mut self, visible: &[ColumnId]) -> Expr {
        let (dividend, divisor) = (self.own_integer(visible), self.own_integer(visible));
        let quotient = self.over(dividend, divisor.clone());
        let other = match self.nesting > 0 {
            true => self.scalar_subquery(visible),
            false => self.constant(),
        };
        let compared = ExprKind::Compare(self.op(), Box::new(quotient), Box::new(other));
        let parts = vec![self.is_not_zero(divisor), Expr::boolean(compared, true)];
        Expr::boolean(ExprKind::And(parts), true)
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
        if self.choices.below(10) == 0 {
            return self.guarded_quotient(visible);
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
            op = Operator::Filter(Filter {
                input: Box::new(op),
                predicate: Expr::boolean(kind, true),
            });
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
                    second: None,
                    distinct: false,
                    order: Vec::new(),
                    filter: None,
                    ty: integer,
                };
                let id = self.columns.add("aggregate", integer, true);
                let op = Operator::Aggregate(Aggregate {
                    input,
                    groups: vec![],
                    aggregates: vec![(id, call)],
                });
                match self.choices.below(3) {
                    0 => (self.having(op), id),
                    _ => (op, id),
                }
            }
            1 => {
                let id = self.columns.add("distinct", integer, true);
                let groups = vec![(id, self.integer(&visible))];
                let op = Operator::Aggregate(Aggregate {
                    input,
                    groups,
                    aggregates: vec![],
                });
                (op, id)
            }
            2 => {
                let id = self.columns.add("first", integer, true);
                let e = self.integer(&visible);
                let op = Operator::Map(Map {
                    input,
                    expressions: vec![(id, e)],
                });
                let key = SortKey {
                    column: id,
                    descending: self.choices.below(2) == 1,
                    nulls_first: self.choices.below(2) == 1,
                };
                let sorted = Operator::Sort(Sort {
                    input: Box::new(op),
                    keys: vec![key],
                    limit: Some(self.row_count(3)),
                    offset: self.row_count(2),
                });
                (sorted, id)
            }
            3 => {
                let other = self.scan();
                let from = [self.own_integer(&visible), self.own_integer(&other.visible())];
                let ids = from.map(|e| e.columns_read()[0]);
                let id = self.columns.add("union", integer, true);
                let op = Operator::UnionAll(UnionAll {
                    inputs: vec![(*input, vec![ids[0]]), (other, vec![ids[1]])],
                    columns: vec![id],
                });
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
            let side = Operator::Map(Map {
                input: Box::new(side),
                expressions: vec![(id, sign)],
            });
            inputs.push((side, vec![from, id]));
        }
        let mut add = |label: &str, ty| self.columns.add(label, ty, true);
        let (both, signs) = (add("both", integer), add("signs", integer));
        let (out, count) = (add("out", integer), add("count", bigint));
        let column = |id| Expr::column(id, &self.columns);
        let call = AggregateCall {
            function: AggregateFunction::Sum,
            argument: Some(column(signs)),
            second: None,
            distinct: false,
            order: Vec::new(),
            filter: None,
            ty: bigint,
        };
        let input = Box::new(Operator::Aggregate(Aggregate {
            groups: vec![(out, column(both))],
            aggregates: vec![(count, call)],
            input: Box::new(Operator::UnionAll(UnionAll {
                inputs,
                columns: vec![both, signs],
            })),
        }));
        (
            self.expanded(input, RowsCall::up_to(Expr::column(count, &self.columns))),
            out,
        )
    }

    /// A number of rows: less than `most`, or now and then a column of the queries around, or a subquery.
    fn row_count(&mut self, most: usize) -> RowCount {
        let constant = RowCount::Constant(self.choices.below(most) as u64);
        let outer = self.outer.clone();
        let e = match self.choices.below(6) {
            0 if !outer.is_empty() => self.own_integer(&outer),
            1 if !outer.is_empty() && self.nesting > 0 => self.scalar_subquery(&[]),
            _ => return constant,
        };
        RowCount::Value(Box::new(Expr::new(
            ExprKind::Cast(Box::new(e)),
            LogicalType::BigInt,
            true,
        )))
    }

    fn having(&mut self, op: Operator) -> Operator {
        let predicate = self.predicate(&op.visible(), 0);
        Operator::Filter(Filter {
            input: Box::new(op),
            predicate,
        })
    }

    /// A scalar subquery; every third one may have several rows.
    fn scalar_subquery(&mut self, visible: &[ColumnId]) -> Expr {
        let (mut root, mut column) = self.subquery(visible);
        if self.choices.below(3) > 0 {
            let call = AggregateCall {
                function: AggregateFunction::Max,
                argument: Some(Expr::column(column, &self.columns)),
                second: None,
                distinct: false,
                order: Vec::new(),
                filter: None,
                ty: LogicalType::Integer,
            };
            column = self.columns.add("only", LogicalType::Integer, true);
            root = Operator::Aggregate(Aggregate {
                input: Box::new(root),
                groups: vec![],
                aggregates: vec![(column, call)],
            });
        }
        let subquery = Subquery::new(SubqueryKind::Scalar, root, vec![column]);
        Expr::new(ExprKind::Subquery(Box::new(subquery)), LogicalType::Integer, true)
    }

    fn subquery_predicate(&mut self, visible: &[ColumnId]) -> Expr {
        let value = self.integer(visible);
        let compare =
            |op, l: Expr, r: Expr| Expr::boolean(ExprKind::Compare(op, Box::new(l), Box::new(r)), true);
        let e = match self.choices.below(4) {
            0 => {
                let e = self.scalar_subquery(visible);
                compare(self.op(), value, e)
            }
            kind => {
                let (root, column) = self.subquery(visible);
                let columns = vec![column];
                let kind = match kind {
                    1 => SubqueryKind::Exists,
                    _ => {
                        let e = Expr::column(column, &self.columns);
                        SubqueryKind::Any(compare(self.op(), value, e))
                    }
                };
                let nullable = kind != SubqueryKind::Exists;
                let kind = ExprKind::Subquery(Box::new(Subquery::new(kind, root, columns)));
                Expr::boolean(kind, nullable)
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
        Operator::DependentJoin(DependentJoin {
            outer: Box::new(outer),
            inner: Box::new(inner),
            condition: asked.then(|| self.predicate(&both, 0)),
            keep_outer: self.choices.below(2) == 0,
        })
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
                Operator::Filter(Filter { input, predicate })
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
                Operator::Map(Map {
                    input,
                    expressions: vec![(id, e)],
                })
            }
            2 => self.aggregate(depth),
            3 => self.repeated(depth),
            _ => self.join(depth),
        }
    }

    /// Rows of a function for each row of a tree.
    fn expanded(&mut self, input: Box<Operator>, call: RowsCall) -> Operator {
        let made = self.columns.add("row", call.ty, false);
        let ordinality = (self.choices.below(4) == 0).then(|| self.columns.add("number", call.ty, false));
        let mut calls = vec![(made, call)];
        if self.choices.below(4) == 0 {
            let few = RowsCall::up_to(Expr::constant(Value::Int(2), LogicalType::BigInt));
            self.columns[made].nullable = true;
            calls.push((self.columns.add("few", LogicalType::BigInt, true), few));
        }
        let expansion = Expansion { calls, ordinality };
        Operator::Expand(Expand { input, expansion })
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
        let input = Box::new(Operator::Map(Map {
            input,
            expressions: vec![(count, Expr::new(kind, bigint, true))],
        }));
        self.expanded(input, RowsCall::up_to(Expr::column(count, &self.columns)))
    }

    /// CASE with a scalar subquery in its branch.
    fn guarded_subquery(&mut self, visible: &[ColumnId], otherwise: Expr) -> Expr {
        let condition = self.predicate(visible, 1);
        let value = self.scalar_subquery(visible);
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
        let join = Operator::Join(Join {
            kind,
            build,
            probe,
            keys,
            residual,
            null_aware,
            in_order: false,
            first: None,
        });
        match kind {
            // The mark is read together with something else, as an IN beneath an OR is.
            JoinKind::ProbeMark(mark) => {
                let parts = vec![Expr::column(mark, &self.columns), self.predicate(&p, 0)];
                Operator::Filter(Filter {
                    input: Box::new(join),
                    predicate: Expr::boolean(ExprKind::Or(parts), true),
                })
            }
            _ => join,
        }
    }

    /// A tree for several readers: any, or a union whose branches have constants of their own.
    fn shared(&mut self) -> Operator {
        if self.choices.below(2) == 0 {
            return self.tree(2);
        }
        let mut inputs = Vec::new();
        for kind in 0..2 + self.choices.below(2) {
            let input = Box::new(self.tree(1));
            let value = self.own_integer(&input.visible());
            let (own, id) = (
                self.columns.add("value", LogicalType::Integer, true),
                self.columns.add("kind", LogicalType::Integer, true),
            );
            let kind = Expr::constant(Value::Int(kind as i128), LogicalType::Integer);
            let expressions = vec![(own, value), (id, kind)];
            inputs.push((Operator::Map(Map { input, expressions }), vec![own, id]));
        }
        let mut made = |label: &str| self.columns.add(label, LogicalType::Integer, true);
        let columns = vec![made("value"), made("kind")];
        Operator::UnionAll(UnionAll { inputs, columns })
    }

    /// Rows of a shared subplan that satisfy a predicate.
    fn reading(&mut self, id: SharedId, stored: &[ColumnId]) -> Operator {
        let mut columns = Vec::new();
        for column in stored {
            let info = self.columns[*column].clone();
            columns.push((self.columns.add(info.label, info.ty, true), *column));
        }
        let visible: Vec<ColumnId> = columns.iter().map(|c| c.0).collect();
        let input = Box::new(Operator::Shared(Shared { id, columns }));
        if self.choices.below(5) == 0 {
            return *input;
        }
        let predicate = self.predicate(&visible, 2);
        Operator::Filter(Filter { input, predicate })
    }

    /// A join of two trees, with a predicate on top.
    fn joined(&mut self, build: Operator, probe: Operator) -> Operator {
        let kinds = [
            JoinKind::Inner,
            JoinKind::ProbeOuter,
            JoinKind::FullOuter,
            JoinKind::ProbeSemi,
            JoinKind::ProbeAnti,
        ];
        let kind = kinds[self.choices.below(kinds.len())];
        let keys = (0..self.choices.below(3))
            .map(|_| {
                (
                    self.own_integer(&build.visible()),
                    self.own_integer(&probe.visible()),
                )
            })
            .collect();
        let input = Box::new(Operator::Join(Join {
            kind,
            build: Box::new(build),
            probe: Box::new(probe),
            keys,
            residual: None,
            null_aware: false,
            in_order: false,
            first: None,
        }));
        let predicate = self.predicate(&input.visible(), 1);
        Operator::Filter(Filter { input, predicate })
    }

    fn aggregate(&mut self, depth: usize) -> Operator {
        let input = Box::new(self.tree(depth - 1));
        let visible = input.visible();
        let has_sets = self.choices.below(2) == 0;
        let keys = 1 + if has_sets { self.choices.below(3) } else { 0 };
        let groups: Vec<(ColumnId, Expr)> = (0..keys)
            .map(|_| {
                let key = self.columns.add("key", LogicalType::Integer, true);
                (key, self.integer(&visible))
            })
            .collect();
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
                second: None,
                distinct: self.choices.below(2) == 1,
                order: Vec::new(),
                filter: (self.choices.below(4) == 0).then(|| self.predicate(&visible, 0)),
                ty,
            };
            aggregates.push((self.columns.add("aggregate", ty, true), call));
        }
        let all = Aggregate {
            input,
            groups,
            aggregates,
        };
        match has_sets {
            true => self.grouping_sets(all),
            false => Operator::Aggregate(all),
        }
    }

    /// Groups by one to four sets.
    fn grouping_sets(&mut self, all: Aggregate) -> Operator {
        let keys = all.groups.len();
        let subset = |chosen: usize| (0..keys).filter(|at| chosen & (1 << at) != 0).collect();
        let sets: Vec<Vec<usize>> = (0..1 + self.choices.below(4))
            .map(|_| subset(self.choices.below(1 << keys)))
            .collect();
        let mut arguments: Vec<usize> = (0..keys).collect();
        arguments.rotate_left(self.choices.below(keys));
        let id = self.columns.add("grouping", LogicalType::Integer, true);
        Operator::GroupingSets(GroupingSets {
            all,
            sets,
            grouping: vec![(id, arguments)],
        })
    }
}

/// A plan made by choices over so many tables, with subqueries nested so deep.
pub fn random_plan(choices: Vec<u8>, tables: usize, nesting: usize) -> Plan {
    let mut generator = Generator {
        choices: Choices(choices.into_iter()),
        columns: Columns::default(),
        tables,
        nesting,
        outer: vec![],
    };
    let root = generator.tree(if nesting > 0 { 3 } else { 4 });
    planned(generator, root, vec![])
}

/// A plan made by choices in which several readers share a subplan, and others one that reads it.
pub fn sharing_plan(choices: Vec<u8>, tables: usize) -> Plan {
    let mut generator = Generator {
        choices: Choices(choices.into_iter()),
        columns: Columns::default(),
        tables,
        nesting: 0,
        outer: vec![],
    };
    let mut shared = vec![generator.shared()];
    if generator.choices.below(3) == 0 {
        let stored = shared[0].visible();
        shared.push(generator.reading(SharedId(0), &stored));
    }
    let mut root = None;
    for _ in 0..2 + generator.choices.below(2) {
        let id = generator.choices.below(shared.len());
        let stored = shared[id].visible();
        let reading = generator.reading(SharedId(id), &stored);
        root = Some(match root {
            Some(root) => generator.joined(reading, root),
            None => reading,
        });
    }
    let root = root.unwrap_or_else(|| generator.scan());
    planned(generator, root, shared)
}

fn planned(generator: Generator, root: Operator, shared: Vec<Operator>) -> Plan {
    let visible = root.visible();
    let mut plan = Plan {
        root,
        output: visible.iter().map(|c| (format!("o{}", c.0), *c)).collect(),
        columns: generator.columns,
        subqueries: vec![],
        shared,
        parameters: vec![],
    };
    nullable_columns::recompute(&mut plan);
    plan
}

/// Three tables with up to four rows each.
pub fn tables() -> impl Strategy<Value = Tables> {
    let cell = prop_oneof![1 => Just(None), 5 => (0i128..5).prop_map(Some)];
    let row = prop::collection::vec(cell, WIDTH);
    let rows = prop::collection::vec(prop::collection::vec(row, 0..5), 3);
    (rows, any::<bool>()).prop_map(|(rows, inflated)| Tables { rows, inflated })
}
