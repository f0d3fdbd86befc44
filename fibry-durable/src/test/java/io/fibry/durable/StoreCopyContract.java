package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.durable.Desk.Add;
import io.fibry.durable.Desk.Buy;
import io.fibry.durable.Desk.Fail;
import io.fibry.durable.Desk.Items;
import io.fibry.durable.Desk.Message;
import io.fibry.store.CopySummary;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.StoreWriteException;
import io.fibry.store.spi.StoreBackend;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** Tests copies from every store to every other store, and that actors continue in the copy. */
@SuppressWarnings("try") // a view is closed at the end of its block
abstract class StoreCopyContract extends DeskFixture {
  private static final TestStores.Maker MEMORY = (folder, clock) -> TestStores.inMemory(clock);
  private static final TestStores.Maker FOLDER = FolderStores::new;

  private final List<String> received = new CopyOnWriteArrayList<>();

  StoreCopyContract(TestStores.Maker maker) {
    super(maker);
  }

  /** Returns a kind that stores its items as events. */
  private Durable<Message> list() {
    return Durable.kind("list", Message.class).snapshotEvery(3)
        .events(Add.class, Desk.EMPTY, (Desk.State state, Add add) -> state.with(add.item()))
        .handler((state, message, context) -> {
          if (message instanceof Add add) context.persist(add);
          if (message instanceof Items items) context.reply(items, String.join(" ", state.items()));
          if (message instanceof Desk.End) context.erase();
        });
  }

  private void list(String key, String... items) {
    try (var lists = list().entities(scope.anonymous(), store, IDLE)) {
      for (var item : items) lists.actor(key).sendMessage(new Add(item));
      lists.actor(key).ask(new Items());
    }
  }

  /**
   * Reads the view until this event has arrived. Events of the actor 'gone' are ignored, because a
   * store may have removed them.
   */
  private void readViewUntil(String lastEvent) {
    try (var view = Durable.view("list", Add.class).named("seen").newActor(scope.anonymous(), store, stored -> {
      if (!stored.key().equals("gone")) received.add(stored.key() + stored.turn() + stored.event().item());
    })) {
      eventually(() -> received.contains(lastEvent));
    }
  }

  private void fill() {
    list("ada", "a", "b", "c", "d");
    list("grace", "e");
    readViewUntil("grace1e");
    try (var lists = list().entities(scope.anonymous(), store, IDLE)) {
      lists.actor("gone").sendMessage(new Add("x"));
      lists.actor("gone").sendMessage(new Desk.End());
      assertEquals("", lists.actor("gone").ask(new Items()));
    }
    list("ada", "f");
    try (var ada = ada()) {
      assertEquals(1, ada.ask(new Buy("once", "book")));
      ada.sendMessage(new Desk.Remind("r", "later", HOUR, true));
      ada.sendMessage(new Desk.Pass("nobody", "passed")); // stays pending, because no entities of its kind are open
      ada.ask(new Items());
    }
    try (var ada = keeping().newActor(scope.named("ada"), store)) {
      ada.sendMessage(new Fail("poison"));
      eventually(() -> keeping().parked(store).size() == 1);
      ada.sendMessage(new Add("kept"));
      eventually(() -> has(ada, "kept"));
    }
  }

  private void checkActorsContinue() {
    received.clear();
    list("ada", "g");
    readViewUntil("ada6g");
    assertEquals(List.of("ada5f", "ada6g"), received);
    assertEquals("poison", ((Fail) keeping().parked(store).getFirst().message()).item());
    try (var desks = desks()) {
      assertEquals(1, desks.actor("ada").ask(new Buy("once", "book"))); // the actor remembers its first answer
      eventually(() -> has(desks.actor("nobody"), "passed"));
      clock.advance(HOUR.plusMinutes(1));
      eventually(() -> has(desks.actor("ada"), "book later"));
    }
    try (var lists = list().entities(scope.anonymous(), store, IDLE)) {
      assertEquals("a b c d f g", lists.actor("ada").ask(new Items()));
      assertEquals("e", lists.actor("grace").ask(new Items()));
      assertEquals("", lists.actor("gone").ask(new Items()));
    }
  }

