//! What typing promises: coercion of literals, NULLs and parameters, and plans that grow with the text.

use frazil_functions::{AggregateArguments, BetweenKind, CastContext, Operand, Typing};
use frazil_plan::{ArithmeticOp, Columns, Expr, ExprKind, ScalarFunction};
use frazil_types::logical_type::WITHOUT_LENGTH;
use frazil_types::{CompareOp, LogicalType, Result, Span};

const AT: Span = Span { start: 3, end: 5 };

fn literal(text: &str) -> Operand {
    Operand::literal(text, AT)
}

fn number(text: &str) -> Operand {
    Typing::number_literal(text, AT).unwrap()
}

fn null() -> Operand {
    Operand::null(AT)
}

fn column(ty: LogicalType, columns: &mut Columns) -> Operand {
    let id = columns.add("x", ty, true);
    Expr::column(id, columns).into()
}

fn cast(x: Operand, ty: LogicalType) -> Operand {
    let e = Typing::new(&[]).cast(x, ty, CastContext::Explicit, AT);
    e.unwrap().into()
}

fn decimal(precision: u8, scale: u8) -> LogicalType {
    LogicalType::Decimal { precision, scale }
}

fn shown(x: Result<Operand>) -> String {
    match x.and_then(|x| Typing::new(&[]).settle(x)) {
        Ok(Expr {
            kind: ExprKind::Constant(value),
            ty,
            ..
        }) => format!("{}:{}", ty, value.display(ty)),
        Ok(e) => format!("{}:{:?}", e.ty, e.kind),
        Err(e) => e.state().0.to_string(),
    }
}

fn infix(op: &str, l: Operand, r: Operand) -> String {
    shown(Typing::new(&[]).infix(op, l, r, AT, &mut Columns::default()))
}

fn call(name: &str, arguments: Vec<Operand>) -> String {
    shown(Typing::new(&[]).call(name, arguments, AT, &mut Columns::default()))
}

fn size(e: &Expr) -> usize {
    let mut parts = 0;
    e.walk(&mut |_| parts += 1);
    parts
}

#[test]
fn typed_nulls_keep_their_type() {
    let typing = Typing::new(&[]);
    let columns = &mut Columns::default();
    let int = || cast(null(), LogicalType::Integer);
    let chosen = typing.nullif(int(), number("2"), AT, columns).unwrap();
    assert_eq!(
        shown(typing.infix("+", chosen, number("1"), AT, columns)),
        "integer:"
    );
    let greatest = typing.greatest(vec![int(), int()], AT, columns).unwrap();
    assert_eq!(greatest.ty(), Some(LogicalType::Integer));
    let branches = vec![(literal("f"), int())];
    let case = typing.case(None, branches, None, AT, columns).unwrap();
    assert_eq!(case.ty(), Some(LogicalType::Integer));
}

#[test]
fn literals_take_their_partners_type() {
    assert_eq!(infix("*", literal("5"), number("2")), "integer:10");
    let double = cast(literal("2"), LogicalType::Double);
    assert_eq!(infix("*", double, literal("-10")), "double precision:-20");
    assert_eq!(infix("*", literal("abc"), number("2")), "22P02");
    assert_eq!(infix("+", literal("1"), literal("2")), "42725");
    assert_eq!(infix("=", literal("1"), literal("1")), "boolean:t");
    assert_eq!(infix("||", literal("a"), literal("b")), "text:ab");
    assert_eq!(infix("||", number("3"), number("4.0")), "42883");
}

