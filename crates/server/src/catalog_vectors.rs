//! Columns of `pg_catalog` that PostgreSQL has as `int2vector` and `oidvector`. For statements they are arrays whose
//! subscripts begin with 0. A client is told PostgreSQL's types, and their texts are numbers with blanks between:
//! drivers read `pg_index.indkey` like this.

use frazil_types::Schema;

/// The types on the wire: oids of an array of numbers, and of the vector.
const TYPES: [(u32, u32); 2] = [(1005, 22), (1028, 30)];

/// True if PostgreSQL has this column of this relation of `pg_catalog` as a vector.
fn is_column(relation: u32, column: u32) -> bool {
    match relation {
        // pg_proc.proargtypes
        1255 => column == 20,
        // pg_index.indkey, indcollation, indclass, indoption
        2610 => (16..=19).contains(&column),
        // pg_trigger.tgattr
        2620 => column == 15,
        // pg_partitioned_table.partattrs, partclass, partcollation
        3350 => (5..=7).contains(&column),
        // pg_statistic_ext.stxkeys
        3381 => column == 7,
        // pg_publication_rel.prattrs
        6106 => column == 5,
        _ => false,
    }
}

/// The oid of the vector type of a result's column; `None` for any other column.
fn vector(schema: &Schema, at: usize) -> Option<u32> {
    let origin = schema.origin(at)?;
    let array = schema.columns[at].ty.oid();
    let known = TYPES.iter().find(|known| known.0 == array)?;
    is_column(origin.relation, origin.column).then_some(known.1)
}

/// The oid that a client is told for a result's column.
pub fn oid(schema: &Schema, at: usize) -> u32 {
    vector(schema, at).unwrap_or_else(|| schema.columns[at].ty.oid())
}

/// True for columns whose texts are those of vectors.
pub fn is_vector(schema: &Schema, at: usize) -> bool {
    vector(schema, at).is_some()
}

/// Makes the text of a vector of that of its array: `1 2` of `[0:1]={1,2}`.
pub fn from_array(text: &str) -> String {
    let inner = text.split_once('{').map_or(text, |(_, inner)| inner);
    inner.trim_end_matches('}').replace(',', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::LogicalType;

    #[test]
    fn arrays_become_vectors() {
        for (array, vector) in [("{}", ""), ("[0:0]={7}", "7"), ("[0:2]={1,-2,3}", "1 -2 3")] {
            assert_eq!(from_array(array), vector);
        }
        let array = |ty: LogicalType| ty.array().map(LogicalType::oid);
        assert_eq!(array(LogicalType::SmallInt), Some(TYPES[0].0));
        assert_eq!(array(LogicalType::Oid), Some(TYPES[1].0));
    }
}
