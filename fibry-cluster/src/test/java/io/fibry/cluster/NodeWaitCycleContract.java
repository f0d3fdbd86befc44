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
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Actors of several nodes that wait for each other. */
abstract class NodeWaitCycleContract {
  /** The actor that gets it asks the first of these with the others. */
  record Walk(List<String> path) implements Request<Walk, String> {
    Walk(String... path) {
      this(List.of(path));
    }

    Walk rest() {
      return new Walk(path.subList(1, path.size()));
    }
  }

  private final String app;
  private final TestNetwork network;
  private final ActorScope scope = ActorSystem.openScope("ring-test");
  private final CompletableFuture<Throwable> failed = new CompletableFuture<>();
  private final Cluster a;
  private final Cluster b;
  private final Cluster c;
  private final ActorBuilder<Object> between = scope.named("between");
  private Actor<Walk> middle;

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
    scope.close(); // first, so that no home waits for another one to take its parts
    a.close();
    b.close();
    c.close();
  }

  // ---- actors

  private void offer(Cluster node, String name) {
    offer(node, name, scope.anonymous());
  }

  private void offer(Cluster node, String name, ActorBuilder<Object> how) {
    node.expose(name, Walk.class, how.<Walk>newActor((walk, context) -> go(node, walk, context)));
  }

  private void go(Cluster node, Walk walk, ActorContext<Walk> context) {
    if (walk.path().isEmpty()) context.reply(walk, "there");
    else try {
      context.reply(walk, next(node, walk).ask(walk.rest()));
    } catch (AskCycleException ring) {
      failed.complete(ring);
      throw ring;
    }
  }

  private Actor<Walk> next(Cluster node, Walk walk) {
    String to = walk.path().getFirst();
    if (to.equals("between")) return middle;
    int slash = to.indexOf('/');
    return slash < 0 ? node.actor(to, Walk.class)
        : node.entities(to.substring(0, slash), Walk.class).actor(to.substring(slash + 1));
  }

  private Entities<String, Walk> host(Cluster node, String kind) {
    return node.host(kind, Walk.class, scope.anonymous(), Duration.ofMinutes(1),
        (how, key) -> how.newActor((Walk walk, ActorContext<Walk> context) -> go(node, walk, context)));
  }

  // ---- rings

  @Test
  void cycleOverThreeNodesIsDetectedAtOnce() {
    offer(a, "first");
    offer(b, "second");
    offer(c, "third");

    var ring = assertThrows(AskCycleException.class,
        () -> c.actor("first", Walk.class).ask(new Walk("second", "third", "first")));

    assertEquals(List.of("first", "second", "third", "first"), ring.cycle());
    assertEquals("this wait could never end: 'first' waits for 'second', 'second' waits for 'third', 'third' waits for "
        + "'first'. Send without waiting, or answer with replyWhen", ring.getMessage());
    assertEquals("there", a.actor("third", Walk.class).ask(new Walk("first", "second"))); // the same, and no ring
  }

  @Test
  void onlyCycleMembersAreNamed() {
    offer(a, "first");
    offer(b, "second");
    offer(c, "third");

    var ring = assertThrows(AskCycleException.class,
        () -> a.actor("first", Walk.class).ask(new Walk("second", "third", "second")));

    assertEquals(List.of("second", "third", "second"), ring.cycle());
  }

  @Test
  void entityCycleBegunByMessageIsDetected() {
    var some = host(a, "some");
    host(b, "other");
    assertEquals("there", some.actor("x").ask(new Walk("other/y")));

    some.actor("x").sendMessage(new Walk("other/y", "some/x"));

    assertEquals(List.of("some/x", "other/y", "some/x"), ((AskCycleException) failed.join()).cycle());
  }

  @Test
  void remoteSelfAskIsDetected() {
    var some = host(a, "some");

    assertThrows(AskCycleException.class, () -> some.actor("x").ask(new Walk("some/x")));
    assertEquals("there", some.actor("x").ask(new Walk("some/y")));
  }

  @Test
  void cycleThroughLocalActorIsDetected() {
    middle = between.<Walk>newActor((walk, context) -> go(a, walk, context));
    offer(a, "first");
    offer(b, "second");

    var ring = assertThrows(AskCycleException.class,
        () -> c.actor("first", Walk.class).ask(new Walk("between", "second", "first")));

    assertEquals(List.of("first", "second", "first"), ring.cycle());
  }

  @Test
  void poolWithFreeWorkerIsNoCycle() {
    offer(a, "first", Pools.fixed(scope.anonymous(), 2));
    offer(b, "second");

    assertEquals("there", c.actor("first", Walk.class).ask(new Walk("second", "first")));
    var ring = assertThrows(AskCycleException.class,
        () -> c.actor("second", Walk.class).ask(new Walk("first", "second")));
    assertEquals(List.of("second", "second"), ring.cycle());
  }

  @Test
  void actorThatRepliesLaterIsInNoCycle() {
    a.expose("first", Walk.class, scope.anonymous().<Walk>newActor((walk, context) -> {
      if (walk.path().isEmpty()) context.reply(walk, "there");
      else context.replyWhen(walk, next(a, walk).sendMessageReturn(walk.rest()));
    }));
    offer(b, "second");

    assertEquals("there", c.actor("first", Walk.class).ask(new Walk("second", "first")));
  }
}
