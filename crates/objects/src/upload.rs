//! An object that is written in parts.

use crate::failure::{Request, Said};
use crate::settings::Client;
use crate::waiting::{panicked, runtime, wait, wait_briefly};
use crate::{ObjectStore, ObjectUrl, Put};
use bytes::Bytes;
use frazil_types::{Cancel, Result};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStoreExt, PutPayload};
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

/// Bytes of a part. Stores refuse parts below 5 MiB; larger ones cost memory, smaller ones requests.
const PART_BYTES: usize = 8 << 20;
/// Number of parts that have one size. Stores take 10,000 parts: sizes that double after 2,000 parts reach 496 GiB.
/// Some stores want parts of one size: objects up to 16 GiB have it.
const PARTS_OF_A_SIZE: usize = 2000;
/// Parts on their way at a time: one connection of S3 takes some 100 MB/s, a network card ten times as much.
const MOST_ON_THE_WAY: usize = 4;

/// Parts that the store has, shared by the tasks that end them. `None` once it is over.
type Parts = Arc<Mutex<Option<Box<dyn MultipartUpload>>>>;

/// An object that is being written. Nobody sees it before [`Upload::finish`]. Its parts are removed if it is dropped
/// before.
///
/// An object of a single part is written by a single request. A killed process leaves parts, which a rule of the bucket
/// removes (S3: `AbortIncompleteMultipartUpload`).
#[derive(Debug)]
pub struct Upload {
    store: Arc<ObjectStore>,
    url: ObjectUrl,
    path: Path,
    cancel: Cancel,
    /// The next part.
    part: Vec<u8>,
    /// Number of parts that were sent.
    sent: usize,
    /// Parts that are being sent.
    on_the_way: JoinSet<object_store::Result<()>>,
    /// `None` until the first part is full.
    parts: Option<Parts>,
    is_finished: bool,
}

impl Upload {
    /// Begins; nothing is sent yet.
    pub(crate) fn new(store: Arc<ObjectStore>, url: ObjectUrl, path: Path, cancel: Cancel) -> Upload {
        Upload {
            store,
            url,
            path,
            cancel,
            part: Vec::new(),
            sent: 0,
            on_the_way: JoinSet::new(),
            parts: None,
            is_finished: false,
        }
    }

    /// Adds bytes. Full parts are sent meanwhile, a few at a time; memory is bounded by them.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let room = self.part_bytes() - self.part.len();
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.part.extend_from_slice(now);
            bytes = later;
            if self.part.len() == self.part_bytes() {
                self.send()?;
            }
        }
        Ok(())
    }

    /// Makes the object visible, in the place of one that was there.
    pub fn finish(mut self) -> Result<()> {
        if self.parts.is_none() {
            self.is_finished = true;
            let whole = std::mem::take(&mut self.part);
            return self
                .store
                .put(&self.url, whole, &Put::Replace, &self.cancel)
                .map(drop);
        }
        if !self.part.is_empty() {
            self.send()?;
        }
        self.let_arrive(0)?;
        let request = Request::new("write", &self.url);
        let parts = self.begun()?;
        let completed = async move {
            match parts.lock().await.as_mut() {
                Some(parts) => parts.complete().await.map(|_| ()),
                None => Ok(()),
            }
        };
        wait(completed, &self.cancel)?.said(&request)?;
        self.is_finished = true;
        Ok(())
    }

    /// Size of the part that is being filled.
    fn part_bytes(&self) -> usize {
        PART_BYTES << (self.sent / PARTS_OF_A_SIZE)
    }

    /// Sends the part.
    fn send(&mut self) -> Result<()> {
        self.let_arrive(MOST_ON_THE_WAY - 1)?;
        let parts = self.begun()?;
        let next = Vec::with_capacity(self.part_bytes());
        let part = PutPayload::from(Bytes::from(std::mem::replace(&mut self.part, next)));
        self.sent += 1;
        // Numbered in the order of the calls, so one call after the other.
        let sending = wait(
            async move { parts.lock().await.as_mut().map(|parts| parts.put_part(part)) },
            &self.cancel,
        )?;
        if let Some(sending) = sending {
            self.on_the_way.spawn_on(sending, &runtime()?);
        }
        Ok(())
    }

    /// The parts that the store has; the upload begins if there are none.
    fn begun(&mut self) -> Result<Parts> {
        if let Some(parts) = &self.parts {
            return Ok(parts.clone());
        }
        let request = Request::new("write", &self.url);
        let (client, path): (Client, Path) = (self.store.writes().clone(), self.path.clone());
        let begun = wait(async move { client.put_multipart(&path).await }, &self.cancel)?;
        let parts = Arc::new(Mutex::new(Some(begun.said(&request)?)));
        self.parts = Some(parts.clone());
        Ok(parts)
    }

    /// Waits until no more than `most` parts are on their way.
    fn let_arrive(&mut self, most: usize) -> Result<()> {
        let request = Request::new("write", &self.url);
        while self.on_the_way.len() > most {
            let mut set = std::mem::take(&mut self.on_the_way);
            let (arrived, set) = wait(
                async move {
                    let arrived = set.join_next().await;
                    (arrived, set)
                },
                &self.cancel,
            )?;
            self.on_the_way = set;
            match arrived {
                Some(Ok(arrived)) => arrived.said(&request)?,
                Some(Err(_)) => return Err(panicked()),
                None => {}
            }
        }
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let Some(parts) = self.parts.take() else {
            return;
        };
        if self.is_finished {
            return;
        }
        self.on_the_way.abort_all();
        let mut on_the_way = std::mem::take(&mut self.on_the_way);
        let aborted = async move {
            // A part that arrives after its upload was given up would stay.
            while on_the_way.join_next().await.is_some() {}
            if let Some(mut parts) = parts.lock().await.take() {
                let _ = parts.abort().await;
            }
        };
        // A store that does not answer keeps the parts until a rule of the bucket removes them.
        wait_briefly(aborted);
    }
}
