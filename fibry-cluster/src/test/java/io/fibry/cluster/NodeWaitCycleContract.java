package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskCycleException;
import io.fibry.Request;
import io.fibry.pool.Entities;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that a wait cycle of actors on several nodes is detected. */
abstract class NodeWaitCycleContract {
  /** The receiver asks the first actor of the path, and sends it the rest of the path. */
  record Walk(List<String> path) implements Request<Walk, String> {
    Walk(String... path) {
      this(List.of(path));
    }

    Walk tail() {
      return new Walk(path.subList(1, path.size()));
    }
  }

  private final String app;
  private final TestNetwork network;
  private final ActorScope scope = ActorSystem.openScope("cycle-test");
  private final CompletableFuture<AskCycleException> detectedCycle = new CompletableFuture<>();
  private final Cluster a;
  private final Cluster b;
  private final Cluster c;
  private final ActorBuilder<Object> localBuilder = scope.named("between");
  private Actor<Walk> localActor;

  NodeWaitCycleContract(String app, TestNetwork network) {
    this.app = app;
    this.network = network;
    a = join("a");
    b = join("b");
    c = join("c");
  }

  private Cluster join(String node) {
    return Cluster.join(app, network, options -> options.withNode(node).withPartitions(4).withScope(scope));
  }

  @AfterEach
  void close() {
    scope.close(); // first, so that no node waits for another node to take its partitions
    a.close();
    b.close();
    c.close();
  }

  // ---- actors

  private void expose(Cluster node, String name) {
    expose(node, name, scope.anonymous());
  }

  private void expose(Cluster node, String name, ActorBuilder<Object> builder) {
    node.expose(name, Walk.class, builder.<Walk>newActor((walk, context) -> forward(node, walk, context)));
  }

  private void forward(Cluster node, Walk walk, ActorContext<Walk> context) {
    if (walk.path().isEmpty()) context.reply(walk, "there");
    else try {
      context.reply(walk, nextActor(node, walk).ask(walk.tail()));
    } catch (AskCycleException failure) {
      detectedCycle.complete(failure);
      throw failure;
    }
  }

  private Actor<Walk> nextActor(Cluster node, Walk walk) {
    String target = walk.path().getFirst();
    if (target.equals("between")) return localActor;
    int slash = target.indexOf('/');
    return slash < 0 ? node.actor(target, Walk.class)
        : node.entities(target.substring(0, slash), Walk.class).actor(target.substring(slash + 1));
  }

  private Entities<String, Walk> host(Cluster node, String kind) {
    return node.host(kind, Walk.class, scope.anonymous(), Duration.ofMinutes(1),
        (builder, key) -> builder.newActor((Walk walk, ActorContext<Walk> context) -> forward(node, walk, context)));
  }

  // ---- cycles

  @Test
  void cycleOverThreeNodesIsDetectedAtOnce() {
    expose(a, "first");
    expose(b, "second");
    expose(c, "third");

    var failure = assertThrows(AskCycleException.class,
        () -> c.actor("first", Walk.class).ask(new Walk("second", "third", "first")));

    assertEquals(List.of("first", "second", "third", "first"), failure.cycle());
    assertEquals("this wait could never end: 'first' waits for 'second', 'second' waits for 'third', 'third' waits for "
        + "'first'. Send without waiting, or answer with replyWhen", failure.getMessage());
    assertEquals("there", a.actor("third", Walk.class).ask(new Walk("first", "second"))); // no cycle
  }

  @Test
  void cycleExceptionNamesOnlyCycleMembers() {
    expose(a, "first");
    expose(b, "second");
    expose(c, "third");

    var failure = assertThrows(AskCycleException.class,
        () -> a.actor("first", Walk.class).ask(new Walk("second", "third", "second")));

    assertEquals(List.of("second", "third", "second"), failure.cycle());
  }

  @Test
  void cycleOfEntitiesStartedByOneWayMessageIsDetected() {
    var entities = host(a, "some");
    host(b, "other");
    assertEquals("there", entities.actor("x").ask(new Walk("other/y")));

    entities.actor("x").sendMessage(new Walk("other/y", "some/x"));

    assertEquals(List.of("some/x", "other/y", "some/x"), Patience.value(detectedCycle).cycle());
  }

  @Test
  void entityThatAsksItselfGetsCycleException() {
    var entities = host(a, "some");

    assertThrows(AskCycleException.class, () -> entities.actor("x").ask(new Walk("some/x")));
    assertEquals("there", entities.actor("x").ask(new Walk("some/y")));
  }

  @Test
  void cycleThroughLocalActorIsDetected() {
    localActor = localBuilder.<Walk>newActor((walk, context) -> forward(a, walk, context));
    expose(a, "first");
    expose(b, "second");

    var failure = assertThrows(AskCycleException.class,
        () -> c.actor("first", Walk.class).ask(new Walk("between", "second", "first")));

    assertEquals(List.of("first", "second", "first"), failure.cycle());
  }

  @Test
  void cycleThroughPoolWithFreeWorkerIsNotReported() {
    expose(a, "first", Pools.fixed(scope.anonymous(), 2));
    expose(b, "second");

    assertEquals("there", c.actor("first", Walk.class).ask(new Walk("second", "first")));
    var failure = assertThrows(AskCycleException.class,
        () -> c.actor("second", Walk.class).ask(new Walk("first", "second")));
    assertEquals(List.of("second", "second"), failure.cycle());
  }

  @Test
  void actorWithDeferredReplyIsNotReportedAsPartOfCycle() {
    a.expose("first", Walk.class, scope.anonymous().<Walk>newActor((walk, context) -> {
      if (walk.path().isEmpty()) context.reply(walk, "there");
      else context.replyWhen(walk, nextActor(a, walk).sendMessageReturn(walk.tail()));
    }));
    expose(b, "second");

    assertEquals("there", c.actor("first", Walk.class).ask(new Walk("second", "first")));
  }
}
