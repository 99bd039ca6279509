//! Processes that read a directory while another one writes it and is killed, again and again: each answer is what the
//! writer had committed at one moment, and never older than what it had acknowledged before the statement began.
//!
//! Two threads write rows of their own to the same table, so that slots are committed in any order, and number their
//! commits. Before a commit a thread says what its rows then are, in numbers; the parent keeps that, and which commits
//! were acknowledged. `FRAZIL_FOLLOW_SECONDS=600 FRAZIL_FOLLOW_READERS=8 FRAZIL_FOLLOW_KILLS=20` takes longer.

use crate::{directory, rows};
use frazil::{Connection, Database};
use frazil_testkit::Random;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const THREADS: u64 = 2;
const DIRECTORY: &str = "FRAZIL_TEST_FOLLOWED_DIRECTORY";
const SEED: &str = "FRAZIL_TEST_FOLLOWED_SEED";
/// Bytes that a reader may take beyond those at its begin.
const MOST_MEMORY: u64 = 400 << 20;
/// The longest time between a reader's answer and the writer's words about that commit: the parent keeps
/// acknowledgements in a file in between, and a disk that others write to makes it wait.
const HEARD_LATER: Duration = Duration::from_secs(60);

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // A parent that no longer listens is about to kill this process.
    let _ = out
        .write_all(format!("\n{line}\n").as_bytes())
        .and_then(|()| out.flush());
}

/// The file in which the parent keeps the last commit that each thread acknowledged.
fn acknowledged_path(directory: &Path) -> PathBuf {
    directory.with_extension("acknowledged")
}

/// A thread's rows in numbers: their count and sums over them.
fn sums(c: &Connection, thread: u64) -> String {
    rows(
        c,
        &format!(
            "select count(*), coalesce(sum(k * 31 + v), 0), coalesce(sum(length(s)), 0) from t where who = {thread}"
        ),
    )
}

/// Some statement of a thread about its own rows.
fn change(thread: u64, random: &mut Random) -> String {
    let key = random.below(3_000);
    let many = if random.below(20) == 0 { 2_000 } else { 20 };
    let last = key + random.below(many);
    match random.below(10) {
        0..4 => format!(
            "insert into t (who, k, v, s) select {thread}, i, i % 100, repeat('x', i % 40) \
             from generate_series({key}, {last}) i \
             on conflict (who, k) do update set v = t.v + 1"
        ),
        4..7 => format!(
            "update t set v = v + 1, s = s || 'y' where who = {thread} and k between {key} and {last}"
        ),
        _ => format!("delete from t where who = {thread} and k between {key} and {last}"),
    }
}

/// A statement that the first thread runs besides its changes: a definition, a block, a checkpoint.
fn beside(c: &Connection, random: &mut Random) {
    let sql = match random.below(12) {
        0 => "create index if not exists tv on t (v)",
        1 => "drop index if exists tv",
        2 => "freeze table t",
        3..6 => "checkpoint",
        6 => "alter table t add d integer default 5",
        7 => "alter table t drop column d",
        8 => "drop table if exists other; create table other as select * from t limit 3000",
        9 => "truncate other; insert into other select * from t limit 10",
        10 => "create or replace view seen as select count(*) as n from t",
        _ => "create table if not exists brief (a integer); drop table brief",
    };
    // Some do not fit what is there.
    let _ = c.execute(sql);
}

