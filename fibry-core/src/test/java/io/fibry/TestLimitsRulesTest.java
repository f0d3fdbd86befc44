package io.fibry;

import static io.fibry.Repository.ROOT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Rules for limits in the tests of all modules. A test waits by {@code io.fibry.support.Patience},
 * whose limit counts at the speed of the machine, and starts processes as a {@code Child}. Other
 * limits of real time fail on a busy machine.
 */
class TestLimitsRulesTest {
  private static final String UNIT =
      "(?:TimeUnit\\.)?(?:(?:NANO|MICRO|MILLI)?SECONDS|MINUTES|HOURS|DAYS)";

  /** A call with a limit of its own, such as {@code latch.await(5, TimeUnit.SECONDS)}. */
  private static final Pattern OWN_LIMIT = Pattern.compile(
      "\\.(?:await|awaitTermination|get|poll|join|waitFor|tryAcquire|tryLock|exchange|offer)"
          + "\\((?:[^()]|\\([^()]*\\))*\\b" + UNIT + "\\)"
          + "|\\.(?:join|waitFor)\\(Duration\\b|\\.orTimeout\\(|assertTimeout(?:Preemptively)?\\(");

  /** A limit of JUnit. */
  private static final Pattern JUNIT_LIMIT = Pattern.compile("@Timeout\\b");

  /** An elapsed time that must be below a bound. */
  private static final Pattern ELAPSED = Pattern.compile(
      "assert\\w*\\(.*(?:(?:nanoTime|currentTimeMillis)\\(\\) - [^<>]*|\\b(?:took|elapsed)\\w*(?:\\(\\))? ?)<");

  /** A pause that hopes that others are done after it. */
  private static final Pattern SLEEP = Pattern.compile("Thread\\.sleep\\(|TimeUnit\\.[A-Z]+\\.sleep\\(");

  /** A process that nobody ends if the test fails. */
  private static final Pattern OWN_PROCESS = Pattern.compile("(?<!Child\\.start\\()new ProcessBuilder\\(");

  /** The tier of the build, read by a test of its own accord. */
  private static final Pattern OWN_TIER = Pattern.compile("\"fibry\\.soak\"");

  /** A port that another program may have. */
  private static final Pattern FIXED_PORT = Pattern.compile(
      "(?:new (?:Server|Datagram)?Socket|new InetSocketAddress|embeddedHttpServer|tcpAcceptor)"
          + "\\((?:\"[^\"]*\", )?[1-9]\\d{3,4}\\b");

  /** Modules and files in which time is simulated. */
  private static final Pattern SIMULATED =
      Pattern.compile("fibry-simulation/.*|fibry-proof/.*(?:Round|SimulationTest|/Remote|/Line)\\.java");

  private static final String SUBJECT = "a limit of the JDK's or of a request is the subject of the test";

  /** Files that do what a rule forbids, each with its reason. */
  private static final Map<String, String> EXCEPTIONS = Map.ofEntries(
      Map.entry("TestLimitsRulesTest.java", "names what it forbids"),
      Map.entry("CancellingTest.java", SUBJECT),
      Map.entry("DerivedStageTest.java", SUBJECT),
      Map.entry("RequestsTest.java", SUBJECT),
      Map.entry("TerminationTest.java", SUBJECT),
      Map.entry("FalseWaitCycleTest.java", SUBJECT),
      Map.entry("WaitCycleTest.java", SUBJECT),
      Map.entry("WaitCycleStressTest.java", SUBJECT),
      Map.entry("PoolWaitCycleStressTest.java", SUBJECT),
      Map.entry("MapReduceEndTest.java", SUBJECT),
      Map.entry("OverloadRampTest.java", "a soak test, whose clients have a limit"),
      Map.entry("LoadGenerator.java", "the clients of OverloadRampTest"),
      Map.entry("PeersTest.java", "waits in vain for a timer that was cancelled"));

