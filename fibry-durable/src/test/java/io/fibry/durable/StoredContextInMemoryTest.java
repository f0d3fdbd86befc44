package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.codec.Codec;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StoredContextInMemoryTest extends StoredContextContract {
  StoredContextInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }

  /** The form in which messages were stored before there were contexts. */
  private static final class Old {
    private record Failed(String reason, Instant at) {}

    private record Mail(byte[] message, Optional<Duration> every, Optional<Failed> failed) {}
  }

  private static final Codec<Old.Mail> OLD = Codec.of(Old.Mail.class);
  private static final Optional<Duration> EVERY = Optional.of(Duration.ofHours(1));

  @Test
  void messageStoredByOlderProgramHasNoContext() {
    var mail = Mail.read(OLD.encode(new Old.Mail(new byte[] {7}, EVERY, Optional.empty())));

    assertArrayEquals(new byte[] {7}, mail.message());
    assertEquals(EVERY, mail.every());
    assertEquals(Optional.empty(), mail.context());
  }

  @Test
  void olderProgramReadsAMessageWithContext() {
    var mail = OLD.decode(Mail.of(new byte[] {7}, EVERY, "tenant=acme").bytes());

    assertArrayEquals(new byte[] {7}, mail.message());
    assertEquals(EVERY, mail.every());
  }
}
