//! A client that writes the messages it is told, and a server that it talks to.

use frazil::Database;
use frazil_server::{Authentication, Limits, Options, Server, Stopper, Verifier, Watching};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longest wait for an answer: a server that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server on a port of the system, until it is dropped.
pub struct Served {
    pub address: SocketAddr,
    pub stopper: Stopper,
    /// The address of metrics and health.
    pub metrics: Option<SocketAddr>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    /// A database in memory, without a password.
    pub fn trusting() -> Served {
        Served::new(Database::memory().unwrap(), Authentication::Trust, 20)
    }

    /// The role `app` with a password.
    pub fn with_password(password: &str) -> Served {
        let authentication = Authentication::Password {
            user: "app".to_owned(),
            verifier: Verifier::new(password).unwrap(),
        };
        Served::new(Database::memory().unwrap(), authentication, 20)
    }

    pub fn new(database: Database, authentication: Authentication, max_connections: usize) -> Served {
        Served::with_options(
            database,
            Options {
                listen: "127.0.0.1:0".parse().unwrap(),
                authentication,
                tls: None,
                name: "shop".to_owned(),
                max_connections,
                limits: Limits::default(),
                watching: Watching::default(),
            },
        )
    }

    pub fn with_options(database: Database, options: Options) -> Served {
        let server = Server::bind(database, options).unwrap();
        let (address, stopper, metrics) = (server.address(), server.stopper(), server.metrics_address());
        let thread = std::thread::spawn(move || server.run().unwrap());
        Served {
            address,
            stopper,
            metrics,
            thread: Some(thread),
        }
    }

    /// A client that is logged in.
    pub fn client(&self) -> Client {
        let mut client = self.stranger();
        client.start(&[("user", "me"), ("database", "shop")]);
        client.until_ready();
        client
    }

