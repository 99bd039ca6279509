//! The server: its socket, its threads, its beginning and its end.

use crate::connection;
use crate::failed_logins::FailedLogins;
use crate::observe;
use crate::registry::{Phase, Registry};
use crate::scram::Verifier;
use crate::slow_log::SlowLog;
use crate::tls::Tls;
use frazil::password::random_bytes;
use frazil::{Database, Error, Result, SqlState};
use std::future::{Future, poll_fn};
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// Threads that wait for sockets.
const TASK_THREADS: usize = 2;
/// Stack of a thread that runs statements: that of a program's main thread.
const STACK: usize = 8 << 20;
/// Time between two tries to take a client while the system has no room for it.
const PAUSE: Duration = Duration::from_millis(100);
/// Time that threads have to end when the server ends.
const LAST: Duration = Duration::from_secs(5);

/// The options of a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address to listen at. Port 0: one that the system chooses.
    pub listen: SocketAddr,
    /// The clients that may log in.
    pub authentication: Authentication,
    /// The certificate; `None`: no connection is encrypted.
    pub tls: Option<Tls>,
    /// The name of the database.
    pub name: String,
    /// Most clients at a time.
    pub max_connections: usize,
    /// Bounds on clients.
    pub limits: Limits,
    /// Ways to watch the server.
    pub watching: Watching,
}

/// Ways to watch a server.
#[derive(Clone, Debug, Default)]
pub struct Watching {
    /// The address of metrics and health, over HTTP; `None`: nowhere.
    pub metrics: Option<SocketAddr>,
    /// The log of slow statements.
    pub slow_log: Option<SlowLog>,
}

/// Bounds on clients: their times, and their numbers beside [`Options::max_connections`].
#[derive(Clone, Debug)]
pub struct Limits {
    /// Time to log in.
    pub login_timeout: Duration,
    /// Time in which open transactions may end while the server drains; `None` for any.
    pub shutdown_timeout: Option<Duration>,
    /// Connections of `max_connections` that only superusers can take, as PostgreSQL's
    /// `superuser_reserved_connections`.
    pub reserved_connections: usize,
    /// Most clients at a time that have not logged in. The connection of one more is closed at once.
    pub strangers: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            login_timeout: Duration::from_secs(60),
            shutdown_timeout: None,
            reserved_connections: 0,
            strangers: 1_000,
        }
    }
}

/// The clients that may log in.
#[derive(Clone, Debug)]
pub enum Authentication {
    /// Whoever reaches the address, as any role: for loopback addresses alone.
    Trust,
    /// The database's roles, each with its password by SCRAM-SHA-256.
    Roles,
    /// One more login with a password, beside the roles of the database. The session is that of the role of this name;
    /// without one, of the first superuser.
    Password {
        /// The role.
        user: String,
        /// The part of its password that is kept.
        verifier: Verifier,
    },
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    /// The socket of metrics and health, with its address.
    metrics: Option<(TcpListener, SocketAddr)>,
    runtime: Runtime,
    shared: Arc<Shared>,
}

/// State that all sessions of a server share.
#[derive(Debug)]
pub struct Shared {
    /// The database.
    pub database: Database,
    /// Its name.
    pub name: String,
    /// The clients that may log in.
    pub authentication: Authentication,
    /// Random bytes, from which the salts of names that no role has derive.
    pub secret: [u8; 32],
    /// The certificate; `None`: no connection is encrypted.
    pub tls: Option<Tls>,
    /// The sessions.
    pub registry: Arc<Registry>,
    /// Times that clients have.
    pub limits: Limits,
    /// Addresses whose logins failed.
    pub failed_logins: FailedLogins,
    /// The log of slow statements.
    pub slow_log: Option<SlowLog>,
}

/// Ends a server, from any thread.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<Registry>);

impl Stopper {
    /// Takes no more clients. Sessions end when they are outside a transaction, and the server when all have ended.
    pub fn drain(&self) {
        self.0.advance(Phase::Draining);
    }

    /// Ends all sessions at once: statements are cancelled, and open transactions rolled back.
    pub fn end(&self) {
        self.0.advance(Phase::Ending);
    }
}

