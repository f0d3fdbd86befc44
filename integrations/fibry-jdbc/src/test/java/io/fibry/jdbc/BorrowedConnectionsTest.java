package io.fibry.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.support.Intercepted;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests in which state a {@link Database} returns connections to their pool. */
class BorrowedConnectionsTest {
  private final List<String> calls = new ArrayList<>(); // the calls that change the connection

  /** Returns a source of connections without automatic commit. A call of the method fails. */
  private DataSource source(String failingMethod) {
    var h2 = new JdbcDataSource();
    h2.setURL("jdbc:h2:mem:");
    return Intercepted.of(DataSource.class, h2, (method, arguments, call) -> {
      var connection = (Connection) call.pass();
      connection.setAutoCommit(false);
      return Intercepted.of(Connection.class, connection, (inner, values, innerCall) -> {
        String name = inner.getName();
        if (name.equals(failingMethod)) throw new SQLException("refused by the test");
        if (name.equals("setAutoCommit")) calls.add(name + " " + values[0]);
        if (name.equals("setNetworkTimeout")) calls.add(name + " " + values[1]);
        if (name.equals("close")) calls.add(name);
        return innerCall.pass();
      });
    });
  }

  @ParameterizedTest
  @ValueSource(strings = {"getAutoCommit", "getNetworkTimeout"})
  void connectionStaysUnchangedIfItsStateCannotBeRead(String failingMethod) {
    var database = new Database(source(failingMethod), 9_000);

    assertThrows(SQLException.class, () -> database.commitOrFail(H2Dialect.DIALECT, transaction -> 1));

    assertEquals(List.of("close"), calls);
  }

  @Test
  void connectionIsRestoredAfterTransaction() throws SQLException {
    var database = new Database(source("none"), 9_000);

    database.commitOrFail(H2Dialect.DIALECT, transaction -> 1);

    assertEquals(List.of("setNetworkTimeout 9000", "setAutoCommit false", "setAutoCommit false",
        "setNetworkTimeout 0", "close"), calls);
  }
}
