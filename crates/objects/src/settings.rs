//! The environment of the process as settings of a store, and the clients that are made of it.

use crate::object_url::{ObjectUrl, StoreKind};
use frazil_types::{Error, Result, SqlState};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::{BackoffConfig, ClientConfigKey, RetryConfig};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// A store as the Arrow project's crate has it.
pub(crate) type Client = Arc<dyn object_store::ObjectStore>;

/// Limits of waiting. A request gives up after about 30 s: a user who waits longer for nothing thinks that the
/// program hangs, and stores that throttle recover within seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For the next bytes of an answer. It leaves time for a second try.
    pub read: Duration,
    /// For the answer to a part that is sent: 8 MiB in 30 s need 2.2 Mbit/s.
    pub write: Duration,
    /// No further try begins after this time.
    pub tries: Duration,
    /// For credentials of the machine, from an address that only machines of a cloud can reach.
    pub machine: Duration,
}

impl Patience {
    /// The limits of every process.
    pub(crate) const USUAL: Patience = Patience {
        connect: Duration::from_secs(5),
        read: Duration::from_secs(12),
        write: Duration::from_secs(30),
        tries: Duration::from_secs(20),
        machine: Duration::from_secs(2),
    };

    /// Repeats a request while the store is busy or the connection breaks, with growing pauses.
    fn retries(self) -> RetryConfig {
        RetryConfig {
            backoff: BackoffConfig {
                init_backoff: Duration::from_millis(100),
                max_backoff: Duration::from_secs(5),
                base: 2.0,
            },
            max_retries: 10,
            retry_timeout: self.tries,
        }
    }
}

/// The environment variables that configure a kind of store.
#[derive(Clone)]
pub(crate) struct Settings {
    variables: Vec<(String, String)>,
    patience: Patience,
}

/// The clients of a bucket: they differ in how long they wait.
#[derive(Debug)]
pub(crate) struct Clients {
    /// For requests with small bodies.
    pub reads: Client,
    /// For requests that send parts of objects.
    pub writes: Client,
}

impl Settings {
    /// Reads the variables of a kind of store.
    pub(crate) fn of_environment(kind: StoreKind) -> Settings {
        let is_ours = |name: &str| match kind {
            StoreKind::S3 => name.starts_with("AWS_"),
            StoreKind::Google => name.starts_with("GOOGLE_") || name == "SERVICE_ACCOUNT",
            StoreKind::Azure => name.starts_with("AZURE_") || name == "IDENTITY_ENDPOINT",
        };
        let text = std::env::vars_os().filter_map(|(name, value)| {
            let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
            is_ours(&name).then_some((name, value))
        });
        Settings::new(text.collect(), Patience::USUAL)
    }

    /// Settings by their names in the environment. An empty one counts as absent.
    pub(crate) fn new(mut variables: Vec<(String, String)>, patience: Patience) -> Settings {
        variables.retain(|(_, value)| !value.is_empty());
        variables.sort_unstable();
        Settings { variables, patience }
    }

    /// Waits as every process does.
    #[cfg(test)]
    pub(crate) fn patient(&mut self) {
        self.patience = Patience::USUAL;
    }

