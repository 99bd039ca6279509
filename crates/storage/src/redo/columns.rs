//! Columns of inserted rows.

use super::read::Bytes;
use frazil_types::{
    ColumnVector, LogicalType, MatchBits, Native, NativeType, Result, RowBatch, StringVectorBuilder,
};
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
        let mut bytes = self.bytes;
        if self.columns != types.len() {
            let what = format!("{} columns where the table has {}", self.columns, types.len());
            return Err(bytes.damaged(&what));
        }
        let columns = types.iter().map(|ty| read(*ty, self.rows, &mut bytes));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        bytes.end("rows")?;
        Ok(RowBatch {
            columns,
            rows: self.rows,
        })
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
                out.extend_from_slice(&(column.text(row).len() as u32).to_le_bytes());
            }
            for row in rows {
                out.extend_from_slice(column.text(row).as_bytes());
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

/// Reads a column of `rows` rows.
fn read(ty: LogicalType, rows: usize, bytes: &mut Bytes<'_>) -> Result<ColumnVector> {
    let native = bytes.u8()?;
    if native != ty.native() as u8 {
        return Err(bytes.damaged(&format!(
            "values of native type {native} in a column of type {ty}"
        )));
    }
    let nulls = match bytes.u8()? {
        0 => None,
        1 => {
            let packed = bytes.take(rows.div_ceil(8))?;
            let mut nulls = MatchBits::zeros(rows);
            (0..rows)
                .filter(|row| packed[row / 8] >> (row % 8) & 1 == 1)
                .for_each(|row| nulls.set(row, true));
            Some(nulls)
        }
        _ => return Err(bytes.damaged("a mark that is neither 0 nor 1")),
    };
    let is_null = |row: usize| nulls.as_ref().is_some_and(|n| n.get(row));
    let mut column = match ty.native() {
        NativeType::Bool => get(ty, rows, bytes, |[b]: [u8; 1]| (b <= 1).then_some(b))?,
        NativeType::I16 => get(ty, rows, bytes, |b| Some(i16::from_le_bytes(b)))?,
        NativeType::I32 if matches!(ty, LogicalType::Char(_)) => get(ty, rows, bytes, |b| {
            let value = i32::from_le_bytes(b);
            char::from_u32(value as u32).map(|_| value)
        })?,
        NativeType::I32 => get(ty, rows, bytes, |b| Some(i32::from_le_bytes(b)))?,
        NativeType::I64 => get(ty, rows, bytes, |b| Some(i64::from_le_bytes(b)))?,
        NativeType::I128 => get(ty, rows, bytes, |b| Some(i128::from_le_bytes(b)))?,
        NativeType::F64 => get(ty, rows, bytes, |b| Some(f64::from_le_bytes(b)))?,
        NativeType::String => return strings(ty, rows, bytes, is_null),
    };
    (0..rows)
        .filter(|row| is_null(*row))
        .for_each(|row| column.set_null(row));
    Ok(column)
}

fn get<T: Native, const BYTES: usize>(
    ty: LogicalType,
    rows: usize,
    bytes: &mut Bytes<'_>,
    value: impl Fn([u8; BYTES]) -> Option<T>,
) -> Result<ColumnVector> {
    let from = bytes.take(rows * BYTES)?;
    let mut column = ColumnVector::new(ty, rows);
    column.resize(rows);
    for (to, from) in column
        .values_mut::<T>()
        .iter_mut()
        .zip(from.as_chunks::<BYTES>().0)
    {
        *to = value(*from).ok_or_else(|| bytes.damaged(&format!("a value that no {ty} has")))?;
    }
    Ok(column)
}

fn strings(
    ty: LogicalType,
    rows: usize,
    bytes: &mut Bytes<'_>,
    is_null: impl Fn(usize) -> bool,
) -> Result<ColumnVector> {
    let lengths = bytes.take(rows * 4)?.as_chunks::<4>().0;
    let mut column = StringVectorBuilder::new(ty, rows);
    for (row, length) in lengths.iter().enumerate() {
        let text = bytes.take(u32::from_le_bytes(*length) as usize)?;
        match (is_null(row), std::str::from_utf8(text)) {
            (true, _) => column.push_null(),
            (false, Ok(text)) => column.push(text),
            (false, Err(_)) => return Err(bytes.damaged("a text that is not UTF-8")),
        }
    }
    Ok(column.finish())
}
