package io.fibry.stereotype;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the recipes, with small versions of programs that users write. */
class StereotypesTest {
  private static final Duration LONG = Patience.LONG;

  @AfterEach
  void restoreDefaultStrategy() {
    ActorSystem.setDefaultStrategy(Strategy.FIBER);
  }

  // ---- example programs

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void eachOfManySinksRunsItsCode(boolean onThreads) {
    int count = onThreads ? 100 : 100_000;
    var sinks = new ArrayList<Sink<Object>>();

    for (int i = 0; i < count; i++)
      sinks.add(onThreads ? Stereotypes.threads().sink(null) : Stereotypes.fibers().sink(null));
    var executions = new CountDownLatch(count);
    sinks.forEach(sink -> sink.execAsync(state -> executions.countDown()));

    Patience.await(executions);
    assertEquals(count, new HashSet<>(sinks).size());
    sinks.forEach(Sink::askExit);
  }

  @Promise("13.2")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void runOnceTaskGetsThousandAnswersOneAfterAnother(boolean onThreads) {
    ActorSystem.setDefaultStrategy(onThreads ? Strategy.THREAD : Strategy.FIBER);
    var sum = new AtomicInteger();
    var squarer = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);

    Stereotypes.def().runOnceSilent(() -> {
      for (int i = 0; i < 1_000; i++) sum.addAndGet(squarer.sendMessageReturn(i).get());
    }).closeOnExit(squarer).waitForExit();

    assertEquals(332_833_500, sum.get());
    assertTrue(squarer.onExit().isDone());
  }

  // ---- strategies

  @Test
  void onlyThreadsRecipesRunActorsOnPlatformThreads() {
    var fiberThread = Stereotypes.fibers().sink("s").ask(s -> Thread.currentThread());
    var defaultThread = Stereotypes.def().sink("s").ask(s -> Thread.currentThread());
    var threadSink = Stereotypes.threads().sink("s");

    assertTrue(fiberThread.isVirtual());
    assertTrue(defaultThread.isVirtual());
    assertFalse(threadSink.ask(s -> Thread.currentThread()).isVirtual());
    threadSink.close();
  }

  @Test
  void defRecipesUseConfiguredDefaultStrategy() {
    ActorSystem.setDefaultStrategy(Strategy.THREAD);
    try (var sink = Stereotypes.def().sink("s")) {
      assertFalse(sink.ask(s -> Thread.currentThread()).isVirtual());
    }
  }

  @Test
  void sinkOfRecipeUsesNameAndStrategyOfBuilder() {
    var sink = Stereotypes.of(ActorSystem.named("StereotypesTest").strategy(Strategy.CALLER)).sink("state");

    assertEquals("StereotypesTest", sink.name());
    assertSame(Thread.currentThread(), sink.ask(s -> Thread.currentThread()));
    sink.close();
    assertThrows(NullPointerException.class, () -> Stereotypes.of(null));
  }

  // ---- sink

  @Test
  void sinkRunsCodeOnItsObject() {
    try (var sink = Stereotypes.def().sink(new StringBuilder("a"))) {
      sink.execAsync(s -> s.append("b"));

      assertEquals("ab", sink.ask(StringBuilder::toString));
    }
  }

  @Test
  void sinkWithoutObjectPassesNullToItsCode() {
    Sink<String> sink = Stereotypes.def().sink(null);

    sink.execAndWait(s -> assertNull(s));
    assertEquals("value", sink.ask(s -> "value"));
  }

  @Test
  void recipeCreatesNewSinkOnEachCall() {
    assertNotSame(Stereotypes.fibers().sink(null), Stereotypes.fibers().sink(null));
  }

  // ---- runOnce

  @Test
  void runOnceEndsWhenItsTaskReturned() {
    var runs = new AtomicInteger();

    var actor = Stereotypes.def().runOnce(runs::incrementAndGet);

    assertTrue(actor.waitForExit(LONG));
    assertEquals(1, runs.get());
    assertEquals(new ExitReason.Finished(), actor.onExit().resultNow());
  }

  @Test
  void runOncePassesItsActorToTask() {
    var arguments = new ArrayList<Exitable>();

    var actor = Stereotypes.def().runOnce((Exitable self) -> arguments.add(self));

    assertTrue(actor.waitForExit(LONG));
    assertSame(actor, arguments.getFirst());
  }

  @Test
  void taskMayEndItsOwnActor() {
    var actor = Stereotypes.def().runOnce(Exitable::askExit);

    assertTrue(actor.waitForExit(LONG));
    assertEquals(new ExitReason.Stopped(), actor.onExit().resultNow());
  }

  @Test
  void runOnceWhoseTaskFailsEndsAsFailedAndLogsFailure() {
    var failure = new IOException("loud failure");

    try (var logged = new Logged()) {
      var actor = Stereotypes.def().runOnce(() -> {
        throw failure;
      });

      assertTrue(actor.waitForExit(LONG));
      assertEquals(new ExitReason.Failed(failure), actor.onExit().resultNow());
      assertTrue(logged.text().contains("loud failure"), logged.text());
    }
  }

  @Test
  void runOnceSilentWhoseTaskFailsEndsAsFailedAndLogsNothing() {
    var failure = new IOException("quiet failure");

    try (var logged = new Logged()) {
      var actor = Stereotypes.def().runOnceSilent(() -> {
        throw failure;
      });

      assertTrue(actor.waitForExit(LONG));
      assertEquals(new ExitReason.Failed(failure), actor.onExit().resultNow());
      assertFalse(logged.text().contains("quiet failure"), logged.text());
    }
  }

  @Test
  void killedRunOnceIsInterrupted() {
    var taskBegan = new CountDownLatch(1);
    var actor = Stereotypes.def().runOnceSilent(() -> {
      taskBegan.countDown();
      new CountDownLatch(1).await();
    });
    Patience.await(taskBegan);

    actor.kill();

    assertTrue(actor.waitForExit(LONG));
    assertEquals(new ExitReason.Killed(), actor.onExit().resultNow());
  }

  @Test
  void runOnceWithoutTaskIsRefused() {
    var recipes = Stereotypes.def();

    assertEquals("task",
        assertThrows(NullPointerException.class, () -> recipes.runOnce((Handler.Task) null)).getMessage());
    assertEquals("task",
        assertThrows(NullPointerException.class, () -> recipes.runOnce((Handler<Exitable>) null)).getMessage());
    assertEquals("task", assertThrows(NullPointerException.class, () -> recipes.runOnceSilent(null)).getMessage());
  }

  // ---- recipes for blocks

  @Test
  void batchesRateLimitsAndHooksUseSettingsOfBuilder() throws Exception {
    var events = new ArrayList<Object>();
    var recipes = Stereotypes.of(ActorSystem.named("recipe").strategy(Strategy.CALLER));
    Actor<String> log = recipes.batch(2, LONG, events::add);
    log.sendMessages(List.of("a", "b", "c"));
    log.close();
    var limitedActor = recipes.rateLimited(1, LONG).newActor((String message) -> events.add(message));
    limitedActor.sendMessage("first");
    limitedActor.close();

    var halving = recipes.hooks((Integer n) -> n / 2).beforeAsync(n -> events.add(Thread.currentThread()));

    assertEquals(4, halving.handle(8));
    assertEquals(List.of("recipe", "recipe"), List.of(log.name(), limitedActor.name()));
    assertEquals(List.of(List.of("a", "b"), List.of("c"), "first", Thread.currentThread()), events);
  }
}
