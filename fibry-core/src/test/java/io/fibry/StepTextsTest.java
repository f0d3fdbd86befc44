package io.fibry;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.spi.MultiStepMessage;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that logs and dumps show the current step of a message with several steps. */
class StepTextsTest {
  private static final Duration LIMIT = Duration.ofSeconds(4);

  // @start region="steps"
  /** Jobs come from outside for as long as the program runs. */
  static final class Feed implements MultiStepMessage {
    private final LinkedBlockingQueue<String> jobs = new LinkedBlockingQueue<>();
    private volatile String job; // null while it waits for a job
    private volatile long completed;

    String next() throws InterruptedException {
      if (job != null) completed++;
      job = null;
      return job = new String(jobs.take()); // a new object for each step, even for equal jobs
    }

    @Override
    public Object currentStep() {
      return job;
    }

    @Override
    public long completedSteps() {
      return completed;
    }

    @Override
    public String toString() {
      return "the feed";
    }
  }
  // @end

  private final Clock clock = new Clock();
  private final ActorScope scope =
      ActorSystem.openScope("watched", o -> o.withScheduler(clock).withWatchdog(LIMIT, 1_000));
  private final Gate gate = new Gate();
  private final Feed feed = new Feed();

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  /**
   * Asserts that the log has no text about the worker while the clock advances. Ignores other
   * texts, because actors of other tests may log, too.
   */
  private void assertWorkerIsNotLogged(Duration duration) {
    var text = clock.logged(duration);
    assertFalse(text.contains("'worker'"), text);
  }

  @Promise("19.11")
  @Test
  void watchdogTimesStepOfMessageInsteadOfWholeMessage() {
    scope.named("worker").newActor((Feed jobs) -> {
      while (true) if (jobs.next().equals("slow")) gate.pass();
    }).sendMessage(feed);
    for (int i = 1; i <= 2; i++) {
      feed.jobs.add("quick");
      String idle = "worker (FIBER): waits for the feed; " + i + " handled";
      Patience.eventually(() -> scope.dump().contains(idle));
      assertWorkerIsNotLogged(LIMIT.dividedBy(2));
    }
    feed.jobs.add("slow");
    Patience.await(gate.entered);

    var text = clock.logged(LIMIT.multipliedBy(2));

    assertTrue(text.contains("actor 'worker' has been handling \"slow\" for at least"), text);
    assertTrue(scope.dump().contains("; 2 handled"), scope.dump());
  }

  @Test
  void actorBetweenStepsIsShownAsWaitingAndNotLoggedAsSlow() throws InterruptedException {
    var handlerEntered = new CountDownLatch(1);
    scope.named("worker").newActor((Feed jobs) -> {
      handlerEntered.countDown();
      jobs.next();
    }).sendMessage(feed);
    Patience.await(handlerEntered);

    assertWorkerIsNotLogged(LIMIT.multipliedBy(3));
    assertTrue(scope.dump().contains("worker (FIBER): waits for the feed; 0 handled"), scope.dump());
  }

  @Test
  void watchdogAndDumpShowMessageWhoseStepMethodsThrow() {
    record Broken() implements MultiStepMessage {
      @Override
      public Object currentStep() {
        throw new IllegalStateException("planned");
      }

      @Override
      public long completedSteps() {
        throw new StackOverflowError("planned");
      }
    }
    scope.named("worker").newActor((Broken broken) -> gate.pass()).sendMessage(new Broken());
    Patience.await(gate.entered);

    var text = clock.logged(LIMIT.multipliedBy(2));
    assertTrue(text.contains("'worker'"), text);
    var dump = scope.dump(); // on a busy machine toString may be late; the dump then shows the class name
    assertTrue(dump.matches("(?s).*handling \\S*Broken.*"), dump);
  }
}
