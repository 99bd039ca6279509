//! Refusals of stores as errors of statements.
//!
//! Texts of the client and bodies of answers quote requests: keys, tokens and signatures may be in them. So a message
//! has only the object's URL, the status of the answer and the code of the error, which are looked for in those texts.

use crate::object_url::{ObjectUrl, StoreKind};
use crate::settings::hint;
use frazil_types::{Error, Result, SqlState};
use object_store::client::{HttpError, HttpErrorKind};
use std::error::Error as _;
use std::time::{Duration, Instant};

/// Longest code of an error that is shown; S3's longest one has 38 letters.
const CODE_LETTERS: usize = 64;
/// A store that cannot be reached.
const CANNOT_CONNECT: SqlState = SqlState("08001");

/// A request, for the errors that it may end with.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// A verb with its object's name missing: "read".
    pub doing: &'static str,
    pub url: ObjectUrl,
    pub begun: Instant,
}

/// The kind of a request's failure.
#[derive(Debug, PartialEq, Eq)]
enum Cause {
    Absent,
    Exists,
    Changed,
    /// Wrong or missing credentials.
    Denied,
    /// The credentials of the machine were asked for, and nobody answered.
    NoCredentials,
    /// Nobody answered in time.
    Silent,
    /// No connection could be made.
    Unreachable,
    /// The store wants fewer requests.
    Busy,
    Other,
}

impl Request {
    /// A request that begins now.
    pub(crate) fn new(doing: &'static str, url: &ObjectUrl) -> Request {
        Request {
            doing,
            url: url.clone(),
            begun: Instant::now(),
        }
    }

    /// The error of a request.
    pub(crate) fn failed(&self, error: &object_store::Error) -> Error {
        let answer = Answer::of(error);
        let cause = cause_of(error, &answer);
        let (state, what) = self.said(&cause, &answer);
        let message = format!("could not {} \"{}\": {what}", self.doing, self.url);
        let error = Error::new(state, message);
        match self.way_out(&cause, &answer) {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }

    /// The condition and its words.
    fn said(&self, cause: &Cause, answer: &Answer) -> (SqlState, String) {
        let answered = match (answer.status, &answer.code) {
            (Some(status), Some(code)) => format!(" ({status} {code})"),
            (Some(status), None) => format!(" ({status})"),
            (None, Some(code)) => format!(" ({code})"),
            (None, None) => String::new(),
        };
        let seconds = seconds(self.begun.elapsed());
        match cause {
            Cause::Absent if answer.code.as_deref() == Some("NoSuchBucket") => {
                (SqlState::UNDEFINED_FILE, "there is no such bucket".to_owned())
            }
            Cause::Absent => (SqlState::UNDEFINED_FILE, "there is no such object".to_owned()),
            Cause::Exists => (SqlState::DUPLICATE_FILE, "it is there already".to_owned()),
            Cause::Changed => (SqlState::IO_ERROR, "it changed while it was read".to_owned()),
            Cause::Denied => {
                let what = format!("the store denies access{answered}");
                (SqlState::INSUFFICIENT_PRIVILEGE, what)
            }
            Cause::NoCredentials => (
                SqlState::INSUFFICIENT_PRIVILEGE,
                "there are no credentials".to_owned(),
            ),
            Cause::Silent => {
                let what = format!("the store did not answer within {seconds}");
                (CANNOT_CONNECT, what)
            }
            Cause::Unreachable => {
                let what = format!("there was no connection to the store within {seconds}");
                (CANNOT_CONNECT, what)
            }
            Cause::Busy => {
                let what = format!("the store refuses more requests, after {seconds} of retries{answered}");
                (SqlState::CONFIGURATION_LIMIT_EXCEEDED, what)
            }
            Cause::Other => (
                SqlState::IO_ERROR,
                format!("the store refuses the request{answered}"),
            ),
        }
    }

    fn way_out(&self, cause: &Cause, answer: &Answer) -> Option<&'static str> {
        let is_s3 = self.url.kind() == StoreKind::S3;
        match cause {
            Cause::Denied | Cause::NoCredentials => Some(hint(self.url.kind())),
            Cause::Silent | Cause::Unreachable if is_s3 => {
                Some("check the network, AWS_ENDPOINT_URL and AWS_REGION; run the statement again")
            }
            Cause::Silent | Cause::Unreachable => Some("check the network; run the statement again"),
            Cause::Busy => Some("run the statement again later, or with fewer statements at a time"),
            Cause::Changed => Some("run the statement again"),
            // The answer to a question for a status alone has no body that says more.
            Cause::Other if is_s3 && matches!(answer.status, Some(300..=400)) => {
                Some("check AWS_REGION, AWS_ENDPOINT_URL, and that the credentials have not expired")
            }
            Cause::Absent | Cause::Exists | Cause::Other => None,
        }
    }
}

