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
import io.fibry.store.spi.StoreBackend;
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

/** Tests which events a view receives, with every store. */
@SuppressWarnings("try") // a view is closed at the end of its block
abstract class EventViewsContract extends StoreFixture {
  sealed interface Message {}

  record Add(String text) implements Message, Request<Add, Integer> {}

  record End() implements Message, Request<End, Integer> {}

  record Added(String text) {}

  private static final Durable.Builder<Message> KIND = Durable.kind("list", Message.class).snapshotEvery(10);
  private static final Durable<Message> LIST = list(KIND);
  private static final EventView<Added> VIEW = Durable.view("list", Added.class);

  private final List<String> receivedTexts = new CopyOnWriteArrayList<>();

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

  private void addReceived(EventView.StoredEvent<Added> stored) {
    receivedTexts.add(stored.key() + stored.turn() + stored.event().text());
  }

  private Exitable view() {
    return VIEW.named("seen").newActor(scope.anonymous(), store, this::addReceived);
  }

  private void add(String... texts) {
    try (var lists = lists()) {
      for (var text : texts) lists.actor("ada").ask(new Add(text));
    }
  }

  @Test
  void viewSeesStoredAndNewEvents() {
    add("a", "b");
    try (var view = view()) {
      eventually(() -> receivedTexts.equals(List.of("ada1a", "ada2b")));
      add("c");
      eventually(() -> receivedTexts.equals(List.of("ada1a", "ada2b", "ada3c")));
    }
  }

  private static ExitReason exitReason(Exitable view) {
    return Patience.value(view.onExit().toCompletableFuture());
  }

  @Test
  void namedViewContinuesAtItsOffset() throws IOException {
    add("a", "b");
    try (var view = view()) {
      eventually(() -> receivedTexts.size() == 2);
    }
    store = crash(store);
    add("c");

    try (var view = view()) {
      eventually(() -> receivedTexts.equals(List.of("ada1a", "ada2b", "ada3c")));
    }
  }

  @Test
  void unnamedViewStartsFromBeginning() {
    add("a");
    for (int i = 0; i < 2; i++) try (var view = VIEW.newActor(scope.anonymous(), store, this::addReceived)) {
      int minCount = i + 1;
      eventually(() -> receivedTexts.size() == minCount);
    }

    assertEquals(List.of("ada1a", "ada1a"), receivedTexts);
  }

  @Test
  void secondActorOfViewIsRefusedWhileFirstLives() {
    try (var view = view()) {
      assertThrows(IllegalStateException.class, this::view);
      VIEW.named("other").newActor(scope.anonymous(), store, this::addReceived).close();
    }
    view().close();
  }

  @Test
  void eventIsRedeliveredWhenHandlerThrows() {
    add("a", "b");
    var failures = new AtomicInteger(2);
    try (var view = VIEW.named("seen").newActor(scope.anonymous(), store, fact -> {
      if (failures.getAndDecrement() > 0) throw new IllegalStateException("not now");
      addReceived(fact);
    })) {
      eventually(() -> {
        clock.advance(Duration.ofSeconds(1));
        return receivedTexts.equals(List.of("ada1a", "ada2b"));
      });
    }
  }

  @Test
  void viewWhoseHandlerAlwaysFailsCanBeClosed() {
    add("a");
    var handlerFailed = new CountDownLatch(1);
    var view = VIEW.named("seen").newActor(scope.anonymous(), store, fact -> {
      handlerFailed.countDown();
      throw new IllegalStateException("never");
    });
    Patience.await(handlerFailed);

    view.close();
    try (var secondView = view()) {
      eventually(() -> receivedTexts.equals(List.of("ada1a")));
    }
  }

  @Test
  void unreadableEventEndsView() throws Exception {
    add("a");
    var view = Durable.view("list", Integer.class).newActor(scope.anonymous(), store, number -> receivedTexts.add("?"));

    assertEquals(new ExitReason.Stopped(), exitReason(view));
    assertTrue(receivedTexts.isEmpty());
  }

  @Test
  void viewEndsWhenKindStoresNoEvents() throws Exception {
    var count = Durable.kind("count", String.class).state(0).handler((number, text) -> number + 1);
    try (var counts = count.entities(scope.anonymous(), store, IDLE)) {
      counts.actor("ada").sendMessage("one");
    }

    var view = Durable.view("count", String.class).newActor(scope.anonymous(), store, fact -> receivedTexts.add("?"));

    assertEquals(new ExitReason.Stopped(), exitReason(view));
    assertTrue(receivedTexts.isEmpty());
  }

  @Test
  void viewEndsWhenItsStoreIsClosed() throws Exception {
    var view = view();

    store.close();

    assertEquals(new ExitReason.Stopped(), exitReason(view));
  }

  @Test
  void invalidViewNameIsRefused() {
    assertEquals("'Two words' cannot name a view: take 1 to 64 lower-case letters, digits and hyphens, a letter first",
        assertThrows(IllegalArgumentException.class, () -> VIEW.named("Two words")).getMessage());
    assertEquals("'' cannot name a kind: take 1 to 64 lower-case letters, digits and hyphens, a letter first",
        assertThrows(IllegalArgumentException.class, () -> Durable.view("", Codec.of(Added.class))).getMessage());
  }

