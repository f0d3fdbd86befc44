package io.fibry.jdbc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreOutdatedException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a store in a database does, beside the contracts of durable actors. */
@Timeout(120)
abstract class StoreContract extends AtADatabase {
  private static final Store.Id ODD = new Store.Id("account", "Grace's \0 2nd \\0 \\\\, \u00e4\u4e2d\ud83d\ude00");

  StoreContract(Maker maker) {
    super(maker);
  }

  private static Store.Waiting message(Store.Id to, String id, int body) {
    return new Store.Waiting(to, id, Instant.EPOCH, new byte[] {(byte) body});
  }

  // ---- turns

  @Test
  void itTellsWhatWasAppended() {
    byte[] large = new byte[500_000];
    new Random(1).nextBytes(large);
    var before = open();
    long ada = before.load(ADA).life();
    long odd = before.load(ODD).life();
    append(before, turn(ADA, ada, 1));
    append(before, turn(ODD, odd, 1, true));
    append(before, turn(ADA, ada, 2, false, large));
    append(before, turn(ODD, odd, 2, true, (byte) 7));
    before.close();

    var after = open();

    assertEquals(2, after.load(ADA).last());
    assertArrayEquals(large, after.load(ADA).bodies().get(1));
    assertEquals(1, after.load(ODD).bodies().size());
    assertArrayEquals(new byte[] {7}, after.load(ODD).bodies().getFirst());
    assertEquals(0, after.load(GRACE).last());
  }

  @Test
  void whatAWholeTurnReplacesIsDeleted() throws Exception {
    var store = open();
    long life = store.load(ADA).life();
    for (int i = 1; i <= 20; i++) append(store, turn(ADA, life, i, i % 5 == 0));
    var all = new ArrayList<CompletableFuture<Void>>();
    for (int i = 21; i <= 60; i++) all.add(store.append(turn(ADA, life, i, i % 2 == 0)).toCompletableFuture());
    for (var each : all) each.join();

    assertEquals(1, number("select count(*) from fibry_turn"));
    assertEquals(60, store.load(ADA).last());
  }

  @Test
  void aTurnThatDoesNotFollowIsRefused() {
    var store = open();
    long life = store.load(ADA).life();

    assertInstanceOf(StoreOutdatedException.class, refusal(store.append(turn(ADA, life, 2))));
    append(store, turn(ADA, life, 1));
    assertInstanceOf(StoreOutdatedException.class, refusal(store.append(turn(ADA, life, 1))));
    var second = store.append(turn(ADA, life, 2)); // perhaps in one commit with the others
    assertInstanceOf(StoreOutdatedException.class, refusal(store.append(turn(ADA, life, 4))));
    assertInstanceOf(StoreOutdatedException.class, refusal(store.append(turn(ADA, life + 1, 3))));

    second.toCompletableFuture().join();
    assertEquals(2, store.load(ADA).last());
  }

  @Test
  void ofTwoStoresTheOneThatReadLastStores() {
    var one = open();
    var other = open();
    long first = one.load(ADA).life();
    append(one, turn(ADA, first, 1));
    long grace = one.load(GRACE).life();

    var read = other.load(ADA);
    var late = one.append(turn(ADA, first, 2));

    assertEquals("turn 2 of account 'ada' comes after another life has begun, or after a turn that was not stored",
        assertInstanceOf(StoreOutdatedException.class, refusal(late)).getMessage());
    append(one, turn(GRACE, grace, 1)); // the others are not concerned
    assertEquals(1, read.last());
    append(other, turn(ADA, read.life(), 2));
    assertEquals(2, one.load(ADA).last());
  }

  @Test
  void storesThatFightForAKeyNeverFork() throws Exception {
    fight(pool);
  }

  // ---- what waits

  @Test
  void messagesKeepTheirOrderAndTakeThePlaceOfOthers() {
    var store = open();
    for (var id : List.of("a", "b\0", "c\\0")) store.accept(message(ODD, id, 1), 9).toCompletableFuture().join();
    store.accept(message(ODD, "a", 2), 9).toCompletableFuture().join();

    var waiting = store.waiting(ODD, Instant.MAX, 9);

    assertEquals(List.of("b\0", "c\\0", "a"), waiting.stream().map(Store.Waiting::id).toList());
    assertEquals(2, waiting.getLast().body()[0]);
    assertEquals(Optional.of(Instant.EPOCH), store.due(ODD, "b\0"));
    assertEquals(Optional.empty(), store.due(ODD, "b"));
    assertEquals(List.of("b\0", "c\\0", "a"), store.load(ODD).waiting());
  }

