// pgjdbc: metadata, batches, cursors, COPY, arrays, calls, transactions and times, in each mode of queries.
// Usage: java -cp postgresql.jar Pgjdbc.java PORT

import java.io.*;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.time.*;
import java.util.*;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PGobject;

public class Pgjdbc {
    static boolean failed = false;
    static String mode;

    interface Step {
        void run() throws Exception;
    }

    static void step(String name, Step step) {
        try {
            step.run();
            System.out.println("ok " + name + " (" + mode + ")");
        } catch (Throwable error) {
            failed = true;
            String message = String.valueOf(error.getMessage()).replace('\n', ' ');
            System.out.println("FAIL " + name + " (" + mode + "): " + error.getClass().getSimpleName() + " " + message);
        }
    }

    static boolean isSimple() {
        return mode.equals("preferQueryMode=simple");
    }

    static void equal(Object expected, Object found) {
        if (!Objects.equals(expected, found)) {
            throw new IllegalStateException("expected " + expected + ", found " + found);
        }
    }

    /** The columns of all rows, with `|` between, rows with `;`. */
    static String rows(ResultSet rows, String... columns) throws SQLException {
        List<String> all = new ArrayList<>();
        while (rows.next()) {
            List<String> row = new ArrayList<>();
            for (String column : columns) {
                row.add(rows.getString(column));
            }
            all.add(String.join("|", row.stream().map(String::valueOf).toList()));
        }
        rows.close();
        return String.join(";", all);
    }

