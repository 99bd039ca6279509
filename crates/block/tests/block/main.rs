//! Tests of Data Blocks from outside: conformance, hostile bytes, golden files.

mod choice;
mod conformance;
mod golden;
mod mutation;
mod skipping;
mod support;
