//! A client's connection: the task that waits for its socket.

use crate::ended::Ended;
use crate::login::{self, Start};
use crate::messages::{Message, violation};
use crate::output::{CopyPart, Outgoing, Output};
use crate::registry::{Phase, Place, Registry, Stranger};
use crate::server::Shared;
use crate::session::Session;
use crate::slow_log::Client;
use crate::wire::{Pipe, Wire};
use crate::work::{self, Pulse, Work};
use frazil::{Activity, Block, CancelHandle, Error, Listener, Result, SqlState};
use std::future::{Future, poll_fn};
use std::net;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::sync::{Notify, watch};

/// Time that a client has to take the error that ends its session.
const FAREWELL: Duration = Duration::from_secs(1);

/// Serves a client until it leaves. `stranger` counts it until it is logged in.
pub async fn serve(stream: TcpStream, stranger: Stranger, shared: Arc<Shared>) {
    let mut wire = Wire::new(stream);
    let login = tokio::time::timeout(shared.limits.login_timeout, enter(&mut wire, &shared)).await;
    let login = login.unwrap_or_else(|_| {
        let error = Error::new(
            SqlState::QUERY_CANCELED,
            "canceling authentication due to timeout",
        );
        Err(Ended::Told(error))
    });
    drop(stranger);
    // The place is free before the client sees the end of the connection, and the server waits for what it is told.
    let (ended, place) = match login {
        Ok(None) => return,
        Ok(Some((session, place, cancel))) => {
            let activity = session.activity();
            let mut task = Task {
                wire: Some(wire),
                activity,
                registry: shared.registry.clone(),
                phase: shared.registry.phase(),
                cancel,
                listener: session.listener(),
                arrival: Arc::default(),
                is_gone: false,
            };
            let ended = task.run(Box::new(session)).await;
            let Some(back) = task.wire else {
                // The socket was lost with its thread.
                return;
            };
            wire = back;
            (ended, Some(place))
        }
        Err(ended) => (Err(ended), None),
    };
    if let Err(Ended::Told(error)) = ended {
        // A client that does not read does not hear of it.
        let _ = tokio::time::timeout(FAREWELL, login::farewell(&mut wire, &error)).await;
    }
    drop(place);
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
    // An address that waits takes no place meanwhile.
    tokio::time::sleep(shared.failed_logins.admit(wire.client()?.ip())?).await;
    let place = shared.registry.enter()?;
    let mut output = crate::answers::Answers::default();
    start.negotiate(&mut output);
    wire.write(&output.take()).await?;
    login::authenticate(wire, shared, &start).await?;
    wire.pipe.inbox.trust(shared.database.budget());
    start.check_database(&shared.name)?;
    let (own, address) = (shared.clone(), wire.client().ok());
    let opened = tokio::task::spawn_blocking(move || {
        let client = Client {
            number: place.number,
            user: start.user.clone(),
            database: own.name.clone(),
            address,
        };
        open(&own, start, &place, client).map(|opened| (opened, place))
    });
    let ((session, cancel, welcome), place) = opened.await.map_err(lost)??;
    wire.write(&welcome).await?;
    Ok(Some((session, place, cancel)))
}

