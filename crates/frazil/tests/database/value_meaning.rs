//! What generated code computes is what `types/value_ops` says: every cast, comparison and operation on values at the edges
//! of their types, from hot rows and from frozen ones, whose bounds let checks be left out.

use crate::edge_values::{Edges, TYPES};
use crate::{memory, rows};
use frazil::{Connection, LogicalType, Outcome, RawValue as Value, SqlState, Statement};
use frazil_types::sql_type::Category;
use frazil_types::value_ops::casts::{self, CastContext};
use frazil_types::value_ops::{self, ArithmeticOp, CastLength};
use frazil_types::{CompareOp, Kind, NativeType};

/// A table of the edge values: row `i` has each type's value number `i`, NULL where there are fewer.
fn table(is_frozen: bool) -> Connection {
    let c = memory();
    let columns = TYPES.iter().map(|t| format!(", {} {}", t.column(), t.stored()));
    rows(
        &c,
        &format!("create table edges (i integer{})", columns.collect::<String>()),
    );
    let most = TYPES.iter().map(|t| t.texts.len()).max().unwrap_or(0);
    for i in 0..=most {
        let values = TYPES.iter().map(|t| format!(", {}", t.literal(i)));
        rows(
            &c,
            &format!("insert into edges values ({i}{})", values.collect::<String>()),
        );
    }
    if is_frozen {
        rows(&c, "freeze edges");
    }
    c
}

/// The values of the only row that a statement gives, or the state of its error.
fn answer(statement: &Statement, parameters: &[Value]) -> Result<Vec<Value>, SqlState> {
    let response = statement.execute(parameters).map_err(|e| e.state())?;
    match response.outcome {
        Outcome::Rows(rows) => Ok(rows.raw().next().expect("a row")),
        Outcome::Command { .. } => panic!("a command"),
    }
}

/// A statement of so many parameters that is bound, and the types of its columns.
fn bound(c: &Connection, sql: &str, parameters: usize) -> Result<(Statement, Vec<LogicalType>), SqlState> {
    let statement = c.prepare(sql).map_err(|e| e.state())?;
    let none = vec![Value::Null; parameters];
    let response = statement.execute(&none).map_err(|e| e.state())?;
    let Outcome::Rows(rows) = response.outcome else {
        panic!("a command")
    };
    let types = rows.schema().columns.iter().map(|column| column.ty);
    Ok((statement, types.collect()))
}

fn position(i: usize) -> Value {
    Value::Int(i as i128)
}

/// What a value is and what generated code makes of it, where the two differ.
fn note<T: PartialEq + std::fmt::Debug>(differences: &mut Vec<String>, what: String, wanted: T, found: T) {
    if wanted != found {
        differences.push(format!("{what}: {found:?}, but value_ops: {wanted:?}"));
    }
}

