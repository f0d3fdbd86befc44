package io.fibry.durable;

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

class RefusalsTest {

  @Test
  void equalRefusalsAreLoggedOnceAMinuteWithCount() {
    var nanos = new AtomicLong(Long.MAX_VALUE - 5); // it may wrap
    var refusals = new StoreFailureLog(nanos::get);
    try (var logged = new Logged()) {
      for (int i = 1; i <= 1_201; i++) {
        refusals.logRefusal("turn " + i, new StoreFullException("full", null));
        if (i == 7) refusals.logRefusal("another", new StoreWriteException("failed", null));
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
      }

      var told =
          logged.linesOfThisThread("ERROR").stream().map(line -> line.substring(line.indexOf(" - ") + 3)).toList();
      assertEquals(List.of("turn 1", "another", "turn 601; 599 others were refused since the last such line",
          "turn 1201; 599 others were refused since the last such line"), told);
    }
  }

  @Test
  void parkedMessagesAreLoggedOnceAMinutePerKind() {
    record Pay(int amount) {}
    var nanos = new AtomicLong();
    var refusals = new StoreFailureLog(nanos::get);
    try (var logged = new Logged()) {
      for (int i = 1; i <= 700; i++) {
        var kept =
            new StoredMessage<>("m" + i, Instant.EPOCH, new Pay(7), Mail.of(new byte[0], ""), false, Optional.empty(),
                0);
        refusals.logParked(new Store.ActorId("account", "ada"), kept, "java.io.IOException: no\nway");
        if (i == 7) refusals.logParked(new Store.ActorId("desk", "bob"), kept, "java.io.IOException: no");
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
      }

      String end = ". Its kind lists it by parked(store); call retry(..) or discard(..)";
      var told =
          logged.linesOfThisThread("WARN").stream().map(line -> line.substring(line.indexOf(" - ") + 3)).toList();
      assertEquals(
          List.of("account 'ada' put message Pay aside, as 'x:m1': java.io.IOException: no\\nway" + end,
              "desk 'bob' put message Pay aside, as 'x:m7': java.io.IOException: no" + end,
              "account 'ada' put message Pay aside, as 'x:m601': java.io.IOException: no\\nway" + end
                  + ". 599 more of this kind were put aside since the last such line"),
          told);
    }
  }
}
