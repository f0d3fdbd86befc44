package io.fibry.jdbc;

import static io.fibry.durable.TestTurns.ADA;
import static io.fibry.durable.TestTurns.turn;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests batches whose statements and results are larger than the buffers of the network. */
class LargeBatchesInPostgresTest extends DatabaseFixture {
  private static final int ACTORS = 8_192; // max entries of a batch
  private static final int MESSAGES = 2_048;
  private static final String KEY_START = "k".repeat(600);

  private final CountDownLatch mayCommit = new CountDownLatch(1);
  private StoreBackend store;

  LargeBatchesInPostgresTest() {
    super(DatabaseFixture::postgres);
  }

  /** Lets a paused commit continue, because the store could not close otherwise. */
  @AfterEach
  void allowCommit() {
    mayCommit.countDown();
  }

  private void openWithActors() throws Exception {
    store = open(faults.source(), Duration.ofMinutes(1));
    execute("insert into fibry_actor select 'account', '" + KEY_START + "' || i, 1, 0 from generate_series(1, "
        + ACTORS + ") i");
  }

  private static Store.ActorId id(int i) {
    return new Store.ActorId("account", KEY_START + i);
  }

  /** Pauses the writing thread in a commit, so that the next entries become one batch. */
  private void pauseWriter() {
    var isPaused = new CountDownLatch(1);
    long life = store.load(ADA).life();
    faults.onNextCommit((connection, call) -> {
      isPaused.countDown();
      mayCommit.await();
      return call.pass();
    });
    store.append(turn(ADA, life, 1));
    Patience.await(isPaused);
  }

  /** If the rows of the fence were not read first, database and driver would wait forever. */
  @Test
  void batchOfManyActorsIsStored() throws Exception {
    openWithActors();
    pauseWriter();
    var appends = new ArrayList<CompletableFuture<Void>>();
    for (int i = 1; i <= ACTORS; i++)
      appends.add(store.append(turn(id(i), 1, 1, true, new byte[800])).toCompletableFuture());

    mayCommit.countDown();

    appends.forEach(Patience::value);
    assertEquals(ACTORS + 1, number("select count(*) from fibry_turn"));
    assertEquals(1, number("select count(distinct tx) from fibry_turn where actor <> 'ada'"));
  }

  /** If the result of the insert of messages were not the last, the snapshot would wait. */
  @Test
  void batchOfManyMessagesAndLargeSnapshotIsStored() throws Exception {
    openWithActors();
    pauseWriter();
    var responses = new ArrayList<CompletableFuture<Boolean>>();
    for (int i = 1; i <= MESSAGES; i++) responses.add(store.enqueue(
        new StoreBackend.PendingMessage(id(i), "m".repeat(1_800), Instant.EPOCH, new byte[100]), 9)
        .toCompletableFuture());
    var turn = store.append(turn(id(1), 1, 1, true, new byte[1])).toCompletableFuture();
    store.snapshot(turn(id(1), 1, 1, true, new byte[7 << 20]));

    mayCommit.countDown();

    for (var response : responses) assertEquals(true, Patience.value(response));
    Patience.value(turn);
    assertEquals(MESSAGES, number("select count(*) from fibry_message"));
    assertEquals(List.of(1L, 7L << 20),
        List.of(number("select count(*) from fibry_snapshot"), number("select length(body) from fibry_snapshot")));
  }
}
