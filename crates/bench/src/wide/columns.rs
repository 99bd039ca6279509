//! Columns of the wide table: those of lineitem and of all that it refers to, save names, addresses, phones and
//! comments, which no query of the experiment reads.

/// A column.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    name: &'static str,
    /// Its value in [`JOIN`]; empty if it is that of the column of its name.
    joined: &'static str,
    /// Distinct values, at scale factor 1.
    values: f64,
    /// Effect of a greater scale factor on that number.
    growth: Growth,
    /// The value of rank `RANK`, counted from 1.
    drawn: &'static str,
}

/// Effect of a greater scale factor on the number of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    /// None.
    Fixed,
    /// A product: twice the factor, twice the values.
    Scaled,
}

/// Rows of lineitem at scale factor 1.
pub const ROWS_OF_FACTOR: f64 = 6_001_215.0;

/// Lineitem with all that it refers to.
pub const JOIN: &str = "from lineitem join orders on o_orderkey = l_orderkey join customer on c_custkey = o_custkey \
    join nation as cn on cn.n_nationkey = c_nationkey join region as cr on cr.r_regionkey = cn.n_regionkey \
    join part on p_partkey = l_partkey join supplier on s_suppkey = l_suppkey \
    join nation as sn on sn.n_nationkey = s_nationkey join region as sr on sr.r_regionkey = sn.n_regionkey \
    join partsupp on ps_partkey = l_partkey and ps_suppkey = l_suppkey";

const NATIONS: &str = "split_part('CANADA,FRANCE,GERMANY,CHINA,INDIA,JAPAN,BRAZIL,EGYPT,IRAN,IRAQ,KENYA,PERU,ROMANIA,\
    RUSSIA,VIETNAM,ALGERIA,ARGENTINA,ETHIOPIA,INDONESIA,JORDAN,MOROCCO,MOZAMBIQUE,SAUDI ARABIA,UNITED KINGDOM,\
    UNITED STATES', ',', RANK)";
const REGIONS: &str = "split_part('ASIA,AMERICA,EUROPE,AFRICA,MIDDLE EAST', ',', RANK)";
const DATE: &str = "date '1992-01-01' + RANK";
const DAYS: f64 = 2_526.0;

const fn of(name: &'static str, values: f64, drawn: &'static str) -> Column {
    Column {
        name,
        joined: "",
        values,
        growth: Growth::Fixed,
        drawn,
    }
}

const fn key(name: &'static str, values: f64) -> Column {
    Column {
        growth: Growth::Scaled,
        ..of(name, values, "RANK")
    }
}

const fn joined(name: &'static str, joined: &'static str, values: f64, drawn: &'static str) -> Column {
    Column {
        joined,
        ..of(name, values, drawn)
    }
}

