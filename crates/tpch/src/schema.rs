//! The eight tables: names and columns (TPC-H, 1.4).

use frazil_types::LogicalType::{self, Char, Date, Integer, Varchar};
use frazil_types::{ColumnDef, Schema};

const MONEY: LogicalType = LogicalType::Decimal {
    precision: 15,
    scale: 2,
};

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// region.
    Region,
    /// nation.
    Nation,
    /// supplier.
    Supplier,
    /// customer.
    Customer,
    /// part.
    Part,
    /// partsupp.
    Partsupp,
    /// orders.
    Orders,
    /// lineitem.
    Lineitem,
}

/// All tables, small ones first.
pub const TABLES: [Table; 8] = [
    Table::Region,
    Table::Nation,
    Table::Supplier,
    Table::Customer,
    Table::Part,
    Table::Partsupp,
    Table::Orders,
    Table::Lineitem,
];

/// Names and types of a table's columns.
type Columns = &'static [(&'static str, LogicalType)];

const REGION: Columns = &[
    ("r_regionkey", Integer),
    ("r_name", Varchar(25)),
    ("r_comment", Varchar(152)),
];
const NATION: Columns = &[
    ("n_nationkey", Integer),
    ("n_name", Varchar(25)),
    ("n_regionkey", Integer),
    ("n_comment", Varchar(152)),
];
const SUPPLIER: Columns = &[
    ("s_suppkey", Integer),
    ("s_name", Varchar(25)),
    ("s_address", Varchar(40)),
    ("s_nationkey", Integer),
    ("s_phone", Varchar(15)),
    ("s_acctbal", MONEY),
    ("s_comment", Varchar(101)),
];
const CUSTOMER: Columns = &[
    ("c_custkey", Integer),
    ("c_name", Varchar(25)),
    ("c_address", Varchar(40)),
    ("c_nationkey", Integer),
    ("c_phone", Varchar(15)),
    ("c_acctbal", MONEY),
    ("c_mktsegment", Varchar(10)),
    ("c_comment", Varchar(117)),
];
const PART: Columns = &[
    ("p_partkey", Integer),
    ("p_name", Varchar(55)),
    ("p_mfgr", Varchar(25)),
    ("p_brand", Varchar(10)),
    ("p_type", Varchar(25)),
    ("p_size", Integer),
    ("p_container", Varchar(10)),
    ("p_retailprice", MONEY),
    ("p_comment", Varchar(23)),
];
const PARTSUPP: Columns = &[
    ("ps_partkey", Integer),
    ("ps_suppkey", Integer),
    ("ps_availqty", Integer),
    ("ps_supplycost", MONEY),
    ("ps_comment", Varchar(199)),
];
const ORDERS: Columns = &[
    ("o_orderkey", Integer),
    ("o_custkey", Integer),
    ("o_orderstatus", Char(1)),
    ("o_totalprice", MONEY),
    ("o_orderdate", Date),
    ("o_orderpriority", Varchar(15)),
    ("o_clerk", Varchar(15)),
    ("o_shippriority", Integer),
    ("o_comment", Varchar(79)),
];
const LINEITEM: Columns = &[
    ("l_orderkey", Integer),
    ("l_partkey", Integer),
    ("l_suppkey", Integer),
    ("l_linenumber", Integer),
    ("l_quantity", MONEY),
    ("l_extendedprice", MONEY),
    ("l_discount", MONEY),
    ("l_tax", MONEY),
    ("l_returnflag", Char(1)),
    ("l_linestatus", Char(1)),
    ("l_shipdate", Date),
    ("l_commitdate", Date),
    ("l_receiptdate", Date),
    ("l_shipinstruct", Varchar(25)),
    ("l_shipmode", Varchar(10)),
    ("l_comment", Varchar(44)),
];

impl Table {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Table::Region => "region",
            Table::Nation => "nation",
            Table::Supplier => "supplier",
            Table::Customer => "customer",
            Table::Part => "part",
            Table::Partsupp => "partsupp",
            Table::Orders => "orders",
            Table::Lineitem => "lineitem",
        }
    }

    /// Rows at a scale factor; of lineitem about.
    pub fn rows(self, scale_factor: f64) -> u64 {
        let scaled = |rows: f64| (rows * scale_factor) as u64;
        match self {
            Table::Region => 5,
            Table::Nation => 25,
            Table::Supplier => scaled(10_000.0),
            Table::Customer => scaled(150_000.0),
            Table::Part => scaled(200_000.0),
            Table::Partsupp => scaled(800_000.0),
            Table::Orders => scaled(1_500_000.0),
            Table::Lineitem => scaled(6_001_215.0),
        }
    }

    fn columns(self) -> Columns {
        match self {
            Table::Region => REGION,
            Table::Nation => NATION,
            Table::Supplier => SUPPLIER,
            Table::Customer => CUSTOMER,
            Table::Part => PART,
            Table::Partsupp => PARTSUPP,
            Table::Orders => ORDERS,
            Table::Lineitem => LINEITEM,
        }
    }

    /// Its columns, all NOT NULL.
    pub fn schema(self) -> Schema {
        let columns = self.columns().iter();
        Schema::new(
            columns
                .map(|(name, ty)| ColumnDef::new(*name, *ty).not_null())
                .collect(),
        )
    }

    /// Its CREATE TABLE statement.
    pub fn ddl(self) -> String {
        let columns: Vec<String> = (self.columns().iter())
            .map(|(name, ty)| format!("{name} {ty} not null"))
            .collect();
        format!("create table {} ({})", self.name(), columns.join(", "))
    }
}
