package io.fibry.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.DeadLetter.Reason;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Each nested class is a test class as a user would write it; the tests here run it. */
class FibryExtensionTest {
  private static final Duration SHORT = Duration.ofMillis(20); // for a close that fails
  // added by the nested tests, read here
  private static final Queue<Object> SEEN = new ConcurrentLinkedQueue<>();
  // a new one for each test here; handlers wait for it
  private static volatile CompletableFuture<Void> gate;

  @BeforeEach
  void begin() {
    SEEN.clear();
    gate = new CompletableFuture<>();
  }

  @AfterEach
  void openTheGate() {
    gate.complete(null);
  }

  private static TestExecutionSummary run(Class<?> tests) {
    var listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(LauncherDiscoveryRequestBuilder.request().selectors(selectClass(tests)).build(),
        listener);
    return listener.getSummary();
  }

  private static void succeeds(int number, Class<?> tests) {
    var summary = run(tests);
    assertEquals(List.of(), summary.getFailures().stream().map(failure -> failure.getException().toString()).toList());
    assertEquals(number, summary.getTestsSucceededCount());
  }

  private static Throwable failureOf(Class<?> tests) {
    var failures = run(tests).getFailures();
    assertEquals(1, failures.size());
    return failures.getFirst().getException();
  }

  private static void assertContains(String part, Throwable failure) {
    assertTrue(failure.getMessage().contains(part), () -> "'" + part + "' is not in: " + failure.getMessage());
  }

  private static Actor<String> failing(ActorScope scope) {
    return scope.named("kitchen").onFailure(FailurePolicy.resume().withoutLog()).newActor((String message) -> {
      throw new IllegalStateException("planned");
    });
  }

  @ExtendWith(FibryExtension.class)
  static class HaveParameters {
    private TestScope before;

    @BeforeEach
    void before(TestScope scope) {
      before = scope;
    }

    @Test
    void testTakesScopeAndClock(ActorScope scope, ManualScheduler clock) {
      assertSame(before, scope);
      assertSame(before.clock(), clock);
      SEEN.add(scope);
    }

    @Test
    void testTakesScope(TestScope scope) {
      SEEN.add(scope);
    }

    @Test
    void testTakesNoParameters() {
      SEEN.add("a test that makes nothing");
    }
  }

  @Test
  void aTestHasOneScopeAndAnotherTestAnother() {
    succeeds(3, HaveParameters.class);

    var scopes = SEEN.stream().filter(seen -> seen instanceof TestScope).toList();
    assertNotSame(scopes.getFirst(), scopes.getLast());
  }

  @ExtendWith(FibryExtension.class)
  static class LeaveAnIdleActor {
    @Test
    void test(TestScope scope) {
      SEEN.add(scope.anonymous().newActor((String message) -> SEEN.add(message)));
    }
  }

  @Test
  void anIdleActorIsEndedAndIsNoLeak() {
    succeeds(1, LeaveAnIdleActor.class);

    var actor = assertInstanceOf(Exitable.class, SEEN.peek());
    assertTrue(actor.onExit().isDone());
  }

  @ExtendWith(FibryExtension.class)
  static class LeaveAnActorAtWork {
    @Test
    void test(TestScope scope) {
      scope.limit = SHORT;
      scope.named("clerk").newActor((String message) -> gate.get()).sendMessage("wait");
    }
  }

  @Test
  void interruptedActorIsReportedAsLeak() {
    var failure = failureOf(LeaveAnActorAtWork.class);

    assertContains("scope 'test(TestScope)' did not end by itself within " + TestScope.format(SHORT), failure);
    assertContains("clerk (FIBER)", failure);
  }

  @ExtendWith(FibryExtension.class)
  static class LeaveAThread {
    @Test
    void test(TestScope scope) {
      var waits = new CountDownLatch(1);
      scope.named("clerk").strategy(Strategy.THREAD).newActor((String message) -> {
        waits.countDown();
        gate.join();
      }).sendMessage("wait");
      Patience.await(waits);
      scope.limit = SHORT;
    }
  }

  @Test
  void handlerIgnoringInterruptIsReportedWithActorName() {
    assertContains("handlers that still run: [clerk]", failureOf(LeaveAThread.class));
  }

  static class LeaveADeadLetter {
    @RegisterExtension
    static final FibryExtension FIBRY = new FibryExtension().withoutDeadLetters();

    @Test
    void test(TestScope scope) {
      failing(scope).sendMessage("soup");
    }
  }

  @Test
  void aDeadLetterIsAFailureIfTheExtensionRefusesThem() {
    assertContains("[dead letter to 'kitchen', FAILED: \"soup\"]", failureOf(LeaveADeadLetter.class));
  }

  static class AskForTheirDeadLetter {
    @RegisterExtension
    static final FibryExtension FIBRY = new FibryExtension().withoutDeadLetters();

    @Test
    void test(TestScope scope) {
      failing(scope).sendMessage("soup");
      scope.assertDeadLetter(Reason.FAILED, "soup");
    }
  }

  @Test
  void anExpectedDeadLetterIsNoFailure() {
    succeeds(1, AskForTheirDeadLetter.class);
  }

  @ExtendWith(FibryExtension.class)
  static class DoNotMind {
    @Test
    void test(TestScope scope) {
      failing(scope).sendMessage("soup");
    }
  }

  @Test
  void deadLettersAreNoFailureByDefault() {
    succeeds(1, DoNotMind.class);
  }

  static class RunOnTheCaller {
    @RegisterExtension
    static final FibryExtension FIBRY = new FibryExtension().withOptions(o -> o.withStrategy(Strategy.CALLER));

    @Test
    void test(TestScope scope) {
      scope.anonymous().newActor((String message) -> SEEN.add(Thread.currentThread())).sendMessage("now");
      assertEquals(List.of(Thread.currentThread()), List.copyOf(SEEN));
    }
  }

  @Test
  void theOptionsAreThoseOfTheScope() {
    succeeds(1, RunOnTheCaller.class);
  }

  static class FailByThemselves {
    @RegisterExtension
    static final FibryExtension FIBRY = new FibryExtension().withoutDeadLetters();

    @Test
    void test(TestScope scope) {
      failing(scope).sendMessage("soup");
      fail("its own");
    }
  }

  @Test
  void failingTestKeepsItsOwnFailure() {
    var failure = failureOf(FailByThemselves.class);

    assertEquals("its own", failure.getMessage());
    assertEquals(0, failure.getSuppressed().length);
  }

  @ExtendWith(FibryExtension.class)
  static class AskForTooMuch {
    @BeforeAll
    static void before(TestScope scope) {
      SEEN.add(scope);
    }

    @Test
    void test() {}
  }

  @Test
  void aScopeForManyTestsIsRefused() {
    var failure = assertInstanceOf(ParameterResolutionException.class, failureOf(AskForTooMuch.class));

    assertContains("a scope belongs to one test", failure);
  }
}
