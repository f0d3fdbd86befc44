package io.fibry.pool;

import io.fibry.Actor;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;

/**
 * One life of a key. {@code living -> GONE}; the next life is another object.
 *
 * <p>A thread is inside while it hands over a message. Passivation sets GONE from a word without
 * threads inside, in one step. So a message comes before the pill, or its sender finds GONE and
 * uses the next life. An explicit end sets GONE in any case.
 */
final class Entity<K, M> {
  private static final long GONE = -1;
  private static final int BITS = 24; // for the number of threads inside
  private static final long USERS = (1L << BITS) - 1;
  private static final VarHandle WORD =
      ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "word", VarHandle.class, Entity.class, long.class);

  final K key;
  // tick of the last use and threads inside, or GONE; changed by uses and passivation
  private volatile long word;
  private volatile EntityCreation creation; // null once the entity is born; written by the creator, after `actor`
  private Actor<M> actor; // written by the creator, before `creation`
  private PendingAnswers answers; // null until an answer is pending; guarded by this
  private EarlyEnd early; // null unless the entity was ended early; written before the birth is over, guarded by this
  Entity<K, M> next; // in a list of the wheel, written by its owner

  /** The current thread is the creator, inside. */
  Entity(K key, long tick) {
    this.key = key;
    this.word = tick << BITS | 1;
    this.creation = new EntityCreation(key);
  }

  /** Null: born. */
  EntityCreation creation() {
    return creation;
  }

  synchronized void setActor(Actor<M> child) {
    actor = child;
    creation = null;
  }

  /** An end that somebody asked for before the actor was made. */
  private record EarlyEnd(EntityEndMode end, Thread creator) {}

  /** Notes the end if the actor is not made yet. Returns false if the actor exists already. */
  synchronized boolean endOnceCreated(EntityEndMode wanted) {
    var pending = creation;
    if (pending == null) return false;
    if (early == null || early.end.compareTo(wanted) < 0) early = new EarlyEnd(wanted, pending.thread);
    return true;
  }

  /**
   * For the creator, once the actor is made. Returns null if there is none, or another thread made
   * it.
   */
  EntityEndMode earlyEnd() {
    var noted = early; // of a time before `creation` became null, which this thread has seen
    return noted != null && noted.creator == Thread.currentThread() ? noted.end : null;
  }

  /** Returns null before the birth. */
  Actor<M> actor() {
    return creation == null ? actor : null;
  }

  /** False: gone. */
  boolean enter() {
    for (long seen = word; seen != GONE; seen = word) if (WORD.compareAndSet(this, seen, seen + 1)) return true;
    return false;
  }

  /** A thread may leave after one with a later tick. */
  void leave(long tick) {
    for (long seen = word; seen != GONE; seen = word)
      if (WORD.compareAndSet(this, seen, Math.max(tick, tick(seen)) << BITS | (seen & USERS) - 1)) return;
  }

  long word() {
    return word;
  }

  static boolean isGone(long word) {
    return word == GONE;
  }

  static boolean isUsed(long word) {
    return (word & USERS) != 0;
  }

  static long tick(long word) {
    return word >> BITS;
  }

  /**
   * Returns false if the entity was used since {@code seen}. A use that left the same word is as
   * long ago.
   */
  boolean passivate(long seen) {
    return WORD.compareAndSet(this, seen, GONE);
  }

  void retire() {
    word = GONE;
  }

  boolean isGone() {
    return isGone(word);
  }

  /** Notes a pending answer, which no pill must precede. */
  synchronized void addPendingAnswer(CompletableFuture<?> answer) {
    if (answers == null) answers = new PendingAnswers();
    answers.add(answer);
  }

  synchronized boolean hasPendingAnswers() {
    if (answers != null && answers.removeCompleted()) answers = null;
    return answers != null;
  }

  /** Weak references: an unreachable future needs no answer. */
  private static final class PendingAnswers {
    private final ArrayList<WeakReference<CompletableFuture<?>>> open = new ArrayList<>();
    private int limit = 8; // of the list, before it is cleaned

    void add(CompletableFuture<?> answer) {
      if (open.size() >= limit) {
        removeCompleted();
        limit = Math.max(8, 2 * open.size());
      }
      open.add(new WeakReference<>(answer));
    }

    /** Returns true if none is left. */
    boolean removeCompleted() {
      open.removeIf(reference -> {
        var answer = reference.get();
        return answer == null || answer.isDone();
      });
      return open.isEmpty();
    }
  }
}
