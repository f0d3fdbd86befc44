package io.fibry.durable.delivery;

import java.util.ArrayList;
import java.util.List;

/**
 * The messages that a courier has given to its actor, each with a call. The courier waits until all
 * calls have ended. It waits without a thread, because a handler may sleep for days: it parks the
 * batch, and the thread that ends the last call starts the courier again.
 *
 * <p>The courier continues exactly once. It parks the batch when it has made all calls, and the
 * calls are counted, both under the monitor of the {@link PendingDelivery}. If the last call is
 * counted before, {@link #park} returns false, and the courier continues on its own thread. If the
 * last call is counted later, {@link #endCall} returns true to this one call. No earlier call gets
 * true, because the batch is not parked or a call is still open.
 */
final class CourierBatch {
  // ids of the messages; written by the courier before it parks the batch, read by it afterwards
  private final List<String> ids = new ArrayList<>(1);
  private int endedCalls; // this and the next are guarded by the monitor of the delivery
  private boolean isParked; // whether the courier waits without a thread

  /** Adds a message. Called by the courier, before the call of the message. */
  void add(String id) {
    ids.add(id);
  }

  int size() {
    return ids.size();
  }

  List<String> ids() {
    return ids;
  }

  /** Parks the batch. Returns false if all calls have ended, so that the courier must continue. */
  boolean park() {
    isParked = endedCalls < ids.size();
    return isParked;
  }

  /** Counts a call that has ended. Returns whether the caller must start the courier again. */
  boolean endCall() {
    endedCalls++;
    return isParked && endedCalls == ids.size();
  }
}
