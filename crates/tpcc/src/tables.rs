//! The nine tables.

/// The statements that make the tables and their indexes.
pub const SCHEMA: &str = include_str!("../sql/schema.sql");

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// warehouse.
    Warehouse,
    /// district.
    District,
    /// customer.
    Customer,
    /// history.
    History,
    /// new_order.
    NewOrder,
    /// orders.
    Orders,
    /// order_line.
    OrderLine,
    /// item.
    Item,
    /// stock.
    Stock,
}

/// All tables, in the order in which they are loaded.
pub const TABLES: [Table; 9] = [
    Table::Item,
    Table::District,
    Table::Stock,
    Table::Customer,
    Table::History,
    Table::Orders,
    Table::OrderLine,
    Table::NewOrder,
    Table::Warehouse,
];

impl Table {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Table::Warehouse => "warehouse",
            Table::District => "district",
            Table::Customer => "customer",
            Table::History => "history",
            Table::NewOrder => "new_order",
            Table::Orders => "orders",
            Table::OrderLine => "order_line",
            Table::Item => "item",
            Table::Stock => "stock",
        }
    }

    /// True for the table that does not grow with the number of warehouses.
    pub fn is_shared(self) -> bool {
        self == Table::Item
    }
}
