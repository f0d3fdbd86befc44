package io.fibry;

import static io.fibry.support.Patience.eventually;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A waiting request must not keep the request that it displaced, which would keep the previous one,
 * and so on.
 */
class DropOldestLeakTest {
  private static final int CAPACITY = 4;

  @AfterEach
  void openGates() {
    Gate.openAll();
  }

  @Test
  void droppedRequestsAreNotKeptByNewerRequests() {
    var actor = ActorSystem.anonymous().mailbox(Mailbox.bounded(CAPACITY, Overflow.DROP_OLDEST))
        .newActorWithReturn((Object message) -> {
          if (message instanceof Gate gate) gate.pass();
          return 1;
        });
    Gate.occupy(actor);

    var requests = sent(actor, 200);

    eventually(() -> reachable(requests) <= CAPACITY + 1); // one may still be in a stack frame
  }

  private static List<WeakReference<Object>> sent(ActorWithReturn<Object, Integer> actor, int times) {
    var requests = new ArrayList<WeakReference<Object>>();
    for (int i = 0; i < times; i++) requests.add(new WeakReference<>(actor.sendMessageReturn(i)));
    return requests;
  }

  private static long reachable(List<WeakReference<Object>> requests) {
    System.gc();
    return requests.stream().filter(request -> request.get() != null).count();
  }
}
