package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.wire.Subjects;
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

/**
 * Tests how a program that can only ask learns that nodes have joined or ended. The test moves the
 * clock.
 */
@ExtendWith(ServerEvidence.class)
class AskOnlyProgramTest {
  record Job() implements Request<Job, Integer> {}

  private static final Duration LEASE = Duration.ofMinutes(10); // long, so that the server's own clock ends no lease
  private static final Duration PERIOD = LEASE.dividedBy(5); // of keep-alives

  private final String app = Servers.app();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("asker-test", options -> options.withScheduler(clock));
  private final CompletableFuture<Integer> promisedAnswer = new CompletableFuture<>();
  private final AtomicInteger keepAlives = new AtomicInteger();
  private final TestNetwork network = new TestNetwork(Servers.network());
  private final Cluster host = join(network, "home");
  private final Cluster asker = join(Servers.network().withRole(Role.ASKER), "asker");

  @AfterEach
  void close() {
    asker.close();
    scope.close();
  }

  private Cluster join(ClusterNetwork ownNetwork, String node) {
    return Cluster.join(app, ownNetwork, options -> options.withNode(node).withScope(scope).withLease(LEASE)
        .withWallClock(() -> Instant.EPOCH.plusNanos(clock.nanoTime())));
  }

  private void advancePeriod() {
    clock.advance(PERIOD);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
  }

  @Test
  void requestPendingAtLivingNodeIsNotReportedLost() {
    host.expose("clerk", Job.class,
        scope.anonymous().newActor((Job job, ActorContext<Job> context) -> context.replyWhen(job, promisedAnswer)));
    var answer = asker.actor("clerk", Job.class).sendMessageReturn(new Job(), Duration.ofHours(10));
    Patience.eventually(() -> host.health().pendingRequests() == 1);
    Patience.eventually(() -> asker.members().size() == 1);
    try (var spy = network.connect(app, "spy")) {
      spy.subscribe(new Subjects(app).ofKeepAlives("asker"), Optional.empty(), message -> keepAlives.incrementAndGet());
      for (int i = 0; i < 8; i++) {
        int keepAlivesBefore = keepAlives.get();
        advancePeriod();
        Patience.eventually(() -> keepAlives.get() > keepAlivesBefore);
      }
    }

    promisedAnswer.complete(7);

    assertEquals(7, Patience.value(answer));
    host.close();
  }

  /** There is no other node that could write that the killed node has ended. */
  @Test
  void askerSeesKilledLastNodeLeaveMembership() {
    Patience.eventually(() -> asker.members().size() == 1);

    network.transport("home").close();

    Patience.eventually(() -> {
      advancePeriod();
      return asker.members().isEmpty();
    });
  }
}