  @Test
  void actorsContinueAfterRepeatedCopies() throws Exception {
    fill();
    var copies = new ArrayList<CopySummary>();
    for (var targetMaker : List.of(MEMORY, FOLDER, maker, MEMORY, maker, FOLDER, FOLDER, MEMORY, maker, maker)) {
      var target = another(targetMaker);
      copies.add(store.copyTo(target));
      store.close();
      store = target;
    }

    for (var copy : copies) { // turns() may differ, because replaced turns may be copied, too
      assertEquals(5, copy.actors());
      assertEquals(3, copy.messages());
    }
    checkActorsContinue();
  }

  @Test
  void copiedActorsContinueInEachTypeOfStore() throws Exception {
    for (var targetMaker : List.of(MEMORY, FOLDER, maker)) {
      received.clear();
      fill();
      var target = another(targetMaker);
      store.copyTo(target);
      store.close();
      store = crashIfInMemory(targetMaker, target);
      checkActorsContinue();
      store.close();
      store = another(maker);
    }
  }

  /**
   * Simulates a crash of a copy in memory, and returns the store after it. Returns any other copy
   * unchanged.
   */
  private StoreBackend crashIfInMemory(TestStores.Maker kind, StoreBackend copied) throws IOException {
    return kind == MEMORY ? StoreBackend.of(((MemoryStore) copied).crash()) : copied;
  }

  @Test
  void copyOfStoreWithoutOldTurnsKeepsTurnNumbers() throws Exception {
    var ada = new Store.ActorId("list", "ada");
    appendTurns(ada, store.beginLife(ada, 9), 10, 11);
    long life = store.beginLife(ada, 19);
    appendTurns(ada, life, 20);
    store.snapshot(new StoreBackend.Turn(ada, life, 20, Instant.EPOCH, true, new byte[] {99}, List.of(), List.of()));
    appendTurns(ada, life, 21);
    var grace = new Store.ActorId("list", "grace"); // has a snapshot only
    store.snapshot(
        new StoreBackend.Turn(grace, store.beginLife(grace, 7), 7, Instant.EPOCH, true, new byte[] {77}, List.of(),
            List.of()));
    store.load(grace); // waits until the snapshot is stored

    for (var targetMaker : List.of(MEMORY, FOLDER, maker)) {
      var target = another(targetMaker);
      store.copyTo(target);

      assertEquals(21, target.load(ada).lastTurn());
      assertArrayEquals(new byte[] {99}, target.load(ada).bodies().getFirst());
      assertArrayEquals(new byte[] {77}, target.load(grace).bodies().getFirst());
      assertEquals(List.of(10L, 11L, 20L, 21L), numbers(target));
      assertEquals(7, target.load(grace).lastTurn());
      target.close();
    }
  }

  private void appendTurns(Store.ActorId id, long life, int... numbers) throws Exception {
    for (int number : numbers)
      store.append(new StoreBackend.Turn(id, life, number, Instant.EPOCH, false, new byte[] {(byte) number}, List.of(),
          List.of())).toCompletableFuture().get();
  }

  private static List<Long> numbers(StoreBackend source) throws InterruptedException {
    try (var history = source.history("list", "")) {
      return history.poll().stream().map(StoreBackend.StoredTurn::number).toList();
    }
  }

