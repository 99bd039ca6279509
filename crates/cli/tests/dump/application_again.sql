begin;
set local search_path = public;
create schema sales;
create schema stock;
create type stock.condition as enum ('new', 'used', 'broken');
create domain sales.email as text constraint email_has_at check ((VALUE ~~ '%@%'::text));
create domain sales.percent as decimal(5,2) default 0.00 not null constraint percent_check check (((VALUE >= (0)::numeric) AND (VALUE <= (100)::numeric)));
create sequence sales.customer_id_seq as integer increment by 1 minvalue 1 maxvalue 2147483647 start with 1 cache 1;
create sequence sales.invoice_numbers as bigint increment by 5 minvalue 1 maxvalue 99999 start with 1000 cache 1 cycle;
create table sales.customer (
  id integer default nextval('sales.customer_id_seq'::regclass) not null,
  mail sales.email,
  discount sales.percent,
  boss integer,
  born date,
  active boolean default 't' not null,
  constraint customer_pkey PRIMARY KEY (id),
  constraint customer_mail_key UNIQUE NULLS NOT DISTINCT (mail)
);
copy sales.customer (id, mail, discount, boss, born, active) from stdin;
1	ada@x.org	12.50	\N	1815-12-10	t
2	bo@y.org	0.00	1	0044-03-15 BC	f
3	\N	100.00	2	\N	t
\.
create table sales.invoice (
  number bigint default nextval('sales.invoice_numbers'::regclass) not null,
  customer_id integer not null,
  day date not null,
  total decimal(14,2) default 0.00,
  span interval,
  code uuid,
  at time,
  constraint invoice_day_check CHECK (((day >= '2000-01-01'::date) AND (day < '2100-01-01'::date))),
  constraint invoice_pkey PRIMARY KEY (number)
);
copy sales.invoice (number, customer_id, day, total, span, code, at) from stdin;
1000	1	2024-02-29	12.30	1 year 2 mons -3 days +04:05:06.5	00000000-0000-0000-0000-0000000000ff	23:59:59.5
1005	2	2000-01-01	\N	\N	\N	\N
\.
create table sales.line (
  invoice bigint not null,
  line smallint not null,
  sku char(8),
  quantity integer not null,
  ratio real,
  constraint line_pkey PRIMARY KEY (invoice, line)
);
copy sales.line (invoice, line, sku, quantity, ratio) from stdin;
1000	1	A-000001	2	1.5
1000	2	\N	1	Infinity
1005	1	C	-1	1e-30
\.
create table stock.depot (
  id integer generated always as identity (sequence name stock.depot_id_seq increment by 1 minvalue 1 maxvalue 2147483647 start with 1 cache 1) not null,
  name varchar(40) not null,
  opened date default '2020-01-01',
  area decimal(10,2),
  notes text,
  constraint depot_pkey PRIMARY KEY (id),
  constraint depot_name_key UNIQUE (name)
);
copy stock.depot (id, name, opened, area, notes) from stdin;
1	North	2020-01-01	1200.50	line\nbreak
2	South; east	2020-01-01	\N	quote ' and \\ back
\.
create table stock.item (
  sku char(8) not null,
  title text not null,
  kind stock.condition default 'new' not null,
  tags text[] default '{}' not null,
  price decimal(12,2) not null,
  tax decimal(12,2) generated always as (round((price * 0.25), 2)
) stored,
  weight double precision,
  made timestamptz default '2024-02-03 04:05:06+00',
  facts jsonb,
  image bytea,
  constraint item_price_check CHECK ((price >= (0)::numeric)),
  constraint item_title_check CHECK ((length(title) > 0)),
  constraint item_pkey PRIMARY KEY (sku)
);
copy stock.item (sku, title, kind, tags, price, weight, made, facts, image) from stdin;
A-000001	Äpfel	new	{red,"a,b",NULL}	1.10	0.25	2024-02-03 04:05:06+00	{"a": [1, null, "x"]}	\\x00ff10
B-2	Nut -- not a comment	used	{}	0.00	NaN	2024-02-03 04:05:06+00	\N	\N
C	$$ body $$	broken	{it's}	999999.99	-Infinity	2024-02-03 04:05:06+00	[]	\\x
\.
create table stock.placed (
  depot_id integer not null,
  sku char(8) not null,
  amount bigint default 0 not null,
  checked_at timestamp,
  constraint placed_pkey PRIMARY KEY (depot_id, sku)
);
copy stock.placed (depot_id, sku, amount, checked_at) from stdin;
1	A-000001	5000000000	2024-02-29 23:59:59.999999
2	B-2	0	\N
\.
create unique index customer_mail_active on sales.customer (mail, active);
create index invoice_by_day on sales.invoice (day DESC NULLS LAST, customer_id) INCLUDE (total);
alter table sales.customer add constraint customer_boss_fkey FOREIGN KEY (boss) REFERENCES sales.customer(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
alter table sales.invoice add constraint invoice_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES sales.customer(id);
alter table sales.line add constraint line_invoice_fkey FOREIGN KEY (invoice) REFERENCES sales.invoice(number) MATCH FULL ON DELETE CASCADE;
alter table sales.line add constraint line_sku_fkey FOREIGN KEY (sku) REFERENCES stock.item(sku) ON UPDATE CASCADE ON DELETE SET DEFAULT;
alter table stock.placed add constraint placed_depot_fk FOREIGN KEY (depot_id) REFERENCES stock.depot(id) ON UPDATE CASCADE ON DELETE RESTRICT;
alter table stock.placed add constraint placed_item_fk FOREIGN KEY (sku) REFERENCES stock.item(sku) ON DELETE CASCADE;
alter sequence sales.customer_id_seq owned by sales.customer.id;
select setval('sales.customer_id_seq', 3, true);
select setval('sales.invoice_numbers', 1005, true);
select setval('stock.depot_id_seq', 2, true);
create view sales.due (id, mail, total) as
SELECT c.id,
    c.mail,
    sum(i.total) AS total
   FROM (sales.customer c
     JOIN sales.invoice i ON ((i.customer_id = c.id)))
  GROUP BY c.id, c.mail;
create view stock.usable (sku, title) as
SELECT item.sku,
    item.title
   FROM stock.item
  WHERE (item.kind <> 'broken'::stock.condition);
comment on column stock.item.price is 'without tax';
comment on constraint item_price_check on stock.item is 'never negative';
comment on domain sales.email is 'an address';
comment on index sales.invoice_by_day is 'newest first';
comment on schema sales is 'who buys';
comment on sequence sales.invoice_numbers is 'by fives';
comment on table stock.item is 'what is sold; it''s one row a sku';
comment on type stock.condition is 'as it is';
comment on view sales.due is 'what is owed';
commit;
