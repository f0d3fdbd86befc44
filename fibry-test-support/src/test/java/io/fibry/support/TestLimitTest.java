package io.fibry.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

class TestLimitTest {
  /** Runs the tests of a class, and prints how they failed. */
  static final class Launched {
    public static void main(String[] args) throws ClassNotFoundException {
      var summary = new SummaryGeneratingListener();
      LauncherFactory.create()
          .execute(LauncherDiscoveryRequestBuilder.request().selectors(selectClass(Class.forName(args[0])))
              .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
              .configurationParameter("junit.jupiter.conditions.deactivate", "*").build(), summary);
      var text = new StringWriter();
      for (var failure : summary.getSummary().getFailures())
        failure.getException().printStackTrace(new PrintWriter(text, true));
      System.out.println(text + "\nfailed: " + summary.getSummary().getTestsFailedCount());
      System.exit(0); // a busy test is left alone
    }
  }

  @Disabled("launched in a JVM of its own")
  static final class Busy {
    @Test
    void neverEnds() {
      while (true) Thread.onSpinWait();
    }
  }

  @Disabled("launched in a JVM of its own")
  static final class Waits {
    @Test
    void waitsForNothing() throws InterruptedException {
      new CountDownLatch(1).await();
    }

    @AfterEach
    void printsAtItsEnd() {
      System.out.println("tidied up");
    }
  }

  @Disabled("launched in a JVM of its own")
  static final class Fails {
    @Test
    void first() {
      System.out.println("a line of the first test");
      throw new IllegalStateException("the first failure");
    }
  }

  private static String launched(Class<?> test) {
    try (var child = Child.java(List.of("-Dfibry.test.minutes=0"), Launched.class, test.getName())) {
      return child.ended(0);
    }
  }

  @Test
  void busyLoopFailsItsTest() {
    var text = launched(Busy.class);

    assertTrue(text.contains("neverEnds() did not end in 0 minutes"), text);
    assertTrue(text.contains("TestLimitTest$Busy.neverEnds"), text);
    assertTrue(text.contains("failed: 1"), text);
  }

  @Test
  void waitingTestIsInterruptedAndTidiesUp() {
    var text = launched(Waits.class);

    assertTrue(text.contains("Suppressed: java.lang.InterruptedException"), text);
    assertTrue(text.contains("tidied up"), text);
  }

  @Test
  void failureBringsTheLinesOfItsTest() {
    var text = launched(Fails.class);

    assertTrue(text.contains("the first failure"), text);
    assertTrue(text.contains("the last lines of this test:\na line of the first test"), text);
  }

  @Test
  void testsRunOnThreadsOfTheirOwn() {
    assertEquals("test TestLimitTest.testsRunOnThreadsOfTheirOwn testsRunOnThreadsOfTheirOwn()",
        Thread.currentThread().getName());
  }
}
