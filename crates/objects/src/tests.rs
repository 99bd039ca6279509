//! Calls of stores in memory, and errors of a store that answers as it is told.

use crate::object_url::ObjectUrl;
use crate::settings::{Patience, Settings};
use crate::{ObjectMeta, ObjectStore, Put, ReadAhead};
use frazil_types::{Cancel, Error, SqlState};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const SECRET: &str = "s3cr3t-k3y";
const TOKEN: &str = "t0k3n-of-a-session";

fn url(text: &str) -> ObjectUrl {
    ObjectUrl::parse(text).expect("a URL").expect("a sound one")
}

fn meta(store: &ObjectStore, text: &str) -> ObjectMeta {
    let found = store.meta(&url(text), &Cancel::new()).expect("it answers");
    found.expect("it is there")
}

/// Bytes that differ from place to place.
fn bytes(count: usize) -> Vec<u8> {
    (0..count)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect()
}

#[test]
fn objects_are_written_listed_read_and_removed() {
    let (store, cancel) = (ObjectStore::in_memory(), Cancel::new());
    let put = |key: &str, text: &str, put: &Put| {
        store.put(&url(&format!("s3://b/{key}")), text.into(), put, &cancel)
    };
    for key in ["b/2", "a/1", "b/10", "b/c/3", "bb/4", "d"] {
        put(key, key, &Put::Replace).expect("written");
    }
    let listed = |prefix: &str| -> Vec<String> {
        let found = store.list(&url(prefix), &cancel).expect("listed");
        found.iter().map(|object| object.url.key().to_owned()).collect()
    };
    assert_eq!(listed("s3://b/b/"), ["b/10", "b/2", "b/c/3"]);
    assert_eq!(listed("s3://b/"), ["a/1", "b/10", "b/2", "b/c/3", "bb/4", "d"]);
    assert!(listed("s3://b/none/").is_empty());
    let found = meta(&store, "s3://b/b/10");
    assert_eq!(found.bytes, 4);
    let mut two = [0; 2];
    store.read_at(&found, 2, &mut two, &cancel).expect("read");
    assert_eq!(&two, b"10");
    let error = store
        .read_at(&found, 3, &mut two, &cancel)
        .expect_err("behind the end");
    assert_eq!(error.state(), SqlState::IO_ERROR);
    store
        .read_at(&found, 9, &mut [], &cancel)
        .expect("nothing to read");
    store.remove(&found.url, &cancel).expect("removed");
    store.remove(&found.url, &cancel).expect("it is gone already");
    assert!(store.meta(&found.url, &cancel).expect("it answers").is_none());
    let error = store.read_at(&found, 0, &mut two, &cancel).expect_err("gone");
    assert_eq!(error.state(), SqlState::UNDEFINED_FILE);
}

#[test]
fn patterns_match_keys_as_paths() {
    let (store, cancel) = (ObjectStore::in_memory(), Cancel::new());
    for key in [
        "a/p-1.csv",
        "a/p-2.csv",
        "a/b/p-3.csv",
        "a/b/c/p-4.csv",
        "a/.p-5.csv",
        "p-6.csv",
        "ab/p-7.csv",
    ] {
        let at = url(&format!("s3://b/{key}"));
        store
            .put(&at, b"x".to_vec(), &Put::Replace, &cancel)
            .expect("written");
    }
    for (pattern, prefix, expected) in [
        ("a/p-*.csv", "a/", "a/p-1.csv a/p-2.csv"),
        ("a/*.csv", "a/", "a/.p-5.csv a/p-1.csv a/p-2.csv"),
        ("a/p-[2-9].csv", "a/", "a/p-2.csv"),
        ("?/p-?.csv", "", "a/p-1.csv a/p-2.csv"),
        (
            "a/**/p-*.csv",
            "a/",
            "a/b/c/p-4.csv a/b/p-3.csv a/p-1.csv a/p-2.csv",
        ),
        ("a/*/p-*", "a/", "a/b/p-3.csv"),
        ("*", "", "p-6.csv"),
        ("a/b*/c/p-4.csv", "a/", "a/b/c/p-4.csv"),
        ("none/*", "none/", ""),
    ] {
        let pattern = url(&format!("s3://b/{pattern}"));
        assert!(
            pattern.is_pattern() && pattern.fixed_prefix().key() == prefix,
            "{pattern}"
        );
        let found = store.matching(&pattern, &cancel).expect("listed");
        let keys: Vec<&str> = found.iter().map(|object| object.url.key()).collect();
        assert_eq!(keys.join(" "), expected, "{pattern}");
    }
    let error = store
        .matching(&url("s3://b/a/***"), &cancel)
        .expect_err("no pattern");
    assert_eq!(error.state(), SqlState::INVALID_PARAMETER);
}

