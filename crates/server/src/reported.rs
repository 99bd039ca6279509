//! The settings that a client is told of, at first and whenever one changes.

use crate::answers::Answers;
use frazil::{Connection, ReportedState};

/// The reported settings as a client knows them.
pub struct Reported {
    /// The settings, with the values that the client knows.
    told: Vec<(&'static str, Option<String>)>,
    /// The state from which the values derive; `None` before the client is told any.
    state: Option<ReportedState>,
}

impl Reported {
    /// A client that knows none.
    pub fn new() -> Reported {
        Reported {
            told: frazil::reported_settings().map(|name| (name, None)).collect(),
            state: None,
        }
    }

    /// Tells settings that are new to the client.
    pub fn tell(&mut self, connection: &Connection, answers: &mut Answers) {
        let state = connection.reported_state();
        if self.state.as_ref() == Some(&state) {
            return;
        }
        for (name, told) in &mut self.told {
            if let Ok(value) = connection.setting(name)
                && told.as_ref() != Some(&value)
            {
                answers.parameter(name, &value);
                *told = Some(value);
            }
        }
        self.state = Some(state);
    }
}
