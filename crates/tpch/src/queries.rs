//! The 22 queries with their validation parameters.

const TEXTS: [&str; 22] = [
    include_str!("../queries/q01.sql"),
    include_str!("../queries/q02.sql"),
    include_str!("../queries/q03.sql"),
    include_str!("../queries/q04.sql"),
    include_str!("../queries/q05.sql"),
    include_str!("../queries/q06.sql"),
    include_str!("../queries/q07.sql"),
    include_str!("../queries/q08.sql"),
    include_str!("../queries/q09.sql"),
    include_str!("../queries/q10.sql"),
    include_str!("../queries/q11.sql"),
    include_str!("../queries/q12.sql"),
    include_str!("../queries/q13.sql"),
    include_str!("../queries/q14.sql"),
    include_str!("../queries/q15.sql"),
    include_str!("../queries/q16.sql"),
    include_str!("../queries/q17.sql"),
    include_str!("../queries/q18.sql"),
    include_str!("../queries/q19.sql"),
    include_str!("../queries/q20.sql"),
    include_str!("../queries/q21.sql"),
    include_str!("../queries/q22.sql"),
];

/// How many queries there are.
pub const QUERIES: usize = TEXTS.len();

/// The text of query `number`, 1 to 22. Q11's fraction depends on the scale factor (TPC-H, 2.4.11.3).
pub fn query(number: usize, scale_factor: f64) -> String {
    let fraction = format!("{:.10}", 0.0001 / scale_factor);
    TEXTS[number - 1].trim().replace("{fraction}", &fraction)
}
