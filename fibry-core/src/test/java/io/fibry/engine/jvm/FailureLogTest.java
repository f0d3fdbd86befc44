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
    assertEquals(FailureLog.OMITTED, log.admit(failureOfMethodB(), SECOND - 1));
    assertEquals(FailureLog.OMITTED, log.admit(RequestException.class, null, SECOND - 1));
    assertEquals(1, log.admit(failureOfMethodB(), SECOND));
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
