package io.fibry.examples;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.pool.Pools;
import java.util.concurrent.CountDownLatch;

/**
 * Computations beside hundreds of reads: in one pool of threads, then with the reads on fibers. In
 * the shared pool, reads soon hold all threads. On fibers a waiting read holds no thread, so the
 * pool can compute. The simulated disk answers only at the end.
 */
class FilesAndWork {
  private static final int READS = 400;
  private static final int THREADS = 4;

  public static void main(String[] args) throws Exception {
    for (int computations : new int[] {133, 400, 1_200, 2_800}) {
      long doneInOnePool = computationsDone(computations, false);
      long doneBesideFibers = computationsDone(computations, true);
      System.out.println(READS + " reads wait, " + computations + " computations: done in one pool " + doneInOnePool
          + ", with the reads on fibers " + doneBesideFibers);
    }
  }

  /** Returns how many computations were done while all reads waited. */
  private static long computationsDone(int computations, boolean readsOnFibers) throws InterruptedException {
    var builder = ActorSystem.anonymous().strategy(Strategy.THREAD).mailbox(Mailbox.unbounded());
    try (Actor<Handler.Task> pool = Pools.fixed(builder, THREADS).newActor(Handler.Task::run);
        Actor<Handler.Task> fibers = Pools.perMessage(ActorSystem.anonymous()).newActor(Handler.Task::run)) {
      var disk = new CountDownLatch(1);
      var remaining = new CountDownLatch(computations);
      var freeThreads = new CountDownLatch(THREADS); // threads of the pool without a read
      Handler.Task read = () -> {
        freeThreads.countDown();
        disk.await();
      };
      Handler.Task computation = remaining::countDown;

      int tasks = READS + computations;
      for (int i = 0; i < tasks; i++) {
        boolean isRead = (i + 1) * READS / tasks > i * READS / tasks; // mixed evenly
        if (isRead) (readsOnFibers ? fibers : pool).sendMessage(read);
        else pool.sendMessage(computation);
      }
      (readsOnFibers ? remaining : freeThreads).await(); // now no task can end before the disk answers
      long done = computations - remaining.getCount();
      disk.countDown();
      return done;
    }
  }
}