#[test]
#[ignore = "run by answers_are_those_of_the_writer_beside_which_they_are_read in a process of its own"]
fn process_that_writes() {
    let Some(path) = std::env::var_os(DIRECTORY) else {
        return;
    };
    // One thread that fails ends the process: the other one would go on, and nobody would notice.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |failure| {
        report(failure);
        std::process::exit(1);
    }));
    let seed = std::env::var(SEED).ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let database = Database::open(Path::new(&path)).expect("it opens");
    let c = database.connect();
    if !rows(&c, "show tables").contains("marks") {
        rows(
            &c,
            "begin; create table t (who integer, k integer, v integer, s text, primary key (who, k)); \
             create table marks (who integer primary key, n bigint); insert into marks values (0, 0), (1, 0); commit",
        );
    }
    rows(&c, "set max_wal_size = '2MB'; set frazil.freeze_after = '50ms'");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let database = database.clone();
            scope.spawn(move || {
                let mut random = Random::new(seed * THREADS + thread);
                let c = database.connect();
                rows(&c, "set threads = 1; set lock_timeout = '60s'");
                let last = rows(&c, &format!("select n from marks where who = {thread}"));
                let first: u64 = last.parse().expect("a number");
                say(&format!("found {thread} {first}"));
                for n in first + 1.. {
                    if thread == 0 && random.below(12) == 0 {
                        beside(&c, &mut random);
                    }
                    rows(&c, "begin");
                    for _ in 0..=random.below(3) {
                        rows(&c, &change(thread, &mut random));
                    }
                    if random.below(8) == 0 {
                        rows(&c, "rollback; begin");
                    }
                    rows(&c, &format!("update marks set n = {n} where who = {thread}"));
                    say(&format!("trying {thread} {n} {}", sums(&c, thread)));
                    rows(&c, "commit");
                    say(&format!("kept {thread} {n}"));
                    if random.below(30) == 0 {
                        std::thread::sleep(Duration::from_millis(random.below(20)));
                    }
                }
            });
        }
    });
}

fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) << 10
}

#[test]
#[ignore = "run by answers_are_those_of_the_writer_beside_which_they_are_read in a process of its own"]
fn process_that_reads() {
    let Some(path) = std::env::var_os(DIRECTORY).map(PathBuf::from) else {
        return;
    };
    let seed = std::env::var(SEED).ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut random = Random::new(seed);
    let acknowledged = |thread: u64| -> u64 {
        let mut file = std::fs::File::open(acknowledged_path(&path)).expect("it is there");
        let mut bytes = [0; 8 * THREADS as usize];
        file.read_exact(&mut bytes).expect("it is whole");
        let at = 8 * thread as usize;
        u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
    };
    let mut c = Database::open_read_only(&path).expect("it opens").connect();
    let (begun, mut most) = (memory(), 0);
    loop {
        let thread = random.below(THREADS);
        let before = acknowledged(thread);
        // One statement, or a transaction that keeps what its first statement saw.
        let (n, sums) = match random.below(2) {
            0 => {
                let line = rows(
                    &c,
                    &format!(
                        "select m.n, count(t.k), coalesce(sum(t.k * 31 + t.v), 0), coalesce(sum(length(t.s)), 0) \
                         from marks m left join t on t.who = m.who where m.who = {thread} group by m.n"
                    ),
                );
                let (n, sums) = line.split_once('|').expect("two cells");
                (n.to_owned(), sums.to_owned())
            }
            _ => {
                rows(&c, "begin isolation level repeatable read");
                let n = rows(&c, &format!("select n from marks where who = {thread}"));
                if random.below(20) == 0 {
                    std::thread::sleep(Duration::from_millis(random.below(200)));
                }
                let sums = sums(&c, thread);
                // The key's index finds the rows that a scan finds.
                let counted = sums.split('|').next().expect("a count").to_owned();
                let key = random.below(3_000);
                let by_key = format!("select count(*) from t where who = {thread} and k = {key}");
                let by_scan = format!("select count(*) from t where who + 0 = {thread} and k + 0 = {key}");
                assert_eq!(rows(&c, &by_key), rows(&c, &by_scan), "of {counted} rows");
                rows(&c, "commit");
                (n, sums)
            }
        };
        let seen: u64 = n.parse().expect("a number");
        assert!(
            seen >= before,
            "commit {seen} of thread {thread} was seen, {before} was acknowledged before"
        );
        say(&format!("saw {thread} {seen} {sums}"));
        match random.below(400) {
            0 => {
                assert_eq!(c.verify().expect("it reads all").findings, Vec::<String>::new());
                say(&format!("moves {}", rows(&c, "select moves from frazil_wal")));
            }
            1 => c = Database::open_read_only(&path).expect("it opens").connect(),
            // Checkpoints pass.
            2..4 => std::thread::sleep(Duration::from_millis(random.below(1_500))),
            _ => {}
        }
        most = most.max(memory().saturating_sub(begun));
        assert!(most < MOST_MEMORY, "{most} bytes");
    }
}

