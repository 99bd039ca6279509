//! Tests of Data Blocks from outside: conformance, hostile bytes, golden files.

mod built;
mod choice;
mod conformance;
mod extremes;
mod golden;
mod mutation;
mod skipping;
mod support;
