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

/** The events of ended actors that views see, at every store. */
@SuppressWarnings("try") // a view is closed at the end of its block
abstract class EndedActorsContract extends StoreFixture {
  private static final int ORDERS = 400;

  sealed interface Message {}

  record Add(String item) implements Message, Request<Add, Integer> {}

  /** The order is paid, and ends. */
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

  private final Map<String, List<String>> seen = new LinkedHashMap<>(); // by key; under its own monitor

  EndedActorsContract(TestStores.Maker maker) {
    super(maker);
  }

  private Entities<String, Message> orders() {
    return ORDER.entities(scope.anonymous(), store, IDLE);
  }

  private void see(String key, String what) {
    synchronized (seen) {
      var ofKey = seen.computeIfAbsent(key, none -> new ArrayList<>());
      if (!ofKey.contains(what)) ofKey.add(what); // it may come again
    }
  }

  private List<String> seen(String key) {
    synchronized (seen) {
      return List.copyOf(seen.getOrDefault(key, List.of()));
    }
  }

  private static String text(EventView.StoredEvent<Event> fact) {
    return fact.turn() + switch (fact.event()) {
      case Added added -> added.item();
      case Paid paid -> "paid" + paid.items();
    };
  }

  private Exitable view(String name) {
    return VIEW.named(name).onEnd(end -> see(end.key(), end.turn() + "end"))
        .newActor(scope.anonymous(), store, fact -> see(fact.key(), text(fact)));
  }

  private void close(Exitable view) {
    view.sendPoisonPill();
    Patience.ended(view::waitForExit);
  }

  /** Returns the turns in the history. */
  private List<String> stored() {
    try {
      return Histories.read(store, "order").stream().map(past -> past.key() + past.number()).toList();
    } catch (InterruptedException interrupt) {
      throw new AssertionError(interrupt);
    }
  }

  /** Has a store remove turns that does so only now and then. */
  void removePassed() {}

  private void assertKept(int turns) {
    removePassed();
    assertEquals(turns, stored().size());
  }

  private void assertLeft(String... turns) {
    eventually(() -> {
      removePassed();
      return List.of(turns).equals(stored().stream().sorted().toList());
    });
  }

  /** Few are paid one by one, since a store may keep turns that it wrote together with the end. */
  private void pay(int first, int last) {
    try (var orders = orders()) {
      var answers = new ArrayList<CompletableFuture<?>>();
      for (int i = first; i < last; i++)
        for (var message : List.of(new Add("a"), new Add("b"), new Pay())) {
          answers.add(send(orders.actor("o" + i), message));
          if (last - first < 10) Patience.value(answers.getLast());
        }
      answers.forEach(Patience::value);
    }
  }

  private static CompletableFuture<?> send(Actor<Message> order, Message message) {
    return message instanceof Add add ? order.sendMessageReturn(add) : order.sendMessageReturn((Pay) message);
  }

  private boolean sawAll(int orders) {
    synchronized (seen) {
      return seen.size() == orders
          && seen.values().stream().allMatch(each -> each.equals(List.of("1a", "2b", "3paid2", "3end")));
    }
  }

  @Test
  void laggingViewSeesAllEventsOfActorsThatEnded() throws Exception {
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    var random = new Random(seed);
    close(view("seen")); // it is known from now on
    int paid = 0;
    while (paid < ORDERS) {
      int next = Math.min(ORDERS, paid + 50 + random.nextInt(100));
      pay(paid, next);
      paid = next;
      var view = view("seen"); // sees some of it
      if (random.nextBoolean()) {
        int least = 1 + random.nextInt(paid);
        eventually(() -> {
          synchronized (seen) {
            return seen.size() >= least;
          }
        });
      }
      if (random.nextBoolean()) removePassed();
      if (random.nextBoolean()) view.kill();
      close(view);
      if (random.nextBoolean()) store = crash(store);
    }

    try (var view = view("seen")) {
      eventually(() -> sawAll(ORDERS));
    }
  }

  @Test
  void viewMeetsActorsThatEndWhileItReads() {
    try (var view = view("seen")) {
      pay(0, ORDERS);
      eventually(() -> sawAll(ORDERS));
    }
  }

  @Test
  void eventsAreRemovedWhenLastViewPassesEnd() throws Exception {
    for (var name : List.of("fast", "slow")) close(view(name));
    pay(0, 3);
    try (var fast = view("fast")) {
      eventually(() -> sawAll(3));
    }
    assertKept(9);
    seen.clear();
    try (var slow = view("slow")) {
      eventually(() -> sawAll(3));
      pay(3, 4);
      try (var fast = view("fast")) {
        eventually(() -> sawAll(4) && views().equals(List.of("fast false", "slow false")));
      }
    }

    assertLeft("o03", "o13", "o23", "o33");
    try (var orders = orders()) {
      assertEquals(1, orders.actor("o0").ask(new Add("c")));
    }
  }

