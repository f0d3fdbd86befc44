package io.fibry.nats;

import io.fibry.support.Patience;
import io.fibry.test.NatsServer;
import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.api.ClusterInfo;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits, after the faults of servers, until all streams have recovered. The leader of a recovered
 * stream has heard from all replicas since the faults, and reports that they are current. If the
 * wait fails, the servers have failed, and not the nodes.
 */
final class StreamRecovery {
  private static final Duration TIMEOUT = Duration.ofSeconds(2); // of a call to the servers
  private static final long MAX_SILENCE = TimeUnit.SECONDS.toNanos(10); // leaders hear from replicas each second
  private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(50); // between two checks

  private StreamRecovery() {}

  /** Fails if the servers do not recover in time after the last fault. */
  static void await(List<NatsServer> servers) {
    var problem = new AtomicReference<>("");
    long start = System.nanoTime();
    boolean isRecovered = Patience.comesTrue(() -> {
      problem.set(problem(servers, start));
      if (!problem.get().isEmpty()) LockSupport.parkNanos(PAUSE);
      return problem.get().isEmpty();
    });
    if (!isRecovered) throw new AssertionError("the servers report " + problem.get() + " for "
        + Duration.ofNanos(System.nanoTime() - start).toSeconds() + " s after the last fault");
  }

  /** Runs a check of the nodes. If it fails, the failure says whether the servers have failed. */
  static void run(List<NatsServer> servers, Runnable check) {
    try {
      check.run();
    } catch (AssertionError failure) {
      String problem = problem(servers, System.nanoTime() - MAX_SILENCE);
      throw new AssertionError(failure.getMessage() + "; now the servers report "
          + (problem.isEmpty() ? "a leader and current replicas of each stream" : problem), failure);
    }
  }

  /**
   * Describes a stream that has not recovered. It has no leader, or a replica is not current, or
   * the leader has not heard from a replica since the start. Returns "" if there is no such stream.
   */
  private static String problem(List<NatsServer> servers, long start) {
    try {
      var client = connect(servers);
      try {
        return problem(client, start);
      } finally {
        client.close();
      }
    } catch (IOException | JetStreamApiException failure) {
      return "no streams (" + failure.getMessage() + ")";
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while the servers recover", interrupt);
    }
  }

  private static Connection connect(List<NatsServer> servers) throws IOException, InterruptedException {
    var urls = servers.stream().map(NatsServer::url).toArray(String[]::new);
    return Nats.connect(new Options.Builder().servers(urls).connectionTimeout(TIMEOUT).noReconnect().build());
  }

  private static String problem(Connection client, long start) throws IOException, JetStreamApiException {
    for (var stream : client.jetStreamManagement().getStreamNames()) {
      String problem = problem(stream, client, start);
      if (!problem.isEmpty()) return problem;
    }
    return "";
  }

  private static String problem(String stream, Connection client, long start) throws IOException {
    var elapsed = Duration.ofNanos(System.nanoTime() - start);
    ClusterInfo cluster;
    try {
      cluster = client.jetStreamManagement().getStreamInfo(stream).getClusterInfo();
    } catch (IOException | JetStreamApiException failure) {
      return "no leader of stream " + stream + " (" + failure.getMessage() + ")";
    }
    if (cluster == null || cluster.getReplicas() == null) return ""; // a single server
    if (cluster.getLeader() == null) return "no leader of stream " + stream;
    for (var replica : cluster.getReplicas()) {
      boolean isSilent = replica.isOffline() || replica.getActive().compareTo(elapsed) >= 0;
      if (isSilent || !replica.isCurrent())
        return (isSilent ? "a silent" : "an outdated") + " replica " + replica.getName() + " of stream " + stream;
    }
    return "";
  }
}
