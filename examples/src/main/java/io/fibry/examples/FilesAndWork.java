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
 * the shared pool, reads soon hold all threads. On fibers a waiting read holds none, so the pool
 * can compute. (The disk here answers last; the benchmark file-reads measures a real one.)
 */
class FilesAndWork {
  private static final int READS = 400;
  private static final int THREADS = 4;

  public static void main(String[] args) throws Exception {
    for (int computations : new int[] {133, 400, 1_200, 2_800}) {
      long together = computedMeanwhile(computations, false);
      long apart = computedMeanwhile(computations, true);
      System.out.println(READS + " reads wait, " + computations + " computations: done in one pool " + together
          + ", with the reads on fibers " + apart);
    }
  }

  private static long computedMeanwhile(int computations, boolean apart) throws InterruptedException {
    var how = ActorSystem.anonymous().strategy(Strategy.THREAD).mailbox(Mailbox.unbounded());
    try (Actor<Handler.Task> pool = Pools.fixed(how, THREADS).newActor(Handler.Task::run);
        Actor<Handler.Task> fibers = Pools.perMessage(ActorSystem.anonymous()).newActor(Handler.Task::run)) {
      var disk = new CountDownLatch(1);
      var computed = new CountDownLatch(computations);
      var stuck = new CountDownLatch(THREADS); // threads held by reads
      Handler.Task read = () -> {
        stuck.countDown();
        disk.await();
      };
      Handler.Task computation = computed::countDown;

      int tasks = READS + computations;
      for (int i = 0; i < tasks; i++) {
        boolean isRead = (i + 1) * READS / tasks > i * READS / tasks; // mixed evenly
        if (isRead) (apart ? fibers : pool).sendMessage(read);
        else pool.sendMessage(computation);
      }
      (apart ? computed : stuck).await(); // then nothing happens until the disk answers
      long done = computations - computed.getCount();
      disk.countDown();
      return done;
    }
  }
}
