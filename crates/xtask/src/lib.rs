//! What `cargo xtask` and its test share.
#![forbid(unsafe_code)]

mod circles;
mod citations;
pub mod clients;
mod dead_items;
mod documents;
mod functions;
pub mod house;
mod modules;
pub mod mutants;
mod phrases;
mod ratchets;
pub mod tidy;
pub mod wheels;
pub mod wildcards;

use std::env;
use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Where cargo builds.
pub fn target_dir(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}
