//! Claims and locks as simply as it can be said: a list of what is held, a list of who waits, and the tables of
//! PostgreSQL's manual as text. No part of it is shared with the crate.

use frazil_locks::{AnyMode, Mode, TableMode, Target};

/// The modes of rows.
pub const ROW_MODES: [Mode; 7] = [
    Mode::KeyShare,
    Mode::Share,
    Mode::NoKeyUpdate,
    Mode::ForUpdate,
    Mode::Rewrite,
    Mode::Update,
    Mode::Insert,
];

/// The modes of tables.
pub const TABLE_MODES: [TableMode; 8] = [
    TableMode::AccessShare,
    TableMode::RowShare,
    TableMode::RowExclusive,
    TableMode::ShareUpdateExclusive,
    TableMode::Share,
    TableMode::ShareRowExclusive,
    TableMode::Exclusive,
    TableMode::AccessExclusive,
];

/// Table 13.3 of the manual, a line and a column a mode; REWRITE, UPDATE and INSERT, which say that a row is being
/// changed, are Frazil's own.
const ROW_TABLE: &str = "
    KEY SHARE      . . . X X X X
    SHARE          . . X X X X X
    NO KEY UPDATE  . X X X X X X
    FOR UPDATE     X X X X X X X
    REWRITE        X X X X X X X
    UPDATE         X X X X X X X
    INSERT         X X X X X X X";

/// Table 13.2 of the manual.
const TABLE_TABLE: &str = "
    ACCESS SHARE            . . . . . . . X
    ROW SHARE               . . . . . . X X
    ROW EXCLUSIVE           . . . . X X X X
    SHARE UPDATE EXCLUSIVE  . . . X X X X X
    SHARE                   . . X X . X X X
    SHARE ROW EXCLUSIVE     . . X X X X X X
    EXCLUSIVE               . X X X X X X X
    ACCESS EXCLUSIVE        X X X X X X X X";

/// True if two transactions cannot hold these modes at once, by the manual.
pub fn conflict(a: AnyMode, b: AnyMode) -> bool {
    let (table, column) = match (a, b) {
        (AnyMode::Row(_), AnyMode::Row(b)) => (ROW_TABLE, ROW_MODES.iter().position(|mode| *mode == b)),
        (AnyMode::Table(_), AnyMode::Table(b)) => {
            (TABLE_TABLE, TABLE_MODES.iter().position(|mode| *mode == b))
        }
        _ => return false,
    };
    let name = a.to_string();
    let line = table.lines().map(str::trim).find_map(|line| {
        let cells = line.strip_prefix(&name)?;
        cells.starts_with("  ").then(|| cells.trim())
    });
    line.unwrap().split(' ').nth(column.unwrap()) == Some("X")
}

/// True for the modes of a row that is being inserted or deleted.
fn is_change(mode: AnyMode) -> bool {
    matches!(mode, AnyMode::Row(Mode::Rewrite | Mode::Update | Mode::Insert))
}

/// Something that a session holds: session, level, target, mode.
pub type Held = (usize, usize, Target, AnyMode);

/// An event that a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// To hold a target. The flag: it holds the target in another mode.
    Target(Target, AnyMode, bool),
    /// The end of a session's change of a row.
    Change(Target, usize),
    /// The end of a session's transaction.
    End(usize),
}

/// The answer to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It goes on.
    Done,
    /// One of these sessions is in the way.
    Held(Vec<usize>),
    /// It waits.
    Waits,
}

/// Circles of waits through a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Circle {
    /// There is none.
    None,
    /// In each of them somebody waits for nobody but others in a queue.
    SomebodyMayPass,
    /// In one of them everybody waits for a holder.
    NeedsVictim,
}

#[derive(Clone, Default)]
pub struct Model {
    pub held: Vec<Held>,
    /// Sessions that wait, in the order of their arrival.
    pub waits: Vec<(usize, Wanted)>,
}

impl Model {
    fn holds(&self, session: usize, target: Target) -> bool {
        self.held.iter().any(|held| held.0 == session && held.2 == target)
    }

    /// True if `session` holds `target` in modes that stop everybody whom `mode` stops, and say that a row is being
    /// changed if `mode` says so.
    fn is_covered(&self, session: usize, target: Target, mode: AnyMode) -> bool {
        if is_change(mode) && !self.changes(session, target) {
            return false;
        }
        let all = ROW_MODES
            .map(AnyMode::Row)
            .into_iter()
            .chain(TABLE_MODES.map(AnyMode::Table));
        let mut stopped = all.filter(|other| conflict(mode, *other));
        stopped.all(|other| {
            let own = self
                .held
                .iter()
                .filter(|held| held.0 == session && held.2 == target);
            own.into_iter().any(|held| conflict(held.3, other))
        })
    }

    /// Sessions that hold a target in the way of another one.
    fn holders_in_the_way(&self, session: usize, target: Target, mode: AnyMode) -> Vec<usize> {
        let others = self
            .held
            .iter()
            .filter(|held| held.0 != session && held.2 == target);
        others
            .filter(|held| conflict(held.3, mode))
            .map(|held| held.0)
            .collect()
    }