#[test]
fn parameters_take_the_first_type_they_meet() {
    let typing = Typing::new(&[None, Some(LogicalType::Date)]);
    let columns = &mut Columns::default();
    let x = column(LogicalType::BigInt, columns);
    let first = typing.parameter(0, AT);
    typing.infix("=", x, first, AT, columns).unwrap();
    assert_eq!(
        typing.parameter_types().unwrap(),
        [LogicalType::BigInt, LogicalType::Date]
    );
    assert_eq!(typing.parameter(0, AT).ty(), Some(LogicalType::BigInt));
    let third = typing.parameter(2, AT);
    typing.is_null(third, AT).unwrap();
    assert_eq!(typing.parameter_types().unwrap_err().state().0, "42P18");
    let second = typing.parameter(2, AT);
    typing
        .cast(second.clone(), LogicalType::Date, CastContext::Explicit, AT)
        .unwrap();
    let again = typing.cast(second, LogicalType::Integer, CastContext::Explicit, AT);
    assert_eq!(again.unwrap_err().state().0, "42P08");
}

#[test]
fn errors_have_postgresqls_codes_and_a_place() {
    let typing = Typing::new(&[]);
    let columns = &mut Columns::default();
    let truth = || cast(literal("t"), LogicalType::Boolean);
    let aggregate = |name: &str, arguments| {
        let call = typing.aggregate(name, AggregateArguments::of(arguments), AT);
        call.map(|c| c.calls[0].ty).map_err(|e| (e.state().0, e.span()))
    };
    assert_eq!(aggregate("sum", vec![truth()]), Err(("42883", AT)));
    assert_eq!(
        aggregate("sum", vec![number("1"), number("2")]),
        Err(("42883", AT))
    );
    assert_eq!(aggregate("count", vec![]), Err(("42809", AT)));
    assert_eq!(
        aggregate("avg", vec![cast(literal("2020-01-01"), LogicalType::Date)]),
        Err(("42883", AT))
    );
    assert_eq!(aggregate("sum", vec![literal("1")]), Ok(LogicalType::Double));
    let not = typing.not(number("1"), AT).unwrap_err();
    assert_eq!((not.state().0, not.span()), ("42804", AT));
    assert_eq!(
        not.message(),
        "argument of NOT must be type boolean, not type integer"
    );
    let text = cast(literal("x"), LogicalType::Text);
    let mixed = typing.coalesce(vec![number("1"), text], AT, columns);
    assert_eq!(
        mixed.unwrap_err().message(),
        "COALESCE types integer and text cannot be matched"
    );
    assert_eq!(call("lpad", vec![number("1"), number("2")]), "42883");
    assert_eq!(
        call("trim", vec![literal("a"), literal("b"), literal("c")]),
        "42883"
    );
    let date = || cast(literal("2020-01-01"), LogicalType::Date);
    assert_eq!(call("extract", vec![literal("hour"), date()]), "0A000");
    assert_eq!(
        call("date_part", vec![literal("hour"), date()]),
        "double precision:0"
    );
    assert_eq!(call("chr", vec![number("0")]).split(':').next(), Some("text"));
    let misspelt = typing
        .call("substing", vec![literal("a")], AT, columns)
        .unwrap_err();
    assert_eq!(misspelt.hint(), Some("did you mean substring?"));
}

#[test]
fn constants_yield_to_columns() {
    let typing = Typing::new(&[]);
    let columns = &mut Columns::default();
    let x = column(decimal(15, 2), columns);
    let compared = |op: &str, constant: Operand| {
        let e = typing.infix(op, x.clone(), constant, AT, &mut Columns::default());
        match e.and_then(|e| typing.settle(e)).unwrap().kind {
            ExprKind::Compare(op, l, r) => match (l.kind, r.kind) {
                (ExprKind::Column(_), ExprKind::Constant(v)) => {
                    format!("{} {}", op.symbol(), v.display(r.ty))
                }
                other => format!("{other:?}"),
            },
            other => format!("{other:?}"),
        }
    };
    assert_eq!(compared("<", number("0.055")), "<= 0.05");
    assert_eq!(compared(">=", literal("0.055")), "> 0.05");
    assert_eq!(compared("=", number("7")), "= 7.00");
    let flag = column(LogicalType::Char(1), columns);
    let equal = typing.infix("=", flag, literal("R"), AT, columns).unwrap();
    let ExprKind::Compare(CompareOp::Eq, _, r) = typing.settle(equal).unwrap().kind else {
        panic!("not a comparison");
    };
    assert_eq!(r.ty, LogicalType::Char(1));
}