    /// A client that has said nothing.
    pub fn stranger(&self) -> Client {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream }
    }

    /// Waits until the server has ended.
    pub fn ended(mut self) {
        self.thread.take().unwrap().join().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stopper.end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A message of the server: its type and content.
#[derive(Clone, PartialEq)]
pub struct Answer(pub u8, pub Vec<u8>);

/// A client's end of a connection.
pub struct Client<S = TcpStream> {
    pub stream: S,
}

/// A message of a type.
pub fn message(kind: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend((content.len() as i32 + 4).to_be_bytes());
    out.extend(content);
    out
}

pub fn query(text: &str) -> Vec<u8> {
    message(b'Q', &[text.as_bytes(), b"\0"].concat())
}

pub fn parse(name: &str, text: &str, types: &[u32]) -> Vec<u8> {
    let mut content = format!("{name}\0{text}\0").into_bytes();
    content.extend((types.len() as i16).to_be_bytes());
    types.iter().for_each(|oid| content.extend(oid.to_be_bytes()));
    message(b'P', &content)
}

/// Values of one format, results of one format.
pub fn bind(portal: &str, statement: &str, values: &[Option<&[u8]>], format: i16, result: i16) -> Vec<u8> {
    let mut content = format!("{portal}\0{statement}\0").into_bytes();
    content.extend(1i16.to_be_bytes());
    content.extend(format.to_be_bytes());
    content.extend((values.len() as i16).to_be_bytes());
    for value in values {
        match value {
            None => content.extend((-1i32).to_be_bytes()),
            Some(bytes) => {
                content.extend((bytes.len() as i32).to_be_bytes());
                content.extend(*bytes);
            }
        }
    }
    content.extend(1i16.to_be_bytes());
    content.extend(result.to_be_bytes());
    message(b'B', &content)
}

pub fn describe(kind: char, name: &str) -> Vec<u8> {
    message(b'D', format!("{kind}{name}\0").as_bytes())
}

pub fn execute(portal: &str, rows: i32) -> Vec<u8> {
    message(b'E', &[portal.as_bytes(), b"\0", &rows.to_be_bytes()].concat())
}

pub fn sync() -> Vec<u8> {
    message(b'S', b"")
}

impl Client {
    /// Ends what the client sends.
    pub fn finish(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }
}

impl<S: Read + Write> Client<S> {
    /// Sends a start-up packet of protocol 3.0.
    pub fn start(&mut self, parameters: &[(&str, &str)]) {
        let mut content = (3i32 << 16).to_be_bytes().to_vec();
        for (name, value) in parameters {
            content.extend(format!("{name}\0{value}\0").into_bytes());
        }
        content.push(0);
        self.packet(&content);
    }

    /// Sends a packet without a type.
    pub fn packet(&mut self, content: &[u8]) {
        let length = (content.len() as i32 + 4).to_be_bytes();
        self.send(&[&length, content].concat());
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
        self.stream.flush().unwrap();
    }

    /// The next message; `None` at the end of the connection.
    pub fn next(&mut self) -> Option<Answer> {
        let mut head = [0; 5];
        match self.stream.read_exact(&mut head) {
            Ok(()) => {}
            Err(e)
                if matches!(
                    e.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ) =>
            {
                panic!("the server hangs")
            }
            Err(_) => return None,
        }
        let length = i32::from_be_bytes([head[1], head[2], head[3], head[4]]);
        let mut content = vec![0; length as usize - 4];
        self.stream.read_exact(&mut content).ok()?;
        Some(Answer(head[0], content))
    }

    /// The messages up to ReadyForQuery, or the end of the connection.
    pub fn until_ready(&mut self) -> Vec<Answer> {
        let mut answers = Vec::new();
        while let Some(answer) = self.next() {
            let is_last = answer.0 == b'Z';
            answers.push(answer);
            if is_last {
                break;
            }
        }
        answers
    }

    /// Sends messages; returns their answers in short: see [`Answer::short`].
    pub fn ask(&mut self, messages: &[Vec<u8>]) -> String {
        self.send(&messages.concat());
        self.short()
    }

    /// The next answers in short.
    pub fn short_of(&mut self, count: usize) -> String {
        let answers = (0..count).filter_map(|_| self.next());
        answers.map(|answer| answer.short()).collect::<Vec<_>>().join(" ")
    }

    /// The answers up to ReadyForQuery in short.
    pub fn short(&mut self) -> String {
        let answers = self.until_ready();
        answers.iter().map(Answer::short).collect::<Vec<_>>().join(" ")
    }

    /// Reads until the server ends the connection.
    pub fn until_end(&mut self) -> String {
        let mut answers = Vec::new();
        while let Some(answer) = self.next() {
            answers.push(answer.short());
        }
        answers.join(" ")
    }
}

impl Answer {
    /// A field of ErrorResponse or NoticeResponse.
    pub fn field(&self, kind: u8) -> Option<String> {
        let fields = self.1.split(|&byte| byte == 0);
        let field = fields.into_iter().find(|field| field.first() == Some(&kind));
        field.map(|field| String::from_utf8_lossy(&field[1..]).into_owned())
    }

    /// The type, with what matters: `C[INSERT 0 1]`, `E[42601]`, `D[1,NULL]`, `ZI`.
    pub fn short(&self) -> String {
        let kind = char::from(self.0);
        match self.0 {
            b'C' => format!("C[{}]", String::from_utf8_lossy(&self.1[..self.1.len() - 1])),
            b'E' | b'N' => format!("{kind}[{}]", self.field(b'C').unwrap_or_default()),
            b'A' => {
                let texts = String::from_utf8_lossy(&self.1[4..self.1.len() - 1]).replace('\0', "=");
                format!("A[{texts}]")
            }
            b'Z' => format!("Z{}", char::from(self.1[0])),
            b'D' => format!("D[{}]", self.values().join(",")),
            b'd' => format!("d[{}]", String::from_utf8_lossy(&self.1).replace('\n', ";")),
            b't' => {
                let oids = self.1[2..]
                    .chunks(4)
                    .map(|b| u32::from_be_bytes(b.try_into().unwrap()).to_string());
                format!("t[{}]", oids.collect::<Vec<_>>().join(","))
            }
            b'S' => format!(
                "S[{}]",
                String::from_utf8_lossy(&self.1[..self.1.len() - 1]).replace('\0', "=")
            ),
            _ => kind.to_string(),
        }
    }

    /// The values of a DataRow: texts as they are, other bytes in hexadecimal.
    pub fn values(&self) -> Vec<String> {
        let mut rest = &self.1[2..];
        let mut values = Vec::new();
        while let Some((length, behind)) = rest.split_first_chunk::<4>() {
            let length = i32::from_be_bytes(*length);
            if length < 0 {
                values.push("NULL".to_owned());
                rest = behind;
                continue;
            }
            let (value, behind) = behind.split_at(length as usize);
            rest = behind;
            let is_text = value.iter().all(|byte| (32..127).contains(byte));
            values.push(match is_text {
                true => String::from_utf8_lossy(value).into_owned(),
                false => value.iter().map(|byte| format!("{byte:02x}")).collect(),
            });
        }
        values
    }
}