  @Test
  void crashLeftoversAreRemovedWhenViewBegins() throws Exception {
    close(view("seen"));
    pay(0, 5);
    var view = view("seen");
    eventually(() -> sawAll(5) && views().equals(List.of("seen false")));
    view.kill();
    store = crash(store); // perhaps before anything was removed

    close(view("seen"));
    assertLeft("o03", "o13", "o23", "o33", "o43");
  }

  @Test
  void eventsAreRemovedAtOnceWithoutNamedView() throws Exception {
    pay(0, 3);

    assertLeft("o03", "o13", "o23");
  }

  @Test
  void forgottenViewKeepsNoEvents() throws Exception {
    close(view("gone"));
    close(view("used"));
    eventually(() -> List.of("gone false", "used false").equals(views()));
    pay(0, 3);
    eventually(() -> List.of("gone true", "used true").equals(views()));
    try (var used = view("used")) {
      eventually(() -> sawAll(3));
      var refused = assertThrows(IllegalStateException.class, () -> VIEW.named("used").forget(store));
      assertTrue(refused.getMessage().contains("view 'order:used' has an actor"), refused.getMessage());
    }
    eventually(() -> List.of("gone true", "used false").equals(views()));
    assertKept(9);

    VIEW.named("gone").forget(store);
    VIEW.named("gone").forget(store);
    VIEW.named("never").forget(store);

    eventually(() -> List.of("used false").equals(views()));
    assertLeft("o03", "o13", "o23");
    assertThrows(IllegalStateException.class, () -> VIEW.forget(store));
    seen.clear();
    try (var again = view("gone")) { // begins with the stored turns
      eventually(() -> seen("o0").contains("3end") && seen("o2").contains("3end"));
    }
  }

  @Test
  void viewForgottenDuringStoreFailureEnds() throws Exception {
    var flaky = new FlakyStore(store, new Random(1));
    var view = VIEW.named("v").newActor(scope.anonymous(), flaky.asStore(), fact -> see(fact.key(), text(fact)));
    pay(0, 1);
    eventually(() -> List.of("v false").equals(views()));
    VIEW.named("v").forget(store); // as another process does
    flaky.failNext("append", FlakyStore.How.LOST_BEFORE);
    pay(1, 2);

    Patience.ended(view::waitForExit);
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
  void viewSeesSuccessiveLivesInOrder() throws Exception {
    close(view("seen"));
    pay(0, 1);
    pay(0, 1);
    store = crash(store);
    try (var orders = orders()) {
      assertEquals(1, orders.actor("o0").ask(new Add("c")));
    }
    try (var view = view("seen")) {
      eventually(() -> seen("o0").equals(List.of("1a", "2b", "3paid2", "3end", "4a", "5b", "6paid2", "6end", "7c")));
    }

    assertLeft("o06", "o07");
    crashAndReopen();
    try (var orders = orders()) {
      assertEquals(2, orders.actor("o0").ask(new Add("d")));
    }
  }

  @Test
  void endIsRedeliveredWhenHandlerThrows() throws Exception {
    var ends = new CopyOnWriteArrayList<String>();
    var failed = new CountDownLatch(1);
    close(view("seen"));
    pay(0, 1);
    try (var view = VIEW.named("seen").onEnd(end -> {
      ends.add(end.key() + end.turn());
      if (ends.size() < 3) {
        failed.countDown();
        throw new IllegalStateException("not now");
      }
    }).newActor(scope.anonymous(), store, fact -> see(fact.key(), text(fact)))) {
      Patience.await(failed);
      eventually(() -> {
        clock.advance(Duration.ofSeconds(1));
        return ends.size() == 3;
      });
    }
    assertEquals(Stream.of("o03", "o03", "o03").toList(), ends);
    assertEquals(List.of("1a", "2b", "3paid2"), seen("o0"));
  }

  @Test
  void copyRetainsEventsUnseenByView() throws Exception {
    close(view("seen"));
    pay(0, 20);
    var to = another(maker);

    store.copyTo(to);
    store.close();
    store = to;

    try (var view = view("seen")) {
      eventually(() -> sawAll(20));
    }
  }

  @Test
  void viewOfStateKindIsNotRegistered() throws Exception {
    var count = Durable.kind("count", String.class).state(0).handler((number, text) -> number + 1);
    try (var counts = count.entities(scope.anonymous(), store, IDLE)) {
      counts.actor("ada").sendMessage("one");
    }

    var view = Durable.view("count", String.class).named("seen").newActor(scope.anonymous(), store, fact -> {});
    Patience.ended(view::waitForExit);

    assertEquals(List.of(), EventView.views(store));
  }
}
