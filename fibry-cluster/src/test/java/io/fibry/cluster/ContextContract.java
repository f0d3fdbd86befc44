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

/** The context that carriers with texts capture at one node is set at the other node. */
abstract class ContextContract {
  sealed interface Order {}
  record Note(String tenant) implements Order {}
  record Who() implements Order, Request<Who, String> {}
  record Through(String kind) implements Order, Request<Through, String> {}

  /** Carries a value that has no text. */
  private static final class Local implements ContextPropagator<String> {
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

  private static final Duration LONG = Duration.ofMinutes(5);
  private static final ConcurrentLinkedQueue<String> NOTED = new ConcurrentLinkedQueue<>();
  private static final Durable<Note> KEPT = Durable.kind("kept", Note.class).storeMessages(100_000).state("")
      .handler((before, note, context) -> {
        NOTED.add(note.tenant() + " by " + Tenant.here());
        return Tenant.here();
      });

  private final String app;
  private final TestNetwork network;
  private final ActorScope scope =
      ActorSystem.openScope("context-test",
          options -> options.withContextPropagator(new Tenant()).withContextPropagator(new Local()));
  private final ConcurrentLinkedQueue<String> noted = new ConcurrentLinkedQueue<>();
  private final Cluster a;
  private final Cluster b;

  ContextContract(String app, TestNetwork network) {
    this.app = app;
    this.network = network;
    NOTED.clear();
    a = join("a");
    b = join("b");
  }

  private Cluster join(String node) {
    return Cluster.join(app, network, options -> options.withNode(node).withPartitions(8)
        .withSettleTime(Duration.ofMillis(300)).withScope(scope));
  }

  @AfterEach
  void close() {
    scope.close(); // first, so that no home waits for another one to take its parts
    a.close();
    b.close();
  }

  private void handle(Cluster node, Order order, ActorContext<Order> context) {
    switch (order) {
      case Note note -> noted.add(note.tenant() + " by " + Tenant.here());
      case Who who -> context.reply(who, Tenant.here() + " " + Local.VALUE.get());
      case Through through -> context.reply(through,
          node.entities(through.kind(), Order.class).actor("next").ask(new Who()));
    }
  }

  private void offer(Cluster node) {
    node.expose("orders", Order.class, scope.anonymous()
        .newActor((Order order, ActorContext<Order> context) -> handle(node, order, context)));
  }

  private Entities<String, Order> host(Cluster node, String kind) {
    return node.host(kind, Order.class, scope.anonymous(), LONG, (how, key) -> how
        .newActor((Order order, ActorContext<Order> context) -> handle(node, order, context)));
  }

  @Test
  void requestFindsTheTenantOfItsAsker() {
    offer(a);
    var far = b.actor("orders", Order.class);

    Tenant.with("acme", () -> {
      assertEquals("acme null", far.ask(new Who()));
      assertEquals("acme null", far.ask(new Who(), Patience.LONG));
      assertEquals("acme null", far.sendMessageReturn(new Who()).join());
    });
    Tenant.with("größe\n=&%+ 1", () -> assertEquals("größe\n=&%+ 1 null", far.ask(new Who())));

    assertEquals("nobody null", far.ask(new Who()));
  }

  @Test
  void propagatorWithoutTextsDoesNotCrossNodes() {
    offer(a);
    Local.VALUE.set("here");
    try {
      assertEquals("nobody null", b.actor("orders", Order.class).ask(new Who()));
    } finally {
      Local.VALUE.remove();
    }
  }

  @Test
  void requestFromEntityKeepsTenantOfOriginalAsker() {
    host(a, "first");
    host(b, "second");

    Tenant.with("acme", () -> {
      for (int i = 0; i < 10; i++)
        assertEquals("acme null", b.entities("first", Order.class).actor("f" + i).ask(new Through("second")));
    });
  }