  private static String path(Path file) {
    return ROOT.relativize(file).toString().replace('\\', '/');
  }

  private static List<Path> tests() {
    return Repository.files(".java", ".kt").stream().filter(file -> path(file).contains("/src/test/"))
        .filter(file -> !path(file).contains("/resources/") && !path(file).startsWith("fibry-test-support/"))
        .filter(file -> !SIMULATED.matcher(path(file)).matches()).toList();
  }

  private static List<String> matches(Pattern pattern, Path file) throws IOException {
    var found = new ArrayList<String>();
    int number = 0;
    for (var line : Files.readAllLines(file)) {
      number++;
      if (pattern.matcher(line).find()) found.add(path(file) + ":" + number + ": " + line.strip());
    }
    return found;
  }

  private static void forbid(Pattern pattern, String instead) throws IOException {
    var found = new ArrayList<String>();
    for (var file : tests())
      if (!EXCEPTIONS.containsKey(file.getFileName().toString())) found.addAll(matches(pattern, file));
    assertEquals("", String.join("\n", found), instead);
  }

  @Test
  void waitsHaveTheCommonLimit() throws IOException {
    forbid(OWN_LIMIT, "wait by Patience: await, value, next, joined, acquired, eventually, progress");
  }

  @Test
  void testsHaveTheCommonLimit() throws IOException {
    forbid(JUNIT_LIMIT, "TestLimit gives each test five minutes at the speed of the machine");
  }

  @Test
  void elapsedTimeHasNoUpperBound() throws IOException {
    forbid(ELAPSED, "count what costs the time, or print it and judge it in fibry-bench");
  }

  @Test
  void testsDoNotSleep() throws IOException {
    forbid(SLEEP, "wait for a fact by Patience, or move a manual clock");
  }

  @Test
  void processesAreChildren() throws IOException {
    forbid(OWN_PROCESS, "start it as io.fibry.support.Child, which always ends it");
  }

  @Test
  void theTierIsReadInOnePlace() throws IOException {
    forbid(OWN_TIER, "ask Soak.ON");
  }

  @Test
  void portsAreChosenByTheSystem() throws IOException {
    forbid(FIXED_PORT, "listen at port 0, and ask the server for its port");
  }

  @Test
  void listedExceptionsAreNeeded() throws IOException {
    var needless = new TreeSet<>(EXCEPTIONS.keySet());
    for (var file : tests())
      for (var pattern : List.of(OWN_LIMIT, JUNIT_LIMIT, ELAPSED, SLEEP, OWN_PROCESS, OWN_TIER, FIXED_PORT))
        if (!matches(pattern, file).isEmpty()) needless.remove(file.getFileName().toString());

    assertTrue(needless.isEmpty(), () -> needless + " break no rule: take them from the list");
  }

  @Test
  void rulesFindForbiddenCode() {
    assertTrue(OWN_LIMIT.matcher("latch.await(5, TimeUnit.SECONDS)").find());
    assertTrue(OWN_LIMIT.matcher("future.get(LONG.toSeconds(), SECONDS)").find());
    assertTrue(OWN_LIMIT.matcher("thread.join(Duration.ofSeconds(5))").find());
    assertTrue(JUNIT_LIMIT.matcher("@Timeout(5)").find());
    assertTrue(ELAPSED.matcher("assertTrue(System.nanoTime() - begun < 5_000_000)").find());
    assertTrue(ELAPSED.matcher("assertTrue(elapsed < 5)").find());
    assertTrue(SLEEP.matcher("Thread.sleep(5)").find());
    assertTrue(OWN_PROCESS.matcher("var kill = new ProcessBuilder(\"kill\")").find());
    assertTrue(OWN_TIER.matcher("Boolean.getBoolean(\"fibry.soak\")").find());
    assertTrue(FIXED_PORT.matcher("new ServerSocket(8080)").find());
  }
}
