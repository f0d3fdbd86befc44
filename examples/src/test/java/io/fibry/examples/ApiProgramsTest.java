package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests the user programs that shaped the API. Good programs compile and print the expected lines.
 * Each bad program does not compile, for its own reason.
 */
class ApiProgramsTest {
  @TempDir
  static Path classes; // good programs, compiled by the Eclipse compiler

  private static Map<String, String> goodErrors; // by program; null until the first test needs them
  private static Map<String, String> badErrors;

  @TempDir
  private Path out;

  @BeforeAll
  static void goodProgramsCompileWithEclipse() throws Exception {
    assertEquals("", Programs.ecj(classes, good().toArray(Path[]::new)));
  }

  static Stream<Path> good() throws Exception {
    return programs("good");
  }

  static Stream<Path> bad() throws Exception {
    return programs("bad");
  }

  @ParameterizedTest
  @MethodSource("good")
  void goodProgramCompilesWithoutWarning(Path program) throws Exception {
    if (goodErrors == null) goodErrors = Programs.javac(out, sources("good"));

    assertEquals("", goodErrors.get(name(program)));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "ForgottenCase     | does not cover all possible input values",
    "ForgottenProtocol | upper bounds: Account",
    "IllegalFsm        | upper bounds: Event",
    "NotARequest       | Deposit cannot be converted to Request",
    "RequestToFunction | reference to ask is ambiguous",
    "WatchOther        | String cannot be converted to Crew",
    "WrongAnswerType   | equality constraints: Long",
    "WrongMessage      | int cannot be converted to String",
    "WrongPriority     | upper bounds: Job",
    "WrongProtocol     | upper bounds: Account",
    "WrongReplyType    | equality constraints: Long",
    "WrongSubscriber   | Actor<Integer> cannot be converted to Actor<? super String>",
  })
  void badProgramDoesNotCompile(String name, String reason) throws Exception {
    if (badErrors == null) badErrors = Programs.javac(out, sources("bad"));

    var errors = badErrors.get(name);
    assertTrue(errors.contains(reason), errors);
  }

  @Test
  void eachBadProgramFailsToCompileWithEclipse() throws Exception {
    var programs = bad().toList();

    var errors = Programs.ecj(out, programs.toArray(Path[]::new));

    assertEquals(List.of(), programs.stream().filter(program -> !errors.contains("ERROR in " + program)).toList());
  }

  /**
   * Each row has the expected lines, in any order. These programs have no row: P05 needs a server,
   * P06 and P15 need a database, and P18 and P19 read files. P25, P31 and P34 never end, and actors
   * of Shapes send to themselves forever. The output of P07 and P26 depends on time. P11, P16, P20,
   * P22 and P23 have their own tests below.
   */
  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "P01Hello            | Hello World",
    "P02Counter          | 12",
    "P03Account          | true 300",
    "P08Bounded          | ''",
    "P09Priority         | alarm;report",
    "P10Named            | 1",
    "P12SelectiveReceive | here is your hat",
    "P13Stash            | log.txt: first",
    "P14PoolByKey        | Order[customer=ada, cents=100];Order[customer=bob, cents=200]",
    "P17Generator        | 0;1;1;13;144;2;21;233;3;34;377;5;55;610;8;88;89;987;left;right",
    "P21RateLimit        | 13;hello",
    "P24Entities         | [milk]",
    "P27Watch            | ''",
    "P28Kill             | ''",
    "P29UnitTest         | ''",
    "P30Interop          | 25;[1, 4, 9];a;b",
    "P32Sink             | 2Ada;Ada, Bob",
    "P33FlowSubscriber   | [1, 63] N;hello",
    "P35Around           | 4;four took N;x",
    "P36Options          | ''",
  })
  void goodProgramPrintsExpectedLines(String name, String output) throws Exception {
    var expected = Stream.of(output.split(";")).filter(line -> !line.isEmpty()).toList();

    var printedLines = Programs.run(classes, name, lines -> sorted(lines).equals(expected));

    assertEquals(expected, sorted(printedLines));
  }

  @Test
  void timersProgramEndsAndPrintsOnlyItsTicks() throws Exception {
    var printedLines = runOnManualClock("P11Timers");

    // the program stops its ticks early or late, so their number varies
    assertTrue(printedLines.stream().allMatch("still here"::equals), printedLines::toString);
  }

  @Test
  void fsmProgramLocksDoorAfterTimeout() throws Exception {
    var printedLines = runOnManualClock("P22Fsm");

    assertEquals(List.of("Ada came in", "true"), printedLines);
  }

  private List<String> runOnManualClock(String program) throws Exception {
    var driver = write("Driver", """
        public class Driver {
          public static void main(String[] args) throws Exception {
            var clock = new io.fibry.time.ManualScheduler();
            io.fibry.ActorSystem.configure(o -> o.withScheduler(clock));
            var main = Thread.startVirtualThread(() -> %s.main(args));
            while (main.isAlive()) {
              java.util.concurrent.locks.LockSupport.parkNanos(1_000_000);
              // otherwise the time of the machine would count against the limit of a request
              boolean isWaiting = main.getState() == Thread.State.WAITING
                  || main.getState() == Thread.State.TIMED_WAITING;
              if (isWaiting && io.fibry.ActorSystem.root().awaitQuiescence(java.time.Duration.ZERO))
                clock.advance(java.time.Duration.ofSeconds(1));
            }
          }
        }
        """.formatted(program));
    assertEquals("", Programs.ecj(out, program("good", program), driver));

    return Programs.run(out, "Driver", lines -> true);
  }

  /** Other printed lines are not compared, because they depend on timing. */
  @Test
  void pubSubProgramDeliversPricesToSubscribers() throws Exception {
    var printedLines = Programs.run(classes, "P16PubSub", lines -> lines.contains("level 1"));

    assertTrue(
        printedLines
            .containsAll(List.of("all I can: Price[share=ACME, value=12.5]", "on the publisher's thread", "level 1")),
        printedLines::toString);
  }

  @Test
  void batchProgramCountsClicksAfterBatchInterval() throws Exception {
    var driver = write("Later", """
        public class Later {
          public static void main(String[] args) {
            var clock = new io.fibry.time.ManualScheduler();
            io.fibry.ActorSystem.configure(o -> o.withScheduler(clock));
            P20Batch.main(args);
            while (!io.fibry.ActorSystem.root().awaitQuiescence(java.time.Duration.ofSeconds(10))) {}
            clock.advance(java.time.Duration.ofSeconds(10));
          }
        }
        """);
    assertEquals("", Programs.ecj(out, program("good", "P20Batch"), driver));

    var printedLines = Programs.run(out, "Later", lines -> !lines.isEmpty());

    assertEquals(List.of("{home=1}"), printedLines);
  }

  @Test
  void hooksProgramChecksOrderBeforeItPrintsReceipt() throws Exception {
    var driver = write("Loaded", """
        public class Loaded {
          public static void main(String[] args) {
            io.fibry.stereotype.Stereotypes.fibers().runOnce(() -> {}).waitForExit();
            P23Hooks.main(args);
          }
        }
        """);
    assertEquals("", Programs.ecj(out, program("good", "P23Hooks"), driver));

    var printedLines = Programs.run(out, "Loaded", lines -> lines.size() == 2);

    assertEquals(List.of("checking Order[id=1]", "Receipt[order=1]"), printedLines);
  }

  private static List<String> sorted(List<String> lines) {
    // durations vary, and the first answer may come from either actor
    return lines.stream().map(line -> line.replaceFirst("(took|^\\[1, 63]) \\d+$", "$1 N")).sorted().toList();
  }

  private Path write(String name, String source) throws Exception {
    return Files.writeString(out.resolve(name + ".java"), source);
  }

  private static Map<String, String> sources(String folder) throws Exception {
    var sources = new TreeMap<String, String>();
    for (var program : programs(folder).toList()) sources.put(name(program), Files.readString(program));
    return sources;
  }

  private static Stream<Path> programs(String folder) throws Exception {
    try (var files = Files.list(program(folder, "x").getParent())) {
      return files.sorted().toList().stream();
    }
  }

  private static Path program(String folder, String name) throws Exception {
    return Path.of(ApiProgramsTest.class.getResource("/api-programs/" + folder).toURI()).resolve(name + ".java");
  }

  private static String name(Path program) {
    return program.getFileName().toString().replace(".java", "");
  }
}
