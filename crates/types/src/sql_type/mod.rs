//! What each SQL type is: a file a type, with one static [`TypeInfo`]. Whoever has to know something of a type asks
//! its info. A [`LogicalType`] is the small key that plans, columns and files carry: a [`Kind`] with its length or digits.
//!
//! A new type is a file here with a line in `kinds!`, a variant of [`LogicalType`], and its rows in the table of casts
//! (`value_ops/casts.rs`).

mod catalog_row;
mod catalog_text;
mod element_type;
mod enum_type;
mod info;
mod moments;
mod named_oid;
mod object_reference;
mod sent_column;
mod wire;

use crate::{LogicalType, NativeType};
use info::{number_overflow, range, show_plain, text_length, text_modifier, write_integer, write_text};
use moments::{
    datetime_overflow, rounded, second_digits, second_measures, second_modifier, show_second_digits,
};

pub use boolean::read_boolean;
pub use bytea::{escaped_bytes, hex_digits, write_hex};
pub use catalog_row::{C_COLLATION, CatalogRow, DEFAULT_COLLATION, Measures, NamedFunction};
pub use double::read_double;
pub use element_type::ElementType;
pub use enum_type::{EnumLabel, EnumType};
pub use info::{Category, ConstantForm, Counts, DocumentForm, NativeOf, Order, SentText, TypeInfo};
pub(crate) use named_oid::oid_bytes;
pub use named_oid::{named_oid, oid_of};
pub(crate) use real::of_double as real_of_double;
pub use record::push_field as push_field_of_record;
pub use sent_column::SentColumn;
pub use uuid::{of_bytes as uuid_of_bytes, to_bytes as uuid_to_bytes};
pub use wire::{numeric_text, send_sized, too_long, utf8};

impl Category {
    /// The preferred type of the family; `None` of families that have none.
    pub fn preferred(self) -> Option<Kind> {
        let is_preferred = |kind: &&Kind| kind.category() == self && kind.is_preferred();
        Kind::ALL.iter().find(is_preferred).copied()
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident => $module:ident),* $(,)?) => {
        $(mod $module;)*

        /// A type without its length or digits: what operators and functions are declared on. Numbers stand from the narrow
        /// to the wide ones.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// All of them, by number.
            pub const ALL: [Kind; KINDS] = [$(Kind::$kind),*];
        }

        /// Number of kinds.
        pub const KINDS: usize = [$(Kind::$kind),*].len();

        static INFOS: [&TypeInfo; KINDS] = [$(&$module::INFO),*];
    };
}

kinds! {
    /// boolean.
    Boolean => boolean,
    /// smallint.
    SmallInt => small_int,
    /// integer.
    Integer => integer,
    /// bigint.
    BigInt => big_int,
    /// numeric of any precision.
    Numeric => numeric,
    /// real.
    Real => real,
    /// double precision.
    Double => double,
    /// date.
    Date => date,
    /// time.
    Time => time,
    /// timestamp.
    Timestamp => timestamp,
    /// timestamp with time zone.
    TimestampTz => timestamp_tz,
    /// interval.
    Interval => interval,
    /// char(n).
    Char => char,
    /// varchar(n).
    Varchar => varchar,
    /// text.
    Text => text,
    /// uuid.
    Uuid => uuid,
    /// bytea.
    Bytea => bytea,
    /// json.
    Json => json,
    /// jsonb.
    Jsonb => jsonb,
    /// jsonpath.
    JsonPath => jsonpath,
    /// An array of any type.
    Array => array,
    /// An enumeration.
    Enum => enumeration,
    /// A row as one value.
    Record => record,
    /// The number of an object.
    Oid => oid,
    /// The name of an object.
    Name => name,
    /// "char": one byte.
    InternalChar => internal_char,
    /// A relation by its oid.
    Regclass => regclass,
    /// A type by its oid.
    Regtype => regtype,
    /// A function by its oid.
    Regproc => regproc,
    /// A schema by its oid.
    Regnamespace => regnamespace,
    /// A function by its oid, with its arguments.
    Regprocedure => regprocedure,
    /// An operator by its oid, with its operands.
    Regoperator => regoperator,
    /// The place of a version of a row.
    Tid => tid,
    /// The number of a transaction.
    Xid => xid,
    /// The number of a command in its transaction.
    Cid => cid,
}

