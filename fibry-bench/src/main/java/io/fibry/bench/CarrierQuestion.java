package io.fibry.bench;

import io.fibry.bench.PairedMeasurement.Workload;
import java.util.List;

/**
 * A question of {@link CarrierComparison}: work of Fibry on two schedulers, and the same work of a
 * peer.
 *
 * @param caller the thread that runs the work
 * @param parts one part, or a part for each size
 */
record CarrierQuestion(String name, String title, String unit, Caller caller, String peerName, List<Part> parts) {

  enum Caller {
    /** A virtual thread that a handler of an actor has started. */
    FIBER,
    /** A virtual thread that the main thread has started. */
    OTHER_THREAD,
    /** A platform thread. */
    PLATFORM_THREAD,
    /** Like {@link #FIBER}, but only the first round of a process counts. */
    FIBER_ONCE
  }

  /** The work of a size; 0 if the question has only one size. The peer's work may be missing. */
  record Part(long size, int times, Workload ourWork, Workload peerWork) {}

  static CarrierQuestion of(String name, String title, Caller caller, int times, Workload ourWork, String peerName,
      Workload peerWork) {
    return new CarrierQuestion(name, title, caller == Caller.FIBER_ONCE ? "ms" : "ns", caller, peerName,
        List.of(new Part(0, times, ourWork, peerWork)));
  }

  CarrierQuestion inMillis() {
    return new CarrierQuestion(name, title, "ms", caller, peerName, parts);
  }

  boolean hasPeer() {
    return !peerName.isEmpty();
  }
}
