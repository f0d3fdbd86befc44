package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.Places.Where;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.pool.Entities;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
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
 * Tests a node whose virtual machine is suspended until other nodes own its keys. When it resumes,
 * both its clocks show the old time, so the node considers its lease valid. The resumed node learns
 * of the next owner by requests, because their asker already has an answer of the next owner.
 */
class SuspendedNodeTest {
  record Slow() implements Request<Slow, String> {}

  private static final Duration LEASE = Duration.ofSeconds(5);
  private static final Duration ASK_LIMIT = Duration.ofHours(1);
  private static final Duration TICK = Duration.ofMillis(500);

  private final ManualScheduler clock = new ManualScheduler();
  private final ManualScheduler clockOfA = new ManualScheduler();
  private final MemoryNetwork network = MemoryNetwork.create(clock);
  private final ActorScope scope = ActorSystem.openScope("running", options -> options.withScheduler(clock));
  private final ActorScope scopeOfA = ActorSystem.openScope("suspended", options -> options.withScheduler(clockOfA));
  private final List<String> handled = new CopyOnWriteArrayList<>(); // names of the nodes that handled a request
  private final Queue<Runnable> messages = new ConcurrentLinkedQueue<>(); // sent to node a, not yet read
  private final Queue<Runnable> tableChanges = new ConcurrentLinkedQueue<>(); // not yet read by node a
  private final CompletableFuture<String> answerOfB = new CompletableFuture<>();
  private volatile boolean buffered; // true: messages to the suspended node a arrive later; false: they are lost
  private volatile boolean suspended; // node a is suspended

  @AfterEach
  void close() {
    scope.close();
    scopeOfA.close();
  }

  private ClusterTransport transportOfA(ClusterTransport transport) {
    return Intercepted.of(ClusterTransport.class, transport, (method, arguments, call) -> {
      if (method.getName().equals("subscribe") || method.getName().equals("watch")) {
        @SuppressWarnings("unchecked") var reader = (Consumer<Object>) arguments[arguments.length - 1];
        arguments[arguments.length - 1] = (Consumer<Object>) item -> {
          if (!suspended) reader.accept(item);
          else if (item instanceof ClusterTransport.Entry) tableChanges.add(() -> reader.accept(item));
          else if (buffered) messages.add(() -> reader.accept(item));
        };
      }
      return call.pass();
    });
  }

  private Cluster join(String node, ClusterNetwork nodeNetwork, ActorScope nodeScope, ManualScheduler nodeClock) {
    return Cluster.join("bank", nodeNetwork, options -> options.withNode(node).withLease(LEASE).withPartitions(8)
        .withScope(nodeScope));
  }

  private void passTime(Duration time) {
    for (var remaining = time; remaining.isPositive(); remaining = remaining.minus(TICK)) {
      clock.advance(TICK);
      if (!suspended) clockOfA.advance(TICK);
      assertTrue(ActorSystem.root().awaitQuiescence(Patience.LONG));
    }
  }

  private static String askAllAndReturnKeyOf(Entities<String, Where> places, String owner) {
    String lastKey = "";
    for (int i = 0; i < 20; i++) if (Patience.value(places.actor("k" + i).sendMessageReturn(new Where())).equals(owner))
      lastKey = "k" + i;
    return lastKey;
  }

  @Test
  void resumedNodeHandlesNoRequestMeantForNextOwner() {
    var a = join("a", (app, node) -> transportOfA(network.connect(app, node)), scopeOfA, clockOfA);
    Places.host(a, scopeOfA, handled::add);
    Places.host(join("b", network, scope, clock), scope, handled::add);
    var places = join("asking", network, scope, clock).entities("place", Where.class);
    passTime(Duration.ofSeconds(10));
    var place = places.actor(askAllAndReturnKeyOf(places, "a"));

    suspended = true;
    passTime(LEASE.plusSeconds(3));
    assertEquals("b", Patience.value(place.sendMessageReturn(new Where())));
    suspended = false;
    handled.clear();
    assertTrue(a.health().isAlive());

    for (int i = 0; i < 10; i++) assertEquals("b", Patience.value(place.sendMessageReturn(new Where())));
    assertTrue(ActorSystem.root().awaitQuiescence(Patience.LONG));
    assertEquals(List.of("b"), handled.stream().distinct().toList());
    clockOfA.advance(TICK); // node a reads the table
    assertTrue(ActorSystem.root().awaitQuiescence(Patience.LONG));
    assertEquals("b", Patience.value(place.sendMessageReturn(new Where())));
    assertEquals(11, handled.size());
  }

  private Entities<String, Slow> hostSlow(Cluster node, ActorScope nodeScope) {
    String name = node.self().name();
    return node.host("slow", Slow.class, nodeScope.anonymous(), Duration.ofMinutes(5), (builder, key) -> builder
        .newActor((Slow slow, ActorContext<Slow> context) -> {
          if (name.equals("a")) new CountDownLatch(1).await(); // until it is killed
          context.replyWhen(slow, answerOfB);
        }));
  }

  private static void deliverAll(Queue<Runnable> socket) {
    for (var delivery = socket.poll(); delivery != null; delivery = socket.poll()) delivery.run();
  }

  /**
   * Both nodes get the requests. Node a begins to handle some of them before it learns of the next
   * owner.
   */
  @Test
  void resumedNodeFailsNoRequestThatNextOwnerAnswers() {
    var a = join("a", (app, node) -> transportOfA(network.connect(app, node)), scopeOfA, clockOfA);
    hostSlow(a, scopeOfA);
    hostSlow(join("b", network, scope, clock), scope);
    passTime(Duration.ofSeconds(10));
    int partitionsBefore = a.health().partitions().get("slow");
    suspended = true;
    passTime(LEASE.plusSeconds(3));
    buffered = true;
    var places = join("asking", network, scope, clock).entities("slow", Slow.class);
    var answers = IntStream.range(0, 40)
        .mapToObj(i -> places.actor("k" + i % 20).sendMessageReturn(new Slow(), ASK_LIMIT)).toList();
    assertTrue(ActorSystem.root().awaitQuiescence(Patience.LONG));
    suspended = false;

    deliverAll(messages);
    Patience.eventually(() -> a.health().pendingRequests() >= 2);
    deliverAll(tableChanges);
    Patience.eventually(() -> a.health().pendingRequests() == 0);
    answerOfB.complete("b");

    assertTrue(partitionsBefore > 0);
    for (var answer : answers) assertEquals("b", Patience.value(answer));
  }
}
