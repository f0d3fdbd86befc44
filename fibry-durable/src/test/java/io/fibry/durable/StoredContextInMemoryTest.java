package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.codec.Codec;
import io.fibry.durable.storage.Mail;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StoredContextInMemoryTest extends StoredContextContract {
  StoredContextInMemoryTest() {
    super((folder, clock) -> TestStores.inMemory(clock));
  }

  /** The form in which messages were stored before there were contexts. */
  private static final class OldForms {
    private record Failed(String reason, Instant at) {}

    private record Mail(byte[] message, Optional<Duration> every, Optional<Failed> failed) {}
  }

  private static final Codec<OldForms.Mail> OLD_CODEC = Codec.of(OldForms.Mail.class);
  private static final Optional<Duration> PERIOD = Optional.of(Duration.ofHours(1));

  @Test
  void messageStoredByOlderProgramHasNoContext() {
    var mail = Mail.read(OLD_CODEC.encode(new OldForms.Mail(new byte[] {7}, PERIOD, Optional.empty())));

    assertArrayEquals(new byte[] {7}, mail.message());
    assertEquals(PERIOD, mail.every());
    assertEquals(Optional.empty(), mail.context());
  }

  @Test
  void olderProgramReadsMessageWithContext() {
    var mail = OLD_CODEC.decode(Mail.of(new byte[] {7}, PERIOD, "tenant=acme").bytes());

    assertArrayEquals(new byte[] {7}, mail.message());
    assertEquals(PERIOD, mail.every());
  }
}
