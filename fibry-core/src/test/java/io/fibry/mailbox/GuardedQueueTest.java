package io.fibry.mailbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.mailbox.GuardedQueue.Answer;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The queue alone, by one thread. */
class GuardedQueueTest {
  private static Place<String> place(String message) {
    return Place.of(message, message);
  }

  @Test
  void theFirstOfferGivesTheRightToRunAndReleaseGivesItBack() {
    var queue = new GuardedQueue<String>(Mailbox.unbounded().selective());

    assertEquals(Answer.RUN, queue.offer(place("a"), true));
    assertEquals(Answer.TAKEN, queue.offer(place("b"), true));
    assertFalse(queue.release());
    assertEquals("a", queue.poll());
    assertEquals("b", queue.poll());
    assertNull(queue.poll());
    assertTrue(queue.release());
    assertTrue(queue.runIfIdle());
    assertFalse(queue.runIfIdle());
  }

  @Test
  void aFullQueueAnswersByItsOverflow() {
    for (var overflow : Overflow.values()) {
      var queue = new GuardedQueue<String>(Mailbox.bounded(1, overflow));
      queue.offer(place("a"), true);

      var answer = queue.offer(place("b"), true);

      assertEquals(
          overflow == Overflow.BLOCK ? Answer.LINE : overflow == Overflow.DROP_OLDEST ? Answer.TAKEN : Answer.FULL,
          answer);
      assertEquals(1, queue.size());
    }
  }

  @Test
  void whatIsAdmittedIsNotCounted() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(1, Overflow.REJECT));

    queue.admit(Place.last("pill"));

    assertEquals(0, queue.size());
    assertEquals(Answer.TAKEN, queue.offer(place("a"), true));
    assertEquals(List.of("pill", "a"), queue.waiting(9));
  }

  @Test
  void aTakeLetsTheFirstOfTheLineIn() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(1, Overflow.BLOCK));
    queue.offer(place("a"), true);
    var waits = place("b");
    queue.offer(waits, true);

    queue.poll();

    assertTrue(queue.await(waits, () -> true));
    assertEquals(List.of("b"), queue.waiting(9));
  }

  @Test
  void whoLeavesTheLineLetsSmallerOnesIn() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(2, Overflow.BLOCK));
    queue.offer(place("a"), true);
    var block = Place.block(List.of(place("b"), place("c")));
    queue.offer(block, true);
    var small = place("d");
    queue.offer(small, true);

    boolean taken = queue.await(block, () -> true);

    assertFalse(taken);
    assertTrue(queue.await(small, () -> true));
    assertEquals(List.of("a", "d"), queue.waiting(9));
  }

  @Test
  void removingFreesThePlaceOnce() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(2, Overflow.REJECT));
    var middle = place("b");
    queue.offer(place("a"), true);
    queue.offer(middle, true);

    assertTrue(queue.remove(middle));
    assertFalse(queue.remove(middle));
    assertEquals(1, queue.size());
  }

  @Test
  void aShutDoorTakesOnlyWhatIsAdmitted() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(1, Overflow.BLOCK));
    queue.offer(place("a"), true);
    var waits = place("b");
    queue.offer(waits, true);

    queue.shutDoor();

    assertFalse(queue.await(waits, () -> false));
    assertEquals(Answer.SHUT, queue.offer(place("c"), true));
    assertEquals(Answer.TAKEN, queue.admit(Place.last("pill")));
    assertEquals(List.of("a", "pill"), queue.waiting(9));
  }

  @Test
  void whatIsPutBackComesFirst() {
    var queue = new GuardedQueue<String>(Mailbox.unbounded().selective());
    queue.offer(place("c"), true);

    queue.putBack(List.of(Place.unranked("a"), Place.unranked("b")));

    assertEquals(List.of("a", "b", "c"), queue.waiting(9));
  }

  @Test
  void ranksDecideWithinAnEpochAndAPillEndsIt() {
    var queue = new GuardedQueue<String>(Mailbox.priority(Comparator.<String>naturalOrder()));
    queue.offer(place("c"), true);
    queue.offer(place("b"), true);
    queue.admit(Place.last("pill"));
    queue.offer(place("a"), true);

    assertEquals(List.of("b", "c", "pill", "a"), queue.waiting(9));
  }

  @Test
  void aComparatorThatThrowsChangesNothing() {
    var queue = new GuardedQueue<String>(Mailbox.<String>priority((a, b) -> {
      throw new IllegalStateException("bad order");
    }));

    assertThrows(IllegalStateException.class, () -> queue.offer(place("a"), true));

    assertEquals(0, queue.size());
    assertEquals(List.of(), queue.waiting(9));
    assertTrue(queue.runIfIdle());
  }

  @Test
  void nobodyOvertakesABlockThatStandsInTheLine() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(2, Overflow.BLOCK));
    queue.offer(place("a"), true);
    queue.offer(place("b"), true);
    var block = Place.block(List.of(place("c"), place("d")));
    assertEquals(Answer.LINE, queue.offer(block, true));

    queue.poll(); // room for one

    assertEquals(Answer.LINE, queue.offer(place("e"), true));
    assertTrue(block.inLine());
    queue.poll();
    assertFalse(block.inLine());
    assertEquals(List.of("c", "d"), queue.waiting(9));
  }

  @Test
  void enteringIsForQueuesThatHaveRoomAndThatSomebodyRuns() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(2, Overflow.BLOCK));
    assertNull(queue.enter(place("idle"), true));
    queue.offer(place("a"), true);
    assertEquals(Answer.TAKEN, queue.enter(place("b"), true));

    var late = place("c");
    assertNull(queue.enter(late, true)); // it looks for a moment, and nobody takes anything

    assertTrue(late.isOutside());
    assertFalse(queue.remove(late));
    assertEquals(List.of("a", "b"), queue.waiting(9));
  }

  @Test
  void aLetterIsOpenedByWhoTakesItOrLooksAtIt() {
    var queue = new GuardedQueue<String>(Mailbox.bounded(2, Overflow.REJECT), System::nanoTime,
        (message, along) -> message + " with " + along);

    queue.offer(Place.letter("a", "b"), true);

    assertEquals(List.of("a with b"), queue.waiting(9));
    assertEquals("a with b", queue.poll());
    assertNull(queue.poll());
  }
}
