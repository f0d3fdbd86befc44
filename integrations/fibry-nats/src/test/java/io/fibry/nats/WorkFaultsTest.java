package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Handler;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.TransportException;
import io.fibry.cluster.WorkQueue;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.test.NatsServer;
import io.nats.client.Connection;
import io.nats.client.Nats;
import io.nats.client.api.DiscardPolicy;
import io.nats.client.api.StreamConfiguration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests work queues whose server, stream or stored data fails. */
@ExtendWith(ServerEvidence.class)
class WorkFaultsTest {
  record Job(int number) {}

  private final ActorScope scope = ActorSystem.openScope("work-faults");
  private final List<Cluster> nodes = new ArrayList<>();
  private final Map<Integer, LongAdder> doneCounts = new ConcurrentHashMap<>(); // by number of the job
  private final String app = Servers.app();
  private final String stream = "FB_" + app + "_work";
  private NatsServer server = Servers.shared();

  @AfterEach
  void end() {
    nodes.forEach(Cluster::close);
    if (server != Servers.shared()) server.close();
    scope.close();
  }

  private WorkQueue<Job> joinAndOpenJobs(String node) {
    nodes.add(Cluster.join(app, Servers.network(server),
        options -> options.withNode(node).withLease(Duration.ofMinutes(1)).withScope(scope)));
    return nodes.getLast().queue("jobs", Job.class);
  }

  private void count(Job job) {
    doneCounts.computeIfAbsent(job.number(), number -> new LongAdder()).increment();
  }

  private static boolean tryPut(WorkQueue<Job> jobs, Job job) {
    try {
      jobs.put(job);
      return true;
    } catch (TransportException failure) {
      return false;
    }
  }

  private void administer(Handler<Connection> task) throws Exception {
    var client = Nats.connect(server.url());
    try {
      task.handle(client);
    } finally {
      client.close();
    }
  }

  /** Some jobs are done twice, because a killed server may lose acknowledgements. */
  @Soak(counterpart = "ServerFaultsTest.queueConsumerContinuesAfterServerRestart")
  @Test
  void storedWorkIsDoneDespiteKillsOfServer() {
    server = Servers.start();
    var queue = joinAndOpenJobs("a");
    queue.consume(8, this::count);
    joinAndOpenJobs("b").consume(8, this::count);
    Set<Integer> storedNumbers = ConcurrentHashMap.newKeySet();
    var stop = new AtomicBoolean();
    var producers = new ArrayList<CompletableFuture<Void>>();
    for (int i = 0; i < 4; i++) {
      int firstNumber = i * 1_000_000;
      producers.add(CompletableFuture.runAsync(() -> {
        for (int n = firstNumber; !stop.get(); n++) if (tryPut(queue, new Job(n))) storedNumbers.add(n);
      }, Patience::startFiber));
    }

    try {
      for (int round = 1; round <= 2; round++) {
        int countBefore = doneCounts.size();
        Patience.eventually(() -> doneCounts.size() > countBefore + 200);
        server.kill();
        server.restart();
      }
      int countBefore = doneCounts.size();
      Patience.eventually(() -> doneCounts.size() > countBefore + 200);
    } finally { // otherwise the producers would continue
      stop.set(true);
    }
    producers.forEach(Patience::value);

    Patience.eventually(() -> doneCounts.keySet().containsAll(storedNumbers));
    Patience.eventually(() -> size(queue) == 0);
    long repeatedJobs = doneCounts.values().stream().filter(count -> count.sum() > 1).count();
    System.out.println(repeatedJobs + " of " + doneCounts.size() + " jobs were done more than once");
  }

  private static long size(WorkQueue<Job> jobs) {
    try {
      return jobs.size();
    } catch (TransportException failure) {
      return -1;
    }
  }

  @Test
  void deletedConsumerIsRecreated() throws Exception {
    var jobs = joinAndOpenJobs("a");
    jobs.consume(1, this::count);
    jobs.put(new Job(1));
    Patience.eventually(() -> doneCounts.size() == 1);

    administer(client -> assertTrue(
        client.jetStreamManagement().deleteConsumer(stream, "fb_" + app + "_w_jobs")));
    jobs.put(new Job(2));

    Patience.eventually(() -> doneCounts.size() == 2);
  }

  @Test
  void streamWithOtherSettingsIsRefused() throws Exception {
    administer(client -> client.jetStreamManagement()
        .addStream(StreamConfiguration.builder().name(stream).subjects("fb." + app + ".w.>").build()));

    var failure = assertThrows(IllegalStateException.class, () -> joinAndOpenJobs("a"));

    assertTrue(failure.getMessage().contains("retention is \"limits\" instead of \"workqueue\""), failure::getMessage);
  }

  @Test
  void fullStreamRefusesWork() throws Exception {
    var jobs = joinAndOpenJobs("a");
    administer(client -> {
      var configuration = client.jetStreamManagement().getStreamInfo(stream).getConfiguration();
      client.jetStreamManagement().updateStream(
          StreamConfiguration.builder(configuration).maxMessages(2).discardPolicy(DiscardPolicy.New).build());
    });
    jobs.put(new Job(1));
    jobs.put(new Job(2));

    var failure = assertThrows(TransportException.class, () -> jobs.put(new Job(3)));

    assertEquals(TransportException.Failure.DENIED, failure.failure());
    assertTrue(failure.getMessage().contains("maximum messages exceeded"), failure::getMessage);
  }

  /** Bytes that are no job are parked after their attempts, and harm no other job. */
  @Test
  void undecodableBytesInWorkStreamAreParked() throws Exception {
    var jobs = joinAndOpenJobs("a");
    jobs.consume(options -> options.withMaxAttempts(2).withBackoff(Duration.ofMillis(10), Duration.ofMillis(10)),
        this::count);
    administer(client -> {
      for (var bytes : List.of(new byte[0], new byte[] {(byte) 0xFF}, new byte[100]))
        client.jetStream().publish("fb." + app + ".w.jobs", bytes);
      client.jetStream().publish("fb." + app + ".w.jobs.aside", new byte[] {1, 2, 3});
    });
    jobs.put(new Job(1));

    Patience.eventually(() -> doneCounts.size() == 1 && jobs.parked(10).size() == 4);
    Patience.eventually(() -> jobs.size() == 0);
    for (var parkedJob : jobs.parked(10))
      assertTrue(parkedJob.work().isEmpty() && jobs.discard(parkedJob), parkedJob::toString);
  }
}
