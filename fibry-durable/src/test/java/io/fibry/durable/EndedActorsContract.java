package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.Done;
import io.fibry.Exitable;
import io.fibry.Request;
import io.fibry.pool.Entities;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that a store keeps the events of ended actors until all views have received them. */
@SuppressWarnings("try") // a view is closed at the end of its block
abstract class EndedActorsContract extends StoreFixture {
  private static final int ORDERS = 400;

  sealed interface Message {}

  record Add(String item) implements Message, Request<Add, Integer> {}

  /** Pays the order; its actor then ends. */
  record Pay() implements Message, Request<Pay, Done> {}

  sealed interface Event {}

  record Added(String item) implements Event {}

  record Paid(int items) implements Event {}

  private static final Durable<Message> ORDER = Durable.kind("order", Message.class)
      .events(Event.class, 0, (Integer items, Event event) -> event instanceof Added ? items + 1 : items)
      .handler((items, message, context) -> {
        switch (message) {
          case Add add -> context.reply(add, context.persist(new Added(add.item())));
          case Pay pay -> {
            context.persist(new Paid(items));
            context.erase();
            context.reply(pay, Done.DONE);
          }
        }
      });
  private static final EventView<Event> VIEW = Durable.view("order", Event.class);

  // Texts by key; guarded by its own monitor while a view runs
  private final Map<String, List<String>> receivedTexts = new LinkedHashMap<>();

  EndedActorsContract(TestStores.Maker maker) {
    super(maker);
  }

  private Entities<String, Message> orders() {
    return ORDER.entities(scope.anonymous(), store, IDLE);
  }

  private void addReceived(String key, String text) {
    synchronized (receivedTexts) {
      var texts = receivedTexts.computeIfAbsent(key, k -> new ArrayList<>());
      if (!texts.contains(text)) texts.add(text); // an event may be delivered again
    }
  }

  private List<String> receivedTexts(String key) {
    synchronized (receivedTexts) {
      return List.copyOf(receivedTexts.getOrDefault(key, List.of()));
    }
  }

  private static String text(EventView.StoredEvent<Event> stored) {
    return stored.turn() + switch (stored.event()) {
      case Added added -> added.item();
      case Paid paid -> "paid" + paid.items();
    };
  }

  private Exitable view(String name) {
    return VIEW.named(name).onEnd(end -> addReceived(end.key(), end.turn() + "end"))
        .newActor(scope.anonymous(), store, stored -> addReceived(stored.key(), text(stored)));
  }

  private void close(Exitable view) {
    view.sendPoisonPill();
    Patience.awaitEnd(view::waitForExit);
  }

  /** Returns the key and the number of each turn in the history. */
  private List<String> storedTurns() {
    try {
      return Histories.read(store, "order").stream().map(turn -> turn.key() + turn.number()).toList();
    } catch (InterruptedException interrupt) {
      throw new AssertionError(interrupt);
    }
  }

  /**
   * Makes the store remove the turns that it may remove. Only a store that delays their removal
   * overrides this method.
   */
  void removePassed() {}

  /**
   * Makes the store remove the turns that it may remove, and returns when it has removed them. Only
   * a store that delays their removal overrides this method.
   */
  void awaitRemoval() {}

  private void assertTurnCount(int turns) {
    awaitRemoval();
    assertEquals(turns, storedTurns().size());
  }

  private void assertTurns(String... turns) {
    eventually(() -> {
      removePassed();
      return List.of(turns).equals(storedTurns().stream().sorted().toList());
    });
  }

  /**
   * Adds two items to each order from begin to end - 1, and pays it. With fewer than ten orders,
   * the method waits for each answer, so that the last turn of an actor has a commit of its own. A
   * store may retain earlier turns that are in one commit with the last turn.
   */
  private void pay(int begin, int end) {
    try (var orders = orders()) {
      var answers = new ArrayList<CompletableFuture<?>>();
      for (int i = begin; i < end; i++)
        for (var message : List.of(new Add("a"), new Add("b"), new Pay())) {
          answers.add(send(orders.actor("o" + i), message));
          if (end - begin < 10) Patience.value(answers.getLast());
        }
      answers.forEach(Patience::value);
    }
  }

