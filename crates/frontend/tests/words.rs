//! Every word in every place where a name may stand: refused where PostgreSQL 15 refuses it, and nowhere else.

mod support;

use frazil_types::SqlState;
use support::try_bind;

/// PostgreSQL's verdicts: see the head of the file.
const VERDICTS: &str = include_str!("words/postgresql15.txt");

struct Verdicts {
    /// The letter of each place and its statement, `@` being the word.
    places: Vec<(char, &'static str)>,
    /// Each word and the letters of the places that refuse it.
    words: Vec<(&'static str, &'static str)>,
}

fn verdicts() -> Verdicts {
    let (mut places, mut words, mut refused) = (Vec::new(), Vec::new(), None);
    for line in VERDICTS.lines().filter(|line| !line.starts_with('#')) {
        if let Some(letters) = line.strip_prefix('=') {
            refused = Some(letters.trim());
        } else if let Some(letters) = refused {
            words.extend(line.split(' ').map(|word| (word, letters)));
        } else {
            let (letter, statement) = line.split_at(1);
            places.push((letter.chars().next().unwrap(), statement.trim()));
        }
    }
    Verdicts { places, words }
}

#[test]
fn words_are_names_where_postgresql_takes_them() {
    let Verdicts { places, words } = verdicts();
    assert!(places.len() >= 20 && words.len() >= 1150);
    let mut wrong = Vec::new();
    for (place, statement) in &places {
        let mut differing = Vec::new();
        for (word, refused) in &words {
            let result = try_bind(&statement.replace('@', word));
            let is_refused = result.is_err_and(|e| e.state() == SqlState::SYNTAX_ERROR);
            if is_refused != refused.contains(*place) {
                differing.push(*word);
            }
        }
        if !differing.is_empty() {
            wrong.push(format!("{statement}: {}", differing.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
