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
import io.fibry.Echo;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Job;
import io.fibry.Promise;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.Inside;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
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

/** Waits that look like a ring but end by themselves; waits that ended leave nothing. */
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
      var between = Job.worker(scope.anonymous());
      askers.add(Job.start(Job.worker(scope.anonymous()),
          new Job("outer", () -> between.ask(new Job("inner", () -> a.ask(Job.act("slow", gate::pass)))))));
    }
    Patience.await(gate.entered);

    gate.open();

    for (var asker : askers) assertEquals("done", Patience.value(asker));
  }

  /** An actor that first replies what the job says, and then runs it. */
  private Actor<Object> promising(CompletableFuture<String> stage) {
    return scope.named("c").onFailure(FailurePolicy.resume().withoutLog())
        .newActor((Object message, ActorContext<Object> context) -> {
          if (!(message instanceof Call call)) return;
          if (stage == null) context.reply(call, "replied");
          else context.replyWhen(call, stage);
          call.then().call();
        });
  }

  record Call(Job then) implements Request<Call, String> {}

  @Promise("4.18")
  @Test
  void anActorThatHasPromisedMayWaitForItsAsker() {
    var stage = new CompletableFuture<String>();
    var c = promising(stage);
    var back = new CompletableFuture<Object>();
    var outcome =
        Job.start(a, new Job("outer", () -> c.ask(new Call(new Job("inner", () -> back.complete(a.ask("back")))))));
    Patience.eventually(() -> Inside.waits(c));

    stage.complete("promised");

    assertEquals("promised", Patience.value(outcome));
    assertEquals("back", Patience.value(back));
  }

  @Test
  void anActorThatHasRepliedMayWaitForItsAsker() {
    var c = promising(null);
    var back = new CompletableFuture<Object>();

    var outcome =
        Job.start(a, new Job("outer", () -> c.ask(new Call(new Job("inner", () -> back.complete(a.ask("back")))))));

    assertEquals("replied", Patience.value(outcome));
    assertEquals("back", Patience.value(back));
  }

  @Promise("4.18")
  @Test
  void cancelledRequestClosesNoCycle() {
    var gate = new Gate();
    var back = new CompletableFuture<Object>();
    var waited = new CompletableFuture<CompletableFuture<Object>>();
    var inner = Job.act("inner", () -> {
      gate.pass();
      back.complete(a.ask("back"));
    });
    var outcome = Job.start(a, Job.act("outer", () -> {
      waited.complete(b.sendMessageReturn(inner));
      waited.join().join();
    }));
    Patience.await(gate.entered);
    Job.waiting(a);

    waited.join().cancel(true);
    gate.open();

    assertInstanceOf(CancellationException.class, Patience.value(outcome));
    assertEquals("back", Patience.value(back));
  }

  @Promise("4.18")
  @Test
  void actorThatIsBeingKilledClosesNoCycle() {
    var mortal = Job.worker(scope.named("mortal").strategy(Strategy.of(ForkJoinPool.commonPool())));
    var gate = new Gate();
    var back = new CompletableFuture<Object>();
    var outcome = Job.start(a, new Job("outer", () -> mortal.ask(Job.act("inner", () -> {
      gate.pass();
      back.complete(a.ask("back"));
    }))));
    Patience.await(gate.entered);
    Job.waiting(a);
    mortal.kill();
    gate.open();
    Job.waiting(mortal);

    clock.advance(Scopes.options(scope).killGrace());

    assertInstanceOf(ActorStoppedException.class, Patience.value(outcome));
    assertEquals("back", Patience.value(back));
  }

  @Test
  void interruptedActorClosesNoCycle() {
    var outcome = Job.start(a, new Job("outer", () -> b.ask(new Job("inner", () -> {
      Thread.currentThread().interrupt();
      return assertThrows(CancellationException.class, () -> a.ask("back"));
    }).once(a))));

    assertInstanceOf(CancellationException.class, Patience.value(outcome));
  }

  @Test
  void waitOutsideCycleIsNotPartOfCycle() {
    var c = Job.worker(scope.named("c"));
    var gate = new Gate();
    var told = new CompletableFuture<Object>();
    // as in a ring that its members have not found yet: the first of them has looked already
    var slow = Job.act("slow", () -> {
      Job.waiting(a);
      try (var wait = Wait.begin((Cell) a, "by hand", ((Cell) a).extras().exit())) {
        gate.pass();
        told.complete(WaitCycle.findFor(wait).waits.size());
      }
    });
    Job.start(a, new Job("outer", () -> b.ask(slow)));
    Patience.await(gate.entered);
    var outcome = Job.start(c, new Job("asks one of them", () -> a.ask("x")));
    Job.waiting(c);

    gate.open();

    assertEquals(2, Patience.value(told));
    assertEquals("x", Patience.value(outcome));
  }

  @Test
  void nestedWaitLeavesNothingBehind() {
    var nested = Job.worker(scope.anonymous().strategy(Strategy.CALLER));

    var outcome = Job.start(a, new Job("outer", () -> {
      nested.sendMessage(new Job("inner", () -> b.ask("x")));
      return Inside.waits(a);
    }));

    assertEquals(false, Patience.value(outcome));
  }

  @ParameterizedTest
  @ValueSource(strings = {"answer", "failure", "ring", "time", "time for the end", "interrupt", "future", "room"})
  void endedWaitLeavesNothingBehind(String how) {
    var small = Job.worker(scope.named("small").mailbox(Mailbox.bounded(1, Overflow.BLOCK)));
    var gate = Gate.occupy(busy);
    var outcome = Job.start(a, new Job("outer", () -> {
      end(how, small);
      return Inside.waits(a);
    }));
    if (how.equals("time")) {
      Job.waiting(a);
      Patience.eventually(() -> {
        clock.advance(Duration.ofMinutes(1));
        return outcome.isDone();
      });
    }

    assertEquals(false, Patience.value(outcome));
    gate.open();
  }

  private final ActorWithReturn<Object, Object> busy = Echo.actor(Variants.scope(o -> o).anonymous());

  private void end(String how, ActorWithReturn<Object, Object> small) throws Exception {
    switch (how) {
      case "answer" -> b.ask("x");
      case "failure" -> assertThrows(IllegalStateException.class, () -> b.ask(Job.act("fails", () -> {
        throw new IllegalStateException("planned");
      })));
      case "ring" -> b.ask(new Job("inner", () -> assertThrows(AskCycleException.class, () -> a.ask("x"))).once(a));
      case "time" -> assertThrows(AskTimeoutException.class,
          () -> Job.worker(scope.anonymous()).ask(Job.act("slow", () -> new Gate().pass()), Duration.ofMinutes(1)));
      case "time for the end" -> b.waitForExit(Duration.ofMillis(1));
      case "interrupt" -> {
        Thread.currentThread().interrupt();
        assertThrows(CancellationException.class, () -> busy.ask((Object) "x"));
        Thread.interrupted();
      }
      case "future" -> assertThrows(TimeoutException.class,
          () -> busy.sendMessageReturn((Object) "x").get(1, TimeUnit.MILLISECONDS));
      case "room" -> {
        var slow = new Gate();
        small.sendMessage(Job.act("slow", slow::pass));
        Patience.await(slow.entered);
        for (String message : List.of("fits", "waits")) {
          if (message.equals("waits")) Patience.startFiber(() -> {
            Job.waiting(a);
            slow.open();
          });
          small.sendMessage(message);
        }
      }
      default -> throw new AssertionError(how);
    }
  }
}
