-- The 22 analytical queries of the CH-benCHmark: the questions of TPC-H, asked of TPC-C's tables. Each follows a line
-- with its name; {suppliers} stands for the number of suppliers.
--
-- Every ORDER BY is total, so that an answer is one list of rows. TPC-H's limits are kept. Constants select from rows
-- as they are after loading and while terminals work: all dates are 2026-01-01 or later, and delivered lines of the
-- loaded orders have the amount 0. Texts are random, so patterns ask for one letter where TPC-H asks for a word.

-- Totals of delivered lines by their position in the order.
-- name: q01
select ol_number, sum(ol_quantity) as quantity, sum(ol_amount) as amount, avg(ol_quantity) as average_quantity,
    avg(ol_amount) as average_amount, count(*) as lines
from order_line
where ol_delivery_d >= timestamp '2026-01-01'
group by ol_number
order by ol_number

-- The European suppliers with the least stock of an item among all of Europe.
-- name: q02
select su_suppkey, su_name, n_name, i_id, i_name, su_address, su_phone, s_w_id
from item
join stock on s_i_id = i_id
join supplier on su_suppkey = s_w_id * s_i_id % {suppliers}
join nation on n_nationkey = su_nationkey
join region on r_regionkey = n_regionkey
where i_data like '%b' and r_name = 'EUROPE'
    and s_quantity = (
        select min(least.s_quantity) from stock as least
        join supplier as other on other.su_suppkey = least.s_w_id * least.s_i_id % {suppliers}
        join nation as home on home.n_nationkey = other.su_nationkey
        join region as continent on continent.r_regionkey = home.n_regionkey
        where least.s_i_id = i_id and continent.r_name = 'EUROPE')
order by n_name, su_name, i_id, s_w_id
limit 100

-- The most valuable orders that wait for delivery, of customers in states with A.
-- name: q03
select o_id, o_w_id, o_d_id, sum(ol_amount) as revenue, o_entry_d
from customer
join orders on o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id
join new_order on no_w_id = o_w_id and no_d_id = o_d_id and no_o_id = o_id
join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
where c_state like 'A%' and o_entry_d >= timestamp '2026-01-01'
group by o_id, o_w_id, o_d_id, o_entry_d
order by revenue desc, o_entry_d, o_w_id, o_d_id, o_id
limit 10

-- Orders with a line that was delivered no earlier than the order was entered, by their number of lines.
-- name: q04
select o_ol_cnt, count(*) as orders
from orders
where o_entry_d >= timestamp '2026-01-01' and o_entry_d < timestamp '2027-01-01'
    and exists (
        select 1 from order_line
        where ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id and ol_delivery_d >= o_entry_d)
group by o_ol_cnt
order by o_ol_cnt

-- Revenue of European nations from suppliers of the customer's own nation.
-- name: q05
select n_name, sum(ol_amount) as revenue
from customer
join orders on o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id
join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
join stock on s_w_id = ol_supply_w_id and s_i_id = ol_i_id
join supplier on su_suppkey = s_w_id * s_i_id % {suppliers} and su_nationkey = ascii(c_state)
join nation on n_nationkey = su_nationkey
join region on r_regionkey = n_regionkey
where r_name = 'EUROPE' and o_entry_d >= timestamp '2026-01-01'
group by n_name
order by revenue desc, n_name

-- Revenue of small delivered lines in a range of dates.
-- name: q06
select sum(ol_amount) as revenue
from order_line
where ol_delivery_d >= timestamp '2026-01-01' and ol_delivery_d < timestamp '2027-01-01'
    and ol_quantity between 1 and 6

-- Trade between two nations in both directions, by year.
-- name: q07
select supplying, buying, year, sum(amount) as revenue
from (
    select from_nation.n_name as supplying, to_nation.n_name as buying, extract(year from o_entry_d) as year,
        ol_amount as amount
    from supplier
    join nation as from_nation on from_nation.n_nationkey = su_nationkey
    join stock on su_suppkey = s_w_id * s_i_id % {suppliers}
    join order_line on ol_supply_w_id = s_w_id and ol_i_id = s_i_id
    join orders on o_w_id = ol_w_id and o_d_id = ol_d_id and o_id = ol_o_id
    join customer on c_w_id = o_w_id and c_d_id = o_d_id and c_id = o_c_id
    join nation as to_nation on to_nation.n_nationkey = ascii(c_state)
    where (from_nation.n_name = 'GERMANY' and to_nation.n_name = 'CAMBODIA'
            or from_nation.n_name = 'CAMBODIA' and to_nation.n_name = 'GERMANY')
        and o_entry_d between timestamp '2026-01-01' and timestamp '2027-12-31') as shipped
