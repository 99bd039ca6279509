//! The rows of settings that Frazil has a use for.

use super::kind::{Read, ValueKind, or_off, shown_flag, shown_size, shown_time, wrong};
use super::setting::Setting;
use super::{NoticeLevel, ScanMode};
use crate::background_checkpointer::{DEFAULT_LOG_BYTES, DEFAULT_TIMEOUT};
use crate::background_freezer::{DEFAULT_COOLING, DEFAULT_REFREEZE_BUDGET};
use crate::database::Database;
use frazil_catalog::SearchPath;
use frazil_codegen::PaxCode;
use frazil_files::FileAccess;
use frazil_frontend::Isolation;
use frazil_kernels::Isa;
use frazil_plan::pipeline::StagePolicy;
use frazil_storage::Acknowledge;
use frazil_types::{CHUNK_ROWS, Error, Result, Zone};
use std::time::Duration;

const ISOLATION: ValueKind = ValueKind::Choice(&[
    "serializable",
    "repeatable read",
    "read committed",
    "read uncommitted",
]);

const SCAN_MODES: [(&str, ScanMode); 6] = [
    ("compiled", ScanMode::Compiled),
    ("vectorized", ScanMode::Vectorized),
    ("sarg", ScanMode::Sarg),
    ("blocks", ScanMode::Blocks),
    ("sma", ScanMode::Sma),
    ("psma", ScanMode::Psma),
];

const STAGES: [(&str, StagePolicy); 3] = [
    ("fused", StagePolicy::Fused),
    ("relaxed", StagePolicy::Relaxed),
    ("staged", StagePolicy::Staged),
];

/// Names of the ways in which generated code reads hot chunks. With none given, code is made for a table's k where
/// that pays: see [`Settings::reads_in_place`].
const PAX_CODE: [(&str, Option<PaxCode>); 4] = [
    ("auto", None),
    ("gathered", Some(PaxCode::Gathered)),
    ("compile_time", Some(PaxCode::CompileTime)),
    ("run_time", Some(PaxCode::RunTime)),
];

/// Cranelift's names of its levels of optimization.
const OPTIMIZATION: [(&str, bool); 2] = [("none", false), ("speed", true)];

/// The words of a choice.
const fn words<T, const N: usize>(choice: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut i = 0;
    while i < N {
        words[i] = choice[i].0;
        i += 1;
    }
    words
}

const SCAN_WORDS: &[&str] = &words(&SCAN_MODES);
const STAGE_WORDS: &[&str] = &words(&STAGES);
const PAX_WORDS: &[&str] = &words(&PAX_CODE);
const OPTIMIZATION_WORDS: &[&str] = &words(&OPTIMIZATION);

