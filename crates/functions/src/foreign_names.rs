//! Functions of DuckDB, SQLite and others under the names that they have there, and what does the same here: hints for
//! calls of functions that there are not.

/// Names in lower case, sorted, with what is written instead.
const FOREIGN: &[(&str, &str)] = &[
    (
        "approx_quantile",
        "percentile_cont(0.5) within group (order by x)",
    ),
    ("argmax", "(array_agg(x order by y desc))[1]"),
    ("argmin", "(array_agg(x order by y))[1]"),
    ("changes", "the number of rows that the statement reports"),
    ("char", "chr(n)"),
    ("contains", "strpos(a, b) > 0"),
    ("count_if", "count(*) filter (where c)"),
    ("countif", "count(*) filter (where c)"),
    ("curdate", "current_date"),
    ("date_add", "d + interval '1 day'"),
    (
        "date_diff",
        "b - a, which is days for dates and an interval for timestamps",
    ),
    ("date_sub", "d - interval '1 day'"),
    ("dateadd", "d + interval '1 day'"),
    (
        "datediff",
        "b - a, which is days for dates and an interval for timestamps",
    ),
    ("datetime", "cast(x as timestamp)"),
    ("day", "extract(day from d)"),
    ("dayname", "to_char(d, 'FMDay')"),
    ("dayofmonth", "extract(day from d)"),
    ("dayofweek", "extract(dow from d)"),
    ("dayofyear", "extract(doy from d)"),
    ("flatten", "array(select unnest(a))"),
    ("from_json", "cast(x as jsonb)"),
    ("getdate", "now()"),
    ("glob", "x like 'a%'"),
    ("group_concat", "string_agg(x, ',')"),
    ("hex", "encode(x, 'hex')"),
    ("hour", "extract(hour from t)"),
    ("if", "case when c then a else b end"),
    ("ifnull", "coalesce(a, b)"),
    ("iif", "case when c then a else b end"),
    ("instr", "strpos(a, b)"),
    ("isnull", "x is null"),
    ("isodow", "extract(isodow from d)"),
    ("json_extract", "j -> 'key', or jsonb_path_query(j, '$.key')"),
    ("json_extract_string", "j ->> 'key'"),
    ("json_group_array", "json_agg(x)"),
    ("json_group_object", "json_object_agg(k, v)"),
    ("julianday", "extract(epoch from t), in seconds"),
    (
        "last_day",
        "date_trunc('month', d) + interval '1 month' - interval '1 day'",
    ),
    ("last_insert_rowid", "insert … returning"),
    ("len", "length(x)"),
    ("list", "array_agg(x)"),
    ("list_aggregate", "(select sum(x) from unnest(a) x)"),
    ("list_append", "array_append(a, x)"),
    ("list_concat", "array_cat(a, b)"),
    ("list_filter", "array(select x from unnest(a) x where …)"),
    ("list_has", "x = any(a)"),
    ("list_position", "array_position(a, x)"),
    ("list_prepend", "array_prepend(x, a)"),
    ("list_sum", "(select sum(x) from unnest(a) x)"),
    ("list_transform", "array(select … from unnest(a) x)"),
    ("list_value", "array[a, b]"),
    ("minute", "extract(minute from t)"),
    ("month", "extract(month from d)"),
    ("monthname", "to_char(d, 'FMMonth')"),
    ("nvl", "coalesce(a, b)"),
    ("prefix", "starts_with(a, b)"),
    ("printf", "format('%s', x)"),
    ("quarter", "extract(quarter from d)"),
    ("range", "generate_series(1, n)"),
    ("regexp_extract", "substring(x from 'pattern')"),
    ("regexp_full_match", "x ~ '^pattern$'"),
    ("second", "extract(second from t)"),
    ("str_split", "string_to_array(x, ',')"),
    ("string_split", "string_to_array(x, ',')"),
    ("strlen", "octet_length(x)"),
    ("suffix", "ends_with(a, b)"),
    ("sysdate", "now()"),
    ("to_json_string", "cast(x as text)"),
    ("today", "current_date"),
    ("total", "coalesce(sum(x), 0)"),
    ("typeof", "pg_typeof(x)"),
    ("ucase", "upper(x)"),
    ("unhex", "decode(x, 'hex')"),
    ("unixepoch", "extract(epoch from t)"),
    ("uuid", "gen_random_uuid()"),
    ("week", "extract(week from d)"),
    ("weekday", "extract(dow from d)"),
    ("year", "extract(year from d)"),
];

/// What does here what a function of another database does.
pub(crate) fn instead_of(name: &str) -> Option<&'static str> {
    let found = FOREIGN.binary_search_by(|known| known.0.cmp(name)).ok()?;
    Some(FOREIGN[found].1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list;

    #[test]
    fn the_names_are_sorted_and_not_ours() {
        assert!(FOREIGN.is_sorted_by(|a, b| a.0 < b.0));
        for (name, _) in FOREIGN {
            assert!(list().all(|function| function.name != *name), "{name} is there");
        }
    }

    #[test]
    fn what_is_written_instead_is_there() {
        // Words before a parenthesis that are not functions.
        let syntax = [
            "array",
            "filter",
            "group",
            "cast",
            "from",
            "any",
            "extract",
            "coalesce",
            "substring",
            "",
        ];
        for (name, instead) in FOREIGN {
            for (at, _) in instead.match_indices('(') {
                let before = instead[..at].trim_end();
                let start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let word = &before[start.map_or(0, |at| at + 1)..];
                let is_known = syntax.contains(&word) || list().any(|function| function.name == word);
                assert!(is_known, "{name}: {word}");
            }
        }
    }
}
