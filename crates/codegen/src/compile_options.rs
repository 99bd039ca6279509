//! How a plan is to be compiled.

use frazil_kernels::Isa;
use frazil_storage::HotLayout;
use frazil_types::{Cancel, ObjectId};
use std::sync::Arc;

/// How generated code reads hot chunks, whose rows lie in memPAX(k) (Runtime Fragility, section 2, dimension 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PaxCode {
    /// It does not: the scan lends columns that lie side by side and gathers those that do not.
    #[default]
    Gathered,
    /// Where they lie, by code made for the table's k; chunks of another k by code that reads k. Gathered where the
    /// table has no layout to make code for.
    CompileTime,
    /// Where they lie, by code that reads k from the context.
    RunTime,
}

/// The layout of a table's hot chunks, if it has any.
pub type HotLayoutOf<'a> = dyn Fn(ObjectId) -> Option<Arc<HotLayout>> + 'a;

/// What several threads run: each takes pieces of work until there are none.
pub type Task = Arc<dyn Fn(usize) + Send + Sync>;

/// Threads that compile along.
#[derive(Clone)]
pub struct Helpers {
    /// Threads in all, the caller's among them.
    pub workers: usize,
    /// Runs a task on at most so many threads; returns when all that took part have ended.
    pub run: Arc<dyn Fn(usize, Task) + Send + Sync>,
}

impl std::fmt::Debug for Helpers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Helpers({})", self.workers)
    }
}

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// Let Cranelift optimize: somewhat slower to compile, somewhat faster to run.
    pub optimize: bool,
    /// Let Cranelift verify what it is given: for tests, as it costs half the compile time again.
    pub verify: bool,
    /// Keep the CLIF text.
    pub text: bool,
    /// Use no instruction beyond this set; the machine's best if `None`.
    pub isa: Option<Isa>,
    /// How hot chunks are read.
    pub pax_code: PaxCode,
    /// Rows of a stage vector, if others than [`STAGE_ROWS`](frazil_types::STAGE_ROWS).
    pub vector_rows: Option<usize>,
    /// Rows of a stage vector whose build rows are asked for together, if others than
    /// [`STAGE_ROWS`](frazil_types::STAGE_ROWS); 0: none are asked for before they are read.
    pub prefetch_rows: Option<usize>,
    /// Asked between the functions: a plan may have thousands.
    pub cancel: Cancel,
    /// Who compiles along; none: the calling thread does it alone.
    pub helpers: Option<Helpers>,
}
