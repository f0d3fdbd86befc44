package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.pool.Entities;
import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.support.Patience;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a view sees, at every store. */
@SuppressWarnings("try") // a view is closed at the end of its block
abstract class EventViewsContract extends StoreFixture {
  sealed interface Message {}

  record Add(String text) implements Message, Request<Add, Integer> {}

  record End() implements Message, Request<End, Integer> {}

  record Added(String text) {}

  private static final Durable.Builder<Message> KIND = Durable.kind("list", Message.class).snapshotEvery(10);
  private static final Durable<Message> LIST = list(KIND);
  private static final EventView<Added> VIEW = Durable.view("list", Added.class);

  private final List<String> seen = new CopyOnWriteArrayList<>();

  EventViewsContract(TestStores.Maker maker) {
    super(maker);
  }

  private static Durable<Message> list(Durable.Builder<Message> kind) {
    return kind.events(Added.class, 0, (Integer count, Added added) -> count + 1).handler((count, message, context) -> {
      switch (message) {
        case Add add -> context.reply(add, context.persist(new Added(add.text())));
        case End end -> {
          context.reply(end, count);
          context.erase();
        }
      }
    });
  }

  private Entities<String, Message> lists() {
    return LIST.entities(scope.anonymous(), store, IDLE);
  }

  private void see(EventView.StoredEvent<Added> fact) {
    seen.add(fact.key() + fact.turn() + fact.event().text());
  }

  private Exitable view() {
    return VIEW.named("seen").newActor(scope.anonymous(), store, this::see);
  }

  private void add(String... texts) {
    try (var lists = lists()) {
      for (var text : texts) lists.actor("ada").ask(new Add(text));
    }
  }

  @Test
  void aViewSeesWhatWasThereAndWhatComes() {
    add("a", "b");
    try (var view = view()) {
      eventually(() -> seen.equals(List.of("ada1a", "ada2b")));
      add("c");
      eventually(() -> seen.equals(List.of("ada1a", "ada2b", "ada3c")));
    }
  }

  private static ExitReason exit(Exitable view) {
    return Patience.value(view.onExit().toCompletableFuture());
  }

  @Test
  void namedViewContinuesAtItsOffset() throws IOException {
    add("a", "b");
    try (var view = view()) {
      eventually(() -> seen.size() == 2);
    }
    store = crash(store);
    add("c");

    try (var view = view()) {
      eventually(() -> seen.equals(List.of("ada1a", "ada2b", "ada3c")));
    }
  }

  @Test
  void unnamedViewStartsFromBeginning() {
    add("a");
    for (int i = 0; i < 2; i++) try (var view = VIEW.newActor(scope.anonymous(), store, this::see)) {
      int least = i + 1;
      eventually(() -> seen.size() == least);
    }

    assertEquals(List.of("ada1a", "ada1a"), seen);
  }

  @Test
  void viewNameHasOneActorAtATime() {
    try (var view = view()) {
      assertThrows(IllegalStateException.class, this::view);
      VIEW.named("other").newActor(scope.anonymous(), store, this::see).close();
    }
    view().close();
  }

  @Test
  void eventIsRedeliveredWhenHandlerThrows() {
    add("a", "b");
    var failures = new AtomicInteger(2);
    try (var view = VIEW.named("seen").newActor(scope.anonymous(), store, fact -> {
      if (failures.getAndDecrement() > 0) throw new IllegalStateException("not now");
      see(fact);
    })) {
      eventually(() -> {
        clock.advance(Duration.ofSeconds(1));
        return seen.equals(List.of("ada1a", "ada2b"));
      });
    }
  }

  @Test
  void aViewThatFailsForEverCanBeClosed() {
    add("a");
    var failed = new CountDownLatch(1);
    var view = VIEW.named("seen").newActor(scope.anonymous(), store, fact -> {
      failed.countDown();
      throw new IllegalStateException("never");
    });
    Patience.await(failed);

    view.close();
    try (var again = view()) {
      eventually(() -> seen.equals(List.of("ada1a")));
    }
  }

  @Test
  void anEventThatCannotBeReadEndsTheView() throws Exception {
    add("a");
    var unknown = Durable.view("list", Integer.class).newActor(scope.anonymous(), store, number -> seen.add("?"));

    assertEquals(new ExitReason.Stopped(), exit(unknown));
    assertTrue(seen.isEmpty());
  }

  @Test
  void aStateCannotBeFollowed() throws Exception {
    var count = Durable.kind("count", String.class).state(0).handler((number, text) -> number + 1);
    try (var counts = count.entities(scope.anonymous(), store, IDLE)) {
      counts.actor("ada").sendMessage("one");
    }

    var view = Durable.view("count", String.class).newActor(scope.anonymous(), store, fact -> seen.add("?"));

    assertEquals(new ExitReason.Stopped(), exit(view));
    assertTrue(seen.isEmpty());
  }

  @Test
  void aViewEndsWithItsStore() throws Exception {
    var view = view();

    store.close();

    assertEquals(new ExitReason.Stopped(), exit(view));
  }

  @Test
  void invalidViewNameIsRefused() {
    assertEquals("'Two words' cannot name a view: take 1 to 64 lower-case letters, digits and hyphens, a letter first",
        assertThrows(IllegalArgumentException.class, () -> VIEW.named("Two words")).getMessage());
    assertEquals("'' cannot name a kind: take 1 to 64 lower-case letters, digits and hyphens, a letter first",
        assertThrows(IllegalArgumentException.class, () -> Durable.view("", Codec.of(Added.class))).getMessage());
  }

