package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.support.Child;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests a cluster in JVMs that do not start the flight recorder, or do not have it. */
class RecorderJvmTest {
  record Count() implements Request<Count, Integer> {}

  /** Prints the answer of an entity, and whether the JVM has a flight recorder. */
  static final class Program {
    public static void main(String[] args) {
      var network = MemoryNetwork.create();
      try (var node = Cluster.join("shop", network, options -> options.withLease(Duration.ofMinutes(1)))) {
        node.host("counter", Count.class, ActorSystem.anonymous(), Duration.ofMinutes(1),
            (builder, key) -> builder.newActor((Count count, ActorContext<Count> context) -> context.reply(count, 1)));
        System.out.println(node.entities("counter", Count.class).actor("c").ask(new Count()) + ", "
            + ModuleLayer.boot().findModule("jdk.jfr").isPresent());
      }
    }
  }

  @Test
  void clusterRunsWithoutFlightRecorder() {
    try (var child = Child.java(List.of("--limit-modules", "java.base"), Program.class)) {
      assertEquals("1, false", child.awaitExit(0));
    }
  }

  @Test
  void clusterLoadsNoEventClassWithoutRecording() {
    try (var child = Child.java(List.of("-Xlog:class+load"), Program.class)) {
      String log = child.awaitExit(0);

      assertTrue(log.contains("io.fibry.cluster.membership.ClusterEvents "), log);
      assertFalse(log.contains("jdk.jfr.internal.MetadataRepository"), log);
    }
  }
}
