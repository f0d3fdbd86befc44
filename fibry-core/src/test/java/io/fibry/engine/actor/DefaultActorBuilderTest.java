package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import java.util.Comparator;
import org.junit.jupiter.api.Test;

class DefaultActorBuilderTest {
  @Test
  void onlyUnboundedMailboxIsPlain() {
    assertTrue(DefaultActorBuilder.isPlain(Mailbox.unbounded()));
    assertFalse(DefaultActorBuilder.isPlain(Mailbox.unbounded().selective()));
    assertFalse(DefaultActorBuilder.isPlain(Mailbox.bounded(1, Overflow.BLOCK)));
    assertFalse(DefaultActorBuilder.isPlain(Mailbox.priority(Comparator.<String>naturalOrder())));
  }
}
