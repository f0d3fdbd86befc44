package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.DeadLetter.Reason;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
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

/** An idle actor ends on the thread that closes it, unless code of a user runs at its end. */
class IdleEndTest {
  private final Letters letters = new Letters();
  private final ActorScope scope = Variants.scope(letters).openScope("shop", o -> o.withDrainLimit(Patience.LONG));
  private final AtomicInteger threads = new AtomicInteger(); // that the strategy gave
  private final Strategy counted = activation -> {
    threads.incrementAndGet();
    Thread.ofVirtual().name("drain").start(activation);
  };
  private final ActorBuilder<Object> builder = scope.anonymous().strategy(counted);

  private void assertEnded(Actor<Object> actor, ExitReason reason, int threads) {
    Patience.ended(actor::waitForExit);
    assertEquals(reason, actor.onExit().join());
    assertEquals(threads, this.threads.get());
    assertFalse(actor.sendMessage("late"));
  }

  @Promise("7.3")
  @Test
  void aCloseNeedsNoThread() {
    var actor = builder.newActor(message -> {});

    actor.close();

    assertEnded(actor, new ExitReason.Finished(), 0);
  }

  @Promise("7.3")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void scopeCloseNeedsNoThread(boolean bounded) {
    var mailbox = bounded ? Mailbox.bounded(2, Overflow.BLOCK) : Mailbox.unbounded();
    var actor = builder.mailbox(mailbox).newActorWithReturn(message -> message);
    actor.ask(1);
    Patience.eventually(() -> scope.awaitQuiescence(Duration.ZERO));

    var report = scope.closeWithin(Patience.LONG);

    assertEnded(actor, new ExitReason.Stopped(), 1);
    assertEquals(1, report.handled());
    assertEquals(List.of(), report.undelivered());
  }

  /** Each of these runs on a thread of the actor's, and before the close is through. */
  private void runsElsewhere(Consumer<Runnable> actorWith) {
    var ran = new CompletableFuture<Thread>();
    actorWith.accept(() -> ran.complete(Thread.currentThread()));
    Patience.eventually(() -> scope.awaitQuiescence(Duration.ZERO));

    scope.close();

    assertTrue(ran.isDone());
    assertEquals("drain", ran.join().getName());
    assertNotSame(Thread.currentThread(), ran.join());
  }

  @Promise("7.3")
  @Test
  void resourceIsClosedOnThreadOfActor() {
    runsElsewhere(close -> builder.newActor(message -> {}).closeOnExit(close::run));
  }

  @Promise("7.3")
  @Test
  void stopHookRunsOnThreadOfActor() {
    runsElsewhere(stop -> builder.initialState(() -> 1).onStop(state -> stop.run())
        .newActor((Integer state, Object message) -> {}).sendMessage("makes the state"));
  }

  @Test
  void stopHookDoesNotRunWithoutState() {
    var actor = builder.initialState(() -> 1).onStop(state -> letters.all.clear())
        .newActor((Integer state, Object message) -> {});

    scope.close();

    assertEnded(actor, new ExitReason.Stopped(), 0);
  }

  @Test
  void pendingTimerBecomesDeadLetterOnClose() {
    var actor = builder.newActor(message -> {});
    actor.sendMessageLater("tea", Duration.ofDays(1));

    scope.close();

    assertEquals(List.of("tea"), letters.messages(Reason.TIMER_CANCELLED));
    assertEnded(actor, new ExitReason.Stopped(), 1);
  }

  @Test
  void closeNotifiesWatchersAndCallbacks() {
    var told = new CompletableFuture<Object>();
    var called = new CompletableFuture<Thread>();
    var actor = builder.newActor(message -> {});
    var watcher = ActorSystem.anonymous().newActorWithReturn((Object message, ActorContext<Object> context) -> {
      if (message instanceof ExitReason) told.complete(message);
      else context.watch(actor, reason -> reason);
      return message;
    });
    watcher.ask("watch");
    actor.onExit().thenRun(() -> called.complete(Thread.currentThread()));

    actor.close();

    assertEquals(new ExitReason.Finished(), Patience.value(told));
    assertNotSame(Thread.currentThread(), Patience.value(called));
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

  /** Near the end of a stack a close does all, or throws and has done nothing. */
  @Test
  void stackOverflowInCloseLeavesNoHalfEndedActor() {
    long seed = StressHarness.seed();
    System.out.println("closes that overflow: -Dfibry.seed=" + seed);
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
      Patience.ended(actor::waitForExit);
    }
    assertTrue(scope.closeWithin(Patience.LONG).unresponsive().isEmpty());
  }

  /** Senders, resources and a kill race with the close; all have one outcome. */
  @Test
  void racingCloseLosesNoMessage() {
    long seed = StressHarness.seed();
    System.out.println("ends of idle actors: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    for (int round = 0; round < 2_000; round++) {
      var handled = new AtomicInteger();
      var closed = new AtomicInteger();
      var actor = scope.anonymous().newActorWithReturn(message -> {
        handled.incrementAndGet();
        return message;
      });
      int before = letters.all.size();
      int act = random.nextInt(4);
      var answer = new CompletableFuture<CompletableFuture<Object>>();
      var other = Patience.startFiber(() -> {
        switch (act) {
          case 0 -> actor.sendMessage("message");
          case 1 -> answer.complete(actor.sendMessageReturn((Object) "request"));
          case 2 -> actor.closeOnExit(closed::incrementAndGet);
          default -> actor.kill();
        }
      });
      for (int spins = random.nextInt(3_000); spins > 0; spins--) Thread.onSpinWait();

      actor.close();
      Patience.joined(other);

      assertTrue(actor.onExit().isDone());
      if (act == 0) Patience.eventually(() -> handled.get() + letters.all.size() - before == 1);
      if (act == 1) Patience.eventually(() -> answer.join().isDone());
      if (act == 2) Patience.eventually(() -> closed.get() == 1);
      if (act == 3) assertEquals(0, handled.get());
    }
    assertEquals(0, scope.report().queued());
  }
}
