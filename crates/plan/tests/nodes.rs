//! What operators state of themselves is said twice, to be read and to be changed: both agree, and name every column.

use frazil_plan::operators::{
    Aggregate, DependentJoin, Expand, Filter, Given, GroupingSets, Join, Limit, Map, Role, Scan,
    ScanRestrictionKind, Shared, Sort, TopPerGroup, UnionAll, Values, Window,
};
use frazil_plan::{
    AggregateCall, AggregateFunction, Change, ColumnId, Expansion, Expr, ExprKind, Frame, FrameBound,
    FrameExclusion, FrameUnit, JoinKind, LockBounds, LockStrength, LockWait, LockedTable, Operator,
    PlanConflict, RowCount, RowLocks, RowsCall, ScanDisjunction, ScanRestriction, SharedId, SortKey,
    WindowCall, WindowFunction, Write, WriteKind,
};
use frazil_types::{CompareOp, LogicalType, ObjectId, Value};
use std::collections::BTreeSet;

fn id(n: u32) -> ColumnId {
    ColumnId(n)
}

/// An expression that reads no column.
fn constant(n: i128) -> Expr {
    Expr::constant(Value::Int(n), LogicalType::BigInt)
}

fn leaf() -> Box<Operator> {
    Box::new(Operator::Values(Values {
        columns: vec![],
        rows: vec![vec![]],
    }))
}

fn key(n: u32) -> SortKey {
    SortKey {
        column: id(n),
        descending: false,
        nulls_first: false,
    }
}

fn restriction(n: u32) -> ScanRestriction {
    ScanRestriction {
        column: id(n),
        kind: ScanRestrictionKind::Compare(CompareOp::Eq, constant(n.into())),
    }
}

fn call() -> AggregateCall {
    AggregateCall {
        function: AggregateFunction::Sum,
        argument: Some(constant(1)),
        filter: Some(constant(2)),
        second: None,
        distinct: false,
        order: Vec::new(),
        ty: LogicalType::BigInt,
    }
}

fn aggregate() -> Aggregate {
    Aggregate {
        input: leaf(),
        groups: vec![(id(1), constant(0))],
        aggregates: vec![(id(2), call())],
    }
}

fn count() -> RowCount {
    RowCount::Value(Box::new(constant(3)))
}

fn sources() -> Vec<Operator> {
    vec![
        Operator::Scan(Scan {
            table: ObjectId(1),
            name: "t".into(),
            columns: vec![(id(1), 0), (id(2), 1)],
            row_id: Some(id(3)),
            restrictions: vec![restriction(1)],
            places: vec![],
            disjunctions: vec![ScanDisjunction {
                alternatives: vec![vec![restriction(2)], vec![restriction(1)]],
            }],
        }),
        Operator::Values(Values {
            columns: vec![id(1)],
            rows: vec![vec![constant(1)], vec![constant(2)]],
        }),
        Operator::Given(Given {
            columns: vec![(id(1), 0)],
        }),
        Operator::Shared(Shared {
            id: SharedId(0),
            columns: vec![(id(1), id(2))],
        }),
    ]
}

fn joins() -> Vec<Operator> {
    vec![
        Operator::Join(Join {
            kind: JoinKind::ProbeMark(id(1)),
            build: leaf(),
            probe: leaf(),
            keys: vec![(constant(1), constant(2))],
            residual: Some(constant(3)),
            null_aware: true,
            in_order: false,
            first: None,
        }),
        Operator::DependentJoin(DependentJoin {
            outer: leaf(),
            inner: leaf(),
            condition: Some(constant(1)),
            keep_outer: true,
        }),
        Operator::UnionAll(UnionAll {
            inputs: vec![(*leaf(), vec![id(1)]), (*leaf(), vec![id(2)])],
            columns: vec![id(3)],
        }),
    ]
}

