//! Joins whose ON comes late: `a left join b join c on p on q`. sqlparser reads a join's condition right behind its
//! right side, so that the right side gets parentheses: `a left join (b join c on p) on q`.

use super::Pass;
use sqlparser::tokenizer::Token;

/// A join that waits for its ON or USING.
#[derive(Debug)]
pub(super) struct OpenJoin {
    /// Number of the word at which its right side begins.
    right: usize,
    /// True if its right side is a join.
    is_nested: bool,
}

impl Pass<'_> {
    /// Notes the JOIN at `at`: the right side of the join before, if that waits for its condition, is a join.
    pub(super) fn note_join(&mut self, at: usize) {
        let back = |n: usize| at.checked_sub(n);
        let is = |at: Option<usize>, any: &[&str]| at.is_some_and(|at| self.is(at, any));
        let before = match is(back(1), &["outer"]) {
            true => back(2),
            false => back(1),
        };
        let natural = match is(before, &["inner", "left", "right", "full"]) {
            true => before.and_then(|at| at.checked_sub(1)),
            false => before,
        };
        let has_condition = !is(before, &["cross"]) && !is(natural, &["natural"]);
        let joins = &mut self.level().joins;
        if let Some(last) = joins.last_mut() {
            last.is_nested = true;
        }
        if has_condition {
            joins.push(OpenJoin {
                right: at + 1,
                is_nested: false,
            });
        }
    }

    /// Notes the ON or USING at `at`, and puts the right side of its join in parentheses if that is a join.
    pub(super) fn note_condition(&mut self, at: usize) {
        if let Some(join) = self.level().joins.pop()
            && join.is_nested
        {
            self.inserted.push((join.right, Token::LParen));
            self.inserted.push((at, Token::RParen));
        }
    }
}
