package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorWithReturn;
import io.fibry.AskCycleException;
import io.fibry.AskTimeoutException;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Echo;
import io.fibry.testing.Gate;
import io.fibry.testing.Job;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that no cycle is reported for waits that can end, and that ended waits leave no trace. */
class FalseWaitCycleTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = Variants.scope(o -> o.withScheduler(clock));
  private final ActorWithReturn<Object, Object> a = Job.worker(scope.named("a"));
  private final ActorWithReturn<Object, Object> b = Job.worker(scope.named("b"));

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Promise("4.18")
  @Test
  void manyAskersMayWaitForSameActor() {
    var gate = new Gate();
    var askers = new ArrayList<CompletableFuture<Object>>();
    for (int i = 0; i < 4; i++) {
      var middleActor = Job.worker(scope.anonymous());
      askers.add(Job.start(Job.worker(scope.anonymous()),
          new Job("outer", () -> middleActor.ask(new Job("inner", () -> a.ask(Job.act("slow", gate::pass)))))));
    }
    Patience.await(gate.entered);

    gate.open();

    for (var asker : askers) assertEquals("done", Patience.value(asker));
  }

  /**
   * Creates an actor that replies to each call at once, or promises the result of the stage if
   * there is one. The actor then runs the job of the call.
   */
  private Actor<Object> replyingActor(CompletableFuture<String> stage) {
    return scope.named("c").onFailure(FailurePolicy.resume().withoutLog())
        .newActor((Object message, ActorContext<Object> context) -> {
          if (!(message instanceof Call call)) return;
          if (stage == null) context.reply(call, "replied");
          else context.replyWhen(call, stage);
          call.job().call();
        });
  }

  record Call(Job job) implements Request<Call, String> {}

  @Promise("4.18")
  @Test
  void actorThatPromisedAnswerMayWaitForItsAsker() {
    var stage = new CompletableFuture<String>();
    var c = replyingActor(stage);
    var answer = new CompletableFuture<Object>();
    var outcome =
        Job.start(a, new Job("outer", () -> c.ask(new Call(new Job("inner", () -> answer.complete(a.ask("back")))))));
    Patience.eventually(() -> ActorInternals.isHandlerWaiting(c));

    stage.complete("promised");

    assertEquals("promised", Patience.value(outcome));
    assertEquals("back", Patience.value(answer));
  }

  @Test
  void actorThatRepliedMayWaitForItsAsker() {
    var c = replyingActor(null);
    var answer = new CompletableFuture<Object>();

    var outcome =
        Job.start(a, new Job("outer", () -> c.ask(new Call(new Job("inner", () -> answer.complete(a.ask("back")))))));

    assertEquals("replied", Patience.value(outcome));
    assertEquals("back", Patience.value(answer));
  }

  @Promise("4.18")
  @Test
  void cancelledRequestFormsNoWaitCycle() {
    var gate = new Gate();
    var answer = new CompletableFuture<Object>();
    var request = new CompletableFuture<CompletableFuture<Object>>();
    var innerJob = Job.act("inner", () -> {
      gate.pass();
      answer.complete(a.ask("back"));
    });
    var outcome = Job.start(a, Job.act("outer", () -> {
      request.complete(b.sendMessageReturn(innerJob));
      request.join().join();
    }));
    Patience.await(gate.entered);
    Job.awaitWaits(a);

    request.join().cancel(true);
    gate.open();

    assertInstanceOf(CancellationException.class, Patience.value(outcome));
    assertEquals("back", Patience.value(answer));
  }

  @Promise("4.18")
  @Test
  void actorThatIsBeingKilledFormsNoWaitCycle() {
    var killedActor = Job.worker(scope.named("mortal").strategy(Strategy.of(ForkJoinPool.commonPool())));
    var gate = new Gate();
    var answer = new CompletableFuture<Object>();
    var outcome = Job.start(a, new Job("outer", () -> killedActor.ask(Job.act("inner", () -> {
      gate.pass();
      answer.complete(a.ask("back"));
    }))));
    Patience.await(gate.entered);
    Job.awaitWaits(a);
    killedActor.kill();
    gate.open();
    Job.awaitWaits(killedActor);

    clock.advance(Scopes.options(scope).killGrace());

    assertInstanceOf(ActorStoppedException.class, Patience.value(outcome));
    assertEquals("back", Patience.value(answer));
  }

  @Test
  void interruptedActorFormsNoWaitCycle() {
    var outcome = Job.start(a, new Job("outer", () -> b.ask(new Job("inner", () -> {
      Thread.currentThread().interrupt();
      return assertThrows(CancellationException.class, () -> a.ask("back"));
    }).onceWaiting(a))));

    assertInstanceOf(CancellationException.class, Patience.value(outcome));
  }

  @Test
  void cycleOmitsActorThatOnlyWaitsForMemberOfCycle() {
    var c = Job.worker(scope.named("c"));
    var gate = new Gate();
    var waitCount = new CompletableFuture<Object>();
    // lets `b` wait for `a` without a search for cycles; then `a` and `b` wait for each other, and
    // neither has found the cycle, because `a` searched before
    var slowJob = Job.act("slow", () -> {
      Job.awaitWaits(a);
      try (var wait = Wait.begin((Cell) a, "by hand", ((Cell) a).extras().exit())) {
        gate.pass();
        waitCount.complete(WaitCycle.findFor(wait).waits.size());
      }
    });
    Job.start(a, new Job("outer", () -> b.ask(slowJob)));
    Patience.await(gate.entered);
    var outcome = Job.start(c, new Job("asks a", () -> a.ask("x")));
    Job.awaitWaits(c);

    gate.open();

    assertEquals(2, Patience.value(waitCount));
    assertEquals("x", Patience.value(outcome));
  }

  @Test
  void outerHandlerIsNotWaitingAfterNestedHandlerHasWaited() {
    var nestedActor = Job.worker(scope.anonymous().strategy(Strategy.CALLER));

    var outcome = Job.start(a, new Job("outer", () -> {
      nestedActor.sendMessage(new Job("inner", () -> b.ask("x")));
      return ActorInternals.isHandlerWaiting(a);
    }));

    assertEquals(false, Patience.value(outcome));
  }

  @ParameterizedTest
  @ValueSource(strings = {"answer", "failure", "cycle", "ask limit", "limit of waitForExit", "interrupt", "future",
    "capacity"})
  void handlerIsNotWaitingAfterItsWaitEnds(String waitEnd) {
    var boundedActor = Job.worker(scope.named("small").mailbox(Mailbox.bounded(1, Overflow.BLOCK)));
    var gate = Gate.occupy(busyActor);
    var outcome = Job.start(a, new Job("outer", () -> {
      endWait(waitEnd, boundedActor);
      return ActorInternals.isHandlerWaiting(a);
    }));
    if (waitEnd.equals("ask limit")) {
      Job.awaitWaits(a);
      Patience.eventually(() -> {
        clock.advance(Duration.ofMinutes(1));
        return outcome.isDone();
      });
    }

    assertEquals(false, Patience.value(outcome));
    gate.open();
  }

  private final ActorWithReturn<Object, Object> busyActor = Echo.actor(Variants.scope(o -> o).anonymous());

  private void endWait(String waitEnd, ActorWithReturn<Object, Object> boundedActor) throws Exception {
    switch (waitEnd) {
      case "answer" -> b.ask("x");
      case "failure" -> assertThrows(IllegalStateException.class, () -> b.ask(Job.act("fails", () -> {
        throw new IllegalStateException("planned");
      })));
      case "cycle" -> b
          .ask(new Job("inner", () -> assertThrows(AskCycleException.class, () -> a.ask("x"))).onceWaiting(a));
      case "ask limit" -> assertThrows(AskTimeoutException.class,
          () -> Job.worker(scope.anonymous()).ask(Job.act("slow", () -> new Gate().pass()), Duration.ofMinutes(1)));
      case "limit of waitForExit" -> b.waitForExit(Duration.ofMillis(1));
      case "interrupt" -> {
        Thread.currentThread().interrupt();
        assertThrows(CancellationException.class, () -> busyActor.ask((Object) "x"));
        Thread.interrupted();
      }
      case "future" -> assertThrows(TimeoutException.class,
          () -> busyActor.sendMessageReturn((Object) "x").get(1, TimeUnit.MILLISECONDS));
      case "capacity" -> {
        var slowGate = new Gate();
        boundedActor.sendMessage(Job.act("slow", slowGate::pass));
        Patience.await(slowGate.entered);
        for (String message : List.of("fits", "waits")) {
          if (message.equals("waits")) Patience.startFiber(() -> {
            Job.awaitWaits(a);
            slowGate.open();
          });
          boundedActor.sendMessage(message);
        }
      }
      default -> throw new AssertionError(waitEnd);
    }
  }
}
