package io.fibry.engine.cell;

import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** The view of an actor's inside for tests. */
public final class Inside {
  private Inside() {}

  private static Cell cell(Object actor) {
    return (Cell) actor;
  }

  public static Object stranded(Object actor) {
    return cell(actor).stranded;
  }

  public static String phase(Object actor) {
    return switch (cell(actor).phase) {
      case Cell.RESTARTING -> "RENEW";
      case Cell.OPEN -> "OPEN";
      case Cell.ENDING -> "ENDING";
      case Cell.LEAVING -> "LEAVING";
      default -> "ENDED";
    };
  }

  /** For the text of a failure. */
  public static String describe(Object actor) {
    var drain = cell(actor).drain();
    return "phase " + phase(actor) + ", drained by "
        + (drain == null ? "nobody" : drain.thread + " at " + drain.message) + ", stranded " + stranded(actor);
  }

  /** How many wakings to come start a fiber, since a woken actor began late. */
  public static int late(Object actor) {
    return cell(actor).behavior.wakeUpsWithoutHandOver;
  }

  public static ActorBehavior behavior(Object actor) {
    return cell(actor).behavior;
  }

  /** Whether it waits for a restart, and the timer that ends that is set. */
  public static boolean isSuspended(Object actor) {
    var extras = cell(actor).extras();
    synchronized (extras) {
      return extras.isSuspended();
    }
  }

  public static boolean hasDueTimer(Object actor, long now) {
    return cell(actor).extras().hasDueTimer(now);
  }

  public static void end(Object actor) {
    cell(actor).extras().beginEnd();
  }

  /** Where it was suspended, or null. */
  public static Object suspendedAt(Object actor) {
    return cell(actor).extras().suspendedNode();
  }

  public static int stashSize(Object actor) {
    return cell(actor).extras().stash.size();
  }

  public static boolean isIdle(Object actor) {
    return cell(actor).isIdle();
  }

  public static boolean isQuiet(Object actor) {
    return cell(actor).isQuiet(Set.of());
  }

  public static boolean isEnding(Object actor) {
    return cell(actor).isEnding();
  }

  /** Whether this thread handles a message of it. */
  public static boolean isCurrent(Object actor) {
    return cell(actor).isCurrent();
  }

  /** Whether an activation is at its mailbox. */
  public static boolean hasWorker(Object actor) {
    return cell(actor).drain() != null;
  }

  /** The message being handled, or null. */
  public static Object message(Object actor) {
    var drain = cell(actor).drain();
    return drain == null ? null : drain.message;
  }

  /** Returns the thread of its handler, or null if no handler runs. */
  public static Thread thread(Object actor) {
    var drain = cell(actor).drain();
    return drain == null ? null : drain.thread;
  }

  /** The thread of its hooks. */
  public static Thread hooksThread(Object actor) {
    return cell(actor).extras().hooksDrain.thread;
  }

  /** The message that a request keeps, or null. */
  public static Object messageOf(CompletableFuture<?> request) {
    return ((RequestFuture<?>) request).message();
  }

  public static RequestFuture<?> request(Object actor) {
    return cell(actor).drain().request;
  }

  /**
   * Waits until its drain has released the right to run, which comes a moment after the answer.
   * Takes the right, and releases it.
   */
  public static void awaitIdle(Object actor) {
    var request = new RequestFuture<Object>(cell(actor), "turn", null, false);
    while (!cell(actor).acquire(request)) Thread.yield();
    cell(actor).release(request);
  }

  public static void offer(Object actor, RequestFuture<?> request, Object message) {
    cell(actor).offer(request, message, Deadline.NONE);
  }

  /** Whether its handler waits for another actor. */
  public static boolean waits(Object actor) {
    var drain = cell(actor).drain();
    return drain != null && drain.currentWait() != null;
  }

  /** Whether its hooks wait for another actor. */
  public static boolean hooksWait(Object actor) {
    var hooks = cell(actor).extras().hooksDrain;
    return hooks != null && hooks.currentWait() != null;
  }

  /** Whether this thread is at a handler or at hooks. */
  public static boolean handles() {
    return Wait.WaitingHandler.current() != null;
  }
}
