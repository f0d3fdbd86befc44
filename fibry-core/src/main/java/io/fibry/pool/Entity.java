package io.fibry.pool;

import io.fibry.Actor;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.concurrent.CompletableFuture;

/**
 * One life of a key, from the birth of its actor to the actor's end: {@code living -> GONE}. The
 * next life is another object.
 *
 * <p>A thread is inside an entity while it hands over a message. Passivation replaces a
 * {@code useState} that counts no threads by GONE, in one compare-and-set. So a message comes
 * before the poison pill, or the sender finds GONE and uses the next life. An explicit end sets
 * GONE even if threads are inside.
 */
final class Entity<K, M> {
  private static final long GONE = -1;
  // for the number of threads inside; the remaining bits suffice for 69 years in ms
  private static final int USER_BITS = 22;
  private static final int MIN_CLEANUP = 8; // answers added between two removals of completed answers
  private static final long USERS_MASK = (1L << USER_BITS) - 1;
  private static final VarHandle USE_STATE =
      ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "useState", VarHandle.class, Entity.class, long.class);

  final K key;
  // tick of the last use and threads inside, or GONE; changed by uses and passivation
  private volatile long useState;
  private volatile EntityCreation creation; // null once the entity is born; written by the creator, after `actor`
  private Actor<M> actor; // written by the creator, before `creation`
  private PendingAnswer newestAnswer; // null if no answer is pending; guarded by this
  private int addsUntilCleanup = MIN_CLEANUP; // answers to add before completed ones are removed; guarded by this
  private EarlyEnd earlyEnd; // null if no end was requested during the birth; guarded by this
  Entity<K, M> next; // the next entity in a list of IdleWheel; written by the thread that has the list

  /** Makes the current thread the creator of the actor, and counts the thread as inside. */
  Entity(K key, long tick) {
    this.key = key;
    this.useState = tick << USER_BITS | 1;
    this.creation = new EntityCreation(key);
  }

  /** Returns the pending birth, or null once the actor exists. */
  EntityCreation creation() {
    return creation;
  }

  synchronized void setActor(Actor<M> actor) {
    this.actor = actor;
    creation = null;
  }

  /** An end that was requested before the actor was made. */
  private record EarlyEnd(EntityEndMode mode, Thread creator) {}

  /** Notes the end if the actor is not made yet. Returns false if the actor exists already. */
  synchronized boolean requestEarlyEnd(EntityEndMode mode) {
    var pending = creation;
    if (pending == null) return false;
    if (earlyEnd == null || earlyEnd.mode.compareTo(mode) < 0) earlyEnd = new EarlyEnd(mode, pending.creator);
    return true;
  }

  /**
   * Called once the actor is made. Returns the end that was requested before. Returns null if no
   * end was requested, or if the current thread is not the creator.
   */
  EntityEndMode earlyEnd() {
    var request = earlyEnd; // no lock: written before `creation` became null, which this thread has seen
    return request != null && request.creator == Thread.currentThread() ? request.mode : null;
  }

  /** Returns the actor, or null before it is made. */
  Actor<M> actor() {
    return creation == null ? actor : null;
  }

  /** Counts the current thread as inside. Returns false if this life is over. */
  boolean enter() {
    for (long oldState = useState; oldState != GONE; oldState = useState)
      if (USE_STATE.compareAndSet(this, oldState, oldState + 1)) return true;
    return false;
  }

  /**
   * Counts the current thread as outside. Does not replace the stored tick by an earlier tick,
   * because threads do not leave in the order of their ticks.
   */
  void leave(long tick) {
    for (long oldState = useState; oldState != GONE; oldState = useState)
      if (USE_STATE.compareAndSet(this, oldState, Math.max(tick, tick(oldState)) << USER_BITS
          | (oldState & USERS_MASK) - 1))
        return;
  }

  long useState() {
    return useState;
  }

  /**
   * Returns the use state. If a thread is inside and the stored tick is earlier than {@code tick},
   * stores {@code tick} before. A thread inside may have read an earlier tick that it will pass to
   * {@link #leave}; because of the stored tick, it does not store the earlier one.
   */
  long useStateAt(long tick) {
    for (;;) {
      long oldState = useState;
      if (isGone(oldState) || !isUsed(oldState) || tick(oldState) >= tick) return oldState;
      long newState = tick << USER_BITS | oldState & USERS_MASK;
      if (USE_STATE.compareAndSet(this, oldState, newState)) return newState;
    }
  }

  static boolean isGone(long useState) {
    return useState == GONE;
  }

  static boolean isUsed(long useState) {
    return (useState & USERS_MASK) != 0;
  }

  static long tick(long useState) {
    return useState >> USER_BITS;
  }

  /**
   * Marks the entity as gone. Returns false if the use state has changed since {@code oldState} was
   * read. A use that began and ended since then may leave an equal state. Such a use was in the
   * same tick as the use before it, so the entity is idle nevertheless.
   */
  boolean passivate(long oldState) {
    return USE_STATE.compareAndSet(this, oldState, GONE);
  }

  void markGone() {
    useState = GONE;
  }

  boolean isGone() {
    return isGone(useState);
  }

  /** Registers a pending answer; the entity is not passivated before the answer is given. */
  synchronized void addPendingAnswer(CompletableFuture<?> answer) {
    if (addsUntilCleanup <= 0) removeCompletedAnswers();
    newestAnswer = new PendingAnswer(answer, newestAnswer);
    addsUntilCleanup--;
  }

  synchronized boolean hasPendingAnswers() {
    removeCompletedAnswers();
    return newestAnswer != null;
  }

  /** Removes completed answers. The next removal comes after as many more answers as remain. */
  private void removeCompletedAnswers() {
    PendingAnswer newer = null;
    int remaining = 0;
    for (var answer = newestAnswer; answer != null; answer = answer.older) {
      if (answer.isPending()) {
        newer = answer;
        remaining++;
      } else if (newer == null) newestAnswer = answer.older;
      else newer.older = answer.older;
    }
    addsUntilCleanup = Math.max(MIN_CLEANUP, remaining);
  }

  /**
   * A pending answer, and the next one of a list. The reference is weak, because an unreachable
   * future needs no answer. The list needs no other objects, because many entities have one pending
   * answer each.
   */
  private static final class PendingAnswer extends WeakReference<CompletableFuture<?>> {
    private PendingAnswer older; // null at the end of the list; guarded by the entity

    PendingAnswer(CompletableFuture<?> answer, PendingAnswer older) {
      super(answer);
      this.older = older;
    }

    boolean isPending() {
      var answer = get();
      return answer != null && !answer.isDone();
    }
  }
}
