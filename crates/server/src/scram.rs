//! SCRAM-SHA-256 (RFC 5802, RFC 7677) as PostgreSQL speaks it: the password never crosses the wire, and the server
//! keeps no password.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use frazil::{Error, Result, SqlState};
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

/// The mechanism's name.
pub const MECHANISM: &str = "SCRAM-SHA-256";

/// Rounds of hashing, PostgreSQL's.
const ROUNDS: u32 = 4096;
/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;
/// Bytes of a salt, and of the server's part of a nonce.
const RANDOM: usize = 18;

type Hash = [u8; 32];

/// The part of a password that the server keeps.
#[derive(Clone, Debug)]
pub struct Verifier {
    salt: Vec<u8>,
    stored_key: Hash,
    server_key: Hash,
    /// False for a role that is not there: its exchange takes as long, and fails at its end.
    is_real: bool,
}

/// An exchange behind the client's first message.
#[derive(Debug)]
pub struct Exchange {
    verifier: Verifier,
    nonce: String,
    /// The header that the client's last message has to repeat.
    header: String,
    /// The client's first message without its header, a comma, the server's first message.
    messages: String,
}

impl Verifier {
    /// The verifier of a password, with a new salt. 58030 if the system gives no random bytes.
    pub fn new(password: &str) -> Result<Verifier> {
        Ok(Verifier::salted(password, random::<RANDOM>()?.to_vec()))
    }

    /// The verifier of a role that is not there: no password matches it.
    pub fn of_nobody() -> Result<Verifier> {
        let password: String = random::<RANDOM>()?.map(char::from).iter().collect();
        Ok(Verifier {
            is_real: false,
            ..Verifier::new(&password)?
        })
    }

    fn salted(password: &str, salt: Vec<u8>) -> Verifier {
        let password: String = password.nfkc().collect();
        let salted = salted_password(password.as_bytes(), &salt);
        Verifier {
            stored_key: hash(&hmac(&salted, b"Client Key")),
            server_key: hmac(&salted, b"Server Key"),
            salt,
            is_real: true,
        }
    }

    /// Answers the client's first message. 08P01 for one that is malformed.
    pub fn begin(&self, first: &str) -> Result<(Exchange, String)> {
        let nonce = STANDARD.encode(random::<RANDOM>()?);
        self.begin_with(first, &nonce)
    }

    fn begin_with(&self, first: &str, own_nonce: &str) -> Result<(Exchange, String)> {
        let mut parts = first.splitn(3, ',');
        let (Some(binding), Some(_authorization), Some(bare)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(malformed());
        };
        if !matches!(binding, "n" | "y") {
            return Err(malformed().with_detail("the client requires channel binding, which needs TLS"));
        }
        let header = first[..first.len() - bare.len()].to_owned();
        let client = bare.split(',').find_map(|field| field.strip_prefix("r="));
        let client = client.filter(|nonce| !nonce.is_empty()).ok_or_else(malformed)?;
        let nonce = format!("{client}{own_nonce}");
        let answer = format!("r={nonce},s={},i={ROUNDS}", STANDARD.encode(&self.salt));
        let exchange = Exchange {
            verifier: self.clone(),
            nonce,
            header,
            messages: format!("{bare},{answer}"),
        };
        Ok((exchange, answer))
    }
}

impl Exchange {
    /// Answers the client's last message. `None` if the password is wrong; 08P01 for a message that is malformed.
    pub fn finish(&self, last: &str) -> Result<Option<String>> {
        let (without_proof, proof) = last.rsplit_once(",p=").ok_or_else(malformed)?;
        let proof: Hash = decoded(proof)?.try_into().map_err(|_| malformed())?;
        let mut fields = without_proof.split(',');
        let binding = fields.next().and_then(|field| field.strip_prefix("c="));
        if decoded(binding.ok_or_else(malformed)?)? != self.header.as_bytes() {
            return Err(malformed());
        }
        let nonce = fields.next().and_then(|field| field.strip_prefix("r="));
        if nonce != Some(&*self.nonce) {
            return Err(malformed());
        }
        let messages = format!("{},{without_proof}", self.messages);
        let signature = hmac(&self.verifier.stored_key, messages.as_bytes());
        let client_key: Hash = std::array::from_fn(|at| proof[at] ^ signature[at]);
        // Every byte is compared, so that the time says nothing.
        let key = hash(&client_key);
        let is_wrong = key
            .iter()
            .zip(&self.verifier.stored_key)
            .fold(0, |found, (a, b)| found | (a ^ b))
            != 0;
        if is_wrong || !self.verifier.is_real {
            return Ok(None);
        }
        let signature = hmac(&self.verifier.server_key, messages.as_bytes());
        Ok(Some(format!("v={}", STANDARD.encode(signature))))
    }
}

fn malformed() -> Error {
    crate::messages::violation("malformed SCRAM message")
}

fn decoded(text: &str) -> Result<Vec<u8>> {
    STANDARD.decode(text).map_err(|_| malformed())
}

/// Bytes from the system's source of random numbers. 58030 if it fails.
pub fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|e| {
        let message = format!("the system gives no random bytes: {e}");
        Error::new(SqlState::IO_ERROR, message)
    })?;
    Ok(bytes)
}

fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// HMAC (RFC 2104). The keys here are no longer than a block.
fn hmac(key: &[u8], message: &[u8]) -> Hash {
    let mut block = [0; BLOCK];
    match key.len() <= BLOCK {
        true => block[..key.len()].copy_from_slice(key),
        false => block[..32].copy_from_slice(&hash(key)),
    }
    let keyed = |pad: u8| Sha256::new().chain_update(block.map(|byte| byte ^ pad));
    let inner = keyed(0x36).chain_update(message).finalize();
    keyed(0x5c).chain_update(inner).finalize().into()
}

/// PBKDF2 with HMAC, one block of it.
fn salted_password(password: &[u8], salt: &[u8]) -> Hash {
    let mut last = hmac(password, &[salt, &1u32.to_be_bytes()].concat());
    let mut all = last;
    for _ in 1..ROUNDS {
        last = hmac(password, &last);
        all.iter_mut().zip(last).for_each(|(all, last)| *all ^= last);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677, section 3.
    #[test]
    fn the_example_of_the_rfc_is_spoken() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let verifier = Verifier::salted("pencil", salt);
        let first = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
        let own = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let (exchange, answer) = verifier.begin_with(first, own).unwrap();
        assert_eq!(
            answer,
            "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
        );
        let last = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                    p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        let end = exchange.finish(last).unwrap();
        assert_eq!(
            end.as_deref(),
            Some("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
        );
        let wrong = last.replace("dHzb", "dHzc");
        assert_eq!(exchange.finish(&wrong).unwrap(), None);
    }

    #[test]
    fn messages_that_are_none_are_errors() {
        let verifier = Verifier::new("secret").unwrap();
        for first in ["", "n", "n,,", "n,,n=u", "n,,r=", "p=tls-unique,,n=u,r=a"] {
            assert!(verifier.begin(first).is_err(), "{first}");
        }
        let (exchange, _) = verifier.begin("n,,n=,r=abc").unwrap();
        for last in ["", "c=biws", "c=biws,r=abc,p=AA==", "c=x,r=abc,p=", ",p="] {
            assert!(exchange.finish(last).is_err(), "{last}");
        }
    }
}
