//! Functions that the code generator does not know, behind [`VectorFunction`].

use crate::query::typing::Typing;
use datafusion_expr::ScalarUDF;
use frazil_plan::Expr;
use frazil_types::{Error, Result};
use std::sync::Arc;

pub(crate) fn find(_name: &str) -> Option<Arc<ScalarUDF>> {
    None
}

pub(crate) fn call(udf: &ScalarUDF, _arguments: Vec<Expr>, _typing: &Typing) -> Result<Expr> {
    Err(Error::unsupported(format!("function {}", udf.name())))
}

pub(crate) fn date_trunc(unit: &str, _value: Expr) -> Result<Expr> {
    Err(Error::unsupported(format!("date_trunc to {unit}")))
}
