package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ContextPropagator;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.pool.Entities;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that a node restores the context that another node has captured and sent as text. */
abstract class ContextContract {
  sealed interface Order {}
  record Note(String tenant) implements Order {}
  record ContextQuery() implements Order, Request<ContextQuery, String> {}
  record ForwardedQuery(String kind) implements Order, Request<ForwardedQuery, String> {}

  /** Propagates a value that has no text form, and therefore does not cross nodes. */
  private static final class LocalValue implements ContextPropagator<String> {
    private static final ThreadLocal<String> VALUE = new ThreadLocal<>();

    @Override
    public String capture() {
      return VALUE.get();
    }

    @Override
    public AutoCloseable restore(String captured) {
      VALUE.set(captured);
      return VALUE::remove;
    }
  }

  private static final Duration IDLE_LIMIT = Duration.ofMinutes(5);
  private static final ConcurrentLinkedQueue<String> HANDLED_STORED_NOTES = new ConcurrentLinkedQueue<>();
  private static final Durable<Note> STORED_NOTES = Durable.kind("kept", Note.class).storeMessages(100_000).state("")
      .handler((state, note, context) -> {
        HANDLED_STORED_NOTES.add(note.tenant() + " by " + Tenant.current());
        return Tenant.current();
      });

  private final String app;
  private final TestNetwork network;
  private final ActorScope scope =
      ActorSystem.openScope("context-test",
          options -> options.withContextPropagator(new Tenant()).withContextPropagator(new LocalValue()));
  private final ConcurrentLinkedQueue<String> handledNotes = new ConcurrentLinkedQueue<>();
  private final Cluster a;
  private final Cluster b;

  ContextContract(String app, TestNetwork network) {
    this.app = app;
    this.network = network;
    HANDLED_STORED_NOTES.clear();
    a = join("a");
    b = join("b");
  }

  private Cluster join(String node) {
    return Cluster.join(app, network, options -> options.withNode(node).withPartitions(8)
        .withSettleTime(Duration.ofMillis(300)).withScope(scope));
  }

  @AfterEach
  void close() {
    scope.close(); // first, so that no node waits for another node to take its partitions
    a.close();
    b.close();
  }

  private void handle(Cluster node, Order order, ActorContext<Order> context) {
    switch (order) {
      case Note note -> handledNotes.add(note.tenant() + " by " + Tenant.current());
      case ContextQuery query -> context.reply(query, Tenant.current() + " " + LocalValue.VALUE.get());
      case ForwardedQuery forwarded -> context.reply(forwarded,
          node.entities(forwarded.kind(), Order.class).actor("next").ask(new ContextQuery()));
    }
  }

  private void exposeOrders(Cluster node) {
    node.expose("orders", Order.class, scope.anonymous()
        .newActor((Order order, ActorContext<Order> context) -> handle(node, order, context)));
  }

  private Entities<String, Order> host(Cluster node, String kind) {
    return node.host(kind, Order.class, scope.anonymous(), IDLE_LIMIT, (builder, key) -> builder
        .newActor((Order order, ActorContext<Order> context) -> handle(node, order, context)));
  }

  @Test
  void requestCarriesTenantOfItsAsker() {
    exposeOrders(a);
    var orders = b.actor("orders", Order.class);

    Tenant.with("acme", () -> {
      assertEquals("acme null", orders.ask(new ContextQuery()));
      assertEquals("acme null", orders.ask(new ContextQuery(), Patience.LONG));
      assertEquals("acme null", Patience.value(orders.sendMessageReturn(new ContextQuery())));
    });
    Tenant.with("größe\n=&%+ 1", () -> assertEquals("größe\n=&%+ 1 null", orders.ask(new ContextQuery())));

    assertEquals("nobody null", orders.ask(new ContextQuery()));
  }

  @Test
  void contextOfNonTextPropagatorIsNotSentToOtherNode() {
    exposeOrders(a);
    LocalValue.VALUE.set("here");
    try {
      assertEquals("nobody null", b.actor("orders", Order.class).ask(new ContextQuery()));
    } finally {
      LocalValue.VALUE.remove();
    }
  }

  @Test
  void requestFromEntityKeepsTenantOfOriginalAsker() {
    host(a, "first");
    host(b, "second");

    Tenant.with("acme", () -> {
      for (int i = 0; i < 10; i++)
        assertEquals("acme null", b.entities("first", Order.class).actor("f" + i).ask(new ForwardedQuery("second")));
    });
  }