  @Test
  void offsetOfAnotherStoreIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> store.history("list", "over there"));
  }

  @Test
  void viewMissesNoEvents() throws Exception {
    int actors = 8;
    int events = 300; // of each
    var perKey = new ConcurrentHashMap<String, List<Long>>();
    for (int part = 0; part < 3; part++) {
      int begin = part * events / 3;
      try (var lists = lists()) {
        var answers = new ArrayList<CompletableFuture<Integer>>();
        var view = VIEW.named("all").newActor(scope.anonymous(), store,
            fact -> perKey.computeIfAbsent(fact.key(), none -> new CopyOnWriteArrayList<>()).add(fact.turn()));
        for (int i = begin; i < begin + events / 3; i++)
          for (int key = 0; key < actors; key++)
            answers.add(lists.actor("k" + key).sendMessageReturn(new Add("x".repeat(100))));
        answers.forEach(Patience::value);
        view.kill(); // with what it has not noted yet
        Patience.ended(view::waitForExit);
      }
      store = crash(store);
    }
    try (var view = VIEW.named("all").newActor(scope.anonymous(), store,
        fact -> perKey.computeIfAbsent(fact.key(), none -> new CopyOnWriteArrayList<>()).add(fact.turn()))) {
      eventually(() -> perKey.size() == actors
          && perKey.values().stream().allMatch(turns -> !turns.isEmpty() && turns.getLast() == events));
    }
    var all = IntStream.rangeClosed(1, events).mapToObj(Long::valueOf).toList();
    perKey.forEach((key, turns) -> assertEquals(all, turns.stream().distinct().toList(), key));
    assertEquals(actors * events,
        Histories.check(store, "list").stream().map(Store.StoredTurn::offset).distinct().count());
  }

  @Test
  void erasedEventsAreNotReadAgain() throws Exception {
    add("a");
    try (var lists = lists()) {
      assertEquals(1, lists.actor("ada").ask(new End())); // its turn 2 says all that there is to know
      assertEquals(1, lists.actor("ada").ask(new Add("b")));
    }

    store = crash(store);

    var loaded = store.load(new Store.ActorId("list", "ada"));
    assertEquals(List.of(3L, 2), List.of(loaded.lastTurn(), loaded.bodies().size()));
    var turns = Histories.check(store, "list");
    assertTrue(turns.stream().anyMatch(turn -> turn.number() == 2 && turn.isFullState()), turns::toString);
    try (var view = view()) { // a store may leave out the first turn, and no other
      eventually(() -> seen.contains("ada3b"));
      assertEquals(List.of("ada3b"), seen.stream().filter(fact -> !fact.equals("ada1a")).toList());
    }
  }

  @Test
  void viewContinuesAfterUnseenEnd() {
    add("a");
    try (var view = view()) {
      eventually(() -> seen.equals(List.of("ada1a")));
    }
    try (var lists = lists()) {
      lists.actor("ada").ask(new End());
      assertEquals(1, lists.actor("ada").ask(new Add("b")));
    }

    try (var view = view()) {
      eventually(() -> seen.size() > 1);
      assertEquals(List.of("ada1a", "ada3b"), seen);
    }
  }

  @Test
  void oldEventsMayBeRemoved() {
    var day = list(KIND.retainEvents(Duration.ofDays(1)));
    try (var lists = day.entities(scope.anonymous(), store, IDLE)) {
      for (int i = 0; i < 10; i++) lists.actor("ada").ask(new Add("old"));
      clock.advance(Duration.ofDays(2));
      for (int i = 0; i < 10; i++) assertEquals(11 + i, lists.actor("ada").ask(new Add("young")));
    }

    try (var view = view()) {
      eventually(() -> seen.contains("ada20young"));
    }
    var young = IntStream.rangeClosed(11, 20).mapToObj(turn -> "ada" + turn + "young").toList();
    assertTrue(seen.containsAll(young), seen::toString);
    assertEquals(21, day.newActor(scope.named("ada"), store).ask(new Add("x")));
  }

  // ---- the store itself

  private static List<Long> numbers(List<Store.StoredTurn> turns) {
    return turns.stream().map(Store.StoredTurn::number).toList();
  }

  @Test
  void historyContinuesAfterEachOffset() throws Exception {
    add("a", "b", "c", "d", "e");
    var all = new ArrayList<Store.StoredTurn>();
    try (var history = store.history("list", "")) {
      while (all.size() < 5) all.addAll(history.take());
    }
    for (int i = 0; i < 4; i++) {
      var rest = new ArrayList<Store.StoredTurn>();
      try (var history = store.history("list", all.get(i).offset())) {
        while (rest.size() < 4 - i) rest.addAll(history.take());
      }
      assertEquals(numbers(all.subList(i + 1, 5)), numbers(rest));
    }
  }

  @Test
  void closeWakesBlockedHistory() throws Exception {
    var history = store.history("list", "");
    var waiting = new CompletableFuture<Void>();
    var thread = Thread.ofVirtual().start(() -> {
      try {
        history.take();
      } catch (InterruptedException | StoreClosedException end) {
        waiting.completeExceptionally(end);
      }
    });
    Patience.parked(thread); // perhaps it looks again now and then

    history.close();

    assertEquals(StoreClosedException.class, Patience.failure(waiting).getClass());
    assertThrows(StoreClosedException.class, history::take);
  }

  @Test
  void historyContainsOnlyItsKind() throws Exception {
    var other = list(Durable.kind("other", Message.class));
    try (var others = other.entities(scope.anonymous(), store, IDLE)) {
      others.actor("ada").ask(new Add("x"));
    }
    add("a");

    try (var history = store.history("list", "")) {
      var found = history.take();
      assertEquals(List.of("ada"), found.stream().map(Store.StoredTurn::key).toList());
      assertFalse(found.getFirst().at().isBefore(Instant.EPOCH));
    }
  }
}
