//! Expressions, each with NULL among its inputs, against values worked out by hand.

mod support;

use frazil_plan::operators::{Map, Sort};
use frazil_plan::{ArithmeticOp, DatePart, Expr, ExprKind, Operator, RowCount, ScalarFunction, SortKey};
use frazil_types::numeric::Numeric;
use frazil_types::{CompareOp, Interval, LogicalType, Result, Span, Value};
use support::{Maker, compare, int};

const INT: LogicalType = LogicalType::Integer;
const BIG: LogicalType = LogicalType::BigInt;
const TEXT: LogicalType = LogicalType::Text;
const MONEY: LogicalType = LogicalType::Decimal {
    precision: 15,
    scale: 2,
};

fn decimal(precision: u8, scale: u8) -> LogicalType {
    LogicalType::Decimal { precision, scale }
}

fn text(t: &str) -> Value {
    Value::Text(t.into())
}

fn make(kind: ExprKind, ty: LogicalType) -> Expr {
    Expr {
        kind,
        ty,
        nullable: true,
        span: Span::NONE,
    }
}

/// The value of an expression over one column for each input, or the error of the first that has none.
fn evaluated(ty: LogicalType, inputs: &[Value], f: impl Fn(Expr) -> Expr) -> Result<Vec<Value>> {
    let mut m = Maker::default();
    let rows: Vec<Vec<Value>> = inputs.iter().map(|v| vec![v.clone()]).collect();
    let (input, c) = m.values(&[ty], &rows);
    let e = f(m.column(c[0]));
    let x = m.add(e.ty, true);
    let root = Operator::Map(Map {
        input: Box::new(input),
        expressions: vec![(x, e)],
    });
    let rows = m.run(root, &[x])?;
    Ok(rows.into_iter().map(|mut r| r.remove(0)).collect())
}

/// The value of an expression over one column for each input, all of which have one.
fn over(ty: LogicalType, inputs: &[Value], f: impl Fn(Expr) -> Expr) -> Vec<Value> {
    evaluated(ty, inputs, f).unwrap()
}

fn ints(values: &[i128]) -> Vec<Value> {
    values.iter().map(|&v| Value::Int(v)).collect()
}

#[test]
fn arithmetic() {
    let op =
        |op, ty, r: Expr| move |e: Expr| make(ExprKind::Arithmetic(op, Box::new(e), Box::new(r.clone())), ty);
    let in_ = ints(&[7, -7, 0, i128::from(i32::MIN) + 5]);
    assert_eq!(
        over(INT, &in_, op(ArithmeticOp::Div, INT, int(2, INT)))[..3],
        ints(&[3, -3, 0])
    );
    assert_eq!(
        over(INT, &in_, op(ArithmeticOp::Rem, INT, int(-1, INT)))[..3],
        ints(&[0, 0, 0])
    );
    assert_eq!(
        over(INT, &in_[..3], op(ArithmeticOp::Mul, INT, int(100, INT))),
        ints(&[700, -700, 0])
    );
    let product = op(ArithmeticOp::Mul, decimal(30, 4), int(99_999_999_999_999, MONEY));
    let most = 99_999_999_999_999i128;
    assert_eq!(
        over(MONEY, &[Value::Int(most), Value::Null], product),
        [Value::Int(most * most), Value::Null]
    );
    let quotient = op(ArithmeticOp::Div, LogicalType::Numeric, int(300, MONEY));
    let quotients = ["0.33333333333333333333", "-0.66666666666666666667"];
    assert_eq!(
        over(MONEY, &ints(&[100, -200]), quotient),
        quotients.map(|text| Value::from(Numeric::read(text).unwrap()))
    );
    let wide = decimal(38, 0);
    let big = 9 * 10i128.pow(37);
    let sum = op(ArithmeticOp::Sub, wide, int(big, wide));
    assert_eq!(over(wide, &ints(&[big, 1]), sum), ints(&[0, 1 - big]));
    assert_eq!(
        over(INT, &ints(&[5]), |e| make(ExprKind::Negate(Box::new(e)), INT)),
        ints(&[-5])
    );
}

