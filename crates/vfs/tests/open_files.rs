//! More copies of files elsewhere than a shell's limit of open files.

use frazil_types::Cancel;
use frazil_vfs::{FillSource, FilledFile};
use std::io;
use std::process::Command;

const LIMITED: &str = "FRAZIL_TEST_WITH_FEW_FILES";
/// The limit of the process that opens the copies. The test program itself has some files open.
const LIMIT: usize = 64;

#[derive(Debug)]
struct Sevens;

impl FillSource for Sevens {
    fn read_at(&self, _offset: u64, into: &mut [u8], _cancel: &Cancel) -> io::Result<()> {
        into.fill(7);
        Ok(())
    }
}

#[test]
fn copies_raise_the_limit_of_open_files_before_it_is_met() {
    if std::env::var_os(LIMITED).is_none() {
        let test = std::env::current_exe().expect("its path is known");
        let script = format!("ulimit -Sn {LIMIT} && exec \"$0\" --exact \"$1\"");
        let name = "copies_raise_the_limit_of_open_files_before_it_is_met";
        let status = Command::new("sh")
            .arg("-c")
            .arg(script)
            .arg(test)
            .arg(name)
            .env(LIMITED, "1")
            .status();
        assert!(status.expect("a shell").success());
        return;
    }
    let folder = std::env::temp_dir().join(format!("frazil-open-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("it can be made");
    let open = |i: usize| FilledFile::open(&folder.join(i.to_string()), 100, Box::new(Sevens));
    let mut copies = Vec::new();
    for i in 0..LIMIT * 5 {
        copies.push(open(i).unwrap_or_else(|e| panic!("copy {i}: {e}")));
        // Other files can be opened all the while.
        std::fs::File::open(&folder).unwrap_or_else(|e| panic!("beside copy {i}: {e}"));
    }
    for copy in &copies {
        copy.fetch(0..100, &Cancel::new()).expect("it is fetched");
        assert_eq!(copy.bytes(), [7; 100]);
    }
    std::fs::remove_dir_all(&folder).expect("it is removed");
}
