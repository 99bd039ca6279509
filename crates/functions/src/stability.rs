//! Calls whose result another statement may not give for the same arguments, by PostgreSQL's marks of its functions:
//! generated columns call none of them.

use crate::Operand;
use crate::documentation::list;
use crate::typing::Volatility;

/// Functions that PostgreSQL calls stable although Frazil's results never change: there they depend on settings such as
/// `DateStyle`, or on functions of types.
const STABLE: &[&str] = &[
    "array_to_json",
    "array_to_string",
    "concat",
    "concat_ws",
    "current_database",
    "current_role",
    "current_schema",
    "current_user",
    "format",
    "json_build_array",
    "json_build_object",
    "jsonb_build_array",
    "jsonb_build_object",
    "pg_blocking_pids",
    "quote_nullable",
    "row_to_json",
    "session_user",
    "to_char",
    "to_date",
    "to_json",
    "to_jsonb",
    "to_number",
    "user",
];

/// Functions of instants that do not read the session's time zone.
const OF_INSTANTS: &[&str] = &["age", "coalesce", "greatest", "least", "nullif", "timezone"];

/// True if a call is not immutable.
pub fn is_stable(name: &str, arguments: &[Operand]) -> bool {
    let is_zoned = |argument: &Operand| argument.ty().is_some_and(|ty| ty.is_zoned());
    let reads_zone = || !OF_INSTANTS.contains(&name) && arguments.iter().any(is_zoned);
    let reads_pattern = || name == "to_timestamp" && arguments.len() == 2;
    let is_marked = || list().any(|f| f.name == name && f.volatility != Volatility::Immutable);
    STABLE.contains(&name) || reads_zone() || reads_pattern() || is_marked()
}
