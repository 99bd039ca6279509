// pgjdbc: every value of a file of values by every way that the driver has: text and binary, as a parameter and as a
// result, by simple queries, by its setters of Java's types, and NULL. `python/tests/wire_values.txt` is the file: a type,
// its oid, the text that is sent, and PostgreSQL's text and bytes, or its SQLSTATE, all in hexadecimal.
// Usage: java -cp postgresql.jar PgjdbcValues.java PORT FILE

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.sql.*;
import java.time.*;
import java.util.*;
import org.postgresql.core.BaseConnection;
import org.postgresql.util.*;

public class PgjdbcValues {
    /** A line of the file. In case of an error, `text` is its SQLSTATE and `binary` is null. */
    record Value(String type, int oid, byte[] sent, byte[] text, byte[] binary) {
        boolean isError() {
            return binary == null;
        }

        String sentText() {
            return new String(sent, StandardCharsets.UTF_8);
        }
    }

    /** A value that the driver sends in binary. */
    public static class Binary extends PGobject implements PGBinaryObject {
        private final byte[] bytes;

        Binary(String type, byte[] bytes) {
            setType(type);
            this.bytes = bytes;
        }

        public void setByteValue(byte[] value, int offset) {}

        public int lengthInBytes() {
            return bytes.length;
        }

        public void toBytes(byte[] target, int offset) {
            System.arraycopy(bytes, 0, target, offset, bytes.length);
        }
    }

    static final int OID = 26;
    static final int DATE = 1082;

    interface Setter {
        void set(PreparedStatement statement) throws Exception;
    }

    /** Types whose bytes the driver makes Java objects of. */
    static final Set<String> BINARY = Set.of("boolean", "smallint", "integer", "bigint", "real", "double precision", "numeric", "bytea",
        "uuid", "date", "time", "timestamp", "timestamptz", "integer[]", "text[]", "boolean[]", "bigint[]", "double precision[]");
    static final Map<String, int[]> counts = new LinkedHashMap<>();
    static final List<String> wrong = new ArrayList<>();

    static String hex(byte[] bytes) {
        return bytes == null ? "NULL" : HexFormat.of().formatHex(bytes);
    }

    static List<Value> read(Path file) throws Exception {
        List<Value> all = new ArrayList<>();
        HexFormat hex = HexFormat.of();
        for (String line : Files.readAllLines(file)) {
            String[] parts = line.split("\t", -1);
            // Bytes in hexadecimal have an even length, an SQLSTATE has five characters.
            boolean isError = parts[4].length() == 5;
            all.add(new Value(parts[0], Integer.parseInt(parts[1]), hex.parseHex(parts[2]),
                isError ? parts[3].getBytes() : hex.parseHex(parts[3]), isError ? null : hex.parseHex(parts[4])));
        }
        return all;
    }

