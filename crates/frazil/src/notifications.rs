//! LISTEN and NOTIFY: sessions of a database tell each other of what they committed.
//!
//! The database has one [`Exchange`]. A session has a [`Mailbox`] with the channels that it listens to and the
//! notifications that wait for it, and an [`Outbox`] with what its open transaction sends. COMMIT holds the exchange
//! from before the transaction commits until the notifications are in all mailboxes. So all listeners get notifications
//! in the order of the commits. A mailbox that is full fails the COMMIT of a sender, as PostgreSQL's full queue does.

use frazil_types::{Error, Result, SqlState};
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Bytes of a channel's name, at most: those of every name.
const CHANNEL: usize = 63;
/// Bytes of a payload, at most: PostgreSQL's limit.
const PAYLOAD: usize = 7999;
/// Bytes that wait in a mailbox, at most. A session that listens and takes nothing holds no more.
const WAITING: usize = 64 << 20;
/// Bytes that a notification takes beside its texts.
const OVERHEAD: usize = 64;

/// A notification that a session received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// The channel.
    pub channel: String,
    /// The payload, empty without one.
    pub payload: String,
    /// The number of the session that sent it: see [`Listener::set_number`].
    pub session: i32,
}

impl Notification {
    fn bytes(&self) -> usize {
        self.channel.len() + self.payload.len() + OVERHEAD
    }
}

/// Returns a channel and a payload that may be sent. 22023 for a channel or payload that PostgreSQL does not take.
pub fn checked(channel: &str, payload: &str) -> Result<(String, String)> {
    let what = match (channel.len(), payload.len()) {
        (0, _) => "channel name cannot be empty",
        (length, _) if length > CHANNEL => "channel name too long",
        (_, length) if length > PAYLOAD => "payload string too long",
        _ => return Ok((channel.to_owned(), payload.to_owned())),
    };
    Err(Error::new(SqlState::INVALID_PARAMETER, what))
}

/// The mailboxes of a database's sessions.
#[derive(Debug, Default)]
pub struct Exchange(Mutex<Vec<Weak<Mailbox>>>);

/// The exchange while a transaction commits and sends.
pub struct Sending<'a>(MutexGuard<'a, Vec<Weak<Mailbox>>>);

impl Exchange {
    /// Adds a session's mailbox.
    pub fn join(&self, mailbox: &Arc<Mailbox>) {
        let mut mailboxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        mailboxes.retain(|known| known.strong_count() > 0);
        mailboxes.push(Arc::downgrade(mailbox));
    }

    /// Waits until no other session commits and sends. `None` for an empty outbox. 54000 if a listener has no room.
    pub fn begin_for(&self, outbox: &Outbox) -> Result<Option<Sending<'_>>> {
        if outbox.is_empty() {
            return Ok(None);
        }
        let sending = self.begin();
        sending.check_room(outbox).map(|()| Some(sending))
    }

    fn begin(&self) -> Sending<'_> {
        Sending(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the share of its room that the fullest mailbox has used.
    pub fn usage(&self) -> f64 {
        let mailboxes = self.begin();
        let waiting = mailboxes.all().map(|mailbox| mailbox.inbox().bytes).max();
        waiting.unwrap_or(0) as f64 / WAITING as f64
    }
}

impl Sending<'_> {
    fn all(&self) -> impl Iterator<Item = Arc<Mailbox>> {
        self.0.iter().filter_map(Weak::upgrade)
    }

    /// 54000 if a listener has no room for the notifications.
    fn check_room(&self, outbox: &Outbox) -> Result<()> {
        let wanted = |inbox: &Inbox| -> usize {
            let heard = outbox.sent.iter().filter(|sent| inbox.channels.contains(&sent.0));
            heard
                .map(|(channel, payload)| channel.len() + payload.len() + OVERHEAD)
                .sum()
        };
        let is_full = |mailbox: Arc<Mailbox>| {
            let inbox = mailbox.inbox();
            wanted(&inbox) > WAITING.saturating_sub(inbox.bytes)
        };
        match self.all().any(is_full) {
            true => {
                let message = "too many notifications in the NOTIFY queue";
                Err(Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
                    .with_hint("a session that listens must take its notifications, or UNLISTEN"))
            }
            false => Ok(()),
        }
    }

    /// Does what the outbox of a committed transaction of a session says, and empties it: first its LISTEN and
    /// UNLISTEN, so that the session hears itself.
    pub fn send(self, outbox: &mut Outbox, own: &Mailbox) {
        own.listen(std::mem::take(&mut outbox.listens));
        let session = own.number.load(Relaxed);
        let sent = std::mem::take(outbox).sent;
        for mailbox in self.all() {
            let heard = |(channel, payload): &(String, String)| Notification {
                channel: channel.clone(),
                payload: payload.clone(),
                session,
            };
            mailbox.put(|channels| {
                let sent = sent.iter().filter(|sent| channels.contains(&sent.0));
                sent.map(heard).collect()
            });
        }
    }
}