  @Test
  void whatOneCommitSendsAndDoesIsOfItsLastTurn() {
    var store = open();
    long life = store.load(ADA).life();
    var turns = new ArrayList<CompletableFuture<Void>>();
    for (int i = 1; i <= 200; i++) {
      boolean sends = i % 2 == 1;
      turns.add(store.append(new Store.Turn(ADA, life, i, Instant.now(), false, new byte[0],
          sends ? List.of("old" + i) : List.of("a"), sends ? List.of(message(ADA, "a", i), message(ADA, "b", i))
              : List.of()))
          .toCompletableFuture());
    }
    for (var each : turns) each.join();

    assertEquals(List.of("b"), store.load(ADA).waiting());
    assertEquals((byte) 199, store.waiting(ADA, Instant.MAX, 1).getFirst().body()[0]);
  }

  @Test
  void aLimitHoldsThoughManyComeAtOnce() {
    var store = open();
    var all = new ArrayList<CompletableFuture<Boolean>>();
    for (int i = 0; i < 100; i++) all.add(store.accept(message(ADA, "m" + i, i), 10).toCompletableFuture());

    assertEquals(10, all.stream().filter(CompletableFuture::join).count());
    assertEquals(10, store.load(ADA).waiting().size());
  }

  @Test
  void allThatWaitsIsTold() {
    var store = open();
    var all = new ArrayList<CompletableFuture<Boolean>>();
    for (int i = 0; i < 2_500; i++)
      all.add(store.accept(message(new Store.Id("account", "key" + i / 2), "m" + i, 1), 9).toCompletableFuture());
    store.accept(message(new Store.Id("other", "key"), "m", 1), 9).toCompletableFuture().join();
    for (var each : all) each.join();
    var keys = new ArrayList<String>();

    store.waiting("account", (id, due) -> keys.add(id.key()));

    assertEquals(2_500, keys.size());
    assertEquals(1_250, keys.stream().distinct().count());
  }

  // ---- history

  @Test
  void aHistoryIsReadPageByPage() throws Exception {
    var store = open();
    long life = store.load(ADA).life();
    var all = new ArrayList<CompletableFuture<Void>>();
    for (int i = 1; i <= 700; i++) all.add(store.append(turn(ADA, life, i)).toCompletableFuture());
    for (var each : all) each.join();
    var numbers = new ArrayList<Long>();

    try (var history = store.history("account", "")) {
      while (numbers.size() < 700) history.next().forEach(turn -> numbers.add(turn.number()));
    }

    assertEquals(LongStream.rangeClosed(1, 700).boxed().toList(), numbers);
  }

  @Test
  void turnsOfAnotherStoreAreSeen() throws Exception {
    var one = open();
    try (var history = open().history("account", "")) {
      var found = new CompletableFuture<List<Store.Past>>();
      var reader = Thread.ofVirtual().start(() -> {
        try {
          found.complete(history.next());
        } catch (InterruptedException interrupt) {
          found.completeExceptionally(interrupt);
        }
      });
      append(one, turn(ADA, one.load(ADA).life(), 1));

      assertEquals(1, found.get().getFirst().number());
      reader.join();
    }
  }

  @Test
  void oldTurnsGoOnceASnapshotCoversThem() throws Exception {
    var store = open();
    long life = store.load(ADA).life();
    for (int i = 1; i <= 10; i++) append(store, new Store.Turn(ADA, life, i, Instant.EPOCH, false, new byte[] {1},
        List.of(), List.of()));
    append(store, turn(ADA, life, 11));
    store.snapshot(turn(ADA, life, 11, true, (byte) 9));
    eventually(() -> count("fibry_snapshot") == 1);
    store.forget("account", Duration.ofDays(1));
    eventually(() -> count("fibry_turn") == 1);

    append(store, turn(ADA, life, 12));

    assertEquals(2, store.load(ADA).bodies().size());
    assertEquals(12, store.load(ADA).last());
  }

  @Test
  void oldTurnsThatNoSnapshotCoversStay() throws Exception {
    var store = open();
    long life = store.load(ADA).life();
    append(store, new Store.Turn(ADA, life, 1, Instant.EPOCH, false, new byte[] {1}, List.of(), List.of()));
    long grace = store.load(GRACE).life();
    append(store, new Store.Turn(GRACE, grace, 1, Instant.EPOCH, false, new byte[] {1}, List.of(), List.of()));
    store.snapshot(turn(GRACE, grace, 1, true, (byte) 9));
    eventually(() -> count("fibry_snapshot") == 1);
    store.forget("account", Duration.ofDays(1));
    eventually(() -> count("fibry_turn") == 1);

    assertEquals(1, store.load(ADA).bodies().size());
    assertEquals(1, store.load(GRACE).last());
  }

