package io.fibry.mailbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Comparator;
import org.junit.jupiter.api.Test;

/** What a mailbox says of itself. */
class MailboxTest {
  @Test
  void itsTextSaysWhatItIs() {
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
  void onlyThePlainOneNeedsNoGuard() {
    assertFalse(GuardedQueue.needed(Mailbox.unbounded()));
    assertTrue(GuardedQueue.needed(Mailbox.unbounded().selective()));
    assertTrue(GuardedQueue.needed(Mailbox.bounded(1, Overflow.BLOCK)));
    assertTrue(GuardedQueue.needed(Mailbox.priority(Comparator.<String>naturalOrder())));
  }
}
