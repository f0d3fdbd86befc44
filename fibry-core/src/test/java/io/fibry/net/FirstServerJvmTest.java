package io.fibry.net;

import io.fibry.ActorSystem;
import io.fibry.support.Child;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that fibers on all carrier threads can open the first servers of a program at the same
 * time.
 */
class FirstServerJvmTest {

  /**
   * Opens servers at the same time, one per actor. The arguments are the kind and the number of the
   * servers.
   */
  static final class ServerOpener {
    public static void main(String[] args) throws InterruptedException {
      int openers = Integer.parseInt(args[1]);
      var barrier = new CyclicBarrier(openers);
      var openedServers = new CountDownLatch(openers);
      for (int i = 0; i < openers; i++) ActorSystem.anonymous().newActor((String kind) -> {
        barrier.await();
        open(kind);
        openedServers.countDown();
      }).sendMessage(args[0]);
      openedServers.await();
      System.exit(0);
    }

    private static void open(String kind) {
      var builder = ActorSystem.anonymous();
      switch (kind) {
        case "http" -> HttpServer.open(builder, 0, HttpRoutes.none(), options -> options);
        case "tcp" -> TcpAcceptor.open(builder, 0, connection -> {}, options -> options);
        default -> UdpServer.open(builder, 0, (server, packet) -> {}, options -> options);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"http, 1, 1", "tcp, 1, 1", "udp, 1, 1", "tcp, 2, 2"})
  void firstServersOpenAlthoughOpenersOccupyAllCarriers(String kind, int openers, int carriers) throws Exception {
    try (var child = Child.java(List.of("-Djdk.virtualThreadScheduler.parallelism=" + carriers), ServerOpener.class,
        kind, "" + openers)) {
      child.awaitExit(0);
    }
  }
}
