//! A client's socket, held by one of two: the task that waits for it, or the thread that runs its messages.
//!
//! A task that has messages lends the socket to a thread. The thread answers its client without a switch of threads,
//! and keeps the socket for [`LINGER`] after each answer, because a client that has just asked asks again. Then the
//! task has the socket back, and no thread is held.

use crate::ended::Ended;
use crate::inbox::Inbox;
use crate::messages::Message;
use crate::tls::{Secured, Tls};
use frazil::{Activity, Result};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// Bytes that are read in one go.
const READ: usize = 16 << 10;
/// Time that a thread waits for the next message of its client.
const LINGER: Duration = Duration::from_millis(2);
/// Time after which a thread that writes to a slow client looks if somebody ends the session.
const WRITE_STEP: Duration = Duration::from_millis(200);

/// The bytes of a client between its socket and its messages.
#[derive(Default)]
pub struct Pipe {
    /// Encrypts the bytes of the socket; `None` without TLS.
    secured: Option<Secured>,
    /// Bytes for the socket that TLS made while it read: they are written before the next ones.
    owed: Vec<u8>,
    /// Bytes that arrived.
    pub inbox: Inbox,
    /// Messages that arrived and were not run.
    pub queue: VecDeque<Message>,
}

impl Pipe {
    /// Takes bytes of the socket. False if the client sends no more.
    fn receive(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let Pipe { secured, inbox, .. } = self;
        let Some(secured) = secured else {
            inbox.add(bytes);
            return Ok(true);
        };
        let (owed, is_over) = secured.receive(bytes, &mut |plain| inbox.add(plain));
        self.owed.extend(owed);
        Ok(!is_over?)
    }

    /// The bytes for the socket that carry `bytes`; `None` if these are sent as they are.
    fn encrypted(&mut self, bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let Some(secured) = &mut self.secured else {
            return Ok(None);
        };
        let mut sent = std::mem::take(&mut self.owed);
        sent.extend(secured.send(bytes)?);
        Ok(Some(sent))
    }
}

/// A socket that a task waits for, with the bytes that arrived.
pub struct Wire {
    stream: TcpStream,
    /// The bytes on their way.
    pub pipe: Pipe,
}

impl Wire {
    /// The wire of a client that connected.
    pub fn new(stream: TcpStream) -> Wire {
        // Answers are written in whole.
        let _ = stream.set_nodelay(true);
        without_pacing(&stream);
        let pipe = Pipe::default();
        Wire { stream, pipe }
    }

    /// The address of the client.
    pub fn client(&self) -> io::Result<net::SocketAddr> {
        self.stream.peer_addr()
    }

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
    pub fn read_ready(&mut self) -> Result<Option<bool>, Ended> {
        let mut bytes = [0; READ];
        match self.stream.try_read(&mut bytes) {
            Ok(0) => Ok(Some(false)),
            Ok(count) => Ok(Some(self.pipe.receive(&bytes[..count])?)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// True in `Poll::Ready` once the socket can be read, or failed.
    pub fn poll_readable(&self, context: &mut std::task::Context<'_>) -> Poll<io::Result<()>> {
        self.stream.poll_read_ready(context)
    }

    /// Writes bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), Ended> {
        match self.pipe.encrypted(bytes)? {
            None => Ok(self.stream.write_all(bytes).await?),
            Some(sent) => Ok(self.stream.write_all(&sent).await?),
        }
    }

    /// True if the connection is encrypted.
    pub fn is_secured(&self) -> bool {
        self.pipe.secured.is_some()
    }

    /// The hash of the certificate that a login can be bound to; `None` without TLS, or if the certificate has none.
    pub fn end_point(&self) -> Option<Arc<[u8]>> {
        self.pipe.secured.as_ref()?.end_point.clone()
    }

    /// Encrypts the connection. Bytes that arrived are those of the client's handshake.
    pub async fn secure(&mut self, tls: &Tls) -> Result<(), Ended> {
        let arrived = self.pipe.inbox.take_all();
        self.pipe.secured = Some(tls.secured()?);
        let mut is_more = self.pipe.receive(&arrived)?;
        loop {
            let owed = std::mem::take(&mut self.pipe.owed);
            self.stream.write_all(&owed).await?;
            match &self.pipe.secured {
                Some(secured) if secured.is_handshaking() && is_more => is_more = self.read().await?,
                Some(secured) if secured.is_handshaking() => return Err(Ended::Gone),
                _ => return Ok(()),
            }
        }
    }

    /// 08P01 unless the client of an encrypted connection named the protocol.
    pub fn check_protocol(&self) -> Result<()> {
        let secured = self.pipe.secured.as_ref();
        secured.map_or(Ok(()), Secured::check_protocol)
    }

    /// Ends the connection. A client that does not read does not hear of it.
    pub async fn close(&mut self) {
        if let Some(secured) = &mut self.pipe.secured {
            self.pipe.owed.extend(secured.close());
            let _ = self.stream.try_write(&self.pipe.owed);
        }
        let _ = self.stream.shutdown().await;
    }

    /// The next message; `None` at the end of the bytes. 08P01 for one that cannot be.
    pub async fn message(&mut self) -> Result<Option<Message>, Ended> {
        loop {
            let Pipe { queue, inbox, .. } = &mut self.pipe;
            if let Some(message) = queue.pop_front() {
                return Ok(Some(message));
            }
            let read = inbox.messages(queue);
            if queue.is_empty() {
                read?;
                if !self.read().await? {
                    return Ok(None);
                }
            }
        }
    }

    /// Makes the socket one that a thread reads and writes.
    pub fn lend(self) -> io::Result<Line> {
        let stream = self.stream.into_std()?;
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(LINGER))?;
        stream.set_write_timeout(Some(WRITE_STEP))?;
        Ok(Line {
            stream: Arc::new(stream),
            pipe: self.pipe,
            taken: Vec::new(),
        })
    }
}

/// A socket that a thread holds.
pub struct Line {
    /// The task has it, too, to see if the client leaves.
    stream: Arc<net::TcpStream>,
    /// The bytes on their way.
    pub pipe: Pipe,
    /// Room for the bytes that are read in one go.
    taken: Vec<u8>,
}

impl Line {
    /// The socket.
    pub fn stream(&self) -> Arc<net::TcpStream> {
        self.stream.clone()
    }

