//! Cancelling: a second connection tells the server the key of the session.

use super::address::Address;
use super::login::connected;
use super::wire::Wire;
use crate::backend::Canceler;
use postgres_protocol::message::frontend;
use std::time::Duration;

/// Time that cancelling may take: Ctrl-C is not to wait for a server that is gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// The key of a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct Key {
    /// The number of the session.
    pub session: i32,
    /// The number that only its client knows.
    pub secret: i32,
}

/// Cancels the statement of a session.
pub fn canceler(address: &Address, key: Key) -> Canceler {
    let mut address = address.clone();
    address.connect_timeout = Some(address.connect_timeout.unwrap_or(PATIENCE).min(PATIENCE));
    Box::new(move || {
        if let Err(error) = cancel(&address, key) {
            eprintln!("WARNING: the statement cannot be cancelled: {}", error.message());
        }
    })
}

/// Sends the request, and waits until the server has taken it: it answers by closing.
pub fn cancel(address: &Address, key: Key) -> frazil::Result<()> {
    let (stream, _) = connected(address)?;
    let mut wire = Wire::new(stream);
    frontend::cancel_request(key.session, key.secret, &mut wire.out);
    let sent = wire
        .stream()
        .set_timeout(Some(PATIENCE))
        .and_then(|()| wire.send());
    sent.map_err(|error| super::errors::lost(&error))?;
    drop(wire.receive());
    Ok(())
}
