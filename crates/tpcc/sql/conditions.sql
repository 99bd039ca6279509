-- The consistency conditions of TPC-C (3.3.2). Each query returns the keys of rows that break its condition.

-- name: 1: w_ytd is the sum of d_ytd
select w_id from warehouse
left join (select d_w_id, sum(d_ytd) as paid from district group by d_w_id) as d on d_w_id = w_id
where w_ytd is distinct from paid

-- name: 2: d_next_o_id - 1 is the greatest o_id, and the greatest no_o_id
select d_w_id, d_id from district
left join (select o_w_id, o_d_id, max(o_id) as newest from orders group by o_w_id, o_d_id) as o
    on o_w_id = d_w_id and o_d_id = d_id
left join (select no_w_id, no_d_id, max(no_o_id) as newest from new_order group by no_w_id, no_d_id) as n
    on no_w_id = d_w_id and no_d_id = d_id
where d_next_o_id - 1 is distinct from o.newest or o.newest <> n.newest

-- name: 3: the no_o_id of a district have no gaps
select no_w_id, no_d_id from new_order group by no_w_id, no_d_id
having max(no_o_id) - min(no_o_id) + 1 <> count(*)

-- name: 4: the sum of o_ol_cnt of a district is the number of its order lines
select d_w_id, d_id from district
left join (select o_w_id, o_d_id, sum(o_ol_cnt) as counted from orders group by o_w_id, o_d_id) as o
    on o_w_id = d_w_id and o_d_id = d_id
left join (select ol_w_id, ol_d_id, count(*) as lines from order_line group by ol_w_id, ol_d_id) as l
    on ol_w_id = d_w_id and ol_d_id = d_id
where counted is distinct from lines

-- name: 5: o_carrier_id is NULL if and only if the order is in new_order
select o_w_id, o_d_id, o_id from orders
left join new_order on no_w_id = o_w_id and no_d_id = o_d_id and no_o_id = o_id
where (o_carrier_id is null) <> (no_o_id is not null)
union all
select no_w_id, no_d_id, no_o_id from new_order
left join orders on no_w_id = o_w_id and no_d_id = o_d_id and no_o_id = o_id
where o_id is null

-- name: 6: o_ol_cnt is the number of the order's lines
select o_w_id, o_d_id, o_id from orders
left join (select ol_w_id, ol_d_id, ol_o_id, count(*) as lines from order_line group by ol_w_id, ol_d_id, ol_o_id) as l
    on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
where o_ol_cnt is distinct from lines

-- name: 7: ol_delivery_d is NULL if and only if o_carrier_id of the order is
select ol_w_id, ol_d_id, ol_o_id, ol_number from order_line
join orders on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
where (ol_delivery_d is null) <> (o_carrier_id is null)

-- name: 8: w_ytd is the sum of h_amount of the warehouse
select w_id from warehouse
left join (select h_w_id, sum(h_amount) as paid from history group by h_w_id) as h on h_w_id = w_id
where w_ytd is distinct from paid

-- name: 9: d_ytd is the sum of h_amount of the district
select d_w_id, d_id from district
left join (select h_w_id, h_d_id, sum(h_amount) as paid from history group by h_w_id, h_d_id) as h
    on h_w_id = d_w_id and h_d_id = d_id
where d_ytd is distinct from paid

-- name: 10: c_balance is what was delivered to the customer less what the customer paid
select c_w_id, c_d_id, c_id from customer
left join (select o_w_id, o_d_id, o_c_id, sum(ol_amount) as delivered from orders
        join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
        where ol_delivery_d is not null group by o_w_id, o_d_id, o_c_id) as o
    on o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id
left join (select h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) as paid from history
        group by h_c_w_id, h_c_d_id, h_c_id) as h
    on h_c_w_id = c_w_id and h_c_d_id = c_d_id and h_c_id = c_id
where c_balance <> coalesce(delivered, 0) - coalesce(paid, 0)

-- The specification counts 2,100 orders of a new district that are not in new_order: seven of ten, as many as were
-- delivered to its customers before. Deliveries since are counted in c_delivery_cnt.
-- name: 11: the orders of a district that are not in new_order are those that were delivered
select d_w_id, d_id from district
join (select c_w_id, c_d_id, count(*) as customers, sum(c_delivery_cnt) as delivered from customer
        group by c_w_id, c_d_id) as c
    on c_w_id = d_w_id and c_d_id = d_id
left join (select o_w_id, o_d_id, count(*) as orders from orders group by o_w_id, o_d_id) as o
    on o_w_id = d_w_id and o_d_id = d_id
left join (select no_w_id, no_d_id, count(*) as waiting from new_order group by no_w_id, no_d_id) as n
    on no_w_id = d_w_id and no_d_id = d_id
where coalesce(orders, 0) - coalesce(waiting, 0) <> customers * 7 / 10 + delivered

-- name: 12: c_balance and c_ytd_payment are together what was delivered to the customer
select c_w_id, c_d_id, c_id from customer
left join (select o_w_id, o_d_id, o_c_id, sum(ol_amount) as delivered from orders
        join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
        where ol_delivery_d is not null group by o_w_id, o_d_id, o_c_id) as o
    on o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id
where c_balance + c_ytd_payment <> coalesce(delivered, 0)
