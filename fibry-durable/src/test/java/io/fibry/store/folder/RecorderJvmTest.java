package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.support.Child;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a store in JVMs that do not start the flight recorder, or do not have it. */
class RecorderJvmTest {

  record Count() implements Request<Count, Long> {}

  /** Prints the answer of an actor, and whether the JVM has a flight recorder. */
  static final class Program {
    public static void main(String[] args) {
      var counter = Durable.kind("counter", Count.class).state(0L).handler((n, count, context) -> {
        context.reply(count, n + 1);
        return n + 1;
      });
      try (var store = FolderStore.open(Path.of(args[0]));
          var actor = counter.newActor(ActorSystem.named("c"), store)) {
        System.out.println(actor.ask(new Count()) + ", " + ModuleLayer.boot().findModule("jdk.jfr").isPresent());
      }
    }
  }

  @Test
  void storeRunsWithoutFlightRecorder(@TempDir Path folder) {
    try (var child = Child.java(List.of("--limit-modules", "java.base"), Program.class, folder.toString())) {
      child.awaitLine("1, false");
      child.awaitExit(0);
    }
  }

  @Test
  void storeLoadsNoEventClassWithoutRecording(@TempDir Path folder) {
    try (var child = Child.java(List.of("-Xlog:class+load"), Program.class, folder.toString())) {
      String log = child.awaitExit(0);

      assertTrue(log.contains("io.fibry.store.recorder.StoreEvents "), log);
      assertFalse(log.contains("jdk.jfr.internal.MetadataRepository"), log);
    }
  }
}
