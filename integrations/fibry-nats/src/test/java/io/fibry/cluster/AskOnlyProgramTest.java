package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.nats.NatsNetwork.Role;
import io.fibry.nats.ServerEvidence;
import io.fibry.nats.Servers;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a program that can only ask learns of the nodes, in time that the test moves. */
@ExtendWith(ServerEvidence.class)
class AskOnlyProgramTest {
  record Job() implements Request<Job, Integer> {}

  private static final Duration LEASE = Duration.ofMinutes(10); // the server, which has another clock, forgets no node
  private static final Duration PERIOD = LEASE.dividedBy(5); // of claims

  private final String app = Servers.app();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("asker-test", options -> options.withScheduler(clock));
  private final CompletableFuture<Integer> promised = new CompletableFuture<>();
  private final AtomicInteger claims = new AtomicInteger();
  private final TestNetwork network = new TestNetwork(Servers.network());
  private final Cluster home = join(network, "home");
  private final Cluster asker = join(Servers.network().withRole(Role.ASKER), "asker");

  @AfterEach
  void close() {
    asker.close();
    scope.close();
  }

  private Cluster join(ClusterNetwork by, String node) {
    return Cluster.join(app, by, options -> options.withNode(node).withScope(scope).withLease(LEASE)
        .withWallClock(() -> Instant.EPOCH.plusNanos(clock.nanoTime())));
  }

  private void pass() {
    clock.advance(PERIOD);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  @Test
  void requestHeldByLivingNodeIsNotLost() {
    home.expose("clerk", Job.class,
        scope.anonymous().newActor((Job job, ActorContext<Job> context) -> context.replyWhen(job, promised)));
    var answer = asker.actor("clerk", Job.class).sendMessageReturn(new Job(), Duration.ofHours(10));
    Patience.eventually(() -> home.health().pendingRequests() == 1);
    Patience.eventually(() -> asker.members().size() == 1);
    try (var spy = network.connect(app, "spy")) {
      spy.subscribe(new Subjects(app).ofKeepAlives("asker"), Optional.empty(), claim -> claims.incrementAndGet());
      for (int i = 0; i < 8; i++) {
        int before = claims.get();
        pass();
        Patience.eventually(() -> claims.get() > before);
      }
    }

    promised.complete(7);

    assertEquals(7, Patience.value(answer));
    home.close();
  }

  /** No other node is there that could write that the life of the last one is over. */
  @Test
  void lastNodeLeavesMembershipWhenKilled() {
    Patience.eventually(() -> asker.members().size() == 1);

    network.engine("home").close();

    Patience.eventually(() -> {
      pass();
      return asker.members().isEmpty();
    });
  }
}
