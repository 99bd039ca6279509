//! Random schedules of sessions that claim, lock, wait, set savepoints, go back and end, compared step by step with the
//! reference. Sessions are threads; whether one waits is asked of the locks, so that no test sleeps.
//!
//! `FRAZIL_MODEL_SEEDS=1000` runs seeds 1 to 1000 and not 1 to 100.

use crate::reference::{Answer, Circle, Model, ROW_MODES, TABLE_MODES, Wanted};
use frazil_locks::{AnyMode, Claimed, KeyMode, Locks, Mark, Mode, Outcome, Owner, Patience, Target, TxnId};
use frazil_testkit::Random;
use frazil_types::{Cancel, MemoryBudget, ObjectId, Result, RowId, SqlState};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const SEEDS: &str = "FRAZIL_MODEL_SEEDS";
const SESSIONS: usize = 5;
const STEPS: usize = 120;
/// A session that has not answered by then hangs.
const HANGS: Duration = Duration::from_secs(60);

/// A command to a session.
#[derive(Clone, Copy, Debug)]
enum Command {
    Take(Target, AnyMode, bool),
    WaitForChange(Target, TxnId),
    WaitForEnd(TxnId),
    Mark,
    FreeSince(usize),
    End,
}

/// A session's thread, and what the driver knows of it.
struct Session {
    commands: Sender<Command>,
    answers: Receiver<(TxnId, Result<Outcome>)>,
    cancel: Cancel,
    thread: JoinHandle<()>,
    id: TxnId,
    /// Savepoints set; the level of what comes next.
    marks: usize,
}

fn perform(
    locks: &Locks,
    owner: &mut Owner,
    marks: &mut Vec<Mark>,
    command: Command,
    cancel: &Cancel,
) -> Result<Outcome> {
    let patience = Patience { until: None, cancel };
    let granted = |_: ()| Outcome::Granted;
    match command {
        Command::Take(Target::Row(table, row), AnyMode::Row(mode), true) => locks
            .claims(table)
            .claim_waiting(row, mode, owner, patience)
            .map(granted),
        Command::Take(Target::Row(table, row), AnyMode::Row(mode), false) => {
            locks.claims(table).claim(row, mode, owner)
        }
        Command::Take(Target::Table(table), AnyMode::Table(mode), true) => {
            owner.lock_table_waiting(table, mode, patience).map(granted)
        }
        Command::Take(Target::Table(table), AnyMode::Table(mode), false) => owner.lock_table(table, mode),
        Command::Take(Target::Key(index, hash), mode, waits) => {
            let mode = match mode {
                AnyMode::Row(Mode::KeyShare) => KeyMode::Referenced,
                _ => KeyMode::Removed,
            };
            let claimed = match waits {
                true => owner.claim_key_waiting(index, hash, mode, patience)?,
                false => owner.claim_key(index, hash, mode)?,
            };
            Ok(match claimed {
                Claimed::New | Claimed::Covered => Outcome::Granted,
                Claimed::Held(holder) => Outcome::Held(holder),
            })
        }
        Command::WaitForChange(Target::Row(table, row), holder) => locks
            .claims(table)
            .wait_for_change(row, holder, owner, patience)
            .map(granted),
        Command::WaitForEnd(txn) => owner.wait(txn, patience).map(granted),
        Command::Mark => {
            marks.push(owner.mark());
            Ok(Outcome::Granted)
        }
        Command::FreeSince(at) => {
            marks.truncate(at + 1);
            owner.free_since(marks[at]);
            Ok(Outcome::Granted)
        }
        Command::End => {
            marks.clear();
            *owner = locks.begin();
            Ok(Outcome::Granted)
        }
        Command::Take(..) | Command::WaitForChange(..) => {
            unreachable!("a target with a mode of the other kind")
        }
    }
}

impl Session {
    fn start(locks: &Locks) -> Session {
        let (commands, received) = channel();
        let (answering, answers) = channel();
        let (cancel, locks) = (Cancel::new(), locks.clone());
        let mut owner = locks.begin();
        let id = owner.id();
        let heard = cancel.clone();
        let thread = thread::spawn(move || {
            let mut marks = Vec::new();
            for command in received {
                let answer = perform(&locks, &mut owner, &mut marks, command, &heard);
                if answering.send((owner.id(), answer)).is_err() {
                    return;
                }
            }
        });
        Session {
            commands,
            answers,
            cancel,
            thread,
            id,
            marks: 0,
        }
    }

    /// The answer, which must come.
    fn answer(&mut self) -> Result<Outcome> {
        let (id, answer) = self.answers.recv_timeout(HANGS).expect("a session hangs");
        self.id = id;
        answer
    }
}

/// Numbers of events in a schedule.
#[derive(Debug, Default)]
struct Seen {
    waits: usize,
    deadlocks: usize,
    overtakings: usize,
    fallbacks: usize,
    cancels: usize,
    refusals: usize,
}

struct Schedule {
    random: Random,
    locks: Locks,
    sessions: Vec<Session>,
    model: Model,
    seen: Seen,
}

