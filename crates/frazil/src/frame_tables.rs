//! Data frames that a statement reads as tables: Arrow arrays of the program around the database, which finds them by name.

use crate::made_table;
use crate::slots::Slots;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float64Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, SchemaRef, TimeUnit};
use frazil_catalog::SYSTEM_SCHEMA;
use frazil_files::{BytesOf, ReadLimits};
use frazil_frontend::TableEntry;
use frazil_storage::{LentCells, LentRows, TableSnapshot};
use frazil_types::{
    CHUNK_ROWS, ColumnDef, Disjunction, Error, LogicalType, ObjectId, READ_PADDING, Restriction, Result,
    Schema, SqlState,
};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

/// Frames that a statement names at most.
const MOST: usize = 64;
/// Ids of frames in plans count down from here: system tables and files have those above.
const FRAME_ID: u32 = u32::MAX - 2048;
/// Rows at the end of a long batch that are a chunk of their own: those before them need no copy, because there is enough memory
/// behind them.
const TAIL_ROWS: usize = READ_PADDING;
/// Rows from which on a batch is long.
const LONG_BATCH: usize = 8192;

/// Rows in Arrow's arrays: some batches, whose columns are asked for when they are first read.
pub trait Frame: Debug + Send + Sync {
    /// Names and types of the columns.
    fn schema(&self) -> SchemaRef;
    /// Rows of each batch.
    fn batches(&self) -> Vec<usize>;
    /// A column of a batch, both by their position: as many values as the batch has rows. Any thread may ask, several at a time.
    fn column(&self, batch: usize, column: usize) -> Result<ArrayRef>;
    /// Whether NaN stands for NULL in a column of doubles, as in pandas.
    fn nan_is_null(&self, column: usize) -> bool;
}

/// Finds frames.
pub trait Frames: Debug + Send + Sync {
    /// The frame of a name that no table and no view has. Errors end the statement.
    fn find(&self, name: &str) -> Result<Option<Arc<dyn Frame>>>;
}

/// A frame that a statement reads.
#[derive(Debug)]
struct FrameTable {
    name: String,
    rows: Arc<TableSnapshot>,
}

/// The frames of one statement.
#[derive(Debug)]
pub struct FrameTables {
    limits: ReadLimits,
    finder: Option<Arc<dyn Frames>>,
    tables: Slots<FrameTable, MOST>,
    /// The first error of looking for one.
    failed: Mutex<Option<Error>>,
}

impl FrameTables {
    /// No frames yet; those that `finder` finds are read within `limits`.
    pub fn new(finder: Option<Arc<dyn Frames>>, limits: ReadLimits) -> FrameTables {
        FrameTables {
            limits,
            finder,
            tables: Slots::new(),
            failed: Mutex::default(),
        }
    }

    /// Whether an id is that of a frame.
    pub fn is_frame(id: ObjectId) -> bool {
        place(id).is_some()
    }

    /// Whether the statement names no frame.
    pub fn is_empty(&self) -> bool {
        self.tables.get(0).is_none()
    }

    /// The rows of a frame.
    pub fn find(&self, id: ObjectId) -> Option<&Arc<TableSnapshot>> {
        self.tables.get(place(id)?).map(|table| &table.rows)
    }

    /// The error of a name that looked like a frame's, once.
    pub fn take_error(&self) -> Option<Error> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The table of a frame, if there is one of that name; where it cannot be read, the error is kept.
    pub fn table(&self, name: &str) -> Option<TableEntry> {
        self.entry(name).unwrap_or_else(|error| {
            let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            failed.get_or_insert(error);
            None
        })
    }

    fn entry(&self, name: &str) -> Result<Option<TableEntry>> {
        let Some(finder) = &self.finder else {
            return Ok(None);
        };
        for (place, table) in self.tables.places().iter().enumerate() {
            let table = match table.get() {
                Some(known) if known.name == name => known,
                Some(_) => continue,
                None => {
                    let Some(frame) = finder.find(name)? else {
                        return Ok(None);
                    };
                    let rows = Arc::new(rows(name, frame, &self.limits)?);
                    let name = name.to_owned();
                    table.get_or_init(|| FrameTable { name, rows })
                }
            };
            return Ok(Some(TableEntry {
                id: ObjectId(FRAME_ID - place as u32),
                oid: None,
                schema_name: SYSTEM_SCHEMA.to_owned(),
                name: name.to_owned(),
                schema: table.rows.schema().clone(),
                hidden: Vec::new(),
                row_count: table.rows.rows(),
                constraints: Vec::new(),
                indexes: Vec::new(),
                materialized: None,
            }));
        }
        let message = format!("a statement reads at most {MOST} frames");
        Err(Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message))
    }
}

fn place(id: ObjectId) -> Option<usize> {
    let place = FRAME_ID.checked_sub(id.0)? as usize;
    (place < MOST).then_some(place)
}