fn of_one_input() -> Vec<Operator> {
    let mut change = Change {
        table: ObjectId(1),
        name: "t".into(),
        kind: WriteKind::Insert {
            columns: vec![id(1)],
            conflict: PlanConflict::Fail,
        },
        checks: vec![("c".into(), id(2))],
        returning: vec![id(3)],
    };
    let insert = Operator::Write(Box::new(Write::new(*leaf(), change.clone())));
    change.kind = WriteKind::Update {
        row_id: id(4),
        set: vec![(0, id(5))],
    };
    let update = Operator::Write(Box::new(Write::new(*leaf(), change.clone())));
    change.kind = WriteKind::Delete { row_id: id(4) };
    let delete = Operator::Write(Box::new(Write::new(*leaf(), change.clone())));
    change.kind = WriteKind::Lock(RowLocks {
        tables: vec![LockedTable {
            table: ObjectId(1),
            name: "t".into(),
            row_id: id(4),
            strength: LockStrength::Update,
            wait: LockWait::Skip,
        }],
        bounds: Some(LockBounds {
            limit: Some(id(5)),
            offset: Some(id(6)),
        }),
    });
    let lock = Operator::Write(Box::new(Write::new(*leaf(), change)));
    vec![
        Operator::Filter(Filter {
            input: leaf(),
            predicate: constant(1),
        }),
        Operator::Map(Map {
            input: leaf(),
            expressions: vec![(id(1), constant(1))],
        }),
        Operator::Aggregate(aggregate()),
        Operator::GroupingSets(GroupingSets {
            all: aggregate(),
            sets: vec![vec![0], vec![]],
            grouping: vec![(id(3), vec![0])],
        }),
        Operator::Expand(Expand {
            input: leaf(),
            expansion: Expansion {
                calls: vec![(id(1), RowsCall::up_to(constant(3)))],
                ordinality: Some(id(2)),
            },
        }),
        insert,
        lock,
        update,
        delete,
    ]
}

fn with_numbers_of_rows() -> Vec<Operator> {
    vec![
        Operator::Sort(Sort {
            input: leaf(),
            keys: vec![key(1)],
            limit: Some(count()),
            offset: count(),
        }),
        Operator::TopPerGroup(TopPerGroup {
            input: leaf(),
            groups: vec![id(1)],
            keys: vec![key(2)],
            limit: Some(RowCount::Column(id(3))),
            offset: RowCount::Column(id(4)),
        }),
        Operator::Limit(Limit {
            input: leaf(),
            limit: Some(count()),
            offset: count(),
        }),
    ]
}

fn windows() -> Vec<Operator> {
    let call = WindowCall {
        function: WindowFunction::Aggregate(AggregateFunction::Sum),
        arguments: vec![constant(1)],
        filter: Some(constant(2)),
        ignore_nulls: false,
        frame: Frame {
            unit: FrameUnit::Rows,
            start: FrameBound::Preceding(constant(3)),
            end: FrameBound::Following(constant(4)),
            exclusion: FrameExclusion::Ties,
        },
        ty: LogicalType::BigInt,
    };
    vec![Operator::Window(Window {
        input: leaf(),
        partition: vec![id(1)],
        order: vec![key(2)],
        calls: vec![(id(3), call)],
        most: Some((id(3), 4)),
    })]
}

/// Each operator, every part filled in; the expressions read no column.
fn samples() -> Vec<Operator> {
    [
        sources(),
        joins(),
        of_one_input(),
        with_numbers_of_rows(),
        windows(),
    ]
    .concat()
}

fn named(op: &Operator) -> Vec<(Role, ColumnId)> {
    let mut found = Vec::new();
    op.node().ids(&mut |role, id| found.push((role, id)));
    found
}

#[test]
fn what_is_read_is_what_is_changed() {
    for mut op in samples() {
        let mut to_change = Vec::new();
        let shown = named(&op);
        op.node_mut().ids_mut(&mut |role, id| to_change.push((role, *id)));
        assert_eq!(shown, to_change, "{op:?}");
        let copy = op.clone();
        assert!(copy.inputs().into_iter().eq(op.inputs_mut()), "{op:?}");
        assert!(copy.expressions().into_iter().eq(op.expressions_mut()), "{op:?}");
    }
}

#[test]
fn every_column_of_an_operator_has_a_role() {
    for mut op in samples() {
        op.node_mut().ids_mut(&mut |_, id| id.0 += 100);
        let text = format!("{op:?}");
        let numbers = text.split("ColumnId(").skip(1).map(|rest| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<u32>()
        });
        for number in numbers {
            assert!(number.is_ok_and(|n| n > 100), "a column without a role: {text}");
        }
    }
}

#[test]
fn every_expression_of_an_operator_is_given() {
    for mut op in samples() {
        for e in op.expressions_mut() {
            *e = Expr::boolean(ExprKind::Constant(Value::Bool(true)), false);
        }
        let text = format!("{op:?}");
        assert!(!text.contains("Int("), "an expression that is not given: {text}");
    }
}

#[test]
fn a_column_is_visible_where_the_operator_that_makes_it_is_passed() {
    for op in samples() {
        let made: BTreeSet<ColumnId> = op.makes().into_iter().collect();
        let visible: BTreeSet<ColumnId> = op.visible().into_iter().collect();
        assert!(made.is_subset(&visible), "{op:?}");
        let mut names_made_again = named(&op);
        names_made_again.retain(|(role, _)| *role == Role::MadeAlready);
        assert!(names_made_again.iter().all(|(_, id)| made.contains(id)), "{op:?}");
    }
}
