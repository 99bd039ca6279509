//! How long a function of generated code may be. Nothing hears a cancel while one is compiled, so there is a limit, and
//! an expression that cannot keep to it is refused before time goes into planning it.

use crate::{Expr, ExprKind, Operator, Plan};
use frazil_types::{Error, Result, SqlState};

/// A function of more instructions than this is refused.
pub const LONGEST_FUNCTION: usize = 50_000;

/// An expression of more operations than this is refused: each takes an instruction or more. It is more than the limit,
/// because calls of vector functions cut an expression into parts for several functions.
const MOST_OPERATIONS: usize = LONGEST_FUNCTION / 2 * 3;

/// Error 54001 for a function of that many instructions, if they are too many.
pub fn check_instructions(instructions: usize) -> Result<()> {
    if instructions <= LONGEST_FUNCTION {
        return Ok(());
    }
    Err(Error::new(
        SqlState::STATEMENT_TOO_COMPLEX,
        "the statement is too long to be compiled",
    )
    .with_detail(format!(
        "a function of it has more than {LONGEST_FUNCTION} instructions"
    ))
    .with_hint("split it into several statements, or store intermediate results in a table"))
}

/// Error 54001 for a plan with an expression that no function can hold. Constants are folded before.
pub fn check(plan: &Plan) -> Result<()> {
    plan.trees().try_for_each(check_tree)
}

fn check_tree(op: &Operator) -> Result<()> {
    for e in op.expressions() {
        let operations = operations(e);
        if operations > MOST_OPERATIONS {
            check_instructions(operations)?;
        }
    }
    op.inputs().into_iter().try_for_each(check_tree)
}

/// Parts of an expression for which there is code of their own.
fn operations(e: &Expr) -> usize {
    let mut count = 0;
    e.walk(&mut |part| {
        use ExprKind::*;
        let is_given = matches!(
            part.kind,
            Column(_) | Constant(_) | Parameter(_) | ScalarSubquery(_) | Let { .. }
        );
        count += usize::from(!is_given);
    });
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::Values;
    use frazil_types::{LogicalType, Value};

    #[test]
    fn an_expression_that_no_function_can_hold_is_refused() {
        let tree = |operations: usize| {
            let truth = || Box::new(Expr::constant(Value::Bool(true), LogicalType::Boolean));
            let parts = (1..operations).map(|_| Expr::boolean(ExprKind::Not(truth()), false));
            let all = Expr::boolean(ExprKind::And(parts.collect()), false);
            Operator::Values(Values {
                columns: Vec::new(),
                rows: vec![vec![all]],
            })
        };
        assert!(check_tree(&tree(MOST_OPERATIONS)).is_ok());
        let error = check_tree(&tree(MOST_OPERATIONS + 1)).unwrap_err();
        assert_eq!(error.state(), SqlState::STATEMENT_TOO_COMPLEX);
    }
}
