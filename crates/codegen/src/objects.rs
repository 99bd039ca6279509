//! The objects a pipeline's generated code works on. Generated code knows them by index; whoever opens
//! the pipeline makes them and passes their addresses in the context.

use frazil_plan::pipeline::{AggregateId, BufferId, JoinId, SortId};
use frazil_plan::vector_function::VectorFunctionRef;
use frazil_plan::{ColumnId, TableId};
use frazil_types::{LogicalType, NativeType, Value};

/// An object to be made, or bound, for each worker of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectSpec {
    /// The finished table of a join, shared: a `JoinTable`.
    JoinTable(JoinId),
    /// A worker's build rows: a `JoinBuild`.
    JoinBuild(JoinId),
    /// Two bytes shared by all workers that say, for a NULL-aware join, what the probe side met: a
    /// NULL key; any row.
    JoinFlags(JoinId),
    /// A worker's groups: an `AggregateTable`.
    Groups(AggregateId),
    /// A worker's rows to be sorted: a `Sorter`.
    Sorter(SortId),
    /// A worker's part of a buffer: a `BufferWriter`.
    Buffer(BufferId),
    /// The columns handed to the sink: an array of `VectorColumn`.
    OutputColumns,
    /// The appender of a table.
    Insert(TableId),
    /// The deleter of a table.
    Delete(TableId),
    /// A worker's call of a vector function: a `VectorCall`.
    VectorCall {
        /// The function.
        function: VectorFunctionRef,
        /// Types of its arguments, and the forms in which they come.
        arguments: Vec<(LogicalType, NativeType)>,
        /// Type of its result.
        result: LogicalType,
        /// Whether a guard follows the arguments: a boolean that is true for the rows to be evaluated.
        guarded: bool,
        /// The column made, which tells one call from another; none for a call that makes a value of a row, each of
        /// which is an object of its own.
        made: Option<ColumnId>,
    },
    /// A constant string: a `StringRef`.
    Text(String),
    /// A compiled LIKE pattern.
    Like {
        /// The pattern.
        pattern: String,
        /// Its escape character.
        escape: Option<char>,
    },
    /// The constants of an IN list: a `ValueSet`.
    Values(Vec<Value>),
}

/// The objects of a pipeline, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects(pub Vec<ObjectSpec>);

impl Objects {
    /// Where an object's address stands.
    pub fn index(&mut self, spec: ObjectSpec) -> usize {
        match self.0.iter().position(|s| *s == spec) {
            Some(at) => at,
            None => self.add(spec),
        }
    }

    /// A place of its own for an object.
    pub fn add(&mut self, spec: ObjectSpec) -> usize {
        self.0.push(spec);
        self.0.len() - 1
    }
}
