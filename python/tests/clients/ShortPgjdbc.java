// Short work by pgjdbc, for a recording. Usage: java -cp postgresql.jar ShortPgjdbc.java PORT

import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.sql.*;
import org.postgresql.PGConnection;

public class ShortPgjdbc {
    public static void main(String[] arguments) throws Exception {
        String url = "jdbc:postgresql://127.0.0.1:" + arguments[0] + "/frazil?user=me&sslmode=disable&gssEncMode=disable";
        try (Connection c = DriverManager.getConnection(url); Statement s = c.createStatement()) {
            s.execute("set time zone 'UTC'");
            s.execute("create table short (id integer primary key, name text, price numeric(10,2), at timestamp)");
            try (PreparedStatement p = c.prepareStatement("insert into short (id, name, price) values (?, ?, ?)")) {
                for (int id = 1; id < 8; id++) {
                    p.setInt(1, id);
                    p.setString(2, id % 2 == 0 ? null : "name " + id);
                    p.setBigDecimal(3, BigDecimal.valueOf(id, 1));
                    p.addBatch();
                }
                p.executeBatch();
            }
            // From the fifth run on, the statement has a name and its results are binary.
            try (PreparedStatement p = c.prepareStatement("select * from short where id = ?")) {
                for (int id = 1; id < 8; id++) {
                    p.setInt(1, id);
                    p.executeQuery().next();
                }
            }
            try {
                s.execute("select 1 / 0");
            } catch (SQLException error) {
            }
            c.setAutoCommit(false);
            s.setFetchSize(3);
            for (ResultSet rows = s.executeQuery("select id from short order by id"); rows.next();) {}
            s.execute("delete from short");
            c.rollback();
            c.setAutoCommit(true);
            c.unwrap(PGConnection.class).getCopyAPI().copyIn("copy short (id, name) from stdin", new StringReader("70\tseventy\n"));
            c.unwrap(PGConnection.class).getCopyAPI().copyOut("copy short to stdout", new StringWriter());
            DatabaseMetaData data = c.getMetaData();
            data.getTables(null, "public", "short", null).next();
            data.getColumns(null, "public", "short", null).next();
            data.getPrimaryKeys(null, "public", "short").next();
        }
    }
}
