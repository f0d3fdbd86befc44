package io.fibry.nats.store;

import io.fibry.codec.Codec;
import io.fibry.nats.connection.StoreSubjects;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.text.Lines;
import io.nats.client.api.MessageInfo;
import java.util.List;

/**
 * The content of a message in the subject of an actor's turns: some turns, or only the fact that a
 * life has begun.
 *
 * @param by a unique name of this entry: the id of the store that wrote it, a dot, and a number
 * @param life the life of the actor
 * @param number the number of the last turn in this entry; if this entry has no turn, the number of
 * the last turn in earlier entries
 * @param from the number in the stream of the message with the last full-state turn, from which the
 * actor is loaded; 0 if this entry itself has that turn
 * @param done messages that were handled, and may still be in the stream
 * @param turns the turns of this entry; their numbers end with {@code number}
 */
public record JournalEntry(String by, long life, long number, long from, List<Done> done, List<Written> turns) {
  private static final Codec<JournalEntry> CODEC = Codec.of(JournalEntry.class);

  /**
   * A handled message.
   *
   * @param id the id of the message
   * @param seq its number in the stream, because a later message with this id is another message
   */
  record Done(String id, long seq) {}

  /**
   * A turn.
   *
   * @param at when it happened, in milliseconds since 1970
   * @param whole whether its body is the full state
   */
  record Written(long at, boolean whole, byte[] body) {
    static Written of(StoreBackend.Turn turn) {
      return new Written(turn.at().toEpochMilli(), turn.isFullState(), turn.body());
    }
  }

  byte[] bytes() {
    return CODEC.encode(this);
  }

  static JournalEntry read(byte[] bytes) {
    return CODEC.decode(bytes);
  }

  public static JournalEntry read(MessageInfo message) {
    try {
      return read(message.getData());
    } catch (RuntimeException malformed) {
      throw new StoreDamagedException("message " + message.getSeq() + " of stream " + message.getStream()
          + " is no turn of " + StoreSubjects.actorId(message.getSubject()) + ": " + Lines.message(malformed));
    }
  }

  /** Returns the number of the turn with this index in {@link #turns}. */
  long number(int index) {
    return number - turns.size() + 1 + index;
  }

  /** Returns the index in {@link #turns} of the last full-state turn, or 0 if there is none. */
  int lastFullStateIndex() {
    for (int i = turns.size() - 1; i > 0; i--) if (turns.get(i).whole) return i;
    return 0;
  }

  boolean hasFullState() {
    return turns.stream().anyMatch(Written::whole);
  }
}
