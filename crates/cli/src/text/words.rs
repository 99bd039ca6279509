//! Arguments of commands: words apart by blanks, in quotes where they hold blanks.

/// Splits what follows a command's name. Single quotes keep blanks, a quote in them is doubled; double quotes stay, so
/// that a name can be told from its folded form.
pub fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (word, length) = next_word(rest);
        words.push(word);
        rest = rest[length..].trim_start();
    }
    words
}

/// The first word of `text`, and its bytes in the text.
fn next_word(text: &str) -> (String, usize) {
    let mut word = String::new();
    let mut quote = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match quote {
            None if c.is_whitespace() => return (word, at),
            None if c == '\'' => quote = Some(c),
            None => {
                quote = Some(c).filter(|c| *c == '"');
                word.push(c);
            }
            Some('"') => {
                quote = Some('"').filter(|q| *q != c);
                word.push(c);
            }
            Some(_) if c != '\'' => word.push(c),
            Some(_) if chars.next_if(|next| next.1 == '\'').is_some() => word.push(c),
            Some(_) => quote = None,
        }
    }
    (word, text.len())
}

/// A name as SQL reads it: folded, or as it stands in double quotes.
pub fn unquoted(name: &str) -> String {
    match name.strip_prefix('"').and_then(|n| n.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => name.to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_blanks_outside_of_quotes() {
        assert_eq!(
            split(" a 'b c' 'it''s' \"A b\"c  ''"),
            ["a", "b c", "it's", "\"A b\"c", ""]
        );
        assert_eq!(split("x'y z'w"), ["xy zw"]);
        assert!(split("  ").is_empty());
    }

    #[test]
    fn names_fold_unless_they_are_quoted() {
        assert_eq!(
            (unquoted("Ab"), unquoted("\"A\"\"b\"")),
            ("ab".to_owned(), "A\"b".to_owned())
        );
    }
}
