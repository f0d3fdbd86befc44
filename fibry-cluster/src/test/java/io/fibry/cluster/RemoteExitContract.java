package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Done;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The end of an actor, as those know it who are on other nodes. */
abstract class RemoteExitContract {
  record Ping() implements Request<Ping, String> {}

  /** Answered when the actor is watched. */
  private record Watch(Actor<?> actor) implements Request<Watch, Done> {}

  private final String app;
  private final TestNetwork network;
  private final ActorScope scope = ActorSystem.openScope("absence-test");
  private final Cluster a;
  private final Cluster b;

  RemoteExitContract(String app, TestNetwork network) {
    this.app = app;
    this.network = network;
    a = join("a");
    b = join("b");
  }

  private Cluster join(String node) {
    return Cluster.join(app, network, options -> options.withNode(node));
  }

  @AfterEach
  void close() {
    b.close();
    a.close();
    scope.close();
  }

  private Actor<Ping> till() {
    return scope.anonymous().onFailure(FailurePolicy.stop().withoutLog())
        .newActor((Ping ping, ActorContext<Ping> context) -> {
          throw new IllegalStateException("made up, for a test");
        });
  }

  /** That the other node has heard of it. */
  private Exitable offered(Actor<Ping> till) {
    var offer = a.expose("till", Ping.class, till);
    Patience.eventually(() -> b.members().stream().anyMatch(one -> one.offers().contains("till")));
    return offer;
  }

  private static ExitReason value(CompletableFuture<ExitReason> end) {
    return Patience.value(end);
  }

  private static String lost(ExitReason reason) {
    return assertInstanceOf(TransportException.class, ((ExitReason.Failed) reason).cause()).getMessage();
  }

  @Test
  void remoteWatcherGetsExitReason() {
    var told = new CompletableFuture<ExitReason>();
    Actor<Object> watcher = scope.anonymous().newActor((Object message, ActorContext<Object> context) -> {
      if (message instanceof Watch watch) {
        context.watch(watch.actor(), reason -> reason);
        context.reply(watch, Done.DONE);
      } else told.complete((ExitReason) message);
    });
    var till = till();
    offered(till);
    watcher.ask(new Watch(b.actor("till", Ping.class)));

    till.close();

    assertEquals(new ExitReason.Finished(), value(told));
  }

  @Test
  void remoteWatcherGetsEachKindOfExitReason() {
    var killed = till();
    offered(killed);
    var end = b.actor("till", Ping.class).onExit();
    killed.kill();
    assertEquals(new ExitReason.Killed(), value(end));

    var failing = till();
    offered(failing);
    end = b.actor("till", Ping.class).onExit();
    failing.sendMessage(new Ping());
    assertEquals("Failed: java.lang.IllegalStateException: made up, for a test",
        ((ExitReason.Failed) value(end)).cause().getMessage());

    var offer = offered(till());
    end = b.actor("till", Ping.class).onExit();
    offer.close();
    assertEquals(new ExitReason.Stopped(), value(end));
  }

  @Test
  void nameExposedByNoNodeHasEnded() {
    assertEquals("no node offers an actor 'till'", lost(value(b.actor("till", Ping.class).onExit())));
    Patience.ended(b.actor("till", Ping.class)::waitForExit);
  }

  @Test
  void justExposedActorHasNotEnded() {
    for (int i = 0; i < 50; i++) {
      a.expose("till" + i, Ping.class, till());
      assertFalse(b.actor("till" + i, Ping.class).waitForExit(Duration.ofMillis(i % 10)));
    }
  }

  @Test
  void actorsEndWhenTheirNodeCrashes() {
    offered(till());
    var end = b.actor("till", Ping.class).onExit();

    network.end(a);

    assertEquals("node 'a', which had actor 'till', is gone", lost(value(end)));
  }

  @Test
  void aNodeThatLeavesIsGone() {
    offered(till());
    var end = b.actor("till", Ping.class).onExit();

    a.close();

    assertEquals("node 'a', which had actor 'till', is gone", lost(value(end)));
  }

  @Test
  void nameHasNotEndedWhileAnotherNodeExposesIt() {
    var first = till();
    var second = till();
    a.expose("till", Ping.class, first);
    b.expose("till", Ping.class, second);
    try (var c = join("c")) {
      Patience.eventually(() -> offering(c) == 2);
      var end = c.actor("till", Ping.class).onExit();
      first.close();
      Patience.eventually(() -> offering(c) == 1);
      assertFalse(end.isDone());
      second.kill();
      assertEquals(new ExitReason.Killed(), value(end));
    }
  }

  /** The limit passes by the clock of the node that waits, and not before. */
  @Test
  void waitForExitIsTimedByNodeClock() {
    offered(till());
    var clock = new ManualScheduler();
    try (ActorScope timed = ActorSystem.openScope("absence-timed", options -> options.withScheduler(clock));
        var c = Cluster.join(app, network, options -> options.withNode("c").withScope(timed))) {
      var ended = new CompletableFuture<Boolean>();
      var till = c.actor("till", Ping.class);
      till.onExit(); // from here on it asks no server
      var limit = Duration.ofSeconds(1); // less than a lease, after which the other node would count as lost
      var waiter = Thread.startVirtualThread(() -> ended.complete(till.waitForExit(limit)));
      Patience.eventually(() -> waiter.getState() == Thread.State.WAITING);
      assertFalse(ended.isDone());

      clock.advance(limit);

      assertFalse(Patience.value(ended));
    }
  }

  private static long offering(Cluster node) {
    return node.members().stream().filter(one -> one.offers().contains("till")).count();
  }

  /** Code that is told of the end runs before all that the node does at that end. */
  @Test
  void reexposedNameHasNotEnded() {
    var first = till();
    var second = till();
    offered(first);
    var next = b.actor("till", Ping.class).onExit().thenApply(reason -> {
      offered(second);
      return b.actor("till", Ping.class).onExit();
    });

    first.kill();

    var end = Patience.value(next);
    second.close();
    assertEquals(new ExitReason.Finished(), value(end));
  }

  @Test
  void watcherIsNotifiedWhenItsNodeLeaves() {
    offered(till());
    var end = b.actor("till", Ping.class).onExit();

    b.close();

    assertEquals("this node has left its app", lost(value(end)));
  }

  @Test
  void anInterruptEndsTheWait() {
    a.expose("till", Ping.class, till());

    Thread.currentThread().interrupt();

    assertThrows(CancellationException.class, () -> b.actor("till", Ping.class).waitForExit());
    assertTrue(Thread.interrupted());
  }

  @Test
  void watchingEntityForExitIsRefused() {
    var entity = b.entities("account", Ping.class).actor("ada");

    var failure = assertThrows(UnsupportedOperationException.class, entity::onExit);
    assertEquals(
        "actor 'account/ada' may be on another node: an entity sleeps, and does not end; do it where the actor "
            + "lives",
        failure.getMessage());
  }
}
