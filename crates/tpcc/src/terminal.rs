//! A terminal: one transaction after the other, in the mix of the specification.

use crate::dice::Dice;
use crate::session::Session;
use crate::steps::Step;
use crate::tally::Tally;
use crate::transactions::{Home, Kind, Request};
use frazil::{Error, Result, SqlState};
use std::time::{Duration, Instant};

/// The kinds of transactions that terminals run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// All five. Of 23 transactions in random order, ten are new orders, ten payments, and one each of the others
    /// (5.2.4.2).
    Standard,
    /// Order-status and stock-level in turns, in random order (Data Blocks, section 5.3).
    ReadOnly,
}

impl Mix {
    /// The kinds of a round; each round is shuffled.
    fn round(self) -> Vec<Kind> {
        let mut kinds = vec![Kind::OrderStatus, Kind::StockLevel];
        if self == Mix::Standard {
            kinds.push(Kind::Delivery);
            kinds.extend([Kind::NewOrder; 10]);
            kinds.extend([Kind::Payment; 10]);
        }
        kinds
    }
}

/// The time that a terminal leaves between transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// None.
    AtOnce,
    /// The specification's times of keying and thinking (5.2.5).
    Keying,
}

impl Pace {
    /// The time before a transaction of a kind.
    fn keying(self, kind: Kind) -> Duration {
        let seconds = match kind {
            Kind::NewOrder => 18,
            Kind::Payment => 3,
            Kind::OrderStatus | Kind::Delivery | Kind::StockLevel => 2,
        };
        match self {
            Pace::AtOnce => Duration::ZERO,
            Pace::Keying => Duration::from_secs(seconds),
        }
    }

    /// The time behind it: exponentially distributed, at most ten times its mean.
    fn thinking(self, kind: Kind, dice: &mut Dice) -> Duration {
        let mean = match kind {
            Kind::NewOrder | Kind::Payment => 12.0,
            Kind::OrderStatus => 10.0,
            Kind::Delivery | Kind::StockLevel => 5.0,
        };
        match self {
            Pace::AtOnce => Duration::ZERO,
            Pace::Keying => {
                let drawn: f64 = -mean * (1.0 - dice.share()).ln();
                Duration::from_secs_f64(drawn.min(mean * 10.0))
            }
        }
    }
}

/// A terminal with its session.
pub struct Terminal<'s> {
    session: &'s mut dyn Session,
    dice: Dice,
    home: Home,
    mix: Mix,
    pace: Pace,
    /// The rest of the round; the last one comes next.
    round: Vec<Kind>,
    /// A time in microseconds since 1970, and its moment.
    clock: (i64, Instant),
    /// Transactions so far.
    pub tally: Tally,
}

impl<'s> Terminal<'s> {
    /// A terminal that is about to begin. `clock` is a time in microseconds since 1970, and its moment.
    pub fn new(
        session: &'s mut dyn Session,
        dice: Dice,
        home: Home,
        ways: (Mix, Pace),
        clock: (i64, Instant),
    ) -> Terminal<'s> {
        Terminal {
            session,
            dice,
            home,
            mix: ways.0,
            pace: ways.1,
            round: Vec::new(),
            clock,
            tally: Tally::default(),
        }
    }

    /// Runs the next transaction, with the time before and behind it, which `sleep` spends; it returns false to end
    /// the terminal. Returns false if the terminal ended before the transaction.
    pub fn turn(&mut self, sleep: &dyn Fn(Duration) -> bool) -> Result<bool> {
        if self.round.is_empty() {
            self.round = self.mix.round();
            self.dice.shuffle(&mut self.round);
        }
        let Some(kind) = self.round.pop() else {
            return Ok(false);
        };
        if !sleep(self.pace.keying(kind)) {
            return Ok(false);
        }
        let now = self.clock.0 + i64::try_from(self.clock.1.elapsed().as_micros()).unwrap_or(0);
        let request = Request::draw(kind, &mut self.dice, self.home, now);
        let began = Instant::now();
        let ended = loop {
            match request.run(self.session) {
                Ok(ended) => break ended,
                Err(error) => self.give_up(kind, error)?,
            }
        };
        self.tally.add(kind, ended, began.elapsed());
        sleep(self.pace.thinking(kind, &mut self.dice));
        Ok(true)
    }

    /// Rolls a transaction back that failed. The error, if it does not help to try again.
    fn give_up(&mut self, kind: Kind, error: Error) -> Result<()> {
        let counts = self.tally.of_mut(kind);
        let counter = match error.state() {
            SqlState::SERIALIZATION_FAILURE => Some(&mut counts.conflicts),
            SqlState::DEADLOCK_DETECTED => Some(&mut counts.deadlocks),
            _ => None,
        };
        let rolled_back = self.session.run(Step::Rollback, &[]);
        match counter {
            None => Err(error.in_context(kind.name().to_owned())),
            Some(counter) => {
                *counter += 1;
                rolled_back.map(drop)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::Population;

    #[test]
    fn a_round_has_the_specifications_shares() {
        let round = Mix::Standard.round();
        let count = |kind| round.iter().filter(|k| **k == kind).count();
        assert_eq!(Kind::ALL.map(count), [10, 10, 1, 1, 1]);
        assert_eq!(Mix::ReadOnly.round(), [Kind::OrderStatus, Kind::StockLevel]);
    }

    #[test]
    fn times_of_thinking_have_their_mean() {
        let mut dice = Dice::running(Population::new(1), 3);
        let total: Duration = (0..10_000)
            .map(|_| Pace::Keying.thinking(Kind::Payment, &mut dice))
            .sum();
        let mean = total.as_secs_f64() / 1e4;
        assert!((11.0..13.0).contains(&mean), "{mean} s");
        assert_eq!(Pace::AtOnce.keying(Kind::NewOrder), Duration::ZERO);
        assert_eq!(Pace::Keying.keying(Kind::NewOrder), Duration::from_secs(18));
    }
}
