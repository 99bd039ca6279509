//! Quantifiers of regular expressions, by PostgreSQL's rules: each stands behind something that can be repeated, and
//! none behind another.

use frazil_types::{Error, Result, SqlState};

/// Most times that a bound may ask for.
const MOST_REPEATS: u32 = 255;

/// What stands in front of a place in a regular expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing that can be repeated: the beginning of a branch, or a constraint such as `^`.
    Nothing,
    Atom,
    Quantifier,
    /// A quantifier that takes as little as it can.
    Lazy,
}

/// Writes the parts of a regular expression as the crate `regex` reads them, and refuses misplaced quantifiers.
pub(crate) struct Quantifiers {
    before: Before,
}

impl Quantifiers {
    /// At the beginning of an expression.
    pub fn new() -> Quantifiers {
        Quantifiers {
            before: Before::Nothing,
        }
    }

    /// Something that can be repeated was written.
    pub fn atom(&mut self) {
        self.before = Before::Atom;
    }

    /// Something was written that cannot be repeated.
    pub fn constraint(&mut self) {
        self.before = Before::Nothing;
    }

    /// Writes a character that is neither escaped nor in brackets, and the rest of a bound that begins with it. Error
    /// 2201B.
    pub fn write(
        &mut self,
        c: char,
        rest: &mut (impl Iterator<Item = char> + Clone),
        out: &mut String,
    ) -> Result<()> {
        match c {
            '*' | '+' | '?' => {
                self.quantifier(c)?;
                out.push(c);
            }
            '{' if rest.clone().next().is_some_and(|next| next.is_ascii_digit()) => {
                self.quantifier(c)?;
                if !rest.clone().any(|c| c == '}') {
                    return Err(invalid("braces {} not balanced"));
                }
                let bound: String = rest.take_while(|c| *c != '}').collect();
                check_bound(&bound)?;
                out.extend(["{", &bound, "}"]);
            }
            '{' => {
                out.push_str("\\{");
                self.atom();
            }
            '|' | '(' | '^' | '$' => {
                out.push(c);
                self.constraint();
            }
            _ => {
                out.push(c);
                self.atom();
            }
        }
        Ok(())
    }

    fn quantifier(&mut self, c: char) -> Result<()> {
        self.before = match self.before {
            Before::Atom => Before::Quantifier,
            Before::Quantifier if c == '?' => Before::Lazy,
            Before::Nothing | Before::Quantifier | Before::Lazy => {
                return Err(invalid("quantifier operand invalid"));
            }
        };
        Ok(())
    }
}

/// Checks `m`, `m,` and `m,n` of a bound. Error 2201B.
fn check_bound(bound: &str) -> Result<()> {
    let (least, most) = bound.split_once(',').unwrap_or((bound, bound));
    let count = |text: &str| text.parse().ok().filter(|n: &u32| *n <= MOST_REPEATS);
    let is_valid = match (count(least), most) {
        (None, _) => false,
        (Some(_), "") => true,
        (Some(least), most) => count(most).is_some_and(|most| least <= most),
    };
    if is_valid {
        return Ok(());
    }
    Err(invalid("invalid repetition count(s)"))
}

fn invalid(reason: &str) -> Error {
    Error::new(
        SqlState::INVALID_REGULAR_EXPRESSION,
        format!("invalid regular expression: {reason}"),
    )
}
