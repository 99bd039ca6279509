//! The order of answers: each message of a client has the answers that the protocol's rules allow, and no others. A
//! generator makes sequences of messages of all states of a session, a model says what may come.

use crate::client::{Answer, Client, Served, bind, describe, execute, message, parse, query, sync};
use frazil_testkit::Random;

/// Sequences of a run. `FRAZIL_WIRE_ROUNDS` sets another number.
fn rounds() -> usize {
    let given = std::env::var("FRAZIL_WIRE_ROUNDS").ok();
    given.and_then(|rounds| rounds.parse().ok()).unwrap_or(500)
}

/// A message whose answers the model knows.
#[derive(Clone, Debug)]
enum Sent {
    Query(&'static str),
    Parse(&'static str, &'static str),
    Bind(&'static str, &'static str),
    DescribeStatement(&'static str),
    DescribePortal(&'static str),
    Execute(&'static str, i32),
    CloseStatement(&'static str),
    ClosePortal(&'static str),
    /// COPY FROM STDIN as a simple query, with rows and an end: true for CopyDone, false for CopyFail.
    CopyIn(&'static [u8], bool),
    /// As `CopyIn`, by the extended protocol.
    CopyPortal(&'static [u8], bool),
    /// Bind of one value, as text or binary, to the statement without a name.
    BindValue(&'static [u8], i16),
    Flush,
    FunctionCall,
    Sync,
}

const NAMES: [&str; 3] = ["", "a", "b"];

/// Statements without parameters. They may fail.
const TEXTS: [&str; 23] = [
    "",
    "-- nothing",
    "select 1",
    "select a from t order by a",
    "select generate_series(1, 5)",
    "select a from t limit 0",
    "select 1 / (a - 2) from t order by a",
    "insert into t values (7) returning a",
    "insert into t values (8)",
    "delete from t where a > 5",
    "begin",
    "commit",
    "rollback",
    "savepoint s",
    "rollback to s",
    "set application_name = 'other'",
    "notify news",
    "copy (select a from t) to stdout",
    "selec",
    "select * from missing",
    "select a from t where a > $1::integer",
    "insert into t values ($1)",
    "declare a cursor for select generate_series(1, 4)",
];

/// Texts of several statements.
const SEVERAL: [&str; 5] = [
    "select 1; select 2",
    "begin; insert into t values (9); rollback",
    "select 1; selec",
    "insert into t values (10); select 1 / 0; select 3",
    "begin; select 1 / 0",
];

fn any(random: &mut Random) -> Sent {
    let name = |random: &mut Random| NAMES[random.index(NAMES.len())];
    let text = |random: &mut Random| TEXTS[random.index(TEXTS.len())];
    match random.index(24) {
        0..=2 => Sent::Query(text(random)),
        3 => Sent::Query(SEVERAL[random.index(SEVERAL.len())]),
        4..=6 => Sent::Parse(name(random), text(random)),
        7..=9 => Sent::Bind(name(random), name(random)),
        10 => Sent::DescribeStatement(name(random)),
        11 => Sent::DescribePortal(name(random)),
        12..=14 => Sent::Execute(name(random), random.index(4) as i32),
        15 => Sent::CloseStatement(name(random)),
        16 => Sent::ClosePortal(name(random)),
        17 | 18 => {
            let rows: &[&[u8]] = &[b"1\n2\n", b"", b"x\n", b"\\N\n\\.\n"];
            let (rows, is_done) = (rows[random.index(rows.len())], random.index(4) > 0);
            match random.index(2) {
                0 => Sent::CopyIn(rows, is_done),
                _ => Sent::CopyPortal(rows, is_done),
            }
        }
        19 => {
            let values: [(&[u8], i16); 4] = [(b"1", 0), (b"one", 0), (&[0, 0, 0, 1], 1), (&[1], 1)];
            let (value, format) = values[random.index(values.len())];
            Sent::BindValue(value, format)
        }
        20 => Sent::Flush,
        21 => Sent::FunctionCall,
        _ => Sent::Sync,
    }
}

const COPY: &str = "copy t from stdin";

/// The end of COPY's data: CopyDone or CopyFail.
fn end(is_done: bool) -> Vec<u8> {
    match is_done {
        true => message(b'c', b""),
        false => message(b'f', b"no more\0"),
    }
}

impl Sent {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Sent::Query(text) => query(text),
            Sent::Parse(name, text) => parse(name, text, &[]),
            Sent::Bind(portal, statement) => bind(portal, statement, &[], 0, 0),
            Sent::DescribeStatement(name) => describe('S', name),
            Sent::DescribePortal(name) => describe('P', name),
            Sent::Execute(portal, rows) => execute(portal, *rows),
            Sent::CloseStatement(name) => message(b'C', format!("S{name}\0").as_bytes()),
            Sent::ClosePortal(name) => message(b'C', format!("P{name}\0").as_bytes()),
            Sent::CopyIn(rows, is_done) => [query(COPY), message(b'd', rows), end(*is_done)].concat(),
            Sent::CopyPortal(rows, is_done) => [
                // A name of its own: no other message asks the statement for rows.
                message(b'C', b"Scopy\0"),
                parse("copy", COPY, &[]),
                bind("copy", "copy", &[], 0, 0),
                execute("copy", 0),
                message(b'd', rows),
                end(*is_done),
            ]
            .concat(),
            Sent::BindValue(value, format) => bind("", "", &[Some(value)], *format, 0),
            Sent::Flush => message(b'H', b""),
            Sent::FunctionCall => message(b'F', b"\0\0\x04\xd2\0\0\0\0\0\0"),
            Sent::Sync => sync(),
        }
    }
}

/// The answers that come, one after the other. Those that may come at any time are left out.
struct Answers<'a> {
    client: &'a mut Client,
    next: Option<Answer>,
}

impl Answers<'_> {
    /// The type of the next answer; 0 at the end of the session.
    fn peek(&mut self) -> u8 {
        while self.next.is_none() {
            let Some(next) = self.client.next() else { return 0 };
            self.next = Some(next).filter(|next| !matches!(next.0, b'N' | b'S' | b'A'));
        }
        self.next.as_ref().map_or(0, |next| next.0)
    }

    /// Takes the next answer if it is of one of some types.
    fn take(&mut self, kinds: &[u8]) -> Option<u8> {
        let next = self.peek();
        kinds.contains(&next).then(|| {
            self.next = None;
            next
        })
    }

    /// Takes all next answers of a type.
    fn skip(&mut self, kind: u8) {
        while self.take(&[kind]).is_some() {}
    }

    fn want(&mut self, kinds: &[u8]) -> Result<u8, String> {
        let wanted: Vec<char> = kinds.iter().map(|kind| char::from(*kind)).collect();
        self.take(kinds).ok_or_else(|| {
            let next = self
                .next
                .as_ref()
                .map_or_else(|| "the end".to_owned(), Answer::short);
            format!("{next} instead of one of {wanted:?}")
        })
    }

    /// The answers of a simple query up to its ReadyForQuery.
    fn simple(&mut self) -> Result<(), String> {
        loop {
            match self.want(b"TCIEHGZ")? {
                b'T' => {
                    self.skip(b'D');
                    if self.want(b"CE")? == b'E' {
                        self.want(b"Z")?;
                        return Ok(());
                    }
                }
                b'H' => {
                    self.skip(b'd');
                    if self.want(b"cE")? == b'c' {
                        self.want(b"C")?;
                    }
                }
                b'E' => {
                    self.want(b"Z")?;
                    return Ok(());
                }
                b'Z' => return Ok(()),
                _ => {}
            }
        }
    }

    /// The answers of COPY FROM STDIN as a simple query.
    fn copy_in(&mut self) -> Result<(), String> {
        if self.want(b"GE")? == b'G' {
            self.want(b"CE")?;
        }
        self.want(b"Z").map(|_| ())
    }

    /// The answers of a message of the extended protocol; true for an error.
    fn extended(&mut self, sent: &Sent) -> Result<bool, String> {
        let found = match sent {
            Sent::Parse(..) => self.want(b"1E")?,
            Sent::Bind(..) | Sent::BindValue(..) => self.want(b"2E")?,
            Sent::CopyPortal(..) => {
                let mut found = 0;
                // Answers of Close, Parse, Bind and Execute, and of the data's end.
                for step in [b"3E", b"1E", b"2E", b"GE", b"CE"] {
                    if found != b'E' {
                        found = self.want(step)?;
                    }
                }
                found
            }
            Sent::CloseStatement(_) | Sent::ClosePortal(_) => self.want(b"3E")?,
            Sent::DescribePortal(_) => self.want(b"TnE")?,
            Sent::DescribeStatement(_) => match self.want(b"tE")? {
                b't' => self.want(b"Tn")?,
                other => other,
            },
            Sent::Execute(..) => {
                if self.take(b"H").is_some() {
                    self.skip(b'd');
                    match self.want(b"cE")? {
                        b'c' => self.want(b"C")?,
                        other => other,
                    }
                } else {
                    self.skip(b'D');
                    self.want(b"CsIE")?
                }
            }
            Sent::Flush | Sent::Sync | Sent::FunctionCall | Sent::Query(_) | Sent::CopyIn(..) => 0,
        };
        Ok(found == b'E')
    }
}

/// Reads and explains all answers to messages that end with Sync.
fn explain(sent: &[Sent], client: &mut Client) -> Result<(), String> {
    let mut answers = Answers { client, next: None };
    let mut skips = false;
    for (number, message) in sent.iter().enumerate() {
        let explained = match message {
            Sent::Sync => {
                skips = false;
                answers.want(b"Z").map(|_| ())
            }
            // After an error everything but Sync is passed over.
            _ if skips => Ok(()),
            Sent::Query(_) => answers.simple(),
            Sent::CopyIn(..) => answers.copy_in(),
            Sent::FunctionCall => answers.want(b"E").and_then(|_| answers.want(b"Z")).map(|_| ()),
            other => answers.extended(other).map(|failed| skips = failed),
        };
        explained.map_err(|error| format!("message {number}, {message:?}: {error}"))?;
    }
    Ok(())
}

#[test]
fn answers_come_in_the_order_of_the_protocol() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query("create table t (a integer)")]);
    let mut random = Random::new(54);
    for round in 0..rounds() {
        if round % 20 == 0 {
            client.ask(&[query("rollback")]);
            client.ask(&[query("delete from t; insert into t values (1), (2), (3)")]);
        }
        let mut sent: Vec<Sent> = (0..1 + random.index(12)).map(|_| any(&mut random)).collect();
        sent.push(Sent::Sync);
        client.send(&sent.iter().flat_map(Sent::bytes).collect::<Vec<u8>>());
        if let Err(error) = explain(&sent, &mut client) {
            panic!("round {round}: {error}\n{sent:?}");
        }
    }
}
