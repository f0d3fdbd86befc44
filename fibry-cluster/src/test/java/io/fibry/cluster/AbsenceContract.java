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
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The end of an actor, as those know it who are on other nodes. */
abstract class AbsenceContract {
  record Ping() implements Request<Ping, String> {}

  private final String app;
  private final Network network;
  private final ActorScope scope = ActorSystem.openScope("absence-test");
  private final Engine cut;
  private final Cluster a;
  private final Cluster b;

  AbsenceContract(String app, Network network) {
    this.app = app;
    this.network = network;
    this.cut = network.connect(app, "a");
    a = join("a", (same, node) -> cut);
    b = join("b", network);
  }

  private Cluster join(String node, Network by) {
    return Cluster.join(app, by, options -> options.withNode(node).withLease(Duration.ofSeconds(3)));
  }

  @AfterEach
  void close() {
    b.close();
    try {
      a.close();
    } catch (LostException wasCut) {}
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
    var offer = a.offer("till", Ping.class, till);
    Soon.becomesTrue(() -> b.members().stream().anyMatch(one -> one.offers().contains("till")));
    return offer;
  }

  private static ExitReason value(CompletableFuture<ExitReason> end) throws Exception {
    return end.get(30, TimeUnit.SECONDS);
  }

  private static String lost(ExitReason reason) {
    return assertInstanceOf(LostException.class, ((ExitReason.Failed) reason).cause()).getMessage();
  }

  @Test
  void whoWatchesFromAfarIsToldTheReason() throws Exception {
    var told = new CompletableFuture<ExitReason>();
    Actor<Object> watcher = scope.anonymous().newActor((Object message, ActorContext<Object> context) -> {
      if (message instanceof ExitReason reason) told.complete(reason);
      else context.watch((Actor<?>) message, reason -> reason);
    });
    var till = till();
    offered(till);
    watcher.sendMessage(b.actor("till", Ping.class));
    assertFalse(b.actor("till", Ping.class).waitForExit(Duration.ofMillis(50)));

    till.close();

    assertEquals(new ExitReason.Finished(), value(told));
  }

  @Test
  void eachReasonIsTold() throws Exception {
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
  void whatNobodyOffersHasEnded() throws Exception {
    assertEquals("no node offers an actor 'till'", lost(value(b.actor("till", Ping.class).onExit())));
    assertTrue(b.actor("till", Ping.class).waitForExit(Duration.ofSeconds(20)));
  }

  @Test
  void whatWasOfferedJustNowHasNotEnded() {
    for (int i = 0; i < 50; i++) {
      a.offer("till" + i, Ping.class, till());
      assertFalse(b.actor("till" + i, Ping.class).waitForExit(Duration.ofMillis(i % 10)));
    }
  }

  @Test
  void theEndOfANodeIsThatOfItsActors() throws Exception {
    offered(till());
    var end = b.actor("till", Ping.class).onExit();

    cut.close();

    assertEquals("node 'a', which had actor 'till', is gone", lost(value(end)));
  }

  @Test
  void aNodeThatLeavesIsGone() throws Exception {
    offered(till());
    var end = b.actor("till", Ping.class).onExit();

    a.close();

    assertEquals("node 'a', which had actor 'till', is gone", lost(value(end)));
  }

  @Test
  void asLongAsANodeOffersItTheNameHasNotEnded() throws Exception {
    var first = till();
    var second = till();
    a.offer("till", Ping.class, first);
    b.offer("till", Ping.class, second);
    try (var c = join("c", network)) {
      Soon.becomesTrue(() -> c.members().stream().filter(one -> one.offers().contains("till")).count() == 2);
      var end = c.actor("till", Ping.class).onExit();
      first.close();
      assertFalse(c.actor("till", Ping.class).waitForExit(Duration.ofMillis(300)));
      assertFalse(end.isDone());
      second.kill();
      assertEquals(new ExitReason.Killed(), value(end));
    }
  }

  /** Code that is told of the end runs before all that the node does at that end. */
  @Test
  void aNameThatIsOfferedAgainHasNotEnded() throws Exception {
    var first = till();
    var second = till();
    offered(first);
    var next = b.actor("till", Ping.class).onExit().thenApply(reason -> {
      offered(second);
      return b.actor("till", Ping.class).onExit();
    });

    first.kill();

    var end = next.get(30, TimeUnit.SECONDS);
    second.close();
    assertEquals(new ExitReason.Finished(), value(end));
  }

  @Test
  void whoWatchesAndLeavesIsTold() throws Exception {
    a.offer("till", Ping.class, till());
    var end = b.actor("till", Ping.class).onExit();
    assertFalse(b.actor("till", Ping.class).waitForExit(Duration.ofMillis(50)));

    b.close();

    assertEquals("this node has left its app", lost(value(end)));
  }

  @Test
  void anInterruptEndsTheWait() {
    a.offer("till", Ping.class, till());

    Thread.currentThread().interrupt();

    assertThrows(CancellationException.class, () -> b.actor("till", Ping.class).waitForExit());
    assertTrue(Thread.interrupted());
  }

  @Test
  void anEntitySleepsAndDoesNotEnd() {
    var entity = b.entities("account", Ping.class).actor("ada");

    var failure = assertThrows(UnsupportedOperationException.class, entity::onExit);
    assertEquals(
        "actor 'account/ada' may be on another node: an entity sleeps, and does not end; do it where the actor "
            + "lives",
        failure.getMessage());
  }
}
