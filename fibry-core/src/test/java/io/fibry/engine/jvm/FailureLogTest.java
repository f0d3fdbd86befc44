package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.fibry.RequestException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FailureLogTest {
  private static final long SECOND = 1_000_000_000;

  private final FailureLog log = new FailureLog();

  private static IllegalStateException failureOfMethodA() {
    return new IllegalStateException("planned");
  }

  private static IllegalStateException failureOfMethodB() {
    return new IllegalStateException("planned");
  }

  @Test
  void equalFailuresAreLoggedOncePerSecondWithOmittedCount() {
    var results = new ArrayList<Integer>();
    for (int i = 0; i < 25; i++) results.add(log.admit(failureOfMethodA(), i * SECOND / 10));

    assertEquals(List.of(0, 9, 9), results.stream().filter(count -> count != FailureLog.OMITTED).toList());
  }

  @Test
  void stackOfExceptionIsLoggedByActorOrConnection() {
    var failure = failureOfMethodA();

    assertNull(FailureLog.entryWithStack(failure, "actor 'a'", true, 0));
    assertNull(FailureLog.entryWithStack(failure, "actor 'b'", true, 0)); // entries of actors stay complete
    assertEquals("actor 'a'", FailureLog.entryWithStack(failure, "failure 1", false, SECOND - 1));
    assertNull(FailureLog.entryWithStack(failureOfMethodA(), "failure 2", false, 0));
    assertNull(FailureLog.entryWithStack(failure, "failure 3", false, SECOND));
    assertEquals("failure 3", FailureLog.entryWithStack(failure, "actor 'a'", true, 2 * SECOND - 1));
    assertNull(FailureLog.entryWithStack(failure, "actor 'a'", true, 2 * SECOND));
  }

  /** The log of stacks is a ring that all tests of a JVM share, so each place in it is tried. */
  @Test
  void oldestEntryWithStackIsNamed() {
    for (int place = 0; place < 100; place++) {
      var failure = failureOfMethodA();
      assertNull(FailureLog.entryWithStack(failure, "actor 'a'", true, 0));
      assertNull(FailureLog.entryWithStack(failure, "actor 'b'", true, 0));
      assertEquals("actor 'a'", FailureLog.entryWithStack(failure, "failure 1", false, 0));
      FailureLog.entryWithStack(failureOfMethodA(), "actor 'a'", true, 0);
    }
  }

  @Test
  void onlyLastStacksAreRemembered() {
    var failure = failureOfMethodA();
    FailureLog.entryWithStack(failure, "actor 'a'", true, 0);

    for (int i = 0; i < 100; i++) FailureLog.entryWithStack(failureOfMethodB(), "actor 'a'", true, 0);

    assertNull(FailureLog.entryWithStack(failure, "failure 1", false, 0));
  }

  @Test
  void failuresOfOtherMethodOrClassAreLoggedAtOnce() {
    assertEquals(0, log.admit(failureOfMethodA(), 0));
    assertEquals(0, log.admit(failureOfMethodB(), 0));
    assertEquals(0, log.admit(new IllegalArgumentException(), 0));
    assertEquals(0, log.admit(RequestException.class, null, 0));
    var failureOfB = failureOfMethodB();
    assertEquals(0, log.admit(failureOfB, 0));
    assertEquals(FailureLog.OMITTED, log.admit(failureOfB, SECOND - 1));
    assertEquals(FailureLog.OMITTED, log.admit(RequestException.class, null, SECOND - 1));
    assertEquals(1, log.admit(failureOfB, SECOND));
  }

  private static IllegalStateException failureOfLibrary() {
    return failureOfMethodA();
  }

  /** A library throws all of its failures at one line, on behalf of many handlers. */
  @Test
  void failuresOfOtherCallerAreLoggedAtOnce() {
    IllegalStateException first = failureOfLibrary();
    IllegalStateException second = failureOfLibrary();

    assertEquals(first.getStackTrace()[0], second.getStackTrace()[0]);
    assertEquals(0, log.admit(first, 0));
    assertEquals(0, log.admit(second, 0));
    assertEquals(FailureLog.OMITTED, log.admit(first, 1));
    assertEquals(FailureLog.OMITTED, log.admit(second, 1));
  }

  @Test
  void failuresWithOtherCauseAreLoggedAtOnce() {
    var failures = new ArrayList<Throwable>();
    failures.add(new RuntimeException());
    failures.add(new RuntimeException(failureOfMethodA()));
    failures.add(new RuntimeException(failureOfMethodB()));
    failures.add(new RuntimeException(new IllegalArgumentException()));
    for (var failure : failures) failure.setStackTrace(failures.get(0).getStackTrace());

    for (var failure : failures) assertEquals(0, log.admit(failure, 0));
    for (var failure : failures) assertEquals(FailureLog.OMITTED, log.admit(failure, 1));
  }

  /** A chain of causes may be a cycle. */
  @Test
  void failuresWhoseCausesAreCycleAreEqual() {
    var failure = new IllegalStateException("first");
    failure.initCause(new IllegalStateException("second", failure));

    assertEquals(0, log.admit(failure, 0));
    assertEquals(FailureLog.OMITTED, log.admit(failure, 1));
  }

  @Test
  void equalFailuresOfOtherPlaceAreLoggedAtOnce() {
    var failure = failureOfMethodA();

    assertEquals(0, log.admit(failure, "/orders", 0));
    assertEquals(0, log.admit(failure, "/stock", 0));
    assertEquals(FailureLog.OMITTED, log.admit(failure, "/orders", 1));
  }

  @Test
  void failuresOfSameClassWithUnreadableStackAreEqual() {
    class UnreadableFailure extends RuntimeException {
      private static final long serialVersionUID = 1;

      @Override
      public StackTraceElement[] getStackTrace() {
        throw new IllegalStateException("broken");
      }
    }

    assertEquals(0, log.admit(new UnreadableFailure(), 0));
    assertEquals(FailureLog.OMITTED, log.admit(new UnreadableFailure(), 1));
  }

  @Test
  void failureIsLoggedAgainAfter64OtherFailures() {
    for (int number = 0; number < 64; number++) assertEquals(0, log.admit(Byte.class, String.valueOf(number), 0));
    assertEquals(FailureLog.OMITTED, log.admit(Byte.class, "0", 0));
    assertEquals(0, log.admit(Void.class, "0", 0));

    assertEquals(0, log.admit(Byte.class, "0", 0));
    assertEquals(FailureLog.OMITTED, log.admit(Void.class, "0", 0));
  }
}