#[test]
fn folders_that_programs_mark_by_empty_objects_are_no_files() {
    let (store, cancel) = (ObjectStore::in_memory(), Cancel::new());
    for (key, text) in [
        ("d", ""),
        ("d/x.csv", "1"),
        ("d/empty.csv", ""),
        ("e", "1"),
        ("e/y", "2"),
    ] {
        let at = url(&format!("s3://b/{key}"));
        store
            .put(&at, text.into(), &Put::Replace, &cancel)
            .expect("written");
    }
    let found = store.list(&url("s3://b/"), &cancel).expect("listed");
    let keys: Vec<&str> = found.iter().map(|object| object.url.key()).collect();
    assert_eq!(keys, ["d/empty.csv", "d/x.csv", "e", "e/y"]);
}

#[test]
fn writers_that_meet_are_told() {
    let (store, cancel, at) = (ObjectStore::in_memory(), Cancel::new(), url("s3://b/x"));
    let put = |text: &str, put: &Put| store.put(&at, text.into(), put, &cancel);
    let state = |error: Error| error.state();
    let first = put("1", &Put::New).expect("it is new").expect("it has a version");
    assert_eq!(put("2", &Put::New).map_err(state), Err(SqlState::DUPLICATE_FILE));
    let second = put("2", &Put::Version(first.clone())).expect("nobody wrote it");
    assert_eq!(meta(&store, "s3://b/x").version, second);
    assert_eq!(
        put("3", &Put::Version(first.clone())).map_err(state),
        Err(SqlState::SERIALIZATION_FAILURE)
    );
    let old = meta(&store, "s3://b/x");
    put("4", &Put::Replace).expect("written");
    let error = store
        .read_at(&old, 0, &mut [0], &cancel)
        .expect_err("another version");
    assert_eq!(error.state(), SqlState::IO_ERROR);
    assert!(error.message().contains("changed"), "{error:?}");
    store.remove(&at, &cancel).expect("removed");
    assert_eq!(
        put("5", &Put::Version(first)).map_err(state),
        Err(SqlState::SERIALIZATION_FAILURE)
    );
}

#[test]
fn large_objects_come_and_go_in_parts() {
    let (store, cancel) = (ObjectStore::in_memory(), Cancel::new());
    for count in [0, 1, 8 << 20, (8 << 20) + 1, 45_000_001] {
        let (at, whole) = (url("s3://b/large"), bytes(count));
        let mut upload = store.upload(&at, &cancel).expect("begun");
        for piece in whole.chunks(1_000_003) {
            upload.write(piece).expect("written");
        }
        upload.finish().expect("finished");
        let found = meta(&store, "s3://b/large");
        let mut read = vec![0; count];
        store.read_at(&found, 0, &mut read, &cancel).expect("read");
        assert!(read == whole, "{count}");
        let (mut ahead, mut read) = (ReadAhead::new(store.clone(), found, cancel.clone()), Vec::new());
        while let Some(bytes) = ahead.next_range().expect("read") {
            read.extend_from_slice(&bytes);
        }
        assert!(read == whole, "{count}");
    }
    let before = meta(&store, "s3://b/large");
    let mut upload = store.upload(&before.url, &cancel).expect("begun");
    upload.write(&bytes(20 << 20)).expect("written");
    drop(upload);
    assert_eq!(meta(&store, "s3://b/large"), before, "what was there stays");
}

#[test]
fn keys_that_no_store_has_are_refused() {
    let (store, cancel) = (ObjectStore::in_memory(), Cancel::new());
    for (key, state) in [
        ("", SqlState::WRONG_OBJECT_TYPE),
        ("a/", SqlState::WRONG_OBJECT_TYPE),
        ("a//b", SqlState::INVALID_PARAMETER),
        ("a/../b", SqlState::INVALID_PARAMETER),
        ("./a", SqlState::INVALID_PARAMETER),
        ("a\nb", SqlState::INVALID_PARAMETER),
    ] {
        let at = url(&format!("s3://b/{key}"));
        let error = store.meta(&at, &cancel).expect_err(key);
        assert_eq!(error.state(), state, "{key}");
        let error = store.put(&at, Vec::new(), &Put::Replace, &cancel).expect_err(key);
        assert_eq!(error.state(), state, "{key}");
        assert!(store.upload(&at, &cancel).is_err() && error.hint().is_some());
    }
}

/// A store that answers each request as `answer` says: a status, headers and a body. `None`: never.
struct Told {
    address: SocketAddr,
    requests: Arc<AtomicUsize>,
    seen: Arc<Mutex<Vec<String>>>,
}

