//! Scripts of sessions side by side, in `tests/isolation`, with the answers of PostgreSQL 15. A second comment line of
//! a script says where Frazil answers otherwise, and why.
//!
//! The file format: lines that begin with `#` say what must happen; `setup:`, one statement a line; `level:`, isolation
//! levels divided by bars, for each of which the script runs, and which a plain `begin` gets. Then steps, each a
//! number, a session
//! and its statement (`3  T1: commit`), with its answers in indented lines below: rows, a command tag, `waits`, or
//! `ERROR` and the SQLSTATE; `T2 answers: …` is the answer of a session that the step released. A bracket before an
//! answer says for which outcomes it holds: `[repeatable read]`, `[victim T1]`, or both. `final:` is a statement of a
//! session of its own.
//!
//! Nothing here depends on time: a session waits if the database says that as many statements wait as were sent and not
//! answered. A statement whose wait ends by itself, because it is recorded as 55P03, is waited for.
//! `FRAZIL_ISOLATION_SCRIPTS` names another folder of scripts.

use frazil::{Connection, Database, LogicalType, Outcome, RawValue};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

struct Step {
    session: String,
    sql: String,
    /// Answers with the outcomes for which they hold; an empty list: for all.
    answers: Vec<(Vec<String>, String)>,
}

#[derive(Default)]
struct Script {
    setup: Vec<String>,
    levels: Vec<String>,
    steps: Vec<Step>,
}

fn parse(text: &str) -> Script {
    let mut script = Script::default();
    for line in text.lines() {
        let content = line.trim();
        if content.is_empty() || line.starts_with('#') || content == "setup:" || line.starts_with("deadlock:")
        {
            continue;
        }
        if let Some(levels) = line.strip_prefix("level:") {
            script.levels = levels.split('|').map(|level| level.trim().to_string()).collect();
        } else if line.starts_with(' ') {
            match script.steps.last_mut() {
                None => script.setup.push(content.to_string()),
                Some(step) => step.answers.push(answer_of(content)),
            }
        } else {
            let content = content.trim_start_matches(|c: char| c.is_ascii_digit()).trim();
            let (session, sql) = content.split_once(':').expect("a session and its statement");
            script.steps.push(Step {
                session: session.to_string(),
                sql: sql.trim().to_string(),
                answers: Vec::new(),
            });
        }
    }
    script
}

/// The outcomes for which an answer holds, and the answer.
fn answer_of(line: &str) -> (Vec<String>, String) {
    match line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((outcomes, answer)) => {
            let outcomes = outcomes.split(", ").map(str::to_string);
            (outcomes.collect(), answer.to_string())
        }
        None => (Vec::new(), line.to_string()),
    }
}

/// A value as the scripts write it.
fn text(value: &RawValue, ty: LogicalType) -> String {
    let text = value.display(ty).to_string();
    match (value, ty) {
        (RawValue::Null, _) => "null".to_string(),
        (_, LogicalType::Text) => format!("'{text}'"),
        (_, LogicalType::Boolean) => if text == "t" { "true" } else { "false" }.to_string(),
        _ if text.contains('.') => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        _ => text,
    }
}

fn answer(connection: &Connection, sql: &str) -> String {
    match connection.execute(sql).map(|response| response.outcome) {
        Err(error) => format!("ERROR {}", error.state()),
        Ok(Outcome::Command { tag, rows: None }) => tag.to_string(),
        Ok(Outcome::Command {
            tag,
            rows: Some(rows),
        }) => match tag {
            "INSERT" => format!("INSERT 0 {rows}"),
            _ => format!("{tag} {rows}"),
        },
        Ok(Outcome::Rows(rows)) => {
            let types: Vec<LogicalType> = rows.schema().columns.iter().map(|c| c.ty).collect();
            let row = |row: Vec<RawValue>| {
                let cells: Vec<String> = row.iter().zip(&types).map(|(v, ty)| text(v, *ty)).collect();
                format!("({})", cells.join(", "))
            };
            let mut all: Vec<String> = rows.raw().map(row).collect();
            if !sql.to_lowercase().contains("order by") {
                all.sort();
            }
            match all.is_empty() {
                true => "no rows".to_string(),
                false => all.join(", "),
            }
        }
    }
}

/// A session in a thread of its own.
struct Session {
    statements: Sender<String>,
    answers: Receiver<String>,
    /// Statements that come when the one before them is answered.
    queued: VecDeque<String>,
    is_busy: bool,
}

impl Session {
    fn begin(database: &Database) -> Session {
        let (statements, inbox) = channel::<String>();
        let (outbox, answers) = channel();
        let connection = database.connect();
        std::thread::spawn(move || {
            connection
                .execute("set lock_timeout = '10min'")
                .expect("a setting");
            for sql in inbox {
                if outbox.send(answer(&connection, &sql)).is_err() {
                    break;
                }
            }
        });
        Session {
            statements,
            answers,
            queued: VecDeque::new(),
            is_busy: false,
        }
    }

