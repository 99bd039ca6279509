//! Claims and locks beside a reference: a list of what is held, a list of who waits, and PostgreSQL's tables of
//! conflicts.

mod bulk;
mod matrix;
mod reference;
mod schedules;