#[test]
fn char_ignores_blanks_at_the_end() {
    let of = |text: &str, ty| cast(literal(text), ty);
    let char4 = || of("a", LogicalType::Char(4));
    assert_eq!(
        infix("=", char4(), of("a  ", LogicalType::Varchar(9))),
        "boolean:t"
    );
    assert_eq!(infix("=", char4(), literal("a  ")), "boolean:t");
    let typing = Typing::new(&[]);
    let columns = &mut Columns::default();
    let x = column(LogicalType::Char(4), columns);
    let chosen = typing
        .coalesce(vec![x.clone(), literal("longer")], AT, columns)
        .unwrap();
    let bpchar = LogicalType::Char(WITHOUT_LENGTH);
    assert_eq!(chosen.ty(), Some(bpchar));
    let text = || cast(literal("longer"), LogicalType::Text);
    let chosen = typing.coalesce(vec![x.clone(), text()], AT, columns).unwrap();
    assert_eq!(chosen.ty(), Some(bpchar));
    let chosen = typing.coalesce(vec![text(), x], AT, columns).unwrap();
    assert_eq!(chosen.ty(), Some(LogicalType::Text));
}

#[test]
fn intervals_compare_by_their_length() {
    let of = |text: &str| cast(literal(text), LogicalType::Interval);
    assert_eq!(infix("<", of("1 hour"), of("1 day")), "boolean:t");
    assert_eq!(infix("=", of("30 days"), of("1 month")), "boolean:t");
    assert_eq!(infix("=", of("1 day"), literal("24 hours")), "boolean:t");
}

#[test]
fn quotients_and_averages_are_numerics() {
    let typing = Typing::new(&[]);
    let columns = &mut Columns::default();
    let mut chain = number("75");
    for (op, text) in [("/", "145.0"), ("/", "3.0"), ("*", "100")] {
        chain = typing.infix(op, chain, number(text), AT, columns).unwrap();
    }
    assert_eq!(shown(Ok(chain)), "numeric:17.24137931034482758600");
    assert_eq!(
        infix("/", number("1e2"), number("3")),
        "numeric:33.3333333333333333"
    );
    let average = |ty| {
        let argument = cast(null(), ty);
        typing
            .aggregate("avg", AggregateArguments::of(vec![argument]), AT)
            .unwrap()
            .calls[0]
            .ty
    };
    for ty in [LogicalType::Integer, LogicalType::BigInt, decimal(38, 2)] {
        assert_eq!(average(ty), LogicalType::Numeric);
    }
    assert_eq!(average(LogicalType::Real), LogicalType::Double);
    // A quotient takes its operands as they are.
    let (whole, ratio_column) = (
        column(LogicalType::Integer, columns),
        column(decimal(38, 20), columns),
    );
    let inverse = typing.infix("/", whole, ratio_column, AT, columns).unwrap();
    let inverse = typing.settle(inverse).unwrap();
    let ExprKind::Arithmetic(ArithmeticOp::Div, dividend, divisor) = &inverse.kind else {
        panic!("not a quotient");
    };
    assert_eq!(inverse.ty, LogicalType::Numeric);
    assert_eq!((dividend.ty, divisor.ty), (LogicalType::Integer, decimal(38, 20)));
    // A product of quotients rounds instead of running out of digits.
    let ratio = || {
        typing
            .infix("/", number("1"), number("3.0"), AT, &mut Columns::default())
            .unwrap()
    };
    assert_eq!(
        infix("*", ratio(), ratio()),
        "numeric:0.11111111111111111110888888888888888889"
    );
}

