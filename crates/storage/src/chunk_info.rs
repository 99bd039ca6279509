//! How every chunk and column of a table is held: the rows of `frazil_blocks`.

use crate::chunk_view::State;
use crate::snapshot::TableSnapshot;
use frazil_types::Value;

/// One column of one chunk.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkColumnInfo {
    /// Number of the chunk.
    pub chunk: u32,
    /// Whether it is a block.
    pub frozen: bool,
    /// Rows of the chunk, deleted ones included.
    pub rows: u32,
    /// Rows deleted.
    pub deleted: u32,
    /// Position of the column in the table.
    pub column: usize,
    /// Value ↔ code: the encoding's name; `hot` in a hot chunk.
    pub encoding: String,
    /// Code ↔ bytes: the layout's name; `memPAX(k)` in a hot chunk.
    pub layout: String,
    /// Bits of a code or value.
    pub bits: u32,
    /// Bytes the column takes.
    pub bytes: u64,
    /// Bytes of the same values uncompressed.
    pub raw_bytes: u64,
    /// Least and greatest value, where known.
    pub bounds: Option<(Value, Value)>,
    /// Rows that are NULL.
    pub nulls: u64,
    /// Visits of the block by scans of late; 0 in a hot chunk.
    pub visits: u64,
    /// File and offset of the block, if it lies in a file.
    pub origin: Option<String>,
}

impl TableSnapshot {
    /// How each column of each chunk is held, in order.
    pub fn describe(&self) -> Vec<ChunkColumnInfo> {
        let mut out = Vec::new();
        for entry in self.chunks() {
            let view = entry.view();
            for column in 0..self.schema().columns.len() {
                let mut info = ChunkColumnInfo {
                    chunk: entry.number(),
                    frozen: !entry.is_hot(),
                    rows: view.rows(),
                    deleted: view.rows() - view.live_rows(),
                    column,
                    encoding: "hot".to_string(),
                    layout: String::new(),
                    bits: 0,
                    bytes: 0,
                    raw_bytes: 0,
                    bounds: None,
                    nulls: view.bounds(column).nulls,
                    visits: 0,
                    origin: None,
                };
                match view.state() {
                    State::Hot(hot) => {
                        let size = hot.layout().column(column).native.size();
                        info.layout = format!("memPAX({})", hot.layout().rows_per_partition());
                        info.bits = size as u32 * 8;
                        info.raw_bytes = u64::from(view.rows()) * size as u64;
                        info.bytes = info.raw_bytes;
                        let value = |v: i128| match hot.layout().column(column).native {
                            frazil_types::NativeType::Bool => Value::Bool(v != 0),
                            _ => Value::Int(v),
                        };
                        info.bounds = view.bounds(column).range.map(|(a, b)| (value(a), value(b)));
                    }
                    State::Frozen(frozen) => {
                        let known = frozen.block.column_info(column);
                        info.encoding = match known.compressed {
                            true => format!("{}, FSST", known.encoding),
                            false => known.encoding.to_string(),
                        };
                        info.layout = known.layout.to_string();
                        info.bits = known.bits.into();
                        info.bytes = known.bytes;
                        info.raw_bytes = known.raw_bytes;
                        info.bounds = known.bounds;
                        info.visits = frozen.visits.recent();
                        info.origin = frozen.origin.as_deref().map(str::to_string);
                    }
                }
                if self.schema().columns[column].ty.is_span() {
                    // The integers that intervals are held as do not have their order.
                    info.bounds = None;
                }
                out.push(info);
            }
        }
        out
    }
}
