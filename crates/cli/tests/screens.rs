//! Results of 3, 19 and 200 columns on screens of 80, 120 and 200 columns, against `screens/`. `FRAZIL_WRITE_SCREENS=1` writes them anew:
//! look at each before it is committed.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use unicode_width::UnicodeWidthStr;

/// A result with so many columns: numbers, short and long texts by turns.
fn query(columns: usize) -> String {
    let column = |i: usize| match i % 4 {
        0 => format!("x * {} as number_{i}", i * 1_000 + 1),
        1 => format!("'v' || x as c{i}"),
        2 => format!("repeat('long text {i} ', x * 2) as text_{i}"),
        _ => format!("case when x = 2 then null else date '2026-11-27' + x end as day_{i}"),
    };
    let columns: Vec<String> = (0..columns).map(column).collect();
    format!(
        "select {} from generate_series(1, 3) g(x) order by x",
        columns.join(", ")
    )
}

fn screen(width: usize, columns: usize, options: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_frazil"))
        .args(["-X", "--cmd", &format!(".maxwidth {width}"), "--cmd", ".types on"])
        .args(options)
        .args(["-c", &query(columns)])
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("it is text")
}

#[test]
fn results_fit_the_screen() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/screens");
    for (mode, options) in [("box", &[][..]), ("aligned", &["--mode", "aligned"])] {
        for width in [80, 120, 200] {
            for columns in [3, 19, 200] {
                let shown = screen(width, columns, options);
                for line in shown.lines() {
                    assert!(line.width() <= width, "{width} {columns}: {line}");
                }
                let path = folder.join(format!("{mode}_{width}_{columns}.txt"));
                if std::env::var_os("FRAZIL_WRITE_SCREENS").is_some() {
                    std::fs::create_dir_all(&folder).expect("it is made");
                    std::fs::write(&path, &shown).expect("it is written");
                }
                let golden = std::fs::read_to_string(&path).unwrap_or_default();
                assert_eq!(shown, golden, "{}", path.display());
            }
        }
    }
}
