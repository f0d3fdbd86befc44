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
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** Copies from every store to every other. */
@SuppressWarnings("try") // a view is closed at the end of its block
abstract class StoreCopyContract extends DeskFixture {
  private static final TestStores.Maker MEMORY = (folder, clock) -> TestStores.inMemory(clock);
  private static final TestStores.Maker FOLDER = Folders::new;

  private final List<String> seen = new CopyOnWriteArrayList<>();

  StoreCopyContract(TestStores.Maker maker) {
    super(maker);
  }

  /** Keeps its items as events. */
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

  /** Until this one has come. What an end has made needless may come, or not. */
  private void seeUpTo(String last) {
    try (var view = Durable.view("list", Add.class).named("seen").newActor(scope.anonymous(), store, fact -> {
      if (!fact.key().equals("gone")) seen.add(fact.key() + fact.turn() + fact.event().item());
    })) {
      eventually(() -> seen.contains(last));
    }
  }

  private void fill() {
    list("ada", "a", "b", "c", "d");
    list("grace", "e");
    seeUpTo("grace1e");
    try (var lists = list().entities(scope.anonymous(), store, IDLE)) {
      lists.actor("gone").sendMessage(new Add("x"));
      lists.actor("gone").sendMessage(new Desk.End());
      assertEquals("", lists.actor("gone").ask(new Items()));
    }
    list("ada", "f");
    try (var ada = ada()) {
      assertEquals(1, ada.ask(new Buy("once", "book")));
      ada.sendMessage(new Desk.Remind("r", "later", HOUR, true));
      ada.sendMessage(new Desk.Pass("nobody", "passed")); // its kind is not told of it
      ada.ask(new Items());
    }
    try (var ada = keeping().newActor(scope.named("ada"), store)) {
      ada.sendMessage(new Fail("poison"));
      eventually(() -> keeping().parked(store).size() == 1);
      ada.sendMessage(new Add("kept"));
      eventually(() -> has(ada, "kept"));
    }
  }

