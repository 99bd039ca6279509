//! Lengths of functions, found by their indentation, which rustfmt makes reliable.

/// Most lines of a function, from its `fn` to its closing brace.
pub const LINES: usize = 70;

/// Functions that are longer than [`LINES`]: the line of each, from 1, and its length.
pub fn too_long(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let starts = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_function(line.trim_start()));
    starts
        .filter_map(|(start, _)| Some((start + 1, length(&lines[start..])?)))
        .filter(|(_, length)| *length > LINES)
        .collect()
}

/// True for a line that begins a function, whatever stands before its `fn`.
fn is_function(line: &str) -> bool {
    let mut rest = line;
    if let Some(public) = rest.strip_prefix("pub(") {
        rest = public
            .split_once(')')
            .map_or("", |(_, behind)| behind)
            .trim_start();
    }
    loop {
        if rest
            .strip_prefix("fn ")
            .is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic() || "_$".contains(c)))
        {
            return true;
        }
        let Some((word, behind)) = rest.split_once(' ') else {
            return false;
        };
        let is_before = ["pub", "default", "const", "async", "unsafe", "safe", "extern"].contains(&word)
            || (word.starts_with('"') && word.ends_with('"'));
        if !is_before {
            return false;
        }
        rest = behind;
    }
}

/// The lines of the function that begins with the first one; None for a declaration and for one line.
fn length(lines: &[&str]) -> Option<usize> {
    let indent = lines[0].len() - lines[0].trim_start().len();
    let opens = lines.iter().position(|line| line.ends_with(['{', ';', '}']))?;
    if !lines[opens].ends_with('{') {
        return None;
    }
    let close = format!("{}}}", " ".repeat(indent));
    let length = lines[opens..].iter().position(|line| *line == close)?;
    Some(opens + length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(head: &str, lines: usize) -> String {
        let indent = " ".repeat(head.len() - head.trim_start().len());
        let body: String = (0..lines).map(|n| format!("{indent}    f({n});\n")).collect();
        format!("//! Functions.\n\n{head} {{\n{body}{indent}}}\n")
    }

    #[test]
    fn every_form_of_a_function_is_measured() {
        let heads = [
            "fn f()",
            "pub fn f(&self) -> usize",
            "    pub(super) fn f()",
            "pub(crate) fn f<T: Fn() -> u8>(t: T)",
            "    pub(in crate::binder) fn f()",
            "pub const fn f()",
            "async fn f()",
            "    pub(crate) unsafe extern \"C\" fn f(context: *mut u8)",
            "extern \"C\" fn f()",
            "        fn $name()",
            "pub fn f(\n    a: usize,\n    b: [u8; 4],\n) -> usize\nwhere\n    A: B,",
        ];
        for head in heads {
            let more = head.lines().count() - 1;
            assert_eq!(too_long(&function(head, LINES - 2 - more)), [], "{head}");
            assert_eq!(
                too_long(&function(head, LINES - 1 - more)),
                [(3, LINES + 1)],
                "{head}"
            );
        }
    }

    #[test]
    fn declarations_comments_and_closures_are_none() {
        let declared = "    fn f(\n        a: usize,\n    ) -> usize;\n";
        assert_eq!(
            too_long(&format!("{declared}{}", function("    fn g()", LINES))),
            [(6, LINES + 2)]
        );
        assert_eq!(too_long(&function("// pub fn f()", LINES)), []);
        assert_eq!(too_long(&function("static F: fn(u8) = |_|", LINES)), []);
    }
}
