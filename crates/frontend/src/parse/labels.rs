//! Labels of CREATE TYPE and ALTER TYPE, of which sqlparser reads `'…'` alone: `E'…'`, `U&'…'` and `$$…$$` become
//! that.

use super::tokens::is_word;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Rewrites the texts of a statement that defines or alters a type.
pub(super) fn rewrite(words: &mut [TokenWithSpan]) {
    let defines = matches!(&*words, [first, kind, ..]
        if (is_word(first, Keyword::CREATE) || is_word(first, Keyword::ALTER)) && is_word(kind, Keyword::TYPE));
    if !defines {
        return;
    }
    for word in words {
        let text = match &word.token {
            Token::EscapedStringLiteral(text) | Token::UnicodeStringLiteral(text) => text.clone(),
            Token::DollarQuotedString(text) => text.value.clone(),
            _ => continue,
        };
        word.token = Token::SingleQuotedString(text);
    }
}
