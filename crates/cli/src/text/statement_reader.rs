//! Cuts text into statements and commands of the shell as it comes in, line by line.

use frazil::sql_text::{TokenKind, tokens};

/// Collects lines and gives out what is whole.
#[derive(Clone, Debug, Default)]
pub struct StatementReader {
    /// What is not given out yet.
    text: String,
    /// Bytes of `text` that are known to end no statement: tokens before them are whole.
    seen: usize,
    /// A backslash that stood in the middle of a line: the command it begins.
    command: Option<String>,
}

/// What a [`StatementReader`] gives out.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// A statement with its semicolon.
    Statement(String),
    /// A command of the shell: the rest of a line from its backslash or dot.
    Command(String),
}

impl StatementReader {
    /// Whether nothing but blanks is pending.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// What is pending: the beginning of a statement.
    pub fn pending(&self) -> &str {
        self.text.trim()
    }

    /// The mark of what is open where the pending text ends: a quote, `$` for a dollar quote, `*` for a comment, `(`.
    pub fn open_mark(&self) -> Option<char> {
        let mut depth = 0_usize;
        let mut mark = None;
        for token in tokens(&self.text) {
            let text = &self.text[token.range];
            match token.kind {
                TokenKind::Symbol if text == "(" => depth += 1,
                TokenKind::Symbol if text == ")" => depth = depth.saturating_sub(1),
                TokenKind::Text if !token.closed && text.starts_with('$') => mark = Some('$'),
                TokenKind::Text if !token.closed => mark = Some('\''),
                TokenKind::QuotedName if !token.closed => mark = Some('"'),
                TokenKind::Comment if !token.closed && text.starts_with("/*") => mark = Some('*'),
                _ => {}
            }
        }
        mark.or((depth > 0).then_some('('))
    }

    /// Drops what is pending.
    pub fn clear(&mut self) {
        self.text.clear();
        self.seen = 0;
    }

    /// Takes out what is pending, if that is more than blanks: at the end of the input a last statement without
    /// semicolon, before `\g` the statement that it runs.
    pub fn take(&mut self) -> Option<String> {
        let text = self.pending().to_owned();
        self.clear();
        (!text.is_empty()).then_some(text)
    }

    /// Makes `text` what is pending.
    pub fn set(&mut self, text: &str) {
        self.clear();
        self.push_line(text);
    }

    /// Adds a line, without its line end.
    pub fn push_line(&mut self, line: &str) {
        if self.is_empty() && is_command(line) {
            self.clear();
            self.command = Some(line.trim().to_owned());
            return;
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Takes out the next statement or command that is whole.
    pub fn next_piece(&mut self) -> Option<Piece> {
        if let Some(command) = self.command.take() {
            return Some(Piece::Command(command));
        }
        let base = self.seen;
        let mut found = None;
        for token in tokens(&self.text[base..]) {
            if token.closed {
                self.seen = base + token.range.end;
            }
            let mark =
                (token.kind == TokenKind::Symbol).then(|| self.text.as_bytes()[base + token.range.start]);
            if let Some(mark @ (b';' | b'\\')) = mark {
                found = Some((mark, base + token.range.start));
                break;
            }
        }
        let (mark, at) = found?;
        if mark == b';' {
            let statement = self.text[..=at].trim().to_owned();
            self.text.drain(..=at);
            self.seen = 0;
            return Some(Piece::Statement(statement));
        }
        let end = self.text[at..].find('\n').map_or(self.text.len(), |n| at + n);
        let command = self.text[at..end].trim().to_owned();
        self.text.drain(at..end);
        self.seen = at;
        Some(Piece::Command(command))
    }
}

/// Whether a line at the beginning of a statement is meant for the shell.
fn is_command(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('\\') || (line.starts_with('.') && line[1..].starts_with(|c: char| c.is_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> (Vec<Piece>, Option<String>) {
        let mut reader = StatementReader::default();
        let mut pieces = Vec::new();
        for line in text.lines() {
            reader.push_line(line);
            pieces.extend(std::iter::from_fn(|| reader.next_piece()));
        }
        (pieces, reader.take())
    }

    fn statement(text: &str) -> Piece {
        Piece::Statement(text.to_owned())
    }

    #[test]
    fn semicolons_in_quotes_and_comments_end_nothing() {
        let (whole, rest) = cut(
            "select ';', \"a;b\", 'it''s;' -- ;\n /* ; /* ; */ ; */ from t;select $$;$$, $x$ ; $x$, $1;\nselect 2",
        );
        assert_eq!(whole.len(), 2);
        assert!(matches!(&whole[0], Piece::Statement(s) if s.ends_with("from t;")));
        assert_eq!(whole[1], statement("select $$;$$, $x$ ; $x$, $1;"));
        assert_eq!(rest.as_deref(), Some("select 2"));
    }

    #[test]
    fn a_statement_may_span_lines() {
        let mut reader = StatementReader::default();
        reader.push_line("select 'a");
        assert_eq!(reader.next_piece(), None);
        assert!(!reader.is_empty());
        reader.push_line("b'; ");
        assert_eq!(reader.next_piece(), Some(statement("select 'a\nb';")));
        assert!(reader.is_empty());
    }

    #[test]
    fn what_is_open_is_told() {
        for (text, mark) in [
            ("select 1", None),
            ("select 'a", Some('\'')),
            ("select (\"a", Some('"')),
            ("select (1, (2)", Some('(')),
            ("select $x$ ' ", Some('$')),
            ("select /* ( ", Some('*')),
            ("select '(' -- '", None),
        ] {
            let mut reader = StatementReader::default();
            reader.push_line(text);
            assert_eq!(reader.open_mark(), mark, "{text}");
        }
    }

    #[test]
    fn commands_stand_alone_or_behind_a_statement() {
        let command = |text: &str| Piece::Command(text.to_owned());
        let (pieces, rest) = cut(".mode csv\n \\x on\nselect '\\n' \\g out.txt\n.5 + 1");
        assert_eq!(
            pieces,
            [command(".mode csv"), command("\\x on"), command("\\g out.txt")]
        );
        assert_eq!(rest.as_deref(), Some("select '\\n' \n.5 + 1"));
        let (pieces, rest) = cut("select 1; select 2 \\gx");
        assert_eq!(pieces, [statement("select 1;"), command("\\gx")]);
        assert_eq!(rest.as_deref(), Some("select 2"));
    }
}
