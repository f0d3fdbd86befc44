package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.store.StoreFullException;
import io.fibry.store.StoreWriteException;
import io.fibry.support.Logged;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RefusalsTest {

  @Test
  void refusalsOfOneKindAreToldOnceAMinuteWithTheirNumber() {
    var nanos = new AtomicLong(Long.MAX_VALUE - 5); // it may wrap
    var refusals = new Refusals(nanos::get);
    try (var logged = new Logged()) {
      for (int i = 1; i <= 1_201; i++) {
        refusals.tell("turn " + i, new StoreFullException("full", null));
        if (i == 7) refusals.tell("another", new StoreWriteException("failed", null));
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
      }

      var told =
          logged.linesOfThisThread("ERROR").stream().map(line -> line.substring(line.indexOf(" - ") + 3)).toList();
      assertEquals(List.of("turn 1", "another", "turn 601; 599 others were refused since the last such line",
          "turn 1201; 599 others were refused since the last such line"), told);
    }
  }
}
