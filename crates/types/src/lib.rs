//! The vocabulary every stratum of Frazil speaks: logical and native types, constants, schemas,
//! errors with their SQLSTATE, dates and decimals, strings by reference, match bits, restrictions and
//! the memory budget. It knows no table, no plan and no file.

pub mod abbreviation;
pub mod array;
pub mod bits;
pub mod cancel;
pub mod column_vector;
pub mod date;
pub mod date_input;
pub mod decimal;
pub mod error;
pub mod interval;
pub mod json;
pub mod key_encoding;
pub mod key_sketch;
pub mod logical_type;
pub mod memory_budget;
pub mod native_type;
pub mod numeric;
pub mod object_id;
pub mod restriction;
pub mod row_id;
pub mod row_values;
pub mod schema;
pub mod sequence_values;
pub mod session_settings;
pub mod shared_strings;
pub mod span;
pub mod sql_type;
pub mod statement_clock;
pub mod string_builder;
pub mod string_ref;
pub mod texts;
pub mod value;
pub mod value_ops;
pub mod zone;

pub use bits::MatchBits;
pub use cancel::Cancel;
pub use column_vector::{ColumnVector, RowBatch, Strings};
pub use error::{Error, Result, SqlState};
pub use interval::Interval;
pub use key_encoding::{EncodedKeys, KeyPart, KeySpec};
pub use key_sketch::{KeyCounter, KeySketch};
pub use logical_type::LogicalType;
pub use memory_budget::{MemoryBudget, Reservation};
pub use native_type::{Native, NativeType};
pub use object_id::{FIRST_TEMPORARY, FIRST_USER_OID, ObjectId};
pub use restriction::{CompareOp, Disjunction, Restriction, RestrictionKind};
pub use row_id::RowId;
pub use row_values::RowValues;
pub use schema::{ColumnDef, ColumnDefault, ColumnDomain, ColumnNumber, Origin, Schema, attribute_number};
pub use shared_strings::SharedBytes;
pub use span::Span;
pub use sql_type::{Category, Counts, DocumentForm, Kind, Order, TypeInfo};
pub use string_builder::StringVectorBuilder;
pub use string_ref::StringRef;
pub use texts::Texts;
pub use value::Value;
pub use zone::Zone;

/// The superuser that every database has.
pub const USER: &str = "postgres";

/// Rows of a full chunk: 2^16, so that a position within a chunk fits in a `u16`
/// (Data Blocks, section 3.1).
pub const CHUNK_ROWS: usize = 1 << 16;

/// Most survivors a stage vector holds (Relaxed Operator Fusion, section 4.2).
pub const STAGE_ROWS: usize = 1024;

/// Bytes that may be read, not interpreted, past the end of any values buffer lent to a kernel.
pub const READ_PADDING: usize = 64;