/// A decimal that is compared with a numeric stays as it is: the numeric's bound at the decimal's scale is computed
/// beside it.
#[test]
fn decimals_are_compared_with_bounds_of_numerics() {
    let typing = Typing::new(&[]);
    let columns = &mut Columns::default();
    for (op, function) in [
        ("<", ScalarFunction::CeilToScale),
        ("<=", ScalarFunction::FloorToScale),
        (">", ScalarFunction::FloorToScale),
        (">=", ScalarFunction::CeilToScale),
    ] {
        let (price, average) = (
            column(decimal(15, 2), columns),
            column(LogicalType::Numeric, columns),
        );
        let compared = typing.infix(op, price, average, AT, columns).unwrap();
        let ExprKind::Compare(_, l, r) = typing.settle(compared).unwrap().kind else {
            panic!("not a comparison");
        };
        assert!(matches!(l.kind, ExprKind::Column(_)));
        assert!(
            matches!(r.kind, ExprKind::Function(f, _) if f == function),
            "{op}"
        );
        assert_eq!(r.ty, decimal(38, 2));
    }
}

#[test]
fn what_is_used_twice_is_computed_once() {
    let typing = Typing::new(&[]);
    let columns = &mut Columns::default();
    let mut nested = [0; 2];
    for (i, depth) in [(0, 20), (1, 40)] {
        let x = column(LogicalType::Integer, columns);
        let mut e = typing.prefix("-", x.clone(), AT, columns).unwrap();
        for _ in 0..depth {
            e = typing.infix("+", e, number("1"), AT, columns).unwrap();
            e = typing.coalesce(vec![e, number("0")], AT, columns).unwrap();
            e = typing.nullif(e, number("5"), AT, columns).unwrap();
            e = typing
                .greatest(vec![e, x.clone(), number("1")], AT, columns)
                .unwrap();
            e = typing
                .between(e, number("1"), x.clone(), BetweenKind::Ordered, AT, columns)
                .unwrap();
            e = typing
                .case(Some(e), vec![(literal("t"), x.clone())], None, AT, columns)
                .unwrap();
            e = typing.call("abs", vec![e], AT, columns).unwrap();
        }
        nested[i] = size(&typing.settle(e).unwrap());
    }
    assert!(nested[1] < nested[0] * 5 / 2, "{nested:?}");
}

#[test]
fn lists_of_constants_become_one_set() {
    let typing = Typing::new(&[]);
    let columns = &mut Columns::default();
    let x = column(LogicalType::Integer, columns);
    let items = (0..100_000)
        .map(|n| number(&(n % 50_000).to_string()))
        .chain([number("1e10")]);
    let found = typing.in_list(x.clone(), items.collect(), AT, columns).unwrap();
    let ExprKind::InList { list, .. } = typing.settle(found).unwrap().kind else {
        panic!("not a list");
    };
    assert_eq!(list.len(), 50_000);
    let with_null = typing.in_list(x, vec![number("1"), null()], AT, columns).unwrap();
    assert!(matches!(typing.settle(with_null).unwrap().kind, ExprKind::Or(_)));
}

#[test]
fn rows_compare_part_by_part() {
    let typing = Typing::new(&[]);
    let columns = &mut Columns::default();
    let mut compared = |op: &str, l: [&str; 2], r: [&str; 2]| {
        let parts = |row: [&str; 2]| row.map(number).to_vec();
        shown(typing.row_compare(op, parts(l), parts(r), AT, columns))
    };
    assert_eq!(compared("<", ["1", "2"], ["1", "3"]), "boolean:t");
    assert_eq!(compared("<=", ["1", "3"], ["1", "3"]), "boolean:t");
    assert_eq!(compared(">", ["1", "9"], ["2", "0"]), "boolean:f");
    assert_eq!(compared("=", ["1", "2"], ["1", "2"]), "boolean:t");
    assert_eq!(compared("<>", ["1", "2"], ["1", "2"]), "boolean:f");
    assert_eq!(
        shown(typing.row_compare("=", vec![number("1")], vec![], AT, columns)),
        "42601"
    );
}