  /** Messages are sent in batches, in which each message keeps its own tenant. */
  @Test
  void eachMessageOfBatchCarriesTenantOfItsSender() throws Exception {
    host(a, "order");
    var orders = b.entities("order", Order.class);
    int total = 4_000;
    try (var senders = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int t = 0; t < 4; t++) {
        String tenant = t == 0 ? "nobody" : "tenant " + t;
        Runnable sendNotes = () -> {
          for (int i = 0; i < total / 4; i++) orders.actor("o" + i % 5).sendMessage(new Note(tenant));
        };
        senders.execute(t == 0 ? sendNotes : () -> Tenant.with(tenant, sendNotes::run));
      }
    }
    Patience.eventually(() -> handledNotes.size() == total);

    var wrongNotes = handledNotes.stream().filter(note -> !note.substring(0, note.indexOf(" by ")).equals(
        note.substring(note.indexOf(" by ") + 4))).toList();
    assertEquals(List.of(), wrongNotes);
  }

  @Test
  void delayedMessageCarriesTenantOfItsSender() {
    exposeOrders(a);
    var orders = b.actor("orders", Order.class);

    Tenant.with("acme", () -> orders.sendMessageLater(new Note("acme"), Duration.ofMillis(10)));

    Patience.eventually(() -> List.copyOf(handledNotes).equals(List.of("acme by acme")));
  }

  @Test
  void publishedMessageCarriesTenantOfPublisher() {
    var tenants = new ConcurrentLinkedQueue<String>();
    Actor<Note> reader = scope.anonymous().newActor(note -> tenants.add(Tenant.current()));
    a.topic("news", Note.class).subscribe(reader);

    Tenant.with("acme", () -> b.topic("news", Note.class).publish(new Note("acme")));
    b.topic("news", Note.class).publish(new Note("nobody"));

    Patience.eventually(() -> List.copyOf(tenants).equals(List.of("acme", "nobody")));
  }

  @Test
  void storedMessageCarriesTenantOfItsSender() {
    a.host(STORED_NOTES, scope.anonymous(), IDLE_LIMIT);
    var storedNotes = b.entities(STORED_NOTES);

    Tenant.with("acme", () -> assertTrue(storedNotes.actor("k").sendMessage(new Note("acme"))));
    assertTrue(storedNotes.actor("k").sendMessage(new Note("nobody")));

    Patience.eventually(() -> List.copyOf(HANDLED_STORED_NOTES).equals(List.of("acme by acme", "nobody by nobody")));
  }

  /** Requests that a node holds for the next owner of a key keep their tenants. */
  @Test
  void requestsHeldForNextOwnerKeepTheirTenants() throws Exception {
    host(a, "order");
    var orders = b.entities("order", Order.class);
    var stop = new AtomicBoolean();
    var answers = new HashMap<String, Integer>();
    try (var askers = Executors.newVirtualThreadPerTaskExecutor()) {
      Callable<Map<String, Integer>> askUntilStopped = () -> {
        var answersOfAsker = new HashMap<String, Integer>();
        for (int i = 0; !stop.get(); i++) {
          String key = "o" + i % 50;
          Tenant.with("acme",
              () -> answersOfAsker.merge(orders.actor(key).ask(new ContextQuery(), Patience.LONG), 1, Integer::sum));
        }
        return answersOfAsker;
      };
      var askResults = List.of(askers.submit(askUntilStopped), askers.submit(askUntilStopped));
      try {
        for (int i = 0; i < 3; i++) {
          var ordersOfB = host(b, "order");
          Patience.eventually(() -> b.health().partitions().getOrDefault("order", 0) > 0);
          ordersOfB.close();
        }
      } finally { // otherwise the close of the executor waits for the askers
        stop.set(true);
      }
      for (var result : askResults)
        Patience.value(result).forEach((answer, count) -> answers.merge(answer, count, Integer::sum));
    }

    assertEquals(List.of("acme null"), List.copyOf(answers.keySet()));
  }

  @Test
  void tooLongContextIsOmittedFromMessage() {
    exposeOrders(a);
    try (var logged = new Logged()) {
      Tenant.with("x".repeat(3_000), () -> {
        for (int i = 0; i < 100; i++)
          assertEquals("nobody null", b.actor("orders", Order.class).ask(new ContextQuery()));
      });

      assertTrue(logged.text().contains("for a message to actor 'orders' is left out"), logged::text);
    }
  }
}
