package io.fibry.jdbc;

import io.fibry.support.Patience;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Connections that fail when a test wants it. */
public final class Faults {
  /** Runs a call of a connection, or fails. */
  public interface Fault {
    Object run(Connection connection, Call call) throws Throwable;
  }

  public interface Call {
    Object run() throws Throwable;
  }

  /** A fault at a statement with a certain text. */
  private record Awaited(String text, Fault fault) {}

  private static final Awaited NONE = new Awaited("", (connection, call) -> call.run());

  private final DataSource real;
  private final AtomicInteger open = new AtomicInteger();
  private volatile Fault onCommit = (connection, call) -> call.run();
  private volatile Awaited onStatement = NONE;
  private final AtomicInteger refused = new AtomicInteger();
  private volatile boolean down;

  public Faults(DataSource real) {
    this.real = real;
  }

  /** At the next commit of something, once. */
  void onNextCommit(Fault fault) {
    onCommit = (connection, call) -> {
      onCommit = (other, same) -> same.run();
      return fault.run(connection, call);
    };
  }

  /** When the next statement is made, once. */
  void onNextStatement(Fault fault) {
    onNextStatement("", fault);
  }

  /** When the next statement is made that has this text, once. */
  public void onNextStatement(String text, Fault fault) {
    onStatement = new Awaited(text, fault);
  }

  /** Lets the database go down, or come up again. */
  void down(boolean gone) {
    down = gone;
  }

  private SQLException refused() {
    refused.incrementAndGet();
    return new SQLException("there is no database, as the test has asked for", "08001");
  }

  /** Waits until the store has met that there is no database. */
  void awaitRefusal() {
    int before = refused.get();
    Patience.eventually(() -> refused.get() > before);
  }

  /** How many connections are borrowed. */
  int open() {
    return open.get();
  }

  static SQLException lost() {
    return new SQLException("the connection is gone, as the test has asked for", "08006");
  }

  static Object loseAfter(Connection connection, Call call) throws Throwable {
    call.run();
    throw lost();
  }

  static Object loseBefore(Connection connection, Call call) throws Throwable {
    connection.rollback();
    throw lost();
  }

  public DataSource source() {
    return (DataSource) Proxy.newProxyInstance(Faults.class.getClassLoader(), new Class<?>[] {DataSource.class},
        (proxy, method, given) -> {
          if (!method.getName().equals("getConnection")) return method.invoke(real, given);
          if (down) throw refused();
          open.incrementAndGet();
          return connection(real.getConnection());
        });
  }

  private Connection connection(Connection connection) {
    return (Connection) Proxy.newProxyInstance(Faults.class.getClassLoader(), new Class<?>[] {Connection.class},
        (proxy, method, given) -> {
          Call call = () -> {
            try {
              return method.invoke(connection, given);
            } catch (InvocationTargetException failed) {
              throw failed.getCause();
            }
          };
          return switch (method.getName()) {
            case "close" -> {
              open.decrementAndGet();
              yield call.run();
            }
            case "commit" -> checked(() -> onCommit.run(connection, call));
            case "prepareStatement" -> checked(() -> prepare(connection, (String) given[0], call));
            default -> call.run();
          };
        });
  }

  private Object prepare(Connection connection, String sql, Call call) throws Throwable {
    var awaited = onStatement;
    if (!sql.contains(awaited.text)) return call.run();
    onStatement = NONE;
    return awaited.fault.run(connection, call);
  }

  private Object checked(Call call) throws Throwable {
    if (down) throw lost();
    return call.run();
  }
}