#[test]
fn functions_refuse_what_is_too_long() {
    let typing = Typing::new(&[]);
    let negative = typing
        .prefix("-", number("1"), AT, &mut Columns::default())
        .unwrap();
    assert_eq!(call("lpad", vec![literal("a"), negative]), "text:");
    let lengths = ["2000000000", "100000000"].map(|l| ["lpad", "rpad", "repeat"].map(|n| (n, l)));
    for (name, length) in lengths.into_iter().flatten() {
        let typing = Typing::new(&[]);
        let e = typing.call(
            name,
            vec![literal("a"), number(length)],
            AT,
            &mut Columns::default(),
        );
        let e = typing.settle(e.unwrap()).unwrap();
        // It fails where a row is reached, not before; long results are not made while binding.
        assert!(matches!(e.kind, ExprKind::VectorFunction(..)), "{name}");
    }
}

#[test]
fn findings_of_functions() {
    assert_eq!(call("to_hex", vec![number("1")]), "text:1");
    let negative = Typing::new(&[])
        .prefix("-", number("1"), AT, &mut Columns::default())
        .unwrap();
    assert_eq!(call("to_hex", vec![negative.clone()]), "text:ffffffff");
    assert_eq!(
        call("to_hex", vec![cast(negative, LogicalType::BigInt)]),
        "text:ffffffffffffffff"
    );
    let truth = cast(literal("t"), LogicalType::Boolean);
    assert_eq!(call("concat", vec![truth, null(), number("1")]), "text:t1");
    let nan = cast(literal("nan"), LogicalType::Double);
    assert_eq!(
        infix("/", nan, cast(literal("0"), LogicalType::Double)),
        "double precision:NaN"
    );
    assert_eq!(
        call("substring", vec![literal("foobar"), literal("o(.)b")]),
        "text:o"
    );
    assert_eq!(
        call(
            "overlay",
            vec![literal("Txxxxas"), literal("hom"), number("2"), number("4")]
        ),
        "text:Thomas"
    );
}

#[test]
fn dates_move_by_days_and_intervals() {
    let date = || cast(literal("2024-01-31"), LogicalType::Date);
    let interval = |text: &str| cast(literal(text), LogicalType::Interval);
    assert_eq!(infix("+", date(), number("1")), "date:2024-02-01");
    assert_eq!(infix("-", date(), date()), "integer:0");
    assert_eq!(
        infix("+", date(), interval("1 month")),
        "timestamp:2024-02-29 00:00:00"
    );
    assert_eq!(
        infix("+", date(), interval("1 hour")),
        "timestamp:2024-01-31 01:00:00"
    );
    assert_eq!(infix("+", date(), literal("1")), "42725");
    let typing = Typing::new(&[]);
    let columns = &mut Columns::default();
    let days = column(LogicalType::Integer, columns);
    let moved = typing.infix("+", date(), days.clone(), AT, columns).unwrap();
    assert_eq!(moved.ty(), Some(LogicalType::Date));
    let spans = typing.infix("*", interval("1 day"), days, AT, columns).unwrap();
    let moved = typing.infix("+", date(), spans, AT, columns).unwrap();
    assert_eq!(moved.ty(), Some(LogicalType::TIMESTAMP));
    let field = typing.interval_literal("3", "day", None, AT).unwrap();
    assert_eq!(shown(Ok(field)), "interval:3 days");
}

#[test]
fn literals_at_the_edge_of_a_type_come_back_into_it() {
    let negated = |text| shown(Typing::new(&[]).prefix("-", number(text), AT, &mut Columns::default()));
    assert_eq!(negated("2147483648"), "integer:-2147483648");
    assert_eq!(negated("9223372036854775808"), "bigint:-9223372036854775808");
    let kept = match Typing::new(&[]).prefix("-", literal("5"), AT, &mut Columns::default()) {
        Err(e) => e.state().0,
        Ok(_) => "typed",
    };
    assert_eq!(kept, "42725");
    let product = infix(
        "*",
        number("99999999999999999999"),
        number("99999999999999999999"),
    );
    assert!(product.contains(&format!("{:?}", ArithmeticOp::Mul)), "{product}");
}