pub(super) static SETTINGS: &[Setting] = &[
    Setting::session(
        "threads",
        ValueKind::Integer(1, 1024),
        |s, v| put(&mut s.threads, v.number().map(|n| n as usize)),
        |s| s.threads.to_string(),
        "Threads of a statement, its own among them.",
    ),
    Setting::database(
        "memory_limit",
        ValueKind::Size,
        (
            |database, limit| {
                let limit = limit.map_or_else(Database::default_memory_limit, |v| v.size_or_zero() as usize);
                database.budget().set_limit(limit);
                database.plan_cache().limit(limit);
                database.footers().limit(limit);
                frazil_runtime::memory::limit_pool(limit);
            },
            |board| shown_size(board.database().budget().limit() as u64),
            || shown_size(Database::default_memory_limit() as u64),
        ),
        "Memory that all running statements may hold.",
    ),
    Setting::session(
        "statement_timeout",
        ValueKind::Time,
        |s, v| {
            put(
                &mut s.statement_timeout,
                v.time().map(|t| Some(t).filter(|t| !t.is_zero())),
            )
        },
        |s| shown_time(s.statement_timeout.unwrap_or_default()),
        "Time that a statement may take; 0 means any.",
    ),
    Setting::session(
        "lock_timeout",
        ValueKind::Time,
        |s, v| {
            let given = |time: Duration| if time.is_zero() { super::UNLIMITED } else { time };
            put(&mut s.lock_timeout, v.time().map(given))
        },
        |s| {
            shown_time(
                Some(s.lock_timeout)
                    .filter(|t| *t < super::UNLIMITED)
                    .unwrap_or_default(),
            )
        },
        "Time to wait for another transaction that writes; 0 means any.",
    ),
    Setting::session(
        "read_lag",
        ValueKind::Time,
        |s, v| put(&mut s.read_lag, v.time()),
        |s| shown_time(s.read_lag),
        "In a database opened read-only: how old what a statement sees of other processes may be; \
         0 means as of its begin.",
    ),
    Setting::session(
        "frazil.max_recursion",
        ValueKind::Integer(0, i64::MAX as i128),
        |s, v| {
            put(
                &mut s.max_recursion,
                v.number().map(|n| Some(n as u64).filter(|turns| *turns > 0)),
            )
        },
        |s| s.max_recursion.unwrap_or(0).to_string(),
        "Iterations that a recursive query may take; 0 means any number.",
    ),
    Setting::session(
        "file_access",
        ValueKind::List,
        |s, v| {
            let wanted = FileAccess::of_text(v.word()?)?;
            s.file_access = s.file_access.narrowed(wanted)?;
            Ok(())
        },
        |s| s.file_access.to_string(),
        "Files that statements may name: on, off, or folders. It can only be narrowed.",
    ),
    Setting::session(
        "TimeZone",
        ValueKind::Text,
        |s, v| put(&mut s.time_zone, zone(v.word()?)),
        |s| s.time_zone.to_string(),
        "Zone in which timestamps with time zone are read and shown.",
    )
    .reported(),
    Setting::session(
        "search_path",
        ValueKind::Names,
        |s, v| {
            let path = SearchPath::parse(v.word()?);
            let of_session = path.map(|path| {
                let path = path.of_user(s.search_path.user());
                path.in_session_of(&s.search_path)
            });
            put(&mut s.search_path, of_session)
        },
        |s| s.search_path.text().to_owned(),
        "Schemas in which names without a schema are looked for.",
    ),
    Setting::session(
        "default_transaction_isolation",
        ISOLATION,
        |s, v| put(&mut s.isolation, isolation(&v)),
        |s| s.isolation.to_string(),
        "Isolation level of transactions that do not name one.",
    ),
    Setting::session(
        "default_transaction_read_only",
        ValueKind::Boolean,
        |s, v| put(&mut s.read_only, v.flag()),
        |s| shown_flag(s.read_only).to_owned(),
        "Whether transactions that do not say so are read-only.",
    )
    .reported(),
    Setting::of_transaction(
        "transaction_isolation",
        ISOLATION,
        |board| board.isolation().to_string(),
        "Isolation level of the open transaction.",
    ),
    Setting::of_transaction(
        "transaction_read_only",
        ValueKind::Boolean,
        |board| shown_flag(board.is_read_only()).to_owned(),
        "Whether the open transaction is read-only.",
    ),
    Setting::kept(
        "synchronous_commit",
        ValueKind::Choice(&["local", "remote_write", "remote_apply", "on", "off"]),
        "on",
        "When a commit returns: off means before it is durable, all others when it is.",
    )
    .applied(|s, v| {
        s.synchronous_commit = match v.word()? {
            "off" => Acknowledge::Placed,
            _ => Acknowledge::Durable,
        };
        Ok(())
    }),
    Setting::kept(
        "client_min_messages",
        ValueKind::Choice(&[
            "debug5", "debug4", "debug3", "debug2", "debug1", "log", "info", "notice", "warning", "error",
        ]),
        "notice",
        "Least severe message that a statement returns beside its result.",
    )
    .applied(|s, v| {
        s.least_notice = match v.word()? {
            "error" => NoticeLevel::Error,
            "warning" => NoticeLevel::Warning,
            _ => NoticeLevel::Notice,
        };
        Ok(())
    }),
    Setting::database(
        "max_wal_size",
        ValueKind::SizeOrOff,
        (
            |database, size| {
                let bytes = size.map_or(DEFAULT_LOG_BYTES, |v| v.size_or_zero());
                let policy = database.checkpoints();
                policy.set_log_bytes(Some(bytes).filter(|bytes| *bytes > 0));
            },
            |board| or_off(board.database().checkpoints().log_bytes(), shown_size),
            || shown_size(DEFAULT_LOG_BYTES),
        ),
        "Size of the log that starts a checkpoint; off means never.",
    ),
    Setting::database(
        "checkpoint_timeout",
        ValueKind::TimeOrOff,
        (
            |database, time| {
                let age = time.map_or(DEFAULT_TIMEOUT, |v| v.time_or_zero());
                let policy = database.checkpoints();
                policy.set_timeout(Some(age).filter(|age| !age.is_zero()));
            },
            |board| or_off(board.database().checkpoints().timeout(), shown_time),
            || shown_time(DEFAULT_TIMEOUT),
        ),
        "Age of the last checkpoint that starts another one; off means never.",
    ),
    Setting::database(
        "frazil.freeze_after",
        ValueKind::TimeOrOff,
        (
            |database, time| {
                let cooling = match time {
                    None => Some(DEFAULT_COOLING),
                    Some(Read::Off) => None,
                    Some(time) => Some(time.time_or_zero()),
                };
                database.freezer().set_cooling(cooling);
            },
            |board| or_off(board.database().freezer().cooling(), shown_time),
            || shown_time(DEFAULT_COOLING),
        ),
        "How long full chunks stay hot; off means until FREEZE or a checkpoint.",
    ),
    Setting::database(
        "frazil.refreeze_budget",
        ValueKind::SizeOrOff,
        (
            |database, size| {
                let bytes = size.map_or(DEFAULT_REFREEZE_BUDGET, |v| v.size_or_zero());
                database.freezer().set_refreeze_budget(bytes);
            },
            |board| {
                let budget = board.database().freezer().refreeze_budget();
                or_off(Some(budget).filter(|bytes| *bytes > 0), shown_size)
            },
            || shown_size(DEFAULT_REFREEZE_BUDGET),
        ),
        "Bytes of blocks that are rebuilt in the background in a second; off means none.",
    ),
    Setting::shown(
        "frazil.background_failures",
        |board| board.database().freezer().failures().to_string(),
        "Failures of freezing and checkpoints in the background, and the last error.",
    ),
    Setting::shown(
        "frazil.direct_statements",
        |board| board.direct_statements().to_string(),
        "Statements of the connection that ran without pipelines.",
    ),
    Setting::session(
        "frazil.isa",
        ValueKind::Text,
        |s, v| put(&mut s.isa, isa(v.word()?)),
        |s| s.isa.to_string(),
        "Instruction set of kernels and generated code.",
    ),
    Setting::session(
        "frazil.stages",
        ValueKind::Choice(STAGE_WORDS),
        |s, v| put(&mut s.stages, chosen(&v, &STAGES)),
        |s| name_of(&s.stages, &STAGES),
        "How pipelines are cut into stages.",
    ),
    Setting::session(
        "frazil.scan",
        ValueKind::Choice(SCAN_WORDS),
        |s, v| put(&mut s.scan, chosen(&v, &SCAN_MODES)),
        |s| name_of(&s.scan, &SCAN_MODES),
        "How scans work; each value adds something to the one before.",
    ),
    Setting::session(
        "frazil.pax_code",
        ValueKind::Choice(PAX_WORDS),
        |s, v| put(&mut s.pax_code, chosen(&v, &PAX_CODE)),
        |s| name_of(&s.pax_code, &PAX_CODE),
        "How generated code reads hot chunks.",
    ),
    Setting::session(
        "frazil.optimization",
        ValueKind::Choice(OPTIMIZATION_WORDS),
        |s, v| put(&mut s.optimize, chosen(&v, &OPTIMIZATION)),
        |s| name_of(&s.optimize, &OPTIMIZATION),
        "Optimization level of generated code.",
    ),
    Setting::session(
        "frazil.window_rows",
        ValueKind::Integer(64, CHUNK_ROWS as i128),
        |s, v| put(&mut s.window_rows, v.number().map(|n| n as usize)),
        |s| s.window_rows.to_string(),
        "Rows that a scan tests at a time.",
    ),
    Setting::session(
        "frazil.stage_rows",
        ValueKind::Integer(64, CHUNK_ROWS as i128),
        |s, v| put(&mut s.stage_rows, v.number().map(|n| n as usize)),
        |s| s.stage_rows.to_string(),
        "Rows of a vector between two stages; scans give at most 1024.",
    ),
    Setting::session(
        "frazil.prefetch_rows",
        ValueKind::Integer(0, CHUNK_ROWS as i128),
        |s, v| put(&mut s.prefetch_rows, v.number().map(|n| n as usize)),
        |s| s.prefetch_rows.to_string(),
        "Rows of a vector whose build rows are prefetched together; 0 prefetches none.",
    ),
    Setting::session(
        "frazil.early_probes",
        ValueKind::Boolean,
        |s, v| put(&mut s.early_probes, v.flag()),
        |s| shown_flag(s.early_probes).to_owned(),
        "Whether scans drop rows whose join key has no partner.",
    ),
    Setting::session(
        "frazil.use_indexes",
        ValueKind::Boolean,
        |s, v| put(&mut s.use_indexes, v.flag()),
        |s| shown_flag(s.use_indexes).to_owned(),
        "Whether scans use indexes.",
    ),
    Setting::session(
        "frazil.codes_travel",
        ValueKind::Boolean,
        |s, v| put(&mut s.codes_travel, v.flag()),
        |s| shown_flag(s.codes_travel).to_owned(),
        "Whether rows are grouped by the dictionary codes of strings.",
    ),
    Setting::session(
        "frazil.elide_checks",
        ValueKind::Boolean,
        |s, v| put(&mut s.elide_checks, v.flag()),
        |s| shown_flag(s.elide_checks).to_owned(),
        "Whether overflow checks are left out if values cannot overflow.",
    ),
    Setting::session(
        "frazil.access_counters",
        ValueKind::Boolean,
        |s, v| put(&mut s.access_counters, v.flag()),
        |s| shown_flag(s.access_counters).to_owned(),
        "Whether scans count how columns are used.",
    ),
    Setting::session(
        "frazil.plan_cache",
        ValueKind::Boolean,
        |s, v| put(&mut s.plan_cache, v.flag()),
        |s| shown_flag(s.plan_cache).to_owned(),
        "Whether compiled statements are kept for the next run.",
    ),
    Setting::shown(
        "session_authorization",
        |board| board.user_names().1,
        "The role of the session.",
    )
    .reported(),
    Setting::shown(
        "role",
        |board| board.role_setting(),
        "The role by whose rights statements run; none for that of the session.",
    ),
];

