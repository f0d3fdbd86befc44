package io.fibry.bench.durable;

import io.fibry.ActorSystem;
import io.fibry.bench.ChildJvm;
import io.fibry.durable.Durable;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Measures whether a request to an actor in memory costs more when durable actors are on the class
 * path. It cannot, since none of their classes is loaded. On one carrier, so that it takes the same
 * time again and again.
 */
final class PlainRequests {
  private static final String WITH = "fibry, fibry-durable is on the class path";
  private static final String WITHOUT = "fibry, fibry-durable is not there";
  private static final String OURS = "io.fibry.(durable|codec|store)\\..*";

  private PlainRequests() {}

  static DurableQuestion question() {
    return DurableQuestion.of("durable-plain", "a request to an actor in memory, on one carrier",
        PlainRequests::measure,
        FigureBudget.atMost(1.1, 1, "a request to an actor in memory", WITH, WITHOUT));
  }

  static List<RoundFigures> measure() throws Exception {
    var durable = where(Durable.class);
    if (durable.equals(where(ActorSystem.class)))
      throw new IllegalStateException("fibry-durable is in one file with the library, " + durable
          + ", so it cannot be left out; run it by mvn -q -Pstores");
    return List.of(inProcess(WITH, System.getProperty("java.class.path")), inProcess(WITHOUT, without(durable)));
  }

  private static Path where(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private static String without(Path entry) {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(other -> !Path.of(other).toAbsolutePath().equals(entry))
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static RoundFigures inProcess(String side, String classPath) throws IOException, InterruptedException {
    try (var folder = TemporaryFolder.create()) {
      var loaded = folder.path().resolve("loaded");
      var flags = List.of("-Djdk.virtualThreadScheduler.parallelism=1", "-Xlog:class+load:file=" + loaded,
          "-Drounds=" + Rounds.count(), "-Dseconds=" + Askers.time() / 1e9, "-cp", classPath);
      double[] nanos = ChildJvm.figures(flags, InProcess.class);
      checkNotLoaded(loaded);
      return RoundFigures.of(side, "ns", Arrays.stream(nanos).boxed().toArray(Double[]::new));
    }
  }

  private static void checkNotLoaded(Path loaded) throws IOException {
    try (var lines = Files.lines(loaded)) {
      var found = lines.filter(line -> line.matches(".* " + OURS)).toList();
      if (!found.isEmpty()) throw new IllegalStateException("a class of fibry-durable was loaded: " + found);
    }
  }

  /** Knows nothing of durable actors. */
  static final class InProcess {
    public static void main(String[] args) throws Exception {
      var squares = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);
      var figures = new Rounds().side("", "", () -> 1e9 / Askers.rate(1, one -> squares.ask(7))).run().getFirst();
      ChildJvm.tell(figures.rounds().toArray());
    }
  }
}