  private void goOn() {
    seen.clear();
    list("ada", "g");
    seeUpTo("ada6g");
    assertEquals(List.of("ada5f", "ada6g"), seen);
    assertEquals("poison", ((Fail) keeping().parked(store).getFirst().message()).item());
    try (var desks = desks()) {
      assertEquals(1, desks.actor("ada").ask(new Buy("once", "book"))); // it remembers
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
    for (var to : List.of(MEMORY, FOLDER, maker, MEMORY, maker, FOLDER, FOLDER, MEMORY, maker, maker)) {
      var next = another(to);
      copies.add(store.copyTo(next));
      store.close();
      store = next;
    }

    for (var copy : copies) { // dead turns may come along
      assertEquals(5, copy.actors());
      assertEquals(3, copy.messages());
    }
    goOn();
  }

  @Test
  void copiedActorsContinueInEachStore() throws Exception {
    for (var to : List.of(MEMORY, FOLDER, maker)) {
      seen.clear();
      fill();
      var next = another(to);
      store.copyTo(next);
      store.close();
      store = crashable(to, next);
      goOn();
      store.close();
      store = another(maker);
    }
  }

  /** Makes a store whose copied content is on disk. */
  private Store crashable(TestStores.Maker kind, Store copied) throws IOException {
    return kind == MEMORY ? ((MemoryStore) copied).crash() : copied;
  }

  @Test
  void turnNumbersSurviveCopyWithoutOldTurns() throws Exception {
    var ada = new Store.ActorId("list", "ada");
    turn(ada, store.beginLife(ada, 9), 10, 11);
    long life = store.beginLife(ada, 19);
    turn(ada, life, 20);
    store.snapshot(new Store.Turn(ada, life, 20, Instant.EPOCH, true, new byte[] {99}, List.of(), List.of()));
    turn(ada, life, 21);
    var grace = new Store.ActorId("list", "grace"); // has a snapshot only
    store.snapshot(new Store.Turn(grace, store.beginLife(grace, 7), 7, Instant.EPOCH, true, new byte[] {77}, List.of(),
        List.of()));
    store.load(grace); // it is stored

    for (var to : List.of(MEMORY, FOLDER, maker)) {
      var next = another(to);
      store.copyTo(next);

      assertEquals(21, next.load(ada).lastTurn());
      assertArrayEquals(new byte[] {99}, next.load(ada).bodies().getFirst());
      assertArrayEquals(new byte[] {77}, next.load(grace).bodies().getFirst());
      assertEquals(List.of(10L, 11L, 20L, 21L), numbers(next));
      assertEquals(7, next.load(grace).lastTurn());
      next.close();
    }
  }

  private void turn(Store.ActorId id, long life, int... numbers) throws Exception {
    for (int number : numbers)
      store.append(new Store.Turn(id, life, number, Instant.EPOCH, false, new byte[] {(byte) number}, List.of(),
          List.of())).toCompletableFuture().get();
  }

  private static List<Long> numbers(Store of) throws InterruptedException {
    try (var history = of.history("list", "")) {
      return history.poll().stream().map(Store.StoredTurn::number).toList();
    }
  }

  @Test
  void interruptedCopyServesNoActors() throws Exception {
    fill();
    for (var to : List.of(MEMORY, FOLDER, maker)) {
      var half = another(to);
      var steps = new ArrayList<CopySummary>();
      assertThrows(ArithmeticException.class, () -> store.copyTo(half, progress -> {
        steps.add(progress);
        if (steps.size() == 3) throw new ArithmeticException("made up, for a test");
      }));

      var failure = assertThrows(StoreDamagedException.class, () -> list().newActor(scope.named("ada"), half));
      assertThrows(StoreDamagedException.class,
          () -> Durable.view("list", Add.class).newActor(scope.anonymous(), half, fact -> {}));
      var again = assertThrows(IllegalArgumentException.class, () -> store.copyTo(half));
      var onwards = another(MEMORY);
      assertThrows(IllegalArgumentException.class, () -> half.copyTo(onwards));

      assertEquals(half + " has a copy that was not finished, so it has no actors; empty it, and copy again",
          failure.getMessage());
      assertTrue(again.getMessage().endsWith("; give an empty store"), again.getMessage());
      assertTrue(steps.getFirst().turns() <= steps.getLast().turns());
      half.close();
      onwards.close();
    }
  }

  @Test
  void aStoreThatIsNotEmptyIsRefused() throws Exception {
    fill();
    var next = another(maker);
    next.enqueue(new Store.PendingMessage(new Store.ActorId("list", "ada"), "m:1", Instant.EPOCH, new byte[0]), 9)
        .toCompletableFuture().get();

    var failure = assertThrows(IllegalArgumentException.class, () -> store.copyTo(next));

    assertEquals(store + " cannot be copied to " + next + ", which has list 'ada' already; give an empty store",
        failure.getMessage());
    assertThrows(IllegalArgumentException.class, () -> store.copyTo(store));
    next.close();
  }

  @Test
  void turnStoredDuringCopyIsDetected() throws Exception {
    fill();
    var ada = new Store.ActorId("desk", "ada");
    var next = another(maker);
    var kinds = new TreeMap<Long, Boolean>();

    var failure = assertThrows(IllegalStateException.class, () -> store.copyTo(next, progress -> {
      if (kinds.put(progress.messages(), true) == null && progress.messages() == 2) meanwhile(ada);
    }));

    assertTrue(failure.getMessage().startsWith("desk 'ada' is not the same at " + store + " and at " + next
        + ": its turns differ. "), failure.getMessage());
    next.close();
  }

  private void meanwhile(Store.ActorId id) {
    var loaded = store.load(id);
    try {
      turn(id, loaded.life(), (int) loaded.lastTurn() + 1);
    } catch (Exception failure) {
      throw new AssertionError(failure);
    }
  }

  @Test
  void copyFailureNamesUncopiedActor() throws Exception {
    fill();
    var full = (MemoryStore) another(MEMORY);

    var failure = assertThrows(StoreWriteException.class, () -> store.copyTo(full, progress -> full.failNext(1)));

    assertTrue(failure.getMessage().endsWith(" could not be copied to a store in memory: a write failed, as the test "
        + "has asked for. The copy is not finished"), failure.getMessage());
    assertTrue(CopySummary.isUnfinishedIn(full));
  }

  @Test
  void anActorOfAnotherLifeIsRefused() throws ExecutionException, InterruptedException {
    var ada = new Store.ActorId("list", "ada");
    long before = store.load(ada).life();
    long life = store.beginLife(ada, 4);

    var late = store.append(new Store.Turn(ada, before, 1, Instant.EPOCH, true, new byte[0], List.of(), List.of()));
    var first = store.append(new Store.Turn(ada, life, 1, Instant.EPOCH, true, new byte[0], List.of(), List.of()));

    assertThrows(ExecutionException.class, () -> late.toCompletableFuture().get());
    assertThrows(ExecutionException.class, () -> first.toCompletableFuture().get());
  }
}
