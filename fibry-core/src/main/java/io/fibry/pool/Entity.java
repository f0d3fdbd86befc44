package io.fibry.pool;

import io.fibry.Actor;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;

/**
 * One life of a key: its actor, who is using it, and when it was last used.
 *
 * <p>{@code living -> GONE}, for ever: the next life is another object. Who uses the actor is
 * inside while he hands over his message; GONE comes by who passivates it only from a word that
 * shows nobody inside, in one step. So a message is either handed over before the pill is sent, or
 * its sender finds it GONE and turns to the next life. (Who ends it on purpose sets it GONE whoever
 * is inside.)
 */
final class Entity<K, M> {
  private static final long GONE = -1;
  private static final int BITS = 24; // so many threads can hardly be inside
  private static final long USERS = (1L << BITS) - 1;
  private static final VarHandle WORD;

  static {
    try {
      WORD = MethodHandles.lookup().findVarHandle(Entity.class, "word", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  final K key;
  // the tick of the last use, and how many are inside; or GONE. By compare-and-set: in, out; any to
  // GONE
  private volatile long word;
  private volatile EntityBirth birth; // null: it was born. Written by who gave birth, after the actor
  private Actor<M> actor; // written by who gave birth, before `birth`
  private Answers answers; // null: nobody waits for one; guarded by this
  Entity<K, M> next; // in a list of the wheel; whose list it is, writes it

  /** To be born by this thread, which is inside. */
  Entity(K key, long tick) {
    this.key = key;
    this.word = tick << BITS | 1;
    this.birth = new EntityBirth(key);
  }

  // ---- birth

  /** Null: it is over, well. */
  EntityBirth birth() {
    return birth;
  }

  void born(Actor<M> child) {
    actor = child;
    birth = null;
  }

  /** Null: it is not born, or never will be. */
  Actor<M> actor() {
    return birth == null ? actor : null;
  }

  // ---- use

  /** Comes in; false: it is gone. */
  boolean enter() {
    for (long seen = word; seen != GONE; seen = word) if (WORD.compareAndSet(this, seen, seen + 1)) return true;
    return false;
  }

  /** Goes out, at this tick; another who went later may have been quicker. */
  void leave(long tick) {
    for (long seen = word; seen != GONE; seen = word)
      if (WORD.compareAndSet(this, seen, Math.max(tick, tick(seen)) << BITS | (seen & USERS) - 1)) return;
  }

  /** What a sweep looks at: {@link #passivate} takes it for granted that it has not changed. */
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
   * Gone, if nobody came in since it was seen unused. Who came and went left another tick, or the
   * same and is as long ago.
   */
  boolean passivate(long seen) {
    return WORD.compareAndSet(this, seen, GONE);
  }

  /** Gone, whoever is inside. */
  void retire() {
    word = GONE;
  }

  // ---- answers

  /** Notes an answer that is still to come: a pill would come before what was promised. */
  synchronized void awaits(CompletableFuture<?> answer) {
    if (answers == null) answers = new Answers();
    answers.add(answer);
  }

  /** Whether somebody waits for an answer. */
  synchronized boolean isAwaited() {
    if (answers != null && answers.settle()) answers = null;
    return answers != null;
  }

  /**
   * Weak references: an answer that nobody can get hold of any more was given, or concerns nobody.
   */
  private static final class Answers {
    private final ArrayList<WeakReference<CompletableFuture<?>>> open = new ArrayList<>();
    private int enough = 8; // when it is worth looking for those that were given

    void add(CompletableFuture<?> answer) {
      if (open.size() >= enough) {
        settle();
        enough = Math.max(8, 2 * open.size());
      }
      open.add(new WeakReference<>(answer));
    }

    /** True: all were given. */
    boolean settle() {
      open.removeIf(reference -> {
        var answer = reference.get();
        return answer == null || answer.isDone();
      });
      return open.isEmpty();
    }
  }
}
