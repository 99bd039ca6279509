//! The objects a pipeline's generated code works on. Generated code knows them by index; whoever opens
//! the pipeline makes them and passes their addresses in the context.

use frazil_plan::ColumnId;
use frazil_plan::each_once::{Fingerprint, Places};
use frazil_plan::pipeline::{AggregateId, BufferId, JoinId, SortId};
use frazil_plan::vector_function::VectorFunctionRef;
use frazil_types::{LogicalType, NativeType, Value};
use std::hash::{DefaultHasher, Hash};

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
    /// A worker's part of what a write keeps of its input: a `BufferWriter`.
    Written,
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
#[derive(Debug, Default)]
pub(crate) struct Objects {
    /// The objects, in the order of their addresses.
    pub specs: Vec<ObjectSpec>,
    places: Places,
}

impl Objects {
    /// Where an object's address stands.
    pub fn index(&mut self, spec: ObjectSpec) -> usize {
        let next = self.specs.len();
        let known = (self.places).find_or_add(&spec, next, |place| self.specs[place] == spec);
        known.unwrap_or_else(|| {
            self.specs.push(spec);
            next
        })
    }

    /// A place of its own for an object.
    pub fn add(&mut self, spec: ObjectSpec) -> usize {
        self.specs.push(spec);
        self.specs.len() - 1
    }
}

impl Fingerprint for ObjectSpec {
    fn feed(&self, hasher: &mut DefaultHasher) {
        std::mem::discriminant(self).hash(hasher);
        match self {
            ObjectSpec::JoinTable(id) | ObjectSpec::JoinBuild(id) | ObjectSpec::JoinFlags(id) => {
                id.hash(hasher)
            }
            ObjectSpec::Groups(id) => id.hash(hasher),
            ObjectSpec::Sorter(id) => id.hash(hasher),
            ObjectSpec::Buffer(id) => id.hash(hasher),
            ObjectSpec::OutputColumns | ObjectSpec::Written => {}
            ObjectSpec::VectorCall { made, .. } => made.hash(hasher),
            ObjectSpec::Text(text) => text.hash(hasher),
            ObjectSpec::Like { pattern, escape } => (pattern, escape).hash(hasher),
            ObjectSpec::Values(list) => list.iter().for_each(|value| value.feed(hasher)),
        }
    }
}