    static String one(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet rows = s.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    static void run(Connection c, String... all) throws SQLException {
        try (Statement s = c.createStatement()) {
            for (String sql : all) {
                s.execute(sql);
            }
        }
    }

    static String state(Step step) throws Exception {
        try {
            step.run();
            return "no error";
        } catch (SQLException error) {
            return error.getSQLState();
        }
    }

    static void tables(Connection c) throws SQLException {
        run(c,
            "drop schema if exists jdbc cascade",
            "create schema jdbc",
            "create table jdbc.owner (id serial primary key, name varchar(30) not null unique, born date default '2000-01-01')",
            "create table jdbc.pet (owner integer not null, number smallint not null, name text, weight numeric(6, 2),"
                + " primary key (owner, number), constraint pet_owner foreign key (owner) references jdbc.owner (id) on delete cascade)",
            "create index pet_name on jdbc.pet (name, weight desc)",
            "create view jdbc.names as select name from jdbc.pet",
            "create sequence jdbc.numbers",
            "create type jdbc.mood as enum ('sad', 'ok')",
            "create domain jdbc.positive as integer check (value > 0)",
            "comment on table jdbc.pet is 'pets'",
            "comment on column jdbc.pet.weight is 'in kg'");
    }

    static void metadata(Connection c) {
        step("tables", () -> tables(c));
        step("product", () -> {
            DatabaseMetaData m = c.getMetaData();
            equal("PostgreSQL", m.getDatabaseProductName());
            equal(15, m.getDatabaseMajorVersion());
            equal(63, m.getMaxColumnNameLength());
            equal(Connection.TRANSACTION_READ_COMMITTED, m.getDefaultTransactionIsolation());
            m.getSQLKeywords();
            m.getNumericFunctions();
            equal(true, m.supportsTransactionIsolationLevel(Connection.TRANSACTION_SERIALIZABLE));
            equal(32, m.getMaxColumnsInIndex());
        });
        step("getSchemas", () -> {
            equal("jdbc", rows(c.getMetaData().getSchemas(null, "jd%"), "TABLE_SCHEM"));
            String all = rows(c.getMetaData().getSchemas(), "TABLE_SCHEM");
            equal(true, all.contains("information_schema") && all.contains("pg_catalog") && all.contains("public"));
        });
        step("getCatalogs", () -> equal(false, rows(c.getMetaData().getCatalogs(), "TABLE_CAT").isEmpty()));
        step("getTableTypes", () -> equal(true, rows(c.getMetaData().getTableTypes(), "TABLE_TYPE").contains("VIEW")));
        step("getTables", () -> {
            equal("owner|TABLE|null;pet|TABLE|pets",
                rows(c.getMetaData().getTables(null, "jdbc", "%", new String[] {"TABLE"}), "TABLE_NAME", "TABLE_TYPE", "REMARKS"));
            equal("names|VIEW", rows(c.getMetaData().getTables(null, "jdbc", "na%", null), "TABLE_NAME", "TABLE_TYPE"));
            equal("numbers", rows(c.getMetaData().getTables(null, "jdbc", "numbers", new String[] {"SEQUENCE"}), "TABLE_NAME"));
            equal("pet_name", rows(c.getMetaData().getTables(null, "jdbc", "pet\\_n%", new String[] {"INDEX"}), "TABLE_NAME"));
            equal("pg_class", rows(c.getMetaData().getTables(null, "pg_catalog", "pg_class", new String[] {"SYSTEM TABLE"}), "TABLE_NAME"));
        });
        step("getColumns", () -> {
            equal("id|4|serial|10|NO|nextval('jdbc.owner_id_seq'::regclass)|1|YES;name|12|varchar|30|NO|null|2|NO;born|91|date|13|YES|'2000-01-01'::date|3|NO",
                rows(c.getMetaData().getColumns(null, "jdbc", "owner", "%"), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME",
                    "COLUMN_SIZE", "IS_NULLABLE", "COLUMN_DEF", "ORDINAL_POSITION", "IS_AUTOINCREMENT"));
            equal("weight|2|numeric|6|2|in kg",
                rows(c.getMetaData().getColumns(null, "jdbc", "pet", "we%"), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME",
                    "COLUMN_SIZE", "DECIMAL_DIGITS", "REMARKS"));
        });
        step("getPrimaryKeys", () -> equal("owner|1|pet_pkey;number|2|pet_pkey",
            rows(c.getMetaData().getPrimaryKeys(null, "jdbc", "pet"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME")));
        step("getImportedKeys", () -> equal("owner|id|pet|owner|1|3|0|pet_owner|owner_pkey|7",
            rows(c.getMetaData().getImportedKeys(null, "jdbc", "pet"), "PKTABLE_NAME", "PKCOLUMN_NAME", "FKTABLE_NAME",
                "FKCOLUMN_NAME", "KEY_SEQ", "UPDATE_RULE", "DELETE_RULE", "FK_NAME", "PK_NAME", "DEFERRABILITY")));
        step("getExportedKeys", () -> equal("pet|owner",
            rows(c.getMetaData().getExportedKeys(null, "jdbc", "owner"), "FKTABLE_NAME", "FKCOLUMN_NAME")));
        step("getCrossReference", () -> equal("id|owner",
            rows(c.getMetaData().getCrossReference(null, "jdbc", "owner", null, "jdbc", "pet"), "PKCOLUMN_NAME", "FKCOLUMN_NAME")));
        step("getIndexInfo", () -> {
            equal("f|pet_pkey|1|owner|A;f|pet_pkey|2|number|A;t|pet_name|1|name|A;t|pet_name|2|weight|D",
                rows(c.getMetaData().getIndexInfo(null, "jdbc", "pet", false, true), "NON_UNIQUE", "INDEX_NAME",
                    "ORDINAL_POSITION", "COLUMN_NAME", "ASC_OR_DESC"));
            equal("owner_name_key|name;owner_pkey|id",
                rows(c.getMetaData().getIndexInfo(null, "jdbc", "owner", true, true), "INDEX_NAME", "COLUMN_NAME"));
        });
        step("getBestRowIdentifier", () -> equal("owner;number",
            rows(c.getMetaData().getBestRowIdentifier(null, "jdbc", "pet", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME")));
        step("getVersionColumns", () -> equal("ctid",
            rows(c.getMetaData().getVersionColumns(null, "jdbc", "pet"), "COLUMN_NAME")));
        step("getTypeInfo", () -> {
            Map<String, Integer> types = new HashMap<>();
            ResultSet all = c.getMetaData().getTypeInfo();
            while (all.next()) {
                types.put(all.getString("TYPE_NAME"), all.getInt("DATA_TYPE"));
            }
            equal(Types.INTEGER, types.get("int4"));
            equal(Types.NUMERIC, types.get("numeric"));
            equal(Types.ARRAY, types.get("_text"));
            equal(Types.TIMESTAMP, types.get("timestamptz"));
        });
        step("getUDTs", () -> equal("positive|2001",
            rows(c.getMetaData().getUDTs(null, "jdbc", "pos%", null), "TYPE_NAME", "DATA_TYPE")));
        step("getFunctions", () -> rows(c.getMetaData().getFunctions(null, "jdbc", "%"), "FUNCTION_NAME"));
        step("getFunctionColumns", () -> rows(c.getMetaData().getFunctionColumns(null, "jdbc", "%", "%"), "COLUMN_NAME"));
        step("getProcedures", () -> equal("", rows(c.getMetaData().getProcedures(null, "jdbc", "%"), "PROCEDURE_NAME")));
        step("getProcedureColumns", () -> equal("", rows(c.getMetaData().getProcedureColumns(null, "jdbc", "%", "%"), "COLUMN_NAME")));
        step("getTablePrivileges", () -> equal(true,
            rows(c.getMetaData().getTablePrivileges(null, "jdbc", "pet"), "PRIVILEGE").contains("SELECT")));
        step("getColumnPrivileges", () -> equal(true,
            rows(c.getMetaData().getColumnPrivileges(null, "jdbc", "pet", "name"), "PRIVILEGE").contains("SELECT")));
        step("getClientInfoProperties", () -> equal(true,
            rows(c.getMetaData().getClientInfoProperties(), "NAME").contains("ApplicationName")));
        step("ResultSetMetaData", () -> {
            try (PreparedStatement s = c.prepareStatement("select p.weight as kg, o.id, 1 + 1 as two from jdbc.pet p join jdbc.owner o on o.id = p.owner")) {
                ResultSetMetaData m = s.getMetaData();
                equal("kg|weight|numeric|6|2", m.getColumnLabel(1) + "|" + ((org.postgresql.PGResultSetMetaData) m).getBaseColumnName(1)
                    + "|" + m.getColumnTypeName(1) + "|" + m.getPrecision(1) + "|" + m.getScale(1));
                equal("owner|jdbc|true", m.getTableName(2).isEmpty() ? ((org.postgresql.PGResultSetMetaData) m).getBaseTableName(2)
                    + "|" + ((org.postgresql.PGResultSetMetaData) m).getBaseSchemaName(2) + "|" + m.isAutoIncrement(2)
                    : m.getTableName(2) + "|" + ((org.postgresql.PGResultSetMetaData) m).getBaseSchemaName(2) + "|" + m.isAutoIncrement(2));
                equal(ResultSetMetaData.columnNoNulls, m.isNullable(2));
                equal(ResultSetMetaData.columnNullableUnknown, m.isNullable(3));
            }
        });
        step("ParameterMetaData", () -> {
            if (isSimple()) {
                return;
            }
            try (PreparedStatement s = c.prepareStatement("select * from jdbc.pet where owner = ? and name = ? and weight > ?")) {
                ParameterMetaData m = s.getParameterMetaData();
                equal("int4|text|numeric", m.getParameterTypeName(1) + "|" + m.getParameterTypeName(2) + "|" + m.getParameterTypeName(3));
            }
        });
    }

    static void statements(Connection c) {
        step("insert", () -> {
            run(c, "insert into jdbc.owner (name) values ('Ada'), ('Bob')");
            try (PreparedStatement s = c.prepareStatement("insert into jdbc.pet values (?, ?, ?, ?)")) {
                for (int i = 1; i <= 12; i++) {
                    s.setInt(1, 1 + i % 2);
                    s.setShort(2, (short) i);
                    s.setString(3, "pet " + i);
                    s.setBigDecimal(4, new BigDecimal("1.25").multiply(BigDecimal.valueOf(i)));
                    equal(1, s.executeUpdate());
                }
            }
            equal("97.50", one(c, "select sum(weight) from jdbc.pet"));
        });
        step("batch", () -> {
            try (PreparedStatement s = c.prepareStatement("update jdbc.pet set weight = weight + ? where number <= ?")) {
                for (int i = 1; i <= 3; i++) {
                    s.setBigDecimal(1, BigDecimal.ONE);
                    s.setInt(2, i);
                    s.addBatch();
                }
                equal("[1, 2, 3]", Arrays.toString(s.executeBatch()));
            }
            try (Statement s = c.createStatement()) {
                s.addBatch("insert into jdbc.owner (name) values ('Cyd')");
                s.addBatch("delete from jdbc.owner where name = 'Cyd'");
                equal("[1, 1]", Arrays.toString(s.executeBatch()));
            }
        });
        step("failing batch", () -> {
            try (PreparedStatement s = c.prepareStatement("insert into jdbc.owner (name) values (?)")) {
                for (String name : new String[] {"Dan", "Ada"}) {
                    s.setString(1, name);
                    s.addBatch();
                }
                try {
                    s.executeBatch();
                    throw new IllegalStateException("no error");
                } catch (BatchUpdateException error) {
                    equal("23505", error.getSQLState());
                }
            }
            if (!c.getAutoCommit()) {
                c.rollback();
            }
            run(c, "delete from jdbc.owner where name = 'Dan'");
        });
        step("large batch", () -> {
            run(c, "drop table if exists jdbc.many", "create table jdbc.many (a integer, b text)");
            try (PreparedStatement s = c.prepareStatement("insert into jdbc.many values (?, ?)")) {
                for (int i = 0; i < 5000; i++) {
                    s.setInt(1, i);
                    s.setString(2, "row " + i);
                    s.addBatch();
                }
                equal(5000, s.executeBatch().length);
            }
            equal("12497500", one(c, "select sum(a) from jdbc.many"));
        });
        step("generated keys", () -> {
            try (PreparedStatement s = c.prepareStatement("insert into jdbc.owner (name) values (?)", Statement.RETURN_GENERATED_KEYS)) {
                s.setString(1, "Eve");
                s.executeUpdate();
                ResultSet keys = s.getGeneratedKeys();
                equal(true, keys.next() && keys.getInt("id") > 2);
            }
            try (PreparedStatement s = c.prepareStatement("delete from jdbc.owner where name = 'Eve'", new String[] {"name"})) {
                s.executeUpdate();
                ResultSet keys = s.getGeneratedKeys();
                equal(true, keys.next());
                equal("Eve", keys.getString(1));
            }
        });
        step("batch with generated keys", () -> {
            try (PreparedStatement s = c.prepareStatement("insert into jdbc.owner (name) values (?)", Statement.RETURN_GENERATED_KEYS)) {
                for (String name : new String[] {"F", "G", "H"}) {
                    s.setString(1, name);
                    s.addBatch();
                }
                s.executeBatch();
                int count = 0;
                for (ResultSet keys = s.getGeneratedKeys(); keys.next(); count++) {}
                equal(3, count);
            }
            run(c, "delete from jdbc.owner where length(name) = 1");
        });
        step("several results", () -> {
            try (Statement s = c.createStatement()) {
                // With rewritten batches the answer of the update is another one.
                if (mode.startsWith("reWriteBatchedInserts")) {
                    return;
                }
                equal(true, s.execute("select 1; update jdbc.owner set name = name; select 2"));
                equal(false, s.getMoreResults());
                equal(2, s.getUpdateCount());
                equal(true, s.getMoreResults());
                ResultSet last = s.getResultSet();
                last.next();
                equal(2, last.getInt(1));
            }
        });
        step("escapes", () -> {
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select {fn concat('a', {fn ucase('b')})}, {d '2020-01-02'}, {fn abs(-3)}")) {
                r.next();
                equal("aB|2020-01-02|3", r.getString(1) + "|" + r.getDate(2) + "|" + r.getInt(3));
            }
        });
        step("calls", () -> {
            // The driver sends the result as a parameter, which a simple query cannot.
            if (isSimple()) {
                return;
            }
            Map<String, Object> calls = new LinkedHashMap<>();
            calls.put("{? = call upper(?)}", "ABC");
            calls.put("{? = call pg_catalog.concat( ?, 'x', ? )}", "abcxabc");
            calls.put("{? = call pi()}", Math.PI);
            for (Map.Entry<String, Object> call : calls.entrySet()) {
                try (CallableStatement s = c.prepareCall(call.getKey())) {
                    s.registerOutParameter(1, call.getValue() instanceof String ? Types.VARCHAR : Types.DOUBLE);
                    long parameters = call.getKey().chars().filter(letter -> letter == '?').count();
                    for (int run = 0; run < 7; run++) {
                        for (int n = 2; n <= parameters; n++) {
                            s.setString(n, "abc");
                        }
                        s.execute();
                        equal(call.getValue(), s.getObject(1));
                    }
                }
            }
        });
        step("arrays", () -> {
            try (PreparedStatement s = c.prepareStatement("select ?::integer[], ?::text[], array_length(?::bigint[], 1), array[[1.5, 2], [3, null]]")) {
                s.setArray(1, c.createArrayOf("int4", new Object[] {1, null, 3}));
                s.setObject(2, new String[] {"a", "b,c", "\"d\""});
                s.setArray(3, c.createArrayOf("int8", new Long[] {5L, 6L}));
                ResultSet r = s.executeQuery();
                r.next();
                equal("[1, null, 3]", Arrays.toString((Object[]) r.getArray(1).getArray()));
                equal("[a, b,c, \"d\"]", Arrays.toString((Object[]) r.getArray(2).getArray()));
                equal(2, r.getInt(3));
                equal("[[1.5, 2], [3, null]]", Arrays.deepToString((Object[]) r.getArray(4).getArray()));
                int elements = 0;
                for (ResultSet e = r.getArray(1).getResultSet(); e.next(); elements++) {}
                equal(3, elements);
            }
            try (PreparedStatement s = c.prepareStatement("select count(*) from jdbc.many where a = any (?)")) {
                s.setArray(1, c.createArrayOf("int4", new Object[] {1, 2, 9999}));
                ResultSet r = s.executeQuery();
                r.next();
                equal(2L, r.getLong(1));
            }
        });
        step("values", () -> {
            // From the fifth run on the statement has a name, and its values come in binary.
            for (int i = 0; i < 7; i++) {
                try (PreparedStatement s = c.prepareStatement("select ?::boolean, ?::smallint, ?::integer, ?::bigint, ?::real, ?::double precision,"
                    + " ?::numeric, ?::text, ?::bytea, ?::uuid, ?::jsonb, ?::interval, ?::varchar(3), ?::\"char\"")) {
                    UUID uuid = UUID.fromString("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
                    s.setBoolean(1, true);
                    s.setShort(2, Short.MIN_VALUE);
                    s.setInt(3, Integer.MAX_VALUE);
                    s.setLong(4, Long.MIN_VALUE);
                    s.setFloat(5, 1.5f);
                    s.setDouble(6, Double.NEGATIVE_INFINITY);
                    s.setBigDecimal(7, new BigDecimal("-12345678901234567890.123456789"));
                    s.setString(8, "ä\u20ac");
                    s.setBytes(9, new byte[] {0, -1, 92});
                    s.setObject(10, uuid);
                    PGobject json = new PGobject();
                    json.setType("jsonb");
                    json.setValue("{\"a\": [1, null]}");
                    s.setObject(11, json);
                    s.setObject(12, new org.postgresql.util.PGInterval("1 mon 2 days 03:04:05"));
                    s.setString(13, "abcdef");
                    s.setString(14, "x");
                    ResultSet r = s.executeQuery();
                    r.next();
                    equal(true, r.getBoolean(1));
                    equal(Short.MIN_VALUE, r.getShort(2));
                    equal(Integer.MAX_VALUE, r.getInt(3));
                    equal(Long.MIN_VALUE, r.getLong(4));
                    equal(1.5f, r.getFloat(5));
                    equal(Double.NEGATIVE_INFINITY, r.getDouble(6));
                    equal(new BigDecimal("-12345678901234567890.123456789"), r.getBigDecimal(7));
                    equal("ä\u20ac", r.getString(8));
                    equal("[0, -1, 92]", Arrays.toString(r.getBytes(9)));
                    equal(uuid, r.getObject(10));
                    equal("{\"a\": [1, null]}", r.getString(11));
                    equal(3, ((org.postgresql.util.PGInterval) r.getObject(12)).getHours());
                    equal("abc", r.getString(13));
                    equal("x", r.getString(14));
                }
            }
        });
        step("NULLs", () -> {
            for (int i = 0; i < 7; i++) {
                try (PreparedStatement s = c.prepareStatement("select ?::integer, ?::text, ?::numeric, ?::timestamptz, ?::integer[]")) {
                    s.setNull(1, Types.INTEGER);
                    s.setNull(2, Types.VARCHAR);
                    s.setNull(3, Types.NUMERIC);
                    s.setNull(4, Types.TIMESTAMP_WITH_TIMEZONE);
                    s.setNull(5, Types.ARRAY);
                    ResultSet r = s.executeQuery();
                    r.next();
                    for (int at = 1; at <= 5; at++) {
                        equal(null, r.getObject(at));
                    }
                }
            }
        });
        step("times", () -> {
            for (int i = 0; i < 7; i++) {
                try (PreparedStatement s = c.prepareStatement("select ?::date, ?::time, ?::timestamp, ?::timestamptz, ?::timestamptz, ?::date, ?::timestamp")) {
                    LocalDateTime local = LocalDateTime.of(2024, 2, 29, 12, 30, 15, 123456000);
                    OffsetDateTime zoned = OffsetDateTime.of(local, ZoneOffset.ofHours(5));
                    s.setObject(1, LocalDate.of(1582, 10, 15));
                    s.setObject(2, LocalTime.of(23, 59, 59, 999999000));
                    s.setObject(3, local);
                    s.setObject(4, zoned);
                    s.setTimestamp(5, Timestamp.from(zoned.toInstant()), Calendar.getInstance(TimeZone.getTimeZone("Asia/Tokyo")));
                    s.setDate(6, java.sql.Date.valueOf("2020-01-02"));
                    s.setTimestamp(7, Timestamp.valueOf("2020-01-02 03:04:05"));
                    ResultSet r = s.executeQuery();
                    r.next();
                    equal(LocalDate.of(1582, 10, 15), r.getObject(1, LocalDate.class));
                    equal(LocalTime.of(23, 59, 59, 999999000), r.getObject(2, LocalTime.class));
                    equal(local, r.getObject(3, LocalDateTime.class));
                    equal(zoned.toInstant(), r.getObject(4, OffsetDateTime.class).toInstant());
                    equal(zoned.toInstant(), r.getTimestamp(5).toInstant());
                    equal(java.sql.Date.valueOf("2020-01-02"), r.getDate(6));
                    equal(Timestamp.valueOf("2020-01-02 03:04:05"), r.getTimestamp(7));
                }
            }
            equal("infinity", one(c, "select 'infinity'::timestamptz"));
        });
        step("errors", () -> {
            equal("42P01", state(() -> run(c, "select * from missing")));
            if (!c.getAutoCommit()) {
                equal("25P02", state(() -> run(c, "select 1")));
                c.rollback();
            }
            try {
                run(c, "insert into jdbc.pet values (99, 1)");
                throw new IllegalStateException("no error");
            } catch (org.postgresql.util.PSQLException error) {
                equal("23503|pet_owner|pet", error.getSQLState() + "|" + error.getServerErrorMessage().getConstraint()
                    + "|" + error.getServerErrorMessage().getTable());
            }
            if (!c.getAutoCommit()) {
                c.rollback();
            }
        });
        step("timeout", () -> {
            try (Statement s = c.createStatement()) {
                s.setQueryTimeout(1);
                equal("57014", state(() -> s.execute("select count(*) from generate_series(1, 100000000000)")));
            }
            if (!c.getAutoCommit()) {
                c.rollback();
            }
        });
        step("most rows", () -> {
            try (Statement s = c.createStatement()) {
                s.setMaxRows(7);
                int count = 0;
                for (ResultSet r = s.executeQuery("select * from jdbc.many"); r.next(); count++) {}
                // A text without parameters is a simple query in these modes, which has no limit.
                equal(isSimple() || mode.equals("preferQueryMode=extendedForPrepared") ? 5000 : 7, count);
            }
        });
        step("scrolled and updated rows", () -> {
            try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE);
                ResultSet r = s.executeQuery("select id, name from jdbc.owner order by id")) {
                equal(true, r.last());
                equal("Bob", r.getString(2));
                r.updateString("name", "Bill");
                r.updateRow();
                equal(true, r.first());
                equal("Ada", r.getString(2));
            }
            equal("Bill", one(c, "select name from jdbc.owner where id = 2"));
        });
    }

    static void transactions(Connection c) throws SQLException {
        c.setAutoCommit(false);
        step("cursor by fetch size", () -> {
            try (PreparedStatement s = c.prepareStatement("select a, b from jdbc.many order by a")) {
                s.setFetchSize(700);
                int count = 0;
                for (ResultSet r = s.executeQuery(); r.next(); count++) {
                    equal(count, r.getInt(1));
                }
                equal(5000, count);
            }
            c.commit();
        });
        step("two cursors", () -> {
            try (Statement a = c.createStatement(); Statement b = c.createStatement()) {
                a.setFetchSize(10);
                b.setFetchSize(3);
                ResultSet ra = a.executeQuery("select a from jdbc.many order by a");
                ResultSet rb = b.executeQuery("select a from jdbc.many order by a desc");
                for (int i = 0; i < 100; i++) {
                    equal(true, ra.next() && rb.next());
                    equal(4999, ra.getInt(1) + rb.getInt(1));
                }
            }
            c.commit();
        });
        step("rollback", () -> {
            run(c, "delete from jdbc.pet");
            c.rollback();
            equal("12", one(c, "select count(*) from jdbc.pet"));
            c.commit();
        });
        step("savepoints", () -> {
            run(c, "insert into jdbc.owner (name) values ('Kim')");
            Savepoint named = c.setSavepoint("here");
            equal("23505", state(() -> run(c, "insert into jdbc.owner (name) values ('Kim')")));
            c.rollback(named);
            Savepoint unnamed = c.setSavepoint();
            run(c, "delete from jdbc.owner where name = 'Kim'");
            c.releaseSavepoint(unnamed);
            equal("0", one(c, "select count(*) from jdbc.owner where name = 'Kim'"));
            c.rollback();
        });
        step("isolation levels", () -> {
            int[] levels = {Connection.TRANSACTION_READ_UNCOMMITTED, Connection.TRANSACTION_READ_COMMITTED,
                Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE, Connection.TRANSACTION_READ_COMMITTED};
            for (int level : levels) {
                c.setTransactionIsolation(level);
                equal(level, c.getTransactionIsolation());
                c.commit();
            }
        });
        step("read only", () -> {
            c.setReadOnly(true);
            equal("25006", state(() -> run(c, "delete from jdbc.pet")));
            c.rollback();
            c.setReadOnly(false);
        });
        c.setAutoCommit(true);
        step("schema", () -> {
            c.setSchema("jdbc");
            equal("jdbc", c.getSchema());
            equal("12", one(c, "select count(*) from pet"));
            c.setSchema("public");
            c.setClientInfo("ApplicationName", "shop");
            equal("shop", one(c, "select current_setting('application_name')"));
            equal(true, c.isValid(5));
        });
    }

    static void wire(Connection c, String url) {
        step("COPY", () -> {
            CopyManager copy = new CopyManager((org.postgresql.core.BaseConnection) c);
            run(c, "drop table if exists jdbc.copied", "create table jdbc.copied (a integer, b text)");
            equal(3L, copy.copyIn("copy jdbc.copied from stdin", new StringReader("1\tx\n2\t\\N\n3\ty\n")));
            equal(2L, copy.copyIn("copy jdbc.copied from stdin csv", new ByteArrayInputStream("4,\"a,b\"\n5,\n".getBytes(StandardCharsets.UTF_8))));
            StringWriter out = new StringWriter();
            equal(5L, copy.copyOut("copy (select * from jdbc.copied order by a) to stdout csv", out));
            equal("1,x\n2,\n3,y\n4,\"a,b\"\n5,\n", out.toString());
            equal("22P02", state(() -> copy.copyIn("copy jdbc.copied from stdin", new StringReader("x\ty\n"))));
            equal("57014", state(() -> {
                org.postgresql.copy.CopyIn in = copy.copyIn("copy jdbc.copied from stdin");
                in.writeToCopy("7\tz\n".getBytes(), 0, 4);
                in.cancelCopy();
                throw new SQLException("cancelled", "57014");
            }));
            equal("5", one(c, "select count(*) from jdbc.copied"));
        });
        step("notifications", () -> {
            run(c, "listen jdbc", "notify jdbc, 'hello'");
            PGNotification[] all = c.unwrap(PGConnection.class).getNotifications(5000);
            equal("jdbc|hello|1", all[0].getName() + "|" + all[0].getParameter() + "|" + all.length);
        });
        step("cancel", () -> {
            try (Statement s = c.createStatement()) {
                Thread other = new Thread(() -> {
                    try {
                        Thread.sleep(300);
                        s.cancel();
                    } catch (Exception error) {
                        throw new IllegalStateException(error);
                    }
                });
                other.start();
                equal("57014", state(() -> s.execute("select count(*) from generate_series(1, 100000000000)")));
                other.join();
            }
        });
        step("warnings", () -> {
            try (Statement s = c.createStatement()) {
                s.execute("drop table if exists jdbc.never");
                equal("00000", s.getWarnings().getSQLState());
            }
        });
        step("terminate", () -> {
            Connection other = DriverManager.getConnection(url);
            String number = one(other, "select pg_backend_pid()");
            equal("idle", one(c, "select state from pg_stat_activity where pid = " + number));
            equal("t", one(c, "select pg_terminate_backend(" + number + ", 5000)"));
            equal(true, List.of("57P01", "08006").contains(state(() -> run(other, "select 1"))));
            other.close();
        });
    }

    public static void main(String[] arguments) throws Exception {
        String url = "jdbc:postgresql://127.0.0.1:" + arguments[0] + "/" + (arguments.length > 1 ? arguments[1] : "frazil?user=me");
        String[] modes = {"preferQueryMode=extended", "preferQueryMode=simple", "preferQueryMode=extendedForPrepared",
            "preferQueryMode=extendedCacheEverything&prepareThreshold=1", "binaryTransfer=false", "reWriteBatchedInserts=true&prepareThreshold=-1"};
        for (String option : modes) {
            mode = option;
            try (Connection c = DriverManager.getConnection(url + "&" + option)) {
                metadata(c);
                statements(c);
                transactions(c);
                wire(c, url + "&" + option);
            } catch (Throwable error) {
                step("session", () -> {
                    throw error;
                });
            }
        }
        System.exit(failed ? 1 : 0);
    }
}