  private long count(String table) {
    try {
      return number("select count(*) from " + table);
    } catch (SQLException failure) {
      throw new AssertionError(failure);
    }
  }

  // ---- damage

  @Test
  void aMissingTurnIsFoundOut() throws Exception {
    var store = open();
    long life = store.load(ADA).life();
    for (int i = 1; i <= 3; i++) append(store, turn(ADA, life, i));
    append(store, turn(GRACE, store.load(GRACE).life(), 1));
    for (int missing = 1; missing <= 3; missing++) {
      execute("create table kept as select * from fibry_turn where actor = 'ada' and number = " + missing);
      execute("delete from fibry_turn where actor = 'ada' and number = " + missing);

      var failure = assertThrows(StoreDamagedException.class, () -> store.load(ADA));

      assertEquals("turn " + missing + " of account 'ada' is missing in the table fibry_turn. "
          + "Other actors are not concerned; put the row back", failure.getMessage());
      execute("insert into fibry_turn select * from kept");
      execute("drop table kept");
    }
    assertEquals(3, store.load(ADA).bodies().size());
    assertEquals(1, store.load(GRACE).bodies().size());
  }

  @Test
  void anotherFormatIsRefused() throws Exception {
    open().close();
    execute("update fibry_format set version = 2");

    var failure = assertThrows(StoreDamagedException.class, this::open);

    assertTrue(failure.getMessage().startsWith("the store in jdbc:"), failure.getMessage());
    assertTrue(failure.getMessage().endsWith(" has format 2; this version reads format 1"), failure.getMessage());
    execute("delete from fibry_format");
    assertThrows(StoreDamagedException.class, this::open);
  }

  // ---- use

  @Test
  void severalMayMakeTheTables() throws Exception {
    var opening = new ArrayList<CompletableFuture<JdbcStore>>();
    for (int i = 0; i < 4; i++) opening.add(CompletableFuture.supplyAsync(() -> JdbcStore.open(pool)));
    for (var each : opening) each.join().close();

    assertEquals(1, number("select count(*) from fibry_format"));
  }

  @Test
  void connectionsMayCommitEachStatementOrNot() {
    pool.setAutoCommit(false);
    var store = open();
    append(store, turn(ADA, store.load(ADA).life(), 1));

    assertEquals(1, store.load(ADA).last());
  }

  @Test
  void anInterruptHarmsNobody() {
    var store = open();
    long life = store.load(ADA).life();
    append(store, turn(ADA, life, 1));

    Thread.currentThread().interrupt();
    var second = store.append(turn(ADA, life, 2)).toCompletableFuture();
    assertThrows(CancellationException.class, () -> store.load(ADA));
    assertThrows(CancellationException.class, () -> store.due(ADA, "x"));
    assertTrue(Thread.interrupted());

    second.join();
    assertEquals(2, store.load(ADA).last());
    eventually(() -> faults.open() == 0);
  }

  @Test
  void aTurnThatIsTooLargeIsRefusedAtOnce() {
    var store = open();
    long life = store.load(ADA).life();

    var failure = assertThrows(IllegalArgumentException.class,
        () -> store.append(turn(ADA, life, 1, false, new byte[(16 << 20) + 1])));

    assertTrue(failure.getMessage().startsWith("a turn of account 'ada' takes 16777217 bytes; the store in jdbc:"),
        failure.getMessage());
    append(store, turn(ADA, life, 1));
  }

  @Test
  void aClosedStoreSaysSo() {
    var store = open();
    long life = store.load(ADA).life();
    var history = store.history("account", "");
    store.close();
    store.close();

    assertThrows(StoreClosedException.class, () -> store.load(ADA));
    assertThrows(StoreClosedException.class, () -> store.due(ADA, "a"));
    assertThrows(StoreClosedException.class, history::next);
    assertInstanceOf(StoreClosedException.class, refusal(store.append(turn(ADA, life, 1))));
    assertInstanceOf(StoreClosedException.class, refusal(store.accept(message(ADA, "a", 1), 9)));
  }

  @Test
  void aCloseStoresWhatWasGiven() {
    var store = open();
    long life = store.load(ADA).life();
    for (int i = 1; i <= 500; i++) store.append(turn(ADA, life, i));
    store.close();

    assertEquals(500, open().load(ADA).last());
  }
}