/// LISTEN or UNLISTEN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listening {
    /// LISTEN.
    To(String),
    /// UNLISTEN.
    NotTo(String),
    /// UNLISTEN *.
    ToNothing,
}

/// LISTEN, UNLISTEN and notifications of an open transaction, which take effect when it commits.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Channels and payloads in order, none twice.
    sent: Vec<(String, String)>,
    known: BTreeSet<(String, String)>,
    listens: Vec<Listening>,
    /// The savepoints, each with the number of entries of `sent` and `listens` before it.
    savepoints: Vec<(String, usize, usize)>,
}

impl Outbox {
    /// True if COMMIT has nothing to do.
    pub fn is_empty(&self) -> bool {
        self.sent.is_empty() && self.listens.is_empty()
    }

    /// Adds a notification, unless the transaction sends an equal one already.
    pub fn add(&mut self, sent: (String, String)) {
        if self.known.insert(sent.clone()) {
            self.sent.push(sent);
        }
    }

    /// Adds LISTEN or UNLISTEN.
    pub fn listen(&mut self, listening: Listening) {
        self.listens.push(listening);
    }

    /// Notes a savepoint.
    pub fn savepoint(&mut self, name: &str) {
        let (sent, listens) = (self.sent.len(), self.listens.len());
        self.savepoints.push((name.to_owned(), sent, listens));
    }

    /// Forgets a savepoint and those behind it.
    pub fn release(&mut self, name: &str) {
        if let Some(at) = self.savepoints.iter().rposition(|known| known.0 == name) {
            self.savepoints.truncate(at);
        }
    }

    /// Drops what was added behind a savepoint.
    pub fn rollback_to(&mut self, name: &str) {
        if let Some(at) = self.savepoints.iter().rposition(|known| known.0 == name) {
            let (_, sent, listens) = self.savepoints[at];
            self.savepoints.truncate(at + 1);
            for gone in self.sent.drain(sent..) {
                self.known.remove(&gone);
            }
            self.listens.truncate(listens);
        }
    }
}

/// The notifications that wait for a session.
#[derive(Debug, Default)]
struct Inbox {
    channels: Vec<String>,
    waiting: VecDeque<Notification>,
    /// Bytes that wait.
    bytes: usize,
}

type Wake = Arc<dyn Fn() + Send + Sync>;

/// The channels of a session, and the notifications that wait for it.
#[derive(Default)]
pub struct Mailbox {
    inbox: Mutex<Inbox>,
    /// Called when notifications come.
    wake: Mutex<Option<Wake>>,
    /// The number of the session.
    number: AtomicI32,
}

impl Mailbox {
    /// An empty mailbox, whose session has the number of the process.
    pub fn new() -> Mailbox {
        let mailbox = Mailbox::default();
        let number = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
        mailbox.number.store(number, Relaxed);
        mailbox
    }

    /// Returns the number of the session.
    pub fn number(&self) -> i32 {
        self.number.load(Relaxed)
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the channels, in the order of LISTEN.
    pub fn channels(&self) -> Vec<String> {
        self.inbox().channels.clone()
    }

    fn listen(&self, listens: Vec<Listening>) {
        let channels = &mut self.inbox().channels;
        for listening in listens {
            match listening {
                Listening::To(channel) if channels.contains(&channel) => {}
                Listening::To(channel) => channels.push(channel),
                Listening::NotTo(channel) => channels.retain(|known| *known != channel),
                Listening::ToNothing => channels.clear(),
            }
        }
    }

    fn put(&self, of: impl FnOnce(&[String]) -> Vec<Notification>) {
        let mut inbox = self.inbox();
        let notifications = of(&inbox.channels);
        if notifications.is_empty() {
            return;
        }
        inbox.bytes += notifications.iter().map(Notification::bytes).sum::<usize>();
        inbox.waiting.extend(notifications);
        drop(inbox);
        let wake = self.wake.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(wake) = wake {
            wake();
        }
    }
}

impl fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inbox().fmt(f)
    }
}

/// Takes the notifications of a connection, from any thread and while a statement runs.
#[derive(Clone, Debug)]
pub struct Listener(Arc<Mailbox>);

impl Listener {
    pub(crate) fn new(mailbox: Arc<Mailbox>) -> Listener {
        Listener(mailbox)
    }

    /// Takes the notifications that wait, in the order of the commits that sent them.
    pub fn take(&self) -> Vec<Notification> {
        let mut inbox = self.0.inbox();
        inbox.bytes = 0;
        std::mem::take(&mut inbox.waiting).into()
    }

    /// Has `wake` called whenever notifications came. It runs while others wait to commit: it must end at once.
    pub fn on_arrival(&self, wake: impl Fn() + Send + Sync + 'static) {
        *self.0.wake.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(wake));
    }

    /// Sets the number of the session that receivers of its notifications see; else it is that of the process.
    pub fn set_number(&self, number: i32) {
        self.0.number.store(number, Relaxed);
    }
}
