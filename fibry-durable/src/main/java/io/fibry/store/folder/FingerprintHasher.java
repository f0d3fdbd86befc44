package io.fibry.store.folder;

import io.fibry.store.Store;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;

/**
 * SipHash-1-3 of 128 bits. Its key is random and never leaves the process, so nobody can choose
 * keys of actors whose fingerprints are the same, or near. Thread-safe.
 */
final class FingerprintHasher {
  private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final long key0;
  private final long key1;

  FingerprintHasher(long key0, long key1) {
    this.key0 = key0;
    this.key1 = key1;
  }

  static FingerprintHasher random() {
    var random = new SecureRandom();
    return new FingerprintHasher(random.nextLong(), random.nextLong());
  }

  Fingerprint of(Store.ActorId actor) {
    byte[] kind = actor.kind().getBytes(StandardCharsets.UTF_8);
    byte[] key = actor.key().getBytes(StandardCharsets.UTF_8);
    var bytes = new byte[2 * Short.BYTES + kind.length + key.length];
    put(key, bytes, put(kind, bytes, 0));
    return of(bytes, 0, bytes.length);
  }

  /** Writes a text as it stands in a record. */
  private static int put(byte[] text, byte[] into, int at) {
    into[at] = (byte) (text.length >>> Byte.SIZE);
    into[at + 1] = (byte) text.length;
    System.arraycopy(text, 0, into, at + Short.BYTES, text.length);
    return at + Short.BYTES + text.length;
  }

  Fingerprint of(byte[] bytes, int from, int length) {
    var both = new long[2];
    write(bytes, from, length, both);
    return new Fingerprint(both[0], both[1]);
  }

  /** Computes the fingerprint of an actor as a record has it: high, then low. */
  void write(byte[] bytes, int from, int length, long[] into) {
    long v0 = key0 ^ 0x736f6d6570736575L;
    long v1 = key1 ^ 0x646f72616e646f6dL ^ 0xee;
    long v2 = key0 ^ 0x6c7967656e657261L;
    long v3 = key1 ^ 0x7465646279746573L;
    int end = from + (length & -Long.BYTES);
    for (int at = from; at <= end; at += Long.BYTES) {
      long word = at < end ? (long) LONG.get(bytes, at) : last(bytes, from, length);
      v3 ^= word;
      v0 += v1;
      v2 += v3;
      v1 = Long.rotateLeft(v1, 13) ^ v0;
      v3 = Long.rotateLeft(v3, 16) ^ v2;
      v0 = Long.rotateLeft(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = Long.rotateLeft(v1, 17) ^ v2;
      v3 = Long.rotateLeft(v3, 21) ^ v0;
      v2 = Long.rotateLeft(v2, 32);
      v0 ^= word;
    }
    v2 ^= 0xee;
    long high = 0;
    for (int round = 1; round <= 6; round++) { // the same again: a method would have four results
      v0 += v1;
      v2 += v3;
      v1 = Long.rotateLeft(v1, 13) ^ v0;
      v3 = Long.rotateLeft(v3, 16) ^ v2;
      v0 = Long.rotateLeft(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = Long.rotateLeft(v1, 17) ^ v2;
      v3 = Long.rotateLeft(v3, 21) ^ v0;
      v2 = Long.rotateLeft(v2, 32);
      if (round != 3) continue;
      high = v0 ^ v1 ^ v2 ^ v3;
      v1 ^= 0xdd;
    }
    into[0] = high;
    into[1] = v0 ^ v1 ^ v2 ^ v3;
  }

  private static long last(byte[] bytes, int from, int length) {
    long word = (long) length << 56;
    int end = from + (length & -Long.BYTES);
    int left = length & Long.BYTES - 1;
    if (end + Long.BYTES <= bytes.length) return word | (long) LONG.get(bytes, end) & (1L << Byte.SIZE * left) - 1;
    for (int i = 0; i < left; i++) word |= (bytes[end + i] & 0xffL) << Byte.SIZE * i;
    return word;
  }
}
