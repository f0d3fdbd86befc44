package io.fibry.store.folder.index;

import io.fibry.store.folder.log.LogRecord;
import io.fibry.store.spi.StoreBackend;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The fields of a record that the index needs. They are read in place, without creating strings.
 *
 * @param bytes the array that contains the record
 * @param offset the offset of the record in the bytes
 */
record RecordHeader(byte[] bytes, int offset) {
  private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private static final byte[] VIEWS = StoreBackend.VIEWS.getBytes(StandardCharsets.UTF_8);

  /** Returns the size of the record in bytes, which is stored before the record. */
  static int size(byte[] bytes, int offset) {
    return (int) INT.get(bytes, offset);
  }

  LogRecord.RecordType type() {
    return LogRecord.RecordType.of(bytes[offset + LogRecord.TYPE_OFFSET]);
  }

  long number() {
    return (long) LONG.get(bytes, offset + LogRecord.NUMBER_OFFSET);
  }

  /** Returns whether the record is a turn that stores the offset of a view. */
  boolean isViewTurn() {
    int kindOffset = offset + LogRecord.ACTOR_OFFSET;
    int kindStart = kindOffset + Short.BYTES;
    return readCount(kindOffset) == VIEWS.length && type() == LogRecord.RecordType.FULL_STATE
        && Arrays.equals(bytes, kindStart, kindStart + VIEWS.length, VIEWS, 0, VIEWS.length);
  }

  void computeFingerprint(FingerprintHasher hasher, long[] into) {
    hasher.compute(bytes, offset + LogRecord.ACTOR_OFFSET, handledOffset() - offset - LogRecord.ACTOR_OFFSET, into);
  }

  /** Returns whether the record handles no message and sends none. */
  boolean isPlain() {
    return (int) INT.get(bytes, handledOffset()) == 0;
  }

  /** Returns the offset of the count of handled messages, after kind and key. */
  private int handledOffset() {
    return afterText(afterText(offset + LogRecord.ACTOR_OFFSET));
  }

  /** Returns the offset after a text. */
  private int afterText(int offset) {
    return offset + Short.BYTES + readCount(offset);
  }

  /** Returns a count, or the length of a text. */
  private int readCount(int offset) {
    return (short) SHORT.get(bytes, offset) & 0xffff;
  }

  /** Parses the whole record. */
  LogRecord toRecord(int size) {
    return LogRecord.of(ByteBuffer.wrap(bytes, offset, size).slice());
  }
}
