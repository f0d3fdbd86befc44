package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorStats.ActorState;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.spi.MultiStepMessage;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests which state {@link ActorStats} give an actor. */
class ActorStateTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("app", o -> o.withScheduler(clock));

  @AfterEach
  void close() {
    Gate.openAllAndClose(scope, clock);
  }

  private ActorStats statsOf(String name) {
    return scope.actors().stream().filter(stats -> stats.name().equals(name)).findFirst().orElseThrow();
  }

  /** Waits, because the state of a running handler may be 0.1 s old. */
  private void awaitState(ActorState expected, String name) {
    Patience.eventually(() -> statsOf(name).state() == expected);
  }

  private void awaitWaitFor(String awaited, String name) {
    awaitState(ActorState.AWAITING_ACTOR, name);
    assertEquals(Optional.of(awaited), statsOf(name).awaited());
  }

  private static Object echo(Object message) throws InterruptedException {
    if (message instanceof Gate gate) gate.pass();
    return message;
  }

  private static FailurePolicy restartAfterHour() {
    return FailurePolicy.restart().withBackoff(Duration.ofHours(1), Duration.ofHours(1)).withoutLog();
  }

  private static void fail(Object message) {
    throw new IllegalStateException("planned");
  }

  @Promise("19.22")
  @Test
  void idleAndBusyActorsAwaitNoActor() {
    var actor = scope.named("clerk").newActor(Gate::passOrThrow);
    assertEquals(ActorState.IDLE, statsOf("clerk").state());

    Gate.occupy(actor);

    assertEquals(ActorState.BUSY, statsOf("clerk").state());
    assertEquals(Optional.empty(), statsOf("clerk").awaited());
  }

  @Promise("19.22")
  @Test
  void stateNamesActorForWhichHandlerWaits() {
    var blocked = scope.named("blocked").mailbox(Mailbox.bounded(1, Overflow.BLOCK))
        .newActorWithReturn(ActorStateTest::echo);
    var gate = new Gate();
    blocked.sendMessage(gate);
    Patience.await(gate.entered);
    blocked.sendMessage("fills the mailbox");

    scope.named("sender").newActor((Object message) -> blocked.sendMessage(message)).sendMessage("more");
    scope.named("watcher").newActor(message -> blocked.waitForExit()).sendMessage("end");

    awaitWaitFor("blocked", "sender");
    awaitWaitFor("blocked", "watcher");
    assertEquals(ActorState.BUSY, statsOf("blocked").state());
  }

  @Promise("19.22")
  @Test
  void poolHasStateOfWorkerThatIsBusyForLongest() {
    var clerk = scope.named("clerk").newActorWithReturn(ActorStateTest::echo);
    var pool = Pools.fixed(scope.named("pool"), 2).newActor((Object message) -> clerk.ask(message));
    pool.sendMessage(new Gate());

    awaitWaitFor("clerk", "pool");
    var pooled = statsOf("pool");
    assertEquals(List.of(1, 1, 2), List.of(pooled.busyWorkers(), pooled.workers(), pooled.maxWorkers()));
    assertEquals(List.of(0, 0), List.of(statsOf("clerk").busyWorkers(), statsOf("clerk").workers()));
  }

  @Promise("19.22")
  @Test
  void actorWhoseStrategyGivesNoThreadIsReady() {
    var lazy = Strategy.of(task -> {});
    var refusing = Strategy.of(task -> {
      throw new RejectedExecutionException("planned");
    });
    scope.named("starved").strategy(lazy).newActor(message -> {}).sendMessage("waits");
    scope.named("refused").strategy(refusing).newActor(message -> {}).sendMessage("waits");
    Pools.fixed(scope.named("pool").strategy(lazy), 2).newActor(message -> {}).sendMessage("waits");

    for (var name : List.of("starved", "refused", "pool")) assertEquals(ActorState.READY, statsOf(name).state(), name);
  }

  @Promise("19.22")
  @Test
  void actorOrPoolInBackoffIsSuspended() {
    scope.named("actor").onFailure(restartAfterHour()).newActor(ActorStateTest::fail).sendMessage("fails");
    Pools.fixed(scope.named("pool").onFailure(restartAfterHour()), 2).newActor(ActorStateTest::fail)
        .sendMessage("fails");

    Stream.of("actor", "pool").forEach(name -> awaitState(ActorState.SUSPENDED, name));
  }

  @Promise("19.22")
  @Test
  void actorBetweenStepsAwaitsStep() {
    var gate = new Gate();
    record Steps() implements MultiStepMessage {
      @Override
      public Object currentStep() {
        return null;
      }

      @Override
      public long completedSteps() {
        return 0;
      }
    }
    scope.named("conversation").newActor((Steps steps) -> gate.pass()).sendMessage(new Steps());
    Patience.await(gate.entered);

    assertEquals(ActorState.AWAITING_STEP, statsOf("conversation").state());
  }

  @Promise("19.22")
  @Test
  void actorWhoseStopHookRunsIsEnding() {
    var gate = new Gate();
    var actor = scope.named("clerk").initialState(() -> "state").onStop(state -> gate.pass())
        .newActor((String state, Object message) -> {});
    actor.sendMessage("makes the state");
    actor.sendPoisonPill();
    Patience.await(gate.entered);

    assertEquals(ActorState.ENDING, statsOf("clerk").state());
  }

  @Promise("19.22")
  @Test
  void killedActorWhoseHandlerContinuesIsCutOff() {
    var actor = scope.named("clerk").newActor(Gate::passOrThrow);
    Gate.occupy(actor);
    actor.kill();
    clock.advance(Duration.ofSeconds(1));
    Patience.awaitEnd(actor::waitForExit);

    assertEquals(ActorState.CUT_OFF, statsOf("clerk").state());
  }
}
