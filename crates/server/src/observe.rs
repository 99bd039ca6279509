//! Metrics and health over HTTP/1.1, on a port of their own: `/metrics` in Prometheus' text format, `/healthz`, and
//! `/readyz`, which says if clients can connect.
//!
//! A request is a line and headers, which are not looked at; the answer ends the connection. Anything that takes longer
//! than [`PATIENCE`] or is longer than [`LONGEST`] ends without an answer.

use crate::server::Shared;
use frazil::{LogMetrics, Metrics};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Time for a request and its answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Most bytes of a request.
const LONGEST: usize = 8 << 10;
/// Most requests at a time. Others wait in the system's queue.
const MOST: usize = 16;
/// Time between two tries to take a connection while the system has no room for it.
const PAUSE: Duration = Duration::from_millis(100);
/// The type of Prometheus' text.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
/// Kinds of metrics.
const GAUGE: &str = "gauge";
const COUNTER: &str = "counter";

/// Answers requests until the server ends.
pub async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(MOST));
    loop {
        // The semaphore is never closed.
        let Ok(place) = places.clone().acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            // As a rule there are no more file descriptors.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let shared = shared.clone();
        tokio::spawn(async move {
            // A client that does not hear the answer is not told.
            let _ = tokio::time::timeout(PATIENCE, answer(stream, &shared)).await;
            drop(place);
        });
    }
}

async fn answer(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut bytes = [0; 1024];
        let count = stream.read(&mut bytes).await?;
        if count == 0 || request.len() + count > LONGEST {
            return Ok(());
        }
        request.extend_from_slice(&bytes[..count]);
    }
    let request = String::from_utf8_lossy(&request);
    let mut words = request.lines().next().unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default();
    let (status, kind, body) = match (method, path) {
        ("GET" | "HEAD", "/metrics") => ("200 OK", PROMETHEUS, metrics(shared)),
        ("GET" | "HEAD", "/healthz") => health(shared.database.check_health().err()),
        ("GET" | "HEAD", "/readyz") if !shared.registry.is_running() => {
            ("503 Service Unavailable", TEXT, "shutting down\n".to_owned())
        }
        ("GET" | "HEAD", "/readyz") => health(shared.database.check_health().err()),
        ("GET" | "HEAD", _) => (
            "404 Not Found",
            TEXT,
            "there are /metrics, /healthz and /readyz\n".to_owned(),
        ),
        _ => ("405 Method Not Allowed", TEXT, "only GET and HEAD\n".to_owned()),
    };
    let allow = if status.starts_with("405") {
        "Allow: GET, HEAD\r\n"
    } else {
        ""
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{allow}Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    if method != "HEAD" {
        stream.write_all(body.as_bytes()).await?;
    }
    stream.shutdown().await
}

fn health(error: Option<frazil::Error>) -> (&'static str, &'static str, String) {
    match error {
        None => ("200 OK", TEXT, "ok\n".to_owned()),
        Some(error) => ("503 Service Unavailable", TEXT, format!("{error}\n")),
    }
}

/// Text of metrics.
#[derive(Default)]
struct Page(String);

impl Page {
    /// Adds a metric with one value.
    fn add(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, kind, help);
        self.value(name, "", value);
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to memory does not fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn value(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }
}

/// A number with its name, kind and meaning.
type Metric = (&'static str, &'static str, &'static str, f64);

fn metrics(shared: &Shared) -> String {
    let metrics = shared.database.metrics();
    let mut page = Page::default();
    for (name, kind, help, value) in of_server(shared).into_iter().chain(of_database(&metrics)) {
        page.add(name, kind, help, value);
    }
    let counts = &metrics.counts;
    let name = "frazil_transactions_total";
    page.head(name, COUNTER, "Transactions that ended, by how.");
    page.value(name, "{end=\"commit\"}", counts.commits);
    page.value(name, "{end=\"rollback\"}", counts.rollbacks);
    let name = "frazil_rows_total";
    page.head(name, COUNTER, "Rows, by what statements did with them.");
    page.value(name, "{work=\"returned\"}", counts.returned);
    page.value(name, "{work=\"inserted\"}", counts.inserted);
    page.value(name, "{work=\"updated\"}", counts.updated);
    page.value(name, "{work=\"deleted\"}", counts.deleted);
    for (name, kind, help, value) in metrics.log.iter().flat_map(of_log) {
        page.add(name, kind, help, value);
    }
    page.0
}

#[rustfmt::skip]
fn of_server(shared: &Shared) -> [Metric; 3] {
    let (registry, logins) = (&shared.registry, &shared.failed_logins);
    [
        ("frazil_connections", GAUGE, "Clients that are connected.", registry.count() as f64),
        ("frazil_connections_limit", GAUGE, "Most clients at a time.", registry.most() as f64),
        ("frazil_failed_logins_total", COUNTER, "Logins with a wrong password.", logins.total() as f64),
    ]
}

#[rustfmt::skip]
fn of_database(metrics: &Metrics) -> [Metric; 6] {
    let memory = [metrics.memory_used, metrics.memory_peak, metrics.memory_limit];
    let [used, peak, limit] = memory.map(|bytes| bytes as f64);
    let opened = metrics.opened as f64 / 1e6;
    [
        ("frazil_start_time_seconds", GAUGE, "Time when the database was opened, since 1970.", opened),
        ("frazil_waiting_statements", GAUGE, "Statements that wait for transactions.", metrics.waiting as f64),
        ("frazil_waits_total", COUNTER, "Waits of statements for transactions.", metrics.waits as f64),
        ("frazil_memory_used_bytes", GAUGE, "Memory that counts against memory_limit.", used),
        ("frazil_memory_peak_bytes", GAUGE, "The most memory so far.", peak),
        ("frazil_memory_limit_bytes", GAUGE, "The setting memory_limit.", limit),
    ]
}

#[rustfmt::skip]
fn of_log(log: &LogMetrics) -> [Metric; 4] {
    [
        ("frazil_log_records_total", COUNTER, "Records of the log.", log.records as f64),
        ("frazil_log_bytes_total", COUNTER, "Bytes written to the log.", log.bytes as f64),
        ("frazil_log_syncs_total", COUNTER, "Syncs of the log to the disk.", log.syncs as f64),
        ("frazil_log_since_checkpoint_bytes", GAUGE, "Bytes that recovery would read.", log.since_checkpoint as f64),
    ]
}
