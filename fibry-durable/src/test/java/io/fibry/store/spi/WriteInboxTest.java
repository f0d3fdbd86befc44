package io.fibry.store.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Tests the capacity and the end of a {@link WriteInbox}. */
class WriteInboxTest {
  private final WriteInbox<String> inbox = new WriteInbox<>(Thread.currentThread(), 5, String::length);

  @Test
  void interruptedSenderFailsOnlyIfItMustWait() throws Exception {
    Thread.currentThread().interrupt();
    assertTrue(inbox.add("three"));
    assertThrows(InterruptedException.class, () -> inbox.add("4"));

    inbox.release(inbox.poll());

    assertTrue(inbox.add("later"));
  }

  @Test
  void inboxIsSettledUnlessEntryIsPending() throws Exception {
    assertTrue(inbox.isSettled());
    inbox.add("one");
    inbox.add("2");
    var first = inbox.poll();
    assertFalse(inbox.isSettled());
    inbox.release(first);
    assertFalse(inbox.isSettled());

    inbox.release(inbox.poll());

    assertTrue(inbox.isSettled());
  }

  @Test
  void endedInboxRefusesEntriesAndReservesNoBytes() throws Exception {
    assertTrue(inbox.add("three"));
    inbox.refuseNewEntries();
    assertEquals("three", inbox.peek());
    inbox.release(inbox.poll());

    for (int i = 0; i < 3; i++) assertFalse(inbox.add("later"));

    assertTrue(inbox.isEmpty());
  }
}
