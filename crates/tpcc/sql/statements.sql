-- The statements of the five transactions (TPC-C, 2.4 to 2.8). Each follows a line with its name. PostgreSQL, SQLite and
-- Frazil understand all of them but `begin_reading`, for which SQLite has a plain BEGIN.

-- name: begin
begin

-- name: begin_reading
begin transaction isolation level repeatable read read only

-- name: commit
commit

-- name: rollback
rollback

-- name: customers_by_name
select c_id from customer
where c_w_id = $1 and c_d_id = $2 and c_last = $3 order by c_first

-- name: new_order_warehouse
select w_tax from warehouse where w_id = $1

-- name: new_order_customer
select c_discount, c_last, c_credit from customer
where c_w_id = $1 and c_d_id = $2 and c_id = $3

-- name: new_order_district
update district set d_next_o_id = d_next_o_id + 1
where d_w_id = $1 and d_id = $2 returning d_next_o_id, d_tax

-- name: new_order_orders
insert into orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
values ($1, $2, $3, $4, $5, null, $6, $7)

-- name: new_order_new_order
insert into new_order (no_o_id, no_d_id, no_w_id) values ($1, $2, $3)

-- name: new_order_item
select i_price, i_name, i_data from item where i_id = $1

-- One statement for each district, whose number replaces {district}.
-- name: new_order_stock
update stock
set s_quantity = case when s_quantity >= $3 + 10 then s_quantity - $3 else s_quantity - $3 + 91 end,
    s_ytd = s_ytd + $3, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + $4
where s_w_id = $1 and s_i_id = $2
returning s_quantity, s_dist_{district}, s_data

-- name: new_order_line
insert into order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity,
    ol_amount, ol_dist_info)
values ($1, $2, $3, $4, $5, $6, null, $7, $8, $9)

-- name: payment_warehouse
update warehouse set w_ytd = w_ytd + $2 where w_id = $1
returning w_name, w_street_1, w_street_2, w_city, w_state, w_zip

-- name: payment_district
update district set d_ytd = d_ytd + $3 where d_w_id = $1 and d_id = $2
returning d_name, d_street_1, d_street_2, d_city, d_state, d_zip

-- name: payment_customer
update customer
set c_balance = c_balance - $4, c_ytd_payment = c_ytd_payment + $4, c_payment_cnt = c_payment_cnt + 1
where c_w_id = $1 and c_d_id = $2 and c_id = $3
returning c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit,
    c_credit_lim, c_discount, c_balance

-- name: payment_bad_credit
update customer set c_data = substr($4 || c_data, 1, 500)
where c_w_id = $1 and c_d_id = $2 and c_id = $3
returning substr(c_data, 1, 200)

-- name: payment_history
insert into history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
values ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: order_status_customer
select c_first, c_middle, c_last, c_balance from customer
where c_w_id = $1 and c_d_id = $2 and c_id = $3

-- name: order_status_order
select o_id, o_entry_d, o_carrier_id from orders
where o_w_id = $1 and o_d_id = $2 and o_c_id = $3 order by o_id desc limit 1

-- name: order_status_lines
select ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d from order_line
where ol_w_id = $1 and ol_d_id = $2 and ol_o_id = $3

-- name: delivery_oldest
select min(no_o_id) from new_order where no_w_id = $1 and no_d_id = $2

-- name: delivery_new_order
delete from new_order where no_w_id = $1 and no_d_id = $2 and no_o_id = $3

-- name: delivery_order
update orders set o_carrier_id = $4
where o_w_id = $1 and o_d_id = $2 and o_id = $3 returning o_c_id

-- name: delivery_lines
update order_line set ol_delivery_d = $4
where ol_w_id = $1 and ol_d_id = $2 and ol_o_id = $3 returning ol_amount

-- name: delivery_customer
update customer set c_balance = c_balance + $4, c_delivery_cnt = c_delivery_cnt + 1
where c_w_id = $1 and c_d_id = $2 and c_id = $3

-- name: stock_level_district
select d_next_o_id from district where d_w_id = $1 and d_id = $2

-- name: stock_level_count
select count(distinct s_i_id) from order_line, stock
where ol_w_id = $1 and ol_d_id = $2 and ol_o_id >= $3 and ol_o_id < $4
    and s_w_id = $1 and s_i_id = ol_i_id and s_quantity < $5
