package io.fibry.flow;

import static io.fibry.flow.NullAssertion.assertNullRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.LeakProbe;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
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
  private final Letters letters = new Letters();
  private final ActorScope scope =
      ActorSystem.openScope("hooks", o -> o.withDeadLetters(letters).withKillGrace(Duration.ofHours(1)));
  private final List<Object> seen = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  private HookedFunction<Integer, Integer> half() {
    return HookedFunction.around(scope.anonymous(), n -> {
      seen.add("body");
      if (n % 2 != 0) throw new IOException(n + " is odd");
      return n / 2;
    });
  }

  @Test
  void hooksRunInTheirOrderAroundTheBody() throws Exception {
    var half = half().after((n, r) -> seen.add("after " + r)).before(n -> seen.add("before " + n))
        .before(n -> seen.add("before too")).after((n, r) -> seen.add("after too"))
        .onError((n, failure) -> seen.add("error"));

    int three = half.handle(6);

    assertEquals(3, three);
    assertEquals(List.of("before 6", "before too", "body", "after 3", "after too"), seen);
  }

  @Test
  void failureOfBodyGoesToErrorHooksAndCallerUnchanged() {
    var half = half().onError((n, failure) -> seen.add(failure)).onError((n, failure) -> seen.add(n))
        .after((n, r) -> seen.add("after"));

    var thrown = assertThrows(IOException.class, () -> half.handle(7));

    assertEquals(List.of("body", thrown, 7), seen);
  }

  @Test
  void errorOfBodyIsTreatedLikeException() {
    var failure = new StackOverflowError();
    var fails = HookedFunction.<Integer, Integer>around(scope.anonymous(), n -> {
      throw failure;
    }).onError((n, thrown) -> seen.add(thrown));

    assertSame(failure, assertThrows(StackOverflowError.class, () -> fails.handle(1)));

    assertEquals(List.of(failure), seen);
  }

  @Test
  void anAnswerOfNullIsAnError() {
    var nothing =
        HookedFunction.<Integer, Integer>around(scope.anonymous(), n -> null).after((n, r) -> seen.add("after"))
            .onError((n, failure) -> seen.add(failure.getMessage()));

    assertThrows(NullPointerException.class, () -> nothing.handle(1));

    assertEquals(List.of("the body answered null; let it answer an Optional"), seen);
  }

  @Promise("22.13")
  @Test
  void aHookThatThrowsIsLoggedAndHarmsNobody() throws Exception {
    try (var logged = new Logged()) {
      var half = half().before(n -> {
        throw new IOException("loud one");
      }).before(n -> seen.add("before")).after((n, r) -> {
        throw new StackOverflowError("loud two");
      }).after((n, r) -> seen.add("after")).onError((n, failure) -> {
        throw new IllegalStateException("loud three");
      }).onError((n, failure) -> seen.add("error"));

      assertEquals(2, half.handle(4));
      assertEquals("5 is odd", assertThrows(IOException.class, () -> half.handle(5)).getMessage());

      assertEquals(List.of("before", "body", "after", "before", "body", "error"), seen);
      for (var said : List.of("the hook before 4 failed", "loud one", "the hook after 4 failed", "loud two",
          "the hook on the error at 5 failed", "loud three"))
        assertTrue(logged.text().contains(said), logged.text());
    }
  }

  @Test
  void anInterruptThatEndedAHookIsLeftForTheBody() throws Exception {
    try (var logged = new Logged()) {
      var flag = HookedFunction.<Integer, Boolean>around(scope.anonymous(), n -> Thread.interrupted())
          .before(n -> new CountDownLatch(1).await());
      Thread.currentThread().interrupt();

      assertTrue(flag.handle(1));

      assertTrue(logged.text().contains("the hook before 1 failed"), logged.text());
    }
  }

  @Test
  void eachStepIsACopy() throws Exception {
    var half = half();

    var hooked = half.before(n -> seen.add("before"));

    assertNotSame(half, hooked);
    half.handle(2);
    assertEquals(List.of("body"), seen);
  }

  @ParameterizedTest
  @MethodSource("io.fibry.flow.BatchTest#strategies")
  void hookedFunctionIsHandlerOfAnyActor(String strategy) {
    var half = half().before(n -> seen.add("before")).after((n, r) -> seen.add("after"));
    var actor = scope.anonymous().strategy(Variants.STRATEGIES.get(strategy))
        .onFailure(FailurePolicy.resume().withoutLog()).newActorWithReturn(half);

    assertEquals(4, actor.ask(8));
    assertEquals("3 is odd", assertThrows(IOException.class, () -> actor.ask(3)).getMessage());

    assertEquals(List.of("before", "body", "after", "before", "body"), seen);
  }

  @ParameterizedTest
  @MethodSource("io.fibry.flow.BatchTest#strategies")
  void asynchronousHooksRunOnTheStrategyOfTheirBuilder(String strategy) throws Exception {
    var threads = new CopyOnWriteArrayList<Thread>();
    var half = HookedFunction
        .<Integer, Integer>around(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)), n -> n / 2)
        .beforeAsync(n -> threads.add(Thread.currentThread()))
        .afterAsync((n, r) -> threads.add(Thread.currentThread()));

    half.handle(2);
    Patience.eventually(() -> threads.size() == 2);

    assertEquals(strategy.equals("CALLER"), threads.contains(Thread.currentThread()));
  }

  @Test
  void nobodyWaitsForAnAsynchronousHook() throws Exception {
    var gate = new Gate();
    var half = half().beforeAsync(n -> gate.pass()).afterAsync((n, r) -> {
      gate.pass();
      seen.add(r);
    }).onErrorAsync((n, failure) -> {
      gate.pass();
      seen.add(failure.getMessage());
    });

    assertEquals(2, half.handle(4));
    assertThrows(IOException.class, () -> half.handle(5));
    assertEquals(List.of("body", "body"), seen);
    gate.open();
    Patience.eventually(() -> seen.size() == 4);

    assertEquals(List.of(2, "5 is odd"),
        seen.subList(2, 4).stream().sorted((a, b) -> a instanceof Integer ? -1 : 1).toList());
  }

  @Test
  void anAsynchronousHookThatThrowsIsForTheFailurePolicy() throws Exception {
    try (var logged = new Logged()) {
      var tries = new AtomicInteger();
      var half =
          HookedFunction
              .<Integer, Integer>around(scope.named("half").onFailure(FailurePolicy.resume().withRetries(1)),
                  n -> n / 2)
              .afterAsync((n, r) -> {
                throw new IOException("try " + tries.incrementAndGet());
              });

      assertEquals(2, half.handle(4));
      assertTrue(scope.awaitQuiescence(Patience.LONG));

      assertEquals(List.of("half/hook-1", "hook after 4", Reason.FAILED), List.of(letters.all.getFirst().actor(),
          letters.all.getFirst().message().toString(), letters.all.getFirst().reason()));
      assertTrue(logged.text().contains("actor 'half/hook-1' failed at hook after 4; it goes on"), logged.text());
      assertEquals(2, tries.get());
    }
  }

  @Test
  void manyAsynchronousHooksOfANamedBuilderRunAtOnce() throws Exception {
    var all = new CountDownLatch(20);
    var half = HookedFunction.<Integer, Integer>around(scope.named("half"), n -> n / 2).afterAsync((n, r) -> {
      all.countDown();
      all.await();
    });

    for (int i = 0; i < 20; i++) half.handle(i);

    Patience.await(all);
  }

  @ParameterizedTest
  @MethodSource("io.fibry.flow.BatchTest#strategies")
  void theActorOfAHookEndsAfterIt(String strategy) throws Exception {
    var half =
        HookedFunction
            .<Integer, Integer>around(scope.named("half").strategy(Variants.STRATEGIES.get(strategy)), n -> n / 2)
            .beforeAsync(n -> seen.add(n));

    half.handle(2);

    Patience.eventually(() -> seen.size() == 1 && !scope.dump().contains("half"));
  }

  @Test
  void theMailboxOfTheBuilderDoesNotMatter() throws Exception {
    var done = new CountDownLatch(1);
    var half =
        HookedFunction
            .<Integer, Integer>around(scope.anonymous().mailbox(Mailbox.<Integer>priority((a, b) -> 0)), n -> n / 2)
            .beforeAsync(n -> done.countDown());

    half.handle(2);

    Patience.await(done);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void hookRefusedByClosedScopeIsLogged(boolean named) throws Exception {
    var closed = ActorSystem.openScope("closed");
    var half = HookedFunction.<Integer, Integer>around(named ? closed.named("half") : closed.anonymous(), n -> n / 2)
        .beforeAsync(n -> seen.add("hook"));
    closed.close();

    try (var logged = new Logged()) {
      assertEquals(2, half.handle(4));

      assertTrue(logged.text().contains("the hook before 4 failed"), logged.text());
      assertTrue(logged.text().contains("scope 'closed' is closed"), logged.text());
    }
    assertEquals(List.of(), seen);
  }

  @Test
  void theScopeEndsHooksThatRun() throws Exception {
    var gate = new Gate();
    var half = half().afterAsync((n, r) -> gate.pass());
    half.handle(20);
    Patience.await(gate.entered);

    try (var logged = new Logged()) {
      var report = scope.closeWithin(Duration.ofMillis(20));

      assertEquals(List.of(), report.unresponsive());
      assertEquals(1, report.undelivered().size());
      assertEquals("", logged.about("hook after 20", "scope 'hooks'"));
    }
  }

  @Test
  void aKillOfTheActorLeavesItsAsynchronousHooks() {
    var gate = new Gate();
    var actor = scope.anonymous().newActorWithReturn(half().afterAsync((n, r) -> {
      gate.pass();
      seen.add("done");
    }));
    actor.ask(2);
    Patience.await(gate.entered);

    actor.kill();
    Patience.ended(actor::waitForExit);
    gate.open();

    assertEquals(new ExitReason.Killed(), actor.onExit().resultNow());
    Patience.eventually(() -> seen.contains("done"));
  }

  @Test
  void tenThousandAsynchronousHooksWaitAtOnceWithoutPlatformThreads() throws Exception {
    int hooks = 10_000;
    var begun = new CountDownLatch(hooks);
    var open = new CountDownLatch(1);
    var done = new CountDownLatch(hooks);
    var half = HookedFunction.<Integer, Integer>around(ActorSystem.anonymous().strategy(Strategy.FIBER), n -> n / 2)
        .afterAsync((n, r) -> {
          begun.countDown();
          open.await();
          done.countDown();
        });

    for (int i = 0; i < hooks; i++) half.handle(i);
    Patience.await(begun);
    int threads = ManagementFactory.getThreadMXBean().getThreadCount();
    open.countDown();

    Patience.await(done);
    assertTrue(threads < hooks / 10, threads + " platform threads");
  }

  @Test
  void nothingIsLeftOfAHookThatRan() throws Exception {
    var message = new AtomicReference<>(new Object());
    var ran = new CountDownLatch(1);
    var hooks =
        HookedFunction.around(ActorSystem.anonymous(), (Object given) -> true)
            .afterAsync((given, reply) -> ran.countDown());
    hooks.handle(message.get());
    Patience.await(ran);
    var reference = new WeakReference<>(message.getAndSet(null));

    assertTrue(LeakProbe.collected(reference));
    assertTrue(hooks.handle(1));
  }

  @Test
  void nullIsRefusedByItsName() {
    var half = half();

    assertNullRefused("builder", () -> HookedFunction.around(null, n -> n));
    assertNullRefused("body", () -> HookedFunction.around(scope.anonymous(), null));
    for (Runnable step : List.<Runnable>of(() -> half.before(null), () -> half.beforeAsync(null),
        () -> half.after(null), () -> half.afterAsync(null), () -> half.onError(null), () -> half.onErrorAsync(null)))
      assertNullRefused("hook", step::run);
  }
}
