package io.fibry.nats;

import io.fibry.codec.Codec;
import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.text.Lines;
import io.nats.client.api.MessageInfo;
import java.util.List;

/**
 * What a message in the turns of an actor says: some turns, or just that a life has begun.
 *
 * @param by the store that wrote it, a dot, and a number
 * @param life of the actor
 * @param number of the last turn, here or before
 * @param from where reading begins, as a number in the stream: at the last whole turn, or 0 for
 * this entry
 * @param done messages that are done, and may still be there
 * @param turns the last ones
 */
record JournalEntry(String by, long life, long number, long from, List<Done> done, List<Written> turns) {
  private static final Codec<JournalEntry> CODEC = Codec.of(JournalEntry.class);

  /**
   * A message that no turn sees any more.
   *
   * @param id of it
   * @param seq its number in the stream, because a later message with this id is another message
   */
  record Done(String id, long seq) {}

  /**
   * A turn.
   *
   * @param at milliseconds
   */
  record Written(long at, boolean whole, byte[] body) {
    static Written of(Store.Turn turn) {
      return new Written(turn.at().toEpochMilli(), turn.isFullState(), turn.body());
    }
  }

  byte[] bytes() {
    return CODEC.encode(this);
  }

  static JournalEntry read(byte[] bytes) {
    return CODEC.decode(bytes);
  }

  static JournalEntry read(MessageInfo message) {
    try {
      return read(message.getData());
    } catch (RuntimeException unknown) {
      throw new StoreDamagedException("message " + message.getSeq() + " of stream " + message.getStream()
          + " is no turn of " + StoreSubjects.actor(message.getSubject()) + ": " + Lines.message(unknown));
    }
  }

  /** The number of a turn here. */
  long number(int index) {
    return number - turns.size() + 1 + index;
  }

  /** Returns the index of the last whole turn, or 0 if none is whole. */
  int lastWhole() {
    for (int i = turns.size() - 1; i > 0; i--) if (turns.get(i).whole) return i;
    return 0;
  }

  boolean hasWhole() {
    return turns.stream().anyMatch(Written::whole);
  }
}
