//! The samples that a statement is planned by: a table's is the same one until the plan is made, so that match bits of
//! several restrictions speak of the same rows.

use frazil_plan::{SampleSize, SampledRows};
use frazil_storage::{RowSample, Snapshot};
use frazil_types::{MatchBits, ObjectId, Restriction};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The samples that were asked for.
#[derive(Debug, Default)]
pub struct StatementSamples {
    own: Mutex<BTreeMap<ObjectId, Option<Arc<RowSample>>>>,
}

impl StatementSamples {
    fn own(&self, snapshot: &Snapshot, table: ObjectId) -> Option<Arc<RowSample>> {
        let mut own = self.own.lock().unwrap_or_else(|e| e.into_inner());
        let draw = || snapshot.table(table).ok()?.sample();
        own.entry(table).or_insert_with(draw).clone()
    }

    /// The size of a table's sample; `None` if there is none.
    pub fn size(&self, snapshot: &Snapshot, table: ObjectId) -> Option<SampleSize> {
        let sample = self.own(snapshot, table)?;
        Some(SampleSize {
            rows: sample.rows(),
            is_whole: sample.is_whole(),
        })
    }

    /// The rows of a sample that satisfy a restriction; `None` if the column is not sampled.
    pub fn matching(
        &self,
        snapshot: &Snapshot,
        rows: SampledRows,
        restriction: &Restriction,
    ) -> Option<Arc<MatchBits>> {
        match rows {
            SampledRows::Own(table) => {
                let sample = self.own(snapshot, table)?;
                sample.matching(snapshot.table(table).ok()?, restriction)
            }
            SampledRows::Referred {
                from,
                column,
                to,
                key,
            } => {
                let sample = self.own(snapshot, from)?;
                let (from, to) = (snapshot.table(from).ok()?, snapshot.table(to).ok()?);
                sample.followed(from, column, to, key)?.matching(to, restriction)
            }
        }
    }
}
