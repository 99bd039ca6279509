//! The facts of a type that the system tables show: its row of `pg_type`, and its columns of `information_schema.columns`.

/// A function by its oid and its name.
pub type NamedFunction = (u32, &'static str);

/// The oid of the default collation.
pub const DEFAULT_COLLATION: u32 = 100;
/// The oid of the collation of names.
pub const C_COLLATION: u32 = 950;
/// Stands for a function that the type does not have.
const NO_FUNCTION: NamedFunction = (0, "-");

/// Columns of `pg_type`. Other columns derive from other fields of [`TypeInfo`](super::TypeInfo).
#[derive(Clone, Copy, Debug)]
pub struct CatalogRow {
    /// `typtype`: `b` for base types, `e` for enumerations, `p` for pseudo-types.
    pub form: &'static str,
    /// `typcategory`: the letter of the family.
    pub category: &'static str,
    /// `typispreferred`.
    pub is_preferred: bool,
    /// `typalign`.
    pub align: &'static str,
    /// `typstorage`.
    pub storage: &'static str,
    /// `typcollation`: 0 if values are not collated.
    pub collation: u32,
    /// `typelem`: 0 if values have no subscripts.
    pub element: u32,
    /// `typinput`, `typoutput`, `typreceive` and `typsend`.
    pub input_output: [NamedFunction; 4],
    /// `typmodin` and `typmodout`.
    pub modifiers: [NamedFunction; 2],
    /// `typsubscript`.
    pub subscript: NamedFunction,
}

impl CatalogRow {
    /// A base type that has neither a collation nor modifiers nor subscripts, and is not preferred.
    pub(super) const fn base(
        category: &'static str,
        [align, storage]: [&'static str; 2],
        input_output: [NamedFunction; 4],
    ) -> CatalogRow {
        CatalogRow {
            form: "b",
            category,
            is_preferred: false,
            align,
            storage,
            collation: 0,
            element: 0,
            input_output,
            modifiers: [NO_FUNCTION; 2],
            subscript: NO_FUNCTION,
        }
    }

    /// The pseudo-type with these facts.
    pub(super) const fn pseudo(self) -> CatalogRow {
        CatalogRow {
            form: "p",
            category: "P",
            ..self
        }
    }

    /// The preferred type of its category.
    pub(super) const fn preferred(self) -> CatalogRow {
        CatalogRow {
            is_preferred: true,
            ..self
        }
    }

    /// Texts with a collation.
    pub(super) const fn collated(self, collation: u32) -> CatalogRow {
        CatalogRow { collation, ..self }
    }

    /// A type with lengths or digits.
    pub(super) const fn modified(self, modifiers: [NamedFunction; 2]) -> CatalogRow {
        CatalogRow { modifiers, ..self }
    }

    /// A type whose values have subscripts, which give values of `element`.
    pub(super) const fn subscripted(self, subscript: NamedFunction, element: u32) -> CatalogRow {
        CatalogRow {
            subscript,
            element,
            ..self
        }
    }
}

/// The functions of all arrays.
const ARRAY_FUNCTIONS: [NamedFunction; 4] = [
    (750, "array_in"),
    (751, "array_out"),
    (2400, "array_recv"),
    (2401, "array_send"),
];

impl CatalogRow {
    /// A domain over the type that has these facts.
    pub fn of_domains(self) -> CatalogRow {
        let [_, output, _, send] = self.input_output;
        CatalogRow {
            form: "d",
            is_preferred: false,
            element: 0,
            input_output: [(2597, "domain_in"), output, (2598, "domain_recv"), send],
            modifiers: [NO_FUNCTION; 2],
            subscript: NO_FUNCTION,
            ..self
        }
    }

    /// Arrays of the type that has these facts and the oid `element`.
    pub fn of_arrays(&self, element: u32) -> CatalogRow {
        let is_pseudo = self.form == "p";
        let align = if self.align == "d" { "d" } else { "i" };
        CatalogRow {
            form: if is_pseudo { "p" } else { "b" },
            category: if is_pseudo { self.category } else { "A" },
            collation: self.collation,
            modifiers: self.modifiers,
            ..CatalogRow::base("A", [align, "x"], ARRAY_FUNCTIONS)
        }
        .subscripted((6179, "array_subscript_handler"), element)
    }
}

/// The columns of `information_schema.columns` that measure values of a type; `None` for NULL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// `numeric_precision` in digits of the radix.
    pub precision: Option<u32>,
    /// `numeric_precision_radix`.
    pub radix: Option<u32>,
    /// `numeric_scale`.
    pub scale: Option<u32>,
    /// `character_maximum_length`.
    pub characters: Option<u32>,
    /// `character_octet_length`.
    pub octets: Option<u32>,
    /// `datetime_precision` in digits of a second.
    pub second_digits: Option<u32>,
}

/// Most bytes of a character.
const CHARACTER_BYTES: u32 = 4;
/// Most bytes of a text without a length: PostgreSQL's 2^30.
const TEXT_BYTES: u32 = 1 << 30;

impl Measures {
    /// Nothing is measured.
    pub(super) const NOTHING: Measures = Measures {
        precision: None,
        radix: None,
        scale: None,
        characters: None,
        octets: None,
        second_digits: None,
    };

    /// Integers of `bits` bits.
    pub(super) const fn integer(bits: u32) -> Measures {
        Measures {
            scale: Some(0),
            ..Measures::float(bits)
        }
    }

    /// Floating-point numbers whose mantissa has `bits` bits.
    pub(super) const fn float(bits: u32) -> Measures {
        Measures {
            precision: Some(bits),
            radix: Some(2),
            ..Measures::NOTHING
        }
    }

    /// Texts of at most `characters` characters; `None`: of any length.
    pub(super) fn text(characters: Option<u32>) -> Measures {
        let octets = characters.map_or(TEXT_BYTES, |n| n.saturating_mul(CHARACTER_BYTES));
        Measures {
            characters,
            octets: Some(octets.min(TEXT_BYTES)),
            ..Measures::NOTHING
        }
    }

    /// Moments with `second_digits` decimal digits of a second.
    pub(super) const fn moment(second_digits: u32) -> Measures {
        Measures {
            second_digits: Some(second_digits),
            ..Measures::NOTHING
        }
    }
}
