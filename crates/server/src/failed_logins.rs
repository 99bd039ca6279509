//! Addresses whose logins fail: one that has failed ten times waits before each further try, longer and longer.
//!
//! Tries of an address that waits come one after the other, however many connections it opens. A login with the right
//! password forgets the failures before it.

use frazil::{Error, Result, SqlState};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Failures that cost nothing.
const FREE: u32 = 10;
/// The first wait. Each further failure doubles it.
const FIRST: Duration = Duration::from_secs(1);
/// The longest wait of a try.
const LONGEST: Duration = Duration::from_secs(32);
/// Failures are forgotten when the address has not failed for this time.
const MEMORY: Duration = Duration::from_secs(3600);
/// Most addresses that are known. One more takes the place of the one that has not failed for the longest time.
const MOST: usize = 4096;

/// Addresses whose logins failed.
#[derive(Debug, Default)]
pub struct FailedLogins {
    known: Mutex<HashMap<IpAddr, Failures>>,
    /// Number of logins that failed.
    total: AtomicU64,
}

#[derive(Debug)]
struct Failures {
    count: u32,
    latest: Instant,
    /// The time before which the address may not try again.
    next: Instant,
}

impl FailedLogins {
    fn known(&self) -> MutexGuard<'_, HashMap<IpAddr, Failures>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time that a login from an address has to wait. 28000 if the logins that wait before it take longer
    /// than [`LONGEST`].
    pub fn admit(&self, address: IpAddr) -> Result<Duration> {
        self.admit_at(address, Instant::now())
    }

    fn admit_at(&self, address: IpAddr, now: Instant) -> Result<Duration> {
        let mut known = self.known();
        let Some(failures) = known.get_mut(&network(address)) else {
            return Ok(Duration::ZERO);
        };
        let Some(pause) = pause(failures.count) else {
            return Ok(Duration::ZERO);
        };
        let wait = failures.next.saturating_duration_since(now);
        if wait > LONGEST {
            let message = format!("too many logins from {address} have failed");
            let hint = format!("wait {} seconds", wait.as_secs() + 1);
            return Err(Error::new(SqlState::INVALID_AUTHORIZATION, message).with_hint(hint));
        }
        // The next try comes behind this one.
        failures.next = now + wait + pause;
        Ok(wait)
    }

    /// Number of logins that failed so far.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Notes that a login from an address failed.
    pub fn note(&self, address: IpAddr) {
        self.total.fetch_add(1, Ordering::Relaxed);
        self.note_at(address, Instant::now());
    }

    fn note_at(&self, address: IpAddr, now: Instant) {
        let (address, mut known) = (network(address), self.known());
        if known.len() >= MOST && !known.contains_key(&address) {
            let oldest = known.iter().min_by_key(|(_, failures)| failures.latest);
            if let Some(oldest) = oldest.map(|(address, _)| *address) {
                known.remove(&oldest);
            }
        }
        let failures = known.entry(address).or_insert(Failures {
            count: 0,
            latest: now,
            next: now,
        });
        if now.saturating_duration_since(failures.latest) > MEMORY {
            failures.count = 0;
        }
        failures.count = failures.count.saturating_add(1);
        failures.latest = now;
        if let Some(pause) = pause(failures.count) {
            failures.next = failures.next.max(now + pause);
        }
    }

    /// Forgets the failures of an address.
    pub fn forget(&self, address: IpAddr) {
        self.known().remove(&network(address));
    }
}

/// The time between two tries after `count` failures; `None` if there is none.
fn pause(count: u32) -> Option<Duration> {
    let doubled = count.checked_sub(FREE)?.min(16);
    Some((FIRST * (1 << doubled)).min(LONGEST))
}

/// The addresses that count as one: of IPv6, the 64 bits that a provider gives to a customer.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let bits = u128::from(v6) >> 64 << 64;
            IpAddr::V6(bits.into())
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_that_fails_waits_longer_and_longer() {
        let (logins, now) = (FailedLogins::default(), Instant::now());
        let one = ip("192.0.2.1");
        for _ in 0..9 {
            logins.note_at(one, now);
            assert_eq!(logins.admit_at(one, now).unwrap(), Duration::ZERO);
        }
        logins.note_at(one, now);
        assert_eq!(logins.admit_at(one, now).unwrap(), Duration::from_secs(1));
        // A second try at the same time waits for its own turn; others do not wait.
        assert_eq!(logins.admit_at(one, now).unwrap(), Duration::from_secs(2));
        assert_eq!(logins.admit_at(ip("192.0.2.2"), now).unwrap(), Duration::ZERO);
        let later = now + Duration::from_secs(60);
        logins.note_at(one, later);
        assert_eq!(logins.admit_at(one, later).unwrap(), Duration::from_secs(2));
        for _ in 0..40 {
            logins.note_at(one, later);
        }
        assert_eq!(logins.admit_at(one, later).unwrap(), LONGEST);
        let refused = logins.admit_at(one, later).unwrap_err();
        assert_eq!(refused.state(), SqlState::INVALID_AUTHORIZATION);
        logins.forget(one);
        assert_eq!(logins.admit_at(one, later).unwrap(), Duration::ZERO);
    }

    #[test]
    fn failures_are_forgotten_after_an_hour() {
        let (logins, now) = (FailedLogins::default(), Instant::now());
        (0..20).for_each(|_| logins.note_at(ip("192.0.2.1"), now));
        let later = now + MEMORY + Duration::from_secs(1);
        assert_eq!(logins.admit_at(ip("192.0.2.1"), later).unwrap(), Duration::ZERO);
        logins.note_at(ip("192.0.2.1"), later);
        assert_eq!(logins.admit_at(ip("192.0.2.1"), later).unwrap(), Duration::ZERO);
    }

    #[test]
    fn a_customers_addresses_are_one_and_the_table_is_bounded() {
        let (logins, now) = (FailedLogins::default(), Instant::now());
        for last in 0..FREE {
            logins.note_at(ip(&format!("2001:db8:0:1::{last}")), now);
        }
        assert!(logins.admit_at(ip("2001:db8:0:1:ffff::"), now).unwrap() > Duration::ZERO);
        assert_eq!(
            logins.admit_at(ip("2001:db8:0:2::"), now).unwrap(),
            Duration::ZERO
        );
        assert_eq!(network(ip("::ffff:192.0.2.1")), ip("192.0.2.1"));
        for number in 0..2 * MOST as u32 {
            let at = now + Duration::from_millis(1 + u64::from(number));
            logins.note_at(IpAddr::V4(number.into()), at);
        }
        assert_eq!(logins.known().len(), MOST);
        // The oldest is forgotten.
        assert_eq!(
            logins.admit_at(ip("2001:db8:0:1::"), now).unwrap(),
            Duration::ZERO
        );
    }
}
