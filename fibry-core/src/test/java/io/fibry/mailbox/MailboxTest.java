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

/** What a mailbox says of itself. */
class MailboxTest {
  private static final Duration WAIT = Duration.ofMillis(20);

  @Test
  void toStringDescribesMailbox() {
    assertEquals("unbounded", Mailbox.unbounded().toString());
    assertEquals("bounded(3, DROP_OLDEST)", Mailbox.bounded(3, Overflow.DROP_OLDEST).toString());
    assertEquals("priority, selective", Mailbox.priority(Comparator.<String>naturalOrder()).selective().toString());
  }

  @Test
  void selectiveIsACopy() {
    var plain = Mailbox.bounded(3, Overflow.BLOCK);

    assertTrue(plain.selective().isSelective());
    assertFalse(plain.isSelective());
    assertSame(Mailbox.unbounded(), Mailbox.unbounded());
  }

  @Test
  void withinIsACopyThatSaysSo() {
    var plain = Mailbox.bounded(3, Overflow.REJECT);

    assertEquals("bounded(3, REJECT) within 20 ms", plain.withMaxWait(Duration.ofMillis(20)).toString());
    assertEquals(Duration.ofMillis(20), plain.withMaxWait(Duration.ofMillis(20)).maxWait());
    assertEquals(Duration.ZERO, plain.maxWait());
  }

  @Test
  void withinRefusesWhereNoWaitCanBeForetold() {
    refused("messages that may wait 0 s could not wait at all",
        () -> Mailbox.bounded(3, Overflow.REJECT).withMaxWait(Duration.ZERO));
    refused("with a capacity", () -> Mailbox.unbounded().withMaxWait(WAIT));
    refused("this one is priority", () -> Mailbox.priority(Comparator.<String>naturalOrder()).withMaxWait(WAIT));
    refused("this one is bounded(3, REJECT), selective",
        () -> Mailbox.bounded(3, Overflow.REJECT).selective().withMaxWait(WAIT));
    refused("leave out withMaxWait(20 ms)", () -> Mailbox.bounded(3, Overflow.REJECT).withMaxWait(WAIT).selective());
    refused("give it REJECT or DROP_NEWEST", () -> Mailbox.bounded(3, Overflow.BLOCK).withMaxWait(WAIT));
    refused("give it REJECT or DROP_NEWEST", () -> Mailbox.bounded(3, Overflow.DROP_OLDEST).withMaxWait(WAIT));
    assertThrows(NullPointerException.class, () -> Mailbox.bounded(3, Overflow.REJECT).withMaxWait(null));
  }

  @Test
  void roomIsHalfOfWhatIsHandledInTheTimeThatIsLeft() {
    assertEquals(31, Mailbox.capacityFor(Duration.ofMillis(500), Duration.ofMillis(30), 133));
    assertEquals(1, Mailbox.capacityFor(Duration.ofMillis(31), Duration.ofMillis(30), 1));
    assertEquals(Integer.MAX_VALUE - 1, Mailbox.capacityFor(Duration.ofSeconds(Long.MAX_VALUE), Duration.ZERO, 1e9));
  }

  @Test
  void roomIsRefusedForWhatCanNeverBeInTime() {
    refused("takes 500 ms is never answered within 500 ms",
        () -> Mailbox.capacityFor(Duration.ofMillis(500), Duration.ofMillis(500), 133));
    refused("cannot take -1 ms", () -> Mailbox.capacityFor(Duration.ofMillis(500), Duration.ofMillis(-1), 133));
    for (double rate : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY})
      refused(rate + " messages handled per second", () -> Mailbox.capacityFor(WAIT, Duration.ZERO, rate));
  }

  private static void refused(String words, Executable code) {
    var refusal = assertThrows(IllegalArgumentException.class, code);
    assertTrue(refusal.getMessage().contains(words), refusal.getMessage());
  }
}
