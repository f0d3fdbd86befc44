package io.fibry.nats.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.fibry.nats.stream.WriteOutcome;
import io.nats.client.impl.NatsMessage;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Tests that a node can read the replies of a keeper. */
class PurgeServiceTest {
  private static final String REASON = "a \"reason\" \\ of\ntwo lines";

  /** Returns the outcome as the node reads it from the reply. */
  private static WriteOutcome replied(WriteOutcome outcome) {
    return WriteOutcome.of(
        NatsMessage.builder().subject("reply").data(PurgeService.text(outcome), StandardCharsets.UTF_8).build(), null);
  }

  @Test
  void nodeReadsEachPurgeOutcomeFromKeeperReply() {
    assertInstanceOf(WriteOutcome.WriteSuccess.class, replied(new WriteOutcome.WriteSuccess(0)));
    assertEquals(new WriteOutcome.WriteRejection(REASON + " [0]", false),
        replied(new WriteOutcome.WriteRejection(REASON, false)));
    assertEquals(new WriteOutcome.RetryableFailure(REASON + " [0]", false),
        replied(new WriteOutcome.RetryableFailure(REASON, true)));
    assertInstanceOf(WriteOutcome.WriteRejection.class, replied(new WriteOutcome.WriteConflict(false)));
  }
}
