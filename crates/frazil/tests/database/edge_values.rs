//! The types that columns have, each with values at its edges: what the tests of all types run over.

use frazil::{LogicalType, RawValue as Value};
use frazil_types::logical_type::WITHOUT_LENGTH;
use frazil_types::sql_type::ElementType;
use frazil_types::value_ops::{CastLength, cast};

/// A type and texts of its values.
pub struct Edges {
    pub ty: LogicalType,
    pub texts: &'static [&'static str],
}

const fn decimal(precision: u8, scale: u8) -> LogicalType {
    LogicalType::Decimal { precision, scale }
}

/// Every kind of type at least once, and of decimals and strings every native form.
pub const TYPES: &[Edges] = &[
    Edges {
        ty: LogicalType::Boolean,
        texts: &["true", "false"],
    },
    Edges {
        ty: LogicalType::SmallInt,
        texts: &["-32768", "-1", "0", "1", "7", "32767"],
    },
    Edges {
        ty: LogicalType::Integer,
        texts: &["-2147483648", "-32769", "-1", "0", "1", "2147483647"],
    },
    Edges {
        ty: LogicalType::BigInt,
        texts: &[
            "-9223372036854775808",
            "-2147483649",
            "0",
            "1",
            "9007199254740993",
            "9223372036854775807",
        ],
    },
    Edges {
        ty: LogicalType::Real,
        texts: &[
            "-Infinity",
            "-3.4028235e38",
            "-2.5",
            "-0",
            "0",
            "1e-45",
            "0.1",
            "2.5",
            "999999.5",
            "1e6",
            "16777217",
            "3.4028235e38",
            "Infinity",
            "NaN",
        ],
    },
    Edges {
        ty: LogicalType::Double,
        texts: &[
            "-Infinity",
            "-1e308",
            "-2.5",
            "-0",
            "0",
            "5e-324",
            "0.15",
            "2.5",
            "32767.5",
            "2147483647.5",
            "9007199254740993",
            "1e19",
            "1e308",
            "Infinity",
            "NaN",
        ],
    },
    Edges {
        ty: decimal(5, 2),
        texts: &["-999.99", "-0.05", "0", "0.15", "2.50", "999.99"],
    },
    Edges {
        ty: decimal(18, 0),
        texts: &["-999999999999999999", "-1", "0", "3", "999999999999999999"],
    },
    Edges {
        ty: decimal(38, 10),
        texts: &[
            "-9999999999999999999999999999.9999999999",
            "-0.0000000001",
            "0",
            "2.5",
            "0.0000000001",
            "9999999999999999999999999999.9999999999",
        ],
    },
    Edges {
        ty: decimal(38, 0),
        texts: &[
            "-99999999999999999999999999999999999999",
            "0",
            "5",
            "99999999999999999999999999999999999999",
        ],
    },
    Edges {
        ty: LogicalType::Date,
        texts: &[
            "-infinity",
            "4714-11-24 BC",
            "0001-01-01",
            "1969-12-31",
            "1970-01-01",
            "2024-02-29",
            "294247-01-10",
            "294247-01-11",
            "5874897-12-31",
            "infinity",
        ],
    },
    Edges {
        ty: LogicalType::TIME,
        texts: &[
            "00:00:00",
            "00:00:00.000001",
            "12:34:56.789",
            "23:59:59.999999",
            "24:00:00",
        ],
    },
    Edges {
        ty: LogicalType::TIMESTAMP,
        texts: &[
            "-infinity",
            "4714-11-24 00:00:00 BC",
            "1969-12-31 23:59:59.999999",
            "1970-01-01 00:00:00",
            "2024-02-29 12:34:56.789",
            "294247-01-10 04:00:54.775806",
            "infinity",
        ],
    },
    Edges {
        ty: LogicalType::Interval,
        texts: &[
            "00:00:00",
            "1 mon",
            "30 days",
            "720:00:00",
            "-1 days",
            "-1 mons +31 days",
            "178956970 years",
        ],
    },
    Edges {
        ty: LogicalType::Char(1),
        texts: &["", "7", "t", "é"],
    },
    Edges {
        ty: LogicalType::Char(5),
        texts: &["", "12", "ab", "hello", "größe"],
    },
    Edges {
        ty: LogicalType::Char(WITHOUT_LENGTH),
        texts: &["", "true", "-2.5", "a longer text than a reference holds"],
    },
    Edges {
        ty: LogicalType::Varchar(5),
        texts: &["", " ", "7 ", "hello", "größe"],
    },
    Edges {
        ty: LogicalType::TIMESTAMPTZ,
        texts: &[
            "-infinity",
            "0001-01-01 00:00:00+00",
            "1969-12-31 23:59:59.999999+00",
            "1970-01-01 00:00:00+00",
            "2024-03-31 01:00:00+00",
            "9999-12-31 23:59:59.999999+00",
            "infinity",
        ],
    },
    Edges {
        ty: LogicalType::Time(0),
        texts: &["00:00:00", "12:34:56", "24:00:00"],
    },
    Edges {
        ty: LogicalType::Timestamp(3),
        texts: &[
            "-infinity",
            "1969-12-31 23:59:59.999",
            "1970-01-01 00:00:00",
            "2024-02-29 12:34:56.789",
            "infinity",
        ],
    },
    Edges {
        ty: LogicalType::TimestampTz(frazil_types::Zone::UTC, 1),
        texts: &["1969-12-31 23:59:59.9+00", "2024-03-31 01:00:00+00"],
    },
    Edges {
        ty: LogicalType::Oid,
        texts: &["0", "1", "16384", "2147483648", "4294967295"],
    },
    Edges {
        ty: LogicalType::Name,
        texts: &[
            "",
            "a",
            "größe",
            "a longer name than a reference holds, and one that has blanks ",
        ],
    },
    Edges {
        ty: LogicalType::InternalChar,
        texts: &["", "a", "r", "~"],
    },
    Edges {
        ty: LogicalType::Uuid,
        texts: &[
            "00000000-0000-0000-0000-000000000000",
            "7fffffff-ffff-ffff-ffff-ffffffffffff",
            "80000000-0000-0000-0000-000000000000",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
        ],
    },
    Edges {
        ty: LogicalType::Bytea,
        texts: &[
            "\\x",
            "\\x00",
            "\\x0000",
            "\\x61",
            "\\x6100",
            "\\x80",
            "\\xc3a9",
            "\\xff",
            "\\x00112233445566778899aabbccddeeff",
            "\\x00112233445566778899aabbccddeeff00",
        ],
    },
    Edges {
        ty: LogicalType::Json,
        texts: &[
            "[null]",
            "true",
            "1.00",
            "1",
            "-0",
            "\"\"",
            "\"\\u0000 a longer text than a reference holds, größe\"",
            "{ \"b\": 1, \"a\":  [2, {}], \"b\": 3}",
            "[]",
        ],
    },
    Edges {
        ty: LogicalType::JsonPath,
        texts: &[
            "$",
            "strict $.\"a\"[*]",
            "$.\"a longer path than a reference holds, größe\"",
            "$?(@.\"x\" > 1 && @.\"y\" like_regex \"^a\" flag \"i\")",
            "($ + 1.50)",
            "1.00",
        ],
    },
    Edges {
        ty: LogicalType::Jsonb,
        texts: &[
            "[null]",
            "[]",
            "[[]]",
            "{}",
            "\"\"",
            "\"a\"",
            "\"a longer text than a reference holds, größe\"",
            "1.00",
            "1",
            "-7.5e1",
            "1e40",
            "false",
            "true",
            "[1, 2]",
            "{\"b\": 1, \"aa\": [2, {}], \"b\": 3}",
        ],
    },
    Edges {
        ty: LogicalType::Array(ElementType::INTEGER),
        texts: &[
            "{}",
            "{0}",
            "[0:0]={0}",
            "{{0}}",
            "{0,0}",
            "{0,NULL}",
            "{1,-2147483648,2147483647}",
            "{{1,2},{3,NULL}}",
            "[-2:-1][3:4]={{1,2},{3,NULL}}",
            "{NULL}",
        ],
    },
    Edges {
        ty: LogicalType::Array(ElementType::DOUBLE),
        texts: &[
            "{}",
            "{-0}",
            "{0}",
            "{0,-Infinity}",
            "{0.1}",
            "{1e300,1e-300}",
            "{NaN}",
            "{NULL,NULL}",
        ],
    },
    Edges {
        ty: LogicalType::Array(ElementType::TEXT),
        texts: &[
            "{}",
            "{\"\"}",
            "{\"NULL\"}",
            "{a,\"b c\",NULL}",
            "{\"a longer text than a reference holds\",größe}",
            "{\"{\",\"\\\"\",\"\\\\\"}",
        ],
    },
    Edges {
        ty: LogicalType::Text,
        texts: &[
            "",
            " 12 ",
            "-7",
            "2.5",
            "yes",
            "f",
            "1e3",
            "NaN",
            "Infinity",
            "2024-02-29",
            "2024-02-30",
            "2024-02-29 10:00",
            "1 day 02:00",
            "99999999999999999999999",
            "10000-01-01",
            "ab   ",
            "a longer text than a reference holds",
            "größe",
            "{A0EEBC99-9c0b4ef8-bb6d6bb9-bd380a11}",
        ],
    },
];

