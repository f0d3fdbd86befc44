package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OldestEntryTest {
  private static final long START = Long.MAX_VALUE - 10; // so that nanoTime overflows during the test
  private static final long LIMIT = WakePolicy.STEAL_BACKLOG;

  private final RunQueue queue = new RunQueue();
  private final OldestEntry oldest = new OldestEntry();

  @BeforeEach
  void addEntries() {
    queue.add(() -> {});
    queue.add(() -> {});
  }

  @Test
  void entryHasWaitedWhenItIsOldestForWholeLimit() {
    assertFalse(oldest.hasWaited(queue, START));
    assertFalse(oldest.hasWaited(queue, START + LIMIT - 1));
    assertTrue(oldest.hasWaited(queue, START + LIMIT));
  }

  @Test
  void takenEntryStartsWaitOfNextEntry() {
    oldest.hasWaited(queue, START);
    queue.takeOwn();

    assertFalse(oldest.hasWaited(queue, START + LIMIT));
    assertTrue(oldest.hasWaited(queue, START + 2 * LIMIT));
  }

  @Test
  void entryOfOtherQueueIsIgnoredUntilRememberedEntryIsTaken() {
    var otherQueue = new RunQueue();
    otherQueue.add(() -> {});
    oldest.hasWaited(queue, START);

    assertFalse(oldest.hasWaited(otherQueue, START + 1));
    assertTrue(oldest.hasWaited(queue, START + LIMIT));
    queue.takeOwn();
    assertFalse(oldest.hasWaited(otherQueue, START + LIMIT));
    assertTrue(oldest.hasWaited(otherQueue, START + 2 * LIMIT));
  }

  @Test
  void nearEntryIsNotRememberedAndHidesNoEntryOfOtherQueue() {
    var nearQueue = new RunQueue();
    nearQueue.add(NearContinuation.of(() -> {}));

    assertFalse(oldest.hasWaited(nearQueue, START));
    assertFalse(oldest.hasWaited(queue, START));
    assertFalse(oldest.hasWaited(nearQueue, START + LIMIT));

    assertTrue(oldest.hasWaited(queue, START + LIMIT));
  }

  @Test
  void emptyQueueStartsNoWaitOfNextEntry() {
    var otherQueue = new RunQueue();

    assertFalse(oldest.hasWaited(otherQueue, START));
    otherQueue.add(() -> {});
    assertFalse(oldest.hasWaited(otherQueue, START + LIMIT));
  }
}
