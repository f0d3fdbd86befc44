package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The watchdog looks while actors work, and prints messages, whose text is the user's code. */
class WatchdogFaultTest {
  private static final int MESSAGES = 2_000_000;

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Test
  void closeDoesNotWaitForToStringOfMessage() {
    var scope = Variants.scope(o -> o).openScope("watched",
        o -> o.withWatchdog(Duration.ofMillis(20), 1000).withDrainLimit(Duration.ZERO).withKillGrace(Duration.ZERO));
    var printing = new CountDownLatch(1);
    var lock = new Object();
    var gate = new Gate();
    var actor = scope.anonymous().newActor((Object m) -> gate.passDeaf());
    var closed = new CompletableFuture<Boolean>();

    Thread.ofPlatform().daemon().start(() -> {
      synchronized (lock) {
        actor.sendMessage(new Object() {
          @Override
          public String toString() {
            printing.countDown();
            synchronized (lock) {
              return "a message";
            }
          }
        });
        Patience.await(printing);
        scope.close();
        closed.complete(true);
      }
    });

    assertEquals(true, Patience.value(closed));
  }

  /** The count walks the same links that the drain cuts off. */
  @Test
  void longMailboxIsLoggedOnceWhileDrained() {
    try (var logged = new Logged()) {
      var scope = Variants.scope(o -> o).openScope("watched", o -> o.withWatchdog(Duration.ofMillis(8), 1000));
      var handled = new long[1];
      var actor = scope.anonymous().newActor((Object m) -> {
        if (m instanceof Gate gate) gate.pass();
        else handled[0]++;
      });
      var gate = Gate.occupy(actor);
      for (int i = 0; i < MESSAGES; i++) actor.sendMessage(i);
      String long1000 = "messages wait for actor '" + actor.name() + "'";
      Patience.eventually(() -> logged.text().contains(long1000)); // by then the watchdog has looked

      gate.open();
      actor.close();

      assertEquals(1, logged.text().lines().filter(line -> line.contains(long1000)).count());
      assertEquals(MESSAGES, handled[0]);
    }
  }
}