impl Server {
    /// Listens at an address. 28000 for an address that others reach without a password; 58030 if the system refuses
    /// the address.
    pub fn bind(database: Database, options: Options) -> Result<Server> {
        let is_open = matches!(options.authentication, Authentication::Trust);
        if is_open && !options.listen.ip().is_loopback() {
            let message = format!(
                "{} can be reached from other machines, and needs a password",
                options.listen
            );
            return Err(Error::new(SqlState::INVALID_AUTHORIZATION, message)
                .with_hint("give --user and a password, or listen at 127.0.0.1"));
        }
        let (listener, address) = listen(options.listen, "--listen")?;
        let metrics = options.watching.metrics;
        let metrics = metrics.map(|address| listen(address, "--metrics")).transpose()?;
        let of_listener = |e| refused(options.listen, "--listen", &e);
        let runtime = Builder::new_multi_thread()
            .worker_threads(TASK_THREADS)
            // A session whose statement waits for another one's must find a thread.
            .max_blocking_threads(options.max_connections + TASK_THREADS)
            .thread_stack_size(STACK)
            .thread_name("frazil-server")
            .enable_io()
            .enable_time()
            .build()
            .map_err(of_listener)?;
        database.serve_as(&options.name);
        let shared = Shared {
            database,
            name: options.name,
            authentication: options.authentication,
            secret: random_bytes()?,
            tls: options.tls,
            registry: Arc::new(Registry::new(
                options.max_connections,
                options.limits.reserved_connections,
                options.limits.strangers,
            )),
            limits: options.limits,
            failed_logins: FailedLogins::default(),
            slow_log: options.watching.slow_log,
        };
        Ok(Server {
            listener,
            address,
            metrics,
            runtime,
            shared: Arc::new(shared),
        })
    }

    /// Returns the address that it listens at.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address of metrics and health; `None` if there is none.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().map(|(_, address)| *address)
    }

    /// Returns the handle that ends it.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.shared.registry.clone())
    }

    /// Number of clients that are logged in, or about to.
    pub fn sessions(&self) -> usize {
        self.shared.registry.count()
    }

    /// Serves until it is ended. 58030 if the system takes the socket away.
    pub fn run(self) -> Result<()> {
        let (listener, address) = (self.listener, self.address);
        let served = self.runtime.block_on(async {
            let listener =
                tokio::net::TcpListener::from_std(listener).map_err(|e| refused(address, "--listen", &e))?;
            if let Some((listener, address)) = self.metrics {
                let listener = tokio::net::TcpListener::from_std(listener)
                    .map_err(|e| refused(address, "--metrics", &e))?;
                tokio::spawn(observe::serve(listener, self.shared.clone()));
            }
            serve(listener, &self.shared).await;
            Ok(())
        });
        self.runtime.shutdown_timeout(LAST);
        served
    }
}

/// Listens at an address that an option gives. Returns the address with its port.
fn listen(at: SocketAddr, option: &str) -> Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(at).and_then(|listener| {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    });
    listener.map_err(|error| refused(at, option, &error))
}

fn refused(address: SocketAddr, option: &str, error: &std::io::Error) -> Error {
    Error::new(
        SqlState::IO_ERROR,
        format!("could not listen at {address}: {error}"),
    )
    .with_hint(format!(
        "another server may listen there; {option} gives another address"
    ))
}

/// Takes clients until the server drains, then waits for those that are there.
async fn serve(listener: tokio::net::TcpListener, shared: &Arc<Shared>) {
    let mut phase = shared.registry.phase();
    while *phase.borrow_and_update() == Phase::Running {
        match next(&listener, &mut phase).await {
            None => {}
            Some(Ok((stream, _))) => {
                if let Some(stranger) = shared.registry.admit() {
                    drop(tokio::spawn(connection::serve(stream, stranger, shared.clone())));
                }
            }
            // As a rule there are no more file descriptors.
            Some(Err(_)) => tokio::time::sleep(PAUSE).await,
        }
    }
    drop(listener);
    let registry = &shared.registry;
    if let Some(time) = shared.limits.shutdown_timeout
        && tokio::time::timeout(time, registry.left_all()).await.is_err()
    {
        registry.advance(Phase::Ending);
    }
    registry.left_all().await;
}

/// The next client; `None` if the phase changed.
async fn next(
    listener: &tokio::net::TcpListener,
    phase: &mut watch::Receiver<Phase>,
) -> Option<std::io::Result<(tokio::net::TcpStream, SocketAddr)>> {
    let mut changed = pin!(phase.changed());
    poll_fn(|context| {
        if let Poll::Ready(accepted) = listener.poll_accept(context) {
            return Poll::Ready(Some(accepted));
        }
        changed.as_mut().poll(context).map(|_| None)
    })
    .await
}