fn told(answer: impl Fn(usize, &str) -> Option<String> + Send + 'static) -> Told {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let requests = Arc::new(AtomicUsize::new(0));
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let (count, noted) = (requests.clone(), seen.clone());
    // The thread ends with the test's process.
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.expect("a client");
            let head = head_of(&mut stream);
            let number = count.fetch_add(1, Ordering::Relaxed);
            noted
                .lock()
                .expect("a list")
                .push(head.lines().next().unwrap_or_default().to_owned());
            match answer(number, &head) {
                Some(answer) => drop(stream.write_all(answer.as_bytes())),
                None => silent.push(stream),
            }
        }
    });
    Told {
        address,
        requests,
        seen,
    }
}

/// The head of a request. Its body is read, too, so that the client does not see a reset.
fn head_of(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.parse().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    let _ = stream.read_exact(&mut body);
    head
}

fn answer(status: &str, code: &str) -> String {
    let body = match code {
        "" => String::new(),
        code => format!(
            "<Error><Code>{code}</Code><AWSAccessKeyId>{SECRET}</AWSAccessKeyId><Token>{TOKEN}</Token></Error>"
        ),
    };
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

fn whole(body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nETag: \"v1\"\r\n\
         Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\nConnection: close\r\n\r\n{body}"
    )
}

/// Settings for such a store, with short waits.
fn settings(address: SocketAddr, more: &[(&str, &str)]) -> Settings {
    let endpoint = format!("http://{address}");
    let usual = [
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "a-key"),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_SESSION_TOKEN", TOKEN),
    ];
    let all = usual.iter().chain(more);
    let last = |name: &str| more.iter().find(|(n, _)| *n == name).map(|(_, value)| *value);
    let all = all.filter(|(name, value)| last(name).is_none_or(|last| last == *value));
    let short = Duration::from_millis(300);
    let patience = Patience {
        connect: short,
        read: short,
        write: short,
        tries: short,
        machine: short,
    };
    Settings::new(
        all.map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
        patience,
    )
}

/// The error of looking at an object; it shows no secret.
fn error_of(settings: &Settings) -> Error {
    let at = url("s3://bucket/dir/x.csv");
    let store = ObjectStore::with(settings, &at).expect("a store");
    let error = store
        .list(&url("s3://bucket/dir/"), &Cancel::new())
        .expect_err("it is refused");
    let others = [
        store.meta(&at, &Cancel::new()).map(drop),
        store.put(&at, vec![1], &Put::Replace, &Cancel::new()).map(drop),
    ];
    for error in others
        .into_iter()
        .filter_map(|other| other.err())
        .chain([error.clone()])
    {
        let shown = format!("{error:?} {error} {:?} {:?}", error.hint(), error.detail());
        assert!(!shown.contains(SECRET) && !shown.contains(TOKEN), "{shown}");
        assert!(shown.contains("s3://bucket/dir/"), "{shown}");
    }
    error
}

#[test]
fn refusals_have_names_and_ways_out() {
    for (status, code, state, words) in [
        (
            "403 Forbidden",
            "InvalidAccessKeyId",
            "42501",
            "denies access (403 InvalidAccessKeyId)",
        ),
        ("403 Forbidden", "", "42501", "denies access (403)"),
        ("401 Unauthorized", "", "42501", "denies access"),
        (
            "400 Bad Request",
            "ExpiredToken",
            "42501",
            "denies access (400 ExpiredToken)",
        ),
        (
            "400 Bad Request",
            "AuthorizationHeaderMalformed",
            "58030",
            "(400 AuthorizationHeaderMalformed)",
        ),
        ("404 Not Found", "NoSuchBucket", "58P01", "no such bucket"),
        ("503 Slow Down", "SlowDown", "53400", "refuses more requests"),
        ("429 Too Many Requests", "", "53400", "refuses more requests"),
        (
            "500 Internal Server Error",
            "InternalError",
            "58030",
            "(500 InternalError)",
        ),
        ("418 I'm a teapot", "Strange<b>", "58030", "(418)"),
    ] {
        let store = told(move |_, _| Some(answer(status, code)));
        let error = error_of(&settings(store.address, &[]));
        assert_eq!(error.state(), SqlState(state), "{status} {code}: {error:?}");
        assert!(error.message().contains(words), "{error:?}");
        assert_eq!(
            state == "42501",
            error
                .hint()
                .is_some_and(|hint| hint.contains("AWS_ACCESS_KEY_ID"))
        );
    }
}

#[test]
fn a_busy_store_is_asked_again() {
    let store = told(|number, _| match number {
        0 | 1 => Some(answer("503 Slow Down", "SlowDown")),
        _ => Some(whole("abc")),
    });
    let at = url("s3://bucket/x");
    let opened = ObjectStore::with(&settings(store.address, &[]), &at).expect("a store");
    let found = opened
        .meta(&at, &Cancel::new())
        .expect("it answers")
        .expect("it is there");
    assert_eq!((found.bytes, found.version.as_deref()), (3, Some("\"v1\"")));
    assert_eq!(store.requests.load(Ordering::Relaxed), 3);
}

