package io.fibry.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.StoreReadException;
import io.fibry.support.Intercepted;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that no text of a store in a database shows the password of its URL. */
class JdbcUrlsTest {
  /** A source of connections as the driver manager opens them. */
  private static DataSource source(String url) {
    return (DataSource) Proxy.newProxyInstance(JdbcUrlsTest.class.getClassLoader(), new Class<?>[] {DataSource.class},
        (proxy, method, args) -> DriverManager.getConnection(url));
  }

  private static String trace(Throwable failure) {
    var text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  @ParameterizedTest
  @ValueSource(strings = {"jdbc:unknown://host/db?user=u&password=secret", "jdbc:unknown://u:secret@host/db",
    "jdbc:h2:mem:a;USER=u;PASSWORD=secret;NOT_A_SETTING", "jdbc:h2:;PASSWORD=my secret"})
  void failedOpeningHidesPasswordOfUrl(String url) {
    assertTrue(trace(assertThrows(SQLException.class, () -> source("jdbc:unknown:a?secret").getConnection()))
        .contains("secret")); // the driver manager shows the URL

    var failure = assertThrows(StoreReadException.class, () -> JdbcStore.open(source(url)));

    assertFalse(trace(failure).contains("secret"), trace(failure));
  }

  @Test
  void nameOfStoreHidesUserAndPasswordOfUrl() {
    var source = Intercepted.of(DataSource.class, source("jdbc:h2:mem:urls"), (method, arguments, call) -> {
      if (!method.getName().equals("getConnection")) return call.pass();
      return Intercepted.of(Connection.class, (Connection) call.pass(), (step, values, inner) -> {
        if (!step.getName().equals("getMetaData")) return inner.pass();
        return Intercepted.of(DatabaseMetaData.class, (DatabaseMetaData) inner.pass(),
            (query, none, data) -> query.getName().equals("getURL")
                ? "jdbc:h2:tcp://u:secret@host/db;PASSWORD=secret"
                : data.pass());
      });
    });

    try (var store = JdbcStore.open(source)) {
      assertEquals("the store in jdbc:h2:***@host/db", store.toString());
    }
  }

  @ParameterizedTest
  @CsvSource({"jdbc:postgresql://host:1/db?user=u&password=secret, jdbc:postgresql://host:1/db",
    "jdbc:postgresql://host/db?password=a@secret, jdbc:postgresql:***",
    "jdbc:postgresql://u:sec?ret@host/db, jdbc:postgresql:***",
    "jdbc:postgresql://u:s@cret@host/db?a=b, jdbc:postgresql:***@host/db",
    "jdbc:x://u:s@c?ret@host/db, jdbc:x:***", "jdbc:x://u:my secret@host/db, jdbc:x:***",
    "jdbc:x://u:a@my secret@host/db, jdbc:x:***",
    "jdbc:aws-wrapper:postgresql://u:secret@host/db, jdbc:aws-wrapper:***@host/db",
    "jdbc:mysql://address=(host=h)(user=u)(password=secret)/db, jdbc:mysql://address=",
    "jdbc:oracle:thin:u/secret@host, jdbc:oracle:***@host", "jdbc:h2:mem:a;PASSWORD=my secret, jdbc:h2:mem:a"})
  void addressOmitsUserPasswordAndParametersOfUrl(String url, String address) {
    assertEquals(address, JdbcUrls.address(url));
    assertEquals("no driver for " + address, JdbcUrls.address("no driver for " + url));
  }

  @Test
  void eachUrlInTextIsRedacted() {
    assertEquals("lost jdbc:h2:mem:a after jdbc:h2:mem:b", JdbcUrls.address(
        "lost jdbc:h2:mem:a after jdbc:h2:mem:b;PASSWORD=secret"));
    assertEquals("jdbc:x:***@host refused the connection",
        JdbcUrls.address("jdbc:x://u:secret@host refused the connection"));
  }

  @Test
  void redactionEndsWhenNextExceptionsFormCycle() {
    var first = new SQLException("first");
    var second = new SQLException("second jdbc:h2:mem:a;PASSWORD=secret");
    first.setNextException(second);
    assertEquals("first", JdbcUrls.redact(first).getMessage());
    assertFalse(trace(JdbcUrls.redact(first)).contains("secret"));
    var other = new SQLException("third") {
      private static final long serialVersionUID = 1;

      @Override
      public SQLException getNextException() {
        return this;
      }
    };

    assertSame(other, JdbcUrls.redact(other));
  }

  @Test
  void redactedFailureHidesPasswordAndKeepsSqlState() {
    var secret = new SQLException("lost jdbc:h2:mem:a;PASSWORD=secret", "08001", 7);

    var redacted = JdbcUrls.redact(secret);
    assertEquals("lost jdbc:h2:mem:a", redacted.getMessage());
    assertEquals("08001", redacted.getSQLState());
    assertEquals(7, redacted.getErrorCode());
    var database = new Database(source("jdbc:h2:mem:lost"), 1_000);
    var lost = assertThrows(Database.LostCommitException.class, () -> database.read(connection -> {
      throw new Database.LostCommitException(secret);
    }));
    assertFalse(trace(lost).contains("secret"), trace(lost));
    var wrapped = JdbcUrls.redact(new SQLException("outer", secret));
    assertFalse(trace(wrapped).contains("secret"));
    var harmless = new SQLException("no table");
    assertSame(harmless, JdbcUrls.redact(harmless));
  }
}