/// The rows of a frame as a table. A column of a type that there is not is refused when it is read.
fn rows(name: &str, frame: Arc<dyn Frame>, limits: &ReadLimits) -> Result<TableSnapshot> {
    let fields = frame.schema();
    let column = |field: &arrow_schema::FieldRef| {
        let ty = frazil_files::type_of(field.data_type());
        ColumnDef::new(field.name(), ty.unwrap_or(LogicalType::UNTYPED))
    };
    let columns: Vec<ColumnDef> = fields.fields().iter().map(column).collect();
    let mut places = Vec::new();
    for (batch, rows) in frame.batches().into_iter().enumerate() {
        let long = if rows >= LONG_BATCH {
            rows - TAIL_ROWS
        } else {
            rows
        };
        for part in [0..long, long..rows] {
            let starts = part.clone().step_by(CHUNK_ROWS);
            places.extend(starts.map(|start| Place {
                batch,
                start,
                rows: CHUNK_ROWS.min(part.end - start),
            }));
        }
    }
    let chunks: Vec<u32> = places.iter().map(|place| place.rows as u32).collect();
    let schema = Schema::new(columns.clone());
    let table = made_table::make(name, schema, Vec::new(), None, &limits.cancel)?;
    let lender = FrameRows {
        name: name.to_owned(),
        frame,
        columns,
        places,
        limits: limits.clone(),
    };
    let lender: Arc<dyn LentRows> = Arc::new(lender);
    TableSnapshot::lent(table.table().clone(), &chunks, &lender)
}

/// Where the rows of a chunk lie.
#[derive(Clone, Copy, Debug)]
struct Place {
    batch: usize,
    start: usize,
    rows: usize,
}

/// The rows of a frame, cut into chunks.
#[derive(Debug)]
struct FrameRows {
    name: String,
    frame: Arc<dyn Frame>,
    columns: Vec<ColumnDef>,
    places: Vec<Place>,
    limits: ReadLimits,
}

impl LentRows for FrameRows {
    fn column(&self, chunk: usize, column: usize) -> Result<LentCells> {
        self.limits.cancel.check()?;
        let place = self.places[chunk];
        let array = self.frame.column(place.batch, column)?;
        if array.len() < place.start + place.rows {
            return Err(Error::internal("an array of a frame is shorter than its batch"));
        }
        let nan_is_null = self.frame.nan_is_null(column) && array.data_type() == &DataType::Float64;
        if let Some(lent) = lent(&array, place, nan_is_null) {
            return Ok(lent);
        }
        let part = array.slice(place.start, place.rows);
        let def = &self.columns[column];
        if frazil_files::type_of(array.data_type()).is_none() {
            let what = format!("column \"{}\" of type {}", def.name, array.data_type());
            return Err(Error::unsupported(format!("{what} in frame \"{}\"", self.name))
                .with_hint("leave the column out, or convert it first; all other columns can be read"));
        }
        let mut made =
            frazil_files::column_of(&part, def.ty, None, &self.limits.budget).map_err(|(row, error)| {
                let before: usize = self.places[..chunk].iter().map(|place| place.rows).sum();
                let row = before + row + 1;
                error.in_context(format!(
                    "frame \"{}\", row {row}, column \"{}\"",
                    self.name, def.name
                ))
            })?;
        if nan_is_null {
            let nans: Vec<bool> = made.values::<f64>().iter().map(|v| v.is_nan()).collect();
            let rows = nans.iter().enumerate().filter(|(_, nan)| **nan);
            rows.for_each(|(row, _)| made.set_null(row));
        }
        Ok(LentCells::of_column(made, None))
    }

    fn rules_out(&self, _chunk: usize, _restrictions: &[Restriction], _disjunctions: &[Disjunction]) -> bool {
        // Nobody has looked at the values.
        false
    }
}

/// Values that lie in their array as they lie in a chunk.
fn lent(array: &ArrayRef, place: Place, nan_is_null: bool) -> Option<LentCells> {
    match array.data_type() {
        DataType::Int16 => in_place::<Int16Type>(array, place, |_| true),
        DataType::Int32 => in_place::<Int32Type>(array, place, |_| true),
        DataType::Int64 => in_place::<Int64Type>(array, place, |_| true),
        DataType::Date32 => in_place::<Date32Type>(array, place, |_| true),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            in_place::<TimestampMicrosecondType>(array, place, |_| true)
        }
        DataType::Float64 if nan_is_null => in_place::<Float64Type>(array, place, |v| !v.is_nan()),
        DataType::Float64 => in_place::<Float64Type>(array, place, |_| true),
        _ => None,
    }
}

fn in_place<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    place: Place,
    is_value: impl Fn(T::Native) -> bool,
) -> Option<LentCells> {
    let all = array.as_primitive::<T>();
    let range = place.start..place.start + place.rows;
    let values = &all.values()[range.clone()];
    let all_values = values.iter().fold(true, |all, &value| all & is_value(value));
    let nulls = all.nulls().filter(|nulls| nulls.null_count() > 0);
    let validity: Option<Vec<u8>> = (!all_values || nulls.is_some()).then(|| {
        // Without a branch on NULL, so that it is a loop over vectors.
        let mut valid: Vec<u8> = values.iter().map(|&value| u8::from(is_value(value))).collect();
        if let Some(nulls) = nulls {
            let rows = valid.iter_mut().zip(range.clone());
            rows.for_each(|(valid, row)| *valid &= u8::from(nulls.is_valid(row)));
        }
        valid
    });
    let native = frazil_files::type_of(array.data_type())?.native();
    let memory = Arc::new(BytesOf(all.values().inner().clone()));
    let start = place.start * size_of::<T::Native>();
    LentCells::of_memory(native, place.rows, memory, start, validity.as_deref())
}