  private static CompletableFuture<?> send(Actor<Message> order, Message message) {
    return message instanceof Add add ? order.sendMessageReturn(add) : order.sendMessageReturn((Pay) message);
  }

  private boolean hasReceivedAll(int orders) {
    synchronized (receivedTexts) {
      return receivedTexts.size() == orders
          && receivedTexts.values().stream().allMatch(texts -> texts.equals(List.of("1a", "2b", "3paid2", "3end")));
    }
  }

  @Test
  void laggingViewSeesAllEventsOfActorsThatEnded() throws Exception {
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    var random = new Random(seed);
    close(view("seen")); // registers the view
    int paidOrders = 0;
    while (paidOrders < ORDERS) {
      int target = Math.min(ORDERS, paidOrders + 50 + random.nextInt(100));
      pay(paidOrders, target);
      paidOrders = target;
      var view = view("seen"); // receives some of the events
      if (random.nextBoolean()) {
        int minKeys = 1 + random.nextInt(paidOrders);
        eventually(() -> {
          synchronized (receivedTexts) {
            return receivedTexts.size() >= minKeys;
          }
        });
      }
      if (random.nextBoolean()) removePassed();
      if (random.nextBoolean()) view.kill();
      close(view);
      if (random.nextBoolean()) store = crash(store);
    }

    try (var view = view("seen")) {
      eventually(() -> hasReceivedAll(ORDERS));
    }
  }

  @Test
  void runningViewSeesAllEventsOfActorsThatEnd() {
    try (var view = view("seen")) {
      pay(0, ORDERS);
      eventually(() -> hasReceivedAll(ORDERS));
    }
  }

  @Test
  void eventsAreRemovedWhenSlowestViewPassesEndOfActor() throws Exception {
    for (var name : List.of("fast", "slow")) close(view(name));
    pay(0, 3);
    try (var fastView = view("fast")) {
      eventually(() -> hasReceivedAll(3));
    }
    assertTurnCount(9);
    receivedTexts.clear();
    try (var slowView = view("slow")) {
      eventually(() -> hasReceivedAll(3));
      pay(3, 4);
      try (var fastView = view("fast")) {
        eventually(() -> hasReceivedAll(4) && views().equals(List.of("fast false", "slow false")));
      }
    }

    assertTurns("o03", "o13", "o23", "o33");
    try (var orders = orders()) {
      assertEquals(1, orders.actor("o0").ask(new Add("c")));
    }
  }

  @Test
  void eventsOfEndedActorsAreRemovedAtViewStartAfterCrash() throws Exception {
    close(view("seen"));
    pay(0, 5);
    var view = view("seen");
    eventually(() -> hasReceivedAll(5) && views().equals(List.of("seen false")));
    view.kill();
    store = crash(store); // perhaps before the store has removed any event

    close(view("seen"));
    assertTurns("o03", "o13", "o23", "o33", "o43");
  }

  @Test
  void eventsOfEndedActorAreRemovedAtOnceWithoutNamedView() throws Exception {
    pay(0, 3);

    assertTurns("o03", "o13", "o23");
  }

  @Test
  void eventsOfEndedActorsAreNotRetainedForForgottenView() throws Exception {
    close(view("gone"));
    close(view("used"));
    eventually(() -> List.of("gone false", "used false").equals(views()));
    pay(0, 3);
    eventually(() -> List.of("gone true", "used true").equals(views()));
    try (var usedView = view("used")) {
      eventually(() -> hasReceivedAll(3));
      var refusal = assertThrows(IllegalStateException.class, () -> VIEW.named("used").forget(store));
      assertTrue(refusal.getMessage().contains("view 'order:used' has an actor"), refusal.getMessage());
    }
    eventually(() -> List.of("gone true", "used false").equals(views()));
    assertTurnCount(9);

    VIEW.named("gone").forget(store);
    VIEW.named("gone").forget(store);
    VIEW.named("never").forget(store);

    eventually(() -> List.of("used false").equals(views()));
    assertTurns("o03", "o13", "o23");
    assertThrows(IllegalStateException.class, () -> VIEW.forget(store));
    receivedTexts.clear();
    try (var view = view("gone")) { // reads the stored turns from the beginning
      eventually(() -> receivedTexts("o0").contains("3end") && receivedTexts("o2").contains("3end"));
    }
  }

