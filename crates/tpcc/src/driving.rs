//! Terminals side by side, a thread each.

use crate::dice::Dice;
use crate::population::{DISTRICTS, Population};
use crate::session::{Engine, Session};
use crate::tally::Tally;
use crate::terminal::{Mix, Pace, Terminal};
use crate::transactions::Home;
use frazil::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest sleep of a terminal before it looks if it is to stop.
const NAP: Duration = Duration::from_millis(50);
/// The time between two looks if all sessions are open.
const LOOK: Duration = Duration::from_micros(100);

/// The work of the terminals.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Terminals: threads with a session each.
    pub terminals: usize,
    /// Kinds of their transactions.
    pub mix: Mix,
    /// Time between transactions.
    pub pace: Pace,
    /// The end.
    pub until: Until,
    /// Seed of the terminals' inputs.
    pub seed: u64,
    /// The time when [`drive`] is called, in microseconds since 1970.
    pub now: i64,
}

/// The end of a terminal's work.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// After this time.
    Time(Duration),
    /// After this number of transactions of each terminal.
    Transactions(u64),
}

/// A look at terminals that work, and a way to stop them.
#[derive(Debug, Default)]
pub struct Watch {
    stop: AtomicBool,
    done: AtomicU64,
    orders: AtomicU64,
}

impl Watch {
    /// Stops all terminals behind the transaction that they are in.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// True once they are to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Transactions so far.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// New orders that committed so far. A snapshot that begins later has all of them.
    pub fn orders(&self) -> u64 {
        self.orders.load(Ordering::Acquire)
    }
}

/// The result of terminals' work.
#[derive(Clone, Debug)]
pub struct Driven {
    /// Counts and times of their transactions.
    pub tally: Tally,
    /// From the moment when all sessions were open until the last terminal ended.
    pub elapsed: Duration,
}

impl Driven {
    /// Transactions per second.
    pub fn rate(&self) -> f64 {
        self.tally.transactions() as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// Runs terminals on an engine whose tables have the sizes of `population`. The first error of a terminal ends all of
/// them.
pub fn drive(engine: &dyn Engine, population: &Population, plan: &Plan, watch: &Watch) -> Result<Driven> {
    let terminals = plan.terminals.max(1);
    let work = Work {
        called: Instant::now(),
        population,
        plan,
        watch,
        terminals,
        ready: AtomicUsize::new(0),
        together: Mutex::new((Tally::default(), Duration::ZERO)),
    };
    let run = |number| {
        let ended = engine.with_session(&mut |session| work.terminal(number, session));
        if ended.is_err() {
            watch.stop();
        }
        ended
    };
    let first_error = std::thread::scope(|scope| {
        let others: Vec<_> = (1..terminals)
            .map(|number| scope.spawn(move || run(number)))
            .collect();
        let mut error = run(0).err();
        for other in others {
            let ended = other.join().unwrap_or_else(|panic| Err(Error::of_panic(&*panic)));
            error = error.or(ended.err());
        }
        error
    });
    match first_error {
        Some(error) => Err(error),
        None => {
            let (tally, elapsed) = work.together.into_inner().unwrap_or_else(PoisonError::into_inner);
            Ok(Driven { tally, elapsed })
        }
    }
}

struct Work<'w> {
    /// The moment of the plan's `now`.
    called: Instant,
    population: &'w Population,
    plan: &'w Plan,
    watch: &'w Watch,
    terminals: usize,
    /// Terminals whose sessions are open.
    ready: AtomicUsize,
    /// The tallies of terminals that ended, and the longest time of one.
    together: Mutex<(Tally, Duration)>,
}

impl Work<'_> {
    fn terminal(&self, number: usize, session: &mut dyn Session) -> Result<()> {
        self.ready.fetch_add(1, Ordering::Relaxed);
        // One that cannot open its session stops all.
        while self.ready.load(Ordering::Relaxed) < self.terminals && !self.watch.is_stopped() {
            std::thread::sleep(LOOK);
        }
        let plan = self.plan;
        let dice = Dice::running(*self.population, plan.seed ^ ((number as u64 + 1) << 32));
        let home = home(number, self.population);
        let mut terminal = Terminal::new(
            session,
            dice,
            home,
            (plan.mix, plan.pace),
            (plan.now, self.called),
        );
        let began = Instant::now();
        let is_over = |transactions: u64| match plan.until {
            Until::Time(time) => began.elapsed() >= time,
            Until::Transactions(most) => transactions >= most,
        };
        let sleep = |time: Duration| self.sleep(time, &|| is_over(0));
        let (mut transactions, mut orders) = (0, 0);
        while !self.watch.is_stopped() && !is_over(transactions) && terminal.turn(&sleep)? {
            transactions += 1;
            self.watch.done.fetch_add(1, Ordering::Relaxed);
            let so_far = terminal.tally.orders();
            self.watch.orders.fetch_add(so_far - orders, Ordering::Release);
            orders = so_far;
        }
        let elapsed = began.elapsed();
        let mut together = self.together.lock().unwrap_or_else(PoisonError::into_inner);
        together.0.merge(&terminal.tally);
        together.1 = together.1.max(elapsed);
        Ok(())
    }

    /// Sleeps; returns false if the terminals stopped, or their time was over.
    fn sleep(&self, time: Duration, is_over: &dyn Fn() -> bool) -> bool {
        let until = Instant::now() + time;
        loop {
            if self.watch.is_stopped() || time > Duration::ZERO && is_over() {
                return false;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(NAP));
        }
    }
}

/// The home of a terminal by its number from 0: warehouses in turns, then their districts.
fn home(number: usize, population: &Population) -> Home {
    let number = i32::try_from(number).unwrap_or(0);
    let warehouses = population.warehouses.max(1);
    Home {
        warehouse: number % warehouses + 1,
        district: number / warehouses % DISTRICTS + 1,
    }
}
