package io.fibry.bench.scenario;

import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.Strategy;
import io.fibry.bench.report.ResultRow;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

/**
 * Measures the rate of timely answers of a service whose clients send more requests than the
 * service can handle. The service has four connections to a database. A request makes three queries
 * of 5 to 15 ms, and its client gives up after 500 ms. The load rises and falls. The database is H2
 * in memory, and each query is delayed as if it crossed a network.
 */
public final class SqlOverload {
  private static final String URL = "jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1";
  private static final int CONNECTIONS = 4;
  private static final int QUERIES = 3;
  private static final double CAPACITY = CONNECTIONS / (QUERIES * 0.010);
  private static final double[] LOADS = {0.5, 0.8, 1.2, 2, 3, 0.8, 0.8};

  private static final int PUBLISHED_STEP = 4; // at three times the capacity

  private SqlOverload() {}

  private record RunningService(OpenLoopClients.Service service, AutoCloseable closer) {}

  /** Runs each step of the load for {@code -Dseconds}. */
  public static void main(String[] args) throws Exception {
    double seconds = Double.parseDouble(System.getProperty("seconds", "3"));
    prepare();
    var experiment = new Experiment("sql", String.format(
        "answers in time per second, of a capacity of %.0f; 4 connections, 3 queries per request; the size is the "
            + "number of the step; the steps have loads of %s times the capacity",
        CAPACITY, Arrays.toString(LOADS)));
    var latencyRows = new ArrayList<ResultRow>();
    ramp(experiment, latencyRows, "fibry, 4 workers, mailbox 1000 REJECT within 100 ms",
        actors(Strategy.FIBER, Mailbox.bounded(1_000, Overflow.REJECT).withMaxWait(Duration.ofMillis(100))), seconds,
        "a service that refuses keeps serving at capacity");
    ramp(experiment, latencyRows, "fibry, 4 workers, mailbox 16 REJECT",
        actors(Strategy.FIBER, Mailbox.bounded(16, Overflow.REJECT)), seconds, "");
    ramp(experiment, latencyRows, "fibry, 4 platform threads, mailbox 16 REJECT",
        actors(Strategy.THREAD, Mailbox.bounded(16, Overflow.REJECT)), seconds, "");
    ramp(experiment, latencyRows, "by hand: 200 platform threads share the connections",
        blocking(Executors.newFixedThreadPool(200)), seconds, "collapses, 11 s answers, does not recover");
    ramp(experiment, latencyRows, "by hand: virtual threads share the connections",
        blocking(Executors.newVirtualThreadPerTaskExecutor()), seconds, "");
    experiment.write();
    var latencyExperiment =
        new Experiment("sql-latency",
            "the 99th percentile of how long these answers took, in the same steps");
    latencyRows.forEach(latencyExperiment::add);
    latencyExperiment.write();
  }

  private static void ramp(Experiment experiment, List<ResultRow> latencyRows, String side, RunningService service,
      double seconds, String publishedValue) throws Exception {
    try (service.closer; var clients = new OpenLoopClients(service.service)) {
      clients.load(0.5 * CAPACITY, Math.min(1, seconds)); // warm-up
      for (int i = 0; i < LOADS.length; i++) {
        var step = clients.load(LOADS[i] * CAPACITY, seconds);
        experiment.add(ResultRow.of(side, "answers/s", i == PUBLISHED_STEP ? publishedValue : "", step.goodput())
            .withSize(i + 1));
        if (step.goodput() > 0) latencyRows.add(ResultRow.of(side, "ms", "", step.p99()).withSize(i + 1));
      }
    }
  }

  // ---- the database

  private static void prepare() throws SQLException {
    try (var connection = DriverManager.getConnection(URL); var statement = connection.createStatement()) {
      statement.execute("CREATE ALIAS TRAVEL FOR '" + SqlOverload.class.getName() + ".travel'");
      statement.execute("CREATE TABLE STOCK (ID INT PRIMARY KEY, LEFT_OVER INT)");
      statement.execute("INSERT INTO STOCK SELECT X, X * 7 FROM SYSTEM_RANGE(1, 1000)");
    }
  }

  /** Delays a query by {@code micros} microseconds, as a network would. Called by the database. */
  public static int travel(int micros) throws InterruptedException {
    TimeUnit.MICROSECONDS.sleep(micros);
    return micros;
  }

  private static int query(Connection connection) throws SQLException {
    try (var statement = connection.prepareStatement("SELECT LEFT_OVER FROM STOCK WHERE ID = ? AND TRAVEL(?) > 0")) {
      statement.setInt(1, ThreadLocalRandom.current().nextInt(1, 1_001));
      statement.setInt(2, ThreadLocalRandom.current().nextInt(5_000, 15_000));
      try (var rows = statement.executeQuery()) {
        if (!rows.next()) throw new IllegalStateException("no row in STOCK");
        return rows.getInt(1);
      }
    }
  }

  // ---- the services

  /**
   * Makes a pool with a worker for each connection, so a request that has begun waits for no
   * connection.
   */
  private static RunningService actors(Strategy strategy, Mailbox<Object> mailbox) {
    var limit = Duration.ofNanos(OpenLoopClients.PATIENCE);
    ActorWithReturn<Integer, Integer> pool =
        Pools.fixed(ActorSystem.anonymous().strategy(strategy).mailbox(mailbox), CONNECTIONS)
            .initialState(() -> DriverManager.getConnection(URL)).onStop(Connection::close)
            .newActorWithReturn((Connection connection, Integer queries) -> {
              int sum = 0;
              for (int i = 0; i < queries; i++) sum += query(connection);
              return sum;
            });
    return new RunningService(() -> pool.ask(QUERIES, limit), () -> {
      pool.askExit();
      pool.waitForExit();
    });
  }

  /**
   * Makes a service whose requests wait for a connection for each query, and continue after their
   * client has given up.
   */
  private static RunningService blocking(ExecutorService executor) throws SQLException {
    List<Connection> connections = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) connections.add(DriverManager.getConnection(URL));
    BlockingQueue<Connection> freeConnections = new ArrayBlockingQueue<>(CONNECTIONS, true, connections);
    return new RunningService(() -> {
      var answer = executor.submit(() -> IntStream.range(0, QUERIES).map(i -> queryWhenFree(freeConnections)).sum());
      if (answer.get(OpenLoopClients.PATIENCE, TimeUnit.NANOSECONDS) < 0) throw new TimeoutException();
    }, () -> {
      executor.shutdownNow();
      executor.awaitTermination(10, TimeUnit.SECONDS);
      for (var connection : connections) connection.close();
    });
  }

  private static int queryWhenFree(BlockingQueue<Connection> freeConnections) {
    try {
      var connection = freeConnections.take();
      try {
        return query(connection);
      } finally {
        freeConnections.add(connection);
      }
    } catch (InterruptedException | SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }
}