#[test]
fn logic_is_three_valued() {
    let b = |v: Option<bool>| v.map_or(Value::Null, Value::Bool);
    let all = [Some(true), Some(false), None];
    let mut m = Maker::default();
    let mut rows = Vec::new();
    for x in all {
        for y in all {
            rows.push(vec![b(x), b(y)]);
        }
    }
    let (input, c) = m.values(&[LogicalType::Boolean; 2], &rows);
    let (x, y) = (m.column(c[0]), m.column(c[1]));
    // One cheap, one by branches.
    let costly = |e: &Expr| compare(CompareOp::Ne, text_of(e), Expr::constant(text("false"), TEXT));
    let parts = [
        make(ExprKind::And(vec![x.clone(), y.clone()]), LogicalType::Boolean),
        make(ExprKind::Or(vec![x.clone(), y.clone()]), LogicalType::Boolean),
        make(ExprKind::And(vec![costly(&x), costly(&y)]), LogicalType::Boolean),
        make(ExprKind::Or(vec![costly(&x), costly(&y)]), LogicalType::Boolean),
        make(ExprKind::Not(Box::new(x.clone())), LogicalType::Boolean),
        make(ExprKind::IsNull(Box::new(y.clone())), LogicalType::Boolean),
        make(
            ExprKind::Distinct {
                left: Box::new(x),
                right: Box::new(y),
                negated: false,
            },
            LogicalType::Boolean,
        ),
    ];
    let ids: Vec<_> = parts.iter().map(|_| m.add(LogicalType::Boolean, true)).collect();
    let root = Operator::Map(Map {
        input: Box::new(input),
        expressions: ids.iter().copied().zip(parts).collect(),
    });
    let got = m.run(root, &ids).unwrap();
    let mut at = 0;
    for x in all {
        for y in all {
            let and = if x == Some(false) || y == Some(false) {
                Some(false)
            } else {
                x.and(y).map(|_| true)
            };
            let or = if x == Some(true) || y == Some(true) {
                Some(true)
            } else {
                x.and(y).map(|_| false)
            };
            let want = [and, or, and, or, x.map(|v| !v), Some(y.is_none()), Some(x != y)];
            assert_eq!(got[at], want.map(b), "{x:?} {y:?}");
            at += 1;
        }
    }
}

fn text_of(e: &Expr) -> Expr {
    make(ExprKind::Cast(Box::new(e.clone())), TEXT)
}

#[test]
fn casts() {
    let cast = |ty| move |e: Expr| make(ExprKind::Cast(Box::new(e)), ty);
    assert_eq!(
        over(INT, &[Value::Int(5), Value::Null], cast(MONEY)),
        [Value::Int(500), Value::Null]
    );
    assert_eq!(
        over(MONEY, &ints(&[250, -250, 149]), cast(INT)),
        ints(&[3, -3, 1])
    );
    assert_eq!(
        over(MONEY, &ints(&[250]), cast(LogicalType::Double)),
        [Value::Double(2.5)]
    );
    assert_eq!(
        over(
            LogicalType::Double,
            &[Value::Double(2.5), Value::Double(3.5)],
            cast(BIG)
        ),
        ints(&[2, 4])
    );
    assert_eq!(over(MONEY, &ints(&[-5]), cast(TEXT)), [text("-0.05")]);
    assert_eq!(
        over(TEXT, &[text("12.345"), Value::Null], cast(MONEY)),
        [Value::Int(1235), Value::Null]
    );
    assert_eq!(
        over(TEXT, &[text("1998-09-02")], cast(LogicalType::Date)),
        ints(&[10_471])
    );
    assert_eq!(
        over(LogicalType::Date, &ints(&[10_471]), cast(TEXT)),
        [text("1998-09-02")]
    );
    // What is too long is refused, save blanks: where SQL cuts, the binder takes a substring first.
    let short = LogicalType::Varchar(5);
    assert_eq!(
        over(TEXT, &[text("a text")], cast(LogicalType::Varchar(6))),
        [text("a text")]
    );
    assert_eq!(over(TEXT, &[text("a tex        ")], cast(short)), [text("a tex")]);
    let long = text("a text of more than twelve bytes");
    let refused = evaluated(TEXT, &[long], cast(short)).unwrap_err();
    assert_eq!(refused.state().0, "22001");
    assert_eq!(
        over(INT, &ints(&[1, 0]), cast(LogicalType::Boolean)),
        [Value::Bool(true), Value::Bool(false)]
    );
    assert_eq!(over(LogicalType::Char(1), &ints(&[65]), cast(TEXT)), [text("A")]);
}

#[test]
fn strings() {
    let f = |function, more: Vec<Expr>| {
        move |e: Expr| {
            let ty = match function {
                ScalarFunction::Length | ScalarFunction::Position => INT,
                _ => TEXT,
            };
            make(ExprKind::Function(function, [vec![e], more.clone()].concat()), ty)
        }
    };
    let in_ = [text("Straße nach Süden, sehr lang"), Value::Null, text(" ab ")];
    assert_eq!(
        over(TEXT, &in_, f(ScalarFunction::Length, vec![])),
        [Value::Int(28), Value::Null, Value::Int(4)]
    );
    let upper = over(TEXT, &in_, f(ScalarFunction::Upper, vec![]));
    assert_eq!(upper[2], text(" AB "));
    let part = f(ScalarFunction::Substring, vec![int(5, BIG), int(2, BIG)]);
    assert_eq!(over(TEXT, &in_, part), [text("ße"), Value::Null, text("")]);
    assert_eq!(over(TEXT, &in_, f(ScalarFunction::Trim, vec![]))[2], text("ab"));
    let joined = f(
        ScalarFunction::Concat,
        vec![Expr::constant(text(" and a long end of it"), TEXT)],
    );
    assert_eq!(over(TEXT, &in_, joined)[2], text(" ab  and a long end of it"));
    let like = |pattern: &str| {
        let pattern = pattern.to_string();
        move |e: Expr| {
            make(
                ExprKind::Like {
                    value: Box::new(e),
                    pattern: pattern.clone(),
                    escape: Some('\\'),
                    negated: true,
                },
                LogicalType::Boolean,
            )
        }
    };
    assert_eq!(
        over(TEXT, &in_, like("%nach%lang")),
        [Value::Bool(false), Value::Null, Value::Bool(true)]
    );
    for op in [CompareOp::Lt, CompareOp::Ge, CompareOp::Eq, CompareOp::Ne] {
        let right = Expr::constant(text("Straße nach Süden, sehr kurz"), TEXT);
        let got = over(TEXT, &in_, |e| compare(op, e, right.clone()));
        let holds =
            |l: &str| Value::Bool(op.holds(l.as_bytes().cmp("Straße nach Süden, sehr kurz".as_bytes())));
        assert_eq!(
            got,
            [holds("Straße nach Süden, sehr lang"), Value::Null, holds(" ab ")]
        );
    }
}

