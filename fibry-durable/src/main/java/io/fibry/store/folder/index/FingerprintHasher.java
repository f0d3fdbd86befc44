package io.fibry.store.folder.index;

import io.fibry.store.Store;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;

/**
 * Computes fingerprints by SipHash-1-3 with a result of 128 bits. The key of the hash is random and
 * never leaves the process. An attacker thus cannot choose keys of actors so that their
 * fingerprints are equal, or get the same slot in the index. Thread-safe.
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

  ActorFingerprint of(Store.ActorId actor) {
    byte[] kind = actor.kind().getBytes(StandardCharsets.UTF_8);
    byte[] key = actor.key().getBytes(StandardCharsets.UTF_8);
    var bytes = new byte[2 * Short.BYTES + kind.length + key.length];
    put(key, bytes, put(kind, bytes, 0));
    return of(bytes, 0, bytes.length);
  }

  /**
   * Writes a text as in a record: two bytes of length, then UTF-8. Returns the offset after the
   * text.
   */
  private static int put(byte[] text, byte[] into, int offset) {
    into[offset] = (byte) (text.length >>> Byte.SIZE);
    into[offset + 1] = (byte) text.length;
    System.arraycopy(text, 0, into, offset + Short.BYTES, text.length);
    return offset + Short.BYTES + text.length;
  }

  ActorFingerprint of(byte[] bytes, int from, int length) {
    var halves = new long[2];
    compute(bytes, from, length, halves);
    return new ActorFingerprint(halves[0], halves[1]);
  }

  /**
   * Computes the fingerprint of an actor from the bytes that a record has for its kind and key.
   *
   * @param into gets the high half, then the low half
   */
  void compute(byte[] bytes, int from, int length, long[] into) {
    long v0 = key0 ^ 0x736f6d6570736575L;
    long v1 = key1 ^ 0x646f72616e646f6dL ^ 0xee;
    long v2 = key0 ^ 0x6c7967656e657261L;
    long v3 = key1 ^ 0x7465646279746573L;
    int end = from + (length & -Long.BYTES);
    for (int offset = from; offset <= end; offset += Long.BYTES) {
      long word = offset < end ? (long) LONG.get(bytes, offset) : lastWord(bytes, from, length);
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
    for (int round = 1; round <= 6; round++) { // a method for a round would have to return v0 to v3
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

  /** Returns the last bytes, fewer than eight, with the length in the highest byte. */
  private static long lastWord(byte[] bytes, int from, int length) {
    long word = (long) length << 56;
    int end = from + (length & -Long.BYTES);
    int remaining = length & Long.BYTES - 1;
    if (end + Long.BYTES <= bytes.length) return word | (long) LONG.get(bytes, end) & (1L << Byte.SIZE * remaining) - 1;
    for (int i = 0; i < remaining; i++) word |= (bytes[end + i] & 0xffL) << Byte.SIZE * i;
    return word;
  }
}
