package io.fibry.flow;

import static io.fibry.flow.NullAssertion.assertNullRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class HooksTest {
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope =
      ActorSystem.openScope("hooks", o -> o.withDeadLetterListener(letters).withKillGrace(Duration.ofHours(1)));
  private final List<Object> calls = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  private HookedFunction<Integer, Integer> halvingFunction() {
    return HookedFunction.around(scope.anonymous(), n -> {
      calls.add("body");
      if (n % 2 != 0) throw new IOException(n + " is odd");
      return n / 2;
    });
  }

  @Test
  void hooksRunInTheirOrderAroundTheBody() throws Exception {
    var function = halvingFunction().after((n, r) -> calls.add("after " + r)).before(n -> calls.add("before " + n))
        .before(n -> calls.add("before too")).after((n, r) -> calls.add("after too"))
        .onError((n, failure) -> calls.add("error"));

    int result = function.handle(6);

    assertEquals(3, result);
    assertEquals(List.of("before 6", "before too", "body", "after 3", "after too"), calls);
  }

  @Test
  void errorHooksAndCallerGetExceptionThrownByBody() {
    var function = halvingFunction().onError((n, failure) -> calls.add(failure)).onError((n, failure) -> calls.add(n))
        .after((n, r) -> calls.add("after"));

    var thrown = assertThrows(IOException.class, () -> function.handle(7));

    assertEquals(List.of("body", thrown, 7), calls);
  }

  @Test
  void stackOverflowOfBodyReachesErrorHookAndCaller() {
    var failure = new StackOverflowError();
    var failingFunction = HookedFunction.<Integer, Integer>around(scope.anonymous(), n -> {
      throw failure;
    }).onError((n, thrown) -> calls.add(thrown));

    assertSame(failure, assertThrows(StackOverflowError.class, () -> failingFunction.handle(1)));

    assertEquals(List.of(failure), calls);
  }

  @Test
  void nullAnswerOfBodyFailsAndReachesErrorHook() {
    var nullFunction =
        HookedFunction.<Integer, Integer>around(scope.anonymous(), n -> null).after((n, r) -> calls.add("after"))
            .onError((n, failure) -> calls.add(failure.getMessage()));

    assertThrows(NullPointerException.class, () -> nullFunction.handle(1));

    assertEquals(List.of("the body answered null; let it answer an Optional"), calls);
  }

  @Promise("22.13")
  @Test
  void failedHookIsLoggedAndAffectsNeitherResultNorOtherHooks() throws Exception {
    try (var logged = new Logged()) {
      var function = halvingFunction().before(n -> {
        throw new IOException("loud one");
      }).before(n -> calls.add("before")).after((n, r) -> {
        throw new StackOverflowError("loud two");
      }).after((n, r) -> calls.add("after")).onError((n, failure) -> {
        throw new IllegalStateException("loud three");
      }).onError((n, failure) -> calls.add("error"));

      assertEquals(2, function.handle(4));
      assertEquals("5 is odd", assertThrows(IOException.class, () -> function.handle(5)).getMessage());

      assertEquals(List.of("before", "body", "after", "before", "body", "error"), calls);
      for (var text : List.of("the hook before 4 failed", "loud one", "the hook after 4 failed", "loud two",
          "the hook on the error at 5 failed", "loud three"))
        assertTrue(logged.text().contains(text), logged.text());
    }
  }

  @Test
  void interruptedHookLeavesInterruptFlagForBody() throws Exception {
    try (var logged = new Logged()) {
      var interruptReader = HookedFunction.<Integer, Boolean>around(scope.anonymous(), n -> Thread.interrupted())
          .before(n -> new CountDownLatch(1).await());
      Thread.currentThread().interrupt();

      assertTrue(interruptReader.handle(1));

      assertTrue(logged.text().contains("the hook before 1 failed"), logged.text());
    }
  }

  @Test
  void addingHookReturnsCopyOfFunction() throws Exception {
    var function = halvingFunction();

    var functionWithHook = function.before(n -> calls.add("before"));

    assertNotSame(function, functionWithHook);
    function.handle(2);
    assertEquals(List.of("body"), calls);
  }

  @ParameterizedTest
  @MethodSource("io.fibry.flow.BatchTest#strategies")
  void hookedFunctionMayBeHandlerOfAnyActor(String strategy) {
    var function = halvingFunction().before(n -> calls.add("before")).after((n, r) -> calls.add("after"));
    var actor = scope.anonymous().strategy(Variants.STRATEGIES.get(strategy))
        .onFailure(FailurePolicy.resume().withoutLog()).newActorWithReturn(function);

    assertEquals(4, actor.ask(8));
    assertEquals("3 is odd", assertThrows(IOException.class, () -> actor.ask(3)).getMessage());

    assertEquals(List.of("before", "body", "after", "before", "body"), calls);
  }

  @ParameterizedTest
  @MethodSource("io.fibry.flow.BatchTest#strategies")
  void asynchronousHooksUseTheStrategyOfTheirBuilder(String strategy) throws Exception {
    var threads = new CopyOnWriteArrayList<Thread>();
    var function = HookedFunction
        .<Integer, Integer>around(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)), n -> n / 2)
        .beforeAsync(n -> threads.add(Thread.currentThread()))
        .afterAsync((n, r) -> threads.add(Thread.currentThread()));

    function.handle(2);
    Patience.eventually(() -> threads.size() == 2);

    assertEquals(strategy.equals("CALLER"), threads.contains(Thread.currentThread()));
  }

  @Test
  void callerDoesNotWaitForAsynchronousHooks() throws Exception {
    var gate = new Gate();
    var function = halvingFunction().beforeAsync(n -> gate.pass()).afterAsync((n, r) -> {
      gate.pass();
      calls.add(r);
    }).onErrorAsync((n, failure) -> {
      gate.pass();
      calls.add(failure.getMessage());
    });

    assertEquals(2, function.handle(4));
    assertThrows(IOException.class, () -> function.handle(5));
    assertEquals(List.of("body", "body"), calls);
    gate.open();
    Patience.eventually(() -> calls.size() == 4);

    assertEquals(List.of(2, "5 is odd"),
        calls.subList(2, 4).stream().sorted((a, b) -> a instanceof Integer ? -1 : 1).toList());
  }

  @Test
  void failurePolicyHandlesFailedAsynchronousHook() throws Exception {
    try (var logged = new Logged()) {
      var tries = new AtomicInteger();
      var function =
          HookedFunction
              .<Integer, Integer>around(scope.named("half").onFailure(FailurePolicy.resume().withRetries(1)),
                  n -> n / 2)
              .afterAsync((n, r) -> {
                throw new IOException("try " + tries.incrementAndGet());
              });

      assertEquals(2, function.handle(4));
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      assertEquals(List.of("half/hook-1", "hook after 4", Reason.FAILED), List.of(letters.all.getFirst().actor(),
          letters.all.getFirst().message().toString(), letters.all.getFirst().reason()));
      assertTrue(logged.text().contains("actor 'half/hook-1' failed at hook after 4; it continues"), logged.text());
      assertEquals(2, tries.get());
    }
  }

  @Test
  void manyAsynchronousHooksOfNamedBuilderRunConcurrently() throws Exception {
    var allRunning = new CountDownLatch(20);
    var function = HookedFunction.<Integer, Integer>around(scope.named("half"), n -> n / 2).afterAsync((n, r) -> {
      allRunning.countDown();
      allRunning.await();
    });

    for (int i = 0; i < 20; i++) function.handle(i);

    Patience.await(allRunning);
  }

  @ParameterizedTest
  @MethodSource("io.fibry.flow.BatchTest#strategies")
  void actorEndsAfterItsAsynchronousHookCompletes(String strategy) throws Exception {
    var function =
        HookedFunction
            .<Integer, Integer>around(scope.named("half").strategy(Variants.STRATEGIES.get(strategy)), n -> n / 2)
            .beforeAsync(n -> calls.add(n));

    function.handle(2);

    Patience.eventually(() -> calls.size() == 1 && !scope.dump().contains("half"));
  }

  @Test
  void asynchronousHookIgnoresMailboxOfBuilder() throws Exception {
    var hookLatch = new CountDownLatch(1);
    var function =
        HookedFunction
            .<Integer, Integer>around(scope.anonymous().mailbox(Mailbox.<Integer>priority((a, b) -> 0)), n -> n / 2)
            .beforeAsync(n -> hookLatch.countDown());

    function.handle(2);

    Patience.await(hookLatch);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void asynchronousHookInClosedScopeIsLoggedAndSkipped(boolean hasName) throws Exception {
    var closedScope = ActorSystem.openScope("closed");
    var function = HookedFunction
        .<Integer, Integer>around(hasName ? closedScope.named("half") : closedScope.anonymous(), n -> n / 2)
        .beforeAsync(n -> calls.add("hook"));
    closedScope.close();

    try (var logged = new Logged()) {
      assertEquals(2, function.handle(4));

      assertTrue(logged.text().contains("the hook before 4 failed"), logged.text());
      assertTrue(logged.text().contains("scope 'closed' is closed"), logged.text());
    }
    assertEquals(List.of(), calls);
  }

  @Test
  void closingScopeEndsRunningAsynchronousHooks() throws Exception {
    var gate = new Gate();
    var function = halvingFunction().afterAsync((n, r) -> gate.pass());
    function.handle(20);
    Patience.await(gate.entered);

    try (var logged = new Logged()) {
      var report = scope.closeWithin(Duration.ofMillis(20));

      assertEquals(List.of(), report.unresponsive());
      assertEquals(1, report.deadLetters().size());
      assertEquals("", logged.entriesAbout("hook after 20", "scope 'hooks'"));
    }
  }

  @Test
  void killedActorDoesNotEndItsAsynchronousHooks() {
    var gate = new Gate();
    var actor = scope.anonymous().newActorWithReturn(halvingFunction().afterAsync((n, r) -> {
      gate.pass();
      calls.add("done");
    }));
    actor.ask(2);
    Patience.await(gate.entered);

    actor.kill();
    Patience.awaitEnd(actor::waitForExit);
    gate.open();

    assertEquals(new ExitReason.Killed(), actor.onExit().resultNow());
    Patience.eventually(() -> calls.contains("done"));
  }

  @Test
  void tenThousandAsynchronousHooksNeedFewPlatformThreads() throws Exception {
    int hookCount = 10_000;
    var startLatch = new CountDownLatch(hookCount);
    var gateLatch = new CountDownLatch(1);
    var endLatch = new CountDownLatch(hookCount);
    var function = HookedFunction.<Integer, Integer>around(ActorSystem.anonymous().strategy(Strategy.FIBER), n -> n / 2)
        .afterAsync((n, r) -> {
          startLatch.countDown();
          gateLatch.await();
          endLatch.countDown();
        });

    for (int i = 0; i < hookCount; i++) function.handle(i);
    Patience.await(startLatch);
    int platformThreads = ManagementFactory.getThreadMXBean().getThreadCount();
    gateLatch.countDown();

    Patience.await(endLatch);
    assertTrue(platformThreads < hookCount / 10, platformThreads + " platform threads");
  }

  @Test
  void completedAsynchronousHookKeepsNoMessageInMemory() throws Exception {
    var message = new AtomicReference<>(new Object());
    var hookLatch = new CountDownLatch(1);
    var function =
        HookedFunction.around(ActorSystem.anonymous(), (Object argument) -> true)
            .afterAsync((argument, reply) -> hookLatch.countDown());
    function.handle(message.get());
    Patience.await(hookLatch);
    var reference = new WeakReference<>(message.getAndSet(null));

    assertTrue(LeakProbe.collected(reference));
    assertTrue(function.handle(1));
  }

  @Test
  void exceptionNamesNullArgument() {
    var function = halvingFunction();

    assertNullRefused("builder", () -> HookedFunction.around(null, n -> n));
    assertNullRefused("body", () -> HookedFunction.around(scope.anonymous(), null));
    for (Runnable step : List.<Runnable>of(() -> function.before(null), () -> function.beforeAsync(null),
        () -> function.after(null), () -> function.afterAsync(null), () -> function.onError(null),
        () -> function.onErrorAsync(null)))
      assertNullRefused("hook", step::run);
  }
}
