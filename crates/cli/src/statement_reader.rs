//! Cuts text into statements as it comes in, line by line. It knows quotes, dollar quotes and
//! comments, nothing else of SQL: all it must find is the semicolon that ends a statement.

/// Collects lines until they hold whole statements.
#[derive(Default)]
pub struct StatementReader {
    text: String,
}

/// What the scanner is inside of.
enum Inside {
    Nothing,
    Quote(char),
    Dollar(String),
    LineComment,
    BlockComment(usize),
}

impl StatementReader {
    /// Whether nothing but blanks is pending.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Drops what is pending.
    pub fn clear(&mut self) {
        self.text.clear();
    }

    /// Adds a line (without its line end) and takes out the statements that are now whole.
    pub fn push_line(&mut self, line: &str) -> Vec<String> {
        self.text.push_str(line);
        self.text.push('\n');
        let ends = statement_ends(&self.text);
        let mut statements = Vec::with_capacity(ends.len());
        let mut start = 0;
        for end in ends {
            statements.push(self.text[start..end].trim().to_owned());
            start = end;
        }
        self.text.drain(..start);
        if self.is_empty() {
            self.text.clear();
        }
        statements
    }

    /// What is left at the end of the input, if it is more than blanks: a last statement without semicolon.
    pub fn finish(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.text).trim().to_owned();
        (!rest.is_empty()).then_some(rest)
    }
}

/// Byte offsets just behind each semicolon that ends a statement.
fn statement_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut inside = Inside::Nothing;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let mut step = c.len_utf8();
        inside = match inside {
            Inside::Nothing if rest.starts_with("--") => Inside::LineComment,
            Inside::Nothing if rest.starts_with("/*") => {
                step = 2;
                Inside::BlockComment(1)
            }
            Inside::Nothing if c == '\'' || c == '"' => Inside::Quote(c),
            Inside::Nothing if c == '$' => match dollar_tag(rest) {
                Some(tag) => {
                    step = tag.len();
                    Inside::Dollar(tag.to_owned())
                }
                None => Inside::Nothing,
            },
            Inside::Nothing => {
                if c == ';' {
                    ends.push(at + 1);
                }
                Inside::Nothing
            }
            // A doubled quote leaves and enters again, which comes to the same.
            Inside::Quote(quote) if c == quote => Inside::Nothing,
            Inside::Dollar(tag) if rest.starts_with(&tag) => {
                step = tag.len();
                Inside::Nothing
            }
            Inside::LineComment if c == '\n' => Inside::Nothing,
            Inside::BlockComment(depth) if rest.starts_with("*/") => {
                step = 2;
                if depth == 1 {
                    Inside::Nothing
                } else {
                    Inside::BlockComment(depth - 1)
                }
            }
            Inside::BlockComment(depth) if rest.starts_with("/*") => {
                step = 2;
                Inside::BlockComment(depth + 1)
            }
            same => same,
        };
        at += step;
    }
    ends
}

/// The `$tag$` that `text` begins with; a parameter such as `$1` is none.
fn dollar_tag(text: &str) -> Option<&str> {
    let end = text[1..].find('$')? + 2;
    let name = &text[1..end - 1];
    let fits = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (fits && !name.starts_with(|c: char| c.is_ascii_digit())).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> (Vec<String>, Option<String>) {
        let mut reader = StatementReader::default();
        let statements = text.lines().flat_map(|l| reader.push_line(l)).collect();
        (statements, reader.finish())
    }

    #[test]
    fn semicolons_in_quotes_and_comments_end_nothing() {
        let (whole, rest) = cut(
            "select ';', \"a;b\", 'it''s;' -- ;\n /* ; /* ; */ ; */ from t;select $$;$$, $x$ ; $x$, $1;\nselect 2",
        );
        assert_eq!(whole.len(), 2);
        assert!(whole[0].ends_with("from t;"));
        assert_eq!(whole[1], "select $$;$$, $x$ ; $x$, $1;");
        assert_eq!(rest.as_deref(), Some("select 2"));
    }

    #[test]
    fn a_statement_may_span_lines() {
        let mut reader = StatementReader::default();
        assert!(reader.push_line("select 'a").is_empty());
        assert!(!reader.is_empty());
        assert_eq!(reader.push_line("b'; "), ["select 'a\nb';"]);
        assert!(reader.is_empty());
    }
}
