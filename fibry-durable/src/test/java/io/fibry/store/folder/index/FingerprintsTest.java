package io.fibry.store.folder.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.fibry.store.Store;
import io.fibry.store.folder.log.LogRecord;
import io.fibry.store.spi.StoreBackend;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FingerprintsTest {

  /**
   * The bytes of the key and of the text count up from 0. Another program computed the expected
   * values of SipHash-1-3. That program was checked with the published values of SipHash-2-4.
   */
  @ParameterizedTest
  @CsvSource({"0, e77ebcb22788a5befd62db6add303001", "1, fc6f370460d3eda85e0573cc2b2ff063",
    "7, 1084b923f2aae0c3a62f2ec80848ab77", "15, c17e5505b2bd526c2921cdec1e7e0109"})
  void fingerprintIsSipHash(int length, String expected) {
    var bytes = new byte[length + 2];
    for (int i = 0; i < length; i++) bytes[i + 1] = (byte) i;

    var fingerprint = new FingerprintHasher(0x0706050403020100L, 0x0f0e0d0c0b0a0908L).of(bytes, 1, length);

    var hash = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN).putLong(fingerprint.high())
        .putLong(fingerprint.low());
    assertEquals(expected, HexFormat.of().formatHex(hash.array()));
  }

  @Test
  void fingerprintsOfActorAndItsRecordsAreEqual() {
    var hasher = FingerprintHasher.random();
    var actor = new Store.ActorId("account", "Grace's 2nd, \u00e4\u4e2d");
    var turn = new StoreBackend.Turn(actor, 1, 1, Instant.EPOCH, true, new byte[9], List.of(), List.of());
    var words = new long[2];

    new RecordHeader(LogRecord.bytes(turn, false).array(), 0).computeFingerprint(hasher, words);

    assertEquals(hasher.of(actor), new ActorFingerprint(words[0], words[1]));
    assertNotEquals(hasher.of(actor), FingerprintHasher.random().of(actor));
  }

  @Test
  void fingerprintDependsOnBoundaryBetweenKindAndKey() {
    var hasher = FingerprintHasher.random();

    assertNotEquals(hasher.of(new Store.ActorId("ab", "c")), hasher.of(new Store.ActorId("a", "bc")));
  }
}