#[test]
fn a_silent_store_is_given_up_with_the_time_named() {
    let store = told(|_, _| None);
    let begun = Instant::now();
    let error = error_of(&settings(store.address, &[]));
    assert_eq!(error.state(), SqlState("08001"));
    assert!(
        error.message().contains("did not answer within ") && error.hint().is_some(),
        "{error:?}"
    );
    assert!(begun.elapsed() < Duration::from_secs(20));
    let gone = TcpListener::bind("127.0.0.1:0")
        .expect("a port")
        .local_addr()
        .expect("an address");
    let error = error_of(&settings(gone, &[]));
    assert_eq!(error.state(), SqlState("08001"));
    assert!(error.message().contains("no connection"), "{error:?}");
}

#[test]
fn a_cancelled_statement_does_not_wait_for_a_store() {
    let store = told(|_, _| None);
    let at = url("s3://bucket/x");
    let mut settings = settings(store.address, &[]);
    settings.patient();
    let opened = ObjectStore::with(&settings, &at).expect("a store");
    let cancel = Cancel::new();
    let (flag, requests) = (cancel.clone(), store.requests.clone());
    let user = std::thread::spawn(move || {
        while requests.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let pressed = Instant::now();
        flag.cancel();
        pressed
    });
    let error = opened.meta(&at, &cancel).expect_err("cancelled");
    let pressed = user.join().expect("it ends");
    assert_eq!(error.state(), SqlState::QUERY_CANCELED);
    assert!(
        pressed.elapsed() < Duration::from_secs(1),
        "{:?}",
        pressed.elapsed()
    );
}

#[test]
fn without_credentials_the_machine_is_asked_and_soon_given_up() {
    let store = told(|_, _| None);
    let endpoint = format!("http://{}", store.address);
    let none = [
        ("AWS_ACCESS_KEY_ID", ""),
        ("AWS_SECRET_ACCESS_KEY", ""),
        ("AWS_SESSION_TOKEN", ""),
        ("AWS_METADATA_ENDPOINT", endpoint.as_str()),
    ];
    let error = error_of(&settings(store.address, &none));
    assert_eq!(error.state(), SqlState::INSUFFICIENT_PRIVILEGE);
    assert!(error.message().contains("no credentials"), "{error:?}");
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("AWS_SKIP_SIGNATURE=true"))
    );
    let public = told(|_, head| {
        Some(answer(
            if head.contains("uthorization") {
                "403 No"
            } else {
                "404 No"
            },
            "",
        ))
    });
    let open = [&none[..3], &[("AWS_SKIP_SIGNATURE", "true")]].concat();
    let at = url("s3://bucket/x");
    let opened = ObjectStore::with(&settings(public.address, &open), &at).expect("a store");
    assert_eq!(
        opened.meta(&at, &Cancel::new()).expect("no credentials are sent"),
        None
    );
}

#[test]
fn settings_that_describe_no_store_are_refused() {
    let at = url("s3://bucket/x");
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 9));
    for (name, value, words) in [
        ("AWS_ALLOW_HTTP", "", "AWS_ENDPOINT_URL"),
        ("AWS_SECRET_ACCESS_KEY", "", "AWS_"),
        ("AWS_CONDITIONAL_PUT", SECRET, "AWS_"),
    ] {
        let error = ObjectStore::with(&settings(nowhere, &[(name, value)]), &at).expect_err(name);
        assert_eq!(error.state(), SqlState::INVALID_PARAMETER, "{error:?}");
        assert!(
            error.message().contains(words) && error.hint().is_some(),
            "{error:?}"
        );
        assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
    }
}

#[test]
fn parts_of_an_upload_that_is_given_up_are_removed() {
    let store = told(|_, head| {
        let begun = "<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>";
        match head.split_once(' ') {
            Some(("POST", _)) => Some(whole(begun)),
            Some(("PUT", _)) => Some(whole("")),
            _ => Some(answer("204 No Content", "")),
        }
    });
    let at = url("s3://bucket/x");
    let opened = ObjectStore::with(&settings(store.address, &[]), &at).expect("a store");
    let mut upload = opened.upload(&at, &Cancel::new()).expect("begun");
    upload.write(&bytes(17 << 20)).expect("sent");
    drop(upload);
    let seen = store.seen.lock().expect("a list");
    let is_abort = |line: &String| line.starts_with("DELETE ") && line.contains("uploadId=u1");
    assert!(seen.last().is_some_and(is_abort), "{seen:?}");
}
