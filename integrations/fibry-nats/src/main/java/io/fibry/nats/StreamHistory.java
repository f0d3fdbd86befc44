package io.fibry.nats;

import io.fibry.store.Store;
import io.fibry.store.Store.History;
import io.fibry.store.Store.StoredTurn;
import io.fibry.store.StoreClosedException;
import io.fibry.text.Lines;
import io.nats.client.api.MessageInfo;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Reads the turns of a kind, page by page. It is woken by turns of this store; for turns of other
 * stores it looks again after pauses that grow.
 */
final class StreamHistory implements History {
  private static final Pattern PLACE = Pattern.compile("(\\d{1,18})\\.(\\d{1,9})");
  private static final int PAGE = 256;
  private static final long FIRST_PAUSE = 5; // milliseconds

  private final StreamStore store;
  private final String kind;
  private final String filter;
  private final long poll; // the longest pause
  private final Semaphore wakeUps = new Semaphore(0);
  private volatile boolean closed;
  private long seq; // of the message in the stream that is read next
  private int index; // of the turn in it

  StreamHistory(StreamStore store, String kind, String after) {
    this(store, kind, store.subjects().turnsOf(kind), after);
  }

  /** Reads the turns of one actor, from its first turn on. */
  StreamHistory(StreamStore store, Store.ActorId actor) {
    this(store, actor.kind(), store.subjects().turns(actor), "");
  }

  private StreamHistory(StreamStore store, String kind, String filter, String after) {
    this.store = store;
    this.kind = kind;
    this.filter = filter;
    this.poll = store.pollInterval().toMillis();
    var first = StreamPosition.behind(after, kind);
    this.seq = first.seq;
    this.index = first.index;
  }

  /**
   * Where the next turn may be.
   *
   * @param seq of the message in the stream
   * @param index of the turn in it, or how many it has: then the turn is in a later one
   */
  record StreamPosition(long seq, int index) implements Comparable<StreamPosition> {
    /** @param place the place of the turn before, or empty for the beginning */
    static StreamPosition behind(String place, String kind) {
      if (place.isEmpty()) return new StreamPosition(1, 0);
      var form = PLACE.matcher(place);
      if (form.matches()) return new StreamPosition(Long.parseLong(form.group(1)), Integer.parseInt(form.group(2)) + 1);
      throw new IllegalArgumentException("'" + place + "' is no place in the history of kind '" + kind + "'");
    }

    @Override
    public int compareTo(StreamPosition other) {
      return seq != other.seq ? Long.compare(seq, other.seq) : Integer.compare(index, other.index);
    }
  }

  String kind() {
    return kind;
  }

  @Override
  public List<StoredTurn> take() throws InterruptedException {
    for (long pause = FIRST_PAUSE;; pause *= 2) {
      wakeUps.drainPermits(); // later turns are told again
      var found = poll();
      if (!found.isEmpty()) return found;
      if (wakeUps.tryAcquire(Math.min(pause, poll), TimeUnit.MILLISECONDS)) pause = FIRST_PAUSE;
    }
  }

  @Override
  public List<StoredTurn> poll() throws InterruptedException {
    while (true) {
      if (closed || store.isClosed())
        throw new StoreClosedException("the history of kind '" + kind + "' in " + store + " is closed");
      var page = page();
      var found = new ArrayList<StoredTurn>();
      for (var one : page) add(one, found);
      if (!found.isEmpty() || page.isEmpty()) return found;
    }
  }

  private List<MessageInfo> page() throws InterruptedException {
    try {
      return store.log().page(filter, seq, PAGE);
    } catch (CancellationException interrupt) {
      if (Thread.interrupted()) throw new InterruptedException(Lines.message(interrupt));
      throw interrupt;
    }
  }

  private void add(MessageInfo message, List<StoredTurn> found) {
    var entry = JournalEntry.read(message);
    var key = StoreSubjects.actor(message.getSubject()).key();
    for (int i = message.getSeq() == seq ? index : 0; i < entry.turns().size(); i++) {
      var turn = entry.turns().get(i);
      found.add(new StoredTurn(message.getSeq() + "." + i, key, entry.number(i), Instant.ofEpochMilli(turn.at()),
          turn.whole(), turn.body()));
    }
    seq = message.getSeq() + 1;
    index = 0;
  }

  /** Called by any thread when there is more to read, or the history is closed. */
  void wake() {
    if (wakeUps.availablePermits() == 0) wakeUps.release();
  }

  @Override
  public void close() {
    closed = true;
    store.removeHistory(this);
    wake();
  }
}
