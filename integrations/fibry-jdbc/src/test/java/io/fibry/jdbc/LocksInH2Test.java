package io.fibry.jdbc;

import static io.fibry.durable.TestTurns.ADA;
import static io.fibry.durable.TestTurns.turn;

import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.sql.Connection;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

/** Tests a store whose write waits for a lock for longer than the lock time-out of H2. */
class LocksInH2Test extends DatabaseFixture {
  private static final String FENCE = "merge into fibry_actor";

  LocksInH2Test() {
    super(LocksInH2Test::databaseWithShortLockTimeout);
  }

  private static DataSource databaseWithShortLockTimeout() {
    var database = new JdbcDataSource();
    database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=1");
    return database;
  }

  @Test
  void turnIsRetriedUntilItsRowLockIsReleased() throws Exception {
    var attempts = new AtomicInteger();
    var store = open();
    long life = store.load(ADA).life();
    try (var lockHolder = database.getConnection(); var statement = lockHolder.createStatement()) {
      lockHolder.setAutoCommit(false);
      statement.execute("select * from fibry_actor where actor = 'ada' for update");
      faults.onNextStatement(FENCE, new Faults.Fault() {
        @Override
        public Object run(Connection connection, Intercepted.Call call) throws Throwable {
          faults.onNextStatement(FENCE, this);
          attempts.incrementAndGet();
          return call.pass();
        }
      });

      var appended = store.append(turn(ADA, life, 1));
      Patience.eventually(() -> attempts.get() > 10);
      lockHolder.rollback();

      Patience.value(appended.toCompletableFuture());
    }
  }
}
