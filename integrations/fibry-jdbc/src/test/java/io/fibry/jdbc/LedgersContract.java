package io.fibry.jdbc;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.durable.Ledgers;
import io.fibry.store.Store;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Checks {@link Ledgers} in two stores that share a database whose statements fail at random. The
 * clock of each further store is an hour behind the clock of the store before it.
 */
abstract class LedgersContract extends DatabaseFixture {
  private static final Duration IDLE = Duration.ofMinutes(5);
  static final double FAILURE_PROBABILITY = 0.05; // of each statement and commit
  private static final int ANSWERS = 1_000;

  private ActorScope scope = ActorSystem.openScope("ledgers");

  LedgersContract(Maker maker) {
    super(maker);
  }

  @AfterEach
  void closeScope() {
    scope.close();
  }

  private Ledgers.Addresses addresses(String name, DataSource source) {
    var store = open(source, Clock.offset(Clock.systemUTC(), Duration.ofHours(-stores.size())));
    return new Ledgers.Addresses(Ledgers.kind(name).entities(scope.anonymous(), store, IDLE),
        Ledgers.inboxKind(name).entities(scope.anonymous(), store, IDLE));
  }

  @Test
  void ledgersMatchAnswersWhileStatementsFail() throws InterruptedException {
    check(faults.source(), random -> faults.failRandomly(random, FAILURE_PROBABILITY),
        () -> faults.failRandomly(new Random(), 0));
  }

  /** Runs the askers of ledgers during faults, ends the faults, and checks the ledgers. */
  final void check(DataSource source, Consumer<Random> beginFaults, Runnable endFaults) throws InterruptedException {
    try (var ledgers = new Ledgers(List.of(addresses("a", source), addresses("b", source)))) {
      beginFaults.accept(new Random(ledgers.seed()));
      ledgers.awaitMore(ANSWERS);
      endFaults.run();

      ledgers.assertNoViolation(addresses("reader", source));
      deliverPendingAtOnce();
      Ledgers.checkHistories(open());
      System.out.println(ledgers);
    }
  }

  /**
   * Replaces all stores by a single store, which delivers pending messages without a pause. Several
   * stores take the actors from each other. A store may then pause for 64 s before it tries a
   * delivery again.
   */
  private void deliverPendingAtOnce() {
    scope.close();
    stores.forEach(Store::close);
    scope = ActorSystem.openScope("ledgers");
    addresses("last", faults.source());
  }
}
