package io.fibry.store.folder;

import io.fibry.store.Store;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The fields of a turn's record that the index needs, read in place: no text is made.
 *
 * @param at where the record begins
 */
record RecordHeader(byte[] bytes, int at) {
  private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private static final byte[] VIEWS = Store.VIEWS.getBytes(StandardCharsets.UTF_8);

  /** How many bytes a record has, which a frame says in front of it. */
  static int size(byte[] bytes, int at) {
    return (int) INT.get(bytes, at);
  }

  LogRecord.RecordType type() {
    return LogRecord.RecordType.of(bytes[at + LogRecord.TYPE_OFFSET]);
  }

  long number() {
    return (long) LONG.get(bytes, at + LogRecord.NUMBER_OFFSET);
  }

  /** It is a turn that says where a view stands. */
  boolean isOfView() {
    int kind = at + LogRecord.ACTOR_OFFSET;
    return count(kind) == VIEWS.length && type() == LogRecord.RecordType.WHOLE
        && Arrays.equals(bytes, kind + Short.BYTES, kind + Short.BYTES + VIEWS.length, VIEWS, 0, VIEWS.length);
  }

  void computeFingerprint(FingerprintHasher fingerprints, long[] into) {
    fingerprints.write(bytes, at + LogRecord.ACTOR_OFFSET, handledOffset() - at - LogRecord.ACTOR_OFFSET, into);
  }

  /** It has done and sends nothing. */
  boolean isPlain() {
    return (int) INT.get(bytes, handledOffset()) == 0;
  }

  boolean hasOutbox() {
    int next = handledOffset() + Short.BYTES;
    for (int left = count(handledOffset()); left > 0; left--) next = afterText(next);
    return count(next) > 0;
  }

  /** Where it says what it has done: behind kind and key. */
  private int handledOffset() {
    return afterText(afterText(at + LogRecord.ACTOR_OFFSET));
  }

  private int afterText(int from) {
    return from + Short.BYTES + count(from);
  }

  private int count(int from) {
    return (short) SHORT.get(bytes, from) & 0xffff;
  }

  /** All of it. */
  LogRecord stored(int size) {
    return LogRecord.of(ByteBuffer.wrap(bytes, at, size).slice());
  }
}
