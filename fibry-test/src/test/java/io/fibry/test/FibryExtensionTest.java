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

/** Runs nested classes through JUnit's launcher. They are test classes as a user writes them. */
class FibryExtensionTest {
  private static final Duration SHORT = Duration.ofMillis(20); // the limit of a close that must fail
  // added by the nested tests, read by the outer tests
  private static final Queue<Object> RECORDED = new ConcurrentLinkedQueue<>();
  // replaced before each outer test; handlers of the nested tests wait for it
  private static volatile CompletableFuture<Void> gate;

  @BeforeEach
  void prepare() {
    RECORDED.clear();
    gate = new CompletableFuture<>();
  }

  @AfterEach
  void openGate() {
    gate.complete(null);
  }

  private static TestExecutionSummary run(Class<?> tests) {
    var listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(LauncherDiscoveryRequestBuilder.request().selectors(selectClass(tests)).build(),
        listener);
    return listener.getSummary();
  }

  private static void assertAllSucceed(int count, Class<?> tests) {
    var summary = run(tests);
    assertEquals(List.of(), summary.getFailures().stream().map(failure -> failure.getException().toString()).toList());
    assertEquals(count, summary.getTestsSucceededCount());
  }

  private static Throwable failureOf(Class<?> tests) {
    var failures = run(tests).getFailures();
    assertEquals(1, failures.size());
    return failures.getFirst().getException();
  }

  private static void assertContains(String part, Throwable failure) {
    assertTrue(failure.getMessage().contains(part), () -> "'" + part + "' is not in: " + failure.getMessage());
  }

  private static Actor<String> failingActor(ActorScope scope) {
    return scope.named("kitchen").onFailure(FailurePolicy.resume().withoutLog()).newActor((String message) -> {
      throw new IllegalStateException("planned");
    });
  }

  @ExtendWith(FibryExtension.class)
  static class TakeScopes {
    private TestScope scopeBefore;

    @BeforeEach
    void before(TestScope scope) {
      scopeBefore = scope;
    }

    @Test
    void testTakesScopeAndClockParameters(ActorScope scope, ManualScheduler clock) {
      assertSame(scopeBefore, scope);
      assertSame(scopeBefore.clock(), clock);
      RECORDED.add(scope);
    }

    @Test
    void testTakesScopeParameter(TestScope scope) {
      RECORDED.add(scope);
    }

    @Test
    void testTakesNoParameter() {
      RECORDED.add("a test without parameters");
    }
  }

  @Test
  void eachTestHasItsOwnScope() {
    assertAllSucceed(3, TakeScopes.class);

    var scopes = RECORDED.stream().filter(entry -> entry instanceof TestScope).toList();
    assertNotSame(scopes.getFirst(), scopes.getLast());
  }

  @ExtendWith(FibryExtension.class)
  static class LeaveIdleActor {
    @Test
    void testLeavesIdleActor(TestScope scope) {
      RECORDED.add(scope.anonymous().newActor((String message) -> RECORDED.add(message)));
    }
  }

  @Test
  void idleActorIsEndedAndIsNoLeak() {
    assertAllSucceed(1, LeaveIdleActor.class);

    var actor = assertInstanceOf(Exitable.class, RECORDED.peek());
    assertTrue(actor.onExit().isDone());
  }

  @ExtendWith(FibryExtension.class)
  static class LeaveBusyActor {
    @Test
    void testLeavesBusyActor(TestScope scope) {
      scope.limit = SHORT;
      scope.named("clerk").newActor((String message) -> gate.get()).sendMessage("wait");
    }
  }

  @Test
  void actorThatMustBeInterruptedIsReportedAsLeak() {
    var failure = failureOf(LeaveBusyActor.class);

    assertContains("scope 'testLeavesBusyActor(TestScope)' did not end by itself within " + TestScope.format(SHORT),
        failure);
    assertContains("clerk (FIBER)", failure);
  }

  @ExtendWith(FibryExtension.class)
  static class LeaveBusyThread {
    @Test
    void testLeavesThreadThatIgnoresInterrupt(TestScope scope) {
      var handlerStart = new CountDownLatch(1);
      scope.named("clerk").strategy(Strategy.THREAD).newActor((String message) -> {
        handlerStart.countDown();
        gate.join();
      }).sendMessage("wait");
      Patience.await(handlerStart);
      scope.limit = SHORT;
    }
  }

  @Test
  void handlerIgnoringInterruptIsReportedWithActorName() {
    assertContains("handlers that still run: [clerk]", failureOf(LeaveBusyThread.class));
  }

  static class LeaveDeadLetter {
    @RegisterExtension
    static final FibryExtension FIBRY = new FibryExtension().withoutDeadLetters();

    @Test
    void testLeavesDeadLetter(TestScope scope) {
      failingActor(scope).sendMessage("soup");
    }
  }

  @Test
  void deadLetterFailsTestWhenForbidden() {
    assertContains("[dead letter to 'kitchen', FAILED: \"soup\"]", failureOf(LeaveDeadLetter.class));
  }

  static class ExpectDeadLetter {
    @RegisterExtension
    static final FibryExtension FIBRY = new FibryExtension().withoutDeadLetters();

    @Test
    void testExpectsDeadLetter(TestScope scope) {
      failingActor(scope).sendMessage("soup");
      scope.assertDeadLetter(Reason.FAILED, "soup");
    }
  }

  @Test
  void expectedDeadLetterIsNoFailure() {
    assertAllSucceed(1, ExpectDeadLetter.class);
  }

  @ExtendWith(FibryExtension.class)
  static class PermitDeadLetters {
    @Test
    void testLeavesPermittedDeadLetter(TestScope scope) {
      failingActor(scope).sendMessage("soup");
    }
  }

  @Test
  void deadLettersAreNoFailureByDefault() {
    assertAllSucceed(1, PermitDeadLetters.class);
  }

  static class RunOnCaller {
    @RegisterExtension
    static final FibryExtension FIBRY = new FibryExtension().withOptions(o -> o.withStrategy(Strategy.CALLER));

    @Test
    void testRunsActorOnCallerThread(TestScope scope) {
      scope.anonymous().newActor((String message) -> RECORDED.add(Thread.currentThread())).sendMessage("now");
      assertEquals(List.of(Thread.currentThread()), List.copyOf(RECORDED));
    }
  }

  @Test
  void extensionOptionsApplyToScope() {
    assertAllSucceed(1, RunOnCaller.class);
  }

  static class FailWithOwnFailure {
    @RegisterExtension
    static final FibryExtension FIBRY = new FibryExtension().withoutDeadLetters();

    @Test
    void testFailsWithItsOwnFailure(TestScope scope) {
      failingActor(scope).sendMessage("soup");
      fail("the test's own failure");
    }
  }

  @Test
  void failingTestKeepsItsOwnFailure() {
    var failure = failureOf(FailWithOwnFailure.class);

    assertEquals("the test's own failure", failure.getMessage());
    assertEquals(0, failure.getSuppressed().length);
  }

  @ExtendWith(FibryExtension.class)
  static class TakeScopeForAllTests {
    @BeforeAll
    static void before(TestScope scope) {
      RECORDED.add(scope);
    }

    @Test
    void testNeverRunsWhenScopeIsForAllTests() {}
  }

  @Test
  void scopeForSeveralTestsIsRefused() {
    var failure = assertInstanceOf(ParameterResolutionException.class, failureOf(TakeScopeForAllTests.class));

    assertContains("a scope belongs to one test", failure);
  }
}
