//! Scripts that are ahead of the code: `tests/slt/pending.txt` has one line for each, with the number of its records that
//! agree. That number may rise and not fall; `FRAZIL_SLT_MEND=1 cargo test -p frazil --test slt` raises it, and takes
//! a script out of the list once all its records agree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The list: scripts by path, with the number of records that agree at least.
pub struct Pending {
    file: PathBuf,
    least: BTreeMap<PathBuf, usize>,
}

impl Pending {
    /// Reads the list of the scripts below `folder`. Without a file, no script is pending.
    pub fn read(folder: &Path) -> Pending {
        let file = folder.join("pending.txt");
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let entry = |line: &str| {
            let (name, least) = line.rsplit_once(' ').expect("a script and a number");
            (folder.join(name), least.parse().expect("a number of records"))
        };
        Pending {
            file,
            least: text.lines().map(entry).collect(),
        }
    }

    /// Whether the script is in the list.
    pub fn has(&self, script: &Path) -> bool {
        self.least.contains_key(script)
    }

    /// Tells which scripts have become better. `agree`: for each script in the list how many records agree, and how many
    /// there are. Err: scripts that have become worse.
    pub fn judge(&self, agree: &BTreeMap<PathBuf, (usize, usize)>) -> Result<(), String> {
        let mut worse = Vec::new();
        for (script, (now, all)) in agree {
            let least = self.least[script];
            let line = format!(
                "{}: {now} of {all} records agree, {least} before",
                script.display()
            );
            if *now < least {
                worse.push(line);
            } else {
                println!("{line}");
            }
        }
        match worse.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "scripts ahead of the code fell back\n{}",
                worse.join("\n")
            )),
        }
    }

    /// Writes the numbers of today. Scripts whose records all agree leave the list.
    pub fn mend(&self, agree: &BTreeMap<PathBuf, (usize, usize)>) {
        let folder = self.file.parent().expect("a file has a folder");
        let lines = agree.iter().filter(|(_, (now, all))| now < all);
        let lines: String = lines
            .map(|(script, (now, _))| {
                let name = script.strip_prefix(folder).expect("scripts lie below the folder");
                format!("{} {now}\n", name.display())
            })
            .collect();
        match lines.is_empty() {
            true => drop(std::fs::remove_file(&self.file)),
            false => std::fs::write(&self.file, lines).expect("the list can be written"),
        }
    }
}