group by supplying, buying, year
order by supplying, buying, year

-- The share of German suppliers in Europe's purchases of some items, by year.
-- name: q08
select year, sum(case when supplying = 'GERMANY' then amount else 0 end) / nullif(sum(amount), 0) as share
from (
    select extract(year from o_entry_d) as year, ol_amount as amount, from_nation.n_name as supplying
    from item
    join order_line on ol_i_id = i_id
    join stock on s_w_id = ol_supply_w_id and s_i_id = ol_i_id
    join supplier on su_suppkey = s_w_id * s_i_id % {suppliers}
    join nation as from_nation on from_nation.n_nationkey = su_nationkey
    join orders on o_w_id = ol_w_id and o_d_id = ol_d_id and o_id = ol_o_id
    join customer on c_w_id = o_w_id and c_d_id = o_d_id and c_id = o_c_id
    join nation as to_nation on to_nation.n_nationkey = ascii(c_state)
    join region on r_regionkey = to_nation.n_regionkey
    where r_name = 'EUROPE' and i_data like '%b'
        and o_entry_d between timestamp '2026-01-01' and timestamp '2027-12-31') as bought
group by year
order by year

-- Revenue from some items by the supplier's nation and the year.
-- name: q09
select n_name, extract(year from o_entry_d) as year, sum(ol_amount) as revenue
from item
join order_line on ol_i_id = i_id
join stock on s_w_id = ol_supply_w_id and s_i_id = ol_i_id
join supplier on su_suppkey = s_w_id * s_i_id % {suppliers}
join nation on n_nationkey = su_nationkey
join orders on o_w_id = ol_w_id and o_d_id = ol_d_id and o_id = ol_o_id
where i_data like '%B'
group by n_name, year
order by n_name, year desc

-- The customers who were delivered the most since a date.
-- name: q10
select c_w_id, c_d_id, c_id, c_last, sum(ol_amount) as revenue, c_city, c_phone, n_name
from customer
join orders on o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id
join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
join nation on n_nationkey = ascii(c_state)
where o_entry_d >= timestamp '2026-01-01' and o_entry_d <= ol_delivery_d
group by c_w_id, c_d_id, c_id, c_last, c_city, c_phone, n_name
order by revenue desc, c_w_id, c_d_id, c_id
limit 20

-- Items that make a large part of what German suppliers deliver.
-- name: q11
select s_i_id, sum(s_order_cnt) as ordered
from stock
join supplier on su_suppkey = s_w_id * s_i_id % {suppliers}
join nation on n_nationkey = su_nationkey
where n_name = 'GERMANY'
group by s_i_id
having sum(s_order_cnt) > (
    select sum(s_order_cnt) * 0.0005 from stock
    join supplier on su_suppkey = s_w_id * s_i_id % {suppliers}
    join nation on n_nationkey = su_nationkey
    where n_name = 'GERMANY')
order by ordered desc, s_i_id

-- Delivered lines of two carriers and of the others, by the order's number of lines.
-- name: q12
select o_ol_cnt, sum(case when o_carrier_id in (1, 2) then 1 else 0 end) as of_the_two,
    sum(case when o_carrier_id not in (1, 2) then 1 else 0 end) as of_others
from orders
join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
where o_entry_d <= ol_delivery_d and ol_delivery_d < timestamp '2027-01-01'
group by o_ol_cnt
order by o_ol_cnt

-- Customers by their number of orders with the last carriers.
-- name: q13
select orders, count(*) as customers
from (
    select c_w_id, c_d_id, c_id, count(o_id) as orders
    from customer
    left join orders on o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id and o_carrier_id > 8
    group by c_w_id, c_d_id, c_id) as counted
group by orders
order by customers desc, orders desc

-- The percentage of revenue that some items bring.
-- name: q14
select 100.00 * sum(case when i_data like 'P%' then ol_amount else 0 end) / nullif(sum(ol_amount), 0) as percentage
from order_line
join item on i_id = ol_i_id
where ol_delivery_d >= timestamp '2026-01-01' and ol_delivery_d < timestamp '2027-01-01'