    /** The bytes that came back, NULL, or the SQLSTATE of the error. Only text of a bytea is read by the driver. */
    static String answer(Connection c, String type, boolean isBinary, Setter setter) throws Exception {
        try (PreparedStatement statement = c.prepareStatement("select ?::" + type)) {
            setter.set(statement);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                // The driver makes a Java object of the value. It knows no bytes of types that it does not ask for in binary by itself.
                if (!isBinary || BINARY.contains(type)) {
                    rows.getObject(1);
                }
                // Text of a bytea, which getBytes would decode.
                boolean isDecoded = type.equals("bytea") && !isBinary && rows.getString(1) != null;
                return isDecoded ? hex(rows.getString(1).getBytes()) : hex(rows.getBytes(1));
            }
        } catch (SQLException error) {
            return error.getSQLState();
        }
    }

    static void check(Connection c, String way, Value value, boolean isBinary, Setter setter) throws Exception {
        boolean isBytes = isBinary && value.oid != OID;
        String expected = value.isError() ? new String(value.text) : hex(isBytes ? value.binary : value.text);
        expect(way, value.type + " '" + value.sentText() + "'", expected, answer(c, value.type, isBytes, setter));
    }

    static void expect(String way, String what, String expected, String found) {
        int[] count = counts.computeIfAbsent(way, name -> new int[2]);
        count[1]++;
        if (expected.equals(found)) {
            count[0]++;
        } else {
            wrong.add(way + ", " + what + ": " + found + " instead of " + expected);
        }
    }

    /** The way by a setter of a Java type, for types that have one; the driver chooses the format. */
    static Setter setter(Connection c, Value value) {
        String text = value.isError() ? "" : new String(value.text, StandardCharsets.UTF_8);
        return switch (value.type) {
            case "boolean" -> s -> s.setBoolean(1, text.equals("t"));
            case "smallint" -> s -> s.setShort(1, Short.parseShort(text));
            case "integer" -> s -> s.setInt(1, Integer.parseInt(text));
            case "bigint", "oid" -> s -> s.setLong(1, Long.parseLong(text));
            case "real" -> s -> s.setFloat(1, Float.parseFloat(text));
            case "double precision" -> s -> s.setDouble(1, Double.parseDouble(text));
            case "numeric" -> s -> s.setBigDecimal(1, new BigDecimal(text));
            case "text", "varchar" -> s -> s.setString(1, text);
            case "bytea" -> s -> s.setBytes(1, value.binary);
            case "uuid" -> s -> s.setObject(1, UUID.fromString(text));
            case "date" -> text.matches("\\d{4}-.{5}") ? s -> s.setObject(1, LocalDate.parse(text)) : null;
            case "time" -> text.startsWith("24") ? null : s -> s.setObject(1, LocalTime.parse(text));
            case "timestamp" -> text.matches("\\d{4}-[\\d :.-]*") ? s -> s.setObject(1, LocalDateTime.parse(text.replace(' ', 'T'))) : null;
            case "interval" -> s -> s.setObject(1, new PGInterval(text));
            case "integer[]", "text[]", "boolean[]", "bigint[]", "double precision[]", "uuid[]" -> s -> {
                if (text.startsWith("[")) {
                    // Java's arrays begin at 0, and lose the bound.
                    s.setObject(1, text, Types.OTHER);
                    return;
                }
                // The driver reads the text, and its elements go out as Java's objects.
                String element = value.type.substring(0, value.type.length() - 2).replace("double precision", "float8");
                Object elements = ((BaseConnection) c).createArrayOf(element.equals("integer") ? "int4" : element, read(c, value)).getArray();
                s.setArray(1, c.createArrayOf(element.equals("integer") ? "int4" : element, (Object[]) elements));
            };
            default -> null;
        };
    }

    /** The elements of an array, as the driver reads them from its text. */
    static Object[] read(Connection c, Value value) throws SQLException {
        String text = new String(value.text, StandardCharsets.UTF_8);
        return (Object[]) new org.postgresql.jdbc.PgArray((BaseConnection) c, value.oid, text).getArray();
    }

    static PGobject object(String name, String text) throws SQLException {
        PGobject object = new PGobject();
        object.setType(name);
        object.setValue(text);
        return object;
    }

    static Connection connect(String port, String options) throws SQLException {
        String url = "jdbc:postgresql://127.0.0.1:" + port + "/frazil?user=me&preparedStatementCacheQueries=0&" + options;
        Connection c = DriverManager.getConnection(url);
        try (Statement s = c.createStatement()) {
            s.execute("set time zone 'Europe/Berlin'");
        }
        return c;
    }

    public static void main(String[] arguments) throws Exception {
        List<Value> values = read(Path.of(arguments[1]));
        Map<Integer, String> types = new LinkedHashMap<>();
        values.forEach(value -> types.put(value.oid, value.type));
        // The driver reads oids of the catalogs, which it cannot do in binary.
        List<String> enabled = types.keySet().stream().filter(oid -> oid != OID).map(String::valueOf).toList();
        String oids = String.join(",", enabled);
        try (Connection text = connect(arguments[0], "binaryTransfer=false");
            // A statement that is not prepared has its results in text, one that is forced to be has them in binary.
            Connection toText = connect(arguments[0], "prepareThreshold=0&binaryTransferEnable=" + oids);
            Connection binary = connect(arguments[0], "prepareThreshold=-1&binaryTransferEnable=" + oids);
            Connection simple = connect(arguments[0], "preferQueryMode=simple")) {
            Map<Integer, String> names = new HashMap<>();
            for (int oid : types.keySet()) {
                names.put(oid, ((BaseConnection) text).getTypeInfo().getPGType(oid));
            }
            for (Value value : values) {
                PGobject sent = object(names.get(value.oid), value.sentText());
                check(text, "text to text", value, false, s -> s.setObject(1, sent));
                check(binary, "text to binary", value, true, s -> s.setObject(1, sent));
                // The driver writes a bytea into a query from bytes alone.
                boolean isBytes = value.type.equals("bytea");
                if (!isBytes || !value.isError()) {
                    check(simple, "simple query", value, false, isBytes ? s -> s.setBytes(1, value.binary) : s -> s.setObject(1, sent));
                }
                check(text, "untyped text to text", value, false, s -> s.setObject(1, value.sentText(), Types.OTHER));
                if (value.isError()) {
                    continue;
                }
                Binary bytes = new Binary(names.get(value.oid), value.binary);
                // The driver sends dates and oids as text in any case, and NULL instead of an object without bytes.
                boolean isSent = value.oid != DATE && value.oid != OID && value.binary.length > 0;
                check(toText, "binary to text", value, false, s -> s.setObject(1, isSent ? bytes : sent));
                check(binary, "binary to binary", value, true, s -> s.setObject(1, isSent ? bytes : sent));
                Setter setter = setter(text, value);
                if (setter != null) {
                    check(text, "Java's type to text", value, false, setter);
                    check(binary, "Java's type to binary", value, true, setter(binary, value));
                }
            }
            for (int oid : types.keySet()) {
                PGobject nothing = object(names.get(oid), null);
                for (Connection c : List.of(text, toText, binary, simple)) {
                    String found = answer(c, types.get(oid), c == binary, s -> s.setObject(1, nothing));
                    expect("NULL", types.get(oid), "NULL", found);
                }
            }
        }
        counts.forEach((way, count) -> System.out.println((count[0] == count[1] ? "ok " : "FAIL ") + way + ": " + count[0] + " of " + count[1]));
        wrong.forEach(System.out::println);
        System.exit(wrong.isEmpty() ? 0 : 1);
    }
}
