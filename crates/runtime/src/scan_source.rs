//! The source of a pipeline that scans a table: adapts storage's cursor to the columns of a vector, and
//! binds a plan's restrictions to values.

use crate::abi::{Partitions, VectorColumn};
use crate::code_groups::CodeGroups;
use crate::functions::strings::string_length;
use frazil_plan::operators::{ScanDisjunction, ScanRestriction, ScanRestrictionKind};
use frazil_plan::{ColumnId, Expr, ExprKind, RowCount};
use frazil_storage::{FetchedColumn, ScanCursor, TableScan};
use frazil_types::value_ops::{self, CastLength};
use frazil_types::{
    Disjunction, Error, READ_PADDING, Restriction, RestrictionKind, Result, SqlState, StringRef, Value,
};
use std::sync::Arc;

/// Values known when a pipeline opens.
#[derive(Clone, Copy, Debug, Default)]
pub struct BoundValues<'a> {
    /// Parameters, hidden ones after the statement's own.
    pub parameters: &'a [Value],
    /// Scalar subqueries.
    pub subqueries: &'a [Value],
}

/// A clause that counts rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause {
    /// LIMIT.
    Limit,
    /// OFFSET.
    Offset,
}

/// `n` as a number of rows. Errors: 2201W, 2201X for a negative one.
pub(crate) fn count_of_rows(n: i128, clause: Clause) -> Result<u64> {
    u64::try_from(n).map_err(|_| match clause {
        Clause::Limit => Error::new(SqlState("2201W"), "LIMIT must not be negative"),
        Clause::Offset => Error::new(SqlState("2201X"), "OFFSET must not be negative"),
    })
}

impl BoundValues<'_> {
    /// The number in LIMIT or OFFSET; `None` for NULL. Errors: 2201W, 2201X for a negative one.
    pub fn row_count(&self, rows: &RowCount, clause: Clause) -> Result<Option<u64>> {
        let value = match rows {
            RowCount::Constant(n) => return Ok(Some(*n)),
            RowCount::Value(e) => self.value(e)?,
            // Each group has its own.
            RowCount::Column(_) => return Ok(None),
        };
        value.as_int().map(|n| count_of_rows(n, clause)).transpose()
    }

    /// The value of an operand: a constant, a parameter, a subquery's value, or one of these cast.
    pub fn value(&self, operand: &Expr) -> Result<Value> {
        if let ExprKind::Cast(inner) = &operand.kind {
            return value_ops::cast(&self.value(inner)?, inner.ty, operand.ty, CastLength::Refuse);
        }
        self.known(operand).cloned()
    }

    /// The value of a constant, a parameter or a subquery. An internal error for another operand.
    pub fn known<'v>(&'v self, operand: &'v Expr) -> Result<&'v Value> {
        let missing = |what: &str, n| Error::internal(format!("{what} {n} of a restriction has no value"));
        match &operand.kind {
            ExprKind::Constant(value) => Ok(value),
            ExprKind::Parameter(n) => {
                let value = self.parameters.get(*n);
                value.ok_or_else(|| missing("parameter", *n))
            }
            ExprKind::ScalarSubquery(id) => {
                let value = self.subqueries.get(id.0);
                value.ok_or_else(|| missing("subquery", id.0))
            }
            other => Err(Error::internal(format!(
                "{other:?} as the operand of a restriction"
            ))),
        }
    }

    /// The disjunctions with their values, for a scan as [`BoundValues::restrictions`].
    pub fn disjunctions(
        &self,
        list: &[ScanDisjunction],
        columns: &[(ColumnId, usize)],
    ) -> Result<Vec<Disjunction>> {
        let bind = |d: &ScanDisjunction| -> Result<Disjunction> {
            let alternatives = d.alternatives.iter().map(|a| self.restrictions(a, columns));
            Ok(Disjunction {
                alternatives: alternatives.collect::<Result<_>>()?,
            })
        };
        list.iter().map(bind).collect()
    }

    /// The restrictions with their values, for a scan whose columns are (id, position in the table).
    pub fn restrictions(
        &self,
        list: &[ScanRestriction],
        columns: &[(ColumnId, usize)],
    ) -> Result<Vec<Restriction>> {
        list.iter()
            .map(|r| {
                let column = columns.iter().find(|c| c.0 == r.column);
                let column =
                    column.ok_or_else(|| Error::internal("a restriction on a column that is not scanned"))?;
                Ok(Restriction {
                    column: column.1,
                    kind: self.restriction_kind(&r.kind)?,
                })
            })
            .collect()
    }

    /// A restriction's question, with its values.
    pub fn restriction_kind(&self, kind: &ScanRestrictionKind) -> Result<RestrictionKind> {
        Ok(match kind {
            ScanRestrictionKind::Compare(op, e) => RestrictionKind::Compare(*op, self.value(e)?),
            ScanRestrictionKind::Between(l, h) => RestrictionKind::Between(self.value(l)?, self.value(h)?),
            ScanRestrictionKind::In(values) => RestrictionKind::In(values.clone()),
            ScanRestrictionKind::IsNull => RestrictionKind::IsNull,
            ScanRestrictionKind::IsNotNull => RestrictionKind::IsNotNull,
            ScanRestrictionKind::Prefix(p) => RestrictionKind::Prefix(p.clone()),
            ScanRestrictionKind::Like { pattern, negated } => RestrictionKind::Like {
                pattern: pattern.clone(),
                negated: *negated,
            },
        })
    }
}

