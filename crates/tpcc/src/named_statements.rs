//! Files of SQL statements, each of which follows a line `-- name: …`.

/// The statements of a file: name and text, in the order of the file. Lines of comments are left out.
pub fn named(file: &'static str) -> impl Iterator<Item = (&'static str, String)> {
    const NAME: &str = "-- name: ";
    file.split(NAME).skip(1).map(|part| {
        let (name, rest) = part.split_once('\n').unwrap_or((part, ""));
        let lines: Vec<&str> = (rest.lines())
            .filter(|line| !line.starts_with("--") && !line.trim().is_empty())
            .collect();
        (name.trim(), lines.join("\n"))
    })
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn names_lead_their_texts() {
        let file = "-- A file.\n\n-- name: one\nselect 1\n\n-- About two.\n\
                    -- name: two, of two lines\nselect 2,\n  3\n";
        let read: Vec<_> = named(file).collect();
        let two = ("two, of two lines", "select 2,\n  3".to_owned());
        assert_eq!(read, [("one", "select 1".to_owned()), two]);
    }
}
