//! A client's connection: the task that waits for its socket.

use crate::inbox::Inbox;
use crate::login::{self, Start};
use crate::messages::{Message, violation};
use crate::output::{CopyPart, Outgoing, Output};
use crate::registry::{Phase, Place};
use crate::server::Shared;
use crate::session::{Flow, Session};
use crate::tls::{Secured, Tls};
use frazil::{Activity, Block, CancelHandle, Error, Listener, Result, SqlState};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::sync::{Notify, watch};

/// Time that a client has to log in.
const LOGIN: Duration = Duration::from_secs(60);
/// Bytes that are read in one go.
const READ: usize = 16 << 10;

/// A socket with the bytes that arrived.
pub struct Wire {
    stream: TcpStream,
    /// Encrypts the bytes of the socket; `None` without TLS.
    secured: Option<Secured>,
    /// Bytes for the socket that TLS made while it read: they are written before the next ones.
    owed: Vec<u8>,
    /// Bytes that arrived.
    pub inbox: Inbox,
    /// Messages that arrived and were not run.
    queue: VecDeque<Message>,
}

/// Why a session ended.
#[derive(Debug)]
pub enum Ended {
    /// The client left.
    Gone,
    /// This error, which the client is told.
    Told(Error),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Ended {
        Ended::Told(error)
    }
}

impl From<io::Error> for Ended {
    fn from(_: io::Error) -> Ended {
        Ended::Gone
    }
}

impl Wire {
    /// Waits for bytes. False at their end.
    pub async fn read(&mut self) -> Result<bool, Ended> {
        loop {
            self.stream.readable().await?;
            if let Some(is_more) = self.read_ready()? {
                return Ok(is_more);
            }
        }
    }

    /// Reads bytes that are there: `None` if there are none, false at their end.
    fn read_ready(&mut self) -> Result<Option<bool>, Ended> {
        let mut bytes = [0; READ];
        match self.stream.try_read(&mut bytes) {
            Ok(0) => Ok(Some(false)),
            Ok(count) => self.receive(&bytes[..count]).map(Some),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes bytes of the socket. False if the client sends no more.
    fn receive(&mut self, bytes: &[u8]) -> Result<bool, Ended> {
        let Wire { secured, inbox, .. } = self;
        let Some(secured) = secured else {
            inbox.add(bytes);
            return Ok(true);
        };
        let (owed, is_over) = secured.receive(bytes, &mut |plain| inbox.add(plain));
        self.owed.extend(owed);
        Ok(!is_over?)
    }

    /// Writes bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), Ended> {
        let Some(secured) = &mut self.secured else {
            return Ok(self.stream.write_all(bytes).await?);
        };
        let mut sent = std::mem::take(&mut self.owed);
        sent.extend(secured.send(bytes)?);
        Ok(self.stream.write_all(&sent).await?)
    }

    /// True if the connection is encrypted.
    pub fn is_secured(&self) -> bool {
        self.secured.is_some()
    }

    /// Encrypts the connection. Bytes that arrived are those of the client's handshake.
    pub async fn secure(&mut self, tls: &Tls) -> Result<(), Ended> {
        let arrived = self.inbox.take_all();
        self.secured = Some(tls.secured()?);
        let mut is_more = self.receive(&arrived)?;
        loop {
            let owed = std::mem::take(&mut self.owed);
            self.stream.write_all(&owed).await?;
            match &self.secured {
                Some(secured) if secured.is_handshaking() && is_more => is_more = self.read().await?,
                Some(secured) if secured.is_handshaking() => return Err(Ended::Gone),
                _ => return Ok(()),
            }
        }
    }

    /// 08P01 unless the client of an encrypted connection named the protocol.
    pub fn check_protocol(&self) -> Result<()> {
        self.secured.as_ref().map_or(Ok(()), Secured::check_protocol)
    }

    /// Ends the connection. A client that does not read does not hear of it.
    async fn close(&mut self) {
        if let Some(secured) = &mut self.secured {
            self.owed.extend(secured.close());
            let _ = self.stream.try_write(&self.owed);
        }
        let _ = self.stream.shutdown().await;
    }

    /// The next message; `None` at the end of the bytes. 08P01 for one that cannot be.
    pub async fn message(&mut self) -> Result<Option<Message>, Ended> {
        loop {
            if let Some(message) = self.queue.pop_front() {
                return Ok(Some(message));
            }
            let read = self.inbox.messages(&mut self.queue);
            if self.queue.is_empty() {
                read?;
                if !self.read().await? {
                    return Ok(None);
                }
            }
        }
    }
}

/// Serves a client until it leaves.
pub async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // Answers are written in whole.
    let _ = stream.set_nodelay(true);
    let mut wire = Wire {
        stream,
        secured: None,
        owed: Vec::new(),
        inbox: Inbox::default(),
        queue: VecDeque::new(),
    };
    let login = tokio::time::timeout(LOGIN, enter(&mut wire, &shared)).await;
    let login = login.unwrap_or_else(|_| {
        let error = Error::new(
            SqlState::QUERY_CANCELED,
            "canceling authentication due to timeout",
        );
        Err(Ended::Told(error))
    });
    let ended = match login {
        Ok(None) => return,
        Ok(Some((session, place, cancel))) => {
            let activity = session.activity();
            let mut task = Task {
                wire,
                activity,
                phase: shared.registry.phase(),
                cancel,
                listener: session.listener(),
                arrival: Arc::default(),
                is_gone: false,
            };
            let ended = task.run(Box::new(session)).await;
            drop(place);
            wire = task.wire;
            ended
        }
        Err(ended) => Err(ended),
    };
    if let Err(Ended::Told(error)) = ended {
        login::farewell(&mut wire, &error).await;
    }
    wire.close().await;
}