  /** They leave in bundles, in which each keeps its own. */
  @Test
  void eachMessageFindsTheTenantOfItsSender() throws Exception {
    host(a, "order");
    var orders = b.entities("order", Order.class);
    int all = 4_000;
    try (var senders = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int t = 0; t < 4; t++) {
        String tenant = t == 0 ? "nobody" : "tenant " + t;
        Runnable sends = () -> {
          for (int i = 0; i < all / 4; i++) orders.actor("o" + i % 5).sendMessage(new Note(tenant));
        };
        senders.execute(t == 0 ? sends : () -> Tenant.with(tenant, sends::run));
      }
    }
    Patience.eventually(() -> noted.size() == all);

    var wrong = noted.stream().filter(one -> !one.substring(0, one.indexOf(" by ")).equals(
        one.substring(one.indexOf(" by ") + 4))).toList();
    assertEquals(List.of(), wrong);
  }

  @Test
  void timerSendsTheTenantOfItsStart() {
    offer(a);
    var far = b.actor("orders", Order.class);

    Tenant.with("acme", () -> far.sendMessageLater(new Note("acme"), Duration.ofMillis(10)));

    Patience.eventually(() -> List.copyOf(noted).equals(List.of("acme by acme")));
  }

  @Test
  void newsFindTheTenantOfTheirPublisher() {
    var read = new ConcurrentLinkedQueue<String>();
    Actor<Note> reader = scope.anonymous().newActor(note -> read.add(Tenant.here()));
    a.topic("news", Note.class).subscribe(reader);

    Tenant.with("acme", () -> b.topic("news", Note.class).publish(new Note("acme")));
    b.topic("news", Note.class).publish(new Note("nobody"));

    Patience.eventually(() -> List.copyOf(read).equals(List.of("acme", "nobody")));
  }

  @Test
  void storedMessageFindsTenantOfItsSender() {
    a.host(KEPT, scope.anonymous(), LONG);
    var kept = b.entities(KEPT);

    Tenant.with("acme", () -> assertTrue(kept.actor("k").sendMessage(new Note("acme"))));
    assertTrue(kept.actor("k").sendMessage(new Note("nobody")));

    Patience.eventually(() -> List.copyOf(NOTED).equals(List.of("acme by acme", "nobody by nobody")));
  }

  /** Requests that a node holds for the next one, and that it passes on, keep it. */
  @Test
  void handedOverRequestsKeepTheirTenants() throws Exception {
    host(a, "order");
    var orders = b.entities("order", Order.class);
    var end = new AtomicBoolean();
    var seen = new HashMap<String, Integer>();
    try (var askers = Executors.newVirtualThreadPerTaskExecutor()) {
      Callable<Map<String, Integer>> asks = () -> {
        var own = new HashMap<String, Integer>();
        for (int i = 0; !end.get(); i++) {
          String key = "o" + i % 50;
          Tenant.with("acme", () -> own.merge(orders.actor(key).ask(new Who(), Patience.LONG), 1, Integer::sum));
        }
        return own;
      };
      var both = List.of(askers.submit(asks), askers.submit(asks));
      for (int i = 0; i < 3; i++) {
        var there = host(b, "order");
        Patience.eventually(() -> b.health().partitions().getOrDefault("order", 0) > 0);
        there.close();
      }
      end.set(true);
      for (var one : both) one.get().forEach((answer, times) -> seen.merge(answer, times, Integer::sum));
    }

    assertEquals(List.of("acme null"), List.copyOf(seen.keySet()));
  }

  @Test
  void textThatIsTooLongIsLeftOut() {
    offer(a);
    try (var logged = new Logged()) {
      Tenant.with("x".repeat(3_000), () -> {
        for (int i = 0; i < 100; i++) assertEquals("nobody null", b.actor("orders", Order.class).ask(new Who()));
      });

      assertTrue(logged.text().contains("for a message to actor 'orders' is left out"), logged::text);
    }
  }
}
