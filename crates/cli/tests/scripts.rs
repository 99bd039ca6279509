//! What scripts do beside running statements: conditions, statements made by statements, values for parameters; and the forms of
//! results that programs read.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("frazil-scripts-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("it is made");
        Directory(path)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_frazil"))
            .arg("-X")
            .args(arguments)
            .current_dir(&self.0)
            .stdin(Stdio::null())
            .output()
            .expect("the program starts")
    }

    fn out(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {told}");
        String::from_utf8(output.stdout).expect("it is text")
    }

    fn script(&self, text: &str) -> String {
        std::fs::write(self.0.join("s.sql"), text).expect("it is written");
        self.out(&["-t", "-A", "-q", "-f", "s.sql"])
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn only_the_part_that_is_true_runs() {
    let directory = Directory::new("if");
    for (n, expected) in [("1", "one\nend\n"), ("2", "two\nend\n"), ("3", "other\nend\n")] {
        let script = format!(
            "select {n} = 1 as one, {n} = 2 as two \\gset\n\\if :one\nselect 'one';\n\\elif :two\nselect 'two';\n\
             \\else\nselect 'other';\n\\endif\nselect 'end';\n"
        );
        assert_eq!(directory.script(&script), expected);
    }
    let nested = "\\if no\n\\if yes\nselect 1;\n\\unknown command\n\\else\nselect 2;\n\\endif\n\\else\n\
                  \\if :{?nothing}\nselect 3;\n\\elif t\nselect 4;\n\\endif\n\\endif\n";
    assert_eq!(directory.script(nested), "4\n");
    // What was typed of a statement goes on behind the condition.
    let within = "select 1\n\\if off\n + 10\n\\else\n + 100\n\\endif\n;\n";
    assert_eq!(directory.script(within), "101\n");
    for (wrong, told) in [
        ("\\endif\n", "\\endif"),
        ("\\else\n", "\\else"),
        ("\\if yes\n\\else\n\\elif yes\n\\endif\n", "\\elif"),
        ("\\if perhaps\nselect 1;\n\\endif\n", "perhaps"),
        ("\\if yes\nselect 1;\n", "\\endif is missing"),
    ] {
        std::fs::write(directory.0.join("w.sql"), wrong).expect("it is written");
        let output = directory.run(&["-f", "w.sql"]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(told), "{wrong}: {text}");
    }
}

#[test]
fn values_are_statements_and_parameters() {
    let directory = Directory::new("gexec");
    let script = "select format('create table t%s (a integer)', g), format('insert into t%s values (%s)', g, g * 10) \
                  from generate_series(1, 3) g \\gexec\nselect t1.a + t2.a + t3.a from t1, t2, t3;\n\
                  \\bind 20 x\nselect a, $2 || '!' from t2 where a = $1::integer;\n\
                  \\bind 30\nselect a from t3 where a = $1::integer \\g\n";
    assert_eq!(directory.script(script), "60\n20|x!\n30\n");
    let described = directory.script(
        "create table t (a integer not null, b decimal(8,2));\nselect a + 1 as more, b, now() as at from t \\gdesc\n",
    );
    assert_eq!(described, "more|integer\nb|decimal(8,2)\nat|timestamptz\n");
}

#[test]
fn arrays_and_documents_are_json() {
    let directory = Directory::new("json");
    let sql = "select array[1, null, 3] as a, array[array['x', '1'], array['y', null]] as t, '{\"k\": [1, \"2\"]}'::json as j, \
               '{\"b\": {\"c\": null}}'::jsonb as b, null::jsonb as n, 'text \"q\"' as s, true as y, 1.50 as d, 'NaN'::float8 as f";
    let expected = "[{\"a\":[1,null,3],\"t\":[[\"x\",\"1\"],[\"y\",null]],\"j\":{\"k\": [1, \"2\"]},\
                    \"b\":{\"b\": {\"c\": null}},\"n\":null,\"s\":\"text \\\"q\\\"\",\"y\":true,\"d\":1.50,\"f\":\"NaN\"}]\n";
    assert_eq!(directory.out(&["-json", "-c", sql]), expected);
    assert_eq!(
        directory.out(&[
            "-jsonlines",
            "-c",
            "select array[]::integer[] as e, array['{', '\"'] as q"
        ]),
        "{\"e\":[],\"q\":[\"{\",\"\\\"\"]}\n"
    );
}

#[test]
fn files_are_tables() {
    let directory = Directory::new("files");
    let write = |name: &str, text: &str| {
        let path = directory.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
        std::fs::write(path, text).expect("it is written");
    };
    write("a.csv", "x\n1\n2\n");
    write("b.json", "{\"x\":2,\"y\":[1]}\n");
    write("more/a.csv", "x\n7\n");
    let join = "select a.x, a_2.x as other from a join b using (x), a_2";
    assert_eq!(
        directory.out(&["-csv", "a.csv", "b.json", "more/a.csv", "-c", join]),
        "x,other\n2,7\n"
    );
    for wrong in [
        &["a.csv", "missing.csv"][..],
        &["a.csv", "database"],
        &["verfy", "a.csv"],
    ] {
        let output = directory.run(&[wrong, &["-c", "select 1"]].concat());
        assert_eq!(output.status.code(), Some(3), "{wrong:?}");
    }
    let left: Vec<_> = std::fs::read_dir(&directory.0).expect("it is listed").collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn a_name_that_is_a_slip_leaves_no_directory() {
    let directory = Directory::new("slip");
    let is_there = |name: &str| directory.0.join(name).exists();
    directory.out(&["slip", "-c", "select 1; checkpoint"]);
    assert!(!is_there("slip"));
    let failed = directory.run(&["slip", "-c", "select * from orders"]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(!is_there("slip"));
    for (name, made) in [
        ("table", "create table t (a integer)"),
        ("view", "create view v as select 1 as a"),
        ("type", "create type e as enum ('a')"),
        ("domain", "create domain d as integer"),
        ("schema", "create schema other"),
        ("sequence", "create sequence s; select nextval('s')"),
        // Nothing is left in it, but somebody made something.
        ("dropped", "create sequence s; drop sequence s"),
    ] {
        directory.out(&[name, "-c", made]);
        assert!(is_there(name), "{name}");
        directory.out(&[name, "-c", "select 1"]);
        assert!(is_there(name), "{name}");
    }
    // What was there before stays, and so does what others put beside it.
    std::fs::create_dir(directory.0.join("empty")).expect("it is made");
    directory.out(&["empty", "-c", "select 1"]);
    assert!(is_there("empty"));
    directory.out(&["odd", "-c", "\\! touch odd/mine", "-c", "select 1"]);
    assert!(is_there("odd/mine"));
}

#[test]
fn file_access_is_an_option() {
    let directory = Directory::new("access");
    std::fs::create_dir(directory.0.join("in")).expect("it is made");
    std::fs::write(directory.0.join("in/a.csv"), "x\n1\n").expect("it is written");
    let select = "select count(*) from 'in/a.csv'";
    assert_eq!(
        directory.out(&["-t", "-A", "--file-access", "in", "-c", select]),
        "1\n"
    );
    for (access, sql) in [
        ("off", select),
        ("in", "copy (select 1) to 'out.csv'"),
        ("in", "set file_access = on"),
    ] {
        let output = directory.run(&["--file-access", access, "-c", sql]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            told.contains("42501") && told.contains("HINT"),
            "{access} {sql}: {told}"
        );
    }
    assert_eq!(
        directory
            .run(&["--file-access", "nowhere", "-c", "select 1"])
            .status
            .code(),
        Some(3)
    );
}
