"""Known faults that no SQL record can show: each test must fail until its fault is mended, and then loses its mark."""

import subprocess

import book
import frazil
import pytest

# What pg_dump 15.14 and later writes by default; the key after \restrict differs from run to run.
PG_DUMP = r"""--
-- PostgreSQL database dump
--

\restrict Hc9I88TwKeg0vfm4cpDQr3Zf7A41ugidNevPFdgK8gF99yCFhBezdqhwEGxB8mO

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

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE public.account (
    id integer NOT NULL,
    owner text NOT NULL,
    balance numeric(12,2),
    CONSTRAINT account_balance_check CHECK ((balance >= (0)::numeric))
);

COPY public.account (id, owner, balance) FROM stdin;
1	ann	5.00
\.

ALTER TABLE ONLY public.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (id);

\unrestrict Hc9I88TwKeg0vfm4cpDQr3Zf7A41ugidNevPFdgK8gF99yCFhBezdqhwEGxB8mO

"""


def test_the_default_output_of_pg_dump_loads(tmp_path):
    (tmp_path / "dump.sql").write_text(PG_DUMP)
    command = [book.program(), "-X", "bank", "-f", "dump.sql"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    with frazil.connect(tmp_path / "bank") as con:
        assert [owner for (owner,) in con.execute("select owner from account")] == ["ann"]