impl Edges {
    /// The values.
    pub fn values(&self) -> Vec<Value> {
        self.texts.iter().map(|text| value(text, self.ty)).collect()
    }

    /// Name of the type's column in a table of all types.
    pub fn column(&self) -> String {
        let name = self.ty.to_string().replace("[]", "_array");
        let letters = name.replace(|c: char| !c.is_alphanumeric(), "_");
        format!("c_{}", letters.trim_end_matches('_'))
    }

    /// The type of the column: of a type that no column has, its values are texts there.
    pub fn stored(&self) -> LogicalType {
        match self.ty.info().is_stored {
            true => self.ty,
            false => LogicalType::Text,
        }
    }

    /// The column as an expression of the type.
    pub fn source(&self) -> String {
        match self.ty.info().is_stored {
            true => self.column(),
            false => format!("cast({} as {})", self.column(), self.ty),
        }
    }

    /// The literal of its value at a place; NULL behind the last.
    pub fn literal(&self, at: usize) -> String {
        self.texts
            .get(at)
            .map_or("null".to_owned(), |text| format!("'{text}'"))
    }
}

/// The value of a type that a text shows.
pub fn value(text: &str, ty: LogicalType) -> Value {
    cast(
        &Value::Text(text.to_owned()),
        LogicalType::Text,
        ty,
        CastLength::Refuse,
    )
    .unwrap_or_else(|e| panic!("{text} as {ty}: {e:?}"))
}
