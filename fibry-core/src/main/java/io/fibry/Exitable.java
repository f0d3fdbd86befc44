package io.fibry;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Something that lives until it is told to end: an actor, a sink, a server. Thread-safe.
 *
 * <p>No actor keeps the JVM running, whatever its strategy: a main method waits by
 * {@link #waitForExit()} or {@link #close()}.
 */
public interface Exitable extends AutoCloseable {

  /**
   * Its name in its scope; what was made without one has a made-up one.
   *
   * @return the name
   */
  String name();

  /** Ends it after what it is doing now; what waits becomes dead letters. */
  void askExit();

  /** Ends it when it has handled what waits at this moment. */
  void sendPoisonPill();

  /**
   * Interrupts what it is doing and ends it. What ignores the interrupt past a grace is cut off: it
   * counts as ended, nobody waits for it any more, and what it does with its context is refused.
   * Only threads made by the library are interrupted: not an executor's, not a caller's; there a
   * kill waits for the grace and cuts off.
   */
  void kill();

  /**
   * Waits until it ended. From its own handler that could never be: an {@link AskCycleException}.
   *
   * @throws java.util.concurrent.CancellationException if the waiting thread is interrupted; the
   * flag is kept
   */
  void waitForExit();

  /**
   * Waits until it ended, at most so long.
   *
   * @param limit how long at most
   * @return true if it ended
   * @throws java.util.concurrent.CancellationException if the waiting thread is interrupted; the
   * flag is kept
   */
  boolean waitForExit(Duration limit);

  /**
   * Completes with the reason once it ended; at once if it has.
   *
   * @return always the same future; only reading it is supported
   */
  CompletableFuture<ExitReason> onExit();

  /**
   * Closes these, last one first, when it ends and before {@link #waitForExit} returns; at once if
   * it has ended. What closing throws is logged and stops nothing.
   *
   * @param resources what to close
   * @return this
   */
  Exitable closeOnExit(AutoCloseable... resources);

  /**
   * {@link #sendPoisonPill} and {@link #waitForExit()}; from its own handler, only the first.
   *
   * @throws java.util.concurrent.CancellationException if the waiting thread is interrupted; the
   * flag is kept
   */
  @Override
  void close();
}
