package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.message.RequestFuture;
import io.fibry.pool.Pools;
import io.fibry.testing.Gate;
import io.fibry.testing.OverflowingSender;
import io.fibry.testing.SilencedStdErr;
import io.fibry.testing.Variants;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests a thread that cancels requests near the end of its stack. A request that is cancelled must
 * leave the queue of its pool, because it delays the requests behind it until its permits are free.
 */
@ExtendWith(SilencedStdErr.class)
class CancelStackEdgeFaultTest {
  private static final int ROUNDS = 8; // the compiler changes the sizes of the frames during the rounds
  private static final int REQUESTS = 400; // more than the frames that the probe of a cancel covers

  private final ArrayDeque<CompletableFuture<Object>> queued = new ArrayDeque<>();
  private final List<CompletableFuture<Object>> cancelled = new ArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Test
  void cancelNearEndOfStackRemovesRequestFromPoolQueue() throws InterruptedException {
    for (int round = 0; round < ROUNDS; round++) cancelAllRequests();

    assertTrue(cancelled.size() > 0, "cancelled requests");
    for (var request : cancelled) assertNull(((RequestFuture<?>) request).entry());
  }

  private void cancelAllRequests() throws InterruptedException {
    var scope = Variants.scope(o -> o);
    var pool = Pools.weighted(scope.anonymous().protocol(Object.class), 2, (Object message) -> 2)
        .newActorWithReturn((Object message) -> {
          if (message instanceof Gate gate) gate.passUninterruptibly();
          return message;
        });
    Gate.occupy(pool);
    queued.clear();
    for (int i = 0; i < REQUESTS; i++) queued.add(pool.sendMessageReturn(i));
    var thread = OverflowingSender.smallStack(this::descend);
    thread.start();
    thread.join();
  }

  /** Recurses until the stack overflows, and cancels a request at each depth on the way back. */
  private void descend() {
    try {
      descend();
    } catch (StackOverflowError expected) {} // thrown by the recursive call or by a cancel
    var request = queued.peek();
    if (request == null || !request.cancel(true)) return;
    queued.remove();
    cancelled.add(request);
  }
}