  @Test
  void runningViewEndsWhenForgottenDespiteFailedWrite() throws Exception {
    var flaky = new FlakyStore(store, new Random(1));
    var view = VIEW.named("v").newActor(scope.anonymous(), flaky.asStore(),
        stored -> addReceived(stored.key(), text(stored)));
    pay(0, 1);
    eventually(() -> List.of("v false").equals(views()));
    VIEW.named("v").forget(store); // directly at the store, as another process would do it
    flaky.failNext("append", FlakyStore.WriteFault.LOST_UNSTORED);
    pay(1, 2);

    Patience.awaitEnd(view::waitForExit);
    assertEquals(List.of(), views());
  }

  private List<String> views() {
    return EventView.views(store).stream().map(view -> {
      assertEquals("order", view.kind());
      assertFalse(view.readUntil().isAfter(store.clock().instant()));
      return view.name() + " " + view.isBehind();
    }).sorted().toList();
  }

  @Test
  void viewSeesEventsOfSuccessiveLivesInOrder() throws Exception {
    close(view("seen"));
    pay(0, 1);
    pay(0, 1);
    store = crash(store);
    try (var orders = orders()) {
      assertEquals(1, orders.actor("o0").ask(new Add("c")));
    }
    try (var view = view("seen")) {
      eventually(() -> receivedTexts("o0")
          .equals(List.of("1a", "2b", "3paid2", "3end", "4a", "5b", "6paid2", "6end", "7c")));
    }

    assertTurns("o06", "o07");
    crashAndReopen();
    try (var orders = orders()) {
      assertEquals(2, orders.actor("o0").ask(new Add("d")));
    }
  }

  @Test
  void viewGetsEndOfActorAgainWhenItsHandlerThrows() throws Exception {
    var ends = new CopyOnWriteArrayList<String>();
    var handlerFailed = new CountDownLatch(1);
    close(view("seen"));
    pay(0, 1);
    try (var view = VIEW.named("seen").onEnd(end -> {
      ends.add(end.key() + end.turn());
      if (ends.size() < 3) {
        handlerFailed.countDown();
        throw new IllegalStateException("not now");
      }
    }).newActor(scope.anonymous(), store, stored -> addReceived(stored.key(), text(stored)))) {
      Patience.await(handlerFailed);
      eventually(() -> {
        clock.advance(Duration.ofSeconds(1));
        return ends.size() == 3;
      });
    }
    assertEquals(Stream.of("o03", "o03", "o03").toList(), ends);
    assertEquals(List.of("1a", "2b", "3paid2"), receivedTexts("o0"));
  }

  @Test
  void storeCopyContainsEventsThatViewHasNotSeen() throws Exception {
    close(view("seen"));
    pay(0, 20);
    var copy = another(maker);

    store.copyTo(copy);
    store.close();
    store = copy;

    try (var view = view("seen")) {
      eventually(() -> hasReceivedAll(20));
    }
  }

  @Test
  void viewOfKindWithoutEventsIsNotRegistered() throws Exception {
    var count = Durable.kind("count", String.class).state(0).handler((number, text) -> number + 1);
    try (var counts = count.entities(scope.anonymous(), store, IDLE)) {
      counts.actor("ada").sendMessage("one");
    }

    var view = Durable.view("count", String.class).named("seen").newActor(scope.anonymous(), store, fact -> {});
    Patience.awaitEnd(view::waitForExit);

    assertEquals(List.of(), EventView.views(store));
  }
}
