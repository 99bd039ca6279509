//! Functions the code generator does not know: they run as vector kernels across a stage boundary.
//! `plan` owns the trait, `frontend` supplies the functions behind it.

use frazil_types::{ColumnVector, LogicalType, Result};
use std::fmt;
use std::sync::Arc;

/// A function over whole vectors.
pub trait VectorFunction: Send + Sync {
    /// Its SQL name.
    fn name(&self) -> &str;
    /// Evaluates `rows` rows at once. Constants come as vectors of `rows` rows too.
    fn evaluate(&self, arguments: &[ColumnVector], rows: usize, result: LogicalType) -> Result<ColumnVector>;
}

/// A shared vector function.
#[derive(Clone)]
pub struct VectorFunctionRef(pub Arc<dyn VectorFunction>);

impl fmt::Debug for VectorFunctionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl PartialEq for VectorFunctionRef {
    fn eq(&self, other: &VectorFunctionRef) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
