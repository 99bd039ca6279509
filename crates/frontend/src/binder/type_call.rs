//! Calls that ask for a type by its name, where a statement defined the type: it is looked for when the statement is bound.

use super::Binder;
use super::naming::find_type;
use super::relation_call::{constant_text, written_in};
use frazil_catalog::identifier;
use frazil_functions::Operand;
use frazil_types::{Kind, Span};

impl Binder<'_> {
    /// The answer of `to_regtype` for a type that a statement defined. Types of the system are known to the function.
    pub(super) fn type_call(&self, name: &str, arguments: &[Operand], span: Span) -> Option<Operand> {
        let ("to_regtype", [argument]) = (name, arguments) else {
            return None;
        };
        let text = constant_text(argument)?;
        let (element, brackets) = match text.trim_end().strip_suffix("[]") {
            Some(element) => (element, "[]"),
            None => (text, ""),
        };
        let ty = written_in(element);
        if ty.schema.is_none() && Kind::named(&ty.name).is_some() {
            return None;
        }
        let (_, entry) = find_type(self.catalog, self.catalog.path(), &ty)?;
        let shown = format!("{}{brackets}", identifier(&entry.name));
        Some(Operand::literal(shown, span))
    }
}
