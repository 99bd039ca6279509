//! Messages on a socket.

use super::errors::violation;
use bytes::BytesMut;
use frazil::Result;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use postgres_protocol::message::backend::{Header, Message};
use rustls::{ClientConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Bytes that are read at a time.
const PART: usize = 64 << 10;
/// Most bytes of a message: PostgreSQL's limit of a value, with room for the row around it.
const MOST: usize = (1 << 30) + (1 << 20);

/// A socket, encrypted or not.
pub enum Stream {
    /// TCP.
    Tcp(TcpStream),
    /// TCP with TLS.
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
    /// A Unix socket.
    Unix(UnixStream),
}

impl Stream {
    /// Sets how long reading and writing may take; `None`: any time.
    pub fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Tcp(socket) => {
                socket.set_read_timeout(timeout)?;
                socket.set_write_timeout(timeout)
            }
            Stream::Tls(stream) => {
                stream.sock.set_read_timeout(timeout)?;
                stream.sock.set_write_timeout(timeout)
            }
            Stream::Unix(socket) => {
                socket.set_read_timeout(timeout)?;
                socket.set_write_timeout(timeout)
            }
        }
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Tcp(socket) => socket.as_fd(),
            Stream::Tls(stream) => stream.sock.as_fd(),
            Stream::Unix(socket) => socket.as_fd(),
        }
    }

    /// True if reading would not wait for the server.
    fn is_readable(&mut self) -> bool {
        if let Stream::Tls(stream) = self
            && let Ok(state) = stream.conn.process_new_packets()
            && state.plaintext_bytes_to_read() > 0
        {
            return true;
        }
        let mut waited = [PollFd::new(self.descriptor(), PollFlags::POLLIN)];
        // A socket that cannot be asked tells its error when it is read.
        poll(&mut waited, PollTimeout::ZERO).is_ok_and(|count| count > 0)
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(socket) => socket.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
            Stream::Unix(socket) => socket.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(socket) => socket.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
            Stream::Unix(socket) => socket.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Tcp(socket) => socket.flush(),
            Stream::Tls(stream) => stream.flush(),
            Stream::Unix(socket) => socket.flush(),
        }
    }
}

/// Messages in both directions.
pub struct Wire {
    stream: Stream,
    /// Bytes that arrived and are not taken yet.
    arrived: BytesMut,
    /// Messages that are not sent yet.
    pub out: BytesMut,
}

impl Wire {
    /// A socket on which nothing was said, or only that TLS begins.
    pub fn new(stream: Stream) -> Wire {
        Wire {
            stream,
            arrived: BytesMut::new(),
            out: BytesMut::new(),
        }
    }

    /// The socket.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Sends the messages of `out`.
    pub fn send(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.out)?;
        self.out.clear();
        self.stream.flush()
    }

    /// The next message; waits for it.
    pub fn receive(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = self.taken()? {
                return Ok(message);
            }
            self.read()?;
        }
    }

    /// The next message, if all of it has arrived.
    pub fn arrived(&mut self) -> io::Result<Option<Message>> {
        loop {
            if let Some(message) = self.taken()? {
                return Ok(Some(message));
            }
            if !self.stream.is_readable() {
                return Ok(None);
            }
            self.read()?;
        }
    }

    fn taken(&mut self) -> io::Result<Option<Message>> {
        // Memory is taken for a message as it comes, not as its length says.
        if let Some(header) = Header::parse(&self.arrived)? {
            let length = usize::try_from(header.len()).unwrap_or(usize::MAX);
            if length > MOST {
                return Err(io::Error::other(violation("a message of the server is too long")));
            }
            if self.arrived.len() <= length {
                return Ok(None);
            }
        }
        Message::parse(&mut self.arrived)
    }

    fn read(&mut self) -> io::Result<()> {
        let start = self.arrived.len();
        self.arrived.resize(start + PART, 0);
        let read = loop {
            match self.stream.read(&mut self.arrived[start..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.arrived.truncate(start + *read.as_ref().unwrap_or(&0));
        match read? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// The byte that answers the request for TLS.
pub fn answer_to_tls(socket: &mut TcpStream) -> Result<u8> {
    let mut request = BytesMut::new();
    postgres_protocol::message::frontend::ssl_request(&mut request);
    let mut answer = [0];
    // Exactly one byte: bytes behind it would come from somebody who does not have the key.
    let read = socket
        .write_all(&request)
        .and_then(|()| socket.read_exact(&mut answer));
    read.map_err(|error| super::errors::lost(&error))?;
    Ok(answer[0])
}
