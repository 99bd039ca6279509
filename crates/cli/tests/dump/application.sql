--
-- PostgreSQL database dump
--

\restrict Frazil0

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: sales; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA sales;


--
-- Name: SCHEMA sales; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON SCHEMA sales IS 'who buys';


--
-- Name: stock; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA stock;


--
-- Name: email; Type: DOMAIN; Schema: sales; Owner: -
--

CREATE DOMAIN sales.email AS text
	CONSTRAINT email_has_at CHECK ((VALUE ~~ '%@%'::text));


--
-- Name: DOMAIN email; Type: COMMENT; Schema: sales; Owner: -
--

COMMENT ON DOMAIN sales.email IS 'an address';


--
-- Name: percent; Type: DOMAIN; Schema: sales; Owner: -
--

CREATE DOMAIN sales.percent AS numeric(5,2) NOT NULL DEFAULT 0
	CONSTRAINT percent_check CHECK (((VALUE >= (0)::numeric) AND (VALUE <= (100)::numeric)));


--
-- Name: condition; Type: TYPE; Schema: stock; Owner: -
--

CREATE TYPE stock.condition AS ENUM (
    'new',
    'used',
    'broken'
);


--
-- Name: TYPE condition; Type: COMMENT; Schema: stock; Owner: -
--

COMMENT ON TYPE stock.condition IS 'as it is';


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: customer; Type: TABLE; Schema: sales; Owner: -
--

CREATE TABLE sales.customer (
    id integer NOT NULL,
    mail sales.email,
    discount sales.percent,
    boss integer,
    born date,
    active boolean DEFAULT true NOT NULL
);


--
-- Name: customer_id_seq; Type: SEQUENCE; Schema: sales; Owner: -
--

CREATE SEQUENCE sales.customer_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: customer_id_seq; Type: SEQUENCE OWNED BY; Schema: sales; Owner: -
--

ALTER SEQUENCE sales.customer_id_seq OWNED BY sales.customer.id;


--
-- Name: invoice_numbers; Type: SEQUENCE; Schema: sales; Owner: -
--

CREATE SEQUENCE sales.invoice_numbers
    START WITH 1000
    INCREMENT BY 5
    NO MINVALUE
    MAXVALUE 99999
    CACHE 1
    CYCLE;


--
-- Name: SEQUENCE invoice_numbers; Type: COMMENT; Schema: sales; Owner: -
--

COMMENT ON SEQUENCE sales.invoice_numbers IS 'by fives';


--
-- Name: invoice; Type: TABLE; Schema: sales; Owner: -
--

CREATE TABLE sales.invoice (
    number bigint DEFAULT nextval('sales.invoice_numbers'::regclass) NOT NULL,
    customer_id integer NOT NULL,
    day date NOT NULL,
    total numeric(14,2) DEFAULT 0.00,
    span interval,
    code uuid,
    at time without time zone,
    CONSTRAINT invoice_day_check CHECK (((day >= '2000-01-01'::date) AND (day < '2100-01-01'::date)))
);


--
-- Name: due; Type: VIEW; Schema: sales; Owner: -
--

CREATE VIEW sales.due AS
 SELECT c.id,
    c.mail,
    sum(i.total) AS total
   FROM (sales.customer c
     JOIN sales.invoice i ON ((i.customer_id = c.id)))
  GROUP BY c.id, c.mail;


--
-- Name: VIEW due; Type: COMMENT; Schema: sales; Owner: -
--

COMMENT ON VIEW sales.due IS 'what is owed';


--
-- Name: line; Type: TABLE; Schema: sales; Owner: -
--

CREATE TABLE sales.line (
    invoice bigint NOT NULL,
    line smallint NOT NULL,
    sku character(8),
    quantity integer NOT NULL,
    ratio real
);


--
-- Name: depot; Type: TABLE; Schema: stock; Owner: -
--

CREATE TABLE stock.depot (
    id integer NOT NULL,
    name character varying(40) NOT NULL,
    opened date DEFAULT '2020-01-01'::date,
    area numeric(10,2),
    notes text
);


--
-- Name: depot_id_seq; Type: SEQUENCE; Schema: stock; Owner: -
--

ALTER TABLE stock.depot ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME stock.depot_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: item; Type: TABLE; Schema: stock; Owner: -
--

CREATE TABLE stock.item (
    sku character(8) NOT NULL,
    title text NOT NULL,
    kind stock.condition DEFAULT 'new'::stock.condition NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    price numeric(12,2) NOT NULL,
    tax numeric(12,2) GENERATED ALWAYS AS (round((price * 0.25), 2)) STORED,
    weight double precision,
    made timestamp with time zone DEFAULT '2024-02-03 04:05:06+00'::timestamp with time zone,
    facts jsonb,
    image bytea,
    CONSTRAINT item_price_check CHECK ((price >= (0)::numeric)),
    CONSTRAINT item_title_check CHECK ((length(title) > 0))
);


