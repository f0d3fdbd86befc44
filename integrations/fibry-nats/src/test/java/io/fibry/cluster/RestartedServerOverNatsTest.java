package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Outcome;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.nats.NatsNetwork;
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

/** Requests that are not answered when their server restarts, in time that the test moves. */
@ExtendWith(ServerEvidence.class)
class RestartedServerOverNatsTest {
  record Job(int number) implements Request<Job, Integer> {}
  record Ping() implements Request<Ping, Integer> {}

  private static final Duration LEASE = Duration.ofMinutes(10); // the server, which has another clock, forgets no node
  private static final Duration LIMIT = Duration.ofHours(10);
  private static final int MANY = 90;

  private final String app = Servers.app();
  private final ManualScheduler clock = new ManualScheduler();
  private final AtomicInteger claims = new AtomicInteger();
  private final ConcurrentLinkedQueue<CompletableFuture<Integer>> promised = new ConcurrentLinkedQueue<>();

  private Cluster join(ClusterNetwork network, String node, ActorScope scope) {
    return Cluster.join(app, network, options -> options.withNode(node).withScope(scope).withLease(LEASE)
        .withWallClock(() -> Instant.EPOCH.plusNanos(clock.nanoTime())));
  }

  private void promise(Job job, ActorContext<Job> context) {
    var answer = new CompletableFuture<Integer>();
    promised.add(answer);
    context.replyWhen(job, answer);
  }

  private static boolean isAnswered(Cluster asker) {
    try {
      return asker.actor("echo", Ping.class).ask(new Ping(), Duration.ofSeconds(1)) == 1;
    } catch (RequestException notYet) {
      return false;
    }
  }

  /** Half of the answers come while there is no server, and are lost; the others come later. */
  @Test
  void onlyRequestsWithLostAnswersFail() {
    try (var server = Servers.start();
        ActorScope scope = ActorSystem.openScope("restart", options -> options.withScheduler(clock))) {
      var network = NatsNetwork.connectTo(server.url());
      try (var home = join(network, "home", scope); var asker = join(network, "asker", scope)) {
        home.expose("clerk", Job.class, scope.anonymous().<Job>newActor(this::promise));
        home.expose("echo", Ping.class,
            scope.anonymous().newActor((Ping ping, ActorContext<Ping> context) -> context.reply(ping, 1)));
        var clerk = asker.actor("clerk", Job.class);
        var answers = IntStream.range(0, MANY).mapToObj(i -> clerk.sendMessageReturn(new Job(i), LIMIT)).toList();
        Patience.eventually(() -> promised.size() == MANY);

        server.kill();
        Patience.eventually(() -> home.health().connectionProblem().isPresent());
        for (int i = 0; i < MANY / 2; i++) promised.remove().complete(i);
        assertTrue(scope.awaitQuiescence(Patience.LONG));
        server.restart();
        Patience.eventually(() -> isAnswered(asker));
        try (var spy = network.connect(app, "spy")) {
          spy.subscribe(new Subjects(app).ofKeepAlives("asker"), Optional.empty(), wire -> claims.incrementAndGet());
          for (int i = 0; i < 6; i++) {
            int before = claims.get();
            clock.advance(LEASE.dividedBy(5));
            assertTrue(scope.awaitQuiescence(Patience.LONG));
            Patience.eventually(() -> claims.get() > before);
          }
        }

        Patience.eventually(() -> answers.stream().filter(CompletableFuture::isDone).count() >= MANY / 2);
        var lost = answers.stream().filter(CompletableFuture::isDone).toList();
        assertEquals(MANY / 2, lost.size());
        for (var answer : lost)
          assertEquals(Outcome.UNKNOWN,
              assertInstanceOf(UnreachableException.class, Patience.failure(answer)).outcome());
        promised.forEach(answer -> answer.complete(7));
        for (var answer : answers) if (!lost.contains(answer)) assertEquals(7, Patience.value(answer));
      }
    }
  }
}
