package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A Java without the flight recorder. */
class RecorderJvmTest {
  record Count() implements Request<Count, Integer> {}

  /** Asks an entity, and tells whether there is a recorder. */
  static final class Program {
    public static void main(String[] args) {
      try (var node = Cluster.local("shop")) {
        node.host("counter", Count.class, ActorSystem.anonymous(), Duration.ofMinutes(1),
            (how, key) -> how.newActor((Count count, ActorContext<Count> context) -> context.reply(count, 1)));
        System.out.println(node.entities("counter", Count.class).actor("c").ask(new Count()) + ", "
            + ModuleLayer.boot().findModule("jdk.jfr").isPresent());
      }
    }
  }

  @Test
  void withoutARecorderAllIsAsEver() throws Exception {
    var process = new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(), "--limit-modules",
        "java.base", "-cp", System.getProperty("java.class.path"), Program.class.getName())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();

    assertEquals("1, false", process.inputReader().readLine());
    assertEquals(0, process.waitFor());
  }
}
