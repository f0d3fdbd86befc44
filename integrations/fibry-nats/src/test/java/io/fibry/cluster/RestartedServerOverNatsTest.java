package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.RequestOutcome;
import io.fibry.cluster.wire.Subjects;
import io.fibry.nats.ServerEvidence;
import io.fibry.nats.Servers;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests requests that are pending while their server restarts. The test moves the clock. */
@ExtendWith(ServerEvidence.class)
class RestartedServerOverNatsTest {
  record Job(int number) implements Request<Job, Integer> {}
  record Ping() implements Request<Ping, Integer> {}

  private static final Duration LEASE = Duration.ofMinutes(10); // long, so that the server's own clock ends no lease
  private static final Duration LIMIT = Duration.ofHours(10);
  private static final int REQUESTS = 90;

  private final String app = Servers.app();
  private final ManualScheduler clock = new ManualScheduler();
  private final AtomicInteger keepAlives = new AtomicInteger();
  private final ConcurrentLinkedQueue<CompletableFuture<Integer>> promisedAnswers = new ConcurrentLinkedQueue<>();

  private Cluster join(ClusterNetwork network, String node, ActorScope scope) {
    return Cluster.join(app, network, options -> options.withNode(node).withScope(scope).withLease(LEASE)
        .withWallClock(() -> Instant.EPOCH.plusNanos(clock.nanoTime())));
  }

  private void promiseAnswer(Job job, ActorContext<Job> context) {
    var answer = new CompletableFuture<Integer>();
    promisedAnswers.add(answer);
    context.replyWhen(job, answer);
  }

  private static boolean isAnswered(Cluster asker) {
    try {
      return asker.actor("echo", Ping.class).ask(new Ping(), Duration.ofSeconds(1)) == 1;
    } catch (RequestException failure) {
      return false;
    }
  }

  /**
   * Half of the answers are lost, because no server runs when they are sent. The other half is sent
   * after the restart.
   */
  @Test
  void requestFailsOnlyIfServerRestartLosesItsAnswer() {
    try (var server = Servers.start();
        ActorScope scope = ActorSystem.openScope("restart", options -> options.withScheduler(clock))) {
      var network = Servers.network(server);
      try (var host = join(network, "home", scope); var asker = join(network, "asker", scope)) {
        host.expose("clerk", Job.class, scope.anonymous().<Job>newActor(this::promiseAnswer));
        host.expose("echo", Ping.class,
            scope.anonymous().newActor((Ping ping, ActorContext<Ping> context) -> context.reply(ping, 1)));
        var clerk = asker.actor("clerk", Job.class);
        var answers = IntStream.range(0, REQUESTS).mapToObj(i -> clerk.sendMessageReturn(new Job(i), LIMIT)).toList();
        Patience.eventually(() -> promisedAnswers.size() == REQUESTS);

        server.kill();
        Patience.eventually(() -> host.health().connectionProblem().isPresent());
        for (int i = 0; i < REQUESTS / 2; i++) promisedAnswers.remove().complete(i);
        assertTrue(scope.awaitQuiescence(Patience.LONG));
        server.restart();
        Patience.eventually(() -> isAnswered(asker));
        try (var spy = network.connect(app, "spy")) {
          spy.subscribe(new Subjects(app).ofKeepAlives("asker"), Optional.empty(),
              message -> keepAlives.incrementAndGet());
          for (int i = 0; i < 6; i++) {
            int keepAlivesBefore = keepAlives.get();
            clock.advance(LEASE.dividedBy(5));
            assertTrue(scope.awaitQuiescence(Patience.LONG));
            Patience.eventually(() -> keepAlives.get() > keepAlivesBefore);
          }
        }

        Patience.eventually(() -> answers.stream().filter(CompletableFuture::isDone).count() >= REQUESTS / 2);
        var failedAnswers = answers.stream().filter(CompletableFuture::isDone).toList();
        assertEquals(REQUESTS / 2, failedAnswers.size());
        for (var answer : failedAnswers)
          assertEquals(RequestOutcome.UNKNOWN,
              assertInstanceOf(UnavailableException.class, Patience.failure(answer)).outcome());
        promisedAnswers.forEach(answer -> answer.complete(7));
        for (var answer : answers) if (!failedAnswers.contains(answer)) assertEquals(7, Patience.value(answer));
      }
    }
  }
}