/// The columns.
pub const COLUMNS: [Column; 34] = [
    key("l_orderkey", 6e6),
    key("l_partkey", 2e5),
    key("l_suppkey", 1e4),
    of("l_linenumber", 7.0, "RANK"),
    of("l_quantity", 50.0, "cast(RANK as decimal(15, 2))"),
    of(
        "l_extendedprice",
        9.5e6,
        "cast(900 + RANK * 0.01 as decimal(15, 2))",
    ),
    of("l_discount", 11.0, "cast(RANK * 0.01 - 0.01 as decimal(15, 2))"),
    of("l_tax", 9.0, "cast(RANK * 0.01 - 0.01 as decimal(15, 2))"),
    of(
        "l_returnflag",
        3.0,
        "cast(split_part('N,A,R', ',', RANK) as char(1))",
    ),
    of(
        "l_linestatus",
        2.0,
        "cast(split_part('O,F', ',', RANK) as char(1))",
    ),
    of("l_shipdate", DAYS, DATE),
    of("l_commitdate", 2_466.0, DATE),
    of("l_receiptdate", 2_554.0, DATE),
    of(
        "l_shipinstruct",
        4.0,
        "split_part('DELIVER IN PERSON,COLLECT COD,NONE,TAKE BACK RETURN', ',', RANK)",
    ),
    of(
        "l_shipmode",
        7.0,
        "split_part('AIR,MAIL,RAIL,SHIP,TRUCK,FOB,REG AIR', ',', RANK)",
    ),
    key("o_custkey", 1.5e5),
    of(
        "o_orderstatus",
        3.0,
        "cast(split_part('O,F,P', ',', RANK) as char(1))",
    ),
    of("o_totalprice", 5e7, "cast(850 + RANK * 0.01 as decimal(15, 2))"),
    of("o_orderdate", 2_406.0, DATE),
    of(
        "o_orderpriority",
        5.0,
        "split_part('1-URGENT,2-HIGH,3-MEDIUM,4-NOT SPECIFIED,5-LOW', ',', RANK)",
    ),
    of("o_shippriority", 1.0, "RANK - 1"),
    of(
        "c_mktsegment",
        5.0,
        "split_part('BUILDING,AUTOMOBILE,FURNITURE,HOUSEHOLD,MACHINERY', ',', RANK)",
    ),
    of("c_acctbal", 1.1e6, "cast(RANK * 0.01 - 1000 as decimal(15, 2))"),
    joined("c_nation", "cn.n_name", 25.0, NATIONS),
    joined("c_region", "cr.r_name", 5.0, REGIONS),
    of(
        "p_brand",
        25.0,
        "'Brand#' || (RANK - 1) / 5 + 1 || (RANK - 1) % 5 + 1",
    ),
    of(
        "p_type",
        150.0,
        "split_part('ECONOMY,STANDARD,SMALL,MEDIUM,LARGE,PROMO', ',', (RANK - 1) % 6 + 1) || ' ' || \
         split_part('ANODIZED,PLATED,BURNISHED,POLISHED,BRUSHED', ',', (RANK - 1) / 6 % 5 + 1) || ' ' || \
         split_part('STEEL,TIN,NICKEL,BRASS,COPPER', ',', (RANK - 1) / 30 + 1)",
    ),
    of("p_size", 50.0, "RANK"),
    of(
        "p_container",
        40.0,
        "split_part('MED,SM,LG,JUMBO,WRAP', ',', (RANK - 1) % 5 + 1) || ' ' || \
         split_part('BOX,CASE,BAG,JAR,PKG,PACK,CAN,DRUM', ',', (RANK - 1) / 5 + 1)",
    ),
    of("s_acctbal", 1.1e6, "cast(RANK * 0.01 - 1000 as decimal(15, 2))"),
    joined("s_nation", "sn.n_name", 25.0, NATIONS),
    joined("s_region", "sr.r_name", 5.0, REGIONS),
    of("ps_availqty", 9_999.0, "RANK"),
    of(
        "ps_supplycost",
        99_901.0,
        "cast(RANK * 0.01 + 0.99 as decimal(15, 2))",
    ),
];

impl Column {
    /// Its item in a SELECT from [`JOIN`].
    pub fn of_join(&self) -> String {
        match self.joined {
            "" => self.name.to_owned(),
            joined => format!("{joined} as {}", self.name),
        }
    }

    /// Its item in a SELECT from ranks, of which its own is in the column `rank_name`.
    pub fn drawn(&self) -> String {
        format!("{} as {}", self.drawn.replace("RANK", &self.rank()), self.name)
    }

    /// Its item in a SELECT that draws ranks by Zipf's law, in its continuous form: a rank up to `r` of `n` has
    /// probability ln(r + 1) / ln(n + 1) with exponent 1, and (1 - 1 / (r + 1)) / (1 - 1 / (n + 1)) with exponent 2.
    pub fn drawn_rank(&self, exponent: u32, scale_factor: f64) -> String {
        let values = match self.growth {
            Growth::Fixed => self.values,
            Growth::Scaled => (self.values * scale_factor).ceil(),
        };
        let rank = match exponent {
            1 => format!("exp(random() * {:?})", (values + 1.0).ln()),
            _ => format!(
                "1.0::double precision / (1 - random() * {:?})",
                values / (values + 1.0)
            ),
        };
        format!(
            "cast(least(floor({rank}), {values}) as integer) as {}",
            self.rank()
        )
    }

    fn rank(&self) -> String {
        format!("rank_{}", self.name)
    }
}
