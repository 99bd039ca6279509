//! Commits that share a sync: one of those who wait leads and writes for all, the others follow.
//!
//! What is appended lies in memory, in order, until a leader takes it. There is one leader at a time. Whoever appends while the
//! leader writes belongs to the next group, whose leader is the first of them to be woken.

use super::sync::{Condvar, Mutex};

/// What was appended to a log, and how far it is durable. `P` holds what no leader has taken yet.
#[derive(Debug)]
pub struct GroupCommit<P> {
    state: Mutex<State<P>>,
    /// A leader has ended.
    ended: Condvar,
}

#[derive(Debug)]
struct State<P> {
    pending: P,
    /// Everything before this position is durable.
    durable: u64,
    /// Somebody writes a group.
    led: bool,
    /// A group could not be written: nothing is appended or written any more.
    failed: bool,
}

/// The log has failed: a group could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

/// How a commit became durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// By somebody else's write.
    Followed,
    /// By its own, which took others along.
    Led,
}

impl<P> GroupCommit<P> {
    /// A log that is durable up to a position.
    pub fn new(pending: P, durable: u64) -> GroupCommit<P> {
        GroupCommit {
            state: Mutex::new(State {
                pending,
                durable,
                led: false,
                failed: false,
            }),
            ended: Condvar::new(),
        }
    }

    /// Appends. Nothing is appended to a log that has failed.
    pub fn append<R>(&self, append: impl FnOnce(&mut P) -> R) -> Result<R, Failed> {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        match state.failed {
            true => Err(Failed),
            false => Ok(append(&mut state.pending)),
        }
    }

    /// Looks at what is pending, or changes it, also after a failure.
    pub fn with<R>(&self, look: impl FnOnce(&mut P) -> R) -> R {
        look(&mut self.state.lock().unwrap_or_else(|e| e.into_inner()).pending)
    }

    /// Ends the log, as a group does that could not be written.
    pub fn fail(&self) {
        self.state.lock().unwrap_or_else(|e| e.into_inner()).failed = true;
        self.ended.notify_all();
    }

    /// Whether it has failed.
    pub fn has_failed(&self) -> bool {
        self.state.lock().unwrap_or_else(|e| e.into_inner()).failed
    }

    /// Everything before this position is durable.
    pub fn durable(&self) -> u64 {
        self.state.lock().unwrap_or_else(|e| e.into_inner()).durable
    }

    /// Returns when everything before `position` is durable, which must have been appended. As a leader it takes what is
    /// pending, with the position where that ends, and writes it; `write` says whether it is durable then.
    pub fn wait<G>(
        &self,
        position: u64,
        take: impl FnOnce(&mut P) -> (G, u64),
        write: impl FnOnce(G) -> bool,
    ) -> Result<Waited, Failed> {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        loop {
            if state.durable >= position {
                return Ok(Waited::Followed);
            }
            if state.failed {
                return Err(Failed);
            }
            if !state.led {
                break;
            }
            state = self.ended.wait(state).unwrap_or_else(|e| e.into_inner());
        }
        state.led = true;
        let (group, end) = take(&mut state.pending);
        drop(state);
        let mut leader = Leader {
            commits: self,
            end,
            is_durable: false,
        };
        leader.is_durable = write(group);
        match leader.is_durable {
            true => Ok(Waited::Led),
            false => Err(Failed),
        }
    }
}

/// Ends the leader's time, also if it panics: the log has failed then.
struct Leader<'a, P> {
    commits: &'a GroupCommit<P>,
    end: u64,
    is_durable: bool,
}

impl<P> Drop for Leader<'_, P> {
    fn drop(&mut self) {
        let mut state = self.commits.state.lock().unwrap_or_else(|e| e.into_inner());
        state.led = false;
        match self.is_durable {
            true => state.durable = self.end,
            false => state.failed = true,
        }
        drop(state);
        self.commits.ended.notify_all();
    }
}
