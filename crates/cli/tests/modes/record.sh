#!/bin/sh
# Records what psql and sqlite3 write for the rows of *.sql, each mode in a file: record.sh [psql's options]
set -eu
cd "$(dirname "$0")"
export LC_ALL=C.UTF-8 PGCLIENTENCODING=UTF8
postgres() { # file.sql, name of the mode, options
    rows=$1 name=$2
    shift 2
    psql -X -q "$@" -f "$rows.sql" $PSQL >"$rows.$name.psql"
}
sqlite() { # file.sql, name of the mode, options
    rows=$1 name=$2
    shift 2
    (cat "$rows.sql" && echo ';') >"$rows.tmp"
    sqlite3 -batch -init /dev/null :memory: ".mode $name" ".headers on" "$@" ".read $rows.tmp" >"$rows.$name.sqlite3"
    rm "$rows.tmp"
}
PSQL="$*"
for rows in rows lines none wide; do
    postgres $rows aligned
    postgres $rows unaligned -P format=unaligned
    postgres $rows html -P format=html
    postgres $rows latex -P format=latex
    postgres $rows csv -P format=csv
    postgres $rows table -P border=2
    postgres $rows box -P border=2 -P linestyle=unicode -P null=NULL
    postgres $rows aligned.x -x
    postgres $rows table.x -x -P border=2
    postgres $rows box.x -x -P border=2 -P linestyle=unicode -P null=NULL
done
for mode in column tabs json line list quote insert markdown; do
    sqlite rows $mode
done
sqlite lines column
sqlite lines json
sqlite lines quote