fn process(test: &str, path: &Path, seed: u64) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("it runs"));
    command.args([
        &format!("beside_writers::{test}"),
        "--exact",
        "--ignored",
        "--nocapture",
    ]);
    command.env(DIRECTORY, path).env(SEED, seed.to_string());
    command.stdout(Stdio::piped()).spawn().expect("it starts")
}

/// The commits that the parent has heard of, and the number of answers and moves.
#[derive(Default)]
struct Known {
    /// The thread's rows after a commit, by thread and commit. A commit that nobody acknowledged may come again with
    /// others.
    sums: Mutex<HashMap<(u64, u64), Vec<String>>>,
    /// The first answers that were wrong.
    wrong: Mutex<Vec<String>>,
    acknowledged: [AtomicU64; THREADS as usize],
    commits: AtomicU64,
    answers: AtomicU64,
    moves: AtomicU64,
}

impl Known {
    fn keep(&self, path: &Path) {
        let bytes: Vec<u8> = (self.acknowledged.iter())
            .flat_map(|n| n.load(Ordering::SeqCst).to_le_bytes())
            .collect();
        let new = path.with_extension("new");
        std::fs::write(&new, bytes).expect("it can be written");
        std::fs::rename(&new, acknowledged_path(path)).expect("it can be renamed");
    }

