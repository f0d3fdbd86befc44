package io.fibry.durable.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.store.Store;
import io.fibry.store.StoreFullException;
import io.fibry.store.StoreWriteException;
import io.fibry.support.Logged;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StoreFailureLogTest {

  @Test
  void refusalsOfSameTypeAreLoggedOnceAMinuteWithCount() {
    var nanos = new AtomicLong(Long.MAX_VALUE - 5); // System.nanoTime may wrap
    var refusals = new StoreFailureLog(nanos::get);
    try (var logged = new Logged()) {
      for (int i = 1; i <= 1_201; i++) {
        refusals.logRefusal("turn " + i, new StoreFullException("full", null));
        if (i == 7) refusals.logRefusal("another", new StoreWriteException("failed", null));
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
      }

      var lines =
          logged.linesOfThisThread("ERROR").stream().map(line -> line.substring(line.indexOf(" - ") + 3)).toList();
      assertEquals(List.of("turn 1", "another", "turn 601; 599 others were refused since the last such line",
          "turn 1201; 599 others were refused since the last such line"), lines);
    }
  }

  @Test
  void parkedMessagesAreLoggedOnceAMinutePerKind() {
    record Pay(int amount) {}
    var nanos = new AtomicLong();
    var refusals = new StoreFailureLog(nanos::get);
    try (var logged = new Logged()) {
      for (int i = 1; i <= 700; i++) {
        var message =
            new StoredMessage<>("m" + i, Instant.EPOCH, new Pay(7), Mail.of(new byte[0], ""), false, Optional.empty(),
                0);
        refusals.logParked(new Store.ActorId("account", "ada"), message, "java.io.IOException: no\nway");
        if (i == 7) refusals.logParked(new Store.ActorId("desk", "bob"), message, "java.io.IOException: no");
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
      }

      String hint = ". Its kind lists it by parked(store); call retry(..) or discard(..)";
      var lines =
          logged.linesOfThisThread("WARN").stream().map(line -> line.substring(line.indexOf(" - ") + 3)).toList();
      assertEquals(
          List.of("account 'ada' parked message Pay as 'x:m1': java.io.IOException: no\\nway" + hint,
              "desk 'bob' parked message Pay as 'x:m7': java.io.IOException: no" + hint,
              "account 'ada' parked message Pay as 'x:m601': java.io.IOException: no\\nway" + hint
                  + ". 599 more of this kind were parked since the last such line"),
          lines);
    }
  }
}
