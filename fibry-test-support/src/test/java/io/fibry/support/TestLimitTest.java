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
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

class TestLimitTest {
  private static final Class<?>[] LAUNCHED_CLASSES = {Failing.class, OpenLines.class, Interrupted.class,
    IgnoresInterrupts.class};
  private static final String SECTION = "\n----\n";

  private static String[] outputs; // the output of each launched class

  /** Runs the tests of some classes, and prints how they failed. */
  static final class Launcher {
    public static void main(String[] args) throws ClassNotFoundException {
      for (var name : args) launch(name);
      System.exit(0); // exit also ends the thread of a test that ignores interrupts
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

  @Disabled("launched by TestLimitTest, in another JVM")
  static final class IgnoresInterrupts {
    @Test
    void testNeverEnds() {
      while (true) {
        Thread.interrupted();
        LockSupport.parkNanos(1_000_000);
      }
    }
  }

  @Disabled("launched by TestLimitTest, in another JVM")
  static final class Interrupted {
    @Test
    void testWaitsForever() throws InterruptedException {
      new CountDownLatch(1).await();
    }

    @AfterEach
    void printLineAfterTest() {
      System.out.println("tidied up");
    }
  }

  @Disabled("launched by TestLimitTest, in another JVM")
  static final class Failing {
    @Test
    void testPrintsLineAndFails() {
      System.out.println("a line of the failing test");
      throw new IllegalStateException("the only failure");
    }
  }

  @Disabled("launched by TestLimitTest, in another JVM")
  @TestMethodOrder(MethodOrderer.MethodName.class)
  static final class OpenLines {
    @Test
    void firstTestPrintsOpenLine() {
      System.out.print("an open line of the first test");
    }

    @Test
    void secondTestPrintsOpenLineAndFails() {
      System.out.println("a line of the second test");
      System.out.print("its open line");
      throw new IllegalStateException("the second test fails");
    }
  }

  /** Runs all classes in one JVM, because the start of a JVM takes most of the time. */
  @BeforeAll
  static void launch() {
    try (var child = Child.java(List.of("-Dfibry.test.minutes=0"), Launcher.class,
        Stream.of(LAUNCHED_CLASSES).map(Class::getName).toArray(String[]::new))) {
      outputs = child.awaitExit(0).split(SECTION);
    }
  }

  private static String outputOf(Class<?> test) {
    return outputs[List.of(LAUNCHED_CLASSES).indexOf(test)];
  }

  @Test
  void endlessTestThatIgnoresInterruptsFailsAtLimit() {
    var text = outputOf(IgnoresInterrupts.class);

    assertTrue(text.contains("testNeverEnds() did not end in 0 minutes"), text);
    assertTrue(text.contains("TestLimitTest$IgnoresInterrupts.testNeverEnds"), text);
    assertTrue(text.contains("failed: 1"), text);
  }

  @Test
  void waitingTestIsInterruptedAndRunsItsAfterEachMethod() {
    var text = outputOf(Interrupted.class);

    assertTrue(text.contains("Suppressed: java.lang.InterruptedException"), text);
    assertTrue(text.contains("tidied up"), text);
  }

  @Test
  void failureContainsLastLinesOfItsTest() {
    var text = outputOf(Failing.class);

    assertTrue(text.contains("the only failure"), text);
    assertTrue(text.contains("the last lines of this test:\na line of the failing test"), text);
  }

  @Test
  void outputWithoutLineEndIsAttributedToItsTest() {
    var text = outputOf(OpenLines.class);

    assertTrue(text.contains("the last lines of this test:\na line of the second test\nits open line\n"), text);
  }

  @Test
  void testRunsOnThreadNamedAfterIt() {
    assertEquals("test TestLimitTest.testRunsOnThreadNamedAfterIt testRunsOnThreadNamedAfterIt()",
        Thread.currentThread().getName());
  }
}
