package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.pool.Entities;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A virtual machine is suspended until others have its keys, and resumes with both of its clocks
 * where they were: its node believes in its lease. Askers that the next owner has answered tell it.
 */
class SuspendedNodeTest {
  record Where() implements Request<Where, String> {}

  record Slow() implements Request<Slow, String> {}

  private static final Duration LEASE = Duration.ofSeconds(5);
  private static final Duration LONG = Duration.ofHours(1);
  private static final Duration TICK = Duration.ofMillis(500);

  private final ManualScheduler clock = new ManualScheduler();
  private final ManualScheduler clockOfA = new ManualScheduler();
  private final MemoryNetwork network = MemoryNetwork.create(clock);
  private final ActorScope scope = ActorSystem.openScope("running", options -> options.withScheduler(clock));
  private final ActorScope scopeOfA = ActorSystem.openScope("suspended", options -> options.withScheduler(clockOfA));
  private final List<String> handled = new CopyOnWriteArrayList<>(); // by which node
  private final Queue<Runnable> messages = new ConcurrentLinkedQueue<>(); // in the socket of node a
  private final Queue<Runnable> news = new ConcurrentLinkedQueue<>(); // from the table to node a
  private final CompletableFuture<String> answerOfB = new CompletableFuture<>();
  private volatile boolean buffered; // messages to node a wait meanwhile, and are not lost
  private volatile boolean suspended; // node a; messages to it meanwhile are lost

  @AfterEach
  void close() {
    scope.close();
    scopeOfA.close();
  }

  private ClusterTransport machineOfA(ClusterTransport engine) {
    return Intercepted.of(ClusterTransport.class, engine, (method, arguments, call) -> {
      if (method.getName().equals("subscribe") || method.getName().equals("watch")) {
        @SuppressWarnings("unchecked") var reader = (Consumer<Object>) arguments[arguments.length - 1];
        arguments[arguments.length - 1] = (Consumer<Object>) one -> {
          if (!suspended) reader.accept(one);
          else if (one instanceof ClusterTransport.Entry) news.add(() -> reader.accept(one));
          else if (buffered) messages.add(() -> reader.accept(one));
        };
      }
      return call.pass();
    });
  }

  private Cluster join(String node, ClusterNetwork of, ActorScope in, ManualScheduler time) {
    return Cluster.join("bank", of, options -> options.withNode(node).withLease(LEASE).withPartitions(8).withScope(in)
        .withWallClock(() -> Instant.EPOCH.plusNanos(time.nanoTime())));
  }

  private Entities<String, Where> home(Cluster node, ActorScope in) {
    String name = node.self().name();
    return node.host("place", Where.class, in.anonymous(), Duration.ofMinutes(5), (builder, key) -> builder
        .newActor((Where where, ActorContext<Where> context) -> {
          handled.add(name);
          context.reply(where, name);
        }));
  }

  private void pass(Duration time) {
    for (var left = time; left.isPositive(); left = left.minus(TICK)) {
      clock.advance(TICK);
      if (!suspended) clockOfA.advance(TICK);
      assertTrue(ActorSystem.root().awaitQuiescence(Patience.LONG));
    }
  }

  private static String askAll(Entities<String, Where> places, String owner) {
    String own = "";
    for (int i = 0; i < 20; i++) if (Patience.value(places.actor("k" + i).sendMessageReturn(new Where())).equals(owner))
      own = "k" + i;
    return own;
  }

  @Test
  void resumedNodeHandlesNoRequestForNextOwner() {
    var a = join("a", (app, node) -> machineOfA(network.connect(app, node)), scopeOfA, clockOfA);
    home(a, scopeOfA);
    home(join("b", network, scope, clock), scope);
    var places = join("asking", network, scope, clock).entities("place", Where.class);
    pass(Duration.ofSeconds(10));
    var place = places.actor(askAll(places, "a"));

    suspended = true;
    pass(LEASE.plusSeconds(3));
    assertEquals("b", Patience.value(place.sendMessageReturn(new Where())));
    suspended = false;
    handled.clear();
    assertTrue(a.health().isAlive());

    for (int i = 0; i < 10; i++) assertEquals("b", Patience.value(place.sendMessageReturn(new Where())));
    assertTrue(ActorSystem.root().awaitQuiescence(Patience.LONG));
    assertEquals(List.of("b"), handled.stream().distinct().toList());
    clockOfA.advance(TICK); // it asks the table
    assertTrue(ActorSystem.root().awaitQuiescence(Patience.LONG));
    assertEquals("b", Patience.value(place.sendMessageReturn(new Where())));
    assertEquals(11, handled.size());
  }

  private Entities<String, Slow> slowHome(Cluster node, ActorScope in) {
    String name = node.self().name();
    return node.host("slow", Slow.class, in.anonymous(), Duration.ofMinutes(5), (builder, key) -> builder
        .newActor((Slow slow, ActorContext<Slow> context) -> {
          if (name.equals("a")) new CountDownLatch(1).await(); // until it is killed
          context.replyWhen(slow, answerOfB);
        }));
  }

  private static void comeIn(Queue<Runnable> socket) {
    for (var next = socket.poll(); next != null; next = socket.poll()) next.run();
  }

  /** Both nodes get the requests; the one that resumes ends before it has begun the second ones. */
  @Test
  void resumedNodeDoesNotDeclareMovedRequestNotDone() {
    var a = join("a", (app, node) -> machineOfA(network.connect(app, node)), scopeOfA, clockOfA);
    slowHome(a, scopeOfA);
    slowHome(join("b", network, scope, clock), scope);
    pass(Duration.ofSeconds(10));
    int before = a.health().partitions().get("slow");
    suspended = true;
    pass(LEASE.plusSeconds(3));
    buffered = true;
    var places = join("asking", network, scope, clock).entities("slow", Slow.class);
    var answers = IntStream.range(0, 40).mapToObj(i -> places.actor("k" + i % 20).sendMessageReturn(new Slow(), LONG))
        .toList();
    assertTrue(ActorSystem.root().awaitQuiescence(Patience.LONG));
    suspended = false;

    comeIn(messages);
    Patience.eventually(() -> a.health().pendingRequests() >= 2);
    comeIn(news);
    Patience.eventually(() -> a.health().pendingRequests() == 0);
    answerOfB.complete("b");

    assertTrue(before > 0);
    for (var answer : answers) assertEquals("b", Patience.value(answer));
  }
}
