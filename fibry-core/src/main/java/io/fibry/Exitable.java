package io.fibry;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Lives until it is told to end: an actor, a sink, a server. Thread-safe.
 *
 * <p>No actor keeps the JVM running: a main method waits by {@link #waitForExit()} or
 * {@link #close()}.
 */
public interface Exitable extends AutoCloseable {

  /** {@return its name in its scope, made up if none was given} */
  String name();

  /** Ends the actor after its current message; waiting messages become dead letters. */
  void askExit();

  /** Ends it once it has handled what is queued now. */
  void sendPoisonPill();

  /**
   * Interrupts and ends it. If it ignores that beyond the grace, it is cut off: it counts as ended,
   * waits for it end, and its context refuses all calls. Interrupts only the library's threads; on
   * an executor's or caller's, waits for the grace and cuts off.
   */
  void kill();

  /**
   * Waits until it has ended. Its own handler gets an {@link AskCycleException}.
   *
   * @throws java.util.concurrent.CancellationException if interrupted, keeping the flag
   */
  void waitForExit();

  /**
   * Waits at most {@code limit} until it has ended.
   *
   * @param limit how long at most
   * @return true if it ended
   * @throws java.util.concurrent.CancellationException if interrupted, keeping the flag
   */
  boolean waitForExit(Duration limit);

  /**
   * {@return a future that completes with the reason} The future of an actor is read-only, and
   * always the same. A batch returns a copy to each caller.
   */
  CompletableFuture<ExitReason> onExit();

  /**
   * Closes resources, last one first, when it ends and before {@link #waitForExit} returns; at once
   * if it has. An exception of one resource is logged, and the others are closed all the same.
   *
   * @param resources the resources to close at the end
   * @return this
   */
  Exitable closeOnExit(AutoCloseable... resources);

  /**
   * Calls {@link #sendPoisonPill} and {@link #waitForExit()}; from its own handler, only the first.
   *
   * @throws java.util.concurrent.CancellationException if interrupted, keeping the flag
   */
  @Override
  void close();
}
