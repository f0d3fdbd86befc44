package io.fibry.nats.store;

import io.fibry.nats.connection.StoreSubjects;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend.StoredTurn;
import io.fibry.store.spi.HistoryCursor;
import io.fibry.text.Lines;
import io.nats.client.api.MessageInfo;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.regex.Pattern;

/** Reads the turns of a kind, page by page. It polls, because other stores store turns, too. */
public final class StreamHistory extends HistoryCursor {
  private static final Pattern OFFSET = Pattern.compile("(\\d{1,18})\\.(\\d{1,9})");
  private static final int PAGE_SIZE = 256;

  private final StoreContext store;
  private final String kind;
  private final String filter;
  private long seq; // number in the stream of the message to read next
  private int index; // index in that message of the turn to read next

  public StreamHistory(StoreContext store, String kind, String offset, Collection<StreamHistory> openHistories) {
    this(store, kind, store.subjects().turnsFilter(kind), offset, openHistories);
  }

  /** Reads the turns of one actor, from its first turn on. */
  public StreamHistory(StoreContext store, Store.ActorId actor) {
    this(store, actor.kind(), store.subjects().turns(actor), "", new HashSet<>());
  }

  private StreamHistory(StoreContext store, String kind, String filter, String offset,
      Collection<StreamHistory> openHistories) {
    super("the history of kind '" + kind + "' in " + store, openHistories, store.options().pollInterval());
    this.store = store;
    this.kind = kind;
    this.filter = filter;
    var start = StreamPosition.after(offset, kind);
    this.seq = start.seq;
    this.index = start.index;
  }

  /**
   * The position at which the next turn may be.
   *
   * @param seq the number of a message in the stream
   * @param index the index of the turn in this message; if the message has no turn at this index,
   * the next turn is in a later message
   */
  record StreamPosition(long seq, int index) implements Comparable<StreamPosition> {
    /** @param offset the offset of the last turn that was read; empty for the beginning */
    static StreamPosition after(String offset, String kind) {
      if (offset.isEmpty()) return new StreamPosition(1, 0);
      var matcher = OFFSET.matcher(offset);
      if (matcher.matches())
        return new StreamPosition(Long.parseLong(matcher.group(1)), Integer.parseInt(matcher.group(2)) + 1);
      throw new IllegalArgumentException("'" + offset + "' is no offset in the history of kind '" + kind + "'");
    }

    @Override
    public int compareTo(StreamPosition other) {
      return seq != other.seq ? Long.compare(seq, other.seq) : Integer.compare(index, other.index);
    }
  }

  public String kind() {
    return kind;
  }

  @Override
  public List<StoredTurn> poll() throws InterruptedException {
    while (true) {
      checkOpen();
      var page = page();
      var turns = new ArrayList<StoredTurn>();
      for (var message : page) add(message, turns);
      if (!turns.isEmpty() || page.isEmpty()) return turns;
    }
  }

  @Override
  protected boolean isClosed() {
    return super.isClosed() || store.isClosed();
  }

  private List<MessageInfo> page() throws InterruptedException {
    try {
      return store.log().page(filter, seq, PAGE_SIZE);
    } catch (CancellationException interrupt) {
      if (Thread.interrupted()) throw new InterruptedException(Lines.message(interrupt));
      throw interrupt;
    }
  }

  private void add(MessageInfo message, List<StoredTurn> turns) {
    var entry = JournalEntry.read(message);
    var key = StoreSubjects.actorId(message.getSubject()).key();
    for (int i = message.getSeq() == seq ? index : 0; i < entry.turns().size(); i++) {
      var turn = entry.turns().get(i);
      turns.add(new StoredTurn(message.getSeq() + "." + i, key, entry.number(i), Instant.ofEpochMilli(turn.at()),
          turn.whole(), turn.body()));
    }
    seq = message.getSeq() + 1;
    index = 0;
  }
}
