//! Comments that have to be read twice: clauses where a sentence should be, and idioms that no manual of the field has.
//!
//! A comment is a sentence with a subject and a verb, or a noun with its unit. The phrases are patterns over
//! comments, so that they also meet a few good ones; what they count is a ratchet, not a verdict.

/// Words that open a clause. A comment that begins with one names no subject.
const CLAUSES: [&str; 9] = [
    "What", "Who", "Whose", "Whether", "Where", "Which", "How", "Of", "That",
];

/// Phrases, and what to write.
const PHRASES: [(&str, &str); 14] = [
    ("is no ", "is not a"),
    ("lies in ", "is in, is stored in"),
    ("lie in ", "are in, are stored in"),
    ("stands in ", "is in"),
    ("stand in ", "are in"),
    ("comes of ", "derives from"),
    ("come of ", "derive from"),
    ("so many ", "`n` rows"),
    ("So many ", "`n` rows"),
    ("nothing but ", "only"),
    ("none is left", "all are taken"),
    ("though it lies", "although it is"),
    ("by no row", "no row matches"),
    ("took a unit", "cost per unit"),
];

/// The lines of a text, from 1, with a comment of that kind; what is wrong with each.
pub fn found(text: &str) -> Vec<(usize, String)> {
    let mut cases = Vec::new();
    let mut continues = false;
    let mut is_code = false;
    for (at, line) in text.lines().enumerate() {
        let Some(comment) = comment(line) else {
            continues = false;
            is_code = false;
            continue;
        };
        if comment.starts_with("```") {
            is_code = !is_code;
        }
        if !is_code {
            let opens = !continues || comment.is_empty();
            cases.extend(wrong(comment, opens && !comment.is_empty()).map(|w| (at + 1, w)));
        }
        continues = !comment.is_empty();
    }
    cases
}

/// The text of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    let behind = line.trim_start().strip_prefix("//")?;
    Some(behind.trim_start_matches(['/', '!']).trim())
}

fn wrong(comment: &str, opens: bool) -> impl Iterator<Item = String> {
    let first = comment.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    let clause =
        (opens && CLAUSES.contains(&first)).then(|| format!("opens with {first:?}: name the subject"));
    let same = (opens && comment.starts_with("The same")).then(|| "\"The same\": say which".to_owned());
    let phrases = PHRASES
        .iter()
        .filter(|(phrase, _)| has(comment, phrase))
        .map(|(phrase, instead)| format!("{:?}: {instead}", phrase.trim_end()));
    clause.into_iter().chain(same).chain(phrases)
}

/// True if a comment has a phrase that begins a word; "is no longer" is good English.
fn has(comment: &str, phrase: &str) -> bool {
    let ended = format!("{comment} ");
    ended.match_indices(phrase).any(|(at, _)| {
        let before = ended[..at].chars().next_back();
        let behind = &ended[at + phrase.len()..];
        !(before.is_some_and(char::is_alphanumeric) || phrase == "is no " && behind.starts_with("longer"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        found(text).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn every_bad_comment_of_the_house_is_found() {
        let bad = [
            "The alternatives: none is satisfied by no row, an empty one by all.",
            "What stands for NULL.",
            "Of each chunk number from the least one on the chunk's position, or `NOWHERE`.",
            "A case with what its runs took a unit.",
            "Limit and offset count among rows that are equal in so many of the first keys.",
            "What is known of a value of `ty` whose exact result lies in `exact`.",
            "Whether the tree is one for which perhaps no row asks.",
            "The calls with their columns; none is left.",
            "Who only reads shares it with others who do, and leaves every file as it is.",
            "… is no writing statement",
            "What gave them.",
            "Whether the current row counts though it lies in the hole.",
            "Where cells of rows of one table are fetched to that cannot be read where they lie.",
            "So many microseconds, counted from an origin.",
            "The same for texts.",
        ];
        for comment in bad {
            for head in ["///", "    //!", "//"] {
                assert!(
                    !found(&format!("{head} {comment}\nfn f() {{}}\n")).is_empty(),
                    "{comment}"
                );
            }
        }
    }

    #[test]
    fn only_the_first_line_of_a_comment_opens_it() {
        assert_eq!(
            lines("/// Rows, in the order\n/// Of their keys.\n///\n/// What follows.\nf();\n// How.\n"),
            [4, 6]
        );
    }

    #[test]
    fn code_and_good_english_are_left_alone() {
        assert!(
            lines("let a = \"What is no use\"; // fine\n/// Returns what is no longer used.\n").is_empty()
        );
        assert!(lines("/// Rows.\n/// ```\n/// What lies in code\n/// ```\n").is_empty());
    }
}
