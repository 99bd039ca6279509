//! SCRAM-SHA-256 (RFC 5802, RFC 7677) as PostgreSQL speaks it: the password never crosses the wire, and the server
//! keeps no password. SCRAM-SHA-256-PLUS binds a login to the server's certificate, so that nobody between can pass
//! it on.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use frazil::password::{self, Hash, hash, hmac, random_bytes};
use frazil::{Error, Result, SqlState};

/// The mechanism's name.
pub const MECHANISM: &str = "SCRAM-SHA-256";
/// The name of the mechanism that is bound to TLS.
pub const BOUND_MECHANISM: &str = "SCRAM-SHA-256-PLUS";
/// The header of a client that binds its login to the certificate of TLS.
const BINDING: &str = "p=tls-server-end-point";

/// Bytes of the server's part of a nonce.
const NONCE: usize = 18;

/// The part of a password that the server keeps.
#[derive(Clone, Debug)]
pub struct Verifier {
    keys: password::Verifier,
    /// False for a role that is not there: its exchange takes as long, and fails at its end.
    is_real: bool,
}

/// An exchange behind the client's first message.
#[derive(Debug)]
pub struct Exchange {
    verifier: Verifier,
    nonce: String,
    /// The bytes that the client's last message has to repeat: the header of the first one, and the certificate's hash
    /// if the login is bound to it.
    bound: Vec<u8>,
    /// The client's first message without its header, a comma, the server's first message.
    messages: String,
}

/// The channel of a login.
#[derive(Clone, Copy, Debug)]
pub enum Channel<'a> {
    /// The server offers no binding.
    Plain,
    /// The server offers a binding, and the client chose the mechanism without one.
    Unbound,
    /// The login is bound to the certificate with this hash.
    Bound(&'a [u8]),
}

impl Channel<'_> {
    /// Checks the client's statement about its channel, by PostgreSQL's rules.
    fn check(self, binding: &str) -> Result<()> {
        match (self, binding) {
            (Channel::Bound(_), BINDING) | (Channel::Plain, "n" | "y") | (Channel::Unbound, "n") => Ok(()),
            (Channel::Unbound, "y") => Err(refused("SCRAM channel binding negotiation error").with_detail(
                "The client supports SCRAM channel binding but thinks the server does not.  However, this \
                 server does support channel binding.",
            )),
            (Channel::Bound(_), "n" | "y") => Err(malformed().with_detail(
                "The client selected SCRAM-SHA-256-PLUS, but the SCRAM message does not include channel \
                 binding data.",
            )),
            (Channel::Bound(_), other) if other.starts_with("p=") => {
                let kind = &other[2..];
                let message = format!("unsupported SCRAM channel-binding type \"{kind}\"");
                Err(crate::messages::violation(message))
            }
            (Channel::Plain | Channel::Unbound, other) if other.starts_with("p=") => Err(malformed()
                .with_detail(
                    "The client selected SCRAM-SHA-256 without channel binding, but the SCRAM message \
                     includes channel binding data.",
                )),
            _ => Err(malformed()),
        }
    }
}

impl Verifier {
    /// The verifier of a password, with a new salt. 58030 if the system gives no random bytes.
    pub fn new(password: &str) -> Result<Verifier> {
        password::Verifier::new(password).map(Verifier::of)
    }

    /// The verifier of a role.
    pub fn of(keys: password::Verifier) -> Verifier {
        Verifier { keys, is_real: true }
    }

    /// The verifier of a role that does not exist or has no password: no password matches it. The salt depends on the
    /// name alone, so that repeated logins do not tell which roles exist.
    pub fn of_nobody(name: &str, secret: &[u8]) -> Result<Verifier> {
        let salt = hmac(secret, name.as_bytes())[..16].to_vec();
        let keys = password::Verifier {
            salt,
            rounds: 4096,
            stored_key: random_bytes()?,
            server_key: random_bytes()?,
        };
        Ok(Verifier { keys, is_real: false })
    }

    /// Answers the client's first message. 08P01 for one that is malformed or does not fit the channel; 28000 for one
    /// of a client that was made to believe that the server offers no binding.
    pub fn begin(&self, first: &str, channel: Channel<'_>) -> Result<(Exchange, String)> {
        let nonce = STANDARD.encode(random_bytes::<NONCE>()?);
        self.begin_with(first, channel, &nonce)
    }