    /// Differs between settings, as far as a hash can tell.
    pub(crate) fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.variables.hash(&mut hasher);
        hasher.finish()
    }

    fn has(&self, names: &[&str]) -> bool {
        self.variables
            .iter()
            .any(|(name, _)| names.contains(&name.as_str()))
    }

    /// True if a variable says yes, in any of the words that the clients understand.
    fn says(&self, name: &str) -> bool {
        let is_yes = |value: &str| ["1", "true", "on", "yes", "y"].contains(&value.to_lowercase().as_str());
        self.variables.iter().any(|(n, value)| n == name && is_yes(value))
    }

    /// The variables as keys of a client's configuration. Unknown ones are other programs'.
    fn keys<K: std::str::FromStr>(&self) -> impl Iterator<Item = (K, &str)> {
        self.variables.iter().filter_map(|(name, value)| {
            let key = name.to_ascii_lowercase().parse().ok()?;
            Some((key, value.as_str()))
        })
    }

    /// Makes the clients of a bucket. 22023 for variables that the client refuses, 58030 without TLS.
    pub(crate) fn clients(&self, url: &ObjectUrl) -> Result<Clients> {
        // Another part of the process may have chosen its provider already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        if url.kind() == StoreKind::S3 {
            self.check_endpoint()?;
        }
        let client = |wait: Duration| match url.kind() {
            StoreKind::S3 => self.s3(url, wait),
            StoreKind::Google => self.google(url, wait),
            StoreKind::Azure => self.azure(url, wait),
        };
        let made = client(self.patience.read).and_then(|reads| {
            let writes = client(self.patience.write)?;
            Ok(Clients { reads, writes })
        });
        made.map_err(|error| refused(url, &error))
    }

    /// An endpoint without TLS must be allowed. 22023.
    fn check_endpoint(&self) -> Result<()> {
        let endpoints = ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"];
        let is_plain = |(name, value): &(String, String)| {
            endpoints.contains(&name.as_str()) && value.to_lowercase().starts_with("http://")
        };
        match self.variables.iter().find(|variable| is_plain(variable)) {
            Some((name, _)) if !self.says("AWS_ALLOW_HTTP") => {
                let message = format!("{name} is an address without TLS (http://)");
                Err(Error::new(SqlState::INVALID_PARAMETER, message)
                    .with_hint("set AWS_ALLOW_HTTP=true to allow it, or use https://"))
            }
            _ => Ok(()),
        }
    }

    /// The waits of a client. Variables of a user come after them.
    fn waits(&self, wait: Duration) -> [(ClientConfigKey, String); 3] {
        let text = |duration: Duration| format!("{}ms", duration.as_millis());
        [
            (ClientConfigKey::ConnectTimeout, text(self.patience.connect)),
            (ClientConfigKey::ReadTimeout, text(wait)),
            // The whole of a large answer may take as long as bytes come.
            (ClientConfigKey::Timeout, "1day".to_owned()),
        ]
    }

    fn s3_builder(&self, url: &ObjectUrl, wait: Duration) -> AmazonS3Builder {
        let mut builder = AmazonS3Builder::new().with_retry(self.patience.retries());
        for (key, value) in self.waits(wait) {
            builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
        }
        for (key, value) in self.keys::<AmazonS3ConfigKey>() {
            builder = builder.with_config(key, value);
        }
        builder.with_bucket_name(url.bucket())
    }

    fn s3(&self, url: &ObjectUrl, wait: Duration) -> object_store::Result<Client> {
        let mut builder = self.s3_builder(url, wait);
        if !self.has_s3_credentials() {
            builder = builder.with_credentials(self.machine(url)?.credentials().clone());
        }
        Ok(Arc::new(builder.build()?))
    }

    /// True if variables give credentials, or say that there are none.
    fn has_s3_credentials(&self) -> bool {
        self.says("AWS_SKIP_SIGNATURE")
            || self.has(&[
                "AWS_ACCESS_KEY_ID",
                "AWS_SECRET_ACCESS_KEY",
                "AWS_WEB_IDENTITY_TOKEN_FILE",
                "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            ])
    }

    /// A client whose credentials are those of the machine. Outside a cloud nobody answers: it gives up soon.
    fn machine(&self, url: &ObjectUrl) -> object_store::Result<AmazonS3> {
        let retries = RetryConfig {
            max_retries: 1,
            retry_timeout: self.patience.machine,
            ..self.patience.retries()
        };
        self.s3_builder(url, self.patience.machine)
            .with_retry(retries)
            .build()
    }

    fn google(&self, url: &ObjectUrl, wait: Duration) -> object_store::Result<Client> {
        let mut builder = GoogleCloudStorageBuilder::new().with_retry(self.patience.retries());
        for (key, value) in self.waits(wait) {
            builder = builder.with_config(GoogleConfigKey::Client(key), value);
        }
        for (key, value) in self.keys::<GoogleConfigKey>() {
            builder = builder.with_config(key, value);
        }
        Ok(Arc::new(builder.with_bucket_name(url.bucket()).build()?))
    }

    fn azure(&self, url: &ObjectUrl, wait: Duration) -> object_store::Result<Client> {
        let mut builder = MicrosoftAzureBuilder::new().with_retry(self.patience.retries());
        for (key, value) in self.waits(wait) {
            builder = builder.with_config(AzureConfigKey::Client(key), value);
        }
        for (key, value) in self.keys::<AzureConfigKey>() {
            builder = builder.with_config(key, value);
        }
        Ok(Arc::new(builder.with_url(url.root()).build()?))
    }
}

/// The error for settings of which no client can be made. Messages of the client may quote a setting: they are not
/// shown.
fn refused(url: &ObjectUrl, error: &object_store::Error) -> Error {
    let is_tls = matches!(
        error,
        object_store::Error::Generic {
            store: "HTTP client",
            ..
        }
    );
    if is_tls {
        let message = format!(
            "could not open \"{}\": there are no trusted certificates of this system",
            url.root()
        );
        return Error::new(SqlState::IO_ERROR, message)
            .with_hint("install the system's certificates (package ca-certificates), or set SSL_CERT_FILE");
    }
    let names = match url.kind() {
        StoreKind::S3 => "AWS_",
        StoreKind::Google => "GOOGLE_",
        StoreKind::Azure => "AZURE_",
    };
    let message = format!(
        "could not open \"{}\": the environment variables {names}… do not describe a store",
        url.root()
    );
    Error::new(SqlState::INVALID_PARAMETER, message).with_hint(hint(url.kind()))
}

/// Tells which variables give credentials.
pub(crate) fn hint(kind: StoreKind) -> &'static str {
    match kind {
        StoreKind::S3 => {
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN, AWS_REGION), or \
             AWS_SKIP_SIGNATURE=true for a public bucket, in the environment of the program"
        }
        StoreKind::Google => {
            "set GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_SERVICE_ACCOUNT to the path of a key, or \
             GOOGLE_SKIP_SIGNATURE=true for a public bucket, in the environment of the program"
        }
        StoreKind::Azure => {
            "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY (or AZURE_STORAGE_SAS_TOKEN), or \
             AZURE_SKIP_SIGNATURE=true for a public container, in the environment of the program"
        }
    }
}