/// The isolation level of a value.
pub(super) fn isolation(read: &Read) -> Result<Isolation> {
    read.word()?.parse().map_err(|e: String| Error::internal(e))
}

/// Stores the value in the field, unless the value is an error.
fn put<T>(field: &mut T, value: Result<T>) -> Result<()> {
    *field = value?;
    Ok(())
}

fn isa(text: &str) -> Result<Isa> {
    let available = Isa::available();
    let wanted = text.to_lowercase();
    let found = available.iter().find(|isa| isa.to_string() == wanted);
    found.copied().ok_or_else(|| {
        let names: Vec<String> = available.iter().map(Isa::to_string).collect();
        wrong("frazil.isa", text, format!("one of {}", names.join(", ")))
    })
}

/// A zone by its name, or hours east of Greenwich. 22023.
fn zone(text: &str) -> Result<Zone> {
    if text.eq_ignore_ascii_case("local") || text.eq_ignore_ascii_case("default") {
        return Ok(Zone::UTC);
    }
    let hours = text.parse::<f64>().ok().filter(|hours| hours.abs() < 24.0);
    let zone = hours.map_or_else(
        || Zone::named(text),
        |hours| Zone::of_offset((hours * 3600.0).round() as i64),
    );
    zone.map_err(|_| {
        let wanted = "the name of a zone, such as 'Europe/Berlin', or hours from UTC";
        wrong("timezone", text, wanted)
    })
}

fn chosen<T: Copy>(read: &Read, all: &[(&str, T)]) -> Result<T> {
    let word = read.word()?;
    let found = all.iter().find(|one| one.0 == word);
    found
        .map(|one| one.1)
        .ok_or_else(|| Error::internal(format!("no choice {word}")))
}

fn name_of<T: PartialEq>(value: &T, all: &[(&'static str, T)]) -> String {
    let found = all.iter().find(|one| one.1 == *value);
    found.map_or("", |one| one.0).to_owned()
}