--
-- Name: TABLE item; Type: COMMENT; Schema: stock; Owner: -
--

COMMENT ON TABLE stock.item IS 'what is sold; it''s one row a sku';


--
-- Name: COLUMN item.price; Type: COMMENT; Schema: stock; Owner: -
--

COMMENT ON COLUMN stock.item.price IS 'without tax';


--
-- Name: CONSTRAINT item_price_check ON item; Type: COMMENT; Schema: stock; Owner: -
--

COMMENT ON CONSTRAINT item_price_check ON stock.item IS 'never negative';


--
-- Name: placed; Type: TABLE; Schema: stock; Owner: -
--

CREATE TABLE stock.placed (
    depot_id integer NOT NULL,
    sku character(8) NOT NULL,
    amount bigint DEFAULT 0 NOT NULL,
    checked_at timestamp without time zone
);


--
-- Name: usable; Type: VIEW; Schema: stock; Owner: -
--

CREATE VIEW stock.usable AS
 SELECT item.sku,
    item.title
   FROM stock.item
  WHERE (item.kind <> 'broken'::stock.condition);


--
-- Name: customer id; Type: DEFAULT; Schema: sales; Owner: -
--

ALTER TABLE ONLY sales.customer ALTER COLUMN id SET DEFAULT nextval('sales.customer_id_seq'::regclass);


--
-- Data for Name: customer; Type: TABLE DATA; Schema: sales; Owner: -
--

INSERT INTO sales.customer VALUES (1, 'ada@x.org', 12.50, NULL, '1815-12-10', true);
INSERT INTO sales.customer VALUES (2, 'bo@y.org', 0.00, 1, '0044-03-15 BC', false);
INSERT INTO sales.customer VALUES (3, NULL, 100.00, 2, NULL, true);


--
-- Data for Name: invoice; Type: TABLE DATA; Schema: sales; Owner: -
--

INSERT INTO sales.invoice VALUES (1000, 1, '2024-02-29', 12.30, '1 year 2 mons -3 days +04:05:06.5', '00000000-0000-0000-0000-0000000000ff', '23:59:59.5');
INSERT INTO sales.invoice VALUES (1005, 2, '2000-01-01', NULL, NULL, NULL, NULL);


--
-- Data for Name: line; Type: TABLE DATA; Schema: sales; Owner: -
--

INSERT INTO sales.line VALUES (1000, 1, 'A-000001', 2, 1.5);
INSERT INTO sales.line VALUES (1000, 2, NULL, 1, 'Infinity');
INSERT INTO sales.line VALUES (1005, 1, 'C       ', -1, 1e-30);


--
-- Data for Name: depot; Type: TABLE DATA; Schema: stock; Owner: -
--