/// One worker's source of vectors. `columns()[i]` is the i-th column of the scan, in storage form; the row id
/// follows if asked for, then the cells of groups that are found by codes.
pub struct ScanSource {
    cursor: ScanCursor,
    columns: Vec<VectorColumn>,
    /// Which columns of the scan generated code reads; those only restricted are never unpacked.
    read: Vec<usize>,
    /// Columns of strings of which generated code reads the numbers of characters alone, with room for them.
    counted: Vec<(usize, Vec<i64>)>,
    row_id: bool,
    /// Whether rows of hot chunks are read where they lie.
    in_place: bool,
    partitions: Partitions,
    codes_travel: bool,
    /// Boxed, because generated code knows its address.
    code_groups: Option<Box<CodeGroups>>,
}

impl ScanSource {
    /// A source over `scan`. `read[i]`: whether column i is read; the others stay NULL. `in_place`: whether
    /// vectors may lie in partitions. With `groups` there is a column of cells: see [`CodeGroups`].
    pub fn new(
        scan: &Arc<TableScan>,
        read: &[bool],
        row_id: bool,
        in_place: bool,
        groups: Option<CodeGroups>,
    ) -> ScanSource {
        let columns = scan.columns().len() + usize::from(row_id) + usize::from(groups.is_some());
        ScanSource {
            cursor: scan.cursor(),
            columns: vec![VectorColumn::null(); columns],
            read: (0..scan.columns().len()).filter(|&i| read[i]).collect(),
            counted: Vec::new(),
            row_id,
            in_place: in_place && scan.options().lend_columns,
            partitions: Partitions::SIDE_BY_SIDE,
            code_groups: groups.map(Box::new),
            codes_travel: scan.options().codes_travel,
        }
    }

    /// Makes the source give the numbers of characters (`i64`) of some columns in place of their strings.
    /// `is_counted[i]`: whether column i is one of them.
    pub fn counting(mut self, is_counted: &[bool]) -> ScanSource {
        let (counted, read): (Vec<usize>, Vec<usize>) = self.read.into_iter().partition(|&i| is_counted[i]);
        self.read = read;
        self.counted = counted.into_iter().map(|i| (i, Vec::new())).collect();
        self
    }

    /// Address of the cells of groups, for generated code; null if there are none.
    pub fn code_groups(&mut self) -> *mut CodeGroups {
        (self.code_groups.as_deref_mut()).map_or(std::ptr::null_mut(), std::ptr::from_mut)
    }

    /// Begins a morsel.
    pub fn open(&mut self, morsel: usize) -> Result<()> {
        self.cursor.open(morsel)?;
        match &mut self.code_groups {
            Some(groups) if self.codes_travel => groups.open(&self.cursor),
            _ => Ok(()),
        }
    }

