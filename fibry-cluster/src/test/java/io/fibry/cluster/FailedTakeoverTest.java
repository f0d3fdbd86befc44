package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.cluster.Places.Where;
import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.wire.Subjects;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A node begins to take over a partition: it holds the partition's messages, but fails to write the
 * table entry that makes it the owner. Before it tries again, another node becomes the owner and
 * handles these messages.
 */
class FailedTakeoverTest {
  private static final Duration TICK = Duration.ofMillis(500);
  private static final Subjects SUBJECTS = new Subjects("bank");
  private static final String PREFERRED = "a"; // should own the partition if both nodes are members
  private static final String OTHER = "b";

  private final ManualScheduler clock = new ManualScheduler();
  private final MemoryNetwork network = MemoryNetwork.create(clock);
  private final ActorScope scope = ActorSystem.openScope("failed-takeover", options -> options.withScheduler(clock));
  private final List<String> handled = new CopyOnWriteArrayList<>(); // names of the nodes that handled a request
  private final Queue<Runnable> hiddenChanges = new ConcurrentLinkedQueue<>(); // not yet read by the other node
  private volatile boolean isWriteDropped = true; // true: partition entries of the preferred node are not written
  private volatile boolean isPreferredHidden = true; // true: the other node does not see the preferred node

  @AfterEach
  void close() {
    scope.close();
  }

  private ClusterTransport connectPreferred(String app, String node) {
    return Intercepted.of(ClusterTransport.class, network.connect(app, node), (method, arguments, call) -> {
      boolean isWrite = method.getName().equals("create") || method.getName().equals("update");
      if (isWrite && isWriteDropped && ((String) arguments[0]).startsWith(SUBJECTS.partitionKeyPrefix("place")))
        throw new TransportException(Failure.UNKNOWN, "the write is dropped; its outcome is unknown");
      return call.pass();
    });
  }

  private ClusterTransport connectOther(String app, String node) {
    return Intercepted.of(ClusterTransport.class, network.connect(app, node), (method, arguments, call) -> {
      if (method.getName().equals("watch")) {
        @SuppressWarnings("unchecked") var reader = (Consumer<ClusterTransport.Entry>) arguments[1];
        arguments[1] = (Consumer<ClusterTransport.Entry>) entry -> {
          if (isPreferredHidden && entry.key().equals(SUBJECTS.keyOfNode(PREFERRED)))
            hiddenChanges.add(() -> reader.accept(entry));
          else reader.accept(entry);
        };
      }
      return call.pass();
    });
  }

  private Cluster join(String node, ClusterNetwork nodeNetwork) {
    return Cluster.join("bank", nodeNetwork, options -> options.withNode(node).withPartitions(1).withScope(scope));
  }

  private void passTime(Duration time) {
    for (var remaining = time; remaining.isPositive(); remaining = remaining.minus(TICK)) {
      clock.advance(TICK);
      assertTrue(ActorSystem.root().awaitQuiescence(Patience.LONG));
    }
  }

  private boolean isOwner(Cluster node) {
    return node.health().partitions().getOrDefault("place", 0) == 1;
  }

  @Test
  void nodeDropsHeldMessagesThatAnotherOwnerHandled() {
    var preferred = join(PREFERRED, this::connectPreferred);
    var hosting = CompletableFuture.supplyAsync( // ends when the partition has an owner
        () -> Places.host(preferred, scope, handled::add), Patience::startFiber);
    Patience.eventually(() -> network.openTransport().get(SUBJECTS.keyOfNode(PREFERRED)).isPresent()
        && preferred.self().hosts().contains("place"));
    passTime(TICK.multipliedBy(4)); // now the preferred node receives messages to the partition, and holds them
    var other = join(OTHER, this::connectOther);
    var places = Places.host(other, scope, handled::add);
    assertTrue(isOwner(other));
    assertEquals(OTHER, join("asking", network).entities("place", Where.class).actor("ada").ask(new Where()));
    Patience.value(hosting);

    isWriteDropped = false;
    isPreferredHidden = false;
    hiddenChanges.forEach(Runnable::run);
    passTime(Duration.ofSeconds(10));

    Patience.eventually(() -> isOwner(preferred));
    assertEquals(List.of(OTHER), handled);
    assertEquals(PREFERRED, Patience.value(places.actor("ada").sendMessageReturn(new Where())));
  }
}