  @Test
  void unfinishedCopyRefusesActors() throws Exception {
    fill();
    for (var targetMaker : List.of(MEMORY, FOLDER, maker)) {
      var unfinishedCopy = another(targetMaker);
      var summaries = new ArrayList<CopySummary>();
      assertThrows(ArithmeticException.class, () -> store.copyTo(unfinishedCopy, progress -> {
        summaries.add(progress);
        if (summaries.size() == 3) throw new ArithmeticException("made up, for a test");
      }));

      var failure =
          assertThrows(StoreDamagedException.class, () -> list().newActor(scope.named("ada"), unfinishedCopy));
      assertThrows(StoreDamagedException.class,
          () -> Durable.view("list", Add.class).newActor(scope.anonymous(), unfinishedCopy, fact -> {}));
      var refusal = assertThrows(IllegalArgumentException.class, () -> store.copyTo(unfinishedCopy));
      var otherTarget = another(MEMORY);
      assertThrows(IllegalArgumentException.class, () -> unfinishedCopy.copyTo(otherTarget));

      assertEquals(unfinishedCopy + " has a copy that was not finished, so it refuses actors; empty it, and copy again",
          failure.getMessage());
      assertTrue(refusal.getMessage().endsWith("; give an empty store"), refusal.getMessage());
      assertTrue(summaries.getFirst().turns() <= summaries.getLast().turns());
      unfinishedCopy.close();
      otherTarget.close();
    }
  }

  @Test
  void copyToNonEmptyStoreIsRefused() throws Exception {
    fill();
    var target = another(maker);
    target
        .enqueue(new StoreBackend.PendingMessage(new Store.ActorId("list", "ada"), "m:1", Instant.EPOCH, new byte[0]),
            9)
        .toCompletableFuture().get();

    var failure = assertThrows(IllegalArgumentException.class, () -> store.copyTo(target));

    assertEquals(store + " cannot be copied to " + target + ", which has list 'ada' already; give an empty store",
        failure.getMessage());
    assertThrows(IllegalArgumentException.class, () -> store.copyTo(store));
    target.close();
  }

  @Test
  void copyFailsWhenSourceStoresTurnDuringCopy() throws Exception {
    fill();
    var ada = new Store.ActorId("desk", "ada");
    var target = another(maker);
    var messageCounts = new TreeMap<Long, Boolean>();

    var failure = assertThrows(IllegalStateException.class, () -> store.copyTo(target, progress -> {
      if (messageCounts.put(progress.messages(), true) == null && progress.messages() == 2) appendNextTurn(ada);
    }));

    assertTrue(failure.getMessage().startsWith("desk 'ada' is not the same at " + store + " and at " + target
        + ": its turns differ. "), failure.getMessage());
    target.close();
  }

  private void appendNextTurn(Store.ActorId id) {
    var loaded = store.load(id);
    try {
      appendTurns(id, loaded.life(), (int) loaded.lastTurn() + 1);
    } catch (Exception failure) {
      throw new AssertionError(failure);
    }
  }

  @Test
  void copyFailureNamesTargetAndLeavesCopyUnfinished() throws Exception {
    fill();
    var failingTarget = (MemoryStore) another(MEMORY);

    var failure = assertThrows(StoreWriteException.class,
        () -> store.copyTo(failingTarget, progress -> failingTarget.failNext(1)));

    assertTrue(failure.getMessage().endsWith(" could not be copied to a store in memory: a write failed, as the test "
        + "has asked for. The copy is not finished"), failure.getMessage());
    assertTrue(failingTarget.hasUnfinishedCopy());
  }

  @Test
  void turnOfStaleLifeOrWithWrongNumberIsRefused() throws ExecutionException, InterruptedException {
    var ada = new Store.ActorId("list", "ada");
    long firstLife = store.load(ada).life();
    long secondLife = store.beginLife(ada, 4);

    var staleAppend =
        store.append(new StoreBackend.Turn(ada, firstLife, 1, Instant.EPOCH, true, new byte[0], List.of(), List.of()));
    var misnumberedAppend =
        store.append(new StoreBackend.Turn(ada, secondLife, 1, Instant.EPOCH, true, new byte[0], List.of(), List.of()));

    assertThrows(ExecutionException.class, () -> staleAppend.toCompletableFuture().get());
    assertThrows(ExecutionException.class, () -> misnumberedAppend.toCompletableFuture().get());
  }
}
