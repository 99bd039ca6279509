//! The rows of PostgreSQL's settings that only exist because its dumps, drivers and tools set them. Values are checked
//! and shown; they change no answer, and those that would are refused.

use super::client_encoding::ClientEncoding;
use super::kind::{Read, ValueKind, wrong};
use super::setting::Setting;
use super::{SessionTimeouts, Settings};
use frazil_types::{Error, Result};
use std::time::Duration;

const KB: u64 = 1 << 10;
/// PostgreSQL's pages, in bytes.
const PAGE: u64 = 8 << 10;
const COST: ValueKind = ValueKind::Real(0.0, f64::MAX);
const COUNT: ValueKind = ValueKind::Integer(1, i32::MAX as i128);
const LEVELS: ValueKind = ValueKind::Choice(&[
    "debug5", "debug4", "debug3", "debug2", "debug1", "info", "notice", "warning", "error", "log", "fatal",
    "panic",
]);
const OFF_ON: &str = "Planner setting of PostgreSQL; no effect.";

/// A switch of PostgreSQL's planner, which is on.
const fn planner(name: &'static str) -> Setting {
    Setting::kept(name, ValueKind::Boolean, "on", OFF_ON)
}

/// A number of PostgreSQL's planner.
const fn cost(name: &'static str, kind: ValueKind, default: &'static str) -> Setting {
    Setting::kept(name, kind, default, OFF_ON)
}

/// A locale, of which there is one.
const fn locale(name: &'static str) -> Setting {
    Setting::kept(name, ValueKind::Text, "C", "Locale.").only(&["C", "POSIX"])
}

/// Keeps a time after which a server ends a session, zero meaning never. 0A000 for a connection within the program,
/// which nobody ends.
fn session_timeout(
    settings: &mut Settings,
    read: &Read,
    field: fn(&mut SessionTimeouts) -> &mut Option<Duration>,
) -> Result<()> {
    let time = Some(read.time()?).filter(|time| !time.is_zero());
    if time.is_some() && !settings.is_served {
        return Err(Error::unsupported("a timeout of sessions without a server")
            .with_hint("frazil serve ends sessions after it"));
    }
    *field(&mut settings.timeouts) = time;
    Ok(())
}

