package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.OperatingSystemMXBean;
import io.fibry.Promise;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** A JVM that runs out of file descriptors, and recovers. */
class FloodJvmTest {
  private static final int DESCRIPTORS = 80;

  /** Echoes lines; prints its port, then its processor time for each line of input. */
  static final class Main {
    private Main() {}

    public static void main(String[] args) throws IOException {
      var acceptor = Stereotypes.fibers().tcpAcceptor(0, connection -> {
        for (var line : connection.lines()) connection.getOutputStream().write((line + "\n").getBytes());
      });
      System.out.println("port " + acceptor.port());
      var in = new BufferedReader(new java.io.InputStreamReader(System.in));
      var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
      while (in.readLine() != null)
        System.out.println("cpu " + TimeUnit.NANOSECONDS.toMillis(system.getProcessCpuTime()));
    }
  }

  @Promise("25.7")
  @Test
  void aFloodPastTheDescriptorLimitBurnsNoProcessorAndPasses() throws Exception {
    Assumptions.assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "needs a shell that limits descriptors");
    var java = ProcessHandle.current().info().command().orElseThrow();
    var process = new ProcessBuilder("/bin/bash", "-c",
        "ulimit -n " + DESCRIPTORS + "; exec \"$0\" -Xint -cp \"$1\" '" + Main.class.getName() + "'", java,
        System.getProperty("java.class.path")).redirectErrorStream(true).start();
    try (var child = process.inputReader(); var ask = process.outputWriter()) {
      int port = Integer.parseInt(told(child, "port "));
      try (var first = new Peer(port).send("loads the classes, which takes descriptors\n")) {
        first.line();
      }
      var flood = new ArrayList<Peer>();
      // others wait in the backlog
      for (int i = 0; i < DESCRIPTORS; i++) flood.add(new Peer(port));
      told(child, "", "Too many open files");
      ask.write("\n");
      ask.flush();
      long before = Long.parseLong(told(child, "cpu "));
      assertEquals("served meanwhile", flood.getFirst().send("served meanwhile\n").line());
      pause();
      ask.write("\n");
      ask.flush();
      long burnt = Long.parseLong(told(child, "cpu ")) - before;

      assertTrue(burnt < 500, "ms of processor time in a second of flood: " + burnt);
      flood.forEach(Peer::close);
      for (int i = 0; i < 100; i++) {
        try (var peer = new Peer(port).send("again\n")) {
          assertEquals("again", peer.line());
        }
      }
    } finally {
      process.destroyForcibly();
    }
  }

  private static void pause() throws InterruptedException {
    assertTrue(!new java.util.concurrent.CountDownLatch(1).await(1, TimeUnit.SECONDS));
  }

  /** The rest of the next line with this begin and these parts. */
  private static String told(BufferedReader child, String begin, String... parts) throws IOException {
    var seen = new ArrayList<String>();
    for (var line = child.readLine(); line != null; line = child.readLine()) {
      seen.add(line);
      if (line.startsWith(begin) && List.of(parts).stream().allMatch(line::contains))
        return line.substring(begin.length());
    }
    throw new AssertionError("it ended without '" + begin + List.of(parts) + "': " + seen + Patience.LONG);
  }
}
