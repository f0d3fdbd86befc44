package io.fibry.nats.store;

import io.fibry.codec.Codec;
import io.nats.client.api.MessageInfo;

/**
 * The state of an actor after a turn.
 *
 * @param number the number of the turn
 * @param seq the number in the stream of the message that has this turn
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
