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

/** Tests how other nodes learn of the end of an actor. */
abstract class RemoteExitContract {
  record Ping() implements Request<Ping, String> {}

  /** Asks the receiver to watch an actor. */
  private record Watch(Actor<?> actor) implements Request<Watch, Done> {}

  private final String app;
  private final TestNetwork network;
  private final ActorScope scope = ActorSystem.openScope("exit-test");
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

  /** Exposes the actor, and waits until node b knows of the offer. */
  private Exitable exposeAndAwaitOffer(Actor<Ping> till) {
    var offer = a.expose("till", Ping.class, till);
    Patience.eventually(() -> b.members().stream().anyMatch(member -> member.offers().contains("till")));
    return offer;
  }

  private static ExitReason reasonOf(CompletableFuture<ExitReason> end) {
    return Patience.value(end);
  }

  private static String failureText(ExitReason reason) {
    return assertInstanceOf(TransportException.class, ((ExitReason.Failed) reason).cause()).getMessage();
  }

  @Test
  void remoteWatcherGetsExitReason() {
    var notification = new CompletableFuture<ExitReason>();
    Actor<Object> watcher = scope.anonymous().newActor((Object message, ActorContext<Object> context) -> {
      if (message instanceof Watch watch) {
        context.watch(watch.actor(), reason -> reason);
        context.reply(watch, Done.DONE);
      } else notification.complete((ExitReason) message);
    });
    var till = till();
    exposeAndAwaitOffer(till);
    watcher.ask(new Watch(b.actor("till", Ping.class)));

    till.close();

    assertEquals(new ExitReason.Finished(), reasonOf(notification));
  }

  @Test
  void onExitOfRemoteActorReturnsItsExitReason() {
    var killedTill = till();
    exposeAndAwaitOffer(killedTill);
    var end = b.actor("till", Ping.class).onExit();
    killedTill.kill();
    assertEquals(new ExitReason.Killed(), reasonOf(end));

    var failingTill = till();
    exposeAndAwaitOffer(failingTill);
    end = b.actor("till", Ping.class).onExit();
    failingTill.sendMessage(new Ping());
    assertEquals("Failed: java.lang.IllegalStateException: made up, for a test",
        ((ExitReason.Failed) reasonOf(end)).cause().getMessage());

    var offer = exposeAndAwaitOffer(till());
    end = b.actor("till", Ping.class).onExit();
    offer.close();
    assertEquals(new ExitReason.Stopped(), reasonOf(end));
  }

  @Test
  void onExitOfUnexposedNameCompletesWithReasonFailed() {
    assertEquals("no node offers an actor 'till'", failureText(reasonOf(b.actor("till", Ping.class).onExit())));
    Patience.awaitEnd(b.actor("till", Ping.class)::waitForExit);
  }

  @Test
  void waitForExitOfNewlyExposedActorReturnsFalseAtLimit() {
    for (int i = 0; i < 50; i++) {
      a.expose("till" + i, Ping.class, till());
      assertFalse(b.actor("till" + i, Ping.class).waitForExit(Duration.ofMillis(i % 10)));
    }
  }

  @Test
  void onExitCompletesWhenNodeOfActorCrashes() {
    exposeAndAwaitOffer(till());
    var end = b.actor("till", Ping.class).onExit();

    network.crash(a);

    assertEquals("node 'a', which had actor 'till', is dead or has left", failureText(reasonOf(end)));
  }

  @Test
  void onExitCompletesWhenNodeOfActorLeaves() {
    exposeAndAwaitOffer(till());
    var end = b.actor("till", Ping.class).onExit();

    a.close();

    assertEquals("node 'a', which had actor 'till', is dead or has left", failureText(reasonOf(end)));
  }

  @Test
  void onExitWaitsWhileAnotherNodeExposesName() {
    var firstTill = till();
    var secondTill = till();
    a.expose("till", Ping.class, firstTill);
    b.expose("till", Ping.class, secondTill);
    try (var c = join("c")) {
      Patience.eventually(() -> countOffers(c) == 2);
      var end = c.actor("till", Ping.class).onExit();
      firstTill.close();
      Patience.eventually(() -> countOffers(c) == 1);
      assertFalse(end.isDone());
      secondTill.kill();
      assertEquals(new ExitReason.Killed(), reasonOf(end));
    }
  }

  /** The wait ends when the clock of the waiting node reaches the limit, and not before. */
  @Test
  void waitForExitReturnsFalseWhenLimitPassesOnScopeClock() {
    exposeAndAwaitOffer(till());
    var clock = new ManualScheduler();
    try (ActorScope timedScope = ActorSystem.openScope("timed-test", options -> options.withScheduler(clock));
        var c = Cluster.join(app, network, options -> options.withNode("c").withScope(timedScope))) {
      var result = new CompletableFuture<Boolean>();
      var till = c.actor("till", Ping.class);
      till.onExit(); // the first call for an actor asks a server; later calls do not
      var limit = Duration.ofSeconds(1); // less than a lease, after which the other node would be considered dead
      var waiter = Patience.startFiber(() -> till.waitForExit(limit), result);
      Patience.eventually(() -> waiter.getState() == Thread.State.WAITING);
      assertFalse(result.isDone());

      clock.advance(limit);

      assertFalse(Patience.value(result));
    }
  }

  private static long countOffers(Cluster node) {
    return node.members().stream().filter(member -> member.offers().contains("till")).count();
  }

  /** A callback exposes the name again, perhaps before node b has done all work for the exit. */
  @Test
  void onExitWaitsForNextActorWhenNameIsExposedAgain() {
    var firstTill = till();
    var secondTill = till();
    exposeAndAwaitOffer(firstTill);
    var nextExit = b.actor("till", Ping.class).onExit().thenApply(reason -> {
      exposeAndAwaitOffer(secondTill);
      return b.actor("till", Ping.class).onExit();
    });

    firstTill.kill();

    var end = Patience.value(nextExit);
    secondTill.close();
    assertEquals(new ExitReason.Finished(), reasonOf(end));
  }

  @Test
  void onExitCompletesWhenNodeOfCallerLeaves() {
    exposeAndAwaitOffer(till());
    var end = b.actor("till", Ping.class).onExit();

    b.close();

    assertEquals("this node has left its app", failureText(reasonOf(end)));
  }

  @Test
  void interruptEndsWaitForExit() {
    a.expose("till", Ping.class, till());

    Thread.currentThread().interrupt();

    assertThrows(CancellationException.class, () -> b.actor("till", Ping.class).waitForExit());
    assertTrue(Thread.interrupted());
  }

  @Test
  void watchingEntityForExitIsRefused() {
    var entity = b.entities("account", Ping.class).actor("ada");

    var failure = assertThrows(UnsupportedOperationException.class, entity::onExit);
    assertEquals("entity 'account/ada' has no exit: it is passivated and loaded again", failure.getMessage());
  }
}
