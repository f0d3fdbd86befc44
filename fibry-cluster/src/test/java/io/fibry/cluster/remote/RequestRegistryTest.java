package io.fibry.cluster.remote;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Tests that a node that leaves waits for the answers that are not sent yet. */
class RequestRegistryTest {
  @Test
  void registryWaitsUntilAnswersAreSent() {
    var registry = new RequestRegistry();
    var sendings = new ArrayDeque<Runnable>();
    registry.send(sendings::add, () -> {});
    registry.send(sendings::add, () -> {
      throw new IllegalStateException("the transport has failed");
    });

    var isSent = Patience.callOnFiber(() -> registry.awaitSent(Duration.ofDays(1)));
    sendings.remove().run();
    assertFalse(isSent.isDone());
    assertThrows(IllegalStateException.class, sendings.remove()::run);

    assertTrue(Patience.value(isSent));
  }

  @Test
  void rejectedAnswerCountsAsSent() throws InterruptedException {
    var registry = new RequestRegistry();

    assertThrows(RejectedExecutionException.class, () -> registry.send(sending -> {
      throw new RejectedExecutionException("the actor has ended");
    }, () -> {}));

    assertTrue(registry.awaitSent(Duration.ZERO));
  }
}
