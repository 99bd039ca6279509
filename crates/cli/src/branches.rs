//! `\if`, `\elif`, `\else`, `\endif`: which part of a script runs.

/// A conditional that is not ended.
#[derive(Clone, Debug)]
struct Branch {
    /// True if the lines of now run.
    runs: bool,
    /// True if a condition before was true, or an enclosing branch does not run.
    is_decided: bool,
    /// True if `\else` came.
    has_else: bool,
    /// What was typed of a statement when the conditional began.
    pending: String,
}

/// Conditionals that are not ended, the innermost one last.
#[derive(Clone, Debug, Default)]
pub struct Branches(Vec<Branch>);

impl Branches {
    /// True if what is read now runs.
    pub fn is_taken(&self) -> bool {
        self.0.last().is_none_or(|branch| branch.runs)
    }

    /// True if no conditional is open.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Begins a conditional. `runs`: whether its first part does, which it cannot inside of one that does not. `pending`: what was
    /// typed of a statement before it.
    pub fn begin(&mut self, runs: bool, pending: &str) {
        let is_outside_taken = self.is_taken();
        self.0.push(Branch {
            runs: runs && is_outside_taken,
            is_decided: runs || !is_outside_taken,
            has_else: false,
            pending: pending.to_owned(),
        });
    }

    /// True if the condition of another part counts. `None` where there can be no other part: outside of conditionals and behind
    /// `\else`.
    pub fn asks(&self) -> Option<bool> {
        let branch = self.0.last().filter(|branch| !branch.has_else)?;
        Some(!branch.is_decided)
    }

    /// Begins another part, which runs if `runs`. Returns what was pending when the conditional began if the part before did not run,
    /// so that its text counts for nothing.
    pub fn turn(&mut self, runs: bool, is_else: bool) -> Option<String> {
        let branch = self.0.last_mut()?;
        let dropped = (!branch.runs).then(|| branch.pending.clone());
        branch.runs = runs && !branch.is_decided;
        branch.is_decided |= runs;
        branch.has_else = is_else;
        dropped
    }

    /// Ends a conditional; returns what [`Branches::turn`] does.
    pub fn end(&mut self) -> Option<String> {
        let branch = self.0.pop()?;
        (!branch.runs).then_some(branch.pending)
    }
}

/// A truth value as psql reads one: on and off, yes and no, true and false, 1 and 0, or the beginning of a word.
pub fn truth(text: &str) -> Option<bool> {
    let text = text.to_lowercase();
    let begins = |word: &str, least: usize| text.len() >= least && word.starts_with(&text);
    match text.as_str() {
        "1" => Some(true),
        "0" => Some(false),
        _ if begins("true", 1) || begins("yes", 1) || begins("on", 2) => Some(true),
        _ if begins("false", 1) || begins("no", 1) || begins("off", 2) => Some(false),
        _ => None,
    }
}
