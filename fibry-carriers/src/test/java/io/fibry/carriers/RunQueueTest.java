package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import java.lang.ref.WeakReference;
import java.util.Random;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

class RunQueueTest {
  private final RunQueue queue = new RunQueue();

  /** An entry with a number. */
  private record Numbered(int number) implements Runnable {
    @Override
    public void run() {}
  }

  private static int number(Runnable entry) {
    return ((Numbered) entry).number();
  }

  @Test
  void entriesLeaveQueueInOrderOfAddition() {
    for (int i = 0; i < 3; i++) queue.add(new Numbered(i));

    assertEquals(3, queue.size());
    assertEquals(0, number(queue.takeOwn()));
    assertEquals(1, number(queue.steal()));
    assertEquals(2, number(queue.takeOwn()));
    assertNull(queue.takeOwn());
    assertNull(queue.steal());
    assertTrue(queue.isEmpty());
  }

  @Test
  void fullQueueRefusesEntry() {
    for (int i = 0; i < RunQueue.CAPACITY; i++) assertTrue(queue.add(new Numbered(i)));

    assertFalse(queue.add(new Numbered(-1)));
    queue.steal();
    assertTrue(queue.add(new Numbered(RunQueue.CAPACITY)));
    for (int i = 1; i <= RunQueue.CAPACITY; i++) assertEquals(i, number(queue.takeOwn()));
  }

  @Test
  void takeOwnDrainReturnsNullWhenNextEntryIsNoDrain() {
    var drain = new TestDrain(() -> {});
    queue.add(drain);
    queue.add(new Numbered(1));

    assertSame(drain, queue.takeOwnDrain());
    assertNull(queue.takeOwnDrain());
    assertEquals(1, number(queue.takeOwn()));
    assertNull(queue.takeOwnDrain());
  }

  @Test
  void cleanForgetsStolenEntriesAndKeepsQueuedEntries() {
    for (int round = 0; round < 3 * RunQueue.CAPACITY; round++) {
      queue.add(new Numbered(round));
      var stolen = new WeakReference<>(queue.steal());
      queue.add(new Numbered(-round));
      queue.clean();
      assertEquals(-round, number(queue.takeOwn()));
      if (round % 500 == 0) Patience.eventually(() -> {
        System.gc();
        return stolen.get() == null;
      });
    }
  }

  /** An owner and two thieves with random pauses. */
  @Test
  void ownerAndThievesTakeEachEntryOnce() throws InterruptedException {
    long seed = Long.getLong("fibry.seed", System.nanoTime());
    System.out.println("fibry.seed=" + seed);
    int count = 100_000;
    var takes = new AtomicIntegerArray(count);
    var done = new boolean[1];
    var thieves = new Thread[2];
    for (int i = 0; i < thieves.length; i++) {
      var random = new Random(seed + i);
      thieves[i] = Thread.ofPlatform().daemon().start(() -> {
        while (true) {
          boolean wasDone;
          synchronized (done) {
            wasDone = done[0];
          }
          for (var entry = queue.steal(); entry != null; entry = queue.steal()) {
            takes.incrementAndGet(number(entry));
            pause(random);
          }
          if (wasDone) return;
        }
      });
    }
    var random = new Random(~seed);
    for (int next = 0; next < count;) {
      int burst = random.nextInt(2 * RunQueue.CAPACITY);
      while (burst-- > 0 && next < count && queue.add(new Numbered(next))) next++;
      for (int own = random.nextInt(RunQueue.CAPACITY); own > 0; own--) {
        var entry = queue.takeOwn();
        if (entry == null) break;
        takes.incrementAndGet(number(entry));
      }
      if (random.nextInt(4) == 0) queue.clean();
    }
    for (var entry = queue.takeOwn(); entry != null; entry = queue.takeOwn()) takes.incrementAndGet(number(entry));
    synchronized (done) {
      done[0] = true;
    }
    for (var thief : thieves) Patience.awaitEnd(thief);

    for (int i = 0; i < count; i++) assertEquals(1, takes.get(i), "entry " + i + ", fibry.seed=" + seed);
  }

  private static void pause(Random random) {
    for (int spins = random.nextInt(100); spins > 0; spins--) Thread.onSpinWait();
  }
}