  @Test
  void invalidOffsetOfHistoryIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> store.history("list", "over there"));
  }

  @Test
  void viewMissesNoEventsAcrossCrashes() throws Exception {
    int actors = 8;
    int events = 300; // of each actor
    var turnsByKey = new ConcurrentHashMap<String, List<Long>>();
    for (int part = 0; part < 3; part++) {
      int begin = part * events / 3;
      try (var lists = lists()) {
        var answers = new ArrayList<CompletableFuture<Integer>>();
        var view = VIEW.named("all").newActor(scope.anonymous(), store,
            stored -> turnsByKey.computeIfAbsent(stored.key(), k -> new CopyOnWriteArrayList<>()).add(stored.turn()));
        for (int i = begin; i < begin + events / 3; i++)
          for (int key = 0; key < actors; key++)
            answers.add(lists.actor("k" + key).sendMessageReturn(new Add("x".repeat(100))));
        answers.forEach(Patience::value);
        view.kill(); // perhaps before it has stored its last offset
        Patience.awaitEnd(view::waitForExit);
      }
      store = crash(store);
    }
    try (var view = VIEW.named("all").newActor(scope.anonymous(), store,
        stored -> turnsByKey.computeIfAbsent(stored.key(), k -> new CopyOnWriteArrayList<>()).add(stored.turn()))) {
      eventually(() -> turnsByKey.size() == actors
          && turnsByKey.values().stream().allMatch(turns -> !turns.isEmpty() && turns.getLast() == events));
    }
    var allTurns = IntStream.rangeClosed(1, events).mapToObj(Long::valueOf).toList();
    turnsByKey.forEach((key, turns) -> assertEquals(allTurns, turns.stream().distinct().toList(), key));
    assertEquals(actors * events,
        Histories.check(store, "list").stream().map(StoreBackend.StoredTurn::offset).distinct().count());
  }

  @Test
  void actorIsLoadedWithoutErasedEventsAfterCrash() throws Exception {
    add("a");
    try (var lists = lists()) {
      assertEquals(1, lists.actor("ada").ask(new End())); // turn 2 replaces all earlier events
      assertEquals(1, lists.actor("ada").ask(new Add("b")));
    }

    store = crash(store);

    var loaded = store.load(new Store.ActorId("list", "ada"));
    assertEquals(List.of(3L, 2), List.of(loaded.lastTurn(), loaded.bodies().size()));
    var turns = Histories.check(store, "list");
    assertTrue(turns.stream().anyMatch(turn -> turn.number() == 2 && turn.isFullState()), turns::toString);
    try (var view = view()) { // the view may miss the erased event of turn 1, but no other event
      eventually(() -> receivedTexts.contains("ada3b"));
      assertEquals(List.of("ada3b"), receivedTexts.stream().filter(fact -> !fact.equals("ada1a")).toList());
    }
  }

  @Test
  void viewContinuesIfActorWasErasedWhileViewWasClosed() {
    add("a");
    try (var view = view()) {
      eventually(() -> receivedTexts.equals(List.of("ada1a")));
    }
    try (var lists = lists()) {
      lists.actor("ada").ask(new End());
      assertEquals(1, lists.actor("ada").ask(new Add("b")));
    }

    try (var view = view()) {
      eventually(() -> receivedTexts.size() > 1);
      assertEquals(List.of("ada1a", "ada3b"), receivedTexts);
    }
  }

  @Test
  void viewOpenedLaterSeesEventsWithinRetention() {
    var dayKind = list(KIND.retainEvents(Duration.ofDays(1)));
    try (var lists = dayKind.entities(scope.anonymous(), store, IDLE)) {
      for (int i = 0; i < 10; i++) lists.actor("ada").ask(new Add("old"));
      clock.advance(Duration.ofDays(2));
      for (int i = 0; i < 10; i++) assertEquals(11 + i, lists.actor("ada").ask(new Add("young")));
    }

    try (var view = view()) {
      eventually(() -> receivedTexts.contains("ada20young"));
    }
    var recentEvents = IntStream.rangeClosed(11, 20).mapToObj(turn -> "ada" + turn + "young").toList();
    assertTrue(receivedTexts.containsAll(recentEvents), receivedTexts::toString);
    assertEquals(21, dayKind.newActor(scope.named("ada"), store).ask(new Add("x")));
  }

  // ---- the store itself

  private static List<Long> numbers(List<StoreBackend.StoredTurn> turns) {
    return turns.stream().map(StoreBackend.StoredTurn::number).toList();
  }

  @Test
  void historyOpenedAtOffsetBeginsWithNextTurn() throws Exception {
    add("a", "b", "c", "d", "e");
    var turns = new ArrayList<StoreBackend.StoredTurn>();
    try (var history = store.history("list", "")) {
      while (turns.size() < 5) turns.addAll(history.take());
    }
    for (int i = 0; i < 4; i++) {
      var remaining = new ArrayList<StoreBackend.StoredTurn>();
      try (var history = store.history("list", turns.get(i).offset())) {
        while (remaining.size() < 4 - i) remaining.addAll(history.take());
      }
      assertEquals(numbers(turns.subList(i + 1, 5)), numbers(remaining));
    }
  }

  @Test
  void closeOfHistoryFailsItsBlockedReader() throws Exception {
    var history = store.history("list", "");
    var blocked = new CompletableFuture<List<StoreBackend.StoredTurn>>();
    var thread = Patience.startFiber(history::take, blocked);
    Patience.awaitParked(thread); // in take(), which may wait in a loop of timed waits

    history.close();

    assertEquals(StoreClosedException.class, Patience.failure(blocked).getClass());
    assertThrows(StoreClosedException.class, history::take);
  }

  @Test
  void historyContainsOnlyTurnsOfItsKind() throws Exception {
    var otherKind = list(Durable.kind("other", Message.class));
    try (var otherLists = otherKind.entities(scope.anonymous(), store, IDLE)) {
      otherLists.actor("ada").ask(new Add("x"));
    }
    add("a");

    try (var history = store.history("list", "")) {
      var turns = history.take();
      assertEquals(List.of("ada"), turns.stream().map(StoreBackend.StoredTurn::key).toList());
      assertFalse(turns.getFirst().at().isBefore(Instant.EPOCH));
    }
  }
}
