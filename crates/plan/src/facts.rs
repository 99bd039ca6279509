//! What is known of rows and values, as operators ask for it and as they say it: the optimizer has the statistics and the
//! arithmetic, each operator knows what its rows and columns are made of.

use crate::{
    AggregateCall, ColumnId, Expansion, Expr, JoinKind, RowsCall, ScanDisjunction, ScanRestriction, SharedId,
    WindowCall,
};
use frazil_types::ObjectId;

/// The most rows that are possible.
pub trait MostRows<T> {
    /// The most rows of an operator; `None` if that is not known.
    fn operator(&self, op: &T) -> Option<u64>;

    /// The most rows of a table that the plan relies on.
    fn table(&self, table: ObjectId) -> u64;

    /// The most rows of a shared subplan.
    fn shared(&self, id: SharedId) -> Option<u64>;
}

/// How a join matches the rows of its sides.
#[derive(Clone, Copy, Debug)]
pub struct Match<'a> {
    /// How it combines them.
    pub kind: JoinKind,
    /// Equal keys: of the build side, of the probe side.
    pub keys: &'a [(Expr, Expr)],
    /// A further condition on a pair.
    pub residual: &'a Option<Expr>,
}

/// Estimates of rows.
pub trait AboutRows {
    /// Rows of a table.
    fn table(&self, table: ObjectId) -> f64;

    /// Rows of a shared subplan.
    fn shared(&self, id: SharedId) -> f64;

    /// The part of a table's rows that restrictions and disjunctions keep. `columns` are those of the scan, with their
    /// positions in the table.
    fn restricted(
        &self,
        table: ObjectId,
        columns: &[(ColumnId, usize)],
        restrictions: &[ScanRestriction],
        disjunctions: &[ScanDisjunction],
    ) -> f64;

    /// The part of rows that a predicate keeps.
    fn predicate(&self, predicate: &Expr) -> f64;

    /// Rows of a join of `build` rows with `probe` rows.
    fn join(&self, join: Match<'_>, build: f64, probe: f64) -> f64;

    /// Groups that so many rows fall into.
    fn groups(&self, groups: &[(ColumnId, Expr)], rows: f64) -> f64;

    /// Rows that a function gives for a row.
    fn call(&self, call: &RowsCall) -> f64;
}

/// What is estimated of columns, told by those that make them.
pub trait Facts {
    /// Columns of a table, with their positions in it.
    fn table(&mut self, table: ObjectId, columns: &[(ColumnId, usize)]);

    /// A column that is computed.
    fn computed(&mut self, id: ColumnId, e: &Expr);

    /// A column with the values of another one.
    fn same(&mut self, made: ColumnId, from: ColumnId);

    /// A result of aggregation, whose values are not spread over its bounds; of about so many rows, where that says
    /// how many values it has.
    fn aggregated(&mut self, id: ColumnId, rows: Option<f64>);

    /// Groups that so many rows fall into.
    fn groups(&self, groups: &[(ColumnId, Expr)], rows: f64) -> f64;

    /// What a function that gives rows gives.
    fn series(&mut self, id: ColumnId, call: &RowsCall);
}

/// Proofs of what values columns have, told by those that make them.
pub trait KnownValues<T> {
    /// Notes an expression that is evaluated but not output (a predicate or a key).
    fn expression(&mut self, e: &Expr);

    /// A column of which nothing is known.
    fn unknown(&mut self, id: ColumnId);

    /// A column of a table, at a position in it.
    fn base_column(&mut self, id: ColumnId, table: ObjectId, position: usize);

    /// A column that is computed.
    fn computed(&mut self, id: ColumnId, e: &Expr);

    /// A column with the values of one of some expressions in each row.
    fn any_of(&mut self, id: ColumnId, list: &[&Expr]);

    /// A column with the values of another one.
    fn same(&mut self, made: ColumnId, from: ColumnId);

    /// A column with the values of several others.
    fn union(&mut self, made: ColumnId, from: &[ColumnId]);

    /// Groups of the rows of `input`, and what is aggregated in them.
    fn aggregate(&mut self, input: &T, groups: &[(ColumnId, Expr)], aggregates: &[(ColumnId, AggregateCall)]);

    /// Window functions over the rows of `input`.
    fn windows(&mut self, input: &T, calls: &[(ColumnId, WindowCall)]);

    /// Functions that give rows.
    fn expansion(&mut self, expansion: &Expansion);
}
