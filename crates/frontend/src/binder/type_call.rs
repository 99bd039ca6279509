//! Calls that ask for a type by its name, where a statement defined the type: it is looked for when the statement is bound.

use super::Binder;
use super::naming::find_type;
use super::relation_call::{constant_text, written_in};
use frazil_catalog::identifier;
use frazil_functions::Operand;
use frazil_types::{Kind, Span};

/// Functions, and how many arguments stand from the type's name to the end.
const CALLS: &[(&str, usize)] = &[("has_type_privilege", 2), ("to_regtype", 1)];

impl Binder<'_> {
    /// Looks for the type that a call names, if a statement defined it: gives what `to_regtype` answers, and lets `has_type_privilege` ask
    /// for another type, of which it says the same. Types of the system are known to the functions.
    pub(super) fn type_call(&self, name: &str, arguments: &mut [Operand], span: Span) -> Option<Operand> {
        let &(_, behind) = CALLS.iter().find(|call| call.0 == name)?;
        let at = arguments.len().checked_sub(behind)?;
        let text = constant_text(&arguments[at])?;
        let (element, brackets) = match text.trim_end().strip_suffix("[]") {
            Some(element) => (element, "[]"),
            None => (text, ""),
        };
        let ty = written_in(element);
        if ty.schema.is_none() && Kind::named(&ty.name).is_some() {
            return None;
        }
        let (_, entry) = find_type(self.catalog, self.catalog.path(), &ty)?;
        if name == "to_regtype" {
            let shown = format!("{}{brackets}", identifier(&entry.name));
            return Some(Operand::literal(shown, span));
        }
        arguments[at] = Operand::literal("text", arguments[at].span());
        None
    }
}
