//! Columns of inserted rows.

use super::read::Bytes;
use frazil_types::{ColumnVector, LogicalType, Native, NativeType, Result, RowBatch, StringVectorBuilder};
use std::ops::Range;

/// Columns of inserted rows, not read yet.
#[derive(Clone, Copy, Debug)]
pub struct RedoColumns<'a> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) bytes: Bytes<'a>,
}

impl RedoColumns<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Reads the rows of a table whose columns have these types. XX001 if the bytes are not rows of them.
    pub fn read(&self, types: &[LogicalType]) -> Result<RowBatch> {
        RedoColumns::read_all(&[*self], types)
    }

    /// Reads the rows of several inserts into one batch, in order, as [`RedoColumns::read`] does.
    pub fn read_all(parts: &[RedoColumns<'_>], types: &[LogicalType]) -> Result<RowBatch> {
        let mut parts: Vec<RedoColumns<'_>> = parts.to_vec();
        for part in &parts {
            if part.columns != types.len() {
                let what = format!("{} columns where the table has {}", part.columns, types.len());
                return Err(part.bytes.damaged(&what));
            }
        }
        let rows = parts.iter().map(|part| part.rows).sum();
        let columns = types.iter().map(|ty| read(*ty, rows, &mut parts));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        for part in &parts {
            part.bytes.end("rows")?;
        }
        Ok(RowBatch { columns, rows })
    }
}

/// Appends the rows `rows` of a column.
pub(super) fn write(column: &ColumnVector, rows: Range<usize>, out: &mut Vec<u8>) {
    out.push(column.native() as u8);
    let has_nulls = column.nulls().is_some_and(|n| rows.clone().any(|r| n.get(r)));
    out.push(u8::from(has_nulls));
    if has_nulls {
        let start = out.len();
        out.resize(start + rows.len().div_ceil(8), 0);
        for at in (0..rows.len()).filter(|at| column.is_null(rows.start + at)) {
            out[start + at / 8] |= 1 << (at % 8);
        }
    }
    match column.native() {
        NativeType::Bool => put(&column.values::<u8>()[rows], out, u8::to_le_bytes),
        NativeType::I16 => put(&column.values::<i16>()[rows], out, i16::to_le_bytes),
        NativeType::I32 => put(&column.values::<i32>()[rows], out, i32::to_le_bytes),
        NativeType::I64 => put(&column.values::<i64>()[rows], out, i64::to_le_bytes),
        NativeType::I128 => put(&column.values::<i128>()[rows], out, i128::to_le_bytes),
        NativeType::F64 => put(&column.values::<f64>()[rows], out, f64::to_le_bytes),
        NativeType::String => {
            for row in rows.clone() {
                out.extend_from_slice(&(column.string(row).len() as u32).to_le_bytes());
            }
            for row in rows {
                out.extend_from_slice(column.string(row));
            }
        }
    }
}

fn put<T: Native, const BYTES: usize>(values: &[T], out: &mut Vec<u8>, bytes: impl Fn(T) -> [u8; BYTES]) {
    let start = out.len();
    out.resize(start + values.len() * BYTES, 0);
    for (to, value) in out[start..].chunks_exact_mut(BYTES).zip(values) {
        to.copy_from_slice(&bytes(*value));
    }
}

/// Reads the next column of the parts, which have `rows` rows together.
fn read(ty: LogicalType, rows: usize, parts: &mut [RedoColumns<'_>]) -> Result<ColumnVector> {
    match ty.native() {
        NativeType::Bool => get(ty, rows, parts, |[b]: [u8; 1]| (b <= 1).then_some(b)),
        NativeType::I16 => get(ty, rows, parts, |b| Some(i16::from_le_bytes(b))),
        NativeType::I32 if ty.is_code_point() => get(ty, rows, parts, |b| {
            let value = i32::from_le_bytes(b);
            char::from_u32(value as u32).map(|_| value)
        }),
        NativeType::I32 => get(ty, rows, parts, |b| Some(i32::from_le_bytes(b))),
        NativeType::I64 => get(ty, rows, parts, |b| Some(i64::from_le_bytes(b))),
        NativeType::I128 => get(ty, rows, parts, |b| Some(i128::from_le_bytes(b))),
        NativeType::F64 => get(ty, rows, parts, |b| Some(f64::from_le_bytes(b))),
        NativeType::String => strings(ty, rows, parts),
    }
}

/// Which rows of a column of a part are NULL: a bit a row. With no bytes none is.
struct Nulls<'a>(&'a [u8]);

impl Nulls<'_> {
    fn get(&self, row: usize) -> bool {
        self.0.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1)
    }
}

/// Reads what comes before the values of a column of a part.
fn head<'a>(ty: LogicalType, rows: usize, bytes: &mut Bytes<'a>) -> Result<Nulls<'a>> {
    let native = bytes.u8()?;
    if native != ty.native() as u8 {
        return Err(bytes.damaged(&format!(
            "values of native type {native} in a column of type {ty}"
        )));
    }
    match bytes.u8()? {
        0 => Ok(Nulls(&[])),
        1 => bytes.take(rows.div_ceil(8)).map(Nulls),
        _ => Err(bytes.damaged("a mark that is neither 0 nor 1")),
    }
}

fn get<T: Native, const BYTES: usize>(
    ty: LogicalType,
    rows: usize,
    parts: &mut [RedoColumns<'_>],
    value: impl Fn([u8; BYTES]) -> Option<T>,
) -> Result<ColumnVector> {
    let mut column = ColumnVector::new(ty, rows);
    column.resize(rows);
    let mut at = 0;
    for part in parts {
        let nulls = head(ty, part.rows, &mut part.bytes)?;
        let from = part.bytes.take(part.rows * BYTES)?.as_chunks::<BYTES>().0;
        let to = &mut column.values_mut::<T>()[at..at + part.rows];
        for (to, from) in to.iter_mut().zip(from) {
            *to = value(*from).ok_or_else(|| part.bytes.damaged(&format!("a value that no {ty} has")))?;
        }
        if !nulls.0.is_empty() {
            let of_part = (0..part.rows).filter(|row| nulls.get(*row));
            of_part.for_each(|row| column.set_null(at + row));
        }
        at += part.rows;
    }
    Ok(column)
}

fn strings(ty: LogicalType, rows: usize, parts: &mut [RedoColumns<'_>]) -> Result<ColumnVector> {
    let mut column = StringVectorBuilder::new(ty, rows);
    for part in parts {
        let bytes = &mut part.bytes;
        let nulls = head(ty, part.rows, bytes)?;
        let lengths = bytes.take(part.rows * 4)?.as_chunks::<4>().0;
        for (row, length) in lengths.iter().enumerate() {
            let text = bytes.take(u32::from_le_bytes(*length) as usize)?;
            if nulls.get(row) {
                column.push_null();
            } else if ty.is_binary() {
                column.try_push_bytes(text)?;
            } else {
                let text =
                    std::str::from_utf8(text).map_err(|_| bytes.damaged("a text that is not UTF-8"))?;
                column.push(text);
            }
        }
    }
    Ok(column.finish())
}
