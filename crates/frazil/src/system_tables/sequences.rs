//! Rows of sequences: `pg_sequence`, `pg_sequences`, and `information_schema.sequences`.

use super::cells::{Cells, DATABASE, yes_or_no};
use super::roles::owner_name;
use super::virtual_table::Context;
use frazil_types::sql_type::named_oid;
use frazil_types::{Result, Value};

pub(super) fn definitions(context: &Context<'_>) -> Result<Vec<Cells>> {
    let rows = context.catalog().sequences().map(|sequence| {
        let of = &sequence.definition;
        Cells::new()
            .with("seqrelid", sequence.id.oid())
            .with("seqtypid", of.ty.oid())
            .with("seqstart", of.start)
            .with("seqincrement", of.increment)
            .with("seqmax", of.max)
            .with("seqmin", of.min)
            .with("seqcache", of.cache)
            .with("seqcycle", of.cycle)
    });
    Ok(rows.collect())
}

/// Sequences with the value that each gave last, NULL of one that has given none.
pub(super) fn with_values(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let rows = catalog.sequences().map(|sequence| {
        let of = &sequence.definition;
        let position = sequence.state.shown().0;
        let ty = named_oid(of.ty.oid(), of.ty.name());
        Cells::new()
            .with("schemaname", catalog.qualified(sequence.namespace, "").schema)
            .with("sequencename", sequence.name.as_str())
            .with("sequenceowner", owner_name(catalog, sequence.id.oid()))
            .with("data_type", Value::Bytes(ty))
            .with("start_value", of.start)
            .with("min_value", of.min)
            .with("max_value", of.max)
            .with("increment_by", of.increment)
            .with("cycle", of.cycle)
            .with("cache_size", of.cache)
            .with("last_value", position.is_called.then_some(position.value))
    });
    Ok(rows.collect())
}

/// Sequences without those of identity columns.
pub(super) fn standard(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let is_shown = |owner: &frazil_catalog::SequenceOwner| !owner.is_identity;
    let shown = catalog.sequences();
    let shown = shown.filter(|sequence| sequence.owner.as_ref().is_none_or(is_shown));
    let rows = shown.map(|sequence| {
        let of = &sequence.definition;
        let bits = 8 * of.ty.native().size() as u32;
        Cells::new()
            .with("sequence_catalog", DATABASE)
            .with(
                "sequence_schema",
                catalog.qualified(sequence.namespace, "").schema,
            )
            .with("sequence_name", sequence.name.as_str())
            .with("data_type", of.ty.name().to_string())
            .with("numeric_precision", bits)
            .with("numeric_precision_radix", 2)
            .with("numeric_scale", 0)
            .with("start_value", of.start.to_string())
            .with("minimum_value", of.min.to_string())
            .with("maximum_value", of.max.to_string())
            .with("increment", of.increment.to_string())
            .with("cycle_option", yes_or_no(of.cycle))
    });
    Ok(rows.collect())
}
