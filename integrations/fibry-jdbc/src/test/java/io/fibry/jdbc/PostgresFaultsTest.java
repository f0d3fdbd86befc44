package io.fibry.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.durable.Ledgers;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.FaultProxy;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Checks {@link Ledgers} in two stores that share a database, while faults of all kinds happen,
 * often two at once. Each store reaches the database through a proxy. An actor that both stores
 * load moves between them again and again.
 */
@Soak(counterpart = "LedgersInPostgresTest.ledgersMatchAnswersWhileStatementsFail")
class PostgresFaultsTest {
  private static final int ROUNDS = Integer.getInteger("fibry.rounds", 30);
  private static final int MAX_FAULT_MILLIS = 6_000;
  private static final Duration IDLE_LIMIT = Duration.ofMinutes(5);
  private static final Duration STATEMENT_LIMIT = Duration.ofSeconds(4);
  private static final String OF_CLIENTS =
      " from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()";

  /** A fault of a store's network, of its statements or of the server. */
  private enum Fault {
    CANCEL_STATEMENTS, END_CONNECTIONS, HOLD, SLOW, DROP, DROP_ANSWERS, CLOSE_CONNECTIONS, KILL_SERVER, PAUSE_SERVER
  }

  /** A store with its own connections and actors. */
  private static final class StoreNode implements AutoCloseable {
    private final FaultProxy proxy;
    private final HikariDataSource pool;
    private final StoreBackend store;
    private final ActorScope scope;
    private final Ledgers.Addresses ledgers;

    StoreNode(String name, PostgresServer server, PGSimpleDataSource database) throws IOException {
      proxy = FaultProxy.to("127.0.0.1", server.port());
      pool = Pools.of(PostgresServer.source(database.getCurrentSchema(), proxy.port()), 5, 2_000);
      store =
          FaultContract.patiently(
              () -> StoreBackend.of(JdbcStore.open(pool, options -> options.withStatementLimit(STATEMENT_LIMIT))));
      scope = ActorSystem.openScope(name);
      ledgers = new Ledgers.Addresses(Ledgers.kind(name).entities(scope.anonymous(), store, IDLE_LIMIT),
          Ledgers.inboxKind(name).entities(scope.anonymous(), store, IDLE_LIMIT));
    }

    @Override
    public void close() throws IOException {
      scope.close();
      store.close();
      pool.close();
      proxy.close();
    }
  }

  private final PostgresServer server = PostgresServer.make("fsync=off"); // the machine does not crash
  private final List<StoreNode> nodes = new ArrayList<>();
  private final Map<Fault, Integer> counts = new TreeMap<>();
  private PGSimpleDataSource database;
  private Random random;
  private volatile boolean isCancelling;
  private Thread canceller; // null before the first CANCEL_STATEMENTS

  @AfterEach
  void closeAll() throws IOException {
    isCancelling = false;
    server.resume(); // a failed test may have left it paused
    for (var node : nodes) node.close();
    server.close();
  }

  @Test
  void ledgersMatchAnswersDespiteServerFaults() throws Exception {
    database = server.newSchema();
    for (var name : List.of("a", "b")) nodes.add(new StoreNode(name, server, database));
    try (var ledgers = new Ledgers(nodes.stream().map(node -> node.ledgers).toList())) {
      random = new Random(ledgers.seed());
      for (int i = 0; i < ROUNDS; i++) causeFaults(ledgers);
      for (var name : List.of("a", "b")) ledgers.awaitAnswerOf(name);
      nodes.add(new StoreNode("reader", server, database));
      ledgers.check(nodes.getLast().ledgers, nodes.getLast().store);
      System.out.println(counts + ": " + ledgers);
    }
  }

  /** Causes one or two faults, ends them, and waits until all ledgers answer again. */
  private void causeFaults(Ledgers ledgers) throws IOException {
    var faults = new TreeMap<Fault, StoreNode>();
    for (int i = 0; i <= random.nextInt(2); i++)
      faults.put(Fault.values()[random.nextInt(Fault.values().length)], nodes.get(random.nextInt(nodes.size())));
    if (faults.containsKey(Fault.KILL_SERVER)) faults.remove(Fault.PAUSE_SERVER); // a dead server cannot be paused

    ledgers.awaitMore(random.nextInt(500));
    long beginNanos = System.nanoTime();
    long endNanos = beginNanos + TimeUnit.MILLISECONDS.toNanos(random.nextInt(MAX_FAULT_MILLIS));
    for (var fault : faults.entrySet()) beginFault(fault.getKey(), fault.getValue());
    ledgers.await("the end of the faults " + faults.keySet(), () -> System.nanoTime() - endNanos > 0);
    for (var fault : faults.entrySet()) endFault(fault.getKey(), fault.getValue());
    if (canceller != null) Patience.awaitEnd(canceller); // the server runs again, so the fiber does not hang
    long healed = System.nanoTime();
    ledgers.awaitAllLedgers(healed);
    System.out.printf("%s for %.1f s, all ledgers answered %.1f s later: %s%n", faults.keySet(),
        (healed - beginNanos) / 1e9, (System.nanoTime() - healed) / 1e9, ledgers);
  }

  private void beginFault(Fault fault, StoreNode node) {
    counts.merge(fault, 1, Integer::sum);
    switch (fault) {
      case CANCEL_STATEMENTS -> {
        isCancelling = true;
        long seed = random.nextLong();
        canceller = Patience.startFiber(() -> cancelStatements(new Random(seed)));
      }
      case END_CONNECTIONS -> administer("select pg_terminate_backend(pid)" + OF_CLIENTS);
      case HOLD, SLOW, DROP, DROP_ANSWERS -> node.proxy.set(FaultProxy.Mode.valueOf(fault.name()));
      case CLOSE_CONNECTIONS -> node.proxy.closeConnections();
      case KILL_SERVER -> server.kill();
      case PAUSE_SERVER -> server.pause();
    }
  }

  private void endFault(Fault fault, StoreNode node) throws IOException {
    switch (fault) {
      case CANCEL_STATEMENTS -> isCancelling = false;
      case END_CONNECTIONS, CLOSE_CONNECTIONS -> {
      }
      case HOLD, SLOW, DROP, DROP_ANSWERS -> node.proxy.set(FaultProxy.Mode.FORWARD);
      case KILL_SERVER -> server.start();
      case PAUSE_SERVER -> server.resume();
    }
  }

  /** Cancels all running statements again and again, until the fault ends. */
  private void cancelStatements(Random pauses) {
    while (isCancelling) {
      administer("select pg_cancel_backend(pid)" + OF_CLIENTS + " and state = 'active'");
      LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(pauses.nextInt(20_000)));
    }
  }

  private void administer(String sql) {
    try (var connection = database.getConnection(); var statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException failure) { // another fault prevents the statement
      System.out.println("not executed: " + failure.getMessage());
    }
  }
}