#[test]
fn lists_and_cases() {
    let in_list = |list: Vec<Value>| {
        move |e: Expr| {
            make(
                ExprKind::InList {
                    value: Box::new(e),
                    list: list.clone(),
                    negated: false,
                },
                LogicalType::Boolean,
            )
        }
    };
    let yes = Value::Bool(true);
    let no = Value::Bool(false);
    let in_ = [Value::Int(3), Value::Int(-40), Value::Null];
    for list in [vec![3, 5], vec![1, 2, 3, 60], vec![3, 1000, 99_999, 7, 8]] {
        assert_eq!(
            over(INT, &in_, in_list(ints(&list))),
            [yes.clone(), no.clone(), Value::Null]
        );
    }
    let words = [
        text("MAIL"),
        text("a word of many letters"),
        Value::Null,
        text("x"),
    ];
    let list = vec![text("MAIL"), text("a word of many letters")];
    assert_eq!(
        over(TEXT, &words, in_list(list)),
        [yes.clone(), yes, Value::Null, no]
    );
    let case = |e: Expr| {
        let safe = make(
            ExprKind::Arithmetic(ArithmeticOp::Div, Box::new(int(10, INT)), Box::new(e.clone())),
            INT,
        );
        let condition = compare(CompareOp::Ne, e, int(0, INT));
        make(
            ExprKind::Case {
                branches: vec![(condition, safe)],
                otherwise: Some(Box::new(int(-1, INT))),
            },
            INT,
        )
    };
    assert_eq!(
        over(INT, &[Value::Int(5), Value::Int(0), Value::Null], case),
        ints(&[2, -1, -1])
    );
}

#[test]
fn dates_and_numbers() {
    let date = LogicalType::Date;
    let in_ = [Value::Int(10_471), Value::Null];
    let year = |e: Expr| make(ExprKind::Extract(DatePart::Year, Box::new(e)), BIG);
    assert_eq!(over(date, &in_, year), [Value::Int(1998), Value::Null]);
    let later = |e: Expr| {
        let interval = Interval {
            months: 1,
            days: 1,
            micros: 0,
        };
        make(ExprKind::AddInterval(Box::new(e), interval), date)
    };
    assert_eq!(over(date, &in_, later), [Value::Int(10_471 + 31), Value::Null]);
    let round = |e: Expr| {
        make(
            ExprKind::Function(ScalarFunction::Round, vec![e, int(1, INT)]),
            MONEY,
        )
    };
    assert_eq!(
        over(MONEY, &ints(&[125, -125, 149]), round),
        ints(&[130, -130, 150])
    );
    let double = LogicalType::Double;
    let sqrt = |e: Expr| make(ExprKind::Function(ScalarFunction::Sqrt, vec![e]), double);
    assert_eq!(
        over(double, &[Value::Double(9.0), Value::Null], sqrt),
        [Value::Double(3.0), Value::Null]
    );
    let nan = [Value::Double(f64::NAN), Value::Double(1.0)];
    let above = |e: Expr| compare(CompareOp::Gt, e, Expr::constant(Value::Double(1e300), double));
    assert_eq!(over(double, &nan, above), [Value::Bool(true), Value::Bool(false)]);
}

#[test]
fn sorts_with_limit_and_nulls() {
    let mut m = Maker::default();
    let rows: Vec<Vec<Value>> = (0..500)
        .map(|i| {
            let key = if i % 50 == 7 {
                Value::Null
            } else {
                Value::Int((i * 37) % 101)
            };
            vec![key, text(&format!("row number {i:06}"))]
        })
        .collect();
    let (input, c) = m.values(&[INT, TEXT], &rows);
    let key = |column, descending, nulls_first| SortKey {
        column,
        descending,
        nulls_first,
    };
    let root = Operator::Sort(Sort {
        input: Box::new(input),
        keys: vec![key(c[0], true, true), key(c[1], false, false)],
        limit: Some(RowCount::Constant(20)),
        offset: RowCount::Constant(3),
    });
    let mut want = rows;
    want.sort_by_key(|r| {
        (
            r[0].as_int().map_or(i128::MIN, |v| -v),
            r[1].as_text().map(str::to_string),
        )
    });
    assert_eq!(m.run(root, &c).unwrap(), want[3..23].to_vec());
}
