//! The statements of the transactions.

use crate::named_statements::named;

/// Makes the enumeration of statements with their names.
macro_rules! steps {
    ($($step:ident = $name:literal, $about:literal;)*) => {
        /// A statement of a transaction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Step {
            $(#[doc = $about] $step,)*
        }

        impl Step {
            /// All statements; `ALL[step as usize]` is `step`.
            pub const ALL: &[Step] = &[$(Step::$step),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Step::$step => $name,)*
                }
            }
        }
    };
}

steps! {
    Begin = "begin", "Begins a transaction that writes.";
    BeginReading = "begin_reading", "Begins a transaction that only reads, all of it from one snapshot.";
    Commit = "commit", "Commits.";
    Rollback = "rollback", "Rolls back.";
    CustomersByName = "customers_by_name", "Customers of a last name in the order of their first names.";
    NewOrderWarehouse = "new_order_warehouse", "The warehouse's tax.";
    NewOrderCustomer = "new_order_customer", "The customer who orders.";
    NewOrderDistrict = "new_order_district", "Takes the next order number of the district.";
    NewOrderOrders = "new_order_orders", "Inserts the order.";
    NewOrderNewOrder = "new_order_new_order", "Notes that the order waits for delivery.";
    NewOrderItem = "new_order_item", "The item of a line.";
    NewOrderStock1 = "new_order_stock_01", "Takes an item from the stock, for district 1.";
    NewOrderStock2 = "new_order_stock_02", "Takes an item from the stock, for district 2.";
    NewOrderStock3 = "new_order_stock_03", "Takes an item from the stock, for district 3.";
    NewOrderStock4 = "new_order_stock_04", "Takes an item from the stock, for district 4.";
    NewOrderStock5 = "new_order_stock_05", "Takes an item from the stock, for district 5.";
    NewOrderStock6 = "new_order_stock_06", "Takes an item from the stock, for district 6.";
    NewOrderStock7 = "new_order_stock_07", "Takes an item from the stock, for district 7.";
    NewOrderStock8 = "new_order_stock_08", "Takes an item from the stock, for district 8.";
    NewOrderStock9 = "new_order_stock_09", "Takes an item from the stock, for district 9.";
    NewOrderStock10 = "new_order_stock_10", "Takes an item from the stock, for district 10.";
    NewOrderLine = "new_order_line", "Inserts a line of the order.";
    PaymentWarehouse = "payment_warehouse", "Adds the payment to the warehouse.";
    PaymentDistrict = "payment_district", "Adds the payment to the district.";
    PaymentCustomer = "payment_customer", "Adds the payment to the customer.";
    PaymentBadCredit = "payment_bad_credit", "Notes the payment of a customer with bad credit.";
    PaymentHistory = "payment_history", "Inserts the payment.";
    OrderStatusCustomer = "order_status_customer", "The customer who asks.";
    OrderStatusOrder = "order_status_order", "The customer's newest order.";
    OrderStatusLines = "order_status_lines", "The lines of the order.";
    DeliveryOldest = "delivery_oldest", "The oldest order of a district that waits for delivery.";
    DeliveryNewOrder = "delivery_new_order", "Deletes the note that the order waits.";
    DeliveryOrder = "delivery_order", "Gives the order to a carrier.";
    DeliveryLines = "delivery_lines", "Notes the time of delivery in all lines.";
    DeliveryCustomer = "delivery_customer", "Adds the amount of the order to the customer's balance.";
    StockLevelDistrict = "stock_level_district", "The district's next order number.";
    StockLevelCount = "stock_level_count", "Counts items of the last orders of which little is in stock.";
}

const STATEMENTS: &str = include_str!("../sql/statements.sql");
/// Beginning of the names of the statements that one template makes.
const OF_DISTRICT: &str = "new_order_stock";

impl Step {
    /// Its text. Parameters are `$1`, `$2` and so on.
    pub fn text(self) -> String {
        let name = self.name();
        let district = name
            .strip_prefix(OF_DISTRICT)
            .map(|rest| rest.trim_start_matches('_'));
        let wanted = if district.is_some() { OF_DISTRICT } else { name };
        let text = named(STATEMENTS).find(|(name, _)| *name == wanted);
        let text = text.map(|(_, text)| text).unwrap_or_default();
        text.replace("{district}", district.unwrap_or_default())
    }

    /// The statement that takes an item from the stock for a district, 1 to 10.
    pub fn stock_of_district(district: i32) -> Step {
        let first = Step::NewOrderStock1 as usize;
        let behind = usize::try_from(district - 1).unwrap_or(0).min(9);
        Step::ALL[first + behind]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_its_text_and_every_text_its_step() {
        for step in Step::ALL {
            assert!(!step.text().is_empty(), "{}", step.name());
            assert!(!step.text().contains('{'), "{}", step.name());
        }
        for (name, _) in named(STATEMENTS) {
            let has_step = Step::ALL.iter().any(|step| step.name() == name);
            assert!(has_step || name == OF_DISTRICT, "{name}");
        }
        assert!(
            Step::ALL
                .iter()
                .enumerate()
                .all(|(at, step)| *step as usize == at)
        );
    }

    #[test]
    fn districts_read_their_column() {
        assert!(Step::stock_of_district(1).text().contains("s_dist_01,"));
        assert!(Step::stock_of_district(10).text().contains("s_dist_10,"));
        assert_eq!(Step::stock_of_district(10), Step::NewOrderStock10);
    }
}
