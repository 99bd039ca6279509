//! Passwords as SCRAM-SHA-256 verifiers (RFC 5802, RFC 7677), in PostgreSQL's form: who reads them learns no password.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use frazil_types::{Error, Result, SqlState};
use sha2::{Digest, Sha256};
use std::fmt;
use unicode_normalization::UnicodeNormalization;

/// Rounds of hashing, PostgreSQL's.
const ROUNDS: u32 = 4096;
/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;
/// Bytes of a salt, as many as PostgreSQL takes.
const SALT: usize = 16;
/// The name of the method before a verifier's parts.
const METHOD: &str = "SCRAM-SHA-256";

/// 32 bytes of SHA-256.
pub type Hash = [u8; 32];

/// The part of a password that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verifier {
    /// Random bytes that are hashed with the password.
    pub salt: Vec<u8>,
    /// Rounds of hashing.
    pub rounds: u32,
    /// The hash of the key by which a client proves that it knows the password.
    pub stored_key: Hash,
    /// The key by which the server proves that it has the verifier.
    pub server_key: Hash,
}

impl Verifier {
    /// The verifier of a password, with a new salt. 58030 if the system gives no random bytes.
    pub fn new(password: &str) -> Result<Verifier> {
        Ok(Verifier::salted(password, random_bytes::<SALT>()?.to_vec()))
    }

    /// The verifier of a password with a salt.
    pub fn salted(password: &str, salt: Vec<u8>) -> Verifier {
        let password: String = password.nfkc().collect();
        let salted = salted_password(password.as_bytes(), &salt);
        Verifier {
            stored_key: hash(&hmac(&salted, b"Client Key")),
            server_key: hmac(&salted, b"Server Key"),
            rounds: ROUNDS,
            salt,
        }
    }

    /// Reads `SCRAM-SHA-256$rounds:salt$stored key:server key`. `None` for another text.
    pub fn read(text: &str) -> Option<Verifier> {
        let rest = text.strip_prefix(METHOD)?.strip_prefix('$')?;
        let (head, keys) = rest.split_once('$')?;
        let (rounds, salt) = head.split_once(':')?;
        let (stored, server) = keys.split_once(':')?;
        let key = |text: &str| STANDARD.decode(text).ok()?.try_into().ok();
        Some(Verifier {
            rounds: rounds.parse().ok().filter(|rounds| *rounds > 0)?,
            salt: STANDARD.decode(salt).ok()?,
            stored_key: key(stored)?,
            server_key: key(server)?,
        })
    }
}

impl fmt::Display for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [salt, stored, server] =
            [&self.salt[..], &self.stored_key[..], &self.server_key[..]].map(|bytes| STANDARD.encode(bytes));
        write!(f, "{METHOD}${}:{salt}${stored}:{server}", self.rounds)
    }
}

/// Bytes from the system's source of random numbers. 58030 if it fails.
pub fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|e| {
        let message = format!("the system gives no random bytes: {e}");
        Error::new(SqlState::IO_ERROR, message)
    })?;
    Ok(bytes)
}

/// The SHA-256 hash of bytes.
pub fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// HMAC (RFC 2104) with SHA-256.
pub fn hmac(key: &[u8], message: &[u8]) -> Hash {
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

    #[test]
    fn a_verifier_is_read_as_it_is_written() {
        let verifier = Verifier::salted("pencil", b"0123456789abcdef".to_vec());
        let text = verifier.to_string();
        assert!(text.starts_with("SCRAM-SHA-256$4096:MDEyMzQ1Njc4OWFiY2RlZg==$"));
        assert_eq!(Verifier::read(&text), Some(verifier));
        for wrong in ["", "pencil", "SCRAM-SHA-256$4096:a$b:c", "SCRAM-SHA-256$0:$:"] {
            assert_eq!(Verifier::read(wrong), None, "{wrong}");
        }
    }
}
