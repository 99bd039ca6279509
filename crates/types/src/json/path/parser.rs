//! Reads a path by PostgreSQL's grammar.

use super::super::number;
use super::lexer::{Lexer, Token, syntax};
use super::{Arithmetic, Expression, Head, LAST_LEVEL, LikeRegex, MAX_PATH_DEPTH, Method, Path, Step};
use crate::{CompareOp, Error, Result, SqlState};

/// Reads a path; the errors are those of [`Path::new`].
pub(super) fn path(text: &str) -> Result<Path> {
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    let mut parser = Parser {
        lexer,
        token,
        depth: 0,
        filters: 0,
        subscripts: 0,
        patterns: 0,
    };
    if parser.token == Token::End {
        let message = format!("invalid input syntax for type jsonpath: \"{text}\"");
        return Err(Error::new(SqlState::INVALID_TEXT, message));
    }
    let is_strict = parser.takes_word("strict")?;
    if !is_strict {
        parser.takes_word("lax")?;
    }
    let root = parser.binary(Priority::Or)?.expression;
    match parser.token {
        Token::End => Ok(Path {
            is_strict,
            root,
            patterns: parser.patterns,
        }),
        _ => Err(parser.unexpected()),
    }
}

/// How tightly operators bind, the loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Priority {
    Or,
    And,
    Predicate,
    Sum,
    Product,
    Tightest,
}

/// An infix operator.
#[derive(Clone, Copy)]
enum Infix {
    Or,
    And,
    Compare(CompareOp),
    StartsWith,
    LikeRegex,
    Arithmetic(Arithmetic),
}

impl Infix {
    fn priority(self) -> Priority {
        match self {
            Infix::Or => Priority::Or,
            Infix::And => Priority::And,
            Infix::Compare(_) | Infix::StartsWith | Infix::LikeRegex => Priority::Predicate,
            Infix::Arithmetic(Arithmetic::Add | Arithmetic::Subtract) => Priority::Sum,
            Infix::Arithmetic(_) => Priority::Product,
        }
    }

    /// What binds tighter, as the right operand of an operator does.
    fn above(self) -> Priority {
        match self.priority() {
            Priority::Or => Priority::And,
            Priority::And => Priority::Predicate,
            Priority::Predicate => Priority::Sum,
            Priority::Sum => Priority::Product,
            Priority::Product | Priority::Tightest => Priority::Tightest,
        }
    }
}

struct Parsed {
    expression: Expression,
    /// True, false or unknown, and no item.
    is_predicate: bool,
    /// A predicate in parentheses, or `exists`: what `!` may stand before.
    is_delimited: bool,
    /// In parentheses: steps may follow, and of a predicate `is unknown`.
    is_enclosed: bool,
}

impl Parsed {
    fn value(head: Head, steps: Vec<Step>) -> Parsed {
        Parsed {
            expression: Expression { head, steps },
            is_predicate: false,
            is_delimited: false,
            is_enclosed: false,
        }
    }

