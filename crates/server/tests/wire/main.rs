//! The server, message by message: what a client sends, and what it is answered.

mod activity;
mod bad_input;
mod certificates;
mod client;
mod clients;
mod copy_binary;
mod cursors;
mod error_fields;
mod extended;
mod hostile;
mod latin1;
mod login;
mod mutations;
mod notices;
mod notifications;
mod order;
mod origins;
mod recordings;
mod roles;
mod simple;
mod tls;
mod watching;
