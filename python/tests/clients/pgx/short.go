package main

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Short work, for a recording.
func short(ctx context.Context, url string) error {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, "create table short (id integer primary key, name text, price numeric(10,2), at timestamp)"); err != nil {
		return err
	}
	for id := 1; id < 4; id++ {
		if _, err := c.Exec(ctx, "insert into short (id, name) values ($1, $2)", id, "name"); err != nil {
			return err
		}
	}
	rows, err := c.Query(ctx, "select id, name from short where id = any($1) order by id", []int32{1, 2})
	if err != nil {
		return err
	}
	rows.Close()
	var code *pgconn.PgError
	if _, err := c.Exec(ctx, "select $1::integer / 0", 1); !errors.As(err, &code) || code.Code != "22012" {
		return errors.New("no division by zero")
	}
	batch := &pgx.Batch{}
	batch.Queue("select count(*) from short")
	batch.Queue("select $1::text", "x")
	if err := c.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	tx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "delete from short"); err != nil {
		return err
	}
	if err := tx.Rollback(ctx); err != nil {
		return err
	}
	values := [][]any{{int32(7), "seven"}, {int32(8), nil}}
	if _, err := c.CopyFrom(ctx, pgx.Identifier{"short"}, []string{"id", "name"}, pgx.CopyFromRows(values)); err != nil {
		return err
	}
	_, err = c.PgConn().CopyTo(ctx, &strings.Builder{}, "copy short to stdout")
	return err
}
