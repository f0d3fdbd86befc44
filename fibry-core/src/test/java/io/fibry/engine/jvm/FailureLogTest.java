package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.RequestException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FailureLogTest {
  private static final long SECOND = 1_000_000_000;

  private final FailureLog log = new FailureLog();

  private static IllegalStateException here() {
    return new IllegalStateException("planned");
  }

  private static IllegalStateException there() {
    return new IllegalStateException("planned");
  }

  @Test
  void equalFailuresAreLoggedOncePerSecondWithOmittedCount() {
    var admitted = new ArrayList<Integer>();
    for (int i = 0; i < 25; i++) admitted.add(log.admit(here(), i * SECOND / 10));

    assertEquals(List.of(0, 9, 9), admitted.stream().filter(count -> count != FailureLog.OMITTED).toList());
  }

  @Test
  void differentFailuresAreLoggedAtOnce() {
    assertEquals(0, log.admit(here(), 0));
    assertEquals(0, log.admit(there(), 0));
    assertEquals(0, log.admit(new IllegalArgumentException(), 0));
    assertEquals(0, log.admit(RequestException.class, null, 0));
    assertEquals(FailureLog.OMITTED, log.admit(there(), SECOND - 1));
    assertEquals(FailureLog.OMITTED, log.admit(RequestException.class, null, SECOND - 1));
    assertEquals(1, log.admit(there(), SECOND));
  }

  @Test
  void failuresWithoutReadableStackAreEqualByClass() {
    class Broken extends RuntimeException {
      private static final long serialVersionUID = 1;

      @Override
      public StackTraceElement[] getStackTrace() {
        throw new IllegalStateException("broken");
      }
    }

    assertEquals(0, log.admit(new Broken(), 0));
    assertEquals(FailureLog.OMITTED, log.admit(new Broken(), 1));
  }

  @Test
  void logRemembersLimitedNumberOfKinds() {
    for (int place = 0; place < 64; place++) assertEquals(0, log.admit(Byte.class, String.valueOf(place), 0));
    assertEquals(FailureLog.OMITTED, log.admit(Byte.class, "0", 0));
    assertEquals(0, log.admit(Void.class, "0", 0));

    assertEquals(0, log.admit(Byte.class, "0", 0));
    assertEquals(FailureLog.OMITTED, log.admit(Void.class, "0", 0));
  }
}
