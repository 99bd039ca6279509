//! Colours for what is being typed.

use crate::keywords::is_keyword;
use crate::text::{TokenKind, tokens};
use std::borrow::Cow;

const COMMAND: &str = "\x1b[35m";
const COMMENT: &str = "\x1b[90m";
const KEYWORD: &str = "\x1b[1;34m";
const NUMBER: &str = "\x1b[36m";
const TEXT: &str = "\x1b[32m";
const PLAIN: &str = "\x1b[0m";

/// `line` in colours. `before`: the lines of the statement above it, in which a string or a comment may begin.
pub fn highlighted<'a>(before: &str, line: &'a str) -> Cow<'a, str> {
    if before.trim().is_empty() && line.trim_start().starts_with(['\\', '.']) {
        return Cow::Owned(format!("{COMMAND}{line}{PLAIN}"));
    }
    let text = format!("{before}{line}");
    let mut out = String::with_capacity(2 * line.len());
    for token in tokens(&text).filter(|t| t.range.end > before.len()) {
        let piece = &text[token.range.start.max(before.len())..token.range.end];
        let colour = match token.kind {
            TokenKind::Text => TEXT,
            TokenKind::Number => NUMBER,
            TokenKind::Comment => COMMENT,
            TokenKind::Word if is_keyword(piece) => KEYWORD,
            TokenKind::Blank | TokenKind::Word | TokenKind::QuotedName | TokenKind::Symbol => {
                out.push_str(piece);
                continue;
            }
        };
        out.push_str(&format!("{colour}{piece}{PLAIN}"));
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_go_on_from_the_line_above() {
        let text = highlighted("select 'a\n", "b' from t");
        assert_eq!(text, format!("{TEXT}b'{PLAIN} {KEYWORD}from{PLAIN} t"));
        assert_eq!(highlighted("", "\\d t"), format!("{COMMAND}\\d t{PLAIN}"));
    }
}
