package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class QueueInMemoryTest extends QueueContract {
  QueueInMemoryTest() {
    super("bank", TestNetwork.inMemory());
  }

  /** Neither worker ends before both are interrupted. */
  @Test
  void workOfAllQueuesIsInterruptedTogetherAtDrainLimit() {
    try (var scope = ActorSystem.openScope("leaving", options -> options.withKillGrace(Duration.ofHours(1)));
        var node = Cluster.join("leaving", MemoryNetwork.create(), options -> options.withScope(scope))) {
      var begun = new CountDownLatch(2);
      var interrupted = new CountDownLatch(2);
      var awaitedOther = new CountDownLatch(2);
      var workers = new ArrayList<QueueWorkers<?>>();
      for (var name : List.of("mails", "letters")) {
        var queue = node.queue(name, Mail.class);
        queue.put(new Mail("slow"));
        workers.add((QueueWorkers<?>) queue.consume(1, mail -> {
          begun.countDown();
          try {
            new CountDownLatch(1).await();
          } finally {
            interrupted.countDown();
            Patience.await(interrupted);
            awaitedOther.countDown();
          }
        }));
      }
      Patience.await(begun);
      workers.forEach(Exitable::askExit);

      QueueWorkers.awaitOrKill(workers, Duration.ofMillis(1));

      assertTrue(workers.stream().allMatch(queueWorkers -> queueWorkers.onExit().isDone()));
      assertEquals(0, awaitedOther.getCount());
    }
  }
}