/// Lets a client log in. `None` if it did not want to.
async fn enter(
    wire: &mut Wire,
    shared: &Arc<Shared>,
) -> Result<Option<(Session, Place, CancelHandle)>, Ended> {
    let Some(start) = login::start(wire, shared).await? else {
        return Ok(None);
    };
    let place = shared.registry.enter()?;
    let mut output = crate::answers::Answers::default();
    start.negotiate(&mut output);
    wire.write(&output.take()).await?;
    login::authenticate(wire, shared, &start).await?;
    start.check_database(&shared.name)?;
    let own = shared.clone();
    let opened = tokio::task::spawn_blocking(move || open(&own, start, &place).map(|opened| (opened, place)));
    let ((session, cancel, welcome), place) = opened.await.map_err(lost)??;
    wire.write(&welcome).await?;
    Ok(Some((session, place, cancel)))
}

/// Opens a session with the settings that a client wants, and what it is told.
fn open(shared: &Shared, start: Start, place: &Place) -> Result<(Session, CancelHandle, Vec<u8>)> {
    let connection = shared.database.connect();
    connection.serve();
    start.set(&connection)?;
    connection.begin_session();
    let cancel = connection.cancel_handle();
    let key = place.open(cancel.clone())?;
    connection.listener().set_number(place.number);
    let mut session = Session::new(connection);
    let mut answers = crate::answers::Answers::default();
    login::welcome(&mut session, &start, (place.number, key), &mut answers);
    Ok((session, cancel, answers.take()))
}

/// The error of a thread that ended before its work did.
fn lost(error: tokio::task::JoinError) -> Error {
    Error::internal(format!("a thread of the server was lost: {error}"))
}

/// The error 25P04 of a transaction that takes too long.
fn transaction_timeout() -> Error {
    Error::new(
        SqlState::TRANSACTION_TIMEOUT,
        "terminating connection due to transaction timeout",
    )
}

/// A session's task.
struct Task {
    wire: Wire,
    phase: watch::Receiver<Phase>,
    cancel: CancelHandle,
    /// The session's activity, as others see it. It says if somebody ends the session.
    activity: Arc<Activity>,
    /// Takes the session's notifications.
    listener: Listener,
    /// Set when some have come.
    arrival: Arc<Notify>,
    /// True once the client left while a statement ran.
    is_gone: bool,
}

/// An event while a thread runs messages.
enum Event {
    /// It sent something; `None`: it is done.
    Sent(Option<Outgoing>),
    /// The socket can be read, or failed.
    Readable,
}

