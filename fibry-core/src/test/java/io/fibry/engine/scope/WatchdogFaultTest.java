package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that checks of the watchdog, which call toString of messages, disturb no actor. */
class WatchdogFaultTest {
  private static final int MESSAGES = 2_000_000;

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Test
  void scopeCloseDoesNotWaitForToStringCalledByWatchdog() {
    var scope = Variants.scope(o -> o).openScope("watched",
        o -> o.withWatchdog(Duration.ofMillis(20), 1000).withDrainLimit(Duration.ZERO).withKillGrace(Duration.ZERO));
    var toStringCalled = new CountDownLatch(1);
    var lock = new Object();
    var gate = new Gate();
    var actor = scope.anonymous().newActor((Object m) -> gate.passUninterruptibly());
    var closeReturned = new CompletableFuture<Boolean>();

    Thread.ofPlatform().daemon().start(() -> {
      synchronized (lock) {
        actor.sendMessage(new Object() {
          @Override
          public String toString() {
            toStringCalled.countDown();
            synchronized (lock) {
              return "a message";
            }
          }
        });
        Patience.await(toStringCalled);
        scope.close();
        closeReturned.complete(true);
      }
    });

    assertEquals(true, Patience.value(closeReturned));
  }

  /** The watchdog counts the messages of a linked list while the drain removes messages from it. */
  @Test
  void longMailboxIsLoggedOnceWhileDrained() {
    try (var logged = new Logged()) {
      var scope = Variants.scope(o -> o).openScope("watched", o -> o.withWatchdog(Duration.ofMillis(8), 1000));
      var handledCount = new long[1];
      var actor = scope.anonymous().newActor((Object m) -> {
        if (m instanceof Gate gate) gate.pass();
        else handledCount[0]++;
      });
      var gate = Gate.occupy(actor);
      for (int i = 0; i < MESSAGES; i++) actor.sendMessage(i);
      String logText = "messages wait for actor '" + actor.name() + "'";
      Patience.eventually(() -> logged.text().contains(logText)); // the watchdog has checked the mailbox

      gate.open();
      actor.close();

      assertEquals(1, logged.text().lines().filter(line -> line.contains(logText)).count());
      assertEquals(MESSAGES, handledCount[0]);
    }
  }
}
