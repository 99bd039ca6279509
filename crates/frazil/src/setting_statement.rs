//! Runs SET, RESET, SHOW and DISCARD.

use crate::rows::{Response, done, named_texts, noted, text_rows};
use crate::session::Session;
use crate::settings;
use frazil_frontend::{Discard, SettingStatement};
use frazil_types::Result;
use std::time::Instant;

/// The columns of SHOW ALL.
pub const ALL_COLUMNS: [&str; 3] = ["name", "setting", "description"];

/// SET, RESET, SHOW or DISCARD.
pub fn run(session: &mut Session, statement: SettingStatement, started: Instant) -> Result<Response> {
    match statement {
        SettingStatement::Set {
            name,
            values,
            is_local,
        } => {
            let notice = session.set(&name, values.as_deref(), is_local)?;
            Ok(noted("SET", notice, started))
        }
        SettingStatement::Reset { name } => {
            (session.set(&name, None, false)).map(|notice| noted("RESET", notice, started))
        }
        SettingStatement::ResetAll => {
            session.reset_all();
            Ok(done("RESET", started))
        }
        SettingStatement::Show { name } => {
            let value = session.show(&name)?;
            let name = settings::find(&name).map_or(&*name, |setting| setting.name);
            Ok(text_rows(name, vec![value], started).of_command("SHOW"))
        }
        SettingStatement::ShowAll => {
            let all = named_texts(ALL_COLUMNS, session.show_all(), started);
            Ok(all.of_command("SHOW"))
        }
        SettingStatement::Discard(what) => discard(session, what).map(|tag| done(tag, started)),
    }
}

/// DISCARD: its tag. 25001 for DISCARD ALL inside a transaction. There are no plans of one session alone.
fn discard(session: &mut Session, what: Discard) -> Result<&'static str> {
    match what {
        Discard::All => {
            session.refuse_transaction("DISCARD ALL")?;
            session.discard_all()?;
            Ok("DISCARD ALL")
        }
        Discard::Plans => Ok("DISCARD PLANS"),
        Discard::Sequences => {
            session.forget_sequences();
            Ok("DISCARD SEQUENCES")
        }
        Discard::Temporary => {
            session.drop_temporary()?;
            Ok("DISCARD TEMP")
        }
    }
}