impl Task {
    async fn run(&mut self, mut session: Box<Session>) -> Result<(), Ended> {
        let (arrival, ending) = (self.arrival.clone(), self.arrival.clone());
        self.listener.on_arrival(move || arrival.notify_one());
        let client = self.wire.stream.peer_addr()?;
        self.activity.serve(client, move || ending.notify_one());
        loop {
            let limit = session.transaction_limit();
            let patience = [session.patience(), self.transaction_left(limit)];
            // The time that is up first.
            let patience = patience.into_iter().flatten().min_by_key(|patience| patience.0);
            if !self.wait_patiently(session.block(), patience).await? {
                return Ok(());
            }
            let (output, receiver) = Output::new();
            let queue = std::mem::take(&mut self.wire.queue);
            let work = tokio::task::spawn_blocking(move || work(session, queue, output));
            match limit {
                Some(limit) => self.pass_on_within(receiver, limit).await,
                None => self.pass_on(receiver).await,
            }
            let (back, rest, flow) = work.await.map_err(lost)?;
            session = back;
            self.wire.queue.extend(rest);
            match flow {
                Ok(Flow::Continue) if !self.is_gone => {}
                Ok(_) => return Ok(()),
                Err(_) => return Err(Ended::Gone),
            }
        }
    }

    /// The time that is left for the open transaction, if there is a limit, and the error when it is up.
    fn transaction_left(&self, limit: Option<Duration>) -> Option<(Duration, Error)> {
        let begun = self.activity.transaction_since()?;
        Some((limit?.saturating_sub(begun.elapsed()), transaction_timeout()))
    }

    /// Waits for messages; with a time and an error, no longer than the time.
    async fn wait_patiently(
        &mut self,
        block: Block,
        patience: Option<(Duration, Error)>,
    ) -> Result<bool, Ended> {
        let Some((time, error)) = patience else {
            return self.wait(block).await;
        };
        let waited = tokio::time::timeout(time, self.wait(block)).await;
        waited.unwrap_or(Err(Ended::Told(error)))
    }

    /// Passes on what a thread sends, and ends the session once its transaction has taken longer than `limit`.
    async fn pass_on_within(&mut self, receiver: Receiver<Outgoing>, limit: Duration) {
        let activity = self.activity.clone();
        let watch = async move {
            loop {
                // The thread may begin other transactions meanwhile.
                let since = activity.transaction_since();
                let left = since.map_or(limit, |since: Instant| limit.saturating_sub(since.elapsed()));
                if left.is_zero() {
                    activity.end(transaction_timeout());
                    return std::future::pending::<()>().await;
                }
                tokio::time::sleep(left).await;
            }
        };
        let mut watch = pin!(watch);
        let mut passing = pin!(self.pass_on(receiver));
        poll_fn(|context| {
            // It never ends.
            let _ = watch.as_mut().poll(context);
            passing.as_mut().poll(context)
        })
        .await
    }

    /// Waits for messages. False at their end. 57P01 if the server ends or somebody ends the session, 08P01 for a
    /// message that cannot be.
    async fn wait(&mut self, block: Block) -> Result<bool, Ended> {
        loop {
            if let Some(error) = self.activity.ending() {
                return Err(error.into());
            }
            let phase = *self.phase.borrow_and_update();
            if phase == Phase::Ending
                || phase == Phase::Draining && block == Block::Idle && self.wire.queue.is_empty()
            {
                return Err(frazil::terminated().into());
            }
            let read = self.wire.inbox.messages(&mut self.wire.queue);
            if !self.wire.queue.is_empty() {
                // A message that cannot be comes behind these.
                return Ok(true);
            }
            read?;
            if block == Block::Idle {
                self.tell_notifications().await?;
            }
            if self.arrived().await? && self.wire.read_ready()? == Some(false) {
                return Ok(false);
            }
        }
    }

    /// Tells a client that waits of what it listens to. Within a transaction it is told behind the end.
    async fn tell_notifications(&mut self) -> Result<(), Ended> {
        let notifications = self.listener.take();
        if notifications.is_empty() {
            return Ok(());
        }
        let mut answers = crate::answers::Answers::default();
        notifications.iter().for_each(|n| answers.notification(n));
        self.wire.write(&answers.take()).await
    }

    /// Waits until the socket can be read; false if the phase changed or notifications came before.
    async fn arrived(&mut self) -> Result<bool, Ended> {
        let stream = &self.wire.stream;
        let mut changed = pin!(self.phase.changed());
        let mut notified = pin!(self.arrival.notified());
        let arrived = poll_fn(|context| {
            if let Poll::Ready(ready) = stream.poll_read_ready(context) {
                return Poll::Ready(ready.map(|()| true));
            }
            if notified.as_mut().poll(context).is_ready() {
                return Poll::Ready(Ok(false));
            }
            changed.as_mut().poll(context).map(|_| Ok(false))
        });
        Ok(arrived.await?)
    }