/// Opens a session with the settings that a client wants, and what it is told.
fn open(
    shared: &Shared,
    start: Start,
    place: &Place,
    client: Client,
) -> Result<(Session, CancelHandle, Vec<u8>)> {
    let connection = shared.database.connect();
    if !connection.log_in(&start.user)? {
        shared.registry.check_reserved()?;
    }
    connection.serve();
    start.set(&connection)?;
    connection.begin_session();
    let cancel = connection.cancel_handle();
    let key = place.open(cancel.clone())?;
    connection.listener().set_number(place.number);
    let slow_log = shared.slow_log.as_ref().map(|log| log.of_client(client));
    let mut session = Session::new(connection, slow_log);
    let mut answers = crate::answers::Answers::default();
    login::welcome(&mut session, (place.number, key), &mut answers);
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
    /// The socket; `None` while it is lent to a thread.
    wire: Option<Wire>,
    registry: Arc<Registry>,
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

/// A socket that a thread has.
struct Lent {
    stream: Arc<net::TcpStream>,
    pulse: Arc<Pulse>,
}

/// An event while a thread runs messages.
enum Event {
    /// It sent something; `None`: it is done.
    Sent(Option<Outgoing>),
    /// The socket can be read, or failed.
    Readable,
    /// The client left while a thread had the socket.
    Left,
}

impl Task {
    async fn run(&mut self, mut session: Box<Session>) -> Result<(), Ended> {
        let (arrival, ending) = (self.arrival.clone(), self.arrival.clone());
        self.listener.on_arrival(move || arrival.notify_one());
        let client = self.wire()?.client()?;
        self.activity.serve(client, move || ending.notify_one());
        loop {
            let limit = session.transaction_limit();
            let patience = [session.patience(), self.transaction_left(limit)];
            // The time that is up first.
            let patience = patience.into_iter().flatten().min_by_key(|patience| patience.0);
            if !self.wait_patiently(session.block(), patience).await? {
                return Ok(());
            }
            session = self.lend(session, limit).await?;
        }
    }

    /// The socket. It is not lent while the task waits for messages.
    fn wire(&mut self) -> Result<&mut Wire, Ended> {
        self.wire.as_mut().ok_or(Ended::Gone)
    }

    /// Lends the socket to a thread that runs the messages, until it gives the session back.
    async fn lend(&mut self, session: Box<Session>, limit: Option<Duration>) -> Result<Box<Session>, Ended> {
        let mut line = self.wire.take().ok_or(Ended::Gone)?.lend()?;
        let lent = Lent {
            stream: line.stream(),
            pulse: Arc::default(),
        };
        let queue = std::mem::take(&mut line.pipe.queue);
        let (output, receiver) = Output::new(line, self.activity.clone());
        let work = Work {
            session,
            queue,
            output,
            pulse: lent.pulse.clone(),
            registry: self.registry.clone(),
        };
        let work = tokio::task::spawn_blocking(move || work.run());
        match limit {
            Some(limit) => self.pass_on_within(receiver, lent, limit).await,
            None => self.pass_on(receiver, lent).await,
        }
        let done = work.await.map_err(lost)?;
        if let Some(line) = done.line {
            self.wire = Some(line.back()?);
        }
        self.wire()?.pipe.queue.extend(done.queue);
        done.ended?;
        match self.is_gone {
            true => Err(Ended::Gone),
            false => Ok(done.session),
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
    async fn pass_on_within(&mut self, receiver: Receiver<Outgoing>, lent: Lent, limit: Duration) {
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
        let mut passing = pin!(self.pass_on(receiver, lent));
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
                || phase == Phase::Draining && block == Block::Idle && self.wire()?.pipe.queue.is_empty()
            {
                return Err(frazil::terminated().into());
            }
            let Pipe { inbox, queue, .. } = &mut self.wire()?.pipe;
            let read = inbox.messages(queue);
            if !queue.is_empty() {
                // A message that cannot be comes behind these.
                return Ok(true);
            }
            read?;
            if block == Block::Idle {
                self.tell_notifications().await?;
            }
            if self.arrived().await? && self.wire()?.read_ready()? == Some(false) {
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
        self.wire()?.write(&answers.take()).await
    }

    /// Waits until the socket can be read; false if the phase changed or notifications came before.
    async fn arrived(&mut self) -> Result<bool, Ended> {
        let wire = self.wire.as_ref().ok_or(Ended::Gone)?;
        let mut changed = pin!(self.phase.changed());
        let mut notified = pin!(self.arrival.notified());
        let arrived = poll_fn(|context| {
            if let Poll::Ready(ready) = wire.poll_readable(context) {
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
    async fn pass_on(&mut self, mut receiver: Receiver<Outgoing>, lent: Lent) {
        let left = || work::left(lent.stream.clone(), lent.pulse.clone());
        let mut leaving = pin!(left());
        loop {
            let event = poll_fn(|context| {
                if let Poll::Ready(sent) = receiver.poll_recv(context) {
                    return Poll::Ready(Event::Sent(sent));
                }
                match &self.wire {
                    // Messages that a client sends ahead are read up to a bound.
                    Some(wire) if wire.pipe.inbox.has_room() => {
                        wire.poll_readable(context).map(|_| Event::Readable)
                    }
                    Some(_) => Poll::Pending,
                    None => leaving.as_mut().poll(context).map(|()| Event::Left),
                }
            });
            match event.await {
                Event::Sent(None) => return,
                Event::Sent(Some(sent)) => {
                    if self.pass(sent).await.is_err() {
                        self.leave();
                    }
                }
                Event::Readable => match self.wire.as_mut().map(Wire::read_ready) {
                    Some(Ok(None | Some(true))) => {}
                    _ => self.leave(),
                },
                Event::Left => {
                    self.leave();
                    // The thread may have more to run, for nobody.
                    leaving.set(left());
                }
            }
            if self.is_gone && self.wire.is_some() {
                // The thread's next answer finds nobody.
                return;
            }
        }
    }

    /// Passes on what a thread sent.
    async fn pass(&mut self, sent: Outgoing) -> Result<(), Ended> {
        match sent {
            Outgoing::Bytes(bytes) => self.wire()?.write(&bytes).await,
            Outgoing::CopyIn(wanted) => {
                if let Some(line) = wanted.line {
                    self.wire = Some(line.back()?);
                }
                self.wire()?.pipe.queue = wanted.queue;
                self.copy_in(wanted.parts).await
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
        let wire = self.wire.as_mut().ok_or(Ended::Gone)?;
        let mut message = pin!(wire.message());
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
                    self.wire()?.pipe.queue.push_front(other);
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
