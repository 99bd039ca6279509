//! `client_encoding`: the encoding of the texts that a server and its client send to each other.

use super::kind::{Read, wrong};
use frazil_types::{Error, Result};

/// The encoding of a client's texts. The server converts them; programs that embed the database pass UTF-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ClientEncoding {
    /// UTF-8, the encoding of stored texts.
    #[default]
    Utf8,
    /// Bytes whose meaning the client does not say. As in PostgreSQL, texts of the client must be UTF-8 nevertheless.
    SqlAscii,
    /// ISO 8859-1: each byte is the character of its number.
    Latin1,
}

impl ClientEncoding {
    const ALL: [ClientEncoding; 3] = [
        ClientEncoding::Utf8,
        ClientEncoding::SqlAscii,
        ClientEncoding::Latin1,
    ];

    /// Returns the encoding of a number that `as u8` gave.
    pub(crate) fn of_number(number: u8) -> ClientEncoding {
        let found = ClientEncoding::ALL.into_iter().find(|e| *e as u8 == number);
        found.unwrap_or_default()
    }

    /// PostgreSQL's name of the encoding.
    pub fn name(self) -> &'static str {
        match self {
            ClientEncoding::Utf8 => "UTF8",
            ClientEncoding::SqlAscii => "SQL_ASCII",
            ClientEncoding::Latin1 => "LATIN1",
        }
    }

    /// Reads PostgreSQL's names of the encoding: case and signs do not count. 0A000 for another encoding that
    /// PostgreSQL has, 22023 for other names.
    pub(super) fn read(read: &Read) -> Result<ClientEncoding> {
        let text = read.word()?;
        let plain: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
        match plain.to_ascii_lowercase().as_str() {
            "utf8" | "unicode" => Ok(ClientEncoding::Utf8),
            "sqlascii" => Ok(ClientEncoding::SqlAscii),
            "latin1" | "iso88591" => Ok(ClientEncoding::Latin1),
            known if OTHERS.contains(&known) => {
                let error = Error::unsupported(format!("client_encoding \"{text}\""));
                Err(error
                    .with_hint("use UTF8, LATIN1, or SQL_ASCII for bytes that are sent as they are stored"))
            }
            _ => Err(wrong(
                "client_encoding",
                text,
                "the name of an encoding, which must be UTF8, LATIN1 or SQL_ASCII",
            )),
        }
    }
}

/// Other encodings of PostgreSQL's clients, without signs and in lower case.
const OTHERS: [&str; 48] = [
    "eucjp",
    "euccn",
    "euckr",
    "euctw",
    "eucjis2004",
    "muleinternal",
    "latin2",
    "latin3",
    "latin4",
    "latin5",
    "latin6",
    "latin7",
    "latin8",
    "latin9",
    "latin10",
    "win1250",
    "win1251",
    "win1252",
    "win1253",
    "win1254",
    "win1255",
    "win1256",
    "win1257",
    "win1258",
    "win866",
    "win874",
    "win",
    "abc",
    "tcvn",
    "tcvn5712",
    "vscii",
    "koi8r",
    "koi8u",
    "koi8",
    "alt",
    "iso88595",
    "iso88596",
    "iso88597",
    "iso88598",
    "sjis",
    "shiftjis",
    "big5",
    "gbk",
    "uhc",
    "gb18030",
    "johab",
    "shiftjis2004",
    "mskanji",
];