INSERT INTO stock.depot OVERRIDING SYSTEM VALUE VALUES (1, 'North', '2020-01-01', 1200.50, 'line
break');
INSERT INTO stock.depot OVERRIDING SYSTEM VALUE VALUES (2, 'South; east', '2020-01-01', NULL, 'quote '' and \ back');


--
-- Data for Name: item; Type: TABLE DATA; Schema: stock; Owner: -
--

INSERT INTO stock.item VALUES ('A-000001', 'Äpfel', 'new', '{red,"a,b",NULL}', 1.10, DEFAULT, 0.25, '2024-02-03 04:05:06+00', '{"a": [1, null, "x"]}', '\x00ff10');
INSERT INTO stock.item VALUES ('B-2     ', 'Nut -- not a comment', 'used', '{}', 0.00, DEFAULT, 'NaN', '2024-02-03 04:05:06+00', NULL, NULL);
INSERT INTO stock.item VALUES ('C       ', '$$ body $$', 'broken', '{it''s}', 999999.99, DEFAULT, '-Infinity', '2024-02-03 04:05:06+00', '[]', '\x');


--
-- Data for Name: placed; Type: TABLE DATA; Schema: stock; Owner: -
--

INSERT INTO stock.placed VALUES (1, 'A-000001', 5000000000, '2024-02-29 23:59:59.999999');
INSERT INTO stock.placed VALUES (2, 'B-2     ', 0, NULL);


--
-- Name: customer_id_seq; Type: SEQUENCE SET; Schema: sales; Owner: -
--

SELECT pg_catalog.setval('sales.customer_id_seq', 3, true);


--
-- Name: invoice_numbers; Type: SEQUENCE SET; Schema: sales; Owner: -
--

SELECT pg_catalog.setval('sales.invoice_numbers', 1005, true);


--
-- Name: depot_id_seq; Type: SEQUENCE SET; Schema: stock; Owner: -
--

SELECT pg_catalog.setval('stock.depot_id_seq', 2, true);


--
-- Name: customer customer_mail_key; Type: CONSTRAINT; Schema: sales; Owner: -
--

ALTER TABLE ONLY sales.customer
    ADD CONSTRAINT customer_mail_key UNIQUE NULLS NOT DISTINCT (mail);


--
-- Name: customer customer_pkey; Type: CONSTRAINT; Schema: sales; Owner: -
--

ALTER TABLE ONLY sales.customer
    ADD CONSTRAINT customer_pkey PRIMARY KEY (id);


--
-- Name: invoice invoice_pkey; Type: CONSTRAINT; Schema: sales; Owner: -
--

ALTER TABLE ONLY sales.invoice
    ADD CONSTRAINT invoice_pkey PRIMARY KEY (number);


--
-- Name: line line_pkey; Type: CONSTRAINT; Schema: sales; Owner: -
--

ALTER TABLE ONLY sales.line
    ADD CONSTRAINT line_pkey PRIMARY KEY (invoice, line);


--
-- Name: depot depot_name_key; Type: CONSTRAINT; Schema: stock; Owner: -
--

ALTER TABLE ONLY stock.depot
    ADD CONSTRAINT depot_name_key UNIQUE (name);


--
-- Name: depot depot_pkey; Type: CONSTRAINT; Schema: stock; Owner: -
--

ALTER TABLE ONLY stock.depot
    ADD CONSTRAINT depot_pkey PRIMARY KEY (id);


--
-- Name: item item_pkey; Type: CONSTRAINT; Schema: stock; Owner: -
--

ALTER TABLE ONLY stock.item
    ADD CONSTRAINT item_pkey PRIMARY KEY (sku);


--
-- Name: placed placed_pkey; Type: CONSTRAINT; Schema: stock; Owner: -
--

ALTER TABLE ONLY stock.placed
    ADD CONSTRAINT placed_pkey PRIMARY KEY (depot_id, sku);


--
-- Name: customer_mail_active; Type: INDEX; Schema: sales; Owner: -
--

CREATE UNIQUE INDEX customer_mail_active ON sales.customer USING btree (mail, active);


--
-- Name: invoice_by_day; Type: INDEX; Schema: sales; Owner: -
--

CREATE INDEX invoice_by_day ON sales.invoice USING btree (day DESC NULLS LAST, customer_id) INCLUDE (total);


--
-- Name: INDEX invoice_by_day; Type: COMMENT; Schema: sales; Owner: -
--

COMMENT ON INDEX sales.invoice_by_day IS 'newest first';


--
-- Name: customer customer_boss_fkey; Type: FK CONSTRAINT; Schema: sales; Owner: -
--

ALTER TABLE ONLY sales.customer
    ADD CONSTRAINT customer_boss_fkey FOREIGN KEY (boss) REFERENCES sales.customer(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;


--
-- Name: invoice invoice_customer_id_fkey; Type: FK CONSTRAINT; Schema: sales; Owner: -
--

ALTER TABLE ONLY sales.invoice
    ADD CONSTRAINT invoice_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES sales.customer(id);


--
-- Name: line line_invoice_fkey; Type: FK CONSTRAINT; Schema: sales; Owner: -
--

ALTER TABLE ONLY sales.line
    ADD CONSTRAINT line_invoice_fkey FOREIGN KEY (invoice) REFERENCES sales.invoice(number) MATCH FULL ON DELETE CASCADE;


--
-- Name: line line_sku_fkey; Type: FK CONSTRAINT; Schema: sales; Owner: -
--

ALTER TABLE ONLY sales.line
    ADD CONSTRAINT line_sku_fkey FOREIGN KEY (sku) REFERENCES stock.item(sku) ON UPDATE CASCADE ON DELETE SET DEFAULT;


--
-- Name: placed placed_depot_fk; Type: FK CONSTRAINT; Schema: stock; Owner: -
--

ALTER TABLE ONLY stock.placed
    ADD CONSTRAINT placed_depot_fk FOREIGN KEY (depot_id) REFERENCES stock.depot(id) ON UPDATE CASCADE ON DELETE RESTRICT;


--
-- Name: placed placed_item_fk; Type: FK CONSTRAINT; Schema: stock; Owner: -
--

ALTER TABLE ONLY stock.placed
    ADD CONSTRAINT placed_item_fk FOREIGN KEY (sku) REFERENCES stock.item(sku) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--

\unrestrict Frazil0

