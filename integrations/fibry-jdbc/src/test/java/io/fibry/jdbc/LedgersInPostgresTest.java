package io.fibry.jdbc;

import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

class LedgersInPostgresTest extends LedgersContract {
  LedgersInPostgresTest() {
    super(DatabaseFixture::postgres);
  }

  @Test
  void ledgersMatchAnswersWhenBeginStatementIsCancelled() throws Exception {
    try (var canceller = new BeginCanceller((PGSimpleDataSource) database);
        var cancelledPool = Pools.of(canceller.source())) {
      check(cancelledPool, random -> canceller.cancelRandomly(random, FAILURE_PROBABILITY), canceller::stop);
    }
  }
}
