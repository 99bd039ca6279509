//! Numbers of what stands against a rule, a crate each. They are listed in `ratchets.txt` and may only shrink:
//! `cargo xtask tidy --lower` writes what the tree has now wherever that is less.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What opens the file.
const HEAD: &str = "\
# What stands against a rule of `cargo xtask tidy`: the rule, the crate, the number of cases.
# Numbers only shrink: `cargo xtask tidy --lower` writes those that have become less.
";

/// Rules that nearly every change touches, and how far a number may fall before it has to be lowered: so that not
/// every branch changes the list.
const LOOSE: [(&str, usize); 2] = [("long_lines", 10), ("phrases", 10)];

/// Most cases that a violation lists.
const SHOWN: usize = 12;

/// A rule and a crate.
type Key = (String, String);

/// The numbers that are listed, and those that were counted.
pub struct Ratchets {
    listed: BTreeMap<Key, usize>,
    counted: BTreeMap<Key, (usize, Vec<String>)>,
}

fn file(root: &Path) -> PathBuf {
    root.join("crates/xtask/ratchets.txt")
}

impl Ratchets {
    /// Reads the list.
    pub fn read(root: &Path) -> io::Result<Ratchets> {
        Ok(Ratchets::new(&fs::read_to_string(file(root))?))
    }

    /// The list that a text has; lines that are no numbers of a rule count as 0.
    pub fn new(text: &str) -> Ratchets {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let listed = lines.filter_map(|line| {
            let mut words = line.split_whitespace().map(str::to_owned);
            let key = (words.next()?, words.next()?);
            Some((key, words.next()?.parse().ok()?))
        });
        Ratchets {
            listed: listed.collect(),
            counted: BTreeMap::new(),
        }
    }

    /// Notes how often a crate breaks a rule; `cases` are shown if that is more than listed.
    pub fn count(&mut self, rule: &str, member: &str, count: usize, cases: Vec<String>) {
        self.counted
            .insert((rule.to_owned(), member.to_owned()), (count, cases));
    }

    /// Notes each case of a crate.
    pub fn cases(&mut self, rule: &str, member: &str, cases: Vec<String>) {
        self.count(rule, member, cases.len(), cases);
    }

    /// One line for each number that is not the one listed.
    pub fn violations(&self) -> Vec<String> {
        let mut found = Vec::new();
        for ((rule, member), (count, cases)) in &self.counted {
            let listed = self.listed_of(rule, member);
            if *count > listed {
                found.push(format!("{rule} of crate {member}: {count}, {listed} are listed:"));
                found.extend(cases.iter().take(SHOWN).map(|case| format!("  {case}")));
                if cases.len() > SHOWN {
                    found.push("  … cargo xtask tidy --show lists all".to_owned());
                }
            }
            let slack = LOOSE
                .iter()
                .find(|(name, _)| name == rule)
                .map_or(0, |loose| loose.1);
            if count + slack < listed {
                found.push(format!(
                    "{rule} of crate {member}: {count}, fewer than the {listed} listed: run cargo xtask tidy --lower"
                ));
            }
        }
        for (rule, member) in self.listed.keys().filter(|key| !self.counted.contains_key(*key)) {
            found.push(format!("ratchets.txt: nothing counts {rule} of {member}"));
        }
        found
    }

    /// All cases, below the number of each rule and crate that has some.
    pub fn shown(&self) -> String {
        let mut text = String::new();
        for ((rule, member), (count, cases)) in self.counted.iter().filter(|(_, (count, _))| *count > 0) {
            text += &format!("{rule} {member} {count}\n");
            text.extend(cases.iter().map(|case| format!("  {case}\n")));
        }
        text
    }

    /// Writes the list anew, with what was counted wherever that is less.
    pub fn lower(&self, root: &Path) -> io::Result<()> {
        fs::write(file(root), self.lowered())
    }

    fn lowered(&self) -> String {
        let mut text = HEAD.to_owned();
        for ((rule, member), (count, _)) in &self.counted {
            let number = self.listed_of(rule, member).min(*count);
            if number > 0 {
                text += &format!("{rule} {member} {number}\n");
            }
        }
        text
    }

    fn listed_of(&self, rule: &str, member: &str) -> usize {
        let key = (rule.to_owned(), member.to_owned());
        self.listed.get(&key).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(count: usize) -> Ratchets {
        let mut ratchets = Ratchets::new("# circles a 9\ncircles a 7\n");
        ratchets.count("circles", "a", count, vec!["a case".to_owned()]);
        ratchets
    }

    #[test]
    fn a_number_is_kept_and_neither_rises_nor_falls_unnoticed() {
        assert!(counted(7).violations().is_empty());
        let risen = counted(8).violations().join("\n");
        assert!(
            risen.contains("8, 7 are listed") && risen.contains("a case"),
            "{risen}"
        );
        let fallen = counted(6).violations().join("\n");
        assert!(fallen.contains("--lower"), "{fallen}");
        let gone = Ratchets::new("circles a 7").violations().join("\n");
        assert!(gone.contains("nothing counts"), "{gone}");
    }

    #[test]
    fn rules_that_every_change_touches_have_some_slack() {
        let mut ratchets = Ratchets::new("phrases a 20");
        ratchets.count("phrases", "a", 10, Vec::new());
        assert!(ratchets.violations().is_empty());
        ratchets.count("phrases", "a", 9, Vec::new());
        assert_eq!(ratchets.violations().len(), 1);
    }

    #[test]
    fn what_is_not_listed_is_none() {
        let mut ratchets = Ratchets::new("");
        ratchets.cases("circles", "a", Vec::new());
        assert!(ratchets.violations().is_empty());
        ratchets.cases("circles", "a", vec!["one".to_owned()]);
        assert_eq!(ratchets.violations().len(), 2);
    }

    #[test]
    fn lowering_never_raises() {
        assert!(counted(8).lowered().ends_with("\ncircles a 7\n"));
        assert!(counted(6).lowered().ends_with("\ncircles a 6\n"));
        assert_eq!(counted(0).lowered(), HEAD);
    }
}
