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
 * Measures whether a request to an actor in memory takes longer when fibry-durable is on the class
 * path. It should not, because such a request loads no class of fibry-durable. Each measuring
 * process is checked for loaded classes of fibry-durable. All threads share one carrier, so that
 * the results hardly vary.
 */
final class PlainRequests {
  private static final String WITH = "fibry, fibry-durable is on the class path";
  private static final String WITHOUT = "fibry, fibry-durable is not on the class path";
  private static final String DURABLE_CLASSES = "io.fibry.(durable|codec|store)\\..*";

  private PlainRequests() {}

  static DurableQuestion question() {
    return DurableQuestion.of("durable-plain", "a request to an actor in memory, on one carrier",
        PlainRequests::measure,
        MeasurementBudget.atMost(1.1, 1, "a request to an actor in memory", WITH, WITHOUT));
  }

  static List<RoundMeasurements> measure() throws Exception {
    var durable = classPathElement(Durable.class);
    if (durable.equals(classPathElement(ActorSystem.class)))
      throw new IllegalStateException("fibry-durable and fibry are in the same file, " + durable
          + ", so fibry-durable cannot be left out; run it by mvn -q -Pstores");
    return List.of(measureInChild(WITH, System.getProperty("java.class.path")),
        measureInChild(WITHOUT, classPathWithout(durable)));
  }

  private static Path classPathElement(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private static String classPathWithout(Path removed) {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(element -> !Path.of(element).toAbsolutePath().equals(removed))
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static RoundMeasurements measureInChild(String side, String classPath)
      throws IOException, InterruptedException {
    try (var folder = TemporaryFolder.create()) {
      var classLog = folder.path().resolve("loaded");
      var flags = List.of("-Djdk.virtualThreadScheduler.parallelism=1", "-Xlog:class+load:file=" + classLog,
          "-Drounds=" + Rounds.measuredRounds(), "-Dseconds=" + Askers.roundNanos() / 1e9, "-cp", classPath);
      double[] nanos = ChildJvm.measurements(flags, InProcess.class);
      checkNotLoaded(classLog);
      return RoundMeasurements.of(side, "ns", Arrays.stream(nanos).boxed().toArray(Double[]::new));
    }
  }

  private static void checkNotLoaded(Path classLog) throws IOException {
    try (var lines = Files.lines(classLog)) {
      var durableClasses = lines.filter(line -> line.matches(".* " + DURABLE_CLASSES)).toList();
      if (!durableClasses.isEmpty())
        throw new IllegalStateException("a class of fibry-durable was loaded: " + durableClasses);
    }
  }

  /** The program of the child process, which needs no class of fibry-durable. */
  static final class InProcess {
    public static void main(String[] args) throws Exception {
      var squares = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);
      var measurements =
          new Rounds().side("", "", () -> 1e9 / Askers.rate(1, asker -> squares.ask(7))).run().getFirst();
      ChildJvm.tell(measurements.rounds().toArray());
    }
  }
}
