// pgx, with its pool, in each mode of queries. Usage: pgx PORT [short], which does the work of a recording
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

var failed = false

func step(name string, run func() error) {
	if err := run(); err != nil {
		failed = true
		fmt.Printf("FAIL %s: %v\n", name, err)
	} else {
		fmt.Println("ok", name)
	}
}
func check(ok bool) error {
	if !ok {
		return errors.New("another answer")
	}
	return nil
}
func main() {
	ctx := context.Background()
	url := "postgres://me@127.0.0.1:" + os.Args[1] + "/frazil?sslmode=disable"
	if len(os.Args) > 2 {
		if err := short(ctx, url); err != nil {
			fmt.Println("FAIL short:", err)
			os.Exit(1)
		}
		return
	}
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		in := " (" + mode + ")"
		c, err := pgx.Connect(ctx, url+"&default_query_exec_mode="+mode)
		if err != nil {
			fmt.Println("FAIL connect", err)
			os.Exit(1)
		}
		step("ddl"+in, func() error {
			_, err := c.Exec(ctx, "drop table if exists pgx; create table pgx (id serial primary key, name text, at timestamptz, n numeric, a int[], j jsonb, b bytea, f float8, ok bool, d date, u uuid, i interval)")
			if err != nil {
				for _, q := range []string{"drop table if exists pgx", "create table pgx (id serial primary key, name text, at timestamptz, n numeric, a int[], j jsonb, b bytea, f float8, ok bool, d date, u uuid, i interval)"} {
					if _, err := c.Exec(ctx, q); err != nil {
						return err
					}
				}
			}
			return nil
		})
		step("insert"+in, func() error {
			var id int
			err := c.QueryRow(ctx, "insert into pgx (name, at, a, b, f, ok, d) values ($1, $2, $3, $4, $5, $6, $7) returning id", "x", time.Unix(5, 0), []int32{1, 2}, []byte{0, 1}, 1.5, true, time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC)).Scan(&id)
			if err != nil {
				return err
			}
			return check(id == 1)
		})
		step("json"+in, func() error {
			if mode == "exec" || mode == "simple_protocol" {
				return nil
			}
			var m map[string]int
			if err := c.QueryRow(ctx, "select $1::jsonb", map[string]int{"a": 1}).Scan(&m); err != nil {
				return err
			}
			return check(m["a"] == 1)
		})
		step("read"+in, func() error {
			var name string
			var at time.Time
			var a []int32
			var b []byte
			var f float64
			var n pgtype.Numeric
			if err := c.QueryRow(ctx, "select name, at, a, b, f, n from pgx where id = $1", 1).Scan(&name, &at, &a, &b, &f, &n); err != nil {
				return err
			}
			return check(name == "x" && at.Unix() == 5 && len(a) == 2 && b[1] == 1 && f == 1.5 && !n.Valid)
		})
		step("struct rows"+in, func() error {
			type R struct{ A, B int }
			rows, err := c.Query(ctx, "select g as a, g * 2 as b from generate_series(1, 10) g")
			if err != nil {
				return err
			}
			r, err := pgx.CollectRows(rows, pgx.RowToStructByName[R])
			if err != nil {
				return err
			}
			return check(len(r) == 10 && r[9].B == 20)
		})
		step("any"+in, func() error {
			var n int
			if err := c.QueryRow(ctx, "select count(*) from pgx where id = any($1)", []int32{1, 2}).Scan(&n); err != nil {
				return err
			}
			return check(n == 1)
		})
		step("batch"+in, func() error {
			b := &pgx.Batch{}
			for i := 0; i < 20; i++ {
				b.Queue("insert into pgx (name) values ($1)", fmt.Sprint(i))
			}
			b.Queue("select count(*) from pgx").QueryRow(func(row pgx.Row) error { var n int; return row.Scan(&n) })
			return c.SendBatch(ctx, b).Close()
		})
		step("batch error"+in, func() error {
			b := &pgx.Batch{}
			b.Queue("insert into pgx (id) values (1000)")
			b.Queue("select 1/0")
			err := c.SendBatch(ctx, b).Close()
			var p *pgconn.PgError
			if !errors.As(err, &p) || p.Code != "22012" {
				return fmt.Errorf("%v", err)
			}
			var n int
			if err := c.QueryRow(ctx, "select count(*) from pgx where id = 1000").Scan(&n); err != nil {
				return err
			}
			return check(n == 0)
		})
		step("copy from"+in, func() error {
			n, err := c.CopyFrom(ctx, pgx.Identifier{"pgx"}, []string{"name", "n", "d"}, pgx.CopyFromRows([][]any{{"p", "1.25", time.Now()}, {nil, nil, nil}}))
			if err != nil {
				return err
			}
			return check(n == 2)
		})
		step("copy to"+in, func() error {
			var s strings.Builder
			_, err := c.PgConn().CopyTo(ctx, &s, "copy (select 1) to stdout")
			if err != nil {
				return err
			}
			return check(s.String() == "1\n")
		})
		step("transaction"+in, func() error {
			return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(t pgx.Tx) error {
				n, err := t.Begin(ctx)
				if err != nil {
					return err
				}
				n.Exec(ctx, "select 1/0")
				if err := n.Rollback(ctx); err != nil {
					return err
				}
				_, err = t.Exec(ctx, "select 1")
				return err
			})
		})
		step("notify"+in, func() error {
			if _, err := c.Exec(ctx, "listen ch"); err != nil {
				return err
			}
			if _, err := c.Exec(ctx, "select pg_notify('ch', 'x')"); err != nil {
				return err
			}
			n, err := c.WaitForNotification(ctx)
			if err != nil {
				return err
			}
			return check(n.Payload == "x")
		})
		step("enum type"+in, func() error {
			c.Exec(ctx, "create type pgx_mood as enum ('sad', 'ok')")
			t, err := c.LoadType(ctx, "pgx_mood")
			if err != nil {
				return err
			}
			c.TypeMap().RegisterType(t)
			a, err := c.LoadType(ctx, "_pgx_mood")
			if err != nil {
				return err
			}
			c.TypeMap().RegisterType(a)
			var m string
			return c.QueryRow(ctx, "select $1::pgx_mood", "ok").Scan(&m)
		})
		step("cancel"+in, func() error {
			t, stop := context.WithTimeout(ctx, 200*time.Millisecond)
			defer stop()
			_, err := c.Exec(t, "select count(*) from generate_series(1, 100000000000) g")
			return check(err != nil)
		})
		c.Close(ctx)
	}
	step("pool", func() error {
		p, err := pgxpool.New(ctx, url)
		if err != nil {
			return err
		}
		defer p.Close()
		done := make(chan error)
		for i := 0; i < 20; i++ {
			go func() { var n int; done <- p.QueryRow(ctx, "select $1::int", i).Scan(&n) }()
		}
		for i := 0; i < 20; i++ {
			if err := <-done; err != nil {
				return err
			}
		}
		return nil
	})
	if failed {
		os.Exit(1)
	}
}
