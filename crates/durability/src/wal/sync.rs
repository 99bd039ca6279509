//! The locks that commits meet at. The tests of schedules bring others in their place.

pub use std::sync::{Condvar, Mutex};