    fn hear_writer(&self, path: &Path, line: &str) {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        let (Some(thread), Some(n)) = (
            words.get(1).and_then(|word| word.parse::<u64>().ok()),
            words.get(2).and_then(|word| word.parse::<u64>().ok()),
        ) else {
            return;
        };
        let kept = &self.acknowledged[thread as usize];
        match words[..] {
            ["found", ..] => {
                let before = kept.load(Ordering::SeqCst);
                assert!(
                    (before..=before + 1).contains(&n),
                    "thread {thread}: {before} were acknowledged, {n} are there"
                );
            }
            ["trying", _, _, sums] => {
                let mut known = self.sums.lock().expect("nobody panicked");
                known.entry((thread, n)).or_default().push(sums.to_owned());
            }
            ["kept", ..] => {
                kept.store(n, Ordering::SeqCst);
                self.keep(path);
                self.commits.fetch_add(1, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    fn sums(&self, thread: u64, n: u64) -> Option<Vec<String>> {
        let sums = self.sums.lock().expect("nobody panicked");
        sums.get(&(thread, n)).cloned()
    }

    /// Keeps a wrong answer, and the commits around it: an answer may be that of another one.
    fn wrong(&self, thread: u64, n: u64, sums: &str) {
        let around = (n.saturating_sub(2)..n + 3).map(|n| format!("{n}: {:?}", self.sums(thread, n)));
        let around: Vec<String> = around.collect();
        let acknowledged = self.acknowledged[thread as usize].load(Ordering::SeqCst);
        let mut wrong = self.wrong.lock().expect("nobody panicked");
        if wrong.len() < 10 {
            wrong.push(format!(
                "commit {n} of thread {thread}: a reader saw {sums}; the writer had {}; {acknowledged} was \
                 acknowledged",
                around.join(", ")
            ));
        }
    }

    fn hear_reader(&self, line: &str) {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            ["saw", thread, n, sums] => {
                let (thread, n) = (thread.parse().expect("a number"), n.parse().expect("a number"));
                self.answers.fetch_add(1, Ordering::Relaxed);
                let deadline = Instant::now() + HEARD_LATER;
                loop {
                    let known = self.sums(thread, n);
                    let is_right = match &known {
                        Some(known) => known.iter().any(|known| known == sums),
                        None => n == 0 && sums == "0|0|0",
                    };
                    if is_right {
                        return;
                    }
                    if known.is_some() || Instant::now() > deadline {
                        return self.wrong(thread, n, sums);
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            ["moves", n] => {
                self.moves
                    .fetch_add(n.parse().expect("a number"), Ordering::Relaxed);
            }
            _ => {}
        }
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(default)
}

#[test]
fn answers_are_those_of_the_writer_beside_which_they_are_read() {
    let seconds = setting("FRAZIL_FOLLOW_SECONDS", 12);
    let kills = setting("FRAZIL_FOLLOW_KILLS", 4);
    let readers = setting("FRAZIL_FOLLOW_READERS", 2);
    let seed = setting("FRAZIL_FOLLOW_SEED", 7);
    let path = directory("beside-writers");
    let known = Known::default();
    known.keep(&path);
    // The directory and its tables are there before the first reader.
    drop(Database::open(&path).expect("it opens"));
    let mut random = Random::new(seed);
    let is_over = AtomicBool::new(false);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for cycle in 0..=kills {
            let mut writer = process("process_that_writes", &path, seed + cycle);
            let lines = BufReader::new(writer.stdout.take().expect("it is piped")).lines();
            let (known, path) = (&known, &path);
            let hearing = scope.spawn(move || {
                lines
                    .map_while(Result::ok)
                    .for_each(|line| known.hear_writer(path, &line));
            });
            if cycle == 0 {
                // Both threads have found their tables.
                while known.commits.load(Ordering::Relaxed) < 4 {
                    assert!(begun.elapsed() < Duration::from_secs(60), "nothing is written");
                    std::thread::sleep(Duration::from_millis(5));
                }
                for reader in 0..readers {
                    let mut reader = process("process_that_reads", path, seed * 100 + reader);
                    let is_over = &is_over;
                    scope.spawn(move || {
                        let mut lines = BufReader::new(reader.stdout.take().expect("it is piped")).lines();
                        while !is_over.load(Ordering::Relaxed) {
                            match lines.next() {
                                Some(Ok(line)) => known.hear_reader(&line),
                                _ => break,
                            }
                        }
                        let ended = reader.try_wait().expect("it is ours");
                        reader.kill().expect("it is ours");
                        reader.wait().expect("it ends");
                        assert!(ended.is_none(), "a reader ended: {ended:?}");
                    });
                }
            }
            let share = Duration::from_secs(seconds) / (kills + 1) as u32;
            let until = begun + share * (cycle + 1) as u32;
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
            // A machine that is busy takes its time.
            let least = 15 * (cycle + 1);
            let latest = Instant::now() + Duration::from_secs(20);
            let is_little = || {
                let (commits, answers) = (&known.commits, &known.answers);
                commits
                    .load(Ordering::Relaxed)
                    .min(answers.load(Ordering::Relaxed))
                    < least
            };
            while is_little() && Instant::now() < latest {
                std::thread::sleep(Duration::from_millis(5));
            }
            // Sometimes in the middle of something else.
            std::thread::sleep(Duration::from_micros(random.below(3_000)));
            let ended = writer.try_wait().expect("it is ours");
            writer.kill().expect("it is ours");
            writer.wait().expect("it ends");
            hearing.join().expect("it hears");
            assert!(ended.is_none(), "the writer ended: {ended:?}");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
    let (commits, answers) = (load(&known.commits), load(&known.answers));
    println!(
        "{kills} kills, {commits} commits, {answers} answers, {} moves",
        load(&known.moves)
    );
    let wrong = known.wrong.into_inner().expect("nobody panicked");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(commits > 10 && answers > 10);
    for left in [path.clone(), acknowledged_path(&path)] {
        let _ = std::fs::remove_dir_all(&left);
        let _ = std::fs::remove_file(&left);
    }
}