    fn predicate(head: Head) -> Parsed {
        Parsed {
            expression: Expression {
                head,
                steps: Vec::new(),
            },
            is_predicate: true,
            is_delimited: false,
            is_enclosed: false,
        }
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The next word.
    token: Token,
    /// What lies around the next word.
    depth: usize,
    /// Filters around it.
    filters: usize,
    /// Subscripts around it.
    subscripts: usize,
    /// `like_regex` before it.
    patterns: usize,
}

impl Parser<'_> {
    /// Takes the next word.
    fn take(&mut self) -> Result<Token> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.token, Token::Symbol(s) if s == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.token, Token::Word(w) if is_keyword(w, word))
    }

    fn takes_symbol(&mut self, symbol: &str) -> Result<bool> {
        let is_there = self.is_symbol(symbol);
        if is_there {
            self.take()?;
        }
        Ok(is_there)
    }

    fn takes_word(&mut self, word: &str) -> Result<bool> {
        let is_there = self.is_word(word);
        if is_there {
            self.take()?;
        }
        Ok(is_there)
    }

    fn expect(&mut self, symbol: &str) -> Result<()> {
        match self.takes_symbol(symbol)? {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    fn unexpected(&self) -> Error {
        let shown = match &self.token {
            Token::End => return syntax("syntax error at end of jsonpath input"),
            Token::Word(text) | Token::Number(text) => text.clone(),
            Token::String(text) => format!("\"{text}\""),
            Token::Variable(name) => format!("${name}"),
            Token::Symbol(symbol) => (*symbol).to_owned(),
        };
        syntax(format!("syntax error at or near \"{shown}\" of jsonpath input"))
    }

    /// Counts one level more. Error 54001 for too many.
    fn enters(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth <= MAX_PATH_DEPTH {
            return Ok(());
        }
        let message = format!("a jsonpath nests more than {MAX_PATH_DEPTH} operators and steps");
        Err(Error::new(SqlState::STATEMENT_TOO_COMPLEX, message))
    }

    fn infix(&self) -> Option<Infix> {
        Some(match &self.token {
            Token::Symbol(symbol) => match *symbol {
                "||" => Infix::Or,
                "&&" => Infix::And,
                "==" => Infix::Compare(CompareOp::Eq),
                "!=" | "<>" => Infix::Compare(CompareOp::Ne),
                "<" => Infix::Compare(CompareOp::Lt),
                "<=" => Infix::Compare(CompareOp::Le),
                ">" => Infix::Compare(CompareOp::Gt),
                ">=" => Infix::Compare(CompareOp::Ge),
                "+" => Infix::Arithmetic(Arithmetic::Add),
                "-" => Infix::Arithmetic(Arithmetic::Subtract),
                "*" => Infix::Arithmetic(Arithmetic::Multiply),
                "/" => Infix::Arithmetic(Arithmetic::Divide),
                "%" => Infix::Arithmetic(Arithmetic::Remainder),
                _ => return None,
            },
            Token::Word(word) if is_keyword(word, "starts") => Infix::StartsWith,
            Token::Word(word) if is_keyword(word, "like_regex") => Infix::LikeRegex,
            _ => return None,
        })
    }

    /// Operands joined by operators that bind no looser than `least`.
    fn binary(&mut self, least: Priority) -> Result<Parsed> {
        let depth = self.depth;
        self.enters()?;
        let mut left = self.prefixed()?;
        while let Some(infix) = self.infix().filter(|infix| infix.priority() >= least) {
            let takes_predicates = matches!(infix, Infix::And | Infix::Or);
            if left.is_predicate != takes_predicates {
                return Err(self.unexpected());
            }
            self.enters()?;
            self.take()?;
            left = self.infix_of(left.expression, infix)?;
        }
        self.depth = depth;
        Ok(left)
    }

    /// An operator with its left operand, and the right one that comes next.
    fn infix_of(&mut self, left: Expression, infix: Infix) -> Result<Parsed> {
        match infix {
            Infix::StartsWith => {
                if !self.takes_word("with")? {
                    return Err(self.unexpected());
                }
                let head = match self.take()? {
                    Token::String(text) => Head::String(text),
                    Token::Variable(name) => Head::Variable(name),
                    other => {
                        self.token = other;
                        return Err(self.unexpected());
                    }
                };
                let initial = Expression {
                    head,
                    steps: Vec::new(),
                };
                return Ok(Parsed::predicate(Head::StartsWith(Box::new([left, initial]))));
            }
            Infix::LikeRegex => return self.like_regex(left),
            Infix::Or | Infix::And | Infix::Compare(_) | Infix::Arithmetic(_) => {}
        }
        let right = self.binary(infix.above())?;
        if right.is_predicate != matches!(infix, Infix::And | Infix::Or) {
            return Err(self.unexpected());
        }
        let both = Box::new([left, right.expression]);
        Ok(match infix {
            Infix::Or => Parsed::predicate(Head::Or(both)),
            Infix::And => Parsed::predicate(Head::And(both)),
            Infix::Compare(op) => Parsed::predicate(Head::Compare(op, both)),
            Infix::Arithmetic(op) => Parsed::value(Head::Arithmetic(op, both), Vec::new()),
            Infix::StartsWith | Infix::LikeRegex => return Err(Error::internal("an operator twice")),
        })
    }

    fn string(&mut self) -> Result<String> {
        match self.take()? {
            Token::String(text) => Ok(text),
            other => {
                self.token = other;
                Err(self.unexpected())
            }
        }
    }

    fn like_regex(&mut self, of: Expression) -> Result<Parsed> {
        let pattern = self.string()?;
        let given = match self.takes_word("flag")? {
            true => self.string()?,
            false => String::new(),
        };
        if let Some(unknown) = given.chars().find(|c| !"ismxq".contains(*c)) {
            let detail = format!("Unrecognized flag character \"{unknown}\" in LIKE_REGEX predicate.");
            return Err(syntax("invalid input syntax for type jsonpath").with_detail(detail));
        }
        if given.contains('x') && !given.contains('q') {
            return Err(Error::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "XQuery \"x\" flag (expanded regular expressions) is not implemented",
            ));
        }
        let flags = "ismxq".chars().filter(|flag| given.contains(*flag)).collect();
        let slot = self.patterns;
        self.patterns += 1;
        let like = LikeRegex {
            of,
            pattern,
            flags,
            slot,
        };
        Ok(Parsed::predicate(Head::LikeRegex(Box::new(like))))
    }

    /// An operand with the signs or the `!` before it.
    fn prefixed(&mut self) -> Result<Parsed> {
        if self.takes_symbol("!")? {
            let predicate = self.primary()?;
            if !predicate.is_delimited {
                return Err(self.unexpected());
            }
            return Ok(Parsed::predicate(Head::Not(Box::new(predicate.expression))));
        }
        let is_minus = self.is_symbol("-");
        if !is_minus && !self.is_symbol("+") {
            return self.accessed();
        }
        self.take()?;
        self.enters()?;
        let operand = self.prefixed()?;
        if operand.is_predicate {
            return Err(self.unexpected());
        }
        self.depth -= 1;
        let of = operand.expression;
        // A sign of a number is the number's.
        let head = match of.head {
            Head::Number(digits) if of.steps.is_empty() => Head::Number(match is_minus {
                true => number::negated(&digits),
                false => digits,
            }),
            head => Head::Sign {
                is_minus,
                of: Box::new(Expression {
                    head,
                    steps: of.steps,
                }),
            },
        };
        Ok(Parsed::value(head, Vec::new()))
    }

    /// A primary with the steps behind it.
    fn accessed(&mut self) -> Result<Parsed> {
        let mut parsed = self.primary()?;
        if parsed.is_predicate && parsed.is_enclosed && self.takes_word("is")? {
            if !self.takes_word("unknown")? {
                return Err(self.unexpected());
            }
            return Ok(Parsed::predicate(Head::IsUnknown(Box::new(parsed.expression))));
        }
        let depth = self.depth;
        let takes_steps = !parsed.is_predicate || parsed.is_enclosed;
        while [".", "[", "?"].iter().any(|symbol| self.is_symbol(symbol)) && takes_steps {
            self.enters()?;
            parsed.expression.steps.push(self.step()?);
            (parsed.is_predicate, parsed.is_delimited) = (false, false);
        }
        self.depth = depth;
        Ok(parsed)
    }

    fn primary(&mut self) -> Result<Parsed> {
        let head = match self.take()? {
            Token::String(text) => Head::String(text),
            Token::Variable(name) => Head::Variable(name),
            Token::Number(text) => Head::Number(number::plain(&text)?),
            Token::Symbol("$") => Head::Root,
            Token::Symbol("@") if self.filters == 0 => {
                return Err(syntax("@ is not allowed in root expressions"));
            }
            Token::Symbol("@") => Head::Current,
            Token::Symbol("(") => {
                let mut inner = self.binary(Priority::Or)?;
                self.expect(")")?;
                inner.is_delimited = inner.is_predicate;
                inner.is_enclosed = true;
                return Ok(inner);
            }
            Token::Word(word) if word == "null" => Head::Null,
            Token::Word(word) if word == "true" || word == "false" => Head::Boolean(word == "true"),
            Token::Word(word) if is_keyword(&word, "last") => match self.subscripts {
                0 => return Err(syntax("LAST is allowed only in array subscripts")),
                _ => Head::Last,
            },
            Token::Word(word) if is_keyword(&word, "exists") => {
                self.expect("(")?;
                let inner = self.binary(Priority::Sum)?;
                if inner.is_predicate {
                    return Err(self.unexpected());
                }
                self.expect(")")?;
                let mut exists = Parsed::predicate(Head::Exists(Box::new(inner.expression)));
                exists.is_delimited = true;
                return Ok(exists);
            }
            other => {
                self.token = other;
                return Err(self.unexpected());
            }
        };
        Ok(Parsed::value(head, Vec::new()))
    }

    /// A step, whose first word comes next.
    fn step(&mut self) -> Result<Step> {
        match self.take()? {
            Token::Symbol("[") => self.elements(),
            Token::Symbol("?") => {
                self.expect("(")?;
                self.filters += 1;
                let predicate = self.binary(Priority::Or)?;
                self.filters -= 1;
                if !predicate.is_predicate {
                    return Err(self.unexpected());
                }
                self.expect(")")?;
                Ok(Step::Filter(predicate.expression))
            }
            _ => match self.take()? {
                Token::Symbol("*") => Ok(Step::AnyKey),
                Token::Symbol("**") => self.any_below(),
                Token::String(key) => Ok(Step::Key(key)),
                Token::Word(word) if self.is_symbol("(") => self.method(word),
                Token::Word(key) => Ok(Step::Key(key)),
                other => {
                    self.token = other;
                    Err(self.unexpected())
                }
            },
        }
    }

    fn method(&mut self, word: String) -> Result<Step> {
        let method = Method::ALL.iter().find(|method| is_keyword(&word, method.name()));
        let is_datetime = is_keyword(&word, "datetime");
        if method.is_none() && !is_datetime {
            return Err(self.unexpected());
        }
        self.expect("(")?;
        let step = match (method, &self.token) {
            (Some(method), _) => Step::Method(*method),
            (None, Token::String(_)) => Step::Datetime(Some(self.string()?)),
            (None, _) => Step::Datetime(None),
        };
        self.expect(")")?;
        Ok(step)
    }

    /// Subscripts, behind their opening bracket.
    fn elements(&mut self) -> Result<Step> {
        if self.takes_symbol("*")? {
            self.expect("]")?;
            return Ok(Step::AnyElement);
        }
        self.subscripts += 1;
        let mut list = Vec::new();
        loop {
            let from = self.subscript()?;
            let to = match self.takes_word("to")? {
                true => Some(self.subscript()?),
                false => None,
            };
            list.push((from, to));
            if !self.takes_symbol(",")? {
                break;
            }
        }
        self.subscripts -= 1;
        self.expect("]")?;
        Ok(match &list[..] {
            [(only, None)] => written_position(only).map_or(Step::Elements(list), Step::Element),
            _ => Step::Elements(list),
        })
    }

    fn subscript(&mut self) -> Result<Expression> {
        let parsed = self.binary(Priority::Sum)?;
        match parsed.is_predicate {
            true => Err(self.unexpected()),
            false => Ok(parsed.expression),
        }
    }

    /// The levels behind `**`.
    fn any_below(&mut self) -> Result<Step> {
        if !self.takes_symbol("{")? {
            return Ok(Step::AnyBelow {
                first: 0,
                last: LAST_LEVEL,
            });
        }
        let first = self.level()?;
        let last = match self.takes_word("to")? {
            true => self.level()?,
            false => first,
        };
        self.expect("}")?;
        Ok(Step::AnyBelow { first, last })
    }

    fn level(&mut self) -> Result<u32> {
        match self.take()? {
            Token::Number(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
                let level = digits.parse::<i32>().map_err(|_| {
                    let message = format!("value \"{digits}\" is out of range for type integer");
                    Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message)
                })?;
                Ok(level.unsigned_abs())
            }
            Token::Word(word) if is_keyword(&word, "last") => Ok(LAST_LEVEL),
            other => {
                self.token = other;
                Err(self.unexpected())
            }
        }
    }
}

/// The position that a subscript is, if it is written as PostgreSQL shows one that is not negative: not 1.5, nor what does not fit in
/// integer.
fn written_position(subscript: &Expression) -> Option<u32> {
    match &subscript.head {
        Head::Number(digits) if subscript.steps.is_empty() => {
            let position = digits
                .parse::<i32>()
                .ok()
                .filter(|position| position.to_string() == *digits);
            position.and_then(|position| u32::try_from(position).ok())
        }
        _ => None,
    }
}

/// Whether a word is a keyword, in whatever case.
fn is_keyword(word: &str, keyword: &str) -> bool {
    word.eq_ignore_ascii_case(keyword)
}