pub(super) static SETTINGS: &[Setting] = &[
    Setting::session(
        "client_encoding",
        ValueKind::Text,
        |settings, read| ClientEncoding::read(&read).map(|encoding| settings.client_encoding = encoding),
        |settings| settings.client_encoding.name().to_owned(),
        "Encoding of texts.",
    )
    .reported(),
    Setting::session(
        "DateStyle",
        ValueKind::List,
        |_, read| date_style(&read),
        |_| "ISO, MDY".to_owned(),
        "Form in which dates are shown, and order in which they are read.",
    )
    .reported(),
    Setting::constant(
        "server_version",
        "15.0 (Frazil)",
        "Version of PostgreSQL whose rules hold.",
    )
    .reported(),
    Setting::constant("server_version_num", "150000", "The same, as a number."),
    Setting::constant("server_encoding", "UTF8", "Encoding of stored texts.").reported(),
    Setting::constant("integer_datetimes", "on", "Whether times are integers.").reported(),
    Setting::shown(
        "is_superuser",
        |board| super::shown_flag(board.is_superuser()).to_owned(),
        "Whether the current role may do everything.",
    )
    .reported(),
    Setting::constant("in_hot_standby", "off", "Whether the server is a replica.").reported(),
    Setting::constant("max_identifier_length", "63", "Longest name, in bytes."),
    Setting::constant("max_index_keys", "32", "Most columns of an index."),
    Setting::constant("lc_collate", "C", "Order of texts."),
    Setting::constant("lc_ctype", "C", "Classes of characters."),
    Setting::kept(
        "application_name",
        ValueKind::Text,
        "",
        "Name that the client gives itself.",
    )
    .reported(),
    Setting::kept(
        "standard_conforming_strings",
        ValueKind::Boolean,
        "on",
        "Whether backslashes in '…' are literal.",
    )
    .only(&["on"])
    .reported(),
    Setting::kept(
        "IntervalStyle",
        ValueKind::Choice(&["postgres", "postgres_verbose", "sql_standard", "iso_8601"]),
        "postgres",
        "Form in which intervals are shown.",
    )
    .only(&["postgres"])
    .reported(),
    Setting::kept(
        "extra_float_digits",
        ValueKind::Integer(-15, 3),
        "1",
        "Digits of floating-point numbers: from 1 on, the shortest exact text.",
    )
    .only(&["1", "2", "3"]),
    Setting::kept(
        "bytea_output",
        ValueKind::Choice(&["escape", "hex"]),
        "hex",
        "Form in which bytea is shown.",
    )
    .only(&["hex"]),
    Setting::kept(
        "array_nulls",
        ValueKind::Boolean,
        "on",
        "Whether NULL in the text of an array is NULL.",
    )
    .only(&["on"]),
    Setting::kept(
        "transform_null_equals",
        ValueKind::Boolean,
        "off",
        "Whether x = NULL means x IS NULL.",
    )
    .only(&["off"]),
    Setting::kept(
        "backslash_quote",
        ValueKind::Choice(&["safe_encoding", "on", "off"]),
        "safe_encoding",
        "Whether \\' is a quote in E'…'.",
    )
    .only(&["safe_encoding", "on"]),
    Setting::kept(
        "quote_all_identifiers",
        ValueKind::Boolean,
        "off",
        "Whether definitions show all names in quotes.",
    )
    .only(&["off"]),
    Setting::kept(
        "escape_string_warning",
        ValueKind::Boolean,
        "on",
        "Warnings about backslashes; there are none.",
    ),
    Setting::kept(
        "check_function_bodies",
        ValueKind::Boolean,
        "on",
        "Checks of functions; there are none of users.",
    ),
    Setting::kept(
        "row_security",
        ValueKind::Boolean,
        "on",
        "Policies of rows; there are none.",
    ),
    Setting::kept(
        "session_replication_role",
        ValueKind::Choice(&["origin", "replica", "local"]),
        "origin",
        "Which triggers and foreign keys run.",
    )
    .only(&["origin", "local"]),
    Setting::kept(
        "default_transaction_deferrable",
        ValueKind::Boolean,
        "off",
        "Whether read-only transactions may wait at their start; none does.",
    ),
    Setting::kept(
        "default_tablespace",
        ValueKind::Choice(&[""]),
        "",
        "Tablespace of new tables; there are none.",
    ),
    Setting::kept(
        "temp_tablespaces",
        ValueKind::Choice(&[""]),
        "",
        "Tablespaces of temporary tables; there are none.",
    ),
    Setting::kept(
        "default_table_access_method",
        ValueKind::Choice(&["heap"]),
        "heap",
        "Access method of new tables; there is one.",
    ),
    Setting::session(
        "default_with_oids",
        ValueKind::Boolean,
        |_, read| match read.flag()? {
            true => Err(Error::unsupported("a table WITH OIDS")),
            false => Ok(()),
        },
        |_| "off".to_owned(),
        "An oid for each row of new tables; there are none.",
    ),
    Setting::kept(
        "default_toast_compression",
        ValueKind::Choice(&["pglz", "lz4"]),
        "pglz",
        "Compression of long values; Frazil has its own.",
    ),
    Setting::kept(
        "default_text_search_config",
        ValueKind::Text,
        "pg_catalog.simple",
        "Configuration of text search; there is none.",
    ),
    Setting::kept(
        "xmloption",
        ValueKind::Choice(&["content", "document"]),
        "content",
        "Form of XML; there is no such type.",
    ),
    Setting::kept(
        "xmlbinary",
        ValueKind::Choice(&["base64", "hex"]),
        "base64",
        "Bytes in XML; there is no such type.",
    ),
    Setting::kept(
        "timezone_abbreviations",
        ValueKind::Text,
        "Default",
        "List of abbreviations of zones.",
    )
    .only(&["Default"]),
    Setting::kept(
        "password_encryption",
        ValueKind::Choice(&["md5", "scram-sha-256"]),
        "scram-sha-256",
        "Encryption of new passwords; roles have none.",
    ),
    Setting::kept(
        "synchronize_seqscans",
        ValueKind::Boolean,
        "on",
        "Where scans begin; no effect.",
    ),
    Setting::kept(
        "lo_compat_privileges",
        ValueKind::Boolean,
        "off",
        "Rights on large objects; there are none.",
    ),
    Setting::kept(
        "log_min_messages",
        LEVELS,
        "warning",
        "Messages of the server's log; there is none.",
    ),
    Setting::kept(
        "log_min_error_statement",
        LEVELS,
        "error",
        "Statements in the server's log; there is none.",
    ),
    Setting::kept(
        "log_statement",
        ValueKind::Choice(&["none", "ddl", "mod", "all"]),
        "none",
        "Statements in the server's log; there is none.",
    ),
    Setting::kept(
        "log_min_duration_statement",
        ValueKind::Integer(-1, i32::MAX as i128),
        "-1",
        "Slow statements in the server's log; there is none.",
    ),
    Setting::kept(
        "log_duration",
        ValueKind::Boolean,
        "off",
        "Times in the server's log; there is none.",
    ),
    Setting::kept(
        "idle_in_transaction_session_timeout",
        ValueKind::Time,
        "0",
        "Time after which an idle transaction ends; 0 means never.",
    )
    .applied(|settings, read| session_timeout(settings, read, |timeouts| &mut timeouts.idle_in_transaction)),
    Setting::kept(
        "idle_session_timeout",
        ValueKind::Time,
        "0",
        "Time after which an idle session ends; 0 means never.",
    )
    .applied(|settings, read| session_timeout(settings, read, |timeouts| &mut timeouts.idle)),
    Setting::kept(
        "transaction_timeout",
        ValueKind::Time,
        "0",
        "Time that a transaction may take; 0 means any.",
    )
    .applied(|settings, read| session_timeout(settings, read, |timeouts| &mut timeouts.transaction)),
    locale("lc_messages"),
    locale("lc_monetary"),
    locale("lc_numeric"),
    locale("lc_time"),
    planner("enable_async_append"),
    planner("enable_bitmapscan"),
    planner("enable_gathermerge"),
    planner("enable_hashagg"),
    planner("enable_hashjoin"),
    planner("enable_incremental_sort"),
    planner("enable_indexonlyscan"),
    planner("enable_indexscan"),
    planner("enable_material"),
    planner("enable_memoize"),
    planner("enable_mergejoin"),
    planner("enable_nestloop"),
    planner("enable_parallel_append"),
    planner("enable_parallel_hash"),
    planner("enable_partition_pruning"),
    Setting::kept(
        "enable_partitionwise_aggregate",
        ValueKind::Boolean,
        "off",
        OFF_ON,
    ),
    Setting::kept("enable_partitionwise_join", ValueKind::Boolean, "off", OFF_ON),
    planner("enable_seqscan"),
    planner("enable_sort"),
    planner("enable_tidscan"),
    planner("geqo"),
    cost("geqo_threshold", ValueKind::Integer(2, i32::MAX as i128), "12"),
    cost("geqo_effort", ValueKind::Integer(1, 10), "5"),
    cost("geqo_seed", ValueKind::Real(0.0, 1.0), "0"),
    planner("jit"),
    planner("parallel_leader_participation"),
    cost(
        "force_parallel_mode",
        ValueKind::Choice(&["off", "on", "regress"]),
        "off",
    ),
    cost(
        "plan_cache_mode",
        ValueKind::Choice(&["auto", "force_generic_plan", "force_custom_plan"]),
        "auto",
    ),
    cost(
        "constraint_exclusion",
        ValueKind::Choice(&["partition", "on", "off"]),
        "partition",
    ),
    cost("default_statistics_target", ValueKind::Integer(1, 10_000), "100"),
    cost("from_collapse_limit", COUNT, "8"),
    cost("join_collapse_limit", COUNT, "8"),
    cost("seq_page_cost", COST, "1"),
    cost("random_page_cost", COST, "4"),
    cost("cpu_tuple_cost", COST, "0.01"),
    cost("cpu_index_tuple_cost", COST, "0.005"),
    cost("cpu_operator_cost", COST, "0.0025"),
    cost("parallel_setup_cost", COST, "1000"),
    cost("parallel_tuple_cost", COST, "0.1"),
    cost("cursor_tuple_fraction", ValueKind::Real(0.0, 1.0), "0.1"),
    cost("hash_mem_multiplier", ValueKind::Real(1.0, 1000.0), "2"),
    cost("effective_io_concurrency", ValueKind::Integer(0, 1000), "1"),
    cost("maintenance_io_concurrency", ValueKind::Integer(0, 1000), "10"),
    cost("max_parallel_workers", ValueKind::Integer(0, 1024), "8"),
    cost(
        "max_parallel_workers_per_gather",
        ValueKind::Integer(0, 1024),
        "2",
    ),
    cost(
        "max_parallel_maintenance_workers",
        ValueKind::Integer(0, 1024),
        "2",
    ),
    cost("work_mem", ValueKind::Units(64, KB), "4MB"),
    cost("maintenance_work_mem", ValueKind::Units(1024, KB), "64MB"),
    cost("temp_buffers", ValueKind::Units(100, PAGE), "8MB"),
    cost("effective_cache_size", ValueKind::Units(1, PAGE), "4GB"),
    cost("min_parallel_table_scan_size", ValueKind::Units(0, PAGE), "8MB"),
    cost("min_parallel_index_scan_size", ValueKind::Units(0, PAGE), "512kB"),
];

/// ISO and MDY under their names; 0A000 for other styles and orders, 22023.
fn date_style(read: &Read) -> Result<()> {
    for word in read
        .word()?
        .split(',')
        .map(|word| word.trim().to_ascii_lowercase())
    {
        let unsupported = || Error::unsupported(format!("DateStyle \"{word}\"")).with_hint("it is ISO, MDY");
        match word.as_str() {
            "iso" | "mdy" | "us" | "noneuro" | "noneuropean" | "default" => {}
            "sql" | "postgres" | "german" | "ymd" | "dmy" | "euro" | "european" => return Err(unsupported()),
            _ => return Err(wrong("DateStyle", &word, "ISO and MDY")),
        }
    }
    Ok(())
}