    /// Makes the socket one that a task waits for.
    pub fn back(self) -> io::Result<Wire> {
        let stream = Arc::try_unwrap(self.stream).or_else(|stream| stream.try_clone())?;
        stream.set_nonblocking(true)?;
        Ok(Wire {
            stream: TcpStream::from_std(stream)?,
            pipe: self.pipe,
        })
    }

    /// Writes bytes, however slowly the client reads them, unless somebody ends the session.
    pub fn write(&mut self, bytes: &[u8], activity: &Activity) -> io::Result<()> {
        let encrypted = self.pipe.encrypted(bytes)?;
        let mut rest = encrypted.as_deref().unwrap_or(bytes);
        while !rest.is_empty() {
            match (&*self.stream).write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => rest = &rest[count..],
                Err(error) if is_early(&error) && activity.ending().is_none() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits a moment for messages, and adds them to a queue. False if none came.
    pub fn messages(&mut self, queue: &mut VecDeque<Message>) -> Result<bool, Ended> {
        loop {
            let read = self.pipe.inbox.messages(queue);
            if !queue.is_empty() {
                // A message that cannot be comes behind these.
                return Ok(true);
            }
            read?;
            self.taken.resize(READ, 0);
            match (&*self.stream).read(&mut self.taken) {
                Ok(0) => return Err(Ended::Gone),
                Ok(count) if self.pipe.receive(&self.taken[..count])? => {}
                Ok(_) => return Err(Ended::Gone),
                Err(error) if is_early(&error) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Keeps the system from pacing what is sent to a program of this machine: nothing is congested there, and a large
/// result takes some times as long with a control that paces, as BBR does.
#[cfg(target_os = "linux")]
fn without_pacing(stream: &TcpStream) {
    if stream.peer_addr().is_ok_and(|peer| peer.ip().is_loopback()) {
        // Every system has this one and lets every program choose it.
        let _ = socket2::SockRef::from(stream).set_tcp_congestion(b"reno");
    }
}

/// As on Linux, where systems pace.
#[cfg(not(target_os = "linux"))]
fn without_pacing(_: &TcpStream) {}

/// True for a read or write that was not done in its time.
fn is_early(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// Waits until the client of a socket that is lent leaves.
#[cfg(unix)]
pub async fn left(stream: &Arc<net::TcpStream>) {
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;
    // The function that takes the place of this one is `unsafe`, and asks for a descriptor that stays open. An `Arc`
    // of a socket keeps it open.
    #[expect(deprecated)]
    let watched = AsyncFd::with_interest(stream.clone(), Interest::READABLE);
    let Ok(watched) = watched else {
        // The system watches no more sockets: the thread notices when it answers.
        return std::future::pending().await;
    };
    loop {
        match watched.ready(Interest::READABLE).await {
            // Bytes that are there are left to the thread; the next ones are an event again.
            Ok(mut ready) if !ready.ready().is_read_closed() => ready.clear_ready(),
            _ => return,
        }
    }
}

/// As on other systems, where a thread alone notices that its client left.
#[cfg(not(unix))]
pub async fn left(_: &Arc<net::TcpStream>) {
    std::future::pending().await
}
