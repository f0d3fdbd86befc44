package io.fibry.store.folder;

import io.fibry.store.Store;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A record of the log: what is stored of a turn.
 *
 * <pre>
 * crc 4 | flags 1 | number 8 | milliseconds 8 | kind: length 1, bytes | key: length 2, bytes | body
 * </pre>
 */
record Stored(Store.Id actor, long number, boolean whole, ByteBuffer content) {
  private static final int WHOLE = 1;
  private static final int SNAPSHOT = 2;
  private static final int FIXED = 24; // of all but kind, key and body

  static ByteBuffer bytes(Store.Turn turn, boolean snapshot) {
    byte[] kind = turn.actor().kind().getBytes(StandardCharsets.UTF_8);
    byte[] key = turn.actor().key().getBytes(StandardCharsets.UTF_8);
    var out = ByteBuffer.allocate(FIXED + kind.length + key.length + turn.body().length);
    out.putInt(0).put((byte) ((turn.whole() ? WHOLE : 0) | (snapshot ? SNAPSHOT : 0)));
    out.putLong(turn.number()).putLong(turn.at().toEpochMilli());
    out.put((byte) kind.length).put(kind).putShort((short) key.length).put(key).put(turn.body());
    return out.putInt(0, crc(out.flip()));
  }

  /** Null: it is damaged. */
  static Stored checked(ByteBuffer record) {
    return record.remaining() < FIXED || record.getInt(record.position()) != crc(record) ? null : of(record);
  }

  /** Of a record in a whole frame. */
  static Stored of(ByteBuffer record) {
    var in = record.duplicate();
    in.getInt();
    int flags = in.get();
    long number = in.getLong();
    in.getLong(); // its time
    String kind = text(in, in.get() & 0xff);
    String key = text(in, in.getShort() & 0xffff);
    return new Stored(new Store.Id(kind, key), number, (flags & WHOLE) != 0, in.slice());
  }

  byte[] body() {
    byte[] body = new byte[content.remaining()];
    content.get(content.position(), body);
    return body;
  }

  private static String text(ByteBuffer in, int length) {
    byte[] bytes = new byte[length];
    in.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static int crc(ByteBuffer record) {
    return Checksum.of(record.slice(record.position() + Integer.BYTES, record.remaining() - Integer.BYTES));
  }
}
