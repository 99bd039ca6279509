//! A query over rows that it is given ([`Operator::Given`]): what ON CONFLICT DO UPDATE makes of rows in the way, what RETURNING
//! shows of rows that were written, what CHECK says of rows that no plan computed.

use crate::compiled_statement::CompiledQuery;
use frazil_plan::operators::Given;
use frazil_plan::{Operator, Plan};
use frazil_types::{Error, Result, RowBatch};

/// A query over rows that it is given.
#[derive(Debug)]
pub struct RowQuery {
    /// Positions that it reads of the columns that it could be given, ascending: it gets these alone.
    reads: Vec<usize>,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// It returns some of the columns as they are.
    Columns(Vec<usize>),
    /// It computes something.
    Code(Box<CompiledQuery>),
}

impl RowQuery {
    /// The query of an optimized plan; `code` compiles it.
    pub fn of(mut plan: Plan, code: impl FnOnce(Plan) -> Result<CompiledQuery>) -> Result<RowQuery> {
        let mut reads = Vec::new();
        every_given(&mut plan, &mut |position| reads.push(*position));
        reads.sort_unstable();
        reads.dedup();
        // It is given what it reads, side by side.
        every_given(&mut plan, &mut |position| {
            *position = reads.binary_search(position).unwrap_or(*position);
        });
        let way = match columns(&plan) {
            Some(columns) => Way::Columns(columns),
            None => Way::Code(Box::new(code(plan)?)),
        };
        Ok(RowQuery { reads, way })
    }

    /// Positions that it reads of the columns that it could be given, ascending.
    pub fn reads(&self) -> &[usize] {
        &self.reads
    }

    /// The code, if it has any.
    pub fn code(&self) -> Option<&CompiledQuery> {
        match &self.way {
            Way::Columns(_) => None,
            Way::Code(query) => Some(query),
        }
    }

    /// Runs it over batches of the columns that it reads; `code` runs its code.
    pub fn run(
        &self,
        given: Vec<RowBatch>,
        code: impl FnOnce(&CompiledQuery, Vec<RowBatch>) -> Result<Vec<RowBatch>>,
    ) -> Result<Vec<RowBatch>> {
        match &self.way {
            Way::Code(query) => code(query, given),
            Way::Columns(columns) => Ok(given.iter().map(|batch| projected(batch, columns)).collect()),
        }
    }
}

fn projected(batch: &RowBatch, columns: &[usize]) -> RowBatch {
    RowBatch {
        columns: columns.iter().map(|&c| batch.columns[c].clone()).collect(),
        rows: batch.rows,
    }
}

/// The positions of the columns that a plan returns as they are given; `None` where it computes anything.
fn columns(plan: &Plan) -> Option<Vec<usize>> {
    let Operator::Given(Given { columns }) = &plan.root else {
        return None;
    };
    let position = |id| columns.iter().find(|c| c.0 == id).map(|c| c.1);
    plan.output.iter().map(|(_, id)| position(*id)).collect()
}

/// Calls `visit` with the position of each given column that a plan reads.
fn every_given(plan: &mut Plan, visit: &mut dyn FnMut(&mut usize)) {
    fn walk(op: &mut Operator, visit: &mut dyn FnMut(&mut usize)) {
        if let Operator::Given(Given { columns }) = op {
            columns.iter_mut().for_each(|(_, position)| visit(position));
        }
        op.inputs_mut().into_iter().for_each(|input| walk(input, visit));
    }
    plan.trees_mut().0.for_each(|tree| walk(tree, visit));
}

/// Rows of batches whose first column numbers them from 0 on, in the order of the numbers, without that column, in batches of
/// `counts` rows. An internal error unless each number comes once.
pub fn in_order(batches: Vec<RowBatch>, counts: &[usize]) -> Result<Vec<RowBatch>> {
    let total = counts.iter().sum();
    let mut places: Vec<Option<(usize, usize)>> = vec![None; total];
    for (part, batch) in batches.iter().enumerate() {
        let numbers = batch.columns.first().map_or(&[][..], |c| c.values::<i64>());
        for (row, &number) in numbers.iter().enumerate() {
            let place = usize::try_from(number).ok().and_then(|n| places.get_mut(n));
            match place {
                Some(place @ None) => *place = Some((part, row)),
                _ => {
                    return Err(Error::internal(
                        "a row that comes twice from a query over given rows",
                    ));
                }
            }
        }
    }
    let missing = || Error::internal("a row that a query over given rows lost");
    let places = places
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .ok_or_else(missing)?;
    let same = |(batch, count): (&RowBatch, &usize)| batch.rows == *count;
    if places.is_sorted() && batches.len() == counts.len() && batches.iter().zip(counts).all(same) {
        let rest = |mut batch: RowBatch| RowBatch {
            columns: batch.columns.split_off(1),
            rows: batch.rows,
        };
        return Ok(batches.into_iter().map(rest).collect());
    }
    let mut rest = &places[..];
    let width = batches.first().map_or(1, |batch| batch.columns.len());
    let mut ordered = Vec::with_capacity(counts.len());
    for &count in counts {
        let (part, behind) = rest.split_at(count);
        rest = behind;
        let column = |at: usize| {
            let parts: Vec<_> = batches.iter().map(|batch| &batch.columns[at]).collect();
            frazil_types::ColumnVector::gathered(parts[0].ty(), &parts, part)
        };
        ordered.push(RowBatch {
            columns: (1..width).map(column).collect(),
            rows: count,
        });
    }
    Ok(ordered)
}