    fn send_next(&mut self) {
        if let Some(sql) = self.queued.pop_front().filter(|_| !self.is_busy) {
            self.is_busy = true;
            self.statements.send(sql).expect("the session is there");
        }
    }
}

/// The sessions of a run.
struct Sessions {
    database: Database,
    all: BTreeMap<String, Session>,
}

impl Sessions {
    /// Sends a statement. Returns the answers when no session runs: the step's own first, then those of others. With
    /// `times_out` the statement's wait does not count as an answer.
    fn step(&mut self, who: &str, sql: &str, times_out: bool) -> Vec<String> {
        let database = &self.database;
        let session = (self.all.entry(who.to_string())).or_insert_with(|| Session::begin(database));
        session.queued.push_back(sql.to_string());
        let was_busy = session.is_busy;
        if !was_busy {
            session.send_next();
        }
        let mut got: BTreeMap<String, Vec<String>> = BTreeMap::new();
        loop {
            for (name, session) in &mut self.all {
                while let Ok(answer) = session.answers.try_recv() {
                    got.entry(name.clone()).or_default().push(answer);
                    session.is_busy = false;
                    session.send_next();
                }
            }
            let busy = self.all.values().filter(|session| session.is_busy).count();
            let is_awaited = times_out && self.all[who].is_busy;
            if !is_awaited && self.database.waiting_statements() == busy {
                break;
            }
            std::thread::yield_now();
        }
        let own = match self.all[who].is_busy {
            true => "waits".to_string(),
            false => got.get_mut(who).and_then(Vec::pop).expect("an answer"),
        };
        let others = (got.iter()).flat_map(|(name, answers)| {
            answers
                .iter()
                .map(move |answer| format!("{name} answers: {answer}"))
        });
        [own].into_iter().chain(others).collect()
    }
}

/// Runs a script at a level. Returns the answers of each step.
fn run(script: &Script, level: &str, freezes: bool) -> Vec<Vec<String>> {
    let database = Database::memory().expect("memory is there");
    let connection = database.connect();
    for sql in &script.setup {
        connection.execute(sql).unwrap_or_else(|e| panic!("{sql}: {e:?}"));
    }
    for sql in script.setup.iter().filter(|_| freezes) {
        if let Some(rest) = sql.strip_prefix("create table ") {
            let name = rest.split([' ', '(']).next().expect("a name");
            connection
                .execute(&format!("freeze table {name}"))
                .expect("it freezes");
        }
    }
    drop(connection);
    let mut sessions = Sessions {
        database,
        all: BTreeMap::new(),
    };
    let has_timeout = (script.steps.iter()).any(|step| step.sql.contains("lock_timeout"));
    let steps = script.steps.iter().map(|step| {
        let sql = match step.sql.as_str() {
            "begin" => format!("begin isolation level {level}"),
            sql => sql.to_string(),
        };
        let is_timeout = |(_, answer): &(Vec<String>, String)| answer == "ERROR 55P03";
        let times_out = has_timeout && step.answers.iter().any(is_timeout);
        sessions.step(&step.session, &sql, times_out)
    });
    steps.collect()
}

/// The first step whose answers are not those of PostgreSQL; `None` if there is none.
fn difference(script: &Script, level: &str, freezes: bool) -> Option<String> {
    let answers = run(script, level, freezes);
    let is_victim = |answer: &str| answer.ends_with("ERROR 40P01");
    let victim = script.steps.iter().zip(&answers).find_map(|(step, answers)| {
        let at = answers.iter().position(|answer| is_victim(answer))?;
        let name = match at {
            0 => step.session.as_str(),
            _ => answers[at].split(' ').next().expect("a session"),
        };
        Some(format!("victim {name}"))
    });
    let holds = |outcome: &String| outcome == level || Some(outcome) == victim.as_ref();
    script.steps.iter().zip(&answers).find_map(|(step, answers)| {
        let recorded: Vec<&String> = (step.answers.iter())
            .filter(|(outcomes, _)| outcomes.iter().all(holds))
            .map(|(_, answer)| answer)
            .collect();
        let is_same = recorded.iter().copied().eq(answers);
        let told = || {
            format!(
                "{}: {}\n    {answers:?} instead of {recorded:?}",
                step.session, step.sql
            )
        };
        (!is_same).then(told)
    })
}

fn folder() -> PathBuf {
    match std::env::var_os("FRAZIL_ISOLATION_SCRIPTS") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/isolation"),
    }
}

#[test]
fn sessions_side_by_side_answer_as_in_postgresql() {
    let mut scripts: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("the folder is there")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "iso"))
        .collect();
    scripts.sort();
    assert!(!scripts.is_empty());
    let mut differences = Vec::new();
    for path in &scripts {
        let name = path.file_stem().unwrap_or_default().display().to_string();
        let script = parse(&std::fs::read_to_string(path).expect("it is read"));
        for level in &script.levels {
            for freezes in [false, true] {
                let rows = if freezes { "frozen" } else { "hot" };
                if let Some(found) = difference(&script, level, freezes) {
                    differences.push(format!("{name}, {level}, {rows}: {found}"));
                }
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
