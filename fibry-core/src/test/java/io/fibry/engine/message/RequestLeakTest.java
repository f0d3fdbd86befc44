package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.LeakProbe;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests how much memory cancelled and expired requests use while the handler of an earlier message
 * blocks.
 */
class RequestLeakTest {

  private static final int REQUESTS = Soak.ON ? 1_000_000 : 200_000;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void cancelledRequestsKeepAtMost72BytesEach(boolean hasGuardedMailbox) {
    var entered = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    var actor = newBlockedActor(hasGuardedMailbox, entered, gate);
    actor.sendMessage(new byte[0]);
    Patience.await(entered);
    cancel(actor, 10_000);

    LeakProbe.assertLeavesAtMost((hasGuardedMailbox ? 2L : 73L) * REQUESTS, () -> cancel(actor, REQUESTS));

    gate.countDown();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void cancelledRequestsKeepNoMemoryAfterBusyHandlerEnds(boolean hasGuardedMailbox) {
    long growth = LeakProbe.growth(4L * REQUESTS, () -> {
      var entered = new CountDownLatch(1);
      var gate = new CountDownLatch(1);
      var actor = newBlockedActor(hasGuardedMailbox, entered, gate);
      actor.sendMessage(new byte[0]);
      Patience.await(entered);
      cancel(actor, REQUESTS);
      gate.countDown();
      actor.sendMessageReturn(new byte[0]).join();
      return actor;
    });

    assertTrue(growth <= 4L * REQUESTS, growth + " bytes are left");
  }

  private static ActorWithReturn<byte[], Integer> newBlockedActor(boolean hasGuardedMailbox, CountDownLatch entered,
      CountDownLatch gate) {
    return ActorSystem.anonymous().mailbox(hasGuardedMailbox ? Mailbox.unbounded().selective() : Mailbox.unbounded())
        .newActorWithReturn((byte[] message) -> {
          entered.countDown();
          gate.await();
          return message.length;
        });
  }

  /**
   * Sends and cancels requests whose messages occupy 100 bytes each. The messages must become
   * garbage, too.
   */
  private static void cancel(ActorWithReturn<byte[], Integer> actor, int times) {
    for (int i = 0; i < times; i++) actor.sendMessageReturn(new byte[84]).cancel(true);
  }

  @Test
  void expiredRequestsKeepAtMost72BytesEach() {
    int requests = Soak.ON ? 50_000 : 15_000;
    var entered = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    var actor = newBlockedActor(false, entered, gate);
    actor.sendMessage(new byte[0]);
    Patience.await(entered);
    expire(actor, 1_000);

    LeakProbe.assertLeavesAtMost(74L * requests, () -> expire(actor, requests));

    gate.countDown();
  }

  private static void expire(ActorWithReturn<byte[], Integer> actor, int times) {
    for (int i = 0; i < times; i++)
      assertThrows(AskTimeoutException.class, () -> actor.ask(new byte[84], Duration.ofNanos(1)));
  }

  @Test
  void cancelledRequestKeepsNeitherMessageNorStack() throws InterruptedException {
    var gate = new CountDownLatch(1);
    var actor = newBlockedActor(false, new CountDownLatch(1), gate);
    actor.sendMessage(new byte[0]);
    var message = new byte[84];
    var probe = new WeakReference<>(message);
    var request = actor.sendMessageReturn(message);
    message = null;

    request.cancel(true);

    assertTrue(LeakProbe.collected(probe));
    assertEquals(0, request.handle((answer, failure) -> failure).join().getStackTrace().length);
    gate.countDown();
  }
}
