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
import io.fibry.Promise;
import io.fibry.Sink;
import io.fibry.Strategy;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
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

/** The recipes, and the programs of the article in small. */
class StereotypesTest {
  private static final Duration LONG = Patience.LONG;

  @AfterEach
  void backToFibers() {
    ActorSystem.setDefaultStrategy(Strategy.FIBER);
  }

  // ---- the article's programs

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void sinksAreMadeInALoopAndAllAreAlive(boolean threads) {
    int count = threads ? 100 : 100_000;
    var kept = new ArrayList<Sink<Object>>();

    for (int i = 0; i < count; i++)
      kept.add(threads ? Stereotypes.threads().sink(null) : Stereotypes.fibers().sink(null));
    var reached = new CountDownLatch(count);
    kept.forEach(sink -> sink.execAsync(nothing -> reached.countDown()));

    Patience.await(reached);
    assertEquals(count, new HashSet<>(kept).size());
    kept.forEach(Sink::askExit);
  }

  @Promise("13.2")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anActorAsksAnotherManyTimes(boolean threads) {
    ActorSystem.setDefaultStrategy(threads ? Strategy.THREAD : Strategy.FIBER);
    var sum = new AtomicInteger();
    var act = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);

    Stereotypes.def().runOnceSilent(() -> {
      for (int i = 0; i < 1_000; i++) sum.addAndGet(act.sendMessageReturn(i).get());
    }).closeOnExit(act).waitForExit();

    assertEquals(332_833_500, sum.get());
    assertTrue(act.onExit().isDone());
  }

  // ---- where they run

  @Test
  void threadsFibersAndDefGiveTheStrategyTheyName() {
    var fiber = Stereotypes.fibers().sink("s").ask(s -> Thread.currentThread());
    var byDefault = Stereotypes.def().sink("s").ask(s -> Thread.currentThread());
    var threads = Stereotypes.threads().sink("s");

    assertTrue(fiber.isVirtual());
    assertTrue(byDefault.isVirtual());
    assertFalse(threads.ask(s -> Thread.currentThread()).isVirtual());
    threads.close();
  }

  @Test
  void defFollowsTheDefaultStrategy() {
    ActorSystem.setDefaultStrategy(Strategy.THREAD);
    try (var sink = Stereotypes.def().sink("s")) {
      assertFalse(sink.ask(s -> Thread.currentThread()).isVirtual());
    }
  }

  @Test
  void recipesUseTheirBuilder() {
    var sink = Stereotypes.of(ActorSystem.named("StereotypesTest").strategy(Strategy.CALLER)).sink("state");

    assertEquals("StereotypesTest", sink.name());
    assertSame(Thread.currentThread(), sink.ask(s -> Thread.currentThread()));
    sink.close();
    assertThrows(NullPointerException.class, () -> Stereotypes.of(null));
  }

  // ---- sink

  @Test
  void aSinkRunsCodeOnItsObject() {
    try (var sink = Stereotypes.def().sink(new StringBuilder("a"))) {
      sink.execAsync(s -> s.append("b"));

      assertEquals("ab", sink.ask(StringBuilder::toString));
    }
  }

  @Test
  void aSinkAroundNothingHandsItsCodeNull() {
    Sink<String> sink = Stereotypes.def().sink(null);

    sink.execAndWait(s -> assertNull(s));
    assertEquals("value", sink.ask(s -> "value"));
  }

  @Test
  void everySinkIsAnObjectOfItsOwn() {
    assertNotSame(Stereotypes.fibers().sink(null), Stereotypes.fibers().sink(null));
  }

  // ---- runOnce

  @Test
  void runOnceEndsWhenItsTaskReturned() {
    var ran = new AtomicInteger();

    var once = Stereotypes.def().runOnce(ran::incrementAndGet);

    assertTrue(once.waitForExit(LONG));
    assertEquals(1, ran.get());
    assertEquals(new ExitReason.Finished(), once.onExit().resultNow());
  }

  @Test
  void runOnceHandsItsTaskItsOwnActor() {
    var seen = new ArrayList<Exitable>();

    var once = Stereotypes.def().runOnce((Exitable self) -> seen.add(self));

    assertTrue(once.waitForExit(LONG));
    assertSame(once, seen.getFirst());
  }

  @Test
  void aTaskMayEndItsOwnActor() {
    var once = Stereotypes.def().runOnce(Exitable::askExit);

    assertTrue(once.waitForExit(LONG));
    assertEquals(new ExitReason.Stopped(), once.onExit().resultNow());
  }

  @Test
  void runOnceThatFailsEndsWithItsFailureAndLogsIt() {
    var failure = new IOException("loud failure");

    try (var logged = new Logged()) {
      var once = Stereotypes.def().runOnce(() -> {
        throw failure;
      });

      assertTrue(once.waitForExit(LONG));
      assertEquals(new ExitReason.Failed(failure), once.onExit().resultNow());
      assertTrue(logged.text().contains("loud failure"), logged.text());
    }
  }

  @Test
  void runOnceSilentThatFailsEndsWithItsFailureAndLogsNothing() {
    var failure = new IOException("quiet failure");

    try (var logged = new Logged()) {
      var once = Stereotypes.def().runOnceSilent(() -> {
        throw failure;
      });

      assertTrue(once.waitForExit(LONG));
      assertEquals(new ExitReason.Failed(failure), once.onExit().resultNow());
      assertFalse(logged.text().contains("quiet failure"), logged.text());
    }
  }

  @Test
  void aKilledRunOnceIsInterrupted() {
    var begun = new CountDownLatch(1);
    var once = Stereotypes.def().runOnceSilent(() -> {
      begun.countDown();
      new CountDownLatch(1).await();
    });
    Patience.await(begun);

    once.kill();

    assertTrue(once.waitForExit(LONG));
    assertEquals(new ExitReason.Killed(), once.onExit().resultNow());
  }

  @Test
  void runOnceWithoutATaskIsRefused() {
    var recipes = Stereotypes.def();

    assertEquals("task",
        assertThrows(NullPointerException.class, () -> recipes.runOnce((Handler.Task) null)).getMessage());
    assertEquals("task",
        assertThrows(NullPointerException.class, () -> recipes.runOnce((Handler<Exitable>) null)).getMessage());
    assertEquals("task", assertThrows(NullPointerException.class, () -> recipes.runOnceSilent(null)).getMessage());
  }

  // ---- what has a block of its own

  @Test
  void batchesRateLimitsAndHooksAreMadeAsTheBuilderSays() throws Exception {
    var seen = new ArrayList<Object>();
    var recipes = Stereotypes.of(ActorSystem.named("recipe").strategy(Strategy.CALLER));
    Actor<String> log = recipes.batch(2, LONG, seen::add);
    log.sendMessages(List.of("a", "b", "c"));
    log.close();
    var limited = recipes.rateLimited(1, LONG).newActor((String message) -> seen.add(message));
    limited.sendMessage("first");
    limited.close();

    var half = recipes.hooks((Integer n) -> n / 2).beforeAsync(n -> seen.add(Thread.currentThread()));

    assertEquals(4, half.handle(8));
    assertEquals(List.of("recipe", "recipe"), List.of(log.name(), limited.name()));
    assertEquals(List.of(List.of("a", "b"), List.of("c"), "first", Thread.currentThread()), seen);
  }
}
