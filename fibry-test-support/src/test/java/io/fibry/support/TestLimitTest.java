package io.fibry.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

class TestLimitTest {
  private static final Class<?>[] LAUNCHED = {Fails.class, Waits.class, Deaf.class};
  private static final String SECTION = "\n----\n";

  private static String[] printed; // by each of these

  /** Runs the tests of some classes, and prints how they failed. */
  static final class Launched {
    public static void main(String[] args) throws ClassNotFoundException {
      for (var name : args) launch(name);
      System.exit(0); // a deaf test is left alone
    }

    private static void launch(String name) throws ClassNotFoundException {
      var summary = new SummaryGeneratingListener();
      LauncherFactory.create()
          .execute(LauncherDiscoveryRequestBuilder.request().selectors(selectClass(Class.forName(name)))
              .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
              .configurationParameter("junit.jupiter.conditions.deactivate", "*").build(), summary);
      var text = new StringWriter();
      for (var failure : summary.getSummary().getFailures())
        failure.getException().printStackTrace(new PrintWriter(text, true));
      System.out.println(text + "\nfailed: " + summary.getSummary().getTestsFailedCount() + SECTION);
    }
  }

  @Disabled("launched in a JVM of its own")
  static final class Deaf {
    @Test
    void neverEnds() {
      while (true) {
        Thread.interrupted();
        LockSupport.parkNanos(1_000_000);
      }
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

  /** Runs all classes in one JVM, since its start is most of the work. */
  @BeforeAll
  static void launch() {
    try (var child = Child.java(List.of("-Dfibry.test.minutes=0"), Launched.class,
        Stream.of(LAUNCHED).map(Class::getName).toArray(String[]::new))) {
      printed = child.ended(0).split(SECTION);
    }
  }

  private static String launched(Class<?> test) {
    return printed[List.of(LAUNCHED).indexOf(test)];
  }

  @Test
  void loopThatIgnoresInterruptsFailsItsTest() {
    var text = launched(Deaf.class);

    assertTrue(text.contains("neverEnds() did not end in 0 minutes"), text);
    assertTrue(text.contains("TestLimitTest$Deaf.neverEnds"), text);
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