    fn begin_with(&self, first: &str, channel: Channel<'_>, own_nonce: &str) -> Result<(Exchange, String)> {
        let mut parts = first.splitn(3, ',');
        let (Some(binding), Some(_authorization), Some(bare)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(malformed());
        };
        channel.check(binding)?;
        let mut bound = first.as_bytes()[..first.len() - bare.len()].to_vec();
        if let Channel::Bound(end_point) = channel {
            bound.extend(end_point);
        }
        let client = bare.split(',').find_map(|field| field.strip_prefix("r="));
        let client = client.filter(|nonce| !nonce.is_empty()).ok_or_else(malformed)?;
        let nonce = format!("{client}{own_nonce}");
        let (salt, rounds) = (STANDARD.encode(&self.keys.salt), self.keys.rounds);
        let answer = format!("r={nonce},s={salt},i={rounds}");
        let exchange = Exchange {
            verifier: self.clone(),
            nonce,
            bound,
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
        if decoded(binding.ok_or_else(malformed)?)? != self.bound {
            return Err(match self.bound.starts_with(BINDING.as_bytes()) {
                true => refused("SCRAM channel binding check failed"),
                false => crate::messages::violation(
                    "unexpected SCRAM channel-binding attribute in client-final-message",
                ),
            });
        }
        let nonce = fields.next().and_then(|field| field.strip_prefix("r="));
        if nonce != Some(&*self.nonce) {
            return Err(malformed());
        }
        let messages = format!("{},{without_proof}", self.messages);
        let signature = hmac(&self.verifier.keys.stored_key, messages.as_bytes());
        let client_key: Hash = std::array::from_fn(|at| proof[at] ^ signature[at]);
        // Every byte is compared, so that the time says nothing.
        let key = hash(&client_key);
        let is_wrong = key
            .iter()
            .zip(&self.verifier.keys.stored_key)
            .fold(0, |found, (a, b)| found | (a ^ b))
            != 0;
        if is_wrong || !self.verifier.is_real {
            return Ok(None);
        }
        let signature = hmac(&self.verifier.keys.server_key, messages.as_bytes());
        Ok(Some(format!("v={}", STANDARD.encode(signature))))
    }
}

fn malformed() -> Error {
    crate::messages::violation("malformed SCRAM message")
}

fn refused(message: &str) -> Error {
    Error::new(SqlState::INVALID_AUTHORIZATION, message)
}

fn decoded(text: &str) -> Result<Vec<u8>> {
    STANDARD.decode(text).map_err(|_| malformed())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677, section 3.
    #[test]
    fn the_example_of_the_rfc_is_spoken() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let verifier = Verifier::of(password::Verifier::salted("pencil", salt));
        let first = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
        let own = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let (exchange, answer) = verifier.begin_with(first, Channel::Plain, own).unwrap();
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
            assert!(verifier.begin(first, Channel::Plain).is_err(), "{first}");
        }
        let (exchange, _) = verifier.begin("n,,n=,r=abc", Channel::Plain).unwrap();
        for last in ["", "c=biws", "c=biws,r=abc,p=AA==", "c=x,r=abc,p=", ",p="] {
            assert!(exchange.finish(last).is_err(), "{last}");
        }
    }

    #[test]
    fn a_login_is_bound_to_its_channel() {
        let verifier = Verifier::new("secret").unwrap();
        let state = |first: &str, channel| verifier.begin(first, channel).err().map(|e| e.state().0);
        let bound = Channel::Bound(b"hash");
        for (first, channel, expected) in [
            ("y,,n=,r=abc", Channel::Plain, None),
            ("n,,n=,r=abc", Channel::Unbound, None),
            ("p=tls-server-end-point,,n=,r=abc", bound, None),
            ("y,,n=,r=abc", Channel::Unbound, Some("28000")),
            ("n,,n=,r=abc", bound, Some("08P01")),
            ("p=tls-unique,,n=,r=abc", bound, Some("08P01")),
            (
                "p=tls-server-end-point,,n=,r=abc",
                Channel::Unbound,
                Some("08P01"),
            ),
            ("p=tls-server-end-point,,n=,r=abc", Channel::Plain, Some("08P01")),
        ] {
            assert_eq!(state(first, channel), expected, "{first} {channel:?}");
        }
        let (exchange, answer) = verifier.begin("p=tls-server-end-point,,n=,r=abc", bound).unwrap();
        let nonce = answer.split(',').next().unwrap();
        let proof = STANDARD.encode([0; 32]);
        let last = |data: &[u8]| format!("c={},{nonce},p={proof}", STANDARD.encode(data));
        assert_eq!(
            exchange.finish(&last(b"p=tls-server-end-point,,hash")).unwrap(),
            None
        );
        let error = exchange
            .finish(&last(b"p=tls-server-end-point,,other"))
            .unwrap_err();
        assert_eq!(error.state(), SqlState::INVALID_AUTHORIZATION);
    }
}