    /// Waiting sessions that a newcomer, or the one at `at` in the list, may not pass.
    fn waiters_in_the_way(
        &self,
        session: usize,
        target: Target,
        mode: AnyMode,
        at: usize,
        holds: bool,
    ) -> Vec<usize> {
        let is_ahead = |(place, (other, wanted)): (usize, &(usize, Wanted))| match *wanted {
            Wanted::Target(of, wants, other_holds) => {
                let comes_first = if holds == other_holds {
                    place < at
                } else {
                    other_holds
                };
                (*other != session && of == target && comes_first && conflict(wants, mode)).then_some(*other)
            }
            Wanted::Change(..) | Wanted::End(_) => None,
        };
        self.waits.iter().enumerate().filter_map(is_ahead).collect()
    }

    fn add(&mut self, session: usize, level: usize, target: Target, mode: AnyMode) {
        if self.is_covered(session, target, mode) {
            return;
        }
        let is_row = matches!(target, Target::Row(..));
        let mut own = self.held.iter_mut();
        match own.find(|held| is_row && (held.0, held.1, held.2) == (session, level, target)) {
            Some(weaker) => weaker.3 = mode,
            None => self.held.push((session, level, target, mode)),
        }
    }

    /// A session takes a target.
    pub fn take(
        &mut self,
        session: usize,
        level: usize,
        target: Target,
        mode: AnyMode,
        waits: bool,
    ) -> Answer {
        if self.is_covered(session, target, mode) {
            return Answer::Done;
        }
        let holds = self.holds(session, target);
        let mut in_the_way = self.holders_in_the_way(session, target, mode);
        if in_the_way.is_empty() && !holds {
            in_the_way = self.waiters_in_the_way(session, target, mode, self.waits.len(), holds);
        }
        if in_the_way.is_empty() {
            self.add(session, level, target, mode);
            return Answer::Done;
        }
        if waits {
            self.waits.push((session, Wanted::Target(target, mode, holds)));
            return Answer::Waits;
        }
        Answer::Held(in_the_way)
    }

    /// True if a session changes a row.
    pub fn changes(&self, session: usize, target: Target) -> bool {
        self.held
            .iter()
            .any(|held| held.0 == session && held.2 == target && is_change(held.3))
    }

    /// The sessions that the wait at `at` waits for: holders, and those ahead of it.
    fn blockers(&self, at: usize) -> (Vec<usize>, Vec<usize>) {
        let (session, wanted) = self.waits[at];
        match wanted {
            Wanted::Target(target, mode, holds) => (
                self.holders_in_the_way(session, target, mode),
                self.waiters_in_the_way(session, target, mode, at, holds),
            ),
            Wanted::Change(_, of) | Wanted::End(of) => (vec![of], Vec::new()),
        }
    }

    /// True if `from` waits for `to`, perhaps by way of others. Without `queued`, waits for nobody but others in a
    /// queue do not count: they can be let past.
    fn reaches(&self, from: usize, to: usize, queued: bool) -> bool {
        let (mut seen, mut open) = (vec![from], vec![from]);
        while let Some(next) = open.pop() {
            for at in (0..self.waits.len()).filter(|at| self.waits[*at].0 == next) {
                let (holders, waiters) = self.blockers(at);
                if holders.is_empty() && !queued {
                    continue;
                }
                for blocker in holders.into_iter().chain(waiters) {
                    if blocker == to {
                        return true;
                    }
                    if !seen.contains(&blocker) {
                        seen.push(blocker);
                        open.push(blocker);
                    }
                }
            }
        }
        false
    }

    /// The circles through a session.
    pub fn circle(&self, session: usize) -> Circle {
        if !self.reaches(session, session, true) {
            return Circle::None;
        }
        if self.reaches(session, session, false) {
            return Circle::NeedsVictim;
        }
        Circle::SomebodyMayPass
    }

    /// Serves everybody who has nobody in the way any more, in the order of arrival. Returns the sessions.
    pub fn serve(
        &mut self,
        level_of: impl Fn(usize) -> usize,
        has_ended: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let mut served = Vec::new();
        while let Some(at) = (0..self.waits.len()).find(|at| match self.waits[*at].1 {
            Wanted::Target(..) => {
                let (holders, waiters) = self.blockers(*at);
                holders.is_empty() && waiters.is_empty()
            }
            Wanted::Change(target, of) => !self.changes(of, target),
            Wanted::End(of) => has_ended(of),
        }) {
            let (session, wanted) = self.waits.remove(at);
            if let Wanted::Target(target, mode, _) = wanted {
                self.add(session, level_of(session), target, mode);
            }
            served.push(session);
        }
        served
    }

    /// Lets a waiting session have what it waits for, as the crate did.
    pub fn let_past(&mut self, session: usize, level: usize) {
        let at = self
            .waits
            .iter()
            .position(|(waiting, _)| *waiting == session)
            .unwrap();
        let (_, wanted) = self.waits.remove(at);
        if let Wanted::Target(target, mode, _) = wanted {
            assert!(
                self.holders_in_the_way(session, target, mode).is_empty(),
                "passed a holder"
            );
            self.add(session, level, target, mode);
        }
    }

    /// A session gives back what it took at a level or later.
    pub fn free(&mut self, session: usize, from: usize) {
        self.held.retain(|held| held.0 != session || held.1 < from);
    }

    /// A session gives up waiting.
    pub fn leave(&mut self, session: usize) {
        self.waits.retain(|(waiting, _)| *waiting != session);
    }
}