/// The part of a store's answer that is shown.
#[derive(Debug, Default)]
struct Answer {
    status: Option<u16>,
    code: Option<String>,
}

impl Answer {
    /// Looks for the status and the code in the texts of an error and its causes.
    fn of(error: &object_store::Error) -> Answer {
        let mut answer = Answer::default();
        for text in texts(error) {
            answer.status = answer.status.or_else(|| {
                let (_, behind) = text.split_once("status code: ")?;
                behind.get(..3)?.parse().ok()
            });
            answer.code = answer.code.or_else(|| {
                let (_, behind) = text.split_once("<Code>")?;
                let (code, _) = behind.split_once("</Code>")?;
                let is_code = code.len() <= CODE_LETTERS && code.chars().all(|c| c.is_ascii_alphanumeric());
                is_code.then(|| code.to_owned())
            });
        }
        answer
    }
}

/// The texts of an error and its causes.
fn texts(error: &object_store::Error) -> Vec<String> {
    let mut texts = vec![error.to_string()];
    let mut at = error.source();
    while let Some(cause) = at {
        texts.push(cause.to_string());
        at = cause.source();
    }
    texts
}

/// The error of HTTP that an error comes from.
fn transport(error: &object_store::Error) -> Option<HttpErrorKind> {
    let mut at = error.source();
    while let Some(cause) = at {
        if let Some(http) = cause.downcast_ref::<HttpError>() {
            return Some(http.kind());
        }
        at = cause.source();
    }
    None
}

fn cause_of(error: &object_store::Error, answer: &Answer) -> Cause {
    let asked_machine = || {
        let paths = [
            "/latest/api/token",
            "/latest/meta-data/",
            "/computeMetadata/",
            "/metadata/identity/",
        ];
        let text = error.to_string();
        paths.iter().any(|path| text.contains(path))
    };
    let denies = [
        "ExpiredToken",
        "InvalidToken",
        "TokenRefreshRequired",
        "InvalidAccessKeyId",
    ];
    match error {
        _ if asked_machine() => Cause::NoCredentials,
        object_store::Error::NotFound { .. } => Cause::Absent,
        object_store::Error::AlreadyExists { .. } => Cause::Exists,
        object_store::Error::Precondition { .. } | object_store::Error::NotModified { .. } => Cause::Changed,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            Cause::Denied
        }
        _ if answer.code.as_deref().is_some_and(|code| denies.contains(&code)) => Cause::Denied,
        _ => match (answer.status, transport(error)) {
            // Some requests of the client do not name the kind of a refusal.
            (Some(401 | 403), _) => Cause::Denied,
            (Some(404), _) => Cause::Absent,
            (Some(429 | 503), _) => Cause::Busy,
            (Some(_), _) if answer.code.as_deref() == Some("SlowDown") => Cause::Busy,
            (None, Some(HttpErrorKind::Timeout)) => Cause::Silent,
            (None, Some(HttpErrorKind::Connect | HttpErrorKind::Request | HttpErrorKind::Interrupted)) => {
                Cause::Unreachable
            }
            _ => Cause::Other,
        },
    }
}

/// A time as people say it.
fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Results of the client as ours.
pub(crate) trait Said<T> {
    /// The result with an error of ours.
    fn said(self, request: &Request) -> Result<T>;
}

impl<T> Said<T> for object_store::Result<T> {
    fn said(self, request: &Request) -> Result<T> {
        self.map_err(|error| request.failed(&error))
    }
}