impl Schedule {
    fn new(seed: u64) -> Schedule {
        let locks = Locks::new(MemoryBudget::unlimited());
        Schedule {
            random: Random::new(seed),
            sessions: (0..SESSIONS).map(|_| Session::start(&locks)).collect(),
            locks,
            model: Model::default(),
            seen: Seen::default(),
        }
    }

    fn is_waiting(&self, session: usize) -> bool {
        self.model.waits.iter().any(|(waiting, _)| *waiting == session)
    }

    /// True if the locks say that the session waits.
    fn waits_really(&self, session: usize) -> bool {
        let waits = self.locks.waits();
        waits
            .iter()
            .any(|wait| wait.transaction == self.sessions[session].id)
    }

    fn some_target(&mut self) -> (Target, AnyMode) {
        let table = ObjectId(1 + self.random.below(2) as u32);
        if self.random.below(3) == 0 {
            return (
                Target::Table(table),
                AnyMode::Table(TABLE_MODES[self.random.index(8)]),
            );
        }
        if self.random.below(4) == 0 {
            let modes = [Mode::KeyShare, Mode::Update];
            let key = Target::Key(ObjectId(3), self.random.below(2));
            return (key, AnyMode::Row(modes[self.random.index(2)]));
        }
        let row = RowId::new(self.random.below(2) as u32, self.random.below(2) as u16);
        (
            Target::Row(table, row),
            AnyMode::Row(ROW_MODES[self.random.index(6)]),
        )
    }

    fn some_command(&mut self, session: usize) -> Command {
        let marks = self.sessions[session].marks;
        let other = self.random.index(SESSIONS);
        match self.random.below(20) {
            0..=8 => {
                let (target, mode) = self.some_target();
                Command::Take(target, mode, true)
            }
            9..=11 => {
                let (target, mode) = self.some_target();
                Command::Take(target, mode, false)
            }
            12 if other != session => {
                let row = RowId::new(self.random.below(2) as u32, self.random.below(2) as u16);
                Command::WaitForChange(Target::Row(ObjectId(1), row), self.sessions[other].id)
            }
            13 if other != session => Command::WaitForEnd(self.sessions[other].id),
            14..=15 => Command::Mark,
            16..=17 if marks > 0 => Command::FreeSince(self.random.index(marks)),
            _ => Command::End,
        }
    }

    /// The session of a transaction that is open.
    fn session_of(&self, id: TxnId) -> usize {
        self.sessions
            .iter()
            .position(|session| session.id == id)
            .expect("an open transaction")
    }

    fn step(&mut self) {
        let idle: Vec<usize> = (0..SESSIONS)
            .filter(|session| !self.is_waiting(*session))
            .collect();
        let waiting: Vec<usize> = (0..SESSIONS)
            .filter(|session| self.is_waiting(*session))
            .collect();
        assert!(!idle.is_empty(), "all sessions wait");
        if !waiting.is_empty() && self.random.below(24) == 0 {
            let session = waiting[self.random.index(waiting.len())];
            return self.cancel(session);
        }
        let session = idle[self.random.index(idle.len())];
        let command = self.some_command(session);
        self.sessions[session].commands.send(command).unwrap();
        match command {
            Command::Take(target, mode, waits) => self.take(session, target, mode, waits),
            Command::WaitForChange(target, txn) => {
                let other = self.session_of(txn);
                let is_due = self.model.changes(other, target);
                self.watch(session, Wanted::Change(target, other), is_due);
            }
            Command::WaitForEnd(txn) => {
                let other = self.session_of(txn);
                self.watch(session, Wanted::End(other), true);
            }
            Command::Mark => {
                self.sessions[session].marks += 1;
                assert!(self.sessions[session].answer().is_ok());
            }
            Command::FreeSince(at) => {
                let held = self.model.held.len();
                self.sessions[session].marks = at + 1;
                self.model.free(session, at + 1);
                self.seen.fallbacks += usize::from(self.model.held.len() < held);
                assert!(self.sessions[session].answer().is_ok());
                self.serve(None);
            }
            Command::End => {
                self.sessions[session].marks = 0;
                self.model.free(session, 0);
                assert!(self.sessions[session].answer().is_ok());
                self.serve(Some(session));
            }
        }
    }

    fn take(&mut self, session: usize, target: Target, mode: AnyMode, waits: bool) {
        let level = self.sessions[session].marks;
        match self.model.take(session, level, target, mode, waits) {
            Answer::Done => assert_eq!(self.sessions[session].answer().unwrap(), Outcome::Granted),
            Answer::Held(in_the_way) => {
                self.seen.refusals += 1;
                let Outcome::Held(holder) = self.sessions[session].answer().unwrap() else {
                    panic!("granted {target} past {in_the_way:?}");
                };
                assert!(
                    in_the_way.contains(&self.session_of(holder)),
                    "{holder}, {in_the_way:?}"
                );
            }
            Answer::Waits => self.settle(session),
        }
    }

    fn watch(&mut self, session: usize, wanted: Wanted, is_due: bool) {
        if !is_due {
            assert!(self.sessions[session].answer().is_ok());
            return;
        }
        self.model.waits.push((session, wanted));
        self.settle(session);
    }

