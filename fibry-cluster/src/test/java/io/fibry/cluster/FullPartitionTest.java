package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.MailboxFullException;
import io.fibry.Request;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests a partition without capacity for more messages, because an entity takes long to make. */
class FullPartitionTest {
  record Count(int number) implements Request<Count, Integer> {}

  private static final int CAPACITY = 4_096; // messages that wait in the partition
  private static final Duration ONE_HOUR = Duration.ofHours(1);

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("full-test", options -> options.withScheduler(clock));
  private final CountDownLatch birthBegun = new CountDownLatch(1);
  private final CountDownLatch mayBeBorn = new CountDownLatch(1);

  @AfterEach
  void close() {
    mayBeBorn.countDown();
    scope.close();
  }

  private Actor<Count> newCounter(ActorBuilder<Object> builder, String key) {
    birthBegun.countDown();
    Patience.await(mayBeBorn);
    return builder.newActor((Count count, ActorContext<Count> context) -> context.reply(count, count.number));
  }

  @Test
  void refusalNamesPartition() {
    try (var node = Cluster.join("bank", TestNetwork.inMemory(),
        options -> options.withNode("a").withPartitions(1).withScope(scope))) {
      node.host("counter", Count.class, scope.anonymous(), ONE_HOUR, this::newCounter);
      var counter = node.entities("counter", Count.class).actor("ada");
      var first = counter.sendMessageReturn(new Count(7), ONE_HOUR);
      Patience.await(birthBegun);
      IntStream.range(0, CAPACITY).forEach(i -> counter.sendMessageReturn(new Count(i), ONE_HOUR));

      var failure = assertInstanceOf(MailboxFullException.class,
          Patience.failure(counter.sendMessageReturn(new Count(8), ONE_HOUR)));

      assertEquals(
          "partition 0 of 'counter' is full: 4096 messages of other nodes, or 16 MiB of them, wait already; "
              + "ask again later",
          failure.getMessage());
      mayBeBorn.countDown();
      assertEquals(7, Patience.value(first));
    }
  }
}
