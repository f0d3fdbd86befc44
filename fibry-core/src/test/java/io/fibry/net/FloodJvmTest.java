package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.OperatingSystemMXBean;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Child;
import io.fibry.testing.Promise;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Tests an acceptor whose JVM runs out of file descriptors, and recovers. */
class FloodJvmTest {
  private static final int DESCRIPTORS = 80;
  private static final long SECOND = 1_000_000_000; // ns
  private static final int MAX_PERCENT = 50; // of one processor, in a second of the flood
  private static final int MAX_SECONDS = 5; // the first ones may contain the rest of the start of the JVM

  /**
   * Echoes the lines of its clients, and prints its port. For each line of its standard input, it
   * prints how much of one processor it uses during the next second, in percent.
   */
  static final class Main {
    private Main() {}

    public static void main(String[] args) throws IOException {
      var acceptor = Stereotypes.fibers().tcpAcceptor(0, connection -> {
        for (var line : connection.lines()) connection.outputStream().write((line + "\n").getBytes());
      });
      System.out.println("port " + acceptor.port());
      var in = new BufferedReader(new java.io.InputStreamReader(System.in));
      var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
      while (in.readLine() != null) {
        long cpuNanos = system.getProcessCpuTime();
        long startNanos = System.nanoTime();
        long elapsed = 0;
        for (; elapsed < SECOND; elapsed = System.nanoTime() - startNanos) LockSupport.parkNanos(SECOND - elapsed);
        System.out.println("percent " + 100 * (system.getProcessCpuTime() - cpuNanos) / elapsed);
      }
    }
  }

  @Promise("25.7")
  @Test
  void connectionsBeyondDescriptorLimitNeedLittleProcessorTime() throws Exception {
    Assumptions.assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "needs a shell that limits descriptors");
    var java = ProcessHandle.current().info().command().orElseThrow();
    try (var child = Child.start(List.of("/bin/bash", "-c",
        "ulimit -n " + DESCRIPTORS + "; exec \"$0\" -Xint -cp \"$1\" '" + Main.class.getName() + "'", java,
        System.getProperty("java.class.path")))) {
      int port = Integer.parseInt(child.awaitLine(line -> line.startsWith("port ")).substring("port ".length()));
      try (var first = new Peer(port).send("loads classes, which needs descriptors\n")) {
        first.readLine();
      }
      var flood = new ArrayList<Peer>();
      // clients beyond the limit of descriptors wait in the backlog
      for (int i = 0; i < DESCRIPTORS; i++) flood.add(new Peer(port));
      child.awaitLine(line -> line.contains("Too many open files"));
      assertEquals("served meanwhile", flood.getFirst().send("served meanwhile\n").readLine());
      var percents = new ArrayList<Integer>();
      while (percents.size() < MAX_SECONDS && (percents.isEmpty() || percents.getLast() >= MAX_PERCENT))
        percents.add(measurePercent(child));

      assertTrue(percents.getLast() < MAX_PERCENT, "percent of a processor in each second of the flood: " + percents);
      flood.forEach(Peer::close);
      for (int i = 0; i < 100; i++) {
        try (var peer = new Peer(port).send("again\n")) {
          assertEquals("again", peer.readLine());
        }
      }
    }
  }

  private static int measurePercent(Child child) throws IOException {
    child.input().write('\n');
    child.input().flush();
    return Integer.parseInt(child.awaitLine(line -> line.startsWith("percent ")).substring("percent ".length()));
  }
}