    /// A session began to wait: it waits, or a circle closed and somebody passed a queue or it failed.
    fn settle(&mut self, session: usize) {
        self.seen.waits += 1;
        if self.model.circle(session) == Circle::None {
            while !self.waits_really(session) {
                thread::yield_now();
            }
            return;
        }
        let answer = loop {
            if self.waits_really(session) {
                break None;
            }
            if let Ok((_, answer)) = self.sessions[session].answers.try_recv() {
                break Some(answer);
            }
            thread::yield_now();
        };
        let members: Vec<usize> = self.model.waits.iter().map(|(member, _)| *member).collect();
        for member in members {
            if member != session && !self.waits_really(member) {
                self.let_past(member);
                assert!(self.sessions[member].answer().is_ok());
            }
        }
        match answer {
            Some(Ok(_)) => self.let_past(session),
            Some(Err(error)) => {
                assert_eq!(error.state(), SqlState::DEADLOCK_DETECTED);
                assert_eq!(
                    self.model.circle(session),
                    Circle::NeedsVictim,
                    "a victim without need"
                );
                self.seen.deadlocks += 1;
                self.model.leave(session);
                self.serve(None);
            }
            None => assert_eq!(self.model.circle(session), Circle::None, "a circle is left"),
        }
    }

    fn let_past(&mut self, session: usize) {
        self.seen.overtakings += 1;
        self.model.let_past(session, self.sessions[session].marks);
    }

    fn cancel(&mut self, session: usize) {
        self.seen.cancels += 1;
        self.sessions[session].cancel.cancel();
        let error = self.sessions[session].answer().unwrap_err();
        assert_eq!(error.state(), SqlState::QUERY_CANCELED);
        self.sessions[session].cancel.reset();
        self.model.leave(session);
        self.serve(None);
    }

    /// Whoever is served by the reference answers, and nobody else.
    fn serve(&mut self, ended: Option<usize>) {
        let sessions = &self.sessions;
        let served = self.model.serve(
            |session| sessions[session].marks,
            |session| Some(session) == ended,
        );
        for session in served {
            assert_eq!(self.sessions[session].answer().unwrap(), Outcome::Granted);
        }
    }

    /// Compares what is held and who waits.
    fn compare(&self) {
        let mut expected: BTreeMap<(TxnId, Target, AnyMode), usize> = BTreeMap::new();
        for (session, _, target, mode) in &self.model.held {
            let (group, rows) = match target {
                Target::Row(table, row) => (Target::Row(*table, RowId::new(row.chunk(), 0)), 1),
                Target::Table(_) => (*target, 0),
                Target::Key(index, _) => (Target::Key(*index, 0), 1),
            };
            *expected
                .entry((self.sessions[*session].id, group, *mode))
                .or_default() += rows;
        }
        let mut found = BTreeMap::new();
        for holding in self.locks.holdings() {
            let group = match holding.first {
                Target::Row(table, row) => Target::Row(table, RowId::new(row.chunk(), 0)),
                Target::Table(_) => holding.first,
                Target::Key(index, _) => Target::Key(index, 0),
            };
            found.insert((holding.transaction, group, holding.mode), holding.rows);
        }
        assert_eq!(found, expected);
        for session in 0..SESSIONS {
            assert_eq!(
                self.waits_really(session),
                self.is_waiting(session),
                "session {session}"
            );
        }
    }

    fn finish(mut self) -> Seen {
        while let Some(session) = (0..SESSIONS).find(|session| self.is_waiting(*session)) {
            self.cancel(session);
        }
        for session in self.sessions.drain(..) {
            drop(session.commands);
            session.thread.join().unwrap();
        }
        assert!(self.locks.holdings().is_empty() && self.locks.waits().is_empty());
        assert!(self.locks.transactions().is_empty());
        let counters = self.locks.counters();
        assert_eq!(counters.deadlocks as usize, self.seen.deadlocks);
        assert_eq!(counters.cancels as usize, self.seen.cancels);
        self.seen
    }
}

#[test]
fn random_schedules_are_those_of_the_reference() {
    let seeds = std::env::var(SEEDS)
        .ok()
        .and_then(|seeds| seeds.parse().ok())
        .unwrap_or(100);
    let mut all = Seen::default();
    for seed in 1..=seeds {
        println!("seed {seed}");
        let mut schedule = Schedule::new(seed);
        for _ in 0..STEPS {
            schedule.step();
            schedule.compare();
        }
        let seen = schedule.finish();
        all.waits += seen.waits;
        all.deadlocks += seen.deadlocks;
        all.overtakings += seen.overtakings;
        all.fallbacks += seen.fallbacks;
        all.cancels += seen.cancels;
        all.refusals += seen.refusals;
    }
    println!("{all:?}");
    assert!(
        all.waits > 1000 && all.deadlocks > 50 && all.overtakings >= 5,
        "too tame: {all:?}"
    );
    assert!(
        all.fallbacks > 50 && all.cancels > 50 && all.refusals > 50,
        "too tame: {all:?}"
    );
}
