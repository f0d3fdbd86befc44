package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.RequestOutcome;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class RemoteActorInMemoryTest extends RemoteActorContract {
  RemoteActorInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }

  @Test
  void requestWithoutLimitUsesAskLimitOfScope() {
    var clock = new ManualScheduler();
    var limit = Duration.ofSeconds(3);
    try (ActorScope scope = ActorSystem.openScope("limits", o -> o.withScheduler(clock).withAskLimit(limit));
        var node = Cluster.join("limits", MemoryNetwork.create(clock), options -> options.withScope(scope))) {
      var promiseMade = new CompletableFuture<Boolean>();
      node.expose("till", Promise.class,
          scope.anonymous().newActor((Promise promise, ActorContext<Promise> context) -> {
            context.replyWhen(promise, new CompletableFuture<>());
            promiseMade.complete(true);
          }));
      CompletableFuture<Object> answer =
          Patience.callOnFiber(() -> node.actor("till", Promise.class).ask(new Promise()));
      Patience.value(promiseMade);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      clock.advance(limit.minusMillis(100)); // the handling node times out 100 ms before the asker

      var failure = assertInstanceOf(AskTimeoutException.class, Patience.failure(answer));
      assertEquals(limit.minusMillis(100), failure.limit(), failure.getMessage());
    }
  }

  @Test
  void requestToEntityWithoutLimitUsesAskLimitOfNode() {
    var clock = new ManualScheduler();
    var limit = Duration.ofSeconds(3);
    try (ActorScope scope = ActorSystem.openScope("limits", o -> o.withScheduler(clock));
        var node = Cluster.join("limits", MemoryNetwork.create(clock),
            options -> options.withScope(scope).withAskLimit(limit))) {
      var promiseMade = new CompletableFuture<Boolean>();
      node.host("till", Promise.class, scope.anonymous(), Duration.ofMinutes(5),
          (builder, key) -> builder.newActor((Promise promise, ActorContext<Promise> context) -> {
            context.replyWhen(promise, new CompletableFuture<>());
            promiseMade.complete(true);
          }));
      var answer = node.entities("till", Promise.class).actor("a").sendMessageReturn(new Promise());
      Patience.value(promiseMade);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      clock.advance(Duration.ofMinutes(1)); // more than the default limit

      var failure = assertInstanceOf(AskTimeoutException.class, Patience.failure(answer));
      assertTrue(failure.limit().compareTo(limit) <= 0, failure.getMessage());
    }
  }

  /** The remote node reports the time-out 100 ms before the asker stops waiting. */
  @Test
  void timeoutSaysThatRemoteHandlerPromisedAnswer() {
    var clock = new ManualScheduler();
    var network = MemoryNetwork.create(clock);
    try (ActorScope scope = ActorSystem.openScope("remote-clock", options -> options.withScheduler(clock));
        var a = Cluster.join("timed", network, options -> options.withNode("a").withScope(scope));
        var b = Cluster.join("timed", network, options -> options.withNode("b").withScope(scope))) {
      var promiseMade = new CompletableFuture<Boolean>();
      a.expose("till", Promise.class, scope.anonymous().newActor((Promise promise, ActorContext<Promise> context) -> {
        context.replyWhen(promise, new CompletableFuture<>());
        promiseMade.complete(true);
      }));

      var answer = b.actor("till", Promise.class).sendMessageReturn(new Promise(), Duration.ofSeconds(2));
      Patience.value(promiseMade);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      clock.advance(Duration.ofMillis(1_900));

      var failure = assertInstanceOf(AskTimeoutException.class, Patience.failure(answer));
      assertTrue(failure.getMessage().contains("promised"), failure.getMessage());
    }
  }

  @Test
  void requestFailsAsNotDoneWhenItsResendCannotBeScheduled() {
    var clock = new ManualScheduler();
    var network = new TestNetwork(MemoryNetwork.create(clock));
    var refusingClock = Intercepted.of(Scheduler.class, clock, (method, arguments, call) -> {
      boolean isOfNextSending = method.getName().equals("schedule") && arguments[0].equals(Duration.ofMillis(2));
      if (isOfNextSending) throw new RejectedExecutionException("no timers, as the test has asked for");
      return call.pass();
    });
    try (ActorScope scope = ActorSystem.openScope("refusing-clock", options -> options.withScheduler(clock));
        ActorScope askingScope =
            ActorSystem.openScope("asking", options -> options.withScheduler(refusingClock));
        var asker = Cluster.join("timed", network, options -> options.withNode("asker").withScope(askingScope))) {
      var owner = Cluster.join("timed", network, options -> options.withNode("owner").withScope(scope));
      var promiseMade = new CompletableFuture<Boolean>();
      owner.host("till", Promise.class, scope.anonymous(), Duration.ofMinutes(5),
          (builder, key) -> builder.newActor((Promise promise, ActorContext<Promise> context) -> {
            context.replyWhen(promise, new CompletableFuture<>());
            promiseMade.complete(true);
          }));
      var till = asker.entities("till", Promise.class).actor("a");
      till.sendMessageReturn(new Promise(), Duration.ofSeconds(30));
      Patience.value(promiseMade); // the asker knows the owner now
      network.crash(owner);

      var answer = till.sendMessageReturn(new Promise(), Duration.ofSeconds(30));

      var failure = assertInstanceOf(UnavailableException.class, Patience.failure(answer));
      assertTrue(failure.getMessage().endsWith(
          ", and no timer could be set to send it again: no timers, as the test has asked for"), failure.getMessage());
      assertEquals(RequestOutcome.NOT_DONE, failure.outcome());
    }
  }

  @Test
  void timeoutSaysThatNoNodeConfirmedLostRequest() {
    var clock = new ManualScheduler();
    var network = new TestNetwork(MemoryNetwork.create(clock));
    try (ActorScope scope = ActorSystem.openScope("lost-clock", options -> options.withScheduler(clock));
        var b = Cluster.join("timed", network, options -> options.withNode("b").withScope(scope))) {
      var a = Cluster.join("timed", network, options -> options.withNode("a").withScope(scope));
      var promiseMade = new CompletableFuture<Boolean>();
      a.expose("till", Promise.class, scope.anonymous().newActor((Promise promise, ActorContext<Promise> context) -> {
        context.replyWhen(promise, new CompletableFuture<>());
        promiseMade.complete(true);
      }));

      var answer = b.actor("till", Promise.class).sendMessageReturn(new Promise(), Duration.ofSeconds(2));
      Patience.value(promiseMade);
      network.crash(a);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
      clock.advance(Duration.ofSeconds(2));

      var failure = assertInstanceOf(AskTimeoutException.class, Patience.failure(answer));
      assertTrue(
          failure.getMessage().endsWith(" within 2 s: the request was sent, and no node has confirmed that it has the "
              + "request; the request may still be handled"),
          failure.getMessage());
    }
  }
}
