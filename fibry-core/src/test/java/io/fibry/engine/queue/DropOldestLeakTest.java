package io.fibry.engine.queue;

import static io.fibry.support.Patience.eventually;

import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.testing.Gate;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that a queued request does not refer to the request that it displaced. Otherwise all
 * earlier requests would stay in memory.
 */
class DropOldestLeakTest {
  private static final int CAPACITY = 4;

  @AfterEach
  void openGates() {
    Gate.openAll();
  }

  @Test
  void newerRequestsDoNotReferToDroppedRequests() {
    var actor = ActorSystem.anonymous().mailbox(Mailbox.bounded(CAPACITY, Overflow.DROP_OLDEST))
        .newActorWithReturn((Object message) -> {
          if (message instanceof Gate gate) gate.pass();
          return 1;
        });
    Gate.occupy(actor);

    var requests = sendRequests(actor, 200);

    eventually(() -> countReachable(requests) <= CAPACITY + 1); // a stack frame may still refer to one request
  }

  private static List<WeakReference<Object>> sendRequests(ActorWithReturn<Object, Integer> actor, int times) {
    var requests = new ArrayList<WeakReference<Object>>();
    for (int i = 0; i < times; i++) requests.add(new WeakReference<>(actor.sendMessageReturn(i)));
    return requests;
  }

  private static long countReachable(List<WeakReference<Object>> requests) {
    System.gc();
    return requests.stream().filter(request -> request.get() != null).count();
  }
}
