package io.fibry.jdbc;

import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;

/** Wraps the connections of a data source, so that a test can make their calls fail. */
public final class Faults {
  /** Runs a call of a connection, or fails. */
  public interface Fault {
    Object run(Connection connection, Intercepted.Call call) throws Throwable;
  }

  /** A fault at a statement with a certain text. */
  private record StatementFault(String text, Fault fault) {}

  private static final StatementFault NO_FAULT = new StatementFault("", (connection, call) -> call.pass());

  private final DataSource target;
  private final AtomicInteger borrowed = new AtomicInteger();
  private volatile Fault onCommit = (connection, call) -> call.pass();
  private volatile StatementFault onStatement = NO_FAULT;
  private volatile BooleanSupplier mustFail = () -> false;
  private final AtomicInteger refusals = new AtomicInteger();
  private volatile boolean isDown;

  public Faults(DataSource target) {
    this.target = target;
  }

  /** Runs the fault at the next commit, once. */
  void onNextCommit(Fault fault) {
    onCommit = (connection, call) -> {
      onCommit = (nextConnection, nextCall) -> nextCall.pass();
      return fault.run(connection, call);
    };
  }

  /** Runs the fault when the next statement is prepared, once. */
  void onNextStatement(Fault fault) {
    onNextStatement("", fault);
  }

  /** Runs the fault when the next statement with this text is prepared, once. */
  public void onNextStatement(String text, Fault fault) {
    onStatement = new StatementFault(text, fault);
  }

  /**
   * Lets statements and commits fail with this probability. A statement is cancelled. A commit
   * loses its connection before or after the database has committed.
   */
  void failRandomly(Random random, double probability) {
    mustFail = () -> random.nextDouble() < probability;
    onCommit = (connection, call) -> {
      if (!mustFail.getAsBoolean()) return call.pass();
      return random.nextBoolean() ? loseConnectionAfter(connection, call) : loseConnectionBefore(connection, call);
    };
  }

  /** Makes the database unavailable, or available again. */
  void setDown(boolean isDown) {
    this.isDown = isDown;
  }

  private SQLException newRefusal() {
    refusals.incrementAndGet();
    return new SQLException("there is no database, as the test has asked for", "08001");
  }

  /** Waits until the store has tried again to connect to the unavailable database. */
  void awaitRefusal() {
    int refusalsBefore = refusals.get();
    Patience.eventually(() -> refusals.get() > refusalsBefore);
  }

  /** Returns how many connections are borrowed. */
  int borrowedConnections() {
    return borrowed.get();
  }

  static SQLException lost() {
    return new SQLException("the connection is gone, as the test has asked for", "08006");
  }

  static Object loseConnectionAfter(Connection connection, Intercepted.Call call) throws Throwable {
    call.pass();
    throw lost();
  }

  static Object loseConnectionBefore(Connection connection, Intercepted.Call call) throws Throwable {
    connection.rollback();
    throw lost();
  }

  public DataSource source() {
    return Intercepted.of(DataSource.class, target, (method, arguments, call) -> {
      if (!method.getName().equals("getConnection")) return call.pass();
      if (isDown) throw newRefusal();
      var connection = target.getConnection();
      borrowed.incrementAndGet();
      return connection(connection);
    });
  }

  private Connection connection(Connection connection) {
    return Intercepted.of(Connection.class, connection, (method, arguments, call) -> switch (method.getName()) {
      case "close" -> {
        borrowed.decrementAndGet();
        yield call.pass();
      }
      case "commit" -> runUnlessDown(() -> onCommit.run(connection, call));
      case "prepareStatement" -> runUnlessDown(() -> prepare(connection, (String) arguments[0], call));
      case "createStatement" -> runUnlessDown(call);
      default -> call.pass();
    });
  }

  private Object prepare(Connection connection, String sql, Intercepted.Call call) throws Throwable {
    if (mustFail.getAsBoolean()) throw new SQLException("cancelling statement, as the test has asked for", "57014");
    var expected = onStatement;
    if (!sql.contains(expected.text)) return call.pass();
    onStatement = NO_FAULT;
    return expected.fault.run(connection, call);
  }

  private Object runUnlessDown(Intercepted.Call call) throws Throwable {
    if (isDown) throw lost();
    return call.pass();
  }
}
