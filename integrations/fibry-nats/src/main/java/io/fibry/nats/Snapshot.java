package io.fibry.nats;

import io.fibry.codec.Codec;
import io.nats.client.api.MessageInfo;

/**
 * All that is known after a turn.
 *
 * @param number of the turn
 * @param seq of the message that has this turn, in the stream
 */
record Snapshot(long number, long seq, byte[] body) {
  private static final Codec<Snapshot> CODEC = Codec.of(Snapshot.class);

  byte[] bytes() {
    return CODEC.encode(this);
  }

  static Snapshot read(MessageInfo message) {
    return CODEC.decode(message.getData());
  }
}
