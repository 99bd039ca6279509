//! An expression whose type may still be open, as PostgreSQL's `unknown`.

use frazil_plan::Expr;
use frazil_types::Span;

/// An expression, or what takes its type from what stands beside it.
#[derive(Clone, Debug)]
pub enum Operand {
    /// An expression of a type.
    Typed(Expr),
    /// What has no type yet.
    Unknown(Unknown),
}

/// A quoted literal, NULL or parameter that nothing has typed yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// What it is.
    pub kind: UnknownKind,
    /// Where it stands.
    pub span: Span,
}

/// What has no type of its own.
#[derive(Clone, Debug, PartialEq)]
pub enum UnknownKind {
    /// A quoted literal.
    Literal(String),
    /// NULL.
    Null,
    /// A parameter, counted from 0.
    Parameter(usize),
}

impl Operand {
    /// A quoted literal.
    pub fn literal(text: impl Into<String>, span: Span) -> Operand {
        let kind = UnknownKind::Literal(text.into());
        Operand::Unknown(Unknown { kind, span })
    }

    /// NULL.
    pub fn null(span: Span) -> Operand {
        let kind = UnknownKind::Null;
        Operand::Unknown(Unknown { kind, span })
    }

    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Operand::Typed(e) => e.span,
            Operand::Unknown(u) => u.span,
        }
    }

    /// The expression of a type, to be changed.
    pub fn expression_mut(&mut self) -> Option<&mut Expr> {
        match self {
            Operand::Typed(e) => Some(e),
            Operand::Unknown(_) => None,
        }
    }

    /// The same operand, standing at `span`.
    pub fn at(self, span: Span) -> Operand {
        match self {
            Operand::Typed(e) => Operand::Typed(e.at(span)),
            Operand::Unknown(u) => Operand::Unknown(Unknown { span, ..u }),
        }
    }

    /// Its type, if it has one.
    pub fn ty(&self) -> Option<frazil_types::LogicalType> {
        match self {
            Operand::Typed(e) => Some(e.ty),
            Operand::Unknown(_) => None,
        }
    }
}

impl From<Expr> for Operand {
    fn from(e: Expr) -> Operand {
        Operand::Typed(e)
    }
}

/// What stands in the brackets behind an array.
#[derive(Clone, Debug)]
pub enum Subscript {
    /// `[i]`.
    Index(Operand),
    /// `[from:to]`, either of which may be left out.
    Slice(Option<Operand>, Option<Operand>),
}