-- The suppliers with the greatest revenue.
-- name: q15
with revenue as (
    select s_w_id * s_i_id % {suppliers} as supplier_no, sum(ol_amount) as total
    from order_line
    join stock on s_w_id = ol_supply_w_id and s_i_id = ol_i_id
    where ol_delivery_d >= timestamp '2026-01-01'
    group by s_w_id * s_i_id % {suppliers})
select su_suppkey, su_name, su_address, su_phone, total
from supplier
join revenue on supplier_no = su_suppkey
where total = (select max(total) from revenue)
order by su_suppkey

-- Suppliers without complaints by kinds of the items that they deliver.
-- name: q16
select substr(i_name, 1, 1) as kind, substr(i_data, 1, 1) as brand, count(distinct s_w_id * s_i_id % {suppliers}) as suppliers
from stock
join item on i_id = s_i_id
where i_data not like 'z%'
    and s_w_id * s_i_id % {suppliers} not in (select su_suppkey from supplier where su_comment like '%Complaints%')
group by substr(i_name, 1, 1), substr(i_data, 1, 1)
order by suppliers desc, kind, brand

-- The yearly revenue that small lines of some items bring.
-- name: q17
select sum(ol_amount) / 2.0 as yearly
from order_line
join (
    select i_id, avg(ol_quantity) as average
    from item
    join order_line on ol_i_id = i_id
    where i_data like '%b'
    group by i_id) as usual
on i_id = ol_i_id and ol_quantity < average

-- Large orders with their customers.
-- name: q18
select c_last, c_w_id, c_d_id, c_id, o_id, o_entry_d, o_ol_cnt, sum(ol_amount) as amount
from customer
join orders on o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id
join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
group by c_last, c_w_id, c_d_id, c_id, o_id, o_entry_d, o_ol_cnt
having sum(ol_amount) > 80000
order by amount desc, o_entry_d, c_w_id, c_d_id, o_id
limit 100

-- Revenue from lines of three kinds.
-- name: q19
select sum(ol_amount) as revenue
from order_line
join item on i_id = ol_i_id
where i_data like '%a' and ol_quantity between 1 and 10 and i_price between 1 and 40 and ol_w_id in (1, 2, 3)
    or i_data like '%b' and ol_quantity between 1 and 10 and i_price between 1 and 60 and ol_w_id in (1, 2, 4)
    or i_data like '%c' and ol_quantity between 1 and 10 and i_price between 1 and 90 and ol_w_id in (1, 3, 5)

-- German suppliers that have twice as much of an item as was delivered.
-- name: q20
select su_name, su_address
from supplier
join nation on n_nationkey = su_nationkey
where n_name = 'GERMANY'
    and su_suppkey in (
        select s_w_id * s_i_id % {suppliers}
        from stock
        join order_line on ol_supply_w_id = s_w_id and ol_i_id = s_i_id
        where s_i_id in (select i_id from item where i_data like 'c%') and ol_delivery_d >= timestamp '2026-01-01'
        group by s_w_id, s_i_id, s_quantity
        having s_quantity > 2 * sum(ol_quantity))
order by su_name

-- German suppliers of the lines that came last in their orders, and later than the orders.
-- name: q21
select su_name, count(*) as lines
from supplier
join nation on n_nationkey = su_nationkey
join stock on su_suppkey = s_w_id * s_i_id % {suppliers}
join order_line as late on late.ol_supply_w_id = s_w_id and late.ol_i_id = s_i_id
join orders on o_w_id = late.ol_w_id and o_d_id = late.ol_d_id and o_id = late.ol_o_id
where n_name = 'GERMANY' and late.ol_delivery_d > o_entry_d
    and not exists (
        select 1 from order_line as later
        where later.ol_w_id = late.ol_w_id and later.ol_d_id = late.ol_d_id and later.ol_o_id = late.ol_o_id
            and later.ol_delivery_d > late.ol_delivery_d)
group by su_name
order by lines desc, su_name
limit 100

-- Customers with more than the average positive balance who ordered nothing since the tables were loaded, by state.
-- name: q22
select substr(c_state, 1, 1) as country, count(*) as customers, sum(c_balance) as balance
from customer
where substr(c_phone, 1, 1) in ('1', '2', '3', '4', '5', '6', '7')
    and c_balance > (
        select avg(c_balance) from customer
        where c_balance > 0 and substr(c_phone, 1, 1) in ('1', '2', '3', '4', '5', '6', '7'))
    and not exists (
        select 1 from orders
        where o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id and o_entry_d > timestamp '2026-01-01')
group by substr(c_state, 1, 1)
order by country