    /// Moves to the next vector; its number of rows, or `None` at the morsel's end. The columns live until the
    /// next call.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<usize>> {
        let Some(rows) = self.cursor.next()? else {
            return Ok(None);
        };
        self.partitions = Partitions::SIDE_BY_SIDE;
        let behind = self.columns.len() - usize::from(self.code_groups.is_some());
        if let Some(groups) = &mut self.code_groups {
            self.columns[behind] = groups.column(&mut self.cursor, rows as usize)?;
        }
        if !self.in_place || !self.lend() {
            self.fetch()?;
        }
        self.count_characters(rows as usize)?;
        if self.row_id {
            self.columns[behind - 1] = VectorColumn::flat(self.cursor.row_ids().as_ptr().cast());
        }
        Ok(Some(rows as usize))
    }

    /// The columns where they lie; whether they may be read there.
    fn lend(&mut self) -> bool {
        let Some(rows) = self.cursor.hot_rows(&self.read) else {
            return false;
        };
        self.partitions = Partitions::new(rows.memory.first_cell(), rows.memory.layout(), rows.start);
        for &i in &self.read {
            let column = rows.columns[i];
            let lent = VectorColumn::flat(rows.memory.value_ptr(column, 0));
            self.columns[i] = match rows.memory.validity_ptr(column, 0) {
                Some(validity) => lent.with_validity(validity),
                None => lent,
            };
        }
        true
    }

    /// Puts the lengths of the strings of the current vector into the columns that are counted.
    fn count_characters(&mut self, rows: usize) -> Result<()> {
        for (i, lengths) in &mut self.counted {
            self.columns[*i] = match self.cursor.fetch_lengths(*i)? {
                Some(fetched) => column_of(fetched),
                None => {
                    let strings = column_of(self.cursor.fetch(*i)?);
                    // SAFETY: the column has the rows of the vector, with strings that are alive where they are not
                    // NULL.
                    unsafe { lengths_of(strings, rows, lengths) }
                }
            };
        }
        Ok(())
    }

    fn fetch(&mut self) -> Result<()> {
        for &i in &self.read {
            if (self.code_groups.as_ref()).is_some_and(|groups| groups.replaces(i)) {
                self.columns[i] = VectorColumn::null();
                continue;
            }
            self.columns[i] = column_of(self.cursor.fetch(i)?);
        }
        Ok(())
    }

    /// How the rows of the current vector lie.
    pub fn partitions(&self) -> Partitions {
        self.partitions
    }

    /// The columns of the current vector.
    pub fn columns(&self) -> &[VectorColumn] {
        &self.columns
    }
}

/// A fetched column as generated code reads it.
fn column_of(fetched: FetchedColumn) -> VectorColumn {
    let mask = if fetched.constant { 0 } else { !0 };
    let column = VectorColumn {
        value_mask: mask,
        ..VectorColumn::flat(fetched.values)
    };
    match fetched.validity {
        Some(validity) => VectorColumn {
            validity,
            validity_mask: mask,
            ..column
        },
        None => column,
    }
}

