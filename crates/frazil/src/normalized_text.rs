//! A statement's text without its constants: statements that differ in these alone are counted together.

/// Bytes of a text that are kept. Statements with more that begin alike are counted together.
const KEPT: usize = 4096;

/// Returns a text with `$n` in place of each constant, blanks in place of comments and line ends, and at most [`KEPT`]
/// bytes. Numbers begin behind the greatest parameter of the text.
pub fn normalized(text: &str) -> String {
    let mut reader = Reader {
        rest: text.trim(),
        out: String::with_capacity(text.len().min(KEPT)),
        next: greatest_parameter(text) + 1,
    };
    while !reader.rest.is_empty() && reader.out.len() < KEPT {
        reader.step();
    }
    let mut out = reader.out;
    while out.ends_with([' ', ';']) {
        out.pop();
    }
    let end = (0..=KEPT.min(out.len()))
        .rev()
        .find(|at| out.is_char_boundary(*at));
    out.truncate(end.unwrap_or(0));
    out
}

/// The greatest number of a parameter, 0 without one. A `$7` inside a constant counts, too: numbers are only names.
fn greatest_parameter(text: &str) -> u64 {
    let numbers = text.split('$').skip(1).map(|behind| {
        let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        behind[..digits.min(5)].parse().unwrap_or(0)
    });
    numbers.max().unwrap_or(0)
}

struct Reader<'a> {
    rest: &'a str,
    out: String,
    /// Number of the next constant.
    next: u64,
}

impl Reader<'_> {
    /// Takes the next word, constant, comment, blanks or character.
    fn step(&mut self) {
        let Some(first) = self.rest.chars().next() else {
            return;
        };
        let behind = &self.rest[first.len_utf8()..];
        match first {
            _ if first.is_whitespace() => self.blank(first.len_utf8()),
            '-' if behind.starts_with('-') => self.blank(self.rest.find('\n').unwrap_or(self.rest.len())),
            '/' if behind.starts_with('*') => self.blank(comment_end(self.rest)),
            '\'' => self.constant(quoted_end(self.rest, 0, '\'', false)),
            '"' => self.keep(quoted_end(self.rest, 0, '"', false)),
            '$' => match dollar_end(self.rest) {
                Some(end) => self.constant(end),
                None => self.keep(1 + word_end(behind)),
            },
            '0'..='9' => self.constant(number_end(self.rest)),
            '.' if behind.starts_with(|c: char| c.is_ascii_digit()) => self.constant(number_end(self.rest)),
            _ if is_word(first) => self.word(),
            _ => self.keep(first.len_utf8()),
        }
    }

    /// Takes a word, or a constant with a letter before its quote: `E'a'`, `B'1'`.
    fn word(&mut self) {
        let end = word_end(self.rest);
        let is_prefix = matches!(&self.rest[..end], "e" | "E" | "b" | "B" | "x" | "X" | "n" | "N");
        match is_prefix && self.rest[end..].starts_with('\'') {
            true => {
                let escapes = self.rest.starts_with(['e', 'E']);
                self.constant(quoted_end(self.rest, end, '\'', escapes));
            }
            false => self.keep(end),
        }
    }

    fn keep(&mut self, end: usize) {
        self.out.push_str(&self.rest[..end]);
        self.rest = &self.rest[end..];
    }

    fn blank(&mut self, end: usize) {
        if !self.out.ends_with(' ') && !self.out.is_empty() {
            self.out.push(' ');
        }
        self.rest = &self.rest[end..];
    }

    fn constant(&mut self, end: usize) {
        self.out.push('$');
        self.out.push_str(&self.next.to_string());
        self.next += 1;
        self.rest = &self.rest[end..];
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The end of the letters and digits with which a text begins.
fn word_end(text: &str) -> usize {
    text.find(|c: char| !is_word(c) && c != '$').unwrap_or(text.len())
}

/// The end of the number with which a text begins.
fn number_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while let Some(&byte) = bytes.get(end) {
        let is_exponent = end > 0 && matches!(bytes[end - 1], b'e' | b'E') && !text.starts_with("0x");
        let is_sign = matches!(byte, b'+' | b'-') && is_exponent;
        // `1..2` is a number and a range.
        let is_point = byte == b'.' && bytes.get(end + 1) != Some(&b'.');
        if !byte.is_ascii_alphanumeric() && byte != b'_' && !is_point && !is_sign {
            break;
        }
        end += 1;
    }
    end.max(1)
}

/// The end of the quoted text whose first quote is at `from`. A quote that comes twice is part of the text.
fn quoted_end(text: &str, from: usize, quote: char, escapes: bool) -> usize {
    let mut characters = text.char_indices().skip_while(|(at, _)| *at <= from).peekable();
    while let Some((at, c)) = characters.next() {
        if c == '\\' && escapes {
            characters.next();
        } else if c == quote {
            match characters.peek() {
                Some((_, next)) if *next == quote => drop(characters.next()),
                _ => return at + 1,
            }
        }
    }
    text.len()
}

/// The end of the text in dollar quotes with which a text begins; `None` if it begins with a parameter.
fn dollar_end(text: &str) -> Option<usize> {
    let tag = text[1..].find('$')? + 2;
    let name = &text[1..tag - 1];
    if name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(is_word) {
        return None;
    }
    let end = text[tag..].find(&text[..tag]);
    Some(end.map_or(text.len(), |end| tag + end + tag))
}

/// The end of the comment with which a text begins. Comments nest.
fn comment_end(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        let (change, step) = match () {
            () if rest.starts_with(b"/*") => (1, 2),
            () if rest.starts_with(b"*/") => (-1, 2),
            () => (0, 1),
        };
        depth += change;
        at += step;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_left_out() {
        for (text, expected) in [
            ("select 1", "select $1"),
            ("  select  a\n from t ; ", "select a from t"),
            (
                "select a1, b_2 from t3 where x = -1.5e-3",
                "select a1, b_2 from t3 where x = -$1",
            ),
            (
                "select 'it''s', E'a\\'b', \"C'd\" -- 5\n, 0x1F",
                "select $1, $2, \"C'd\" , $3",
            ),
            ("select $2 + 3, $1", "select $2 + $3, $1"),
            (
                "select $$a 'b$$, $x$ $$ $x$ /* 1 /* 2 */ */ + .5",
                "select $1, $2 + $3",
            ),
            ("select 'ä' || 'open", "select $1 || $2"),
            ("select a[1:2], 1_000", "select a[$1:$2], $3"),
            ("select 'a'::text, date '2020-01-01'", "select $1::text, date $2"),
            ("", ""),
            ("ünïcode 1", "ünïcode $1"),
        ] {
            assert_eq!(normalized(text), expected, "{text}");
        }
    }

    #[test]
    fn long_texts_are_cut() {
        let text = format!("insert into t values {}", "(1, 'ä'), ".repeat(10_000));
        let short = normalized(&text);
        assert!(short.len() <= KEPT && short.starts_with("insert into t values ($1, $2), ($3, $4)"));
        let word = "ä".repeat(KEPT);
        assert!(normalized(&word).len() <= KEPT);
        // Whatever a text is, reading it ends.
        for seed in 0..2000u64 {
            let bits = |at: u64| (seed.wrapping_mul(6_364_136_223_846_793_005) >> (at * 5)) % 12;
            let text: String = (0..12)
                .map(|at| "'\"$/*-1e.x\\ä".chars().nth(bits(at) as usize).unwrap())
                .collect();
            normalized(&text);
        }
    }
}