impl Kind {
    /// The kind of a type.
    #[inline]
    pub fn of(ty: LogicalType) -> Kind {
        ty.kind()
    }

    /// Its facts.
    #[inline]
    pub fn info(self) -> &'static TypeInfo {
        INFOS[self as usize]
    }

    /// Its family.
    pub fn category(self) -> Category {
        self.info().category
    }

    /// Whether it is the preferred type of its family.
    pub fn is_preferred(self) -> bool {
        self.info().is_preferred
    }

    /// Smallint, integer or bigint.
    pub fn is_integer(self) -> bool {
        self.category() == Category::Numeric
            && matches!(self.info().native, NativeOf::Always(native) if native.is_integer())
    }

    /// An integer, a decimal: a number that is held as it is written.
    pub fn is_exact(self) -> bool {
        self.category() == Category::Numeric && !self.is_float()
    }

    /// Real or double: a number that is held as a double.
    pub fn is_float(self) -> bool {
        self.info().native == NativeOf::Always(NativeType::F64)
    }

    /// Whether blanks at the end of a value do not count.
    pub fn is_padded(self) -> bool {
        self.info().order == Order::WithoutBlanks
    }

    /// True for a string type that has no operators and aggregates of its own but those of its family's preferred type.
    pub fn borrows_operators(self) -> bool {
        self.category() == Category::String && !self.info().has_extremes
    }

    /// True for oids that show a name: regclass and its like.
    pub fn is_named_oid(self) -> bool {
        matches!(
            self,
            Kind::Regclass
                | Kind::Regtype
                | Kind::Regproc
                | Kind::Regnamespace
                | Kind::Regprocedure
                | Kind::Regoperator
        )
    }

    /// Place among the numbers, narrow first; `None` for others.
    pub fn number_rank(self) -> Option<u8> {
        (self.category() == Category::Numeric).then_some(self as u8)
    }

    /// Its name in messages, PostgreSQL's.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The type of this kind that has no length or digits; `None` for decimals.
    pub fn plain(self) -> Option<LogicalType> {
        (self.info().of_modifiers)(&[])
    }

    /// The kind that SQL calls so: a name in lower case, without a length or digits.
    pub fn named(name: &str) -> Option<Kind> {
        let is_named = |kind: &&Kind| kind.info().sql_names.contains(&name);
        Kind::ALL.iter().find(is_named).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_type_has_names_and_a_number_of_its_own() {
        let (mut names, mut oids) = (HashSet::new(), HashSet::new());
        for kind in Kind::ALL {
            let info = kind.info();
            assert_eq!(info.kind, kind);
            assert!(oids.insert(info.oid), "{kind:?}");
            assert!(info.array_oid == 0 || oids.insert(info.array_oid), "{kind:?}");
            if let Some(ty) = kind.plain() {
                assert_eq!(ty.overflow().state(), info.overflow_state, "{ty}");
            }
            info.sql_names.iter().for_each(|name| {
                assert!(names.insert(*name), "{name}");
                assert_eq!(Kind::named(name), Some(kind));
            });
        }
        assert_eq!(Kind::named("integers"), None);
    }

    #[test]
    fn each_family_has_a_preferred_type() {
        for kind in Kind::ALL {
            let family = Kind::ALL.iter().filter(|k| k.category() == kind.category());
            let preferred = usize::from(!matches!(
                kind.category(),
                Category::UserDefined | Category::Array
            ));
            assert_eq!(family.filter(|k| k.is_preferred()).count(), preferred, "{kind:?}");
        }
    }

    #[test]
    fn types_read_what_they_show() {
        for kind in Kind::ALL {
            for modifiers in [&[][..], &[7], &[12, 2]] {
                let Some(ty) = (kind.info().of_modifiers)(modifiers) else {
                    continue;
                };
                assert_eq!(ty.kind(), kind);
                assert_eq!(LogicalType::parse(&ty.to_string()), Some(ty), "{ty}");
                assert_eq!(LogicalType::of_code(ty.code()).ok(), Some(ty), "{ty}");
                let Some(array) = ty.array() else { continue };
                assert_eq!(array.element(), Some(ty), "{array}");
                assert_eq!(LogicalType::parse(&array.to_string()), Some(array), "{array}");
                assert_eq!(LogicalType::of_code(array.code()).ok(), Some(array), "{array}");
            }
        }
    }
}
