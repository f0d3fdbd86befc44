package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.StackEdge;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that an idle actor ends on the thread that closes it, unless its end runs user code. */
class IdleEndTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = Variants.scope(letters).openScope("shop", o -> o.withDrainLimit(Patience.LONG));
  private final AtomicInteger threads = new AtomicInteger(); // how many threads the strategy has started
  private final Strategy countingStrategy = activation -> {
    threads.incrementAndGet();
    Thread.ofVirtual().name("drain").start(activation);
  };
  private final ActorBuilder<Object> builder = scope.anonymous().strategy(countingStrategy);

  private void assertEnded(Actor<Object> actor, ExitReason reason, int threads) {
    Patience.awaitEnd(actor::waitForExit);
    assertEquals(reason, actor.onExit().join());
    assertEquals(threads, this.threads.get());
    assertFalse(actor.sendMessage("late"));
  }

  @Promise("7.3")
  @Test
  void closeOfIdleActorNeedsNoThread() {
    var actor = builder.newActor(message -> {});

    actor.close();

    assertEnded(actor, new ExitReason.Finished(), 0);
  }

  @Promise("7.3")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void closeOfScopeWithIdleActorNeedsNoThread(boolean bounded) {
    var mailbox = bounded ? Mailbox.bounded(2, Overflow.BLOCK) : Mailbox.unbounded();
    var actor = builder.mailbox(mailbox).newActorWithReturn(message -> message);
    actor.ask(1);
    Patience.eventually(() -> scope.awaitQuiescence(Duration.ZERO));

    var report = scope.closeWithin(Patience.LONG);

    assertEnded(actor, new ExitReason.Stopped(), 1);
    assertEquals(1, report.handled());
    assertEquals(List.of(), report.deadLetters());
  }

  /**
   * Asserts that user code at the end of an actor runs on a thread of the actor, before the close
   * returns.
   */
  private void assertRunsOnActorThread(Consumer<Runnable> actorWith) {
    var runThread = new CompletableFuture<Thread>();
    actorWith.accept(() -> runThread.complete(Thread.currentThread()));
    Patience.eventually(() -> scope.awaitQuiescence(Duration.ZERO));

    scope.close();

    assertTrue(runThread.isDone());
    assertEquals("drain", runThread.join().getName());
    assertNotSame(Thread.currentThread(), runThread.join());
  }

  @Promise("7.3")
  @Test
  void closeOnExitResourceIsClosedOnThreadOfActor() {
    assertRunsOnActorThread(close -> builder.newActor(message -> {}).closeOnExit(close::run));
  }

  @Promise("7.3")
  @Test
  void stopHookRunsOnThreadOfActor() {
    assertRunsOnActorThread(stop -> builder.initialState(() -> 1).onStop(state -> stop.run())
        .newActor((Integer state, Object message) -> {}).sendMessage("makes the state"));
  }

  @Test
  void stopHookDoesNotRunIfStateWasNeverCreated() {
    var actor = builder.initialState(() -> 1).onStop(state -> letters.all.clear())
        .newActor((Integer state, Object message) -> {});

    scope.close();

    assertEnded(actor, new ExitReason.Stopped(), 0);
  }

  @Test
  void messageOfPendingTimerBecomesDeadLetterOnClose() {
    var actor = builder.newActor(message -> {});
    actor.sendMessageLater("tea", Duration.ofDays(1));

    scope.close();

    assertEquals(List.of("tea"), letters.messages(Reason.TIMER_CANCELLED));
    assertEnded(actor, new ExitReason.Stopped(), 1);
  }

  @Test
  void closeNotifiesWatchersAndOnExitCallbacks() {
    var notification = new CompletableFuture<Object>();
    var callbackThread = new CompletableFuture<Thread>();
    var actor = builder.newActor(message -> {});
    var watcher = ActorSystem.anonymous().newActorWithReturn((Object message, ActorContext<Object> context) -> {
      if (message instanceof ExitReason) notification.complete(message);
      else context.watch(actor, reason -> reason);
      return message;
    });
    watcher.ask("watch");
    actor.onExit().thenRun(() -> callbackThread.complete(Thread.currentThread()));

    actor.close();

    assertEquals(new ExitReason.Finished(), Patience.value(notification));
    assertNotSame(Thread.currentThread(), Patience.value(callbackThread));
    watcher.close();
  }

  @Test
  void closeKeepsInterruptFlagOfCaller() {
    var actor = builder.newActor(message -> {});
    Thread.currentThread().interrupt();

    actor.close();

    assertTrue(Thread.interrupted());
    assertEnded(actor, new ExitReason.Finished(), 0);
  }

  @Test
  void nameOfClosedActorIsFreeAtOnce() {
    scope.named("clerk").newActor(message -> {}).close();

    assertTrue(scope.named("clerk").protocol(String.class).newActor(message -> {}).sendMessage("welcome"));
  }

  /**
   * When the stack is almost exhausted, a close either ends the actor, or throws and has no effect.
   */
  @Test
  void closeThatOverflowsStackLeavesActorEitherOpenOrEnded() {
    long seed = StressRuns.seed();
    System.out.println("closes with a stack overflow: -Dfibry.seed=" + seed);
    var edge = new StackEdge(new SplittableRandom(seed));
    var actors = new ArrayList<ActorWithReturn<Object, Object>>();
    for (int i = 0; i < 10; i++) edge.overflow(level -> {
      var actor = level % 2 == 0 ? scope.anonymous().newActorWithReturn(message -> message)
          : scope.named("a" + actors.size()).newActorWithReturn(message -> message);
      actors.add(actor);
      actor.close();
    });

    for (var actor : actors) {
      if (actor.sendMessage("open")) actor.close();
      Patience.awaitEnd(actor::waitForExit);
    }
    assertTrue(scope.closeWithin(Patience.LONG).unresponsive().isEmpty());
  }

  /**
   * A message, a request, a new resource or a kill races with the close. Each must take effect
   * exactly once, or be refused.
   */
  @Test
  void closeOfIdleActorLosesNoMessageSentConcurrently() {
    long seed = StressRuns.seed();
    System.out.println("races with the close of an idle actor: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    for (int round = 0; round < 2_000; round++) {
      var handled = new AtomicInteger();
      var closedResources = new AtomicInteger();
      var actor = scope.anonymous().newActorWithReturn(message -> {
        handled.incrementAndGet();
        return message;
      });
      int lettersBefore = letters.all.size();
      int action = random.nextInt(4);
      var answer = new CompletableFuture<CompletableFuture<Object>>();
      var racer = Patience.startFiber(() -> {
        switch (action) {
          case 0 -> actor.sendMessage("message");
          case 1 -> answer.complete(actor.sendMessageReturn((Object) "request"));
          case 2 -> actor.closeOnExit(closedResources::incrementAndGet);
          default -> actor.kill();
        }
      });
      for (int spins = random.nextInt(3_000); spins > 0; spins--) Thread.onSpinWait();

      actor.close();
      Patience.awaitEnd(racer);

      assertTrue(actor.onExit().isDone());
      if (action == 0) Patience.eventually(() -> handled.get() + letters.all.size() - lettersBefore == 1);
      if (action == 1) Patience.eventually(() -> answer.join().isDone());
      if (action == 2) Patience.eventually(() -> closedResources.get() == 1);
      if (action == 3) assertEquals(0, handled.get());
    }
    assertEquals(0, scope.report().queued());
  }
}
