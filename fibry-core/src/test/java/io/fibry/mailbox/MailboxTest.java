package io.fibry.mailbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Comparator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Tests the settings of mailboxes, and how mailboxes describe themselves. */
class MailboxTest {
  private static final Duration MAX_WAIT = Duration.ofMillis(20);

  @Test
  void toStringDescribesMailbox() {
    assertEquals("unbounded", Mailbox.unbounded().toString());
    assertEquals("bounded(3, DROP_OLDEST)", Mailbox.bounded(3, Overflow.DROP_OLDEST).toString());
    assertEquals("priority, selective", Mailbox.priority(Comparator.<String>naturalOrder()).selective().toString());
  }

  @Test
  void selectiveReturnsNewMailboxAndKeepsOriginal() {
    var mailbox = Mailbox.bounded(3, Overflow.BLOCK);

    assertTrue(mailbox.selective().isSelective());
    assertFalse(mailbox.isSelective());
    assertSame(Mailbox.unbounded(), Mailbox.unbounded());
  }

  @Test
  void withMaxWaitReturnsCopyWhoseTextShowsMaxWait() {
    var mailbox = Mailbox.bounded(3, Overflow.REJECT);

    assertEquals("bounded(3, REJECT) within 20 ms", mailbox.withMaxWait(Duration.ofMillis(20)).toString());
    assertEquals(Duration.ofMillis(20), mailbox.withMaxWait(Duration.ofMillis(20)).maxWait());
    assertEquals(Duration.ZERO, mailbox.maxWait());
  }

  @Test
  void maxWaitIsRefusedIfWaitCannotBePredicted() {
    assertRefused("messages that may wait 0 s could not wait at all",
        () -> Mailbox.bounded(3, Overflow.REJECT).withMaxWait(Duration.ZERO));
    assertRefused("with a capacity", () -> Mailbox.unbounded().withMaxWait(MAX_WAIT));
    assertRefused("this one is priority",
        () -> Mailbox.priority(Comparator.<String>naturalOrder()).withMaxWait(MAX_WAIT));
    assertRefused("this one is bounded(3, REJECT), selective",
        () -> Mailbox.bounded(3, Overflow.REJECT).selective().withMaxWait(MAX_WAIT));
    assertRefused("leave out withMaxWait(20 ms)",
        () -> Mailbox.bounded(3, Overflow.REJECT).withMaxWait(MAX_WAIT).selective());
    assertRefused("give it REJECT or DROP_NEWEST", () -> Mailbox.bounded(3, Overflow.BLOCK).withMaxWait(MAX_WAIT));
    assertRefused("give it REJECT or DROP_NEWEST",
        () -> Mailbox.bounded(3, Overflow.DROP_OLDEST).withMaxWait(MAX_WAIT));
    assertThrows(NullPointerException.class, () -> Mailbox.bounded(3, Overflow.REJECT).withMaxWait(null));
  }

  @Test
  void capacityForReturnsHalfOfMessagesHandledInRemainingTime() {
    assertEquals(31, Mailbox.capacityFor(Duration.ofMillis(500), Duration.ofMillis(30), 133));
    assertEquals(1, Mailbox.capacityFor(Duration.ofMillis(31), Duration.ofMillis(30), 1));
    assertEquals(Integer.MAX_VALUE - 1, Mailbox.capacityFor(Duration.ofSeconds(Long.MAX_VALUE), Duration.ZERO, 1e9));
  }

  @Test
  void capacityForThrowsIfNoMessageCanBeHandledInTime() {
    assertRefused("takes 500 ms is never answered within 500 ms",
        () -> Mailbox.capacityFor(Duration.ofMillis(500), Duration.ofMillis(500), 133));
    assertRefused("cannot take -1 ms", () -> Mailbox.capacityFor(Duration.ofMillis(500), Duration.ofMillis(-1), 133));
    for (double rate : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY})
      assertRefused(rate + " messages handled per second", () -> Mailbox.capacityFor(MAX_WAIT, Duration.ZERO, rate));
  }

  private static void assertRefused(String text, Executable code) {
    var failure = assertThrows(IllegalArgumentException.class, code);
    assertTrue(failure.getMessage().contains(text), failure.getMessage());
  }
}
