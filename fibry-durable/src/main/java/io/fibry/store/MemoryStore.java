package io.fibry.store;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A store in memory, for tests: {@link #crash} answers what a disk would hold. Thread-safe. */
public final class MemoryStore implements Store {
  /** What is stored of an actor: the last whole turn and those after it. */
  private static final class Kept {
    private final List<Turn> turns = new ArrayList<>();
    private long life;
    private long last;
    private boolean over; // a turn of this life was refused
  }

  private final Map<Id, Kept> actors = new HashMap<>(); // all under this object's monitor
  private int failing;
  private boolean closed;

  private MemoryStore() {}

  /** {@return an empty one} */
  public static MemoryStore open() {
    return new MemoryStore();
  }

  /** {@return another store with all that is stored in this one, which takes nothing more} */
  public synchronized MemoryStore crash() {
    closed = true;
    var after = new MemoryStore();
    actors.forEach((id, kept) -> {
      var copy = new Kept();
      copy.turns.addAll(kept.turns);
      copy.last = kept.last;
      after.actors.put(id, copy);
    });
    return after;
  }

  /**
   * The next turns are refused.
   *
   * @param writes how many
   */
  public synchronized void failNext(int writes) {
    failing = writes;
  }

  @Override
  public synchronized Loaded load(Id actor) {
    checkOpen();
    var kept = actors.computeIfAbsent(actor, none -> new Kept());
    kept.life++;
    kept.over = false;
    return new Loaded(kept.life, kept.last, kept.turns.stream().map(Turn::body).toList());
  }

  @Override
  public synchronized CompletionStage<Void> append(Turn turn) {
    try {
      checkOpen();
      var kept = actors.computeIfAbsent(turn.actor(), none -> new Kept());
      if (turn.life() != kept.life || turn.number() != kept.last + 1 || kept.over)
        throw new StoreOutdatedException(turn);
      if (failing > 0) {
        failing--;
        kept.over = true;
        throw new StoreWriteException("a write failed, as the test has asked for", null);
      }
      if (turn.whole()) kept.turns.clear();
      kept.turns.add(turn);
      kept.last = turn.number();
      return CompletableFuture.completedFuture(null);
    } catch (StoreException refused) {
      return CompletableFuture.failedFuture(refused);
    }
  }

  @Override
  public synchronized void snapshot(Turn turn) {
    var kept = actors.get(turn.actor());
    if (kept == null || turn.life() != kept.life || turn.number() != kept.last) return;
    kept.turns.clear();
    kept.turns.add(turn);
  }

  private void checkOpen() {
    if (closed) throw new StoreClosedException("the store in memory is closed");
  }

  @Override
  public synchronized void close() {
    closed = true;
  }

  @Override
  public String toString() {
    return "a store in memory";
  }
}