/// Puts the numbers of characters of a column of strings into `lengths`, where the column that is returned points; 0
/// for NULL.
///
/// # Safety
/// The column has `rows` rows, strings that are alive where they are not NULL.
unsafe fn lengths_of(strings: VectorColumn, rows: usize, lengths: &mut Vec<i64>) -> VectorColumn {
    let stored = if strings.value_mask == 0 {
        rows.min(1)
    } else {
        rows
    };
    // SAFETY: by contract.
    let length = |row: usize| unsafe {
        match strings.is_valid(row) {
            true => {
                let string = strings.value::<StringRef>(row);
                string_length(string.head, string.tail)
            }
            false => 0,
        }
    };
    lengths.clear();
    lengths.reserve(stored + READ_PADDING / size_of::<i64>());
    lengths.extend((0..stored).map(length));
    VectorColumn {
        values: lengths.as_ptr().cast(),
        ..strings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_catalog::TableOptions;
    use frazil_plan::SubqueryId;
    use frazil_storage::{Conflict, NewRows, ScanOptions, Store};
    use frazil_types::LogicalType;
    use frazil_types::{Cancel, ColumnDef, ColumnVector, CompareOp, RowBatch, RowId, Schema};
    use std::time::Duration;

    const ROWS: i128 = 100_000;

    fn schema() -> Arc<Schema> {
        let column = |name: &str, ty, nullable| ColumnDef {
            nullable,
            ..ColumnDef::new(name, ty)
        };
        Arc::new(Schema::new(vec![
            column("a", LogicalType::Integer, false),
            column(
                "b",
                LogicalType::Decimal {
                    precision: 12,
                    scale: 2,
                },
                true,
            ),
        ]))
    }

    fn batch() -> RowBatch {
        let a: Vec<Value> = (0..ROWS).map(Value::Int).collect();
        let b: Vec<Value> = (0..ROWS)
            .map(|i| {
                if i % 7 == 0 {
                    Value::Null
                } else {
                    Value::Int(i % 1000 * 100)
                }
            })
            .collect();
        RowBatch {
            columns: vec![
                ColumnVector::from_values(LogicalType::Integer, &a),
                ColumnVector::from_values(
                    LogicalType::Decimal {
                        precision: 12,
                        scale: 2,
                    },
                    &b,
                ),
            ],
            rows: ROWS as usize,
        }
    }

    fn restriction() -> ScanRestriction {
        let scale_0 = LogicalType::BigInt;
        let subquery = Expr {
            kind: ExprKind::ScalarSubquery(SubqueryId(0)),
            ty: scale_0,
            nullable: true,
            span: frazil_types::Span::NONE,
        };
        let cast = Expr {
            kind: ExprKind::Cast(Box::new(subquery)),
            ty: LogicalType::Decimal {
                precision: 12,
                scale: 2,
            },
            nullable: true,
            span: frazil_types::Span::NONE,
        };
        ScanRestriction {
            column: ColumnId(11),
            kind: ScanRestrictionKind::Compare(CompareOp::Lt, cast),
        }
    }

    #[test]
    fn scans_what_the_restrictions_leave() {
        let store = Store::new();
        let mut transaction = store.begin(Duration::ZERO, &Cancel::new()).unwrap();
        let entry = transaction
            .create_table("t", schema(), TableOptions::default())
            .unwrap();
        let mut writer = transaction.writer(entry.id).unwrap();
        writer.insert(&NewRows::of(&batch()), Conflict::Fail).unwrap();
        let table = transaction.snapshot().table(entry.id).unwrap().clone();
        let columns = [(ColumnId(10), 0), (ColumnId(11), 1)];
        let values = BoundValues {
            parameters: &[],
            subqueries: &[Value::Int(5)],
        };
        let restrictions = values.restrictions(&[restriction()], &columns).unwrap();
        assert_eq!(
            restrictions[0].kind,
            RestrictionKind::Compare(CompareOp::Lt, Value::Int(500))
        );
        let scan = TableScan::new(table, vec![0, 1], restrictions, ScanOptions::default()).unwrap();
        let scan = Arc::new(scan);
        let mut source = ScanSource::new(&scan, &[true, false], true, false, None);
        let mut found = Vec::new();
        let mut ids = Vec::new();
        for morsel in 0..scan.morsels() {
            source.open(morsel).unwrap();
            while let Some(rows) = source.next().unwrap() {
                let columns = source.columns();
                // SAFETY: the columns of the current vector.
                unsafe {
                    found.extend((0..rows).map(|r| i128::from(columns[0].value::<i32>(r))));
                    ids.extend((0..rows).map(|r| columns[2].value::<i64>(r)));
                    assert!(!columns[1].is_valid(0));
                }
            }
        }
        let expected: Vec<i128> = (0..ROWS).filter(|i| i % 7 != 0 && i % 1000 < 5).collect();
        assert_eq!(found, expected);
        let ids: Vec<RowId> = ids.into_iter().map(RowId::from_tid).collect();
        let mut writer = transaction.writer(entry.id).unwrap();
        assert_eq!(writer.delete(&ids).unwrap().count, expected.len() as u64);
        assert_eq!(writer.delete(&ids).unwrap().count, 0);
    }

    #[test]
    fn operands_are_bound() {
        let values = BoundValues {
            parameters: &[Value::Int(3)],
            subqueries: &[],
        };
        let parameter = |n| Expr {
            kind: ExprKind::Parameter(n),
            ty: LogicalType::Integer,
            nullable: true,
            span: frazil_types::Span::NONE,
        };
        assert_eq!(values.value(&parameter(0)).unwrap(), Value::Int(3));
        assert!(values.value(&parameter(1)).is_err());
        assert!(values.restrictions(&[restriction()], &[]).is_err());
    }
}
