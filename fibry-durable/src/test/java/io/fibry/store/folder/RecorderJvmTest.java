package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A Java without the flight recorder. */
class RecorderJvmTest {

  record Count() implements Request<Count, Long> {}

  /** Counts, and tells whether there is a recorder. */
  static final class Program {
    public static void main(String[] args) {
      var counter = Durable.kind("counter", Count.class).state(0L).by((n, count, context) -> {
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
  void withoutARecorderAllIsAsEver(@TempDir Path folder) throws Exception {
    var process = new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(), "--limit-modules",
        "java.base", "-cp", System.getProperty("java.class.path"), Program.class.getName(), folder.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();

    assertEquals("1, false", process.inputReader().readLine());
    assertEquals(0, process.waitFor());
  }
}
