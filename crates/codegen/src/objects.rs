//! The objects a pipeline's generated code works on. Generated code knows them by index; whoever opens
//! the pipeline makes them and passes their addresses in the context.

use frazil_plan::ColumnId;
use frazil_plan::breakers::BreakerId;
use frazil_plan::each_once::{Fingerprint, Places};
use frazil_plan::vector_function::VectorFunctionRef;
use frazil_types::{LogicalType, NativeType, Value};
use std::hash::{DefaultHasher, Hash};

/// An object to be made, or bound, for each worker of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectSpec {
    /// A finished breaker that all workers look into: of a join its `JoinTable`.
    Finished(BreakerId),
    /// A worker's part of the breaker that the pipeline fills: a `JoinBuild`, an `AggregateTable`, a `Sorter`, a `BufferWriter`.
    Part,
    /// The columns handed to the sink: an array of `VectorColumn`.
    OutputColumns,
    /// The cells of groups that a worker's scan finds by codes: a `CodeGroups`.
    CodeGroups,
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
    String(Box<[u8]>),
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
            ObjectSpec::Finished(id) => id.hash(hasher),
            ObjectSpec::Part | ObjectSpec::OutputColumns | ObjectSpec::CodeGroups => {}
            ObjectSpec::VectorCall { made, .. } => made.hash(hasher),
            ObjectSpec::String(bytes) => bytes.hash(hasher),
            ObjectSpec::Like { pattern, escape } => (pattern, escape).hash(hasher),
            ObjectSpec::Values(list) => list.iter().for_each(|value| value.feed(hasher)),
        }
    }
}