fn hold(differences: Vec<String>) {
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn casts_are_those_of_value_ops() {
    let mut differences = Vec::new();
    for c in [table(false), table(true)] {
        for from in TYPES {
            for to in TYPES {
                cast_all(&c, from, to, &mut differences);
            }
        }
    }
    hold(differences);
}

fn cast_all(c: &Connection, from: &Edges, to: &Edges, differences: &mut Vec<String>) {
    let sql = format!(
        "select cast({} as {}) from edges where i = $1",
        from.source(),
        to.ty
    );
    let exists = casts::between(from.ty, to.ty).is_some_and(|cast| cast.context <= CastContext::Explicit);
    let statement = match bound(c, &sql, 1) {
        Ok((statement, types)) => {
            // Values in hand have all digits of a second.
            assert_eq!(types, [to.ty.with_all_digits()], "{sql}");
            statement
        }
        Err(state) => {
            note(
                differences,
                sql,
                (false, SqlState::CANNOT_COERCE),
                (exists, state),
            );
            return;
        }
    };
    assert!(exists, "{sql}");
    for (i, value) in from.values().iter().chain([&Value::Null]).enumerate() {
        let wanted = value_ops::cast(value, from.ty, to.ty, CastLength::Cut);
        let wanted = wanted.map(|v| vec![v]).map_err(|e| e.state());
        let found = answer(&statement, &[position(i)]);
        note(
            differences,
            format!("{value:?} of {} as {}", from.ty, to.ty),
            wanted,
            found,
        );
    }
}

/// Two values in one type that both become without being asked, if there is one.
fn aligned(l: (&Value, LogicalType), r: (&Value, LogicalType)) -> Option<(Value, Value)> {
    let is_implicit = |from: LogicalType, to: LogicalType| {
        casts::between(from, to).is_some_and(|cast| cast.context == CastContext::Implicit)
    };
    let to = match () {
        // Reals are compared with other numbers as doubles.
        () if l.1 != r.1 && [l.1, r.1].contains(&LogicalType::Real) => LogicalType::Double,
        () if is_implicit(l.1, r.1) => r.1,
        () => l.1,
    };
    // Nothing is rounded for a comparison.
    let to = to.with_all_digits();
    let both = [l, r].map(|(value, ty)| value_ops::cast(value, ty, to, CastLength::Refuse).ok());
    let [Some(l), Some(r)] = both else { return None };
    Some((l, r))
}

const COMPARISONS: [CompareOp; 6] = [
    CompareOp::Eq,
    CompareOp::Ne,
    CompareOp::Lt,
    CompareOp::Le,
    CompareOp::Gt,
    CompareOp::Ge,
];

/// What the comparisons of two values give. `None` where no rule of value_ops alone says it: dates beyond timestamps.
fn compared(l: (&Value, LogicalType), r: (&Value, LogicalType)) -> Option<Vec<Value>> {
    if l.0.is_null() {
        // An operand becomes one of the common type by itself, whatever stands beside it.
        return aligned(l, r).map(|_| vec![Value::Null; COMPARISONS.len()]);
    }
    let ordering = match (l.0, l.1.scale(), r.0, r.1.scale()) {
        (Value::Int(a), Some(sa), Value::Int(b), Some(sb)) => value_ops::compare_decimals((*a, sa), (*b, sb)),
        _ => {
            let ty = l.1;
            let (l, r) = aligned(l, r)?;
            match ty.has_order_key() {
                true => value_ops::order_as(&l, &r, ty)?,
                false => value_ops::order(&l, &r)?,
            }
        }
    };
    Some(COMPARISONS.map(|op| Value::Bool(op.holds(ordering))).to_vec())
}

#[test]
fn comparisons_are_those_of_value_ops() {
    let mut differences = Vec::new();
    for c in [table(false), table(true)] {
        for l in TYPES.iter().filter(|t| t.ty.is_comparable()) {
            let alike = |r: &&Edges| match l.ty.info().category {
                // Of two kinds of strings, char(n) among them, the rules of typing decide which of them is compared.
                // What has no family is one by itself.
                Category::Array => l.ty == r.ty,
                Category::String | Category::UserDefined => l.ty.kind() == r.ty.kind(),
                // Times are compared with no day.
                Category::DateTime if [l.ty, r.ty].iter().any(|ty| ty.kind() == Kind::Time) => {
                    l.ty.kind() == r.ty.kind()
                }
                category => category == r.ty.info().category,
            };
            for r in TYPES.iter().filter(alike) {
                compare_all(&c, l, r, &mut differences);
            }
        }
    }
    hold(differences);
}

fn compare_all(c: &Connection, l: &Edges, r: &Edges, differences: &mut Vec<String>) {
    let comparison = |op: &CompareOp| format!("{} {} $2::{}", l.source(), op.symbol(), r.ty);
    let list = COMPARISONS.iter().map(comparison).collect::<Vec<_>>().join(", ");
    let sql = format!("select {list} from edges where i = $1");
    let (statement, _) = bound(c, &sql, 2).unwrap_or_else(|e| panic!("{sql}: {e:?}"));
    for (i, a) in l.values().iter().chain([&Value::Null]).enumerate() {
        for (text, b) in r.texts.iter().zip(r.values()) {
            let Some(wanted) = compared((a, l.ty), (&b, r.ty)) else {
                continue;
            };
            let found = answer(&statement, &[position(i), Value::Text(text.to_string())]);
            note(
                differences,
                format!("{a:?} of {} against {text} of {}", l.ty, r.ty),
                Ok(wanted),
                found,
            );
        }
    }
}

const OPERATIONS: [ArithmeticOp; 5] = [
    ArithmeticOp::Add,
    ArithmeticOp::Sub,
    ArithmeticOp::Mul,
    ArithmeticOp::Div,
    ArithmeticOp::Rem,
];

#[test]
fn arithmetic_is_that_of_value_ops() {
    let mut differences = Vec::new();
    let numbers = || TYPES.iter().filter(|t| t.ty.is_numeric());
    for c in [table(false), table(true)] {
        for l in numbers() {
            for r in numbers() {
                for op in OPERATIONS {
                    compute_all(&c, l, op, r, &mut differences);
                }
            }
        }
    }
    hold(differences);
}

fn compute_all(c: &Connection, l: &Edges, op: ArithmeticOp, r: &Edges, differences: &mut Vec<String>) {
    let sql = format!(
        "select {} {} $2::{} from edges where i = $1",
        l.source(),
        op.symbol(),
        r.ty
    );
    let has_double = [l, r].iter().any(|t| t.ty.native() == NativeType::F64);
    let (statement, ty) = match bound(c, &sql, 2) {
        Ok((statement, types)) => (statement, types[0]),
        // PostgreSQL has no remainder of doubles.
        Err(state) => {
            assert!(op == ArithmeticOp::Rem && has_double, "{sql}: {state:?}");
            return;
        }
    };
    for (i, a) in l.values().iter().chain([&Value::Null]).enumerate() {
        for (text, b) in r.texts.iter().zip(r.values()) {
            let wanted = computed(op, (a, l.ty), (&b, r.ty), ty);
            let found = answer(&statement, &[position(i), Value::Text(text.to_string())]);
            let what = format!("{a:?} of {} {} {text} of {}", l.ty, op.symbol(), r.ty);
            note(differences, what, wanted, found);
        }
    }
}

/// What an operation gives as a value of type `ty`: of doubles, if one operand is one.
fn computed(
    op: ArithmeticOp,
    l: (&Value, LogicalType),
    r: (&Value, LogicalType),
    ty: LogicalType,
) -> Result<Vec<Value>, SqlState> {
    // An operand gets the result's scale by itself, whatever stands beside it.
    if let (true, ArithmeticOp::Add | ArithmeticOp::Sub) = (l.0.is_null(), op) {
        value_ops::cast(r.0, r.1, ty, CastLength::Refuse).map_err(|e| e.state())?;
    }
    let result = if ty.native() == NativeType::F64 {
        let double = LogicalType::Double;
        let [l, r] = [l, r].map(|(v, from)| value_ops::cast(v, from, double, CastLength::Refuse));
        let (l, r) = (l.expect("a double"), r.expect("a double"));
        value_ops::arithmetic(op, (&l, double), (&r, double), double)
            .and_then(|v| value_ops::cast(&v, double, ty, CastLength::Refuse))
    } else {
        value_ops::arithmetic(op, l, r, ty)
    };
    result.map(|value| vec![value]).map_err(|e| e.state())
}
