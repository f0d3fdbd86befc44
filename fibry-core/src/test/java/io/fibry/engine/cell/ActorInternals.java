package io.fibry.engine.cell;

import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Gives tests access to the internal state of an actor. */
public final class ActorInternals {
  private ActorInternals() {}

  private static Cell cell(Object actor) {
    return (Cell) actor;
  }

  public static Object strandedNode(Object actor) {
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

  /** Returns the state of the actor, for the text of a failed assertion. */
  public static String describe(Object actor) {
    var drain = cell(actor).drain();
    return "phase " + phase(actor) + ", drained by "
        + (drain == null ? "no thread" : drain.thread + " at " + drain.message) + ", stranded " + strandedNode(actor);
  }

  /**
   * Returns for how many of the next wake-ups the actor must not hand over, because an actor that
   * it woke began late.
   */
  public static int wakeUpsWithoutHandOver(Object actor) {
    return cell(actor).behavior.wakeUpsWithoutHandOver;
  }

  public static ActorBehavior behavior(Object actor) {
    return cell(actor).behavior;
  }

  /** Returns whether the actor is suspended and the timer of its restart is set. */
  public static boolean isSuspended(Object actor) {
    return cell(actor).isSuspended();
  }

  public static boolean hasDueTimer(Object actor, long now) {
    return cell(actor).extras().hasDueTimer(now);
  }

  public static void end(Object actor) {
    cell(actor).extras().beginEnd();
  }

  /** Returns the node of the queue at which the actor was suspended, or null. */
  public static Object suspendedAt(Object actor) {
    return cell(actor).suspendedNode();
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

  /** Returns whether this thread handles a message of the actor. */
  public static boolean isCurrent(Object actor) {
    return cell(actor).isCurrent();
  }

  /** Returns whether the actor has an activation. */
  public static boolean hasActivation(Object actor) {
    return cell(actor).drain() != null;
  }

  /** Returns the message being handled, or null. */
  public static Object message(Object actor) {
    var drain = cell(actor).drain();
    return drain == null ? null : drain.message;
  }

  /** Returns the thread of the actor's handler, or null if no handler runs. */
  public static Thread thread(Object actor) {
    var drain = cell(actor).drain();
    return drain == null ? null : drain.thread;
  }

  /** Returns the thread that runs the actor's hooks. */
  public static Thread hooksThread(Object actor) {
    return cell(actor).extras().hooksDrain.thread;
  }

  /** Returns the message of the request, or null if the request has released it. */
  public static Object messageOf(CompletableFuture<?> request) {
    return ((RequestFuture<?>) request).message();
  }

  public static RequestFuture<?> request(Object actor) {
    return cell(actor).drain().request;
  }

  /**
   * Waits until the actor's drain has released the right to run, which happens shortly after the
   * answer. For this, the method takes the right to run and releases it.
   */
  public static void awaitIdle(Object actor) {
    var request = new RequestFuture<Object>(cell(actor), "turn", null, false);
    while (!cell(actor).acquire(request)) Thread.yield();
    cell(actor).release(request);
  }

  /**
   * Forgets the waits of all actors, because the waits of a thousand actors of earlier tests make
   * bounds less precise until a garbage collection.
   */
  public static void forgetWaits() {
    synchronized (QueueAges.class) {
      QueueAges.allSightings = null;
    }
  }

  public static void offer(Object actor, RequestFuture<?> request, Object message) {
    cell(actor).offer(request, message, Deadline.NONE);
  }

  /** Returns whether the actor's handler waits for another actor. */
  public static boolean isHandlerWaiting(Object actor) {
    var drain = cell(actor).drain();
    return drain != null && drain.currentWait() != null;
  }

  /** Returns whether the actor's hooks wait for another actor. */
  public static boolean isHookWaiting(Object actor) {
    var hooks = cell(actor).extras().hooksDrain;
    return hooks != null && hooks.currentWait() != null;
  }

  /** Returns whether this thread runs a handler or hooks. */
  public static boolean isInHandlerOrHook() {
    return Wait.WaitingHandler.current() != null;
  }
}
