//! SUMMARIZE as a query: one pass over the rows, whose results become a row for each column.

use frazil_types::{ColumnDef, LogicalType};
use std::fmt::Write;

/// Names of the columns of a summary behind those of name and type.
const COLUMNS: &str = "min, max, approx_unique, avg, std, q25, q50, q75, count, null_percentage";

/// The text of the query. `source`: a query (`is_query`), or what stands behind FROM; `columns`: its columns.
pub(crate) fn query(source: &str, is_query: bool, columns: &[ColumnDef]) -> String {
    let mut computed = "count(*) as n".to_owned();
    let mut rows = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let own = format!("c{at}");
        let mut named = |name: &str, expression: Option<String>| match expression {
            Some(expression) => {
                // A String takes all that is written.
                let _ = write!(computed, ", {expression} as {name}{at}");
                format!("a.{name}{at}")
            }
            None => "null".to_owned(),
        };
        let ty = column.ty;
        let is_number = ty.is_numeric();
        let is_placed = is_number || ty.is_day() || ty.is_local_time() || ty.is_zoned();
        // The types that min and max take.
        let is_ordered = is_placed || ty.is_string() || ty.is_time_of_day() || ty.is_span();
        let extreme = |name: &str| is_ordered.then(|| format!("{name}({own})"));
        let quarter = |part: &str| is_placed.then(|| format!("quantile_disc({own}, {part})"));
        let counted = match ty.is_comparable() {
            true => format!("approx_count_distinct({own})"),
            false => format!("approx_count_distinct({own}::text)"),
        };
        let (least, greatest) = (named("min", extreme("min")), named("max", extreme("max")));
        let unique = named("unique", Some(counted));
        let average = named("avg", is_number.then(|| format!("avg({own}::double precision)")));
        let deviation = named(
            "std",
            is_number.then(|| format!("stddev({own}::double precision)")),
        );
        let (q25, q50, q75) = (
            named("q25", quarter("0.25")),
            named("q50", quarter("0.5")),
            named("q75", quarter("0.75")),
        );
        let known = named("known", Some(format!("count({own})")));
        rows.push(format!(
            "({at}, {}, {}, {least}::text, {greatest}::text, {unique}, {average}::double precision, \
             {deviation}::double precision, {q25}::text, {q50}::text, {q75}::text, a.n, \
             round((100.0 * (a.n - {known}) / nullif(a.n, 0))::decimal(18, 6), 2)::decimal(5, 2))",
            literal(&column.name),
            literal(&type_name(ty)),
        ));
    }
    let names: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
    // A comment at the end of the source ends with its line.
    let source = if is_query {
        format!("({source}\n)")
    } else {
        source.to_owned()
    };
    format!(
        "select column_name, column_type, {COLUMNS} from (select {computed} from {source} as s ({})) as a, \
         lateral (values {}) as v (place, column_name, column_type, {COLUMNS}) order by place",
        names.join(", "),
        rows.join(", ")
    )
}

fn type_name(ty: LogicalType) -> String {
    ty.to_string()
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
