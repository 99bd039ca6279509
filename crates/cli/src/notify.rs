//! Tells systemd how far a service is (sd_notify(3)): a datagram to the socket that it names.

use std::os::unix::net::UnixDatagram;

/// The environment variable of the socket's name. Without it nobody listens.
const SOCKET: &str = "NOTIFY_SOCKET";

/// Says that clients can connect.
pub fn ready() {
    tell("READY=1");
}

/// Says that the service ends.
pub fn stopping() {
    tell("STOPPING=1");
}

/// Tells a state. The service goes on if nobody hears it.
fn tell(state: &str) {
    let Some(name) = std::env::var_os(SOCKET) else {
        return;
    };
    if let Err(error) = send(&name, state) {
        eprintln!(
            "WARNING: systemd's socket \"{}\" takes nothing: {error}",
            name.display()
        );
    }
}

fn send(name: &std::ffi::OsStr, state: &str) -> std::io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    #[cfg(target_os = "linux")]
    if let Some(name) = name.as_encoded_bytes().strip_prefix(b"@") {
        use std::os::linux::net::SocketAddrExt;
        let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
        return socket.send_to_addr(state.as_bytes(), &address).map(drop);
    }
    socket.send_to(state.as_bytes(), name).map(drop)
}