    /// Passes on what a thread sends, until it is done.
    async fn pass_on(&mut self, mut receiver: Receiver<Outgoing>) {
        while let Some(sent) = self.next(&mut receiver).await {
            let passed = match sent {
                Outgoing::Bytes(bytes) => self.wire.write(&bytes).await,
                Outgoing::CopyIn(parts, queue) => {
                    self.wire.queue = queue;
                    self.copy_in(parts).await
                }
            };
            if passed.is_err() {
                self.leave();
            }
            if self.is_gone {
                // The thread's next answer finds nobody.
                return;
            }
        }
    }

    /// Waits for the next answer of the thread. Meanwhile a client that leaves is noticed, and what it sends ahead is
    /// read up to a bound.
    async fn next(&mut self, receiver: &mut Receiver<Outgoing>) -> Option<Outgoing> {
        loop {
            let wants_bytes = !self.is_gone && self.wire.inbox.has_room();
            let stream = &self.wire.stream;
            let event = poll_fn(|context| {
                if let Poll::Ready(sent) = receiver.poll_recv(context) {
                    return Poll::Ready(Event::Sent(sent));
                }
                match wants_bytes {
                    true => stream.poll_read_ready(context).map(|_| Event::Readable),
                    false => Poll::Pending,
                }
            });
            match event.await {
                Event::Sent(sent) => return sent,
                Event::Readable => match self.wire.read_ready() {
                    Ok(None | Some(true)) => {}
                    Ok(Some(false)) | Err(_) => self.leave(),
                },
            }
        }
    }

    /// The client left: its statement is cancelled.
    fn leave(&mut self) {
        self.is_gone = true;
        self.cancel.cancel();
    }

    /// Waits for the next message of COPY, or for the end of the session by others.
    async fn copy_message(&mut self) -> Result<Option<Message>, Ended> {
        let (arrival, activity) = (self.arrival.clone(), self.activity.clone());
        let mut message = pin!(self.wire.message());
        loop {
            let mut told = pin!(arrival.notified());
            let next = poll_fn(|context| {
                if let Poll::Ready(message) = message.as_mut().poll(context) {
                    return Poll::Ready(Some(message));
                }
                told.as_mut().poll(context).map(|()| None)
            });
            match (next.await, activity.ending()) {
                (Some(message), _) => return message,
                (None, Some(error)) => return Err(Ended::Told(error)),
                // Notifications, of which the client is told later.
                (None, None) => {}
            }
        }
    }

    /// Sends the client's bytes of COPY to a statement.
    async fn copy_in(&mut self, parts: Sender<CopyPart>) -> Result<(), Ended> {
        loop {
            let part = match self.copy_message().await {
                Ok(Some(Message::CopyData(bytes))) => CopyPart::Bytes(bytes),
                Ok(Some(Message::CopyDone)) => CopyPart::Done,
                Ok(Some(Message::Sync | Message::Flush)) => continue,
                Ok(Some(Message::CopyFail(reason))) => {
                    let message = format!("COPY from stdin failed: {reason}");
                    CopyPart::Failed(Error::new(SqlState::QUERY_CANCELED, message))
                }
                Ok(Some(Message::Terminate)) | Ok(None) | Err(Ended::Gone) => return Err(Ended::Gone),
                Ok(Some(other)) => {
                    self.wire.queue.push_front(other);
                    CopyPart::Failed(violation("unexpected message during COPY from stdin"))
                }
                Err(Ended::Told(error)) => CopyPart::Failed(error),
            };
            let is_last = !matches!(part, CopyPart::Bytes(_));
            // A statement that failed takes no more; what the client sends on is skipped later.
            if parts.send(part).await.is_err() || is_last {
                return Ok(());
            }
        }
    }
}

/// Runs messages on a thread. Returns the session with those that are left.
fn work(
    mut session: Box<Session>,
    mut queue: VecDeque<Message>,
    mut output: Output,
) -> (Box<Session>, VecDeque<Message>, Result<Flow>) {
    let flow = session.run(&mut queue, &mut output);
    (session, queue, flow)
}
