package io.fibry;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * An actor, a sink, or a block such as a server. It lives until it is asked to end, is killed, or
 * fails. Thread-safe.
 *
 * <p>No actor keeps the JVM running. A main method can wait for the end of an actor by
 * {@link #waitForExit()} or {@link #close()}.
 */
public interface Exitable extends AutoCloseable {

  /** {@return the name in the scope; a generated name if the builder had no name} */
  String name();

  /** Asks the actor to end after its current message. Queued messages become dead letters. */
  void askExit();

  /** Asks the actor to end after the messages that are queued now. */
  void sendPoisonPill();

  /**
   * Interrupts the handler and ends the actor. If the handler still runs after the kill grace of
   * the scope, the actor is cut off: it counts as ended, {@link #waitForExit()} returns, and its
   * context refuses all calls.
   *
   * <p>Only threads of the library are interrupted. A handler on a thread of an executor or of a
   * caller has the kill grace to return, and is then cut off.
   */
  void kill();

  /**
   * Waits until the actor has ended.
   *
   * @throws AskCycleException if the actor's own handler calls this method
   * @throws java.util.concurrent.CancellationException if the thread is interrupted; the interrupt
   * flag stays set
   */
  void waitForExit();

  /**
   * Waits at most {@code limit} until the actor has ended.
   *
   * @param limit how long to wait at most
   * @return whether the actor has ended
   * @throws AskCycleException if the actor's own handler calls this method
   * @throws java.util.concurrent.CancellationException if the thread is interrupted; the interrupt
   * flag stays set
   */
  boolean waitForExit(Duration limit);

  /**
   * {@return a future that completes with the reason when the actor has ended} For an actor of this
   * process, the future is read-only, and always the same object. Some blocks return a copy.
   */
  CompletableFuture<ExitReason> onExit();

  /**
   * Registers resources to close when the actor ends, the last resource first. They are closed
   * before {@link #waitForExit} returns. If the actor has already ended, they are closed at once.
   * If a resource throws, the exception is logged, and the other resources are still closed.
   *
   * @param resources the resources to close at the end
   * @return this object
   */
  Exitable closeOnExit(AutoCloseable... resources);

  /**
   * Calls {@link #sendPoisonPill} and then {@link #waitForExit()}. If the actor's own handler calls
   * this method, it sends only the pill and does not wait.
   *
   * @throws java.util.concurrent.CancellationException if the thread is interrupted; the interrupt
   * flag stays set
   */
  @Override
  void close();
}
